//! Mapped files, and what becomes of them while they are mapped.
//!
//! A file that is cut short or rewritten while it is used is an error (DATA_LOSS) of whoever used it, with the file's
//! name: it neither ends the process nor gives a wrong result that nobody hears of.
//!
//! - [`MappedFile::check`] compares the file with what it was when it was mapped.
//! - Pages that are gone when they are read become zeros (see `guard`); a [`Watch`] over a piece of work says afterwards
//!   whether that happened.

mod guard;

use std::fs::{File, Metadata};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use crate::status::{Result, Status};
use guard::Guarded;

/// A file in memory.
pub struct MappedFile {
    // Dropped first: nothing is guarded that is mapped no longer.
    guarded: Guarded,
    map: memmap2::MmapRaw,
    file: File,
    name: String,
    modified: Option<SystemTime>,
    identity: Identity,
    writable: bool,
}

/// Files that this process maps, or has mapped, for writing.
static WRITTEN: Mutex<Vec<Identity>> = Mutex::new(Vec::new());

/// What a file is called by the system, whatever its name, and when it was made: numbers are used again.
type Identity = (u64, u64, Option<SystemTime>);

fn identity(metadata: &Metadata) -> Identity {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (metadata.dev(), metadata.ino(), metadata.created().ok())
    }
    #[cfg(not(unix))]
    {
        (0, 0, metadata.created().ok())
    }
}

/// All of this process, for who looks for those that have lost something.
static FILES: Mutex<Vec<Weak<MappedFile>>> = Mutex::new(Vec::new());

impl MappedFile {
    /// Maps all of `file`, which is not empty; `name` is what messages call it. With `writable`, what is written goes to
    /// the file, and other programs may write it too.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(file: &File, name: &str, writable: bool) -> std::io::Result<Arc<MappedFile>> {
        let options = memmap2::MmapOptions::new();
        let file = file.try_clone()?;
        let metadata = file.metadata()?;
        let (modified, identity) = (metadata.modified().ok(), identity(&metadata));
        if writable {
            let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
            if !written.contains(&identity) {
                written.push(identity);
            }
        }
        let map = if writable { options.map_raw(&file)? } else { options.map_raw_read_only(&file)? };
        let guarded = Guarded::new(map.as_ptr().expose_provenance(), map.len(), writable);
        let mapped = Arc::new(MappedFile { guarded, map, file, name: name.to_owned(), modified, identity, writable });
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|file| file.strong_count() > 0);
        files.push(Arc::downgrade(&mapped));
        Ok(mapped)
    }

    /// The first byte.
    pub fn data(&self) -> NonNull<u8> {
        NonNull::new(self.map.as_mut_ptr()).unwrap_or(NonNull::dangling())
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there is no byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The map, to advise the system about it or to write it back.
    pub fn map(&self) -> &memmap2::MmapRaw {
        &self.map
    }

    /// DATA_LOSS if pages were gone when they were read.
    pub fn check_pages(&self) -> Result<()> {
        if self.guarded.lost() { Err(self.cut()) } else { Ok(()) }
    }

    /// DATA_LOSS if the file is shorter than it was, or was written to; the latter is nothing new where this process maps
    /// it for writing. Also puts the guard in its place again, where another library has come in front of it.
    pub fn check(&self) -> Result<()> {
        guard::ensure();
        self.check_pages()?;
        let Ok(now) = self.file.metadata() else { return Ok(()) };
        if (now.len() as usize) < self.len() {
            return Err(self.cut());
        }
        let changed = !self.writable && now.modified().ok() != self.modified;
        if changed && !WRITTEN.lock().unwrap_or_else(PoisonError::into_inner).contains(&self.identity) {
            return Err(Status::data_loss(format!(
                "{} was changed while it was in use. Load it again; to replace a file that is in use, write another one \
                 and rename it.",
                self.name
            )));
        }
        Ok(())
    }

    #[cold]
    fn cut(&self) -> Status {
        let left = self.file.metadata().map_or(0, |metadata| metadata.len());
        Status::data_loss(format!(
            "{} was cut short while it was in use: it had {} bytes and has {left}. Load it again; to replace a file that \
             is in use, write another one and rename it.",
            self.name,
            self.len()
        ))
    }
}

/// A piece of work that may read mapped files.
#[derive(Clone, Copy)]
pub struct Watch(u64);

impl Watch {
    /// From now on.
    #[inline]
    pub fn start() -> Watch {
        Watch(guard::losses())
    }

    /// DATA_LOSS, with the file's name, if pages of any mapped file were gone when somebody read them since the start:
    /// what was computed meanwhile may have been computed with zeros.
    #[inline]
    pub fn check(self) -> Result<()> {
        if guard::losses() == self.0 { Ok(()) } else { Err(lost()) }
    }

    /// Whether nothing has been lost of any file that is mapped.
    #[inline]
    pub fn all_whole() -> bool {
        !guard::any_lost()
    }
}

#[cold]
fn lost() -> Status {
    let files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let found = files.iter().filter_map(Weak::upgrade).find_map(|file| file.check_pages().err());
    found.unwrap_or_else(|| Status::data_loss("a mapped file was cut short while it was in use. Load it again."))
}
