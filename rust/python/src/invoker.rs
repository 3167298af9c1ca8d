//! `FunctionInvoker`: calls a function of a context with Python arguments. The fast path of `module.add(a, b)`.
//!
//! # When a call keeps the GIL
//!
//! To release the GIL and to take it back costs little when nobody else wants it. With other Python threads waiting, each
//! release wakes one of them, which finds the GIL taken again: the wake-ups then cost more than a short call. So a call
//! that is expected to take a few microseconds begins with the GIL held. The rules:
//!
//! 1. A call begins with the GIL only when the [`Pace`] of its function says that the last ones were short.
//! 2. Held, it does one *prompt step* (`Invocation::step_promptly`): at most one slice of VM instructions, no wait, no
//!    queue operation that is estimated to take long or that would begin work of others, nothing shared with workers, and
//!    native functions only of modules that promise the same. Whatever cannot be done like that ends the step.
//! 3. A step that ended before the call did is continued with the GIL released, as all other calls are made.
//! 4. No lock of `tiree-vm`, `tiree-hal` or `tiree-task` is held while Python code or a destructor runs (either may want
//!    the GIL), so those that a prompt step takes are free within moments, whoever has them.
//!
//! Between two calls the interpreter hands the GIL over as between any two instructions. C code that makes calls without a
//! break (`sorted(key=f)`) does not, so a thread that has begun calls with the GIL for 10 ms makes one without it.

use std::sync::Arc;
use std::time::Instant;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use tiree_hal::fence::{Fence, FenceWait};
use tiree_vm::cconv::{Item, Kind};
use tiree_vm::context::Function;
use tiree_vm::leisure::Leisure;
use tiree_vm::limits::past_deadline;
use tiree_vm::mapped::Watch;
use tiree_vm::pace::Pace;
use tiree_vm::{Limits, Status, Step, Value, Wait};

use crate::arguments::{ALIGNMENT, ALIGNMENT_OF_OTHERS, ImportPolicy, own_results, to_value};
use crate::coroutines::as_part_of_a_call;
use crate::errors::{IntoPython, call_failed};
use crate::hal::device::HalDevice;
use crate::hal::fence::HalFence;
use crate::limits::limits;
use crate::outputs::{self, Unaligned};
use crate::signature::Signature;
use crate::vm::context::VmContext;
use crate::vm::driving::{call_async, results_object};
use crate::vm::function::VmFunction;
use crate::vm::invocation::Invocation;
use crate::waiting::wait_for;

/// Numbers of untyped lists in the widths that the function takes: lists from Python hold i64 and f64.
pub fn fit_numbers(function: &Function, mut args: Vec<Value>) -> Vec<Value> {
    for (value, item) in args.iter_mut().zip(&function.cconv().args) {
        let Item::Scalar(kind) = item else { continue };
        *value = match (&*value, kind) {
            (Value::I64(v), Kind::I32) => i32::try_from(*v).map_or_else(|_| Value::I64(*v), Value::I32),
            (Value::I32(v), Kind::I64) => Value::I64(i64::from(*v)),
            (Value::F32(v), Kind::F64) => Value::F64(f64::from(*v)),
            (Value::F64(v), Kind::F32) => Value::F32(*v as f32),
            (other, _) => other.clone(),
        };
    }
    args
}

/// How a call that waits for fences of the asynchronous ABI gets them.
enum Fences {
    /// The function takes none.
    None,
    /// Made here: start at once, and this one tells the end.
    Own(Arc<Fence>),
    /// The caller passed both and waits itself.
    Callers,
}

/// A call after its first step.
struct Begun {
    results: Vec<Value>,
    deadline: Option<Instant>,
    /// The call, and what it waits for, when it is not at its end.
    pending: Option<(tiree_vm::Invocation, Option<Arc<dyn Wait>>)>,
}

/// A function of a context, callable from Python.
///
/// `f(a, b)` waits for the results; `f.begin(a, b)` starts the call and gives an `Invocation`. A function of the
/// asynchronous ABI also takes its wait and signal fence as two more arguments; then the call returns at once, and the
/// results are there when the signal fence is reached.
#[pyclass(frozen, module = "tiree.runtime.function")]
#[derive(Clone)]
pub struct FunctionInvoker {
    function: Function,
    signature: Signature,
    policy: ImportPolicy,
    copying: ImportPolicy,
    /// Whether another compiler made the kernels.
    of_others: bool,
    vm_function: VmFunction,
    limits: Limits,
    pace: Arc<Pace>,
    leisure: Arc<Leisure>,
    /// What its context was made of, to pickle it.
    origin: Option<Arc<Py<PyAny>>>,
}

impl FunctionInvoker {
    fn arguments(
        &self,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        policy: &ImportPolicy,
        mut unaligned: Unaligned<'_>,
    ) -> PyResult<(Vec<Value>, Fences)> {
        let expected = self.signature.args.len();
        match kwargs {
            Some(kwargs) if !kwargs.is_empty() => {
                let ordered = self.by_name(args, kwargs)?;
                return self.convert(ordered.iter().map(Bound::as_borrowed), policy, &mut unaligned);
            }
            _ => {}
        }
        if self.signature.coarse_fences && args.len() == expected + 2 {
            let given = args.iter_borrowed().take(expected).collect::<Vec<_>>().into_iter();
            let (mut values, _) = self.convert(given, &self.copying, &mut Unaligned::Refuse)?;
            values.truncate(expected);
            for position in [expected, expected + 1] {
                values.push(self.fence(&args.get_item(position)?, position)?);
            }
            return Ok((values, Fences::Callers));
        }
        self.convert(args.iter_borrowed(), policy, &mut unaligned)
    }

    /// A fence or None.
    fn fence(&self, object: &Bound<'_, PyAny>, position: usize) -> PyResult<Value> {
        if object.is_none() {
            return Ok(Value::NULL);
        }
        let fence = object.cast::<HalFence>().map_err(|_| {
            let which = if position + 1 == self.signature.args.len() + 2 { "signal" } else { "wait" };
            PyTypeError::new_err(format!(
                "{}(): argument {} is the {which} fence; needs a HalFence or None",
                self.function.name(),
                position + 1
            ))
        })?;
        Ok(Value::from_object(fence.get().0.clone()))
    }

    fn convert<'a, 'py: 'a>(
        &self,
        given: impl ExactSizeIterator<Item = Borrowed<'a, 'py, PyAny>>,
        policy: &ImportPolicy,
        unaligned: &mut Unaligned<'_>,
    ) -> PyResult<(Vec<Value>, Fences)> {
        let expected = &self.signature.args;
        if given.len() != expected.len() {
            return Err(PyTypeError::new_err(format!(
                "{}({}) takes {} argument{}, {} given.",
                self.function.name(),
                self.signature.describe(),
                expected.len(),
                if expected.len() == 1 { "" } else { "s" },
                given.len()
            )));
        }
        let mut values = Vec::with_capacity(expected.len() + 2 * usize::from(self.signature.coarse_fences));
        for (index, (object, argument)) in given.zip(expected).enumerate() {
            // Memory for a result is written on purpose.
            let results_go_there = argument.output.then(|| policy.for_results());
            let policy = results_go_there.as_ref().unwrap_or(policy);
            let mut value = to_value(&object, argument, index, self.function.name(), policy)?;
            if argument.output {
                let named = (argument, index, self.function.name());
                let alignment = if self.of_others { ALIGNMENT_OF_OTHERS } else { ALIGNMENT };
                value = outputs::prepare(object.py(), value, named, &policy.allocator, alignment, unaligned)?;
            }
            values.push(value);
        }
        if !self.signature.coarse_fences {
            return Ok((values, Fences::None));
        }
        let signal = Arc::new(Fence::unsignalled());
        values.push(Value::NULL);
        values.push(Value::from_object(signal.clone()));
        Ok((values, Fences::Own(signal)))
    }

    /// Positional and keyword arguments in declared order.
    fn by_name<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (name, expected) = (self.function.name(), &self.signature.args);
        let mut slots: Vec<Option<Bound<'py, PyAny>>> = args.iter().map(Some).collect();
        slots.resize(slots.len().max(expected.len()), None);
        for (key, value) in kwargs.iter() {
            let key: String = key.extract()?;
            let Some(position) = expected.iter().position(|a| a.name == key) else {
                let names: Vec<&str> = expected.iter().map(|a| a.name.as_str()).filter(|n| !n.is_empty()).collect();
                let has = if names.is_empty() { "no named arguments".to_owned() } else { names.join(", ") };
                return Err(PyTypeError::new_err(format!("{name}() has no argument \"{key}\"; it has {has}.")));
            };
            if slots[position].is_some() {
                return Err(PyTypeError::new_err(format!("{name}() got argument \"{key}\" twice.")));
            }
            slots[position] = Some(value);
        }
        Ok(slots.into_iter().flatten().collect())
    }

    #[cold]
    fn failed(&self, py: Python<'_>, status: &Status) -> PyErr {
        call_failed(py, self.function.name(), status)
    }

    /// Starts the call and makes its first step, with the GIL held (see the module head) or without.
    fn begun(&self, values: Vec<Value>, held: bool) -> tiree_vm::Result<Begun> {
        let begin = self.pace.begin(held);
        let mut invocation = self.function.start_limited(values, &self.limits)?;
        let deadline = invocation.deadline();
        let step = if held { invocation.step_promptly() } else { invocation.step() };
        self.pace.end(&begin, !matches!(step, Ok(Step::Pending(_))));
        Ok(match step? {
            Step::Done(results) => Begun { results, deadline, pending: None },
            Step::Pending(wait) => Begun { results: Vec::new(), deadline, pending: Some((invocation, wait)) },
        })
    }

    /// Runs the call to its end: its results, and until when the work that it queued may take.
    fn run(&self, py: Python<'_>, values: Vec<Value>) -> PyResult<(Vec<Value>, Option<Instant>)> {
        let held = self.pace.is_prompt();
        let begin = || if held { self.begun(values, true) } else { py.detach(|| self.begun(values, false)) };
        let begun = as_part_of_a_call(py, begin);
        let Begun { results, deadline, pending } = begun.map_err(|status| self.failed(py, &status))?;
        let Some((mut invocation, mut wait)) = pending else { return Ok((results, deadline)) };
        loop {
            match wait {
                // When the time of the call is over, the next step says so.
                Some(wait) => _ = wait_for(py, &*wait, deadline)?,
                None => py.check_signals()?,
            }
            let step = as_part_of_a_call(py, || py.detach(|| invocation.step()));
            match step.map_err(|status| self.failed(py, &status))? {
                Step::Done(results) => return Ok((results, deadline)),
                Step::Pending(next) => wait = next,
            }
        }
    }
}

#[pymethods]
impl FunctionInvoker {
    /// The function `vm_function` of a module in `vm_context`; arguments are placed on `device`.
    #[new]
    fn new(
        py: Python<'_>,
        vm_context: &VmContext,
        device: &HalDevice,
        vm_function: &VmFunction,
    ) -> PyResult<FunctionInvoker> {
        let function = vm_context.inner.function(&vm_function.module_name, &vm_function.name).or_raise(py, "")?;
        let coarse = vm_function.attr("iree.abi.model") == Some("coarse-fences");
        let (declaration, names) = (vm_function.attr("iree.abi.declaration"), vm_function.attr("tiree.arg_names"));
        let mut signature = Signature::new(function.cconv(), declaration, names, coarse);
        signature.results_kept = vm_function.attr("tiree.results") == Some("kept");
        // IREE's compiler lets kernels update arguments in place; the caller's arrays must not change with them.
        let made_by_tiree = crate::vm::module::made_by_tiree(&function.module());
        // What a variable of the module may hold after the call must not change with the caller's arrays.
        let copy_lent = !made_by_tiree || vm_function.attr("tiree.inputs") == Some("kept");
        let allocator = device.0.allocator();
        let policy =
            |always_copy| ImportPolicy { allocator: allocator.clone(), always_copy, copy_lent, alignment: ALIGNMENT };
        let (policy, copying) = (policy(copy_lent), policy(true));
        let vm_function = vm_function.clone();
        Ok(FunctionInvoker {
            function,
            signature,
            policy,
            copying,
            of_others: !made_by_tiree,
            vm_function,
            limits: Limits::default(),
            pace: Arc::default(),
            leisure: Arc::default(),
            origin: None,
        })
    }

    /// Calls and waits: None, one result, or a tuple.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let watch = Watch::start();
        let mut stands = Vec::new();
        let (values, fences) = self.arguments(args, kwargs, &self.policy, Unaligned::CopyBack(&mut stands))?;
        let (mut results, deadline) = self.run(py, values)?;
        match fences {
            Fences::Callers => {
                self.signature.results.fit(&mut results);
                return results_object(py, results);
            }
            Fences::Own(fence) => {
                if !wait_for(py, &FenceWait(fence.clone()), deadline)? {
                    return Err(self.failed(py, &past_deadline()));
                }
                fence.wait(None).and_then(|()| watch.check()).map_err(|status| self.failed(py, &status))?;
            }
            Fences::None => {}
        }
        outputs::copy_back(&stands).map_err(|status| self.failed(py, &status))?;
        own_results(py, &mut results, &self.policy.allocator, self.signature.results_kept)?;
        self.signature.results.fit(&mut results);
        results_object(py, results)
    }

    /// Starts the call without waiting. Drive it with `step()`, `wait()` or `await`. Arrays are copied, so that they may
    /// change while the call goes on.
    #[pyo3(signature = (*args, **kwargs))]
    fn begin(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Invocation> {
        let (values, fences) = self.arguments(args, kwargs, &self.copying, Unaligned::Refuse)?;
        let signal = if let Fences::Own(fence) = fences { Some(fence) } else { None };
        let started = as_part_of_a_call(py, || self.function.start_limited(values, &self.limits));
        let started = started.map_err(|status| self.failed(py, &status))?;
        let kept = self.signature.results_kept.then(|| self.policy.allocator.clone());
        Ok(Invocation::new(started, self.function.context().id(), signal, self.function.name())
            .with_leisure(self.leisure.clone())
            .with_narrow(self.signature.results.clone())
            .with_kept(kept))
    }

    /// As `begin`, and runs the call until it has to wait: its work is under way when this returns. What the call raises
    /// comes when it is awaited, or asked for its results.
    #[pyo3(signature = (*args, **kwargs))]
    fn start(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Invocation> {
        let invocation = self.begin(py, args, kwargs)?;
        invocation.start(py)?;
        Ok(invocation)
    }

    /// The call as a coroutine, for `await`, `asyncio.create_task` and the like. Arguments are taken now, the call begins
    /// when the coroutine does; cancelling it ends the call.
    #[pyo3(signature = (*args, **kwargs))]
    fn call_async<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        call_async(&Bound::new(py, self.begin(py, args, kwargs)?)?)
    }

    /// The same function, each call of which may execute `fuel` instructions, take `timeout` seconds and have
    /// `max_stack_depth` calls active. None: what the context allows.
    #[pyo3(signature = (*, fuel = None, timeout = None, max_stack_depth = None))]
    fn limited(
        &self,
        fuel: Option<u64>,
        timeout: Option<f64>,
        max_stack_depth: Option<u32>,
    ) -> PyResult<FunctionInvoker> {
        Ok(FunctionInvoker { limits: limits(fuel, timeout, max_stack_depth)?, ..self.clone() })
    }

    /// The same function, which pickles as one of a context that was made of `origin`.
    fn with_origin(&self, origin: Py<PyAny>) -> FunctionInvoker {
        FunctionInvoker { origin: Some(Arc::new(origin)), ..self.clone() }
    }

    /// Pickles together with what its context was made of.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let Some(origin) = &self.origin else {
            return Err(PyTypeError::new_err(format!(
                "{}() was made of a VmContext, which does not pickle; pickle a function of a loaded module",
                self.function.name()
            )));
        };
        let Limits { fuel, timeout, max_stack_depth, .. } = self.limits;
        let timeout = timeout.map(|time| time.as_secs_f64());
        let (module, name) = (&self.vm_function.module_name, &self.vm_function.name);
        let arguments = (origin.clone_ref(py), module, name, fuel, timeout, max_stack_depth).into_pyobject(py)?;
        Ok((py.import("tiree.runtime.pickling")?.getattr("function_of")?, arguments))
    }

    /// What the module says about the function.
    #[getter]
    fn vm_function(&self) -> VmFunction {
        self.vm_function.clone()
    }

    /// The function's name.
    #[getter]
    fn __name__(&self) -> &str {
        self.function.name()
    }

    /// `add(a: f32[4], b: f32[4])`
    #[getter]
    fn signature(&self) -> String {
        format!("{}({})", self.function.name(), self.signature.describe())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.vm_function.text(py)
    }
}
