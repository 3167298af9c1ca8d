//! `Invocation`: a call in progress that Python drives. Many can be in flight on one thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use tiree_hal::fence::{Fence, FenceWait};
use tiree_vm::invocation::{Invocation as Inner, Step};
use tiree_vm::{Status, Value, Wait};

use crate::errors::{call_failed, to_python};
use crate::vm::refs::VmRef;
use crate::waiting::{callback_once, deadline_in, wait_for};

/// What failures of calls through IREE's interface begin with.
pub const INVOKING: &str = "Error invoking function";

enum State {
    /// Not at the end; the wait is what it stopped at.
    Running(Inner, Option<Arc<dyn Wait>>),
    /// A thread is inside `step`. Never held across a release of the GIL: others see it and do not wait.
    Busy,
    /// Returned, but its results are there only when the fence is reached.
    Finishing(Vec<Value>, Arc<Fence>),
    Done(Vec<Value>),
    Failed,
}

/// A call in progress. `step()` runs until the call ends or waits; `await` works inside asyncio.
#[pyclass(frozen, module = "tiree._native")]
pub struct Invocation {
    state: Mutex<State>,
    /// Reached when the work that the call queued is done; None when the call itself waits for its work.
    signal: Option<Arc<Fence>>,
    /// What errors name; empty for calls that IREE's interface started.
    function: String,
    /// At the end of the last step.
    fuel_used: AtomicU64,
}

impl Invocation {
    /// Wraps a call of `function` that has not run yet.
    pub fn new(inner: Inner, signal: Option<Arc<Fence>>, function: &str) -> Invocation {
        let (state, function) = (Mutex::new(State::Running(inner, None)), function.to_owned());
        Invocation { state, signal, function, fuel_used: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the call ended.
    fn advance(&self, py: Python<'_>) -> PyResult<bool> {
        let taken = {
            let mut state = self.lock();
            match &*state {
                State::Busy => return Err(PyRuntimeError::new_err("another thread is driving this invocation")),
                State::Done(_) => return Ok(true),
                State::Failed => return Err(PyRuntimeError::new_err("the call failed")),
                State::Running(..) | State::Finishing(..) => std::mem::replace(&mut *state, State::Busy),
            }
        };
        let (next, outcome) = match taken {
            State::Running(mut inner, _) => {
                let step = py.detach(|| inner.step());
                self.fuel_used.store(inner.fuel_used(), Ordering::Relaxed);
                match step {
                    Ok(Step::Done(values)) => match &self.signal {
                        Some(fence) => self.finish(py, values, fence.clone()),
                        None => (State::Done(values), Ok(true)),
                    },
                    Ok(Step::Pending(wait)) => (State::Running(inner, wait), Ok(false)),
                    Err(status) => (State::Failed, Err(self.failed(py, &status))),
                }
            }
            State::Finishing(values, fence) => self.finish(py, values, fence),
            other => (other, Ok(false)),
        };
        *self.lock() = next;
        outcome
    }

    fn finish(&self, py: Python<'_>, values: Vec<Value>, fence: Arc<Fence>) -> (State, PyResult<bool>) {
        match fence.poll() {
            None => (State::Finishing(values, fence), Ok(false)),
            Some(Ok(())) => (State::Done(values), Ok(true)),
            Some(Err(status)) => (State::Failed, Err(self.failed(py, &status))),
        }
    }

    #[cold]
    fn failed(&self, py: Python<'_>, status: &Status) -> PyErr {
        if self.function.is_empty() {
            return to_python(py, INVOKING, status);
        }
        call_failed(py, &self.function, status)
    }

    /// What the call waits for now; None when a step would get further.
    fn pending(&self) -> Option<Arc<dyn Wait>> {
        match &*self.lock() {
            State::Running(_, wait) => wait.clone(),
            State::Finishing(_, fence) => Some(Arc::new(FenceWait(fence.clone()))),
            _ => None,
        }
    }

    /// Runs to the end, sleeping while the call waits; Ctrl-C ends it.
    pub fn finish_now(&self, py: Python<'_>) -> PyResult<Vec<Value>> {
        self.wait_until(py, None)?;
        self.values()
    }

    /// Whether the call ended before `deadline`.
    fn wait_until(&self, py: Python<'_>, deadline: Option<Instant>) -> PyResult<bool> {
        // That of the call itself: when it is past, the next step raises.
        let own = match &*self.lock() {
            State::Running(inner, _) => inner.deadline(),
            _ => None,
        };
        let end = own.into_iter().chain(deadline).min();
        while !self.advance(py)? {
            match self.pending() {
                Some(wait) => {
                    if !wait_for(py, &*wait, end)? && deadline.is_some_and(|d| Instant::now() >= d) {
                        return Ok(false);
                    }
                }
                None => {
                    py.check_signals()?;
                    if deadline.is_some_and(|d| Instant::now() >= d) {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    fn values(&self) -> PyResult<Vec<Value>> {
        match &*self.lock() {
            State::Done(values) => Ok(values.clone()),
            State::Running(..) | State::Finishing(..) | State::Busy => {
                Err(PyRuntimeError::new_err("the call has not ended; call wait() or step()"))
            }
            State::Failed => Err(PyRuntimeError::new_err("the call failed")),
        }
    }
}

#[pymethods]
impl Invocation {
    /// Runs until the call ends (True) or has to wait (False). Raises what the call raises.
    fn step(&self, py: Python<'_>) -> PyResult<bool> {
        self.advance(py)
    }

    /// Instructions that the call has used of its fuel: what it executed, or a little more.
    #[getter]
    fn fuel_used(&self) -> u64 {
        match &*self.lock() {
            State::Running(inner, _) => inner.fuel_used(),
            _ => self.fuel_used.load(Ordering::Relaxed),
        }
    }

    /// Seconds until the deadline of the call, which the next step after it raises; None when there is none or no step.
    #[getter]
    fn time_left(&self) -> Option<f64> {
        match &*self.lock() {
            State::Running(inner, _) => {
                inner.deadline().map(|end| end.saturating_duration_since(Instant::now()).as_secs_f64())
            }
            _ => None,
        }
    }

    /// Whether results are there.
    #[getter]
    fn done(&self) -> bool {
        matches!(&*self.lock(), State::Done(_))
    }

    /// Whether a step would get further: what the call waits for has happened.
    #[getter]
    fn ready(&self) -> bool {
        if matches!(&*self.lock(), State::Busy | State::Failed) {
            return false;
        }
        self.pending().is_none_or(|wait| wait.is_ready())
    }

    /// Blocks until the call ended or `timeout` seconds have passed (then TimeoutError); the call can go on later.
    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        if self.wait_until(py, deadline_in(timeout))? {
            return Ok(());
        }
        Err(pyo3::exceptions::PyTimeoutError::new_err("the call did not finish in time"))
    }

    /// Calls `callback()` once when a step would get further, on whatever thread makes it so; at once when it would now.
    fn on_ready(&self, callback: Py<PyAny>) {
        let callback = callback_once(callback);
        match self.pending() {
            Some(wait) => wait.on_ready(Box::new(callback)),
            None => callback(),
        }
    }

    /// The results: None, one object, or a tuple. RuntimeError while the call has not ended.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        results_object(py, self.values()?)
    }

    /// Inside asyncio: gives the results and lets other tasks run while the call waits.
    fn __await__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        static DRIVE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let py = slf.py();
        let drive = DRIVE
            .get_or_try_init(py, || Ok::<_, PyErr>(py.import("tiree.runtime.function")?.getattr("drive")?.unbind()))?;
        drive.bind(py).call1((slf,))?.call_method0("__await__")
    }
}

/// What a call returns to Python: nothing, one object or a tuple.
pub fn results_object(py: Python<'_>, mut values: Vec<Value>) -> PyResult<Bound<'_, PyAny>> {
    match values.len() {
        0 => Ok(py.None().into_bound(py)),
        1 => VmRef::object_of(py, values.remove(0)),
        _ => {
            let objects = values.into_iter().map(|v| VmRef::object_of(py, v)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(py, objects)?.into_any())
        }
    }
}
