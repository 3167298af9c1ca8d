//! The bytes of an archive, wherever they are, aligned to 64.

use std::any::Any;
use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::buffer::VmBuffer;
use crate::mapped::MappedFile;
use crate::status::{Result, Status};

/// What every loader guarantees of the first byte.
pub const ALIGNMENT: usize = 64;

/// Bytes of a module, immutable.
pub enum Memory {
    /// A big file, mapped.
    Mapped(Arc<MappedFile>),
    /// A copy.
    Copied(VmBuffer),
    /// Somebody else's memory.
    Foreign {
        /// First byte.
        data: NonNull<u8>,
        /// In bytes.
        length: usize,
        /// Keeps it alive.
        _owner: Arc<dyn Any + Send + Sync>,
    },
}

// SAFETY: the bytes are never written after construction, by contract of the constructors. A mapped file that somebody
// writes to all the same is refused by `check`; what was verified is not read from it again (see `Archive`).
unsafe impl Send for Memory {}
// SAFETY: as for Send.
unsafe impl Sync for Memory {}

/// Smallest page of any system here, and what Linux maps at once when a file is cached that way.
const PAGE: usize = 4096;
const HUGE_PAGE: usize = 2 << 20;
/// Files up to this size are read, so that nothing that happens to them later matters.
const SMALL: u64 = 1 << 20;

/// Gives a part of the map a flag that differs from what is around it (whether dumps contain it, which they do not in any
/// case). A huge page is mapped only where all of it has the same flags: so the first byte that is read of a big file does
/// not bring two megabytes of constants into the memory of the process.
#[cfg(target_os = "linux")]
fn set_apart(map: &memmap2::MmapRaw, range: Range<usize>, constants: bool) {
    let start = range.start / PAGE * PAGE;
    let end = range.end.next_multiple_of(PAGE).min(map.len());
    let advice = if constants { memmap2::Advice::DontDump } else { memmap2::Advice::DoDump };
    if start < end {
        // Without it everything works as well.
        let _ = map.advise_range(advice, start, end - start);
    }
}

#[cfg(not(target_os = "linux"))]
fn set_apart(_: &memmap2::MmapRaw, _: Range<usize>, _: bool) {}

impl Memory {
    /// The file at `path`: read when it is small, else mapped. NOT_FOUND, PERMISSION_DENIED or UNAVAILABLE with the
    /// system's words when that fails; INVALID_ARGUMENT for what is no file.
    pub fn map(path: &Path) -> Result<Memory> {
        let failed = |error: std::io::Error| {
            let code = match error.kind() {
                std::io::ErrorKind::NotFound => Status::not_found,
                std::io::ErrorKind::PermissionDenied => Status::permission_denied,
                _ => Status::unavailable,
            };
            code(format!("cannot open {}: {error}", path.display()))
        };
        let metadata = fs::metadata(path).map_err(failed)?;
        if !metadata.is_file() {
            // Opening a pipe waits for who writes it.
            let kind = if metadata.is_dir() { "directory" } else { "pipe or a device" };
            return Err(Status::invalid_argument(format!("{} is a {kind}, not a module", path.display())));
        }
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        if length <= SMALL {
            let mut bytes = Vec::with_capacity(length as usize + 1);
            (&file).take(SMALL + 1).read_to_end(&mut bytes).map_err(failed)?;
            if bytes.len() as u64 != length {
                return Err(Status::data_loss(format!(
                    "{} was changed while it was read. Load it again; to replace a file that is in use, write another one \
                     and rename it.",
                    path.display()
                )));
            }
            return Memory::copy(&bytes);
        }
        let mapped = MappedFile::new(&file, &path.display().to_string(), false).map_err(failed)?;
        if mapped.len() >= 2 * HUGE_PAGE {
            // What is read first, the tables and a ZIP directory, lies at the ends.
            set_apart(mapped.map(), PAGE..mapped.len().saturating_sub(PAGE), true);
        }
        Ok(Memory::Mapped(mapped))
    }

    /// The file, if it is mapped.
    pub fn file(&self) -> Option<&Arc<MappedFile>> {
        match self {
            Memory::Mapped(file) => Some(file),
            _ => None,
        }
    }

    /// Keeps the system from mapping what is around `range`, which will be read, together with it.
    pub fn set_apart(&self, range: Range<usize>) {
        if let Memory::Mapped(file) = self
            && file.len() >= 2 * HUGE_PAGE
        {
            set_apart(file.map(), range, false);
        }
    }

    /// Copies `bytes` into aligned memory.
    pub fn copy(bytes: &[u8]) -> Result<Memory> {
        let copy = VmBuffer::allocate(bytes.len(), ALIGNMENT)?;
        copy.write(0, bytes)?;
        Ok(Memory::Copied(copy.freeze()))
    }

    /// Uses memory in place.
    ///
    /// # Safety
    /// `data..data+length` must stay valid and unchanged for as long as `owner` lives.
    pub unsafe fn foreign(data: NonNull<u8>, length: usize, owner: Arc<dyn Any + Send + Sync>) -> Result<Memory> {
        if !(data.as_ptr() as usize).is_multiple_of(ALIGNMENT) {
            return Err(Status::invalid_argument(format!(
                "module memory at {data:p} is not aligned to {ALIGNMENT} bytes; copy it or map the file"
            )));
        }
        Ok(Memory::Foreign { data, length, _owner: owner })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            // SAFETY: mapped for as long as the file is kept.
            Memory::Mapped(file) => unsafe { std::slice::from_raw_parts(file.data().as_ptr(), file.len()) },
            Memory::Copied(buffer) => buffer.as_slice().unwrap_or_default(),
            // SAFETY: valid and unchanged while the owner lives, by contract of `foreign`.
            Memory::Foreign { data, length, .. } => unsafe { std::slice::from_raw_parts(data.as_ptr(), *length) },
        }
    }
}
