//! `Invoker`: calls a function of a context with Python arguments. The fast path of `module.add(a, b)`.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use tiree_hal::buffer_view::BufferView;
use tiree_hal::fence::Fence;
use tiree_vm::Value;
use tiree_vm::cconv::{Item, Kind};
use tiree_vm::context::Function;

use crate::arguments::{ImportPolicy, to_value};
use crate::errors::IntoPython;
use crate::hal::buffer_view::HalBufferView;
use crate::hal::device::HalDevice;
use crate::signature::Signature;
use crate::vm::context::VmContext;
use crate::vm::function::VmFunction;
use crate::vm::invocation::{Invocation, results_object};
use crate::vm::module::VmModule;

/// `tiree.runtime.array_interop.DeviceArray`, the class of results.
static ARRAY_CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A buffer view as the array class that Python registered, or plain when it registered none.
pub fn device_array(py: Python<'_>, view: Arc<BufferView>) -> PyResult<Bound<'_, PyAny>> {
    let base = Bound::new(py, HalBufferView(view))?;
    match ARRAY_CLASS.get(py) {
        None => Ok(base.into_any()),
        Some(class) => class.bind(py).call1((base,)),
    }
}

/// Numbers of untyped lists in the widths that the function takes: lists from Python hold i64 and f32.
pub fn fit_numbers(function: &Function, mut args: Vec<Value>) -> Vec<Value> {
    for (value, item) in args.iter_mut().zip(&function.cconv().args) {
        let Item::Scalar(kind) = item else { continue };
        *value = match (&*value, kind) {
            (Value::I64(v), Kind::I32) => i32::try_from(*v).map_or_else(|_| Value::I64(*v), Value::I32),
            (Value::I32(v), Kind::I64) => Value::I64(i64::from(*v)),
            (Value::F32(v), Kind::F64) => Value::F64(f64::from(*v)),
            (other, _) => other.clone(),
        };
    }
    args
}

/// A function of a context, callable from Python.
#[pyclass(frozen, module = "tiree._native")]
pub struct Invoker {
    function: Function,
    signature: Signature,
    policy: ImportPolicy,
    #[pyo3(get)]
    vm_function: VmFunction,
}

impl Invoker {
    fn arguments(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Value>> {
        let expected = &self.signature.args;
        let ordered: Vec<Bound<'_, PyAny>> = match kwargs {
            Some(kwargs) if !kwargs.is_empty() => self.by_name(args, kwargs)?,
            _ => args.iter().collect(),
        };
        if ordered.len() != expected.len() {
            return Err(PyTypeError::new_err(format!(
                "{}({}) takes {} argument{}, {} given.",
                self.function.name(),
                self.signature.describe(),
                expected.len(),
                if expected.len() == 1 { "" } else { "s" },
                ordered.len()
            )));
        }
        let _ = py;
        let name = self.function.name();
        let convert = |(i, (object, argument))| to_value(object, argument, i, name, &self.policy);
        ordered.iter().zip(expected).enumerate().map(convert).collect()
    }

    /// Positional and keyword arguments in declared order.
    fn by_name<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let expected = &self.signature.args;
        let mut slots: Vec<Option<Bound<'py, PyAny>>> = args.iter().map(Some).collect();
        slots.resize(slots.len().max(expected.len()), None);
        for (key, value) in kwargs.iter() {
            let key: String = key.extract()?;
            let position = expected.iter().position(|a| a.name == key);
            let Some(position) = position else {
                let names: Vec<&str> = expected.iter().map(|a| a.name.as_str()).collect();
                return Err(PyTypeError::new_err(format!(
                    "{}() has no argument \"{key}\"; it has {}.",
                    self.function.name(),
                    names.join(", ")
                )));
            };
            if slots[position].is_some() {
                let name = self.function.name();
                return Err(PyTypeError::new_err(format!("{name}() got argument \"{key}\" twice.")));
            }
            slots[position] = Some(value);
        }
        Ok(slots.into_iter().flatten().collect())
    }
}

#[pymethods]
impl Invoker {
    /// Export `function` of the module in `context`; arguments are placed on `device`.
    #[new]
    fn new(
        py: Python<'_>,
        context: &VmContext,
        module: &VmModule,
        function: &VmFunction,
        device: &HalDevice,
    ) -> PyResult<Invoker> {
        let bound = context.inner.function(&function.module_name, &function.name).or_raise(py, "")?;
        let coarse = function.attr("iree.abi.model") == Some("coarse-fences");
        let signature = Signature::new(bound.cconv(), function.attr("iree.abi.declaration"), coarse);
        let policy = ImportPolicy { allocator: device.0.allocator().clone(), alignment: module.binding_alignment() };
        Ok(Invoker { function: bound, signature, policy, vm_function: function.clone() })
    }

    /// Calls and waits: None, one result, or a tuple.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut values = self.arguments(py, args, kwargs)?;
        let signal = self.signature.coarse_fences.then(|| add_fences(&mut values));
        let results = py.detach(|| {
            let results = self.function.invoke(values)?;
            if let Some(fence) = signal {
                fence.wait(None)?;
            }
            Ok(results)
        });
        results_object(py, results.or_raise(py, "Error invoking function")?)
    }

    /// Starts the call without waiting. Drive it with `step()`, `wait()` or `await`.
    #[pyo3(signature = (*args, **kwargs))]
    fn begin(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Invocation> {
        let mut values = self.arguments(py, args, kwargs)?;
        if self.signature.coarse_fences {
            add_fences(&mut values);
        }
        Ok(Invocation::new(self.function.start(values).or_raise(py, "Error invoking function")?))
    }

    /// `add(a: f32[4], b: f32[4])`
    #[getter]
    fn signature(&self) -> String {
        format!("{}({})", self.function.name(), self.signature.describe())
    }
}

/// Appends "start at once" and a fresh fence, and returns the fence.
fn add_fences(values: &mut Vec<Value>) -> Arc<Fence> {
    let signal = Arc::new(Fence::unsignalled());
    values.push(Value::Ref(None));
    values.push(Value::from_object(signal.clone()));
    signal
}

/// Makes `class`, a subclass of `HalBufferView` that is constructed from one, the class of results.
#[pyfunction]
pub fn set_array_class(class: Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    ARRAY_CLASS.set(py, class.unbind()).map_err(|_| PyTypeError::new_err("the array class is set already"))
}
