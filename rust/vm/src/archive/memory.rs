//! The bytes of an archive, wherever they are, aligned to 64.

use std::any::Any;
use std::fs::File;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::buffer::VmBuffer;
use crate::status::{Result, Status};

/// What every loader guarantees of the first byte.
pub const ALIGNMENT: usize = 64;

/// Bytes of a module, immutable.
pub enum Memory {
    /// A mapped file. Whoever truncates a mapped file kills its readers; that is the contract of mmap.
    Mapped(memmap2::Mmap),
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

// SAFETY: the bytes are never written after construction, by contract of the constructors.
unsafe impl Send for Memory {}
// SAFETY: as for Send.
unsafe impl Sync for Memory {}

impl Memory {
    /// Maps the file at `path`. NOT_FOUND, PERMISSION_DENIED or UNAVAILABLE with the system's words when that fails.
    pub fn map(path: &Path) -> Result<Memory> {
        let failed = |error: std::io::Error| {
            let code = match error.kind() {
                std::io::ErrorKind::NotFound => Status::not_found,
                std::io::ErrorKind::PermissionDenied => Status::permission_denied,
                _ => Status::unavailable,
            };
            code(format!("cannot open {}: {error}", path.display()))
        };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Status::invalid_argument(format!("{} is a directory, not a module", path.display())));
        }
        if metadata.len() == 0 {
            return Memory::copy(&[]);
        }
        // SAFETY: the map is private and read-only; the contract on `Mapped` covers changes by other processes.
        Ok(Memory::Mapped(unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?))
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
            Memory::Mapped(map) => map,
            Memory::Copied(buffer) => buffer.as_slice().unwrap_or_default(),
            // SAFETY: valid and unchanged while the owner lives, by contract of `foreign`.
            Memory::Foreign { data, length, .. } => unsafe { std::slice::from_raw_parts(data.as_ptr(), *length) },
        }
    }
}
