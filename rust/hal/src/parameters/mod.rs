//! Parameters: named data outside of modules, and the `io_parameters` module that brings it to devices.
//!
//! An [`Index`] lists entries (name, and where the bytes are); a [`Provider`] answers for one scope; [`ParametersModule`]
//! is what compiled code calls. `.irpa` archives are read here; the file stays mapped for as long as an entry refers to it.

pub mod irpa;
mod native;

pub use native::ParametersModule;

use parking_lot::RwLock;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;
use tiree_vm::{Annotate, Result, Status};

/// Bytes that entries refer to: a mapped file or memory that somebody keeps alive.
pub struct Source {
    data: NonNull<u8>,
    length: usize,
    mapped: bool,
    _owner: Option<Arc<dyn std::any::Any + Send + Sync>>,
}

// SAFETY: the bytes are only read; a mapping or the owner keeps them valid on every thread.
unsafe impl Send for Source {}
// SAFETY: as above.
unsafe impl Sync for Source {}

impl Source {
    /// Maps a file for reading.
    ///
    /// # Errors
    /// NOT_FOUND or UNAVAILABLE with the system's words.
    pub fn map(path: impl AsRef<Path>) -> Result<Arc<Source>> {
        use std::os::fd::AsRawFd;
        let path = path.as_ref();
        let file =
            File::open(path).map_err(|error| Status::not_found(format!("cannot open {}: {error}", path.display())))?;
        let unavailable =
            |error: std::io::Error| Status::unavailable(format!("cannot map {}: {error}", path.display()));
        let length = file.metadata().map_err(unavailable)?.len() as usize;
        if length == 0 {
            return Ok(Arc::new(Source { data: NonNull::dangling(), length, mapped: false, _owner: None }));
        }
        // SAFETY: a private read-only mapping of an open file. Whoever truncates a mapped file ends its readers; that is
        // the contract of mmap, as for modules.
        let data = unsafe {
            libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0)
        };
        if data == libc::MAP_FAILED {
            return Err(unavailable(std::io::Error::last_os_error()));
        }
        let data = NonNull::new(data.cast()).ok_or_else(|| Status::internal("mmap returned null"))?;
        Ok(Arc::new(Source { data, length, mapped: true, _owner: None }))
    }

    /// Memory that `owner` keeps alive and unchanged.
    ///
    /// # Safety
    /// `data..data+length` must stay valid and unchanged while `owner` lives.
    pub unsafe fn foreign(
        data: NonNull<u8>,
        length: usize,
        owner: Arc<dyn std::any::Any + Send + Sync>,
    ) -> Arc<Source> {
        Arc::new(Source { data, length, mapped: false, _owner: Some(owner) })
    }

    /// A copy of `bytes`.
    pub fn copy(bytes: &[u8]) -> Arc<Source> {
        let owner: Arc<Vec<u8>> = Arc::new(bytes.to_vec());
        let data = NonNull::from(owner.as_slice()).cast();
        let length = owner.len();
        Arc::new(Source { data, length, mapped: false, _owner: Some(owner) })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: valid for `length` bytes by construction.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.length) }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if self.mapped {
            // SAFETY: the mapping made in `map`.
            unsafe { libc::munmap(self.data.as_ptr().cast(), self.length) };
        }
    }
}

/// Where the bytes of a parameter come from.
#[derive(Clone)]
pub enum Storage {
    /// A range of a source.
    Data {
        /// The source.
        source: Arc<Source>,
        /// Offset in bytes.
        offset: usize,
        /// Length in bytes.
        length: usize,
    },
    /// A pattern of 1, 2, 4, 8 or 16 bytes, repeated.
    Splat {
        /// The pattern.
        pattern: Box<[u8]>,
        /// Length in bytes.
        length: u64,
    },
}

/// A named parameter.
#[derive(Clone)]
pub struct Entry {
    /// The name.
    pub key: String,
    /// Free-form metadata.
    pub metadata: Vec<u8>,
    /// The bytes.
    pub storage: Storage,
}

impl Entry {
    /// Length in bytes.
    pub fn len(&self) -> u64 {
        match &self.storage {
            Storage::Data { length, .. } => *length as u64,
            Storage::Splat { length, .. } => *length,
        }
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads `target.len()` bytes at `offset`.
    ///
    /// # Errors
    /// OUT_OF_RANGE.
    pub fn read(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        if offset.checked_add(target.len() as u64).is_none_or(|end| end > self.len()) {
            return Err(Status::out_of_range(format!(
                "range [{offset}, {offset} + {}) is outside parameter \"{}\" of {} bytes",
                target.len(),
                self.key,
                self.len()
            )));
        }
        match &self.storage {
            Storage::Data { source, offset: base, .. } => {
                let start = base + offset as usize;
                target.copy_from_slice(&source.bytes()[start..start + target.len()]);
            }
            Storage::Splat { pattern, .. } => {
                for (index, byte) in target.iter_mut().enumerate() {
                    *byte = pattern[((offset + index as u64) % pattern.len() as u64) as usize];
                }
            }
        }
        Ok(())
    }
}

/// Parameters by name, in order of insertion.
#[derive(Default)]
pub struct Index {
    entries: RwLock<Entries>,
}

#[derive(Default)]
struct Entries {
    list: Vec<Arc<Entry>>,
    by_key: HashMap<String, usize>,
}

impl Index {
    /// An empty index.
    pub fn new() -> Arc<Index> {
        Arc::default()
    }

    /// Adds an entry; one of the same name is replaced in place.
    pub fn add(&self, entry: Entry) {
        let mut entries = self.entries.write();
        match entries.by_key.get(&entry.key).copied() {
            Some(at) => entries.list[at] = Arc::new(entry),
            None => {
                let at = entries.list.len();
                entries.by_key.insert(entry.key.clone(), at);
                entries.list.push(Arc::new(entry));
            }
        }
    }

    /// The entry called `key`.
    pub fn get(&self, key: &str) -> Option<Arc<Entry>> {
        let entries = self.entries.read();
        entries.by_key.get(key).map(|&at| entries.list[at].clone())
    }

    /// All entries in order.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.entries.read().list.clone()
    }

    /// Adds the entries of the file at `path`, whose format its extension says.
    ///
    /// # Errors
    /// UNIMPLEMENTED for other formats; those of the format's reader.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let extension = path.extension().and_then(|text| text.to_str()).unwrap_or_default().to_ascii_lowercase();
        if extension != "irpa" {
            return Err(Status::unimplemented(format!(
                "{}: parameter files of type \"{extension}\" are not read yet; convert it with iree-convert-parameters to .irpa",
                path.display()
            )));
        }
        irpa::read(&Source::map(path)?, self).annotate(|| format!("loading parameters of {}", path.display()))
    }
}

/// Answers for the parameters of one scope.
#[derive(Clone)]
pub struct Provider {
    /// The scope; empty for the global one.
    pub scope: String,
    /// Its parameters.
    pub index: Arc<Index>,
}
