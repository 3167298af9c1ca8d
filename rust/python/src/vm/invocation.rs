//! `Invocation`: a call in progress that Python drives. Many can be in flight on one thread.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tiree_vm::Value;
use tiree_vm::invocation::{Invocation as Inner, Step};

use crate::errors::IntoPython;
use crate::vm::refs::VmRef;

enum State {
    Running(Inner, Option<std::sync::Arc<dyn tiree_vm::Wait>>),
    Done(Vec<Value>),
    Failed,
}

/// A call in progress. `step()` runs until the call ends or waits; `await` works inside asyncio.
#[pyclass(frozen, module = "tiree._native")]
pub struct Invocation(Mutex<State>);

impl Invocation {
    /// Wraps a call that has not run yet.
    pub fn new(inner: Inner) -> Invocation {
        Invocation(Mutex::new(State::Running(inner, None)))
    }

    /// Runs to the end; the thread sleeps while the call waits.
    pub fn finish_now(self, py: Python<'_>) -> PyResult<Vec<Value>> {
        let state = self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        match state {
            State::Running(inner, _) => py.detach(|| inner.finish()).or_raise(py, "Error invoking function"),
            State::Done(values) => Ok(values),
            State::Failed => Err(PyRuntimeError::new_err("the invocation has already failed")),
        }
    }

    fn advance(&self, py: Python<'_>) -> PyResult<bool> {
        let mut guard = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let State::Running(inner, wait) = &mut *guard else { return Ok(true) };
        match py.detach(|| inner.step()) {
            Ok(Step::Done(values)) => {
                *guard = State::Done(values);
                Ok(true)
            }
            Ok(Step::Pending(next)) => {
                *wait = next;
                Ok(false)
            }
            Err(status) => {
                *guard = State::Failed;
                Err(crate::errors::to_python(py, "Error invoking function", &status))
            }
        }
    }
}

#[pymethods]
impl Invocation {
    /// Runs until the call ends (True) or has to wait (False). Raises what the call raises.
    fn step(&self, py: Python<'_>) -> PyResult<bool> {
        self.advance(py)
    }

    /// Whether results are there.
    #[getter]
    fn done(&self) -> bool {
        matches!(&*self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner), State::Done(_))
    }

    /// Whether a step would get further: what the call waits for has happened.
    #[getter]
    fn ready(&self) -> bool {
        match &*self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) {
            State::Running(_, Some(wait)) => wait.is_ready(),
            State::Running(_, None) | State::Done(_) => true,
            State::Failed => false,
        }
    }

    /// Blocks until the call ended or `timeout` seconds have passed (then TimeoutError); the call can go on later.
    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let deadline = timeout.map(|s| Instant::now() + Duration::from_secs_f64(s.max(0.0)));
        while !self.advance(py)? {
            let wait = match &*self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) {
                State::Running(_, wait) => wait.clone(),
                _ => None,
            };
            // In slices, so that an interrupt is noticed.
            let slice = Instant::now() + Duration::from_millis(50);
            let until = deadline.map_or(slice, |d| d.min(slice));
            if let Some(wait) = wait {
                py.detach(|| wait.wait(Some(until)));
            }
            py.check_signals()?;
            if deadline.is_some_and(|d| Instant::now() >= d) && !self.ready() {
                return Err(pyo3::exceptions::PyTimeoutError::new_err("the call did not finish in time"));
            }
        }
        Ok(())
    }

    /// The results: None, one object, or a tuple. RuntimeError while the call has not ended.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let values = match &*self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) {
            State::Done(values) => values.clone(),
            State::Running(..) => return Err(PyRuntimeError::new_err("the call has not ended; call wait() or step()")),
            State::Failed => return Err(PyRuntimeError::new_err("the call failed")),
        };
        results_object(py, values)
    }

    fn __await__(slf: Py<Self>) -> Awaiting {
        Awaiting(slf)
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

/// The iterator behind `await`: each turn of the event loop is one step.
#[pyclass(module = "tiree._native")]
pub struct Awaiting(Py<Invocation>);

#[pymethods]
impl Awaiting {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let invocation = self.0.get();
        if invocation.advance(py)? {
            return Err(PyStopIteration::new_err((invocation.results(py)?.unbind(),)));
        }
        Ok(py.None().into_bound(py))
    }
}
