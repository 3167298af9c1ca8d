//! How calls in progress are driven: by whoever waits for them, by an event loop, by a thread that helps the loop.

use std::mem;
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use pyo3::exceptions::PyRuntimeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use tiree_vm::Value;

use crate::calls::Invoke;
use crate::vm::invocation::Invocation;
use crate::vm::refs::VmRef;
use crate::waiting::callback_once;

/// What a function that the call is in is told when it wants the call to go on.
const INSIDE: &str =
    "the call is running on this thread, inside of this function, which can neither drive it nor wait for it";

const FORKED: &str = "another thread was driving this invocation when the process was forked, and is not in this one; \
    call the function again";

/// The thread that made the last step: while one is being made, the thread that is inside.
#[derive(Default)]
pub struct DrivingThread(Mutex<Option<(u32, ThreadId)>>);

impl DrivingThread {
    fn lock(&self) -> MutexGuard<'_, Option<(u32, ThreadId)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn enter(&self) {
        *self.lock() = Some((process::id(), thread::current().id()));
    }

    pub fn is_this_thread(&self) -> bool {
        self.lock().is_some_and(|(_, thread)| thread == thread::current().id())
    }

    /// While a step is being made: RuntimeError when the process was forked meanwhile, as the thread is not in the child.
    pub fn other_thread(&self) -> PyResult<()> {
        let made = *self.lock();
        match made {
            Some((process, _)) if process != process::id() => Err(PyRuntimeError::new_err(FORKED)),
            _ => Ok(()),
        }
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

/// Functions of Python's to call when the thread that makes a step is out.
#[derive(Default)]
pub struct Listeners(Mutex<Vec<Py<PyAny>>>);

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, Vec<Py<PyAny>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn push(&self, callback: Py<PyAny>) {
        self.lock().push(callback);
    }

    /// Calls them, each once.
    pub fn tell(&self) {
        // Nothing is locked meanwhile: they may let go of the GIL, and others wait for the lock with the GIL held.
        let heard = mem::take(&mut *self.lock());
        for callback in heard {
            callback_once(callback)();
        }
    }

    /// For the garbage collector.
    pub fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // What is locked is in use, and no garbage.
        self.0.try_lock().map_or(Ok(()), |callbacks| callbacks.iter().try_for_each(|callback| visit.call(callback)))
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
