//! `hal.file`: a range of bytes that queues read from and write to.

use std::fs::File as OsFile;
use std::sync::Arc;
use tiree_vm::{Charge, RefObject, Result, Status, VmBuffer};

enum Source {
    Memory { buffer: Arc<VmBuffer>, offset: usize },
    Os { file: Arc<OsFile>, writable: bool },
}

/// See the module head.
pub struct File {
    source: Source,
    length: u64,
    charge: Option<Charge>,
}

crate::charge::charged!(File);

impl RefObject for File {
    fn type_name(&self) -> &'static str {
        "hal.file"
    }
}

impl File {
    /// A read-only file over part of a VM buffer.
    ///
    /// # Errors
    /// OUT_OF_RANGE.
    pub fn from_memory(buffer: Arc<VmBuffer>, offset: u64, length: u64) -> Result<File> {
        let length = if length == u64::MAX { (buffer.len() as u64).saturating_sub(offset) } else { length };
        let offset = buffer.check_range(offset, length)?;
        Ok(File { source: Source::Memory { buffer, offset }, length, charge: None })
    }

    /// An open file of the system.
    ///
    /// # Errors
    /// UNAVAILABLE when its size cannot be asked for.
    pub fn from_os(file: Arc<OsFile>, writable: bool) -> Result<File> {
        let length =
            file.metadata().map_err(|error| Status::unavailable(format!("cannot stat the file: {error}")))?.len();
        Ok(File { source: Source::Os { file, writable }, length, charge: None })
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Reads exactly `target.len()` bytes at `offset`.
    ///
    /// # Errors
    /// OUT_OF_RANGE past the end; UNAVAILABLE when the system cannot read.
    pub fn read(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        let end = offset.checked_add(target.len() as u64);
        if end.is_none_or(|end| end > self.length) {
            return Err(Status::out_of_range(format!(
                "file range [{offset}, {offset} + {}) is outside the file of {} bytes",
                target.len(),
                self.length
            )));
        }
        match &self.source {
            Source::Memory { buffer, offset: base } => buffer.read(*base as u64 + offset, target),
            Source::Os { file, .. } => {
                use std::os::unix::fs::FileExt;
                file.read_exact_at(target, offset).map_err(|error| {
                    Status::unavailable(format!("cannot read {} bytes at {offset}: {error}", target.len()))
                })
            }
        }
    }

    /// Writes `source` at `offset`; an operating-system file grows as needed.
    ///
    /// # Errors
    /// PERMISSION_DENIED for read-only files; UNAVAILABLE when the system cannot write.
    pub fn write(&self, offset: u64, source: &[u8]) -> Result<()> {
        match &self.source {
            Source::Os { file, writable: true } => {
                use std::os::unix::fs::FileExt;
                file.write_all_at(source, offset).map_err(|error| {
                    Status::unavailable(format!("cannot write {} bytes at {offset}: {error}", source.len()))
                })
            }
            _ => Err(Status::permission_denied("the file was opened for reading only")),
        }
    }
}
