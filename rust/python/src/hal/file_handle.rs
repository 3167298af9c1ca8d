//! `FileHandle`: memory or a file that parameters lie in.

use std::any::Any;
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::exceptions::{PyNotImplementedError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use tiree_hal::parameters::Source;

use crate::errors::IntoPython;
use crate::foreign::ForeignBuffer;
use crate::vm::buffer::VmBuffer;

/// Bytes that entries refer to.
#[pyclass(frozen, module = "tiree._native")]
pub struct FileHandle {
    pub(super) source: Arc<Source>,
    fd: Option<i32>,
}

/// Memory of Python's as a source.
pub(super) fn source_of(memory: Arc<ForeignBuffer>, writable: bool) -> Arc<Source> {
    let (data, length) = (NonNull::new(memory.data()).unwrap_or(NonNull::dangling()), memory.len());
    let owner: Arc<dyn Any + Send + Sync> = memory;
    // SAFETY: the exporter keeps the bytes valid while the owner holds its view, and lets them be written if that was
    // asked for; who hands parameters over does not change them.
    unsafe { Source::foreign(data, length, writable, "memory".to_owned(), owner) }
}

/// A read-only view of a part of a source, which it keeps.
pub(super) fn memory_view<'py>(
    py: Python<'py>,
    source: &Arc<Source>,
    offset: usize,
    length: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let data = source.pointer(offset, length).ok_or_else(|| PyValueError::new_err("outside of the file"))?;
    // SAFETY: the bytes are a part of the source, which the buffer keeps; programs that write to it do so when they are
    // told to.
    let buffer = unsafe { tiree_vm::VmBuffer::from_raw(data, length, false, source.clone()) };
    let buffer = Bound::new(py, VmBuffer(Arc::new(buffer)))?;
    Ok(PyMemoryView::from(buffer.as_any())?.into_any())
}

/// NotImplementedError for what cannot be read: nobody could check it.
pub(super) fn readable_only(readable: bool) -> PyResult<()> {
    if readable {
        Ok(())
    } else {
        Err(PyNotImplementedError::new_err("parameters must be readable; leave readable=True"))
    }
}

impl FileHandle {
    /// A handle on what entries refer to.
    pub(super) fn of(source: Arc<Source>) -> FileHandle {
        FileHandle { source, fd: None }
    }
}

#[pymethods]
impl FileHandle {
    /// The memory of `host_buffer`, without a copy. It must not change but by programs, who may write when `writable`.
    #[staticmethod]
    #[pyo3(signature = (host_buffer, readable = true, writable = false))]
    fn wrap_memory(host_buffer: &Bound<'_, PyAny>, readable: bool, writable: bool) -> PyResult<FileHandle> {
        readable_only(readable)?;
        Ok(FileHandle::of(source_of(ForeignBuffer::contiguous(host_buffer, writable)?, writable)))
    }

    /// An open file of the system, mapped; the descriptor stays the caller's. Programs may write when `writable`.
    #[staticmethod]
    #[pyo3(signature = (fd, readable = true, writable = false))]
    fn wrap_fd(py: Python<'_>, fd: i32, readable: bool, writable: bool) -> PyResult<FileHandle> {
        readable_only(readable)?;
        if fd < 0 {
            return Err(PyValueError::new_err(format!("{fd} is not a file descriptor")));
        }
        // SAFETY: the number is only used for the call that duplicates it, which fails if nothing is open there.
        let duplicate = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned()?;
        let source = Source::map_file(&File::from(duplicate), format!("file descriptor {fd}"), writable);
        Ok(FileHandle { source: source.or_raise(py, "FileHandle.wrap_fd")?, fd: Some(fd) })
    }

    /// The bytes, read-only.
    #[getter]
    fn host_allocation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.source.check().or_raise(py, "")?;
        memory_view(py, &self.source, 0, self.source.len())
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
        let length = self.source.len();
        match self.fd {
            Some(fd) => format!("FileHandle<fd({fd}), {length} bytes>"),
            None => format!("FileHandle<host_allocation, {length} bytes>"),
        }
    }
}
