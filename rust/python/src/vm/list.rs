//! `VmVariantList`: arguments and results of `VmContext.invoke`.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt};
use tiree_vm::types::TypeDef;
use tiree_vm::{Value, VmList};

use crate::errors::IntoPython;
use crate::vm::refs::VmRef;

/// A list of values of any kind.
#[pyclass(frozen, module = "tiree._native")]
pub struct VmVariantList(pub Arc<VmList>);

impl VmVariantList {
    fn at(&self, py: Python<'_>, index: usize) -> PyResult<Value> {
        if index >= self.0.len() {
            return Err(PyIndexError::new_err(format!("index {index} out of bounds ({})", self.0.len())));
        }
        self.0.get(index).or_raise(py, "")
    }
}

#[pymethods]
impl VmVariantList {
    /// An empty list; `capacity` is a hint.
    #[new]
    #[pyo3(signature = (capacity = 0))]
    fn new(py: Python<'_>, capacity: usize) -> PyResult<VmVariantList> {
        let list = VmList::new(TypeDef::Any);
        list.reserve(capacity).or_raise(py, "VmVariantList")?;
        Ok(VmVariantList(Arc::new(list)))
    }

    /// Number of values.
    #[getter]
    fn size(&self) -> usize {
        self.0.len()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Appends an i64.
    fn push_int(&self, py: Python<'_>, value: i64) -> PyResult<()> {
        self.0.push(Value::I64(value)).or_raise(py, "")
    }

    /// Appends an f32, the width that scalar arguments of compiled functions mostly have.
    fn push_float(&self, py: Python<'_>, value: f32) -> PyResult<()> {
        self.0.push(Value::F32(value)).or_raise(py, "")
    }

    /// Appends a list.
    fn push_list(&self, py: Python<'_>, value: &VmVariantList) -> PyResult<()> {
        self.0.push(Value::Ref(Some(value.0.clone()))).or_raise(py, "")
    }

    /// Appends a reference: an object of the runtime or its `ref`.
    fn push_ref(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = VmRef::value_of(value)
            .ok_or_else(|| PyTypeError::new_err("push_ref takes an object of the runtime, such as a HalBufferView"))?;
        self.0.push(value).or_raise(py, "")
    }

    /// The value at `index`: a number, an object, or None for null.
    fn get_variant<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        VmRef::object_of(py, self.at(py, index)?)
    }

    /// The list at `index`.
    fn get_as_list<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let object = self.get_variant(py, index)?;
        object.cast::<VmVariantList>().map_err(|_| PyTypeError::new_err(format!("value {index} is not a list")))?;
        Ok(object)
    }

    /// The reference at `index`.
    fn get_as_ref(&self, py: Python<'_>, index: usize) -> PyResult<VmRef> {
        match self.at(py, index)? {
            Value::Ref(reference) => Ok(VmRef(reference)),
            _ => Err(PyTypeError::new_err(format!("value {index} is a number, not a reference"))),
        }
    }

    /// The object at `index` as an instance of `class`.
    fn get_as_object<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        class: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Bound::new(py, self.get_as_ref(py, index)?)?.call_method1("deref", (class,))
    }

    /// `{"type": "value", "i64": 3}` and the like.
    fn get_serialized_trace_value<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        let entry = PyDict::new(py);
        match self.at(py, index)? {
            Value::I32(v) => entry.set_item("i32", v)?,
            Value::I64(v) => entry.set_item("i64", v)?,
            Value::F32(v) => entry.set_item("f32", v)?,
            Value::F64(v) => entry.set_item("f64", v)?,
            Value::Ref(reference) => {
                entry.set_item("type", reference.map_or("null", |r| r.type_name()))?;
                return Ok(entry);
            }
        }
        entry.set_item("type", "value")?;
        Ok(entry)
    }

    /// A counted reference for variant lists.
    #[getter]
    fn r#ref(&self) -> VmRef {
        VmRef(Some(self.0.clone()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut parts = Vec::new();
        for i in 0..self.0.len() {
            let object = self.get_variant(py, i)?;
            parts.push(if object.is_instance_of::<PyFloat>() {
                format!("{:.6}", object.extract::<f64>()?)
            } else if object.is_instance_of::<PyInt>() {
                object.str()?.to_string()
            } else {
                object.repr()?.to_string()
            });
        }
        Ok(format!("<VmVariantList({}): [{}]>", self.0.len(), parts.join(", ")))
    }
}
