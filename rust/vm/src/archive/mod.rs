//! `.vmfb` files: the container, what is in it, and whether it is whole.
//!
//! An [`Archive`] is read-only and stays in place: constants and executables are used where they lie. Of a mapped file the
//! tables and the bytecode are copied first: what was verified stays what it was, whatever becomes of the file.

mod digest;
pub mod flatbuffer;
mod memory;
mod places;
pub mod schema;
mod zip;

use std::any::Any;
use std::ops::Range;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::buffer::VmBuffer;
use crate::isa;
use crate::mapped::Watch;
use crate::status::{Result, Status, StatusCode};
use memory::Memory;
pub use places::Place;
pub use schema::ModuleDef;

const IDENTIFIER: &[u8; 4] = b"IREE";
const MINIMUM_LENGTH: usize = 16;

/// An opened module file.
pub struct Archive {
    memory: Memory,
    source: String,
    flatbuffer: Range<usize>,
    rodata_base: usize,
    def: ModuleDef,
    /// The FlatBuffer of a mapped file, or of a big one the bytecode alone.
    tables: Option<VmBuffer>,
    bytecode: Option<VmBuffer>,
    /// Goes when the archive does.
    _companion: Option<Arc<dyn Any + Send + Sync>>,
}

impl Archive {
    /// The file at `path`: read when it is small, else mapped.
    ///
    /// Errors say what is wrong with the file and what to do: not a module, cut short, damaged, of another version.
    pub fn open(path: impl AsRef<Path>) -> Result<Arc<Archive>> {
        Archive::open_with(path, None)
    }

    /// As [`open`](Archive::open); `companion` is dropped after the file is mapped no longer.
    pub fn open_with(path: impl AsRef<Path>, companion: Option<Arc<dyn Any + Send + Sync>>) -> Result<Arc<Archive>> {
        let path = path.as_ref();
        Archive::new(Memory::map(path)?, path.display().to_string(), companion)
    }

    /// Copies `bytes`; `source` names them in messages.
    pub fn copy(bytes: &[u8], source: &str) -> Result<Arc<Archive>> {
        Archive::new(Memory::copy(bytes)?, source.to_owned(), None)
    }

    /// Uses 64-byte aligned memory in place; `source` names it in messages.
    ///
    /// # Safety
    /// `data..data+length` must stay valid and unchanged for as long as `owner` lives.
    pub unsafe fn wrap(
        data: NonNull<u8>,
        length: usize,
        owner: Arc<dyn Any + Send + Sync>,
        source: &str,
    ) -> Result<Arc<Archive>> {
        // SAFETY: the contract is the same.
        Archive::new(unsafe { Memory::foreign(data, length, owner) }?, source.to_owned(), None)
    }

    fn new(memory: Memory, source: String, companion: Option<Arc<dyn Any + Send + Sync>>) -> Result<Arc<Archive>> {
        let bytes = memory.bytes();
        let watch = Watch::start();
        let flatbuffer = locate(bytes, &source)?;
        let copied = |bytes: &[u8]| -> Result<VmBuffer> {
            let copy = VmBuffer::allocate(bytes.len(), memory::ALIGNMENT)?;
            copy.write(0, bytes)?;
            Ok(copy.freeze())
        };
        let is_mapped = memory.file().is_some();
        let small = is_mapped && flatbuffer.len() <= digest::LARGEST_CHECKED;
        let tables = small.then(|| copied(&bytes[flatbuffer.clone()])).transpose()?;
        let content = tables.as_ref().and_then(VmBuffer::as_slice).unwrap_or(&bytes[flatbuffer.clone()]);
        let def = schema::parse(content).map_err(|status| unreadable(status, &source))?;
        let bytecode = (is_mapped && !small).then(|| copied(&content[def.bytecode.clone()])).transpose()?;
        let rodata_base = flatbuffer.end.next_multiple_of(memory::ALIGNMENT);
        let archive = Archive { source, flatbuffer, rodata_base, def, tables, bytecode, memory, _companion: companion };
        archive.check_rodata()?;
        archive.set_executables_apart();
        digest::verify(&archive)?;
        archive.check_version()?;
        watch.check()?;
        Ok(Arc::new(archive))
    }

    /// DATA_LOSS if it is in a mapped file that was cut short or written to since it was opened.
    #[inline]
    pub fn check(&self) -> Result<()> {
        self.memory.file().map_or(Ok(()), |file| file.check())
    }

    /// DATA_LOSS if it is in a mapped file whose pages were gone when they were read.
    pub fn check_pages(&self) -> Result<()> {
        self.memory.file().map_or(Ok(()), |file| file.check_pages())
    }

    /// Name of function `ordinal`, and where its instruction at `pc` comes from, as the module's debug database says.
    pub fn place(&self, ordinal: usize, pc: u32) -> Place {
        places::find(self, ordinal, pc)
    }

    /// Reads the big constants, which opening does not, and compares them with the checksums that the file has of them.
    /// The number of such checksums; a file may have several of one constant, or none.
    ///
    /// # Errors
    /// DATA_LOSS names the constant that is damaged.
    pub fn verify_constants(&self) -> Result<usize> {
        digest::verify_constants(self)
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        self.memory.bytes()
    }

    /// File name or other description for messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The FlatBuffer without its size prefix.
    pub fn flatbuffer(&self) -> &[u8] {
        self.tables.as_ref().and_then(VmBuffer::as_slice).unwrap_or_else(|| &self.bytes()[self.flatbuffer.clone()])
    }

    /// What the FlatBuffer says.
    pub fn def(&self) -> &ModuleDef {
        &self.def
    }

    /// All bytecode.
    pub fn bytecode(&self) -> &[u8] {
        let copy = self.bytecode.as_ref().and_then(VmBuffer::as_slice);
        copy.unwrap_or_else(|| &self.flatbuffer()[self.def.bytecode.clone()])
    }

    /// The bytes of rodata segment `index`.
    pub fn rodata(&self, index: usize) -> Option<&[u8]> {
        match self.def.rodata.get(index)? {
            schema::Rodata::Embedded(range) => self.flatbuffer().get(range.clone()),
            schema::Rodata::External { offset, length } => self.bytes().get(self.external(*offset, *length)?),
        }
    }

    fn external(&self, offset: u64, length: u64) -> Option<Range<usize>> {
        let start = self.rodata_base.checked_add(usize::try_from(offset).ok()?)?;
        Some(start..start.checked_add(usize::try_from(length).ok()?)?)
    }

    /// Executables are read when the module is loaded, the constants between them are not.
    fn set_executables_apart(&self) {
        for rodata in &self.def.rodata {
            if let schema::Rodata::External { offset, length } = rodata
                && *length <= digest::LARGEST_CHECKED as u64
                && let Some(range) = self.external(*offset, *length)
            {
                self.memory.set_apart(range);
            }
        }
    }

    fn check_rodata(&self) -> Result<()> {
        for (index, rodata) in self.def.rodata.iter().enumerate() {
            let schema::Rodata::External { offset, length } = rodata else { continue };
            match self.external(*offset, *length) {
                Some(range) if range.end <= self.bytes().len() => {}
                Some(range) if range.end as u64 <= 1 << 48 => {
                    return Err(cut_short(&self.source, self.bytes().len(), range.end)
                        .annotate(format!("rodata[{index}] external reference out of range")));
                }
                _ => {
                    return Err(Status::invalid_argument(format!(
                        "rodata[{index}] external reference out of range: {} is damaged",
                        self.source
                    )));
                }
            }
        }
        Ok(())
    }

    /// The compiler that wrote it, as far as it says.
    pub(crate) fn maker(&self) -> String {
        self.attr("tiree.version").map_or("another compiler".to_owned(), |version| format!("tiree {version}"))
    }

    fn attr(&self, key: &str) -> Option<&str> {
        self.def.attrs.iter().find(|attr| attr.key == key).map(|attr| attr.value.as_str())
    }

    fn check_version(&self) -> Result<()> {
        let (major, minor) = (self.def.bytecode_version >> 16, self.def.bytecode_version & 0xFFFF);
        if isa::supports_version(major, minor) {
            return Ok(());
        }
        let (maker, release) = (self.maker(), env!("CARGO_PKG_VERSION"));
        let newer = (major, minor) > (isa::VERSION_MAJOR, isa::VERSION_MINOR);
        let runtime = match self.attr("tiree.version") {
            Some(version) => format!("install the runtime that it was made for (pip install tiree=={version})"),
            None if newer => format!("install a newer tiree that reads {major}.{minor} (pip install --upgrade tiree)"),
            None => "run it with the runtime of the release that compiled it".to_owned(),
        };
        Err(Status::invalid_argument(format!(
            "bytecode version mismatch; runtime supports {}.{}, module has {major}.{minor}. {} was compiled by {maker}; \
             this is tiree {release}. Recompile it with tiree {release}, or {runtime}.",
            isa::VERSION_MAJOR,
            isa::VERSION_MINOR,
            self.source,
        )))
    }
}

/// Tables that no compiler writes: the file is named first, what the reader met comes behind.
fn unreadable(status: Status, source: &str) -> Status {
    if status.code() == StatusCode::Unimplemented {
        return status.annotate(format!("in {source}"));
    }
    let text = format!("{source} is damaged: its tables cannot be read. Copy it again or recompile.");
    Status::new(status.code(), text).annotate(status.message())
}

fn cut_short(source: &str, have: usize, need: usize) -> Status {
    Status::data_loss(format!("{source} is cut short: {have} of at least {need} bytes. Copy it again."))
}

/// Finds the FlatBuffer in a file and checks that it is one of ours.
fn locate(bytes: &[u8], source: &str) -> Result<Range<usize>> {
    if bytes.is_empty() {
        return Err(Status::invalid_argument(format!("{source} is empty (0 bytes), not a module.")));
    }
    if zip::is_zip(bytes) && bytes.len() < 30 {
        return Err(cut_short(source, bytes.len(), 64));
    }
    let base = match zip::module_start(bytes) {
        Ok(base) => base,
        Err(status) => return Err(cut_short(source, bytes.len(), 128).annotate(status.message().to_owned())),
    };
    let rest = &bytes[base..];
    if rest.len() < MINIMUM_LENGTH {
        return Err(if base > 0 {
            cut_short(source, bytes.len(), base + MINIMUM_LENGTH)
        } else {
            not_a_module(bytes, source)
        }
        .annotate("FlatBuffer data is not present or less than 16 bytes"));
    }
    let prefix = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
    if &rest[8..12] != IDENTIFIER {
        return Err(not_a_module(bytes, source).annotate("FlatBuffer verification failed: identifier mismatch"));
    }
    let start = base + 4;
    match start.checked_add(prefix) {
        Some(end) if end <= bytes.len() => Ok(start..end),
        end => Err(cut_short(source, bytes.len(), end.unwrap_or(usize::MAX)).annotate(format!(
            "FlatBuffer length prefix out of bounds (prefix is {prefix} but only {} available)",
            rest.len() - 4
        ))),
    }
}

fn not_a_module(bytes: &[u8], source: &str) -> Status {
    let head = &bytes[..bytes.len().min(4096)];
    if zip::is_zip(bytes) {
        return Status::invalid_argument(format!(
            "{source} is not a module: it is a ZIP file without module.fb in front."
        ));
    }
    if let Ok(text) = std::str::from_utf8(head).or_else(|e| std::str::from_utf8(&head[..e.valid_up_to()])) {
        let looks_like_mlir = ["func.func", "module {", "module @", "builtin.module", "util.func", "stablehlo."]
            .iter()
            .any(|word| text.contains(word));
        let stem = [".mlir", ".vmasm", ".vmfb"].iter().find_map(|end| source.strip_suffix(end)).unwrap_or(source);
        // Text under the name of a module: another name for the module.
        let target = if source.ends_with(".vmfb") { format!("{stem}.out.vmfb") } else { format!("{stem}.vmfb") };
        if text.trim_start().starts_with("vm.") {
            return Status::invalid_argument(format!(
                "{source} is assembly text, not a module. Assemble it first: tiree-as-module --output={target} {source}"
            ));
        }
        if looks_like_mlir {
            return Status::invalid_argument(format!(
                "{source} is MLIR text, not a compiled module. Compile it first: tiree-compile {source} -o {target}"
            ));
        }
    }
    let start: String = bytes[..bytes.len().min(4)].escape_ascii().map(char::from).collect();
    Status::invalid_argument(format!(
        "{source} is not a module (starts with \"{start}\"; expected a ZIP or module header)."
    ))
}
