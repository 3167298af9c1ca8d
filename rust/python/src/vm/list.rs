//! `VmVariantList`: arguments and results of `VmContext.invoke`.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyList, PyType};
use tiree_hal::buffer_view::BufferView;
use tiree_vm::cconv::CallingConvention;
use tiree_vm::types::TypeDef;
use tiree_vm::{Ref, Value, VmList, refs};

use crate::errors::IntoPython;
use crate::vm::python_module::{describe, to_kind};
use crate::vm::refs::{VmRef, not_a_reference, reference_of};

/// Lists inside lists inside lists: deeper ones are cut off when printed.
const MAX_DEPTH: usize = 8;

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

    /// Appends `value`, without the GIL when another thread changes the list's length, which may take long.
    pub fn append(&self, py: Python<'_>, value: Value) -> PyResult<()> {
        self.0.note_shared(&value);
        let pushed = self.0.push_promptly(value.clone());
        pushed.unwrap_or_else(|| py.detach(|| self.0.push(value))).or_raise(py, "")
    }
}

#[pymethods]
impl VmVariantList {
    /// An empty list; `capacity` is a hint.
    #[new]
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
        self.append(py, Value::I64(value))
    }

    /// Appends an f64; calls round it to the width that the function takes.
    fn push_float(&self, py: Python<'_>, value: f64) -> PyResult<()> {
        self.append(py, Value::F64(value))
    }

    /// Appends a list.
    fn push_list(&self, py: Python<'_>, value: &VmVariantList) -> PyResult<()> {
        if Arc::ptr_eq(&self.0, &value.0) {
            return Err(PyValueError::new_err("a list cannot be appended to itself"));
        }
        self.append(py, Value::Ref(Some(value.0.clone())))
    }

    /// Appends a reference: an object of the runtime or its `ref`; None is null.
    fn push_ref(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = if value.is_none() { Value::NULL } else { reference_of(value)? };
        self.append(py, value)
    }

    /// Appends a value of the kind that a letter of calling conventions names: `i`, `I`, `f`, `F`, `r`.
    fn push(&self, py: Python<'_>, value: &Bound<'_, PyAny>, kind: &str) -> PyResult<()> {
        let kind = CallingConvention::parse(&format!("0{kind}")).or_raise(py, "VmVariantList.push")?.scalar_args();
        let value = match kind.as_deref() {
            Some([kind]) => to_kind(value, *kind)
                .ok_or_else(|| PyTypeError::new_err(format!("{} is no {kind}", describe(value))))?,
            _ => return Err(PyValueError::new_err("the kind of a value is one of i, I, f, F, r")),
        };
        self.append(py, value)
    }

    /// The value at `index`: a number, a `VmRef`, or None for null.
    fn get_variant<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        VmRef::variant_of(py, self.at(py, index)?)
    }

    /// The list at `index`. ValueError for anything else.
    fn get_as_list(&self, py: Python<'_>, index: usize) -> PyResult<VmVariantList> {
        let Value::Ref(reference) = self.at(py, index)? else { return Err(not_a_reference(index)) };
        refs::downcast(&reference).map(VmVariantList).or_raise(py, "the list element is not a list")
    }

    /// The reference at `index`. ValueError for a number.
    fn get_as_ref(&self, py: Python<'_>, index: usize) -> PyResult<VmRef> {
        match self.at(py, index)? {
            Value::Ref(reference) => Ok(VmRef(reference)),
            _ => Err(not_a_reference(index)),
        }
    }

    /// The object at `index`; with `ref_class`, None when it is no instance of it. ValueError for a number.
    #[pyo3(signature = (index, ref_class = None))]
    fn get_as_object<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        ref_class: Option<&Bound<'py, PyType>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let reference = self.get_as_ref(py, index)?;
        let object = VmRef::object_of(py, Value::Ref(reference.0))?;
        match ref_class {
            Some(class) if !object.is_instance(class)? => Ok(py.None().into_bound(py)),
            _ => Ok(object),
        }
    }

    /// `{"type": "value", "i64": 3}` and the like; buffer views with shape, element type and contents.
    fn get_serialized_trace_value<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        serialized(py, &self.at(py, index)?, 0)
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

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut parts = Vec::new();
        for i in 0..self.0.len() {
            let value = self.at(py, i)?;
            if let Value::Ref(Some(object)) = &value
                && object.type_name() == "vm.list"
            {
                let list: Arc<VmList> = refs::downcast(&Some(object.clone())).or_raise(py, "")?;
                parts.push(format!("List[{}]", list.len()));
                continue;
            }
            let object = VmRef::object_of(py, value)?;
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

fn serialized<'py>(py: Python<'py>, value: &Value, depth: usize) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("type", "value")?;
    match value {
        Value::I32(v) => entry.set_item("i32", v)?,
        Value::I64(v) => entry.set_item("i64", v)?,
        Value::F32(v) => entry.set_item("f32", v)?,
        Value::F64(v) => entry.set_item("f64", v)?,
        Value::Ref(None) => entry.set_item("type", "null")?,
        Value::Ref(Some(object)) => {
            entry.set_item("type", object.type_name())?;
            serialize_object(py, &entry, &Some(object.clone()), depth)?;
        }
    }
    Ok(entry)
}

fn serialize_object(py: Python<'_>, entry: &Bound<'_, PyDict>, object: &Ref, depth: usize) -> PyResult<()> {
    if let Ok(view) = refs::downcast::<BufferView>(object) {
        entry.set_item("shape", view.shape().to_vec())?;
        entry.set_item("element_type", view.element_type().to_string())?;
        entry.set_item("contents", PyBytes::new(py, &view.to_vec().or_raise(py, "")?))?;
    } else if let Ok(list) = refs::downcast::<VmList>(object) {
        let items = PyList::empty(py);
        if depth < MAX_DEPTH {
            for i in 0..list.len() {
                items.append(serialized(py, &list.get(i).or_raise(py, "")?, depth + 1)?)?;
            }
        }
        entry.set_item("items", items)?;
    }
    Ok(())
}
