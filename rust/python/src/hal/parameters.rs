//! Parameters: `ParameterIndex` and its entries, providers, and the `io_parameters` module.

use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use tiree_hal::parameters::{ArchiveBuilder, Entry, Format, Index, ParametersModule, Provider, Source, Storage};
use tiree_vm::context::AnyModule;
use tiree_vm::mapped::Watch;

use crate::errors::IntoPython;
use crate::foreign::ForeignBuffer;
use crate::hal::file_handle::{FileHandle, memory_view, readable_only, source_of};
use crate::hal::replacing::replace;
use crate::vm::module::{VmInstance, VmModule};

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
            Storage::Data { source, offset, .. } => Ok((FileHandle::of(source.clone()), *offset)),
            Storage::Splat { .. } => Err(PyValueError::new_err("Entry is not file storage based")),
        }
    }

    /// The bytes, read-only and without a copy. ValueError for splats.
    #[getter]
    fn file_view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.0.storage {
            Storage::Data { source, offset, length } => {
                source.check().or_raise(py, "")?;
                memory_view(py, source, *offset, *length)
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
        self.0.len()
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
    #[pyo3(signature = (key, pattern, total_length, metadata = None))]
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
    #[pyo3(signature = (key, file_handle, length, offset = 0, metadata = None))]
    fn add_from_file_handle(
        &self,
        key: String,
        file_handle: &FileHandle,
        length: usize,
        offset: usize,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let have = file_handle.source.len();
        let text = format!("range [{offset}, {offset} + {length}) of \"{key}\" lies outside the handle's {have} bytes");
        let added = self.0.add_data(key, metadata_of(metadata)?, &file_handle.source, offset, length);
        added.map_err(|_| PyValueError::new_err(text))
    }

    /// Adds the memory of anything with a C-contiguous buffer, without a copy. Only programs may change it, and only when
    /// `writable`.
    #[pyo3(signature = (key, buffer, readable = true, writable = false, metadata = None))]
    fn add_buffer(
        &self,
        key: String,
        buffer: &Bound<'_, PyAny>,
        readable: bool,
        writable: bool,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        readable_only(readable)?;
        let memory = ForeignBuffer::contiguous(buffer, writable)?;
        let length = memory.len();
        let storage = Storage::Data { source: source_of(memory, writable), offset: 0, length };
        self.0.add(Entry { key, metadata: metadata_of(metadata)?, storage });
        Ok(())
    }

    /// Adds the entries of an archive in a handle; `format` is `irpa`, `gguf` or `safetensors`.
    fn load_from_file_handle(&self, py: Python<'_>, file_handle: &FileHandle, format: &str) -> PyResult<()> {
        let format = parse_format(format).or_raise(py, "")?;
        py.detach(|| self.0.load_source(&file_handle.source, format)).or_raise(py, "")
    }

    /// Adds the entries of the archive `file_path`: mapped, or read into memory with `mmap=False`; with `writable`,
    /// programs may write to the file. `format` (`irpa`, `gguf` or `safetensors`) is that of the file's extension unless
    /// given. The mode `file_async` is read-only and maps the file: pages come in as they are used.
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
        readable_only(readable)?;
        match (mode, mmap, writable) {
            (None, Some(false), true) => {
                return Err(PyValueError::new_err("what is read into memory cannot be written back; leave mmap=True"));
            }
            (None, ..) | (Some("file_async"), None, false) => {}
            (Some("file_async"), Some(_), _) => {
                return Err(PyValueError::new_err("mode and mmap are mutually exclusive"));
            }
            (Some("file_async"), None, true) => {
                return Err(PyValueError::new_err("file_async requires read-only access"));
            }
            (Some(mode), ..) => {
                return Err(PyValueError::new_err(format!(
                    "unsupported parameter file mode: {mode}; there is file_async, or mmap=True or False"
                )));
            }
        }
        let format = format.map_or_else(|| Format::of_path(&file_path), parse_format).or_raise(py, "")?;
        py.detach(|| {
            let source = if mmap == Some(false) { Source::read(&file_path) } else { Source::map(&file_path, writable) };
            self.0.load_source(&source?, format)
        })
        .or_raise(py, "")
    }

    /// Writes all entries (the first of each name) into an archive at `file_offset` of a file, and adds them, as they are there, to
    /// `target_index` (default: a new one), which is returned.
    #[pyo3(signature = (file_path, file_offset = 0, target_index = None))]
    fn create_archive_file<'py>(
        &self,
        py: Python<'py>,
        file_path: PathBuf,
        file_offset: u64,
        target_index: Option<Bound<'py, ParameterIndex>>,
    ) -> PyResult<Bound<'py, ParameterIndex>> {
        let mut builder = ArchiveBuilder::default();
        self.0.found().into_iter().for_each(|(_, entry)| builder.add(entry));
        let written = py.detach(|| write_archive(&builder, &file_path, file_offset));
        written.map_err(|error| PyOSError::new_err(format!("{}: {error}", file_path.display())))?;
        let target = target_index.map_or_else(|| Bound::new(py, ParameterIndex::new()), Ok)?;
        let whole = Source::map(&file_path, false).or_raise(py, "")?;
        let source = whole.part(file_offset as usize, builder.len() as usize);
        let source = source.ok_or_else(|| PyOSError::new_err(format!("{}: cut short", file_path.display())))?;
        target.get().0.load_source(&source, Format::Irpa).or_raise(py, "reading the archive back")?;
        Ok(target)
    }

    /// What answers for these parameters in `scope`.
    #[pyo3(signature = (scope = "", max_concurrent_operations = None))]
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

/// A format by name, as IREE with or without a dot.
fn parse_format(name: &str) -> tiree_vm::Result<Format> {
    Format::parse(name.strip_prefix('.').unwrap_or(name))
}

/// Writes an archive at `offset` of a file, which is made if there is none and ends with the archive if the offset is 0.
/// The entries may be in that very file.
fn write_archive(builder: &ArchiveBuilder, path: &std::path::Path, offset: u64) -> std::io::Result<()> {
    let watch = Watch::start();
    replace(path, offset != 0, |file| {
        let mut writer = BufWriter::with_capacity(1 << 16, file);
        if offset != 0 {
            writer.seek(SeekFrom::Start(offset))?;
        }
        let written = builder.write(&mut writer).and_then(|_| writer.flush());
        // What is copied may come from files that are cut short meanwhile.
        watch.check().map_err(std::io::Error::other)?;
        written
    })
}

/// Writes the entries of `index` (the first of each name) into an archive, data aligned to `alignment`. Of the splats `expanded` (by number) all
/// bytes are written, so that programs can change them.
#[pyfunction]
pub fn write_parameter_archive(
    py: Python<'_>,
    index: &ParameterIndex,
    file_path: PathBuf,
    alignment: u64,
    expanded: Vec<usize>,
) -> PyResult<()> {
    if !alignment.is_power_of_two() {
        return Err(PyValueError::new_err(format!("alignment {alignment} is not a power of two")));
    }
    let mut builder = ArchiveBuilder::new(alignment);
    for (number, entry) in index.0.found() {
        if expanded.contains(&number) { builder.add_data(entry) } else { builder.add(entry) }
    }
    let written = py.detach(|| write_archive(&builder, &file_path, 0));
    written.map_err(|error| PyOSError::new_err(format!("{}: {error}", file_path.display())))
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
