//! `VmRef`: a counted reference to any object of the runtime.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use tiree_vm::{Ref, Value, refs};

use crate::hal::array::device_array;
use crate::hal::buffer::HalBuffer;
use crate::hal::buffer_view::HalBufferView;
use crate::hal::command_buffer::HalCommandBuffer;
use crate::hal::device::HalDevice;
use crate::hal::fence::HalFence;
use crate::hal::semaphore::HalSemaphore;
use crate::vm::buffer::VmBuffer;
use crate::vm::list::VmVariantList;

/// A reference as lists and calls carry it.
#[pyclass(frozen, module = "tiree._native")]
pub struct VmRef(pub Ref);

/// Tries the classes in turn.
macro_rules! first_of {
    ($object:expr; $($class:ty),*) => {
        $(if let Ok(found) = $object.cast::<$class>() {
            return Ok(Some(Value::Ref(Some(found.get().0.clone()))));
        })*
    };
}

impl VmRef {
    /// The value of any object of the runtime, or of one that has `__iree_vm_ref__`; None for others.
    pub fn value_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
        if let Ok(reference) = object.cast::<VmRef>() {
            return Ok(Some(Value::Ref(reference.get().0.clone())));
        }
        first_of!(object; HalBufferView, HalFence, HalBuffer, VmBuffer, VmVariantList, HalDevice, HalSemaphore,
                  HalCommandBuffer);
        match object.getattr_opt("__iree_vm_ref__")? {
            Some(reference) => Ok(reference.cast::<VmRef>().ok().map(|r| Value::Ref(r.get().0.clone()))),
            None => Ok(None),
        }
    }

    /// The Python object of a value: numbers as numbers, references by their type, null as `None`.
    pub fn object_of<'py>(py: Python<'py>, value: Value) -> PyResult<Bound<'py, PyAny>> {
        Ok(match value {
            Value::I32(v) => v.into_pyobject(py)?.into_any(),
            Value::I64(v) => v.into_pyobject(py)?.into_any(),
            Value::F32(v) => f64::from(v).into_pyobject(py)?.into_any(),
            Value::F64(v) => v.into_pyobject(py)?.into_any(),
            Value::Ref(None) => py.None().into_bound(py),
            Value::Ref(reference) => object_of_reference(py, reference)?,
        })
    }

    /// As [`object_of`](Self::object_of), but references stay `VmRef`s.
    pub fn variant_of<'py>(py: Python<'py>, value: Value) -> PyResult<Bound<'py, PyAny>> {
        match value {
            Value::Ref(Some(object)) => Ok(Bound::new(py, VmRef(Some(object)))?.into_any()),
            other => VmRef::object_of(py, other),
        }
    }

    /// The object as an instance of `class`; None when it is another one.
    fn object_as<'py>(&self, class: &Bound<'py, PyType>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let object = VmRef::object_of(class.py(), Value::Ref(self.0.clone()))?;
        Ok(object.is_instance(class)?.then_some(object))
    }
}

fn object_of_reference(py: Python<'_>, reference: Ref) -> PyResult<Bound<'_, PyAny>> {
    if let Ok(view) = refs::downcast(&reference) {
        return device_array(py, view);
    }
    if let Ok(buffer) = refs::downcast(&reference) {
        return Ok(Bound::new(py, HalBuffer(buffer))?.into_any());
    }
    if let Ok(list) = refs::downcast(&reference) {
        return Ok(Bound::new(py, VmVariantList(list))?.into_any());
    }
    if let Ok(buffer) = refs::downcast(&reference) {
        return Ok(Bound::new(py, VmBuffer(buffer))?.into_any());
    }
    if let Ok(fence) = refs::downcast(&reference) {
        return Ok(Bound::new(py, HalFence(fence))?.into_any());
    }
    if let Ok(semaphore) = refs::downcast(&reference) {
        return Ok(Bound::new(py, HalSemaphore(semaphore))?.into_any());
    }
    if let Ok(commands) = refs::downcast(&reference) {
        return Ok(Bound::new(py, HalCommandBuffer(commands))?.into_any());
    }
    if let Ok(device) = refs::downcast(&reference) {
        return Ok(Bound::new(py, HalDevice(device))?.into_any());
    }
    Ok(Bound::new(py, VmRef(reference))?.into_any())
}

#[pymethods]
impl VmRef {
    /// The object as an instance of `value`. TypeError when it is another one; None instead when `optional`.
    #[pyo3(signature = (value, optional = false))]
    fn deref<'py>(&self, py: Python<'py>, value: &Bound<'py, PyType>, optional: bool) -> PyResult<Bound<'py, PyAny>> {
        if let Some(object) = self.object_as(value)? {
            return Ok(object);
        }
        if optional {
            return Ok(py.None().into_bound(py));
        }
        let have = self.0.as_ref().map_or("null", |r| r.type_name());
        Err(PyTypeError::new_err(format!("the reference is a {have}, not a {}", value.qualname()?)))
    }

    /// Whether the object is an instance of `value`.
    fn isinstance(&self, value: &Bound<'_, PyType>) -> PyResult<bool> {
        Ok(self.object_as(value)?.is_some())
    }

    /// Itself: every object of the runtime has one.
    #[getter]
    fn __iree_vm_ref__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<VmRef>().is_ok_and(|o| refs::same(&self.0, &o.get().0))
    }

    fn __hash__(&self) -> usize {
        self.0.as_ref().map_or(0, |object| std::sync::Arc::as_ptr(object).addr())
    }

    fn __repr__(&self) -> String {
        match &self.0 {
            None => "<VmRef null>".to_owned(),
            Some(object) => format!("<VmRef {} at {:#x}>", object.type_name(), std::sync::Arc::as_ptr(object).addr()),
        }
    }
}

/// `object` as a reference to append to a list.
pub fn reference_of(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let given = object.get_type().qualname()?;
    VmRef::value_of(object)?.ok_or_else(|| {
        PyTypeError::new_err(format!("needs an object of the runtime, such as a HalBufferView; got a {given}"))
    })
}

/// The error for a number where a reference is needed.
pub fn not_a_reference(index: usize) -> PyErr {
    PyValueError::new_err(format!("list element {index} is a number, not a reference"))
}
