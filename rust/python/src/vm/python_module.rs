//! `PyModuleInterface`: modules whose functions are written in Python.
//!
//! One object of the user's class is made per context; exports are called as `function(self, *arguments)`. A call of one
//! that returns a coroutine is suspended until the coroutine has ended: see `coroutines`.

use std::any::Any;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use tiree_vm::cconv::{CallingConvention, Kind};
use tiree_vm::context::AnyModule;
use tiree_vm::{Annotate, CallFrame, Flow, NativeExport, NativeModule, Result, Status, Value};

use crate::attaching::attach;
use crate::calls::Invoke;
use crate::coroutines::{self, Task};
use crate::errors::{IntoPython, from_python};
use crate::vm::module::VmModule;
use crate::vm::refs::VmRef;

/// Names and calling conventions of native exports live as long as the process. Equal ones are kept once, so that
/// defining the same module again and again does not grow.
fn keep(text: &str) -> &'static str {
    static KEPT: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    if let Some(found) = kept.get(text) {
        return found;
    }
    let leaked: &'static str = Box::leak(text.to_owned().into_boxed_str());
    kept.insert(leaked);
    leaked
}

/// What is called for an export.
struct Export {
    results: Vec<Kind>,
    callable: Py<PyAny>,
    attrs: Vec<(String, String)>,
}

struct PythonModule {
    name: String,
    version: u32,
    natives: Vec<NativeExport>,
    exports: Vec<Export>,
    constructor: Py<PyAny>,
    interface: Py<PyAny>,
    destroyed: Arc<AtomicBool>,
}

/// The object of one context.
struct ModuleState {
    object: Py<PyAny>,
}

impl Drop for PythonModule {
    fn drop(&mut self) {
        self.destroyed.store(true, Ordering::Release);
    }
}

impl NativeModule for PythonModule {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> u32 {
        self.version
    }

    fn exports(&self) -> &[NativeExport] {
        &self.natives
    }

    fn attrs(&self, ordinal: usize) -> Vec<(String, String)> {
        self.exports.get(ordinal).map_or_else(Vec::new, |export| export.attrs.clone())
    }

    fn create_state(&self) -> Result<Box<dyn Any + Send + Sync>> {
        attach(|py| {
            let object =
                self.constructor.bind(py).invoke((&self.interface,)).map_err(|error| from_python(py, error))?;
            Ok(Box::new(ModuleState { object: object.unbind() }) as Box<dyn Any + Send + Sync>)
        })
        .annotate(|| format!("creating module '{}'", self.name))
    }

    /// Python code lets go of the GIL by itself, when it waits and in turns.
    fn is_prompt(&self) -> bool {
        true
    }

    /// Functions may be written for the thread of an event loop, whose tasks their coroutines become.
    fn needs_its_thread(&self) -> bool {
        true
    }

    fn call(&self, state: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        let (Some(state), Some(export)) = (state.downcast_ref::<ModuleState>(), self.exports.get(ordinal)) else {
            return Err(Status::out_of_range(format!("{} has no function {ordinal}", self.name)));
        };
        attach(|py| {
            let task = frame.resume_slot().take().and_then(|task| task.downcast::<Task>().ok());
            let returned = match task {
                Some(task) => task.finish(py)?,
                None => {
                    let returned = export.call(py, state, frame).map_err(|error| from_python(py, error))?;
                    if coroutines::is_coroutine(&returned) {
                        Err(Box::new(Task::start(&returned).map_err(|error| from_python(py, error))?))
                    } else {
                        Ok(returned)
                    }
                }
            };
            match returned {
                Ok(returned) => push_results(&returned, &export.results, frame).map(|()| Flow::Done),
                Err(task) => {
                    let wait = task.wait();
                    *frame.resume_slot() = Some(task);
                    Ok(Flow::Suspend(wait))
                }
            }
        })
    }
}

impl Export {
    /// What the function returns: perhaps a coroutine.
    fn call<'py>(&self, py: Python<'py>, state: &ModuleState, frame: &CallFrame<'_>) -> PyResult<Bound<'py, PyAny>> {
        let mut arguments = vec![state.object.bind(py).clone()];
        for value in frame.args() {
            arguments.push(VmRef::variant_of(py, value)?);
        }
        let arguments = PyTuple::new(py, arguments)?;
        // What it calls in turn does not wait in the caller's event loop.
        coroutines::in_loop(None, || self.callable.bind(py).invoke(arguments))
    }
}

/// Takes what a Python function returned as results of these kinds.
fn push_results(returned: &Bound<'_, PyAny>, kinds: &[Kind], frame: &mut CallFrame<'_>) -> Result<()> {
    let values: Vec<Bound<'_, PyAny>> = match (kinds.len(), returned.cast::<PyTuple>(), returned.cast::<PyList>()) {
        (0, ..) if returned.is_none() => Vec::new(),
        (2.., Ok(tuple), _) => tuple.iter().collect(),
        (2.., _, Ok(list)) => list.iter().collect(),
        _ => vec![returned.clone()],
    };
    if values.len() != kinds.len() {
        return Err(Status::invalid_argument(format!(
            "the function returned {}; its calling convention says {} result(s)",
            describe(returned),
            kinds.len()
        )));
    }
    for (value, kind) in values.iter().zip(kinds) {
        let converted = to_kind(value, *kind);
        let value = converted.ok_or_else(|| {
            Status::invalid_argument(format!("the function returned {}, which is no {kind}", describe(value)))
        })?;
        frame.push(value);
    }
    Ok(())
}

/// An object in the words of errors.
pub fn describe(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string())
}

/// A number of numpy's unsigned types, which fits as registers have no sign. Other numbers are signed, as in arguments.
#[cold]
fn unsigned<'py, T: for<'a> FromPyObject<'a, 'py>>(value: &Bound<'py, PyAny>) -> Option<T> {
    let kind = value.getattr("dtype").and_then(|dtype| dtype.getattr("kind")).ok()?;
    if kind.eq("u").ok()? { value.extract().ok() } else { None }
}

/// A value of `kind`, when the object is one.
pub fn to_kind(value: &Bound<'_, PyAny>, kind: Kind) -> Option<Value> {
    match kind {
        Kind::I32 => value.extract().ok().or_else(|| unsigned::<u32>(value).map(|v| v as i32)).map(Value::I32),
        Kind::I64 => value.extract().ok().or_else(|| unsigned::<u64>(value).map(|v| v as i64)).map(Value::I64),
        Kind::F32 => value.extract().map(Value::F32).ok(),
        Kind::F64 => value.extract().map(Value::F64).ok(),
        Kind::Ref if value.is_none() => Some(Value::NULL),
        Kind::Ref => VmRef::value_of(value).ok().flatten(),
    }
}

/// Describes a module that Python implements: `export` its functions, then `create` it.
#[pyclass(frozen, module = "tiree._native")]
pub struct PyModuleInterface {
    name: String,
    version: u32,
    constructor: Py<PyAny>,
    /// None after `create`.
    exports: Mutex<Option<Vec<(NativeExport, Export)>>>,
    destroyed: Arc<AtomicBool>,
}

#[pymethods]
impl PyModuleInterface {
    /// A module called `module_name`; `ctor(interface)` makes the object of each context.
    #[new]
    #[pyo3(signature = (module_name, ctor, version = 0))]
    fn new(module_name: String, ctor: Py<PyAny>, version: u32) -> PyModuleInterface {
        PyModuleInterface {
            name: module_name,
            version,
            constructor: ctor,
            exports: Mutex::new(Some(Vec::new())),
            destroyed: Arc::default(),
        }
    }

    /// Adds `callable(object, *arguments)` as `name` with a calling convention such as `0iI_r`, and reflection attributes.
    /// When it returns a coroutine, the call goes on when that has ended.
    ///
    /// ValueError for a name that is taken or a convention that is none (spans have no meaning in Python);
    /// RuntimeError after `create`.
    #[pyo3(signature = (name, cconv, callable, attrs = Vec::new()))]
    fn export(
        &self,
        py: Python<'_>,
        name: &str,
        cconv: &str,
        callable: Py<PyAny>,
        attrs: Vec<(String, String)>,
    ) -> PyResult<()> {
        let parsed = CallingConvention::parse(cconv).or_raise(py, &format!("exporting {name}"))?;
        if parsed.is_variadic() {
            return Err(PyValueError::new_err(format!(
                "exporting {name}: '{cconv}' has spans, which Python cannot take"
            )));
        }
        let mut exports = self.exports.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(exports) = exports.as_mut() else { return Err(frozen()) };
        if exports.iter().any(|(native, _)| native.name == name) {
            return Err(PyValueError::new_err(format!("PyModule function already defined: {name}")));
        }
        let native = NativeExport { name: keep(name), cconv: keep(cconv) };
        exports.push((native, Export { results: parsed.results, callable, attrs }));
        Ok(())
    }

    /// The module, ready to be put into contexts. Once only.
    fn create(slf: &Bound<'_, Self>) -> PyResult<VmModule> {
        let this = slf.get();
        let exports = this.exports.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or_else(frozen)?;
        let py = slf.py();
        let (natives, exports) = exports.into_iter().unzip();
        let module = PythonModule {
            name: this.name.clone(),
            version: this.version,
            natives,
            exports,
            constructor: this.constructor.clone_ref(py),
            interface: slf.clone().into_any().unbind(),
            destroyed: this.destroyed.clone(),
        };
        Ok(VmModule::native(AnyModule::from(Arc::new(module))))
    }

    /// Whether the module was created.
    #[getter]
    fn initialized(&self) -> bool {
        self.exports.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Whether it was created and is gone again.
    #[getter]
    fn destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Acquire)
    }

    fn __repr__(&self) -> String {
        let state = match (self.destroyed(), self.initialized()) {
            (true, _) => " destroyed",
            (false, true) => " initialized",
            (false, false) => "",
        };
        format!("<tiree.runtime.PyModuleInterface '{}'{state}>", self.name)
    }
}

fn frozen() -> PyErr {
    PyRuntimeError::new_err("the module was created already; its interface cannot change any more")
}
