//! Tensors of ours for other libraries: they share the memory, which stays until they let go of it.

use std::ffi::c_int;
use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use tiree_hal::allocator::Allocator;
use tiree_hal::buffer::Mapping;
use tiree_hal::buffer_view::BufferView;
use tiree_hal::types::access;

use super::abi::{CPU, IS_COPIED, Managed, READ_ONLY, Tensor, Unversioned, Versioned, data_type};
use crate::arguments::copy_of;
use crate::errors::IntoPython;

/// What a tensor of ours that somebody else uses needs to stay.
struct Exported {
    _view: Arc<BufferView>,
    _mapping: Mapping,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

unsafe extern "C-unwind" fn delete_exported<M: Managed>(managed: *mut M) {
    // SAFETY: made by `capsule` with two boxes; the consumer calls this once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context().cast::<Exported>()));
    }
}

unsafe extern "C" fn delete_capsule<M: Managed>(capsule: *mut ffi::PyObject) {
    // SAFETY: CPython passes the capsule that is going away. A used one was renamed and belongs to its consumer.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) == 0 {
            return;
        }
        let managed = ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr()).cast::<M>();
        if let Some(deleter) = managed.as_ref().and_then(M::deleter) {
            deleter(managed);
        }
    }
}

fn capsule<M: Managed>(py: Python<'_>, view: &Arc<BufferView>, device: (i32, i32), flags: u64) -> PyResult<Py<PyAny>> {
    let element = view.element_type();
    let dtype = data_type(element).ok_or_else(|| {
        PyValueError::new_err(format!("dlpack unsupported buffer view element type: {element} has no DLPack type"))
    })?;
    let mapping = view.buffer().lend().or_raise(py, "create_dlpack_capsule")?;
    let shape: Vec<i64> = view.shape().iter().map(|&d| d as i64).collect();
    let mut strides = vec![1i64; shape.len()];
    for i in (0..shape.len().saturating_sub(1)).rev() {
        strides[i] = strides[i + 1] * shape[i + 1].max(1);
    }
    let data = mapping.as_ptr().as_ptr().cast();
    let exported = Box::into_raw(Box::new(Exported { _view: view.clone(), _mapping: mapping, shape, strides }));
    // SAFETY: `exported` was made just now and is not shared yet.
    let (rank, shape, strides) = unsafe {
        let exported = &mut *exported;
        (exported.shape.len() as c_int, exported.shape.as_mut_ptr(), exported.strides.as_mut_ptr())
    };
    let (device_type, device_id) = device;
    let tensor = Tensor { data, device_type, device_id, rank, dtype, shape, strides, byte_offset: 0 };
    let managed = Box::into_raw(Box::new(M::new(tensor, exported.cast(), flags, delete_exported::<M>)));
    // SAFETY: name and destructor live for ever; the pointer is not null.
    let capsule = unsafe { ffi::PyCapsule_New(managed.cast(), M::NAME.as_ptr(), Some(delete_capsule::<M>)) };
    if capsule.is_null() {
        // SAFETY: nobody else knows it.
        unsafe { delete_exported(managed) };
        return Err(PyErr::fetch(py));
    }
    // SAFETY: a new reference.
    Ok(unsafe { Bound::from_owned_ptr(py, capsule) }.unbind())
}

/// A capsule without a version that shares the memory of `view`. ValueError for element types that DLPack has not.
pub fn create_capsule(py: Python<'_>, view: &Arc<BufferView>, device: (i32, i32)) -> PyResult<Py<PyAny>> {
    capsule::<Unversioned>(py, view, device, 0)
}

/// What a consumer asks for, by the keywords of `__dlpack__`.
pub struct Request {
    pub stream: Option<i64>,
    pub max_version: Option<(u32, u32)>,
    pub device: Option<(i32, i32)>,
    pub copy: Option<bool>,
}

/// A capsule as `__dlpack__` gives it. BufferError for what cannot be given, as the standard wants it.
pub fn give(py: Python<'_>, view: &Arc<BufferView>, request: &Request) -> PyResult<Py<PyAny>> {
    if request.stream.is_some_and(|stream| stream != -1) {
        return Err(PyValueError::new_err("the array is on the CPU, which has no streams: stream must be None"));
    }
    if let Some(device) = request.device
        && device != (CPU, 0)
    {
        return Err(PyBufferError::new_err(format!("the array is on the CPU (1, 0) and does not move to {device:?}")));
    }
    if data_type(view.element_type()).is_none() {
        return Err(PyBufferError::new_err(format!("{} has no DLPack type", view.element_type())));
    }
    let copied = request.copy == Some(true);
    let copy = if copied { Some(Arc::new(copy_of(view, &Allocator::new()).or_raise(py, "")?)) } else { None };
    let view = copy.as_ref().unwrap_or(view);
    let readonly = view.buffer().allowed_access() & access::WRITE == 0;
    if request.max_version.is_some_and(|(major, _)| major >= 1) {
        let flags = if readonly { READ_ONLY } else { 0 } | if copied { IS_COPIED } else { 0 };
        return capsule::<Versioned>(py, view, (CPU, 0), flags);
    }
    if readonly {
        return Err(PyBufferError::new_err("the array is read-only, which only DLPack 1.0 and later can say; copy it"));
    }
    capsule::<Unversioned>(py, view, (CPU, 0), 0)
}
