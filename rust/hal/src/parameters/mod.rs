//! Parameters: named data outside of modules, and the `io_parameters` module that brings it to devices.
//!
//! An [`Index`] lists entries (name, and where the bytes are); a [`Provider`] answers for one scope; [`ParametersModule`]
//! is what compiled code calls. Archives are `.irpa`, `.gguf` and `.safetensors`; a file stays mapped for as long as an
//! entry refers to it.

mod bytes;
mod disjoint;
pub mod gguf;
pub mod irpa;
mod irpa_write;
mod native;
pub mod safetensors;
mod source;

pub use irpa_write::{ArchiveBuilder, DATA_ALIGNMENT};
pub use native::ParametersModule;
pub use source::Source;

use parking_lot::RwLock;
use std::collections::HashMap;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;
use tiree_vm::{Result, Status};

/// Where the bytes of a parameter come from.
#[derive(Clone)]
pub enum Storage {
    /// A range of a source, inside of it.
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

    /// The file or memory that it lies in; None for a splat.
    pub fn source(&self) -> Option<&Arc<Source>> {
        match &self.storage {
            Storage::Data { source, .. } => Some(source),
            Storage::Splat { .. } => None,
        }
    }

    /// `'key' of FILE`, for messages.
    pub(crate) fn described(&self) -> String {
        match self.source() {
            Some(source) => format!("'{}' of {}", self.key, source.name()),
            None => format!("'{}' (a splat)", self.key),
        }
    }

    /// DATA_LOSS if the file that it is in was cut short, or written to by others, since it was opened.
    ///
    /// # Errors
    /// That one.
    pub fn check_file(&self) -> Result<()> {
        self.source().map_or(Ok(()), |source| source.check())
    }

    /// OUT_OF_RANGE, with both sizes, unless the entry has the range; DATA_LOSS as [`check_file`](Entry::check_file).
    pub(crate) fn check_range(&self, offset: u64, length: u64) -> Result<()> {
        self.check_file()?;
        if offset.checked_add(length).is_some_and(|end| end <= self.len()) {
            return Ok(());
        }
        Err(Status::out_of_range(format!(
            "parameter {} has {} bytes; range [{offset}, {offset} + {length}) is outside of it",
            self.described(),
            self.len()
        )))
    }

    /// The first byte of a range that was checked. None for splats.
    fn pointer(&self, offset: u64, length: u64) -> Option<NonNull<u8>> {
        match &self.storage {
            Storage::Data { source, offset: base, .. } => source.pointer(base + offset as usize, length as usize),
            Storage::Splat { .. } => None,
        }
    }

    /// Copies `length` bytes at `offset` to `target`.
    ///
    /// # Errors
    /// OUT_OF_RANGE.
    ///
    /// # Safety
    /// `target` must be valid for writes of `length` bytes.
    pub(crate) unsafe fn read_to(&self, offset: u64, target: *mut u8, length: usize) -> Result<()> {
        self.check_range(offset, length as u64)?;
        if let Some(from) = self.pointer(offset, length as u64) {
            // SAFETY: both ranges are valid; `copy` allows them to overlap.
            unsafe { std::ptr::copy(from.as_ptr(), target, length) };
            self.source().map_or(Ok(()), |source| source.check_pages())?;
        } else if let Storage::Splat { pattern, .. } = &self.storage {
            let phase = (offset % pattern.len() as u64) as usize;
            // SAFETY: the caller's promise.
            unsafe { fill_pattern(target, length, pattern, phase) };
        }
        Ok(())
    }

    /// Reads `target.len()` bytes at `offset`.
    ///
    /// # Errors
    /// OUT_OF_RANGE.
    pub fn read(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        // SAFETY: an exclusive slice.
        unsafe { self.read_to(offset, target.as_mut_ptr(), target.len()) }
    }

    /// PERMISSION_DENIED unless the bytes may be written.
    pub(crate) fn check_writable(&self) -> Result<()> {
        let why = match &self.storage {
            Storage::Data { source, .. } if source.is_writable() => return Ok(()),
            Storage::Data { .. } => "it was opened for reading; load it with writable=True",
            Storage::Splat { .. } => "its file holds one pattern for all of it",
        };
        Err(Status::permission_denied(format!("parameter {} cannot be written: {why}", self.described())))
    }

    /// Writes `length` bytes from `source` at `offset`.
    ///
    /// # Errors
    /// PERMISSION_DENIED or OUT_OF_RANGE.
    ///
    /// # Safety
    /// `source` must be valid for reads of `length` bytes.
    pub(crate) unsafe fn write_from(&self, offset: u64, source: *const u8, length: usize) -> Result<()> {
        self.check_writable()?;
        self.check_range(offset, length as u64)?;
        if let Some(to) = self.pointer(offset, length as u64) {
            // SAFETY: both ranges are valid and the target is writable; `copy` allows them to overlap.
            unsafe { std::ptr::copy(source, to.as_ptr(), length) };
        }
        Ok(())
    }

    /// Writes `bytes` at `offset`.
    ///
    /// # Errors
    /// PERMISSION_DENIED or OUT_OF_RANGE.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        // SAFETY: a valid slice; memory of parameters is never lent as a slice.
        unsafe { self.write_from(offset, bytes.as_ptr(), bytes.len()) }
    }
}

/// Fills `length` bytes with `pattern`, beginning inside of it at `phase`.
///
/// # Safety
/// `target` must be valid for writes of `length` bytes.
unsafe fn fill_pattern(target: *mut u8, length: usize, pattern: &[u8], phase: usize) {
    if pattern.iter().all(|&byte| byte == pattern[0]) {
        // SAFETY: the caller's promise.
        return unsafe { std::ptr::write_bytes(target, pattern[0], length) };
    }
    let first = length.min(pattern.len());
    for index in 0..first {
        // SAFETY: inside the range.
        unsafe { target.add(index).write(pattern[(phase + index) % pattern.len()]) };
    }
    // What is there is doubled until it is long enough: a whole number of patterns each time but the last.
    let mut done = first;
    while done < length {
        let part = done.min(length - done);
        // SAFETY: both inside the range, and apart.
        unsafe { std::ptr::copy_nonoverlapping(target, target.add(done), part) };
        done += part;
    }
}

/// Parameters by name, in order of insertion. Of several of one name all are listed and the first is found, as in IREE.
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

    /// Adds an entry.
    pub fn add(&self, entry: Entry) {
        let mut entries = self.entries.write();
        let at = entries.list.len();
        entries.by_key.entry(entry.key.clone()).or_insert(at);
        entries.list.push(Arc::new(entry));
    }

    /// Adds `length` bytes at `offset` of `source`.
    ///
    /// # Errors
    /// OUT_OF_RANGE when they lie outside of it.
    pub fn add_data(
        &self,
        key: String,
        metadata: Vec<u8>,
        source: &Arc<Source>,
        offset: usize,
        length: usize,
    ) -> Result<()> {
        if source.pointer(offset, length).is_none() {
            return Err(Status::out_of_range(format!(
                "data of \"{key}\" [{offset}, {offset} + {length}) lies outside {} of {} bytes",
                source.name(),
                source.len()
            )));
        }
        self.add(Entry { key, metadata, storage: Storage::Data { source: source.clone(), offset, length } });
        Ok(())
    }

    /// The first entry called `key`.
    pub fn get(&self, key: &str) -> Option<Arc<Entry>> {
        let entries = self.entries.read();
        entries.by_key.get(key).map(|&at| entries.list[at].clone())
    }

    /// All entries in order.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.entries.read().list.clone()
    }

    /// Of each name the first entry, the one that is found, with its number among all; in order.
    pub fn found(&self) -> Vec<(usize, Arc<Entry>)> {
        let entries = self.entries.read();
        let is_found = |at: &usize| entries.by_key.get(&entries.list[*at].key) == Some(at);
        (0..entries.list.len()).filter(is_found).map(|at| (at, entries.list[at].clone())).collect()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.read().list.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the entries of the file at `path`, mapped, whose format its extension says.
    ///
    /// # Errors
    /// UNIMPLEMENTED for other formats; those of the format's reader, with the file's name.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<()> {
        let format = Format::of_path(path.as_ref())?;
        self.load_source(&Source::map(path, false)?, format)
    }

    /// Adds the entries of an archive.
    ///
    /// # Errors
    /// Those of the format's reader, with the file's name; then no entry was added.
    pub fn load_source(&self, source: &Arc<Source>, format: Format) -> Result<()> {
        // A file that is damaged in its last entry adds none.
        let found = Index::default();
        let read = match format {
            Format::Irpa => irpa::read,
            Format::Gguf => gguf::read,
            Format::Safetensors => safetensors::read,
        };
        let outcome = read(source, &found).and_then(|()| disjoint::check(&found.entries()));
        source.check()?;
        outcome.map_err(|status| {
            // One message: what is printed without annotations must name the file, too.
            let parts: Vec<&str> = status.annotations().iter().rev().map(String::as_str).collect();
            let place = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
            Status::new(status.code(), format!("cannot load {}: {}{place}", source.name(), status.message()))
        })?;
        let list = found.entries.into_inner().list;
        list.into_iter().for_each(|entry| self.add(Arc::unwrap_or_clone(entry)));
        Ok(())
    }
}

/// Formats of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// IREE's.
    Irpa,
    /// That of llama.cpp.
    Gguf,
    /// That of Hugging Face.
    Safetensors,
}

impl Format {
    /// The format called `name`, in any case.
    ///
    /// # Errors
    /// UNIMPLEMENTED, with the names that exist.
    pub fn parse(name: &str) -> Result<Format> {
        match name.to_ascii_lowercase().as_str() {
            "irpa" => Ok(Format::Irpa),
            "gguf" => Ok(Format::Gguf),
            "safetensors" => Ok(Format::Safetensors),
            _ => Err(Status::unimplemented(format!(
                "unsupported file format `{name}`; supported: .irpa, .gguf, .safetensors"
            ))),
        }
    }

    /// The format that the extension of `path` says.
    ///
    /// # Errors
    /// UNIMPLEMENTED, with the path.
    pub fn of_path(path: &Path) -> Result<Format> {
        let extension = path.extension().and_then(|text| text.to_str()).unwrap_or_default();
        Format::parse(extension).map_err(|_| {
            Status::unimplemented(format!(
                "{}: unsupported file format `{extension}`; the extension must be .irpa, .gguf or .safetensors",
                path.display()
            ))
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splats_repeat_from_any_offset() {
        let pattern: Box<[u8]> = [1, 2, 3, 4].into();
        let entry = Entry { key: "s".into(), metadata: vec![], storage: Storage::Splat { pattern, length: 64 } };
        for offset in 0..9u64 {
            for length in 0..23usize {
                let mut bytes = vec![0; length];
                entry.read(offset, &mut bytes).unwrap();
                let want: Vec<u8> = (0..length as u64).map(|at| ((offset + at) % 4 + 1) as u8).collect();
                assert_eq!(bytes, want, "{offset} {length}");
            }
        }
        assert!(entry.write(0, &[1]).unwrap_err().to_string().contains("one pattern for all of it"));
    }

    #[test]
    fn the_first_of_one_name_is_found() {
        let index = Index::new();
        for value in [1, 2] {
            index.add_data("w".into(), vec![], &Source::copy(&[value]), 0, 1).unwrap();
        }
        let mut byte = [0];
        index.get("w").unwrap().read(0, &mut byte).unwrap();
        assert_eq!((index.len(), byte), (2, [1]));
        let outside = index.add_data("x".into(), vec![], &Source::copy(&[1]), 1, 1).unwrap_err();
        assert!(outside.to_string().contains("lies outside memory of 1 bytes"), "{outside}");
    }
}
