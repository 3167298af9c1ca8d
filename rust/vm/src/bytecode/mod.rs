//! Bytecode modules: checked once when loaded, translated function by function when first called.

mod code;
mod flow;
mod translate;
mod verify;

use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Release;
use std::sync::{Arc, OnceLock};

use crate::archive::Archive;
use crate::archive::schema::{Import, Rodata, Signature};
use crate::buffer::VmBuffer;
use crate::cconv::CallingConvention;
use crate::interp::slot_unit;
use crate::isa::features;
use crate::module::Module;
use crate::slot::Slot;
use crate::status::{Annotate, Result, Status};
use crate::types::{TypeDef, TypeRegistry};

pub(crate) use code::{Code, Inst, MOVE, OWN, X, kind, operations};
pub(crate) use verify::{argument_registers, flatten};

use flow::Look;

/// One function of a module.
pub(crate) struct Function {
    /// What it takes and returns; never spans.
    pub cconv: CallingConvention,
    /// Its number in the module.
    pub ordinal: usize,
    /// Range of the bytecode.
    pub range: std::ops::Range<usize>,
    /// Cells that instructions may name: what the descriptor says, rounded up.
    pub i32_limit: usize,
    /// References that instructions may name.
    pub ref_limit: usize,
    /// Cells of a frame: what instructions do name.
    pub cells: usize,
    /// References of a frame.
    pub refs: usize,
    /// References that are arguments; they come first.
    pub ref_args: usize,
    /// Units from its frame pointer to that of a callee.
    pub frame: usize,
    /// Fuel that a call takes.
    pub cost: isize,
    /// Where execution begins: the translated code, or what translates it.
    pub entry: AtomicPtr<Inst>,
    code: OnceLock<Code>,
}

/// Stands for the code of functions that have not been called yet.
static TRANSLATE: [Inst; 1] = [Inst::new(X::Translate, 0, 0, 0)];

impl Function {
    /// Behind the last byte of a frame at `fp`, the header of a callee included.
    #[inline(always)]
    pub fn end(&self, fp: *mut u32) -> *mut u8 {
        fp.cast::<u64>().wrapping_add(self.frame).cast()
    }

    /// Makes the references null that are no arguments.
    ///
    /// # Safety
    /// `fp` points to a new frame of this function.
    #[inline(always)]
    pub unsafe fn clear_references(&self, fp: *mut u32) {
        for ordinal in self.ref_args..self.refs {
            // SAFETY: inside the frame.
            unsafe { fp.cast::<u64>().add(slot_unit(self.cells, ordinal)).cast::<Slot>().write(Slot::NULL) };
        }
    }

    /// The bytecode pc of the instruction at `ip` in its code.
    pub fn pc_of(&self, ip: *const Inst) -> u32 {
        self.code.get().map_or(0, |code| {
            let bytes = ip.addr().wrapping_sub(code.insts.as_ptr().addr());
            code.pc_of(bytes / size_of::<Inst>())
        })
    }
}

/// A function of another module.
pub(crate) struct ImportFunction {
    /// What this module calls it with.
    pub cconv: CallingConvention,
}

/// A loaded and verified module. It holds no state: contexts do.
pub struct BytecodeModule {
    archive: Arc<Archive>,
    pub(crate) types: Vec<TypeDef>,
    pub(crate) imports: Vec<ImportFunction>,
    pub(crate) functions: Vec<Function>,
    pub(crate) rodata: Vec<Arc<VmBuffer>>,
    /// Places of the exports by name, equal names in order; made when a name is first looked up.
    by_name: OnceLock<Vec<u32>>,
}

impl std::fmt::Debug for BytecodeModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<BytecodeModule {}>", self.name())
    }
}

impl BytecodeModule {
    /// Verifies everything in `archive`. Reference types that it names must be in `registry`.
    ///
    /// Errors say in which function and at which offset; codes are those of IREE.
    pub fn load(archive: Arc<Archive>, registry: &TypeRegistry) -> Result<Arc<BytecodeModule>> {
        let source = archive.source().to_owned();
        load(archive, registry).annotate(|| format!("loading module {source}")).map(Arc::new)
    }

    /// Opens the file at `path` with the usual reference types.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Arc<BytecodeModule>> {
        BytecodeModule::load(Archive::open(path)?, &TypeRegistry::default())
    }

    /// The file.
    pub fn archive(&self) -> &Arc<Archive> {
        &self.archive
    }

    /// Attributes and calling convention of function `ordinal`.
    pub fn signature(&self, ordinal: usize) -> Option<&Signature> {
        self.archive.def().signatures.get(ordinal)
    }

    /// Exports in order: name and function ordinal.
    pub fn exports(&self) -> impl Iterator<Item = (&str, usize)> {
        self.archive.def().exports.iter().map(|export| (export.name.as_str(), export.ordinal as usize))
    }

    /// First exported name of function `ordinal`.
    pub fn function_name(&self, ordinal: usize) -> Option<&str> {
        self.exports().find(|(_, o)| *o == ordinal).map(|(name, _)| name)
    }

    pub(crate) fn import_defs(&self) -> &[Import] {
        &self.archive.def().imports
    }

    /// The translated code of function `ordinal`, made on first use. What `look` says now and then while it is made, when it
    /// is an error, ends that: then there is none. Threads that need the same code at once each make it, so that none waits
    /// for another that may have other limits.
    pub(crate) fn code(&self, ordinal: usize, look: Look<'_>) -> Result<&Code> {
        let function = &self.functions[ordinal];
        if function.code.get().is_none() {
            // Another thread may have been faster.
            let _ = function.code.set(translate::translate(self, ordinal, look)?);
        }
        let code = function.code.get().ok_or_else(|| Status::internal("translated code is missing"))?;
        function.entry.store(code.insts.as_ptr().cast_mut(), Release);
        Ok(code)
    }

    /// Bytes of all translated code; what has not been called takes none.
    pub fn translated_size(&self) -> usize {
        (0..self.functions.len()).map(|ordinal| self.translated_size_of(ordinal)).sum()
    }

    /// Bytes of the translated code of function `ordinal`; 0 until it is called.
    pub fn translated_size_of(&self, ordinal: usize) -> usize {
        self.functions.get(ordinal).and_then(|function| function.code.get()).map_or(0, Code::size)
    }

    pub(crate) fn bytecode_of(&self, ordinal: usize) -> &[u8] {
        &self.archive.bytecode()[self.functions[ordinal].range.clone()]
    }
}

impl Module for BytecodeModule {
    fn name(&self) -> &str {
        &self.archive.def().name
    }

    fn version(&self) -> u32 {
        self.archive.def().version
    }

    fn lookup_export(&self, name: &str) -> Option<usize> {
        self.export_place(name).map(|place| self.archive.def().exports[place].ordinal as usize)
    }

    fn export_names(&self) -> Vec<&str> {
        self.exports().map(|(name, _)| name).collect()
    }
}

impl BytecodeModule {
    /// Where in the list of exports `name` is.
    pub fn export_place(&self, name: &str) -> Option<usize> {
        let exports = &self.archive.def().exports;
        let name_at = |at: &u32| exports[*at as usize].name.as_str();
        let by_name = self.by_name.get_or_init(|| {
            let mut places: Vec<u32> = (0..exports.len() as u32).collect();
            places.sort_by_key(name_at);
            places
        });
        let first = by_name.partition_point(|at| name_at(at) < name);
        by_name.get(first).filter(|at| name_at(at) == name).map(|at| *at as usize)
    }
}

fn check_features(bits: u32) -> Result<()> {
    if bits & !features::AVAILABLE == 0 {
        return Ok(());
    }
    Err(Status::invalid_argument(format!(
        "required module features [{}] are not available; have [{}]",
        features::names(bits & !features::AVAILABLE),
        features::names(features::AVAILABLE)
    )))
}

fn load(archive: Arc<Archive>, registry: &TypeRegistry) -> Result<BytecodeModule> {
    let def = archive.def();
    check_features(def.requirements)?;
    if def.name.is_empty() {
        return Err(Status::invalid_argument("module missing name field"));
    }
    if def.signatures.len() != def.functions.len() {
        return Err(Status::invalid_argument(format!(
            "{} function signatures for {} functions",
            def.signatures.len(),
            def.functions.len()
        )));
    }
    for export in &def.exports {
        if export.ordinal as usize >= def.functions.len() {
            return Err(Status::invalid_argument(format!(
                "export `{}` names function {}, the module has {}",
                export.name,
                export.ordinal,
                def.functions.len()
            )));
        }
    }
    let functions = verify::functions(def)?;
    let imports = def
        .imports
        .iter()
        .map(|import| {
            let cconv = CallingConvention::parse(import.cconv()).annotate(|| format!("import {}", import.full_name))?;
            Ok(ImportFunction { cconv })
        })
        .collect::<Result<_>>()?;
    let types = def.types.iter().map(|name| registry.resolve(name)).collect::<Result<_>>()?;
    let rodata = (0..def.rodata.len()).map(|i| rodata_buffer(&archive, i)).collect::<Result<_>>()?;
    let mut module = BytecodeModule { types, imports, functions, rodata, archive, by_name: OnceLock::new() };
    for ordinal in 0..module.functions.len() {
        let measured = verify::function(&module, ordinal)?;
        module.functions[ordinal].measure(measured);
    }
    Ok(module)
}

fn rodata_buffer(archive: &Arc<Archive>, index: usize) -> Result<Arc<VmBuffer>> {
    let bytes = archive.rodata(index).ok_or_else(|| {
        let kind = if matches!(archive.def().rodata[index], Rodata::Embedded(_)) { "embedded" } else { "external" };
        Status::invalid_argument(format!("rodata[{index}] {kind} data is out of range"))
    })?;
    let data = std::ptr::NonNull::from(bytes).cast();
    // SAFETY: the bytes lie in the archive, which is immutable and kept alive by the owner.
    Ok(Arc::new(unsafe { VmBuffer::from_raw(data, bytes.len(), false, archive.clone()) }))
}
