//! How calls in progress are driven: by whoever waits for them, by an event loop, by a thread that helps the loop.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use tiree_vm::Value;

use crate::calls::Invoke;
use crate::vm::invocation::Invocation;
use crate::vm::refs::VmRef;

/// What a function that the call is in is told when it wants the call to go on.
const INSIDE: &str =
    "the call is running on this thread, inside of this function, which can neither drive it nor wait for it";

/// The thread that made the last step: while one is being made, the thread that is inside.
#[derive(Default)]
pub struct DrivingThread(Mutex<Option<ThreadId>>);

impl DrivingThread {
    fn lock(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn enter(&self) {
        *self.lock() = Some(thread::current().id());
    }

    pub fn is_this_thread(&self) -> bool {
        *self.lock() == Some(thread::current().id())
    }

    /// The error of whoever wants to make a step now.
    pub fn busy(&self) -> PyErr {
        PyRuntimeError::new_err(if self.is_this_thread() {
            INSIDE
        } else {
            "another thread is driving this invocation"
        })
    }
}

/// Who makes a step.
pub enum By<'a, 'py> {
    /// The caller, who waits for the call.
    Caller,
    /// The caller, who has other things to do; coroutines run in the loop.
    Driver(&'a Bound<'py, PyAny>),
    /// The event loop itself, as far as it is short.
    Loop(&'a Bound<'py, PyAny>),
    /// A thread that helps the event loop.
    Helper,
}

impl<'a, 'py> By<'a, 'py> {
    /// What runs the coroutines that the step starts.
    pub fn event_loop(&self) -> Option<&'a Bound<'py, PyAny>> {
        match self {
            By::Driver(event_loop) | By::Loop(event_loop) => Some(event_loop),
            By::Caller | By::Helper => None,
        }
    }
}

/// How a step ended that raised nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The call is at its end.
    Ended,
    /// It waits, or another thread is inside.
    Waits,
    /// It can go on.
    GoesOn,
}

impl Turn {
    /// For Python: whether the call has ended; None when it could go on.
    pub fn in_python(self) -> Option<bool> {
        match self {
            Turn::Ended => Some(true),
            Turn::Waits => Some(false),
            Turn::GoesOn => None,
        }
    }
}

/// As a coroutine, which ends the call when it is cancelled.
pub fn call_async<'py>(invocation: &Bound<'py, Invocation>) -> PyResult<Bound<'py, PyAny>> {
    static CALL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    drive(invocation, &CALL, "drive_or_cancel")
}

/// A coroutine function of `tiree.runtime.function`, called.
pub fn drive<'py>(
    invocation: &Bound<'py, Invocation>,
    function: &'static PyOnceLock<Py<PyAny>>,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = invocation.py();
    let function = function
        .get_or_try_init(py, || Ok::<_, PyErr>(py.import("tiree.runtime.function")?.getattr(name)?.unbind()))?;
    function.bind(py).invoke((invocation,))
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
