//! `HalBufferView`, and as its subclass in Python `DeviceArray`.

use std::ffi::c_int;
use std::sync::Arc;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use tiree_hal::allocator::Allocator;
use tiree_hal::buffer::BufferParams;
use tiree_hal::buffer_view::{BufferView, shape_text};
use tiree_hal::types::{ElementType, access, encoding, memory_type, usage};

use crate::arguments::copy_bytes;
use crate::errors::IntoPython;
use crate::foreign::{self, Export, ForeignBuffer};
use crate::hal::buffer::{HalBuffer, MappedMemory};
use crate::hal::dlpack;
use crate::vm::refs::VmRef;

/// A typed, shaped view of a device buffer. Supports the buffer protocol where the element type has a format.
#[pyclass(frozen, subclass, module = "tiree._native")]
pub struct HalBufferView(pub Arc<BufferView>);

/// The parameters of buffers made for Python.
pub fn default_params() -> BufferParams {
    BufferParams::local(memory_type::DEVICE_LOCAL, usage::DEFAULT)
}

#[pymethods]
impl HalBufferView {
    #[new]
    fn new(py: Python<'_>, buffer: &HalBuffer, shape: Vec<u64>, element_type: u32) -> PyResult<HalBufferView> {
        let view = BufferView::new(buffer.0.clone(), ElementType(element_type), encoding::DENSE_ROW_MAJOR, &shape);
        view.map(|v| HalBufferView(Arc::new(v))).or_raise(py, "")
    }

    /// A view with a copy of the bytes of `array`, whose elements stand for `element_type` (for types the protocol cannot name).
    #[staticmethod]
    fn from_bytes(py: Python<'_>, array: &Bound<'_, PyAny>, element_type: u32) -> PyResult<HalBufferView> {
        let memory = ForeignBuffer::contiguous(array, false)?;
        let shape: Vec<u64> = memory.shape().iter().map(|&d| d as u64).collect();
        let buffer = copy_bytes(py, &memory, &Allocator::new(), default_params()).or_raise(py, "")?;
        let view = BufferView::new(Arc::new(buffer), ElementType(element_type), encoding::DENSE_ROW_MAJOR, &shape);
        view.map(|v| HalBufferView(Arc::new(v))).or_raise(py, "")
    }

    /// Dimensions, a list of ints.
    #[getter]
    fn shape(&self) -> Vec<u64> {
        self.0.shape().to_vec()
    }

    /// The element type's number (`HalElementType`).
    #[getter]
    fn element_type(&self) -> u32 {
        self.0.element_type().0
    }

    /// Bytes of the contents.
    #[getter]
    fn byte_length(&self) -> usize {
        self.0.byte_length()
    }

    /// The buffer that the view shows.
    fn get_buffer(&self) -> HalBuffer {
        HalBuffer(self.0.buffer().clone())
    }

    /// The contents as host memory.
    fn map(&self, py: Python<'_>) -> PyResult<MappedMemory> {
        MappedMemory::of(py, self.0.buffer())
    }

    /// A counted reference for variant lists.
    #[getter]
    fn r#ref(&self) -> VmRef {
        VmRef(Some(self.0.clone()))
    }

    /// As `ref`.
    #[getter]
    fn __iree_vm_ref__(&self) -> VmRef {
        self.r#ref()
    }

    /// A DLPack capsule that shares the memory, with a version when the consumer takes one. BufferError for what cannot be
    /// given: element types without a name, other devices, read-only memory without a version.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__(
        &self,
        py: Python<'_>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        dlpack::give(py, &self.0, &dlpack::Request { stream, max_version, device: dl_device, copy })
    }

    /// The CPU.
    #[allow(clippy::unused_self)] // A method of the protocol.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (1, 0)
    }

    fn __repr__(&self) -> String {
        let view = &self.0;
        format!(
            "<HalBufferView ({}), element_type={}, {} bytes>",
            shape_text(view.shape()),
            view.element_type(),
            view.byte_length()
        )
    }

    /// The buffer protocol: Python sees the device memory itself.
    ///
    /// # Safety
    /// Called by CPython with a valid view.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        // SAFETY: as stated.
        unsafe { HalBufferView::export(&slf, view, flags) }
    }

    /// # Safety
    /// Called by CPython with a view that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: as stated.
        unsafe { foreign::release(view) }
    }
}

impl HalBufferView {
    /// Shows the contents of `slf` through the buffer protocol.
    ///
    /// # Safety
    /// `view` comes from CPython's request for a buffer of `slf`.
    pub unsafe fn export(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let inner = slf.get().0.clone();
        let element = inner.element_type();
        let Some(format) = foreign::format_of(element) else {
            return Err(PyBufferError::new_err(format!("element type {element} has no buffer format")));
        };
        let mapping = inner.buffer().lend().or_raise(slf.py(), "mapping the array")?;
        let readonly = inner.buffer().allowed_access() & access::WRITE == 0;
        let export = Export {
            data: mapping.as_ptr().as_ptr(),
            len: inner.byte_length(),
            item_size: element.byte_count(),
            format,
            shape: inner.shape(),
            readonly,
            pin: Some(mapping),
        };
        // SAFETY: the pin holds the memory.
        unsafe { foreign::export(slf.as_any(), view, flags, export) }
    }
}
