//! Bytes that parameters lie in: mapped or read files, and memory of others.

use std::any::Any;
use std::fs::File;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;
use tiree_vm::mapped::MappedFile;
use tiree_vm::{Result, Status};

/// Bytes, where they come from, and whether they may be written.
///
/// Readers and writers copy through raw pointers: a program that writes parameters orders that with its fences.
pub struct Source {
    data: NonNull<u8>,
    length: usize,
    writable: bool,
    name: String,
    /// The file that the bytes are mapped from.
    file: Option<Arc<MappedFile>>,
    /// Keeps other bytes where they are.
    _owner: Owner,
}

enum Owner {
    None,
    Memory(#[expect(dead_code, reason = "held, not used")] memmap2::MmapMut),
    Foreign(#[expect(dead_code, reason = "held, not used")] Arc<dyn Any + Send + Sync>),
}

// SAFETY: a mapping or the owner keeps the bytes valid on every thread; accesses are ordered by the program's fences.
unsafe impl Send for Source {}
// SAFETY: as above.
unsafe impl Sync for Source {}

fn cannot(what: &str, name: &str, error: &std::io::Error) -> Status {
    let make = match error.kind() {
        std::io::ErrorKind::NotFound => Status::not_found,
        std::io::ErrorKind::PermissionDenied => Status::permission_denied,
        _ => Status::unavailable,
    };
    make(format!("cannot {what} {name}: {error}"))
}

fn open(path: &Path, writable: bool) -> Result<(File, String)> {
    let name = path.display().to_string();
    let metadata = std::fs::metadata(path).map_err(|error| cannot("open", &name, &error))?;
    if !metadata.is_file() {
        // Opening a pipe waits for who writes it.
        let kind = if metadata.is_dir() { "directory" } else { "pipe or a device" };
        return Err(Status::invalid_argument(format!("{name} is a {kind}, not a parameter file")));
    }
    let file = File::options().read(true).write(writable).open(path);
    Ok((file.map_err(|error| cannot("open", &name, &error))?, name))
}

impl Source {
    /// Maps the file at `path`. Written bytes go to the file when `writable`.
    ///
    /// # Errors
    /// NOT_FOUND, PERMISSION_DENIED or UNAVAILABLE with the system's words; INVALID_ARGUMENT for a directory.
    pub fn map(path: impl AsRef<Path>, writable: bool) -> Result<Arc<Source>> {
        let (file, name) = open(path.as_ref(), writable)?;
        Source::map_file(&file, name, writable)
    }

    /// Maps an open file, which messages call `name`. The file may be closed afterwards.
    ///
    /// # Errors
    /// UNAVAILABLE or PERMISSION_DENIED with the system's words.
    pub fn map_file(file: &File, name: String, writable: bool) -> Result<Arc<Source>> {
        let length = file.metadata().map_err(|error| cannot("look at", &name, &error))?.len() as usize;
        if length == 0 {
            let data = NonNull::dangling();
            return Ok(Arc::new(Source { data, length, writable, name, file: None, _owner: Owner::None }));
        }
        let mapped = MappedFile::new(file, &name, writable).map_err(|error| cannot("map", &name, &error))?;
        let (data, length) = (mapped.data(), mapped.len());
        Ok(Arc::new(Source { data, length, writable, name, file: Some(mapped), _owner: Owner::None }))
    }

    /// Reads the file at `path` into memory, so that nothing is left to read when parameters are used.
    ///
    /// # Errors
    /// As [`map`](Self::map); RESOURCE_EXHAUSTED when it does not fit the memory.
    pub fn read(path: impl AsRef<Path>) -> Result<Arc<Source>> {
        use std::io::Read;
        let (mut file, name) = open(path.as_ref(), false)?;
        let length = file.metadata().map_err(|error| cannot("look at", &name, &error))?.len() as usize;
        if length == 0 {
            return Source::map_file(&file, name, false);
        }
        let mut map = memmap2::MmapMut::map_anon(length)
            .map_err(|error| Status::resource_exhausted(format!("no memory for {name} of {length} bytes: {error}")))?;
        file.read_exact(&mut map).map_err(|error| cannot("read", &name, &error))?;
        let data = NonNull::new(map.as_mut_ptr()).ok_or_else(|| Status::internal("mmap returned null"))?;
        Ok(Arc::new(Source { data, length, writable: false, name, file: None, _owner: Owner::Memory(map) }))
    }

    /// Memory that `owner` keeps alive.
    ///
    /// # Safety
    /// `data..data+length` must stay valid while `owner` lives; it must not change, unless `writable` says that programs
    /// may write to it, who then order that.
    pub unsafe fn foreign(
        data: NonNull<u8>,
        length: usize,
        writable: bool,
        name: String,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Arc<Source> {
        Arc::new(Source { data, length, writable, name, file: None, _owner: Owner::Foreign(owner) })
    }

    /// A copy of `bytes`.
    pub fn copy(bytes: &[u8]) -> Arc<Source> {
        let owner: Arc<Vec<u8>> = Arc::new(bytes.to_vec());
        let data = NonNull::from(owner.as_slice()).cast();
        // SAFETY: the vector is never changed.
        unsafe { Source::foreign(data, bytes.len(), false, "memory".to_owned(), owner) }
    }

    /// A part of `self`, which it keeps; None when it lies outside.
    pub fn part(self: &Arc<Source>, offset: usize, length: usize) -> Option<Arc<Source>> {
        let data = self.pointer(offset, length)?;
        let (writable, name, file) = (self.writable, self.name.clone(), self.file.clone());
        Some(Arc::new(Source { data, length, writable, name, file, _owner: Owner::Foreign(self.clone()) }))
    }

    /// The file's path, or what else the bytes are called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is no byte.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether programs may write to it.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// The bytes, for those who read the structure of an archive: nobody writes that.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: valid for `length` bytes by construction. Programs write the data of parameters only, which the readers
        // of archives do not look at.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.length) }
    }

    /// The first of `length` bytes at `offset`; None when they lie outside.
    pub fn pointer(&self, offset: usize, length: usize) -> Option<NonNull<u8>> {
        let end = offset.checked_add(length)?;
        // SAFETY: inside the bytes.
        (end <= self.length).then(|| unsafe { self.data.add(offset) })
    }

    /// Writes dirty pages of a mapped file back, so that other programs and a crash find them. No effect otherwise.
    ///
    /// # Errors
    /// UNAVAILABLE with the system's words.
    pub fn flush(&self) -> Result<()> {
        match &self.file {
            Some(file) if self.writable => file.map().flush().map_err(|error| cannot("write", &self.name, &error)),
            _ => Ok(()),
        }
    }

    /// DATA_LOSS if the file was cut short, or written to by others, since it was opened.
    ///
    /// # Errors
    /// That one.
    pub fn check(&self) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.check())
    }

    /// DATA_LOSS if pages of the file were gone when they were read.
    ///
    /// # Errors
    /// That one.
    pub fn check_pages(&self) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.check_pages())
    }
}
