//! `VmBuffer`: bytes of the VM.

use std::ffi::c_int;
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;

use crate::errors::IntoPython;
use crate::foreign::{self, Export};
use crate::vm::refs::VmRef;

/// A byte buffer that VM code can read and write; supports the buffer protocol.
#[pyclass(frozen, module = "tiree._native")]
pub struct VmBuffer(pub Arc<tiree_vm::VmBuffer>);

#[pymethods]
impl VmBuffer {
    /// `length` zero bytes at a multiple of `alignment` (0: the default).
    #[new]
    #[pyo3(signature = (length, alignment = 0, mutable = true))]
    fn new(py: Python<'_>, length: usize, alignment: usize, mutable: bool) -> PyResult<VmBuffer> {
        let buffer = tiree_vm::VmBuffer::allocate(length, alignment).or_raise(py, "VmBuffer")?;
        Ok(VmBuffer(Arc::new(if mutable { buffer } else { buffer.freeze() })))
    }

    fn __len__(&self) -> usize {
        self.0.len()
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

    fn __repr__(&self) -> String {
        format!("<VmBuffer size {}>", self.0.len())
    }

    /// # Safety
    /// Called by CPython with a valid view.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let buffer = &slf.get().0;
        let dims = [buffer.len() as u64];
        let export = Export {
            data: buffer.as_ptr().as_ptr(),
            len: buffer.len(),
            item_size: 1,
            format: c"B",
            shape: &dims,
            readonly: !buffer.is_mutable(),
            pin: None,
        };
        // SAFETY: the object holds the buffer.
        unsafe { foreign::export(slf.as_any(), view, flags, export) }
    }

    /// # Safety
    /// Called by CPython with a view that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: as stated.
        unsafe { foreign::release(view) }
    }
}
