//! `VmRef`: a counted reference to any object of the runtime.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use tiree_vm::{Ref, Value, refs};

use crate::hal::buffer::HalBuffer;
use crate::hal::buffer_view::HalBufferView;
use crate::hal::device::HalDevice;
use crate::hal::fence::HalFence;
use crate::vm::buffer::VmBuffer;
use crate::vm::list::VmVariantList;

/// A reference as lists and calls carry it.
#[pyclass(frozen, module = "tiree._native")]
pub struct VmRef(pub Ref);

impl VmRef {
    /// The value of any object of the runtime; `None` for objects of other kinds.
    pub fn value_of(object: &Bound<'_, PyAny>) -> Option<Value> {
        let reference: Ref = if let Ok(o) = object.cast::<HalBufferView>() {
            Some(o.get().0.clone())
        } else if let Ok(o) = object.cast::<VmRef>() {
            o.get().0.clone()
        } else if let Ok(o) = object.cast::<HalFence>() {
            Some(o.get().0.clone())
        } else if let Ok(o) = object.cast::<HalBuffer>() {
            Some(o.get().0.clone())
        } else if let Ok(o) = object.cast::<VmBuffer>() {
            Some(o.get().0.clone())
        } else if let Ok(o) = object.cast::<VmVariantList>() {
            Some(o.get().0.clone())
        } else if let Ok(o) = object.cast::<HalDevice>() {
            Some(o.get().0.clone())
        } else {
            return None;
        };
        Some(Value::Ref(reference))
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
}

fn object_of_reference(py: Python<'_>, reference: Ref) -> PyResult<Bound<'_, PyAny>> {
    if let Ok(view) = refs::downcast(&reference) {
        return crate::invoker::device_array(py, view);
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
    Ok(Bound::new(py, VmRef(reference))?.into_any())
}

#[pymethods]
impl VmRef {
    /// The object as an instance of `class`; ValueError when it is another one (None when `optional`).
    #[pyo3(signature = (class, optional = false))]
    fn deref<'py>(&self, py: Python<'py>, class: &Bound<'py, PyType>, optional: bool) -> PyResult<Bound<'py, PyAny>> {
        let object = VmRef::object_of(py, Value::Ref(self.0.clone()))?;
        if object.is_instance(class)? {
            return Ok(object);
        }
        if optional {
            return Ok(py.None().into_bound(py));
        }
        let have = self.0.as_ref().map_or("null", |r| r.type_name());
        Err(PyValueError::new_err(format!("the reference is a {have}, not a {}", class.qualname()?)))
    }

    /// Whether the object is an instance of `class`.
    fn isinstance(&self, py: Python<'_>, class: &Bound<'_, PyType>) -> PyResult<bool> {
        VmRef::object_of(py, Value::Ref(self.0.clone()))?.is_instance(class)
    }

    /// Itself: every object of the runtime has a `ref`.
    #[getter]
    fn r#ref(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<VmRef>().is_ok_and(|o| refs::same(&self.0, &o.get().0))
    }

    fn __repr__(&self) -> String {
        format!("<VmRef {}>", self.0.as_ref().map_or("null", |r| r.type_name()))
    }
}
