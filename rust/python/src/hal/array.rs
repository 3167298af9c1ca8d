//! `DeviceArrayBase`: what the Python class `DeviceArray` is made of, and how results become instances of that class.

use std::ffi::c_int;
use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use tiree_hal::buffer_view::BufferView;

use crate::calls::Invoke;
use crate::foreign;
use crate::hal::buffer_view::HalBufferView;

/// `tiree.runtime.array_interop.DeviceArray`, the class of results.
static ARRAY_CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Makes `array_class`, a subclass of `DeviceArrayBase`, the class of results.
#[pyfunction]
pub fn set_array_class(array_class: Bound<'_, PyType>) -> PyResult<()> {
    let py = array_class.py();
    ARRAY_CLASS.set(py, array_class.unbind()).map_err(|_| PyTypeError::new_err("the array class is set already"))
}

/// A buffer view as the array class that Python registered, or plain when it registered none.
pub fn device_array(py: Python<'_>, view: Arc<BufferView>) -> PyResult<Bound<'_, PyAny>> {
    let base = Bound::new(py, HalBufferView(view))?;
    match ARRAY_CLASS.get(py) {
        None => Ok(base.into_any()),
        Some(class) => class.bind(py).invoke((base,)),
    }
}

/// A buffer view that knows whether it may be looked at without being asked to the host, and as which dtype.
#[pyclass(frozen, subclass, extends = HalBufferView, module = "tiree._native")]
pub struct DeviceArrayBase {
    implicit_host_transfer: bool,
    override_dtype: Option<Py<PyAny>>,
    bits_dtype: Option<Py<PyAny>>,
}

#[pymethods]
impl DeviceArrayBase {
    /// `DeviceArrayBase(view)`, as the runtime makes results, or IREE's `DeviceArrayBase(device, view)`, which does not
    /// allow implicit transfers unless told so. On the host the elements are converted to `override_dtype`, or are those of
    /// `bits_dtype` with the same bits.
    #[new]
    #[pyo3(signature = (device, buffer_view = None, implicit_host_transfer = None, override_dtype = None,
                        bits_dtype = None))]
    fn new(
        device: &Bound<'_, PyAny>,
        buffer_view: Option<&Bound<'_, HalBufferView>>,
        implicit_host_transfer: Option<bool>,
        override_dtype: Option<Py<PyAny>>,
        bits_dtype: Option<Py<PyAny>>,
    ) -> PyResult<PyClassInitializer<DeviceArrayBase>> {
        let (view, default) = match (buffer_view, device.cast::<HalBufferView>()) {
            (Some(view), _) => (view, false),
            (None, Ok(view)) => (view, true),
            (None, Err(_)) => return Err(PyTypeError::new_err("DeviceArray is made of a HalBufferView")),
        };
        let base = PyClassInitializer::from(HalBufferView(view.get().0.clone()));
        let implicit_host_transfer = implicit_host_transfer.unwrap_or(default);
        Ok(base.add_subclass(DeviceArrayBase { implicit_host_transfer, override_dtype, bits_dtype }))
    }

    /// Whether operators and numpy may look at the contents without `to_host()`.
    #[getter]
    fn implicit_host_transfer(&self) -> bool {
        self.implicit_host_transfer
    }

    /// The dtype whose elements have the bits that the device has, when it is not the element type's own.
    #[getter]
    fn bits_dtype(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.bits_dtype.as_ref().map(|dtype| dtype.clone_ref(py))
    }

    /// The dtype that elements are converted to on the host, or None.
    #[getter]
    fn override_dtype(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.override_dtype.as_ref().map(|dtype| dtype.clone_ref(py))
    }

    /// As the base class, but only when implicit transfers are allowed and no other dtype stands in.
    ///
    /// # Safety
    /// Called by CPython with a valid view.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        if !this.implicit_host_transfer || this.override_dtype.is_some() || this.bits_dtype.is_some() {
            return Err(PyBufferError::new_err("use to_host()"));
        }
        // SAFETY: the view is CPython's, as the caller promises.
        unsafe { HalBufferView::export(slf.as_super(), view, flags) }
    }

    /// # Safety
    /// Called by CPython with a view that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: as stated.
        unsafe { foreign::release(view) }
    }
}
