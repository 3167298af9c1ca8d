//! Parameters: `FileHandle`, `ParameterIndex` and its entries, providers, and the `io_parameters` module.

use std::any::Any;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyNotImplementedError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyTuple};
use tiree_hal::parameters::{Entry, Index, ParametersModule, Provider, Source, Storage, irpa};
use tiree_vm::context::AnyModule;

use crate::errors::IntoPython;
use crate::foreign::ForeignBuffer;
use crate::vm::buffer::VmBuffer;
use crate::vm::module::{VmInstance, VmModule};

/// Bytes that entries refer to.
#[pyclass(frozen, module = "tiree._native")]
pub struct FileHandle {
    source: Arc<Source>,
    fd: Option<i32>,
}

/// Memory of Python's as a source.
fn source_of(memory: Arc<ForeignBuffer>) -> Arc<Source> {
    let (data, length) = (NonNull::new(memory.data()).unwrap_or(NonNull::dangling()), memory.len());
    let owner: Arc<dyn Any + Send + Sync> = memory;
    // SAFETY: the exporter keeps the bytes valid while the owner holds its view; who hands parameters over does not
    // change them.
    unsafe { Source::foreign(data, length, owner) }
}

/// A read-only view of `bytes`, which `owner` keeps.
fn memory_view<'py>(py: Python<'py>, source: &Arc<Source>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the bytes are a part of the source, which the buffer keeps; they do not change.
    let buffer =
        unsafe { tiree_vm::VmBuffer::from_raw(NonNull::from(bytes).cast(), bytes.len(), false, source.clone()) };
    let buffer = Bound::new(py, VmBuffer(Arc::new(buffer)))?;
    Ok(PyMemoryView::from(buffer.as_any())?.into_any())
}

fn read_only(readable: bool, writable: bool) -> PyResult<()> {
    if writable || !readable {
        return Err(PyNotImplementedError::new_err(
            "parameters can only be read; leave readable=True and writable=False",
        ));
    }
    Ok(())
}

#[pymethods]
impl FileHandle {
    /// The memory of `host_buffer`, without a copy; it must not change. NotImplementedError when `writable`.
    #[staticmethod]
    #[pyo3(signature = (host_buffer, readable = true, writable = false))]
    fn wrap_memory(host_buffer: &Bound<'_, PyAny>, readable: bool, writable: bool) -> PyResult<FileHandle> {
        read_only(readable, writable)?;
        Ok(FileHandle { source: source_of(ForeignBuffer::contiguous(host_buffer, false)?), fd: None })
    }

    /// An open file of the system, mapped; the descriptor stays the caller's. NotImplementedError when `writable`.
    #[staticmethod]
    #[pyo3(signature = (fd, readable = true, writable = false))]
    fn wrap_fd(py: Python<'_>, fd: i32, readable: bool, writable: bool) -> PyResult<FileHandle> {
        read_only(readable, writable)?;
        let source = Source::map(format!("/proc/self/fd/{fd}")).or_raise(py, "FileHandle.wrap_fd")?;
        Ok(FileHandle { source, fd: Some(fd) })
    }

    /// The bytes, read-only.
    #[getter]
    fn host_allocation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        memory_view(py, &self.source, self.source.bytes())
    }

    /// Whether it wraps memory.
    #[getter]
    fn is_host_allocation(&self) -> bool {
        self.fd.is_none()
    }

    /// Whether it wraps a file descriptor.
    #[getter]
    fn is_fd(&self) -> bool {
        self.fd.is_some()
    }

    /// The file descriptor. ValueError for memory.
    #[getter]
    fn fd(&self) -> PyResult<i32> {
        self.fd.ok_or_else(|| PyValueError::new_err("the handle wraps memory, not a file descriptor"))
    }

    /// Never: files are mapped.
    #[getter]
    fn is_async(&self) -> bool {
        false
    }

    fn __repr__(&self) -> String {
        let length = self.source.bytes().len();
        match self.fd {
            Some(fd) => format!("FileHandle<fd({fd}), {length} bytes>"),
            None => format!("FileHandle<host_allocation, {length} bytes>"),
        }
    }
}

/// One parameter of an index.
#[pyclass(frozen, module = "tiree._native")]
pub struct ParameterIndexEntry(Arc<Entry>);

#[pymethods]
impl ParameterIndexEntry {
    /// Name.
    #[getter]
    fn key(&self) -> &str {
        &self.0.key
    }

    /// Length in bytes.
    #[getter]
    fn length(&self) -> u64 {
        self.0.len()
    }

    /// Free-form metadata.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.metadata)
    }

    /// Whether its bytes are in a file or memory.
    #[getter]
    fn is_file(&self) -> bool {
        matches!(self.0.storage, Storage::Data { .. })
    }

    /// Whether it repeats a pattern.
    #[getter]
    fn is_splat(&self) -> bool {
        matches!(self.0.storage, Storage::Splat { .. })
    }

    /// The handle that the bytes are in and their offset. ValueError for splats.
    #[getter]
    fn file_storage(&self) -> PyResult<(FileHandle, usize)> {
        match &self.0.storage {
            Storage::Data { source, offset, .. } => Ok((FileHandle { source: source.clone(), fd: None }, *offset)),
            Storage::Splat { .. } => Err(PyValueError::new_err("Entry is not file storage based")),
        }
    }

    /// The bytes, read-only and without a copy. ValueError for splats.
    #[getter]
    fn file_view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.0.storage {
            Storage::Data { source, offset, length } => {
                memory_view(py, source, &source.bytes()[*offset..offset + length])
            }
            Storage::Splat { .. } => Err(PyValueError::new_err("Entry is not file storage based")),
        }
    }

    /// The pattern. ValueError for entries that are no splats.
    #[getter]
    fn splat_pattern<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        match &self.0.storage {
            Storage::Splat { pattern, .. } => Ok(PyBytes::new(py, pattern)),
            Storage::Data { .. } => Err(PyValueError::new_err("Entry is not splat based")),
        }
    }

    fn __repr__(&self) -> String {
        let kind = if self.is_splat() { "splat" } else { "file" };
        format!("<ParameterIndexEntry '{}' {kind} {} bytes>", self.0.key, self.0.len())
    }
}

/// Parameters by name, in order.
#[pyclass(frozen, module = "tiree._native")]
pub struct ParameterIndex(Arc<Index>);

/// Metadata as text or bytes.
fn metadata_of(metadata: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u8>> {
    let Some(metadata) = metadata else { return Ok(Vec::new()) };
    if let Ok(text) = metadata.extract::<String>() {
        return Ok(text.into_bytes());
    }
    metadata.extract::<Vec<u8>>().map_err(|_| PyTypeError::new_err("metadata must be str or bytes"))
}

#[pymethods]
impl ParameterIndex {
    #[new]
    fn new() -> ParameterIndex {
        ParameterIndex(Index::new())
    }

    fn __len__(&self) -> usize {
        self.0.entries().len()
    }

    fn __getitem__(&self, i: usize) -> PyResult<ParameterIndexEntry> {
        let entries = self.0.entries();
        let count = entries.len();
        entries
            .into_iter()
            .nth(i)
            .map(ParameterIndexEntry)
            .ok_or_else(|| PyIndexError::new_err(format!("entry {i} out of range (have {count} entries in the index)")))
    }

    /// A hint.
    fn reserve(&self, new_capacity: usize) {
        let _ = new_capacity;
    }

    /// Adds `total_length` bytes of a repeated pattern of 1, 2, 4, 8 or 16 bytes (anything with a buffer).
    #[pyo3(signature = (key, pattern, total_length, *, metadata = None))]
    fn add_splat(
        &self,
        key: String,
        pattern: &Bound<'_, PyAny>,
        total_length: u64,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let memory = ForeignBuffer::contiguous(pattern, false)?;
        // SAFETY: copied at once, with the GIL held.
        let pattern: Box<[u8]> = unsafe { memory.bytes() }.into();
        if !matches!(pattern.len(), 1 | 2 | 4 | 8 | 16) {
            let length = pattern.len();
            return Err(PyValueError::new_err(format!(
                "splat pattern length {length} invalid; must be 1, 2, 4, 8, or 16 bytes"
            )));
        }
        let storage = Storage::Splat { pattern, length: total_length };
        self.0.add(Entry { key, metadata: metadata_of(metadata)?, storage });
        Ok(())
    }

    /// Adds `length` bytes at `offset` of a handle. ValueError when they lie outside of it.
    #[pyo3(signature = (key, file_handle, length, *, offset = 0, metadata = None))]
    fn add_from_file_handle(
        &self,
        key: String,
        file_handle: &FileHandle,
        length: usize,
        offset: usize,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let have = file_handle.source.bytes().len();
        if offset.checked_add(length).is_none_or(|end| end > have) {
            return Err(PyValueError::new_err(format!(
                "range [{offset}, {offset} + {length}) of \"{key}\" lies outside the handle's {have} bytes"
            )));
        }
        let storage = Storage::Data { source: file_handle.source.clone(), offset, length };
        self.0.add(Entry { key, metadata: metadata_of(metadata)?, storage });
        Ok(())
    }

    /// Adds the memory of anything with a C-contiguous buffer, without a copy; it must not change.
    #[pyo3(signature = (key, buffer, *, readable = true, writable = false, metadata = None))]
    fn add_buffer(
        &self,
        key: String,
        buffer: &Bound<'_, PyAny>,
        readable: bool,
        writable: bool,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        read_only(readable, writable)?;
        let memory = ForeignBuffer::contiguous(buffer, false)?;
        let length = memory.len();
        let storage = Storage::Data { source: source_of(memory), offset: 0, length };
        self.0.add(Entry { key, metadata: metadata_of(metadata)?, storage });
        Ok(())
    }

    /// Adds the entries of an archive in a handle; `format` is `irpa`.
    fn load_from_file_handle(&self, py: Python<'_>, file_handle: &FileHandle, format: &str) -> PyResult<()> {
        check_format(Some(format), Path::new(""))?;
        irpa::read(&file_handle.source, &self.0).or_raise(py, "loading parameters")
    }

    /// Adds the entries of the archive `file_path`, mapped (or read into memory with `mmap=False`). `format` is that of
    /// the file's extension unless given: `irpa`.
    #[pyo3(signature = (file_path, format = None, readable = true, writable = false, mmap = None, *, mode = None))]
    #[expect(clippy::too_many_arguments, reason = "IREE's signature")]
    fn load(
        &self,
        py: Python<'_>,
        file_path: PathBuf,
        format: Option<&str>,
        readable: bool,
        writable: bool,
        mmap: Option<bool>,
        mode: Option<&str>,
    ) -> PyResult<()> {
        read_only(readable, writable)?;
        if let Some(mode) = mode {
            return Err(PyValueError::new_err(format!(
                "unsupported parameter file mode: {mode}; files are mapped, or read with mmap=False"
            )));
        }
        check_format(format, &file_path)?;
        let context = || format!("loading parameters of {}", file_path.display());
        let source = if mmap == Some(false) {
            let bytes = std::fs::read(&file_path);
            Source::copy(&bytes.map_err(|error| PyOSError::new_err(format!("{}: {error}", file_path.display())))?)
        } else {
            Source::map(&file_path).or_raise(py, "")?
        };
        py.detach(|| irpa::read(&source, &self.0)).or_raise(py, &context())
    }

    /// Writes all entries into an archive at `file_offset` of a file, and adds them, as they are there, to
    /// `target_index` (default: a new one), which is returned.
    #[pyo3(signature = (file_path, file_offset = 0, target_index = None))]
    fn create_archive_file<'py>(
        &self,
        py: Python<'py>,
        file_path: PathBuf,
        file_offset: u64,
        target_index: Option<Bound<'py, ParameterIndex>>,
    ) -> PyResult<Bound<'py, ParameterIndex>> {
        let written = py.detach(|| {
            let bytes = irpa::write(&self.0);
            let mut file =
                std::fs::OpenOptions::new().write(true).create(true).truncate(file_offset == 0).open(&file_path)?;
            file.seek(SeekFrom::Start(file_offset))?;
            file.write_all(&bytes)?;
            Ok::<_, std::io::Error>(bytes.len())
        });
        let length = written.map_err(|error| PyOSError::new_err(format!("{}: {error}", file_path.display())))?;
        let target = target_index.map_or_else(|| Bound::new(py, ParameterIndex::new()), Ok)?;
        let whole = Source::map(&file_path).or_raise(py, "")?;
        let part = NonNull::from(&whole.bytes()[file_offset as usize..file_offset as usize + length]).cast();
        // SAFETY: a part of the mapping, which is its owner.
        let source = unsafe { Source::foreign(part, length, whole) };
        irpa::read(&source, &target.get().0).or_raise(py, "reading the archive back")?;
        Ok(target)
    }

    /// What answers for these parameters in `scope`.
    #[pyo3(signature = (*, scope = "", max_concurrent_operations = None))]
    fn create_provider(&self, scope: &str, max_concurrent_operations: Option<usize>) -> ParameterProvider {
        // Parameters are read where they are mapped, so there is nothing to limit.
        let _ = max_concurrent_operations;
        ParameterProvider(Provider { scope: scope.to_owned(), index: self.0.clone() })
    }

    /// `(key, entry)` for all.
    fn items(&self) -> Vec<(String, ParameterIndexEntry)> {
        self.0.entries().into_iter().map(|entry| (entry.key.clone(), ParameterIndexEntry(entry))).collect()
    }

    fn __repr__(&self) -> String {
        let entries = self.0.entries();
        let total: u64 = entries.iter().map(|entry| entry.len()).sum();
        format!("<ParameterIndex of {} entries, {total} bytes>", entries.len())
    }
}

fn check_format(format: Option<&str>, path: &Path) -> PyResult<()> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let format = format.map(str::to_owned).or(extension).unwrap_or_default();
    if format == "irpa" {
        return Ok(());
    }
    Err(PyNotImplementedError::new_err(format!(
        "unsupported file format `{format}`: only irpa archives are read; convert with iree-convert-parameters"
    )))
}

/// Answers for the parameters of one scope.
#[pyclass(frozen, module = "tiree._native")]
pub struct ParameterProvider(Provider);

#[pymethods]
impl ParameterProvider {
    fn __repr__(&self) -> String {
        format!("<ParameterProvider '{}', {} entries>", self.0.scope, self.0.index.entries().len())
    }
}

/// The `io_parameters` module over any number of providers.
#[pyfunction]
#[pyo3(signature = (instance, *providers))]
pub fn create_io_parameters_module(instance: &VmInstance, providers: &Bound<'_, PyTuple>) -> PyResult<VmModule> {
    let _ = instance;
    let providers = providers.iter().map(|provider| {
        let provider = provider.cast_into::<ParameterProvider>();
        provider.map(|p| p.get().0.clone()).map_err(|_| PyTypeError::new_err("providers must be ParameterProviders"))
    });
    let module = ParametersModule::new(providers.collect::<PyResult<_>>()?);
    Ok(VmModule::native(AnyModule::from(Arc::new(module))))
}
