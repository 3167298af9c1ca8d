//! Statuses become Python exceptions, in one place, and exceptions of Python code that a module called become statuses.

use std::sync::Arc;

use pyo3::exceptions::{PyException, PyIndexError, PyKeyError, PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tiree_vm::{Limit, Status, StatusCode};

use crate::attaching::try_attach;
use crate::calls::Invoke;

/// `tiree.runtime.errors.from_status(code, text, message, limit, status)` makes the exception: its class depends on the code, or on
/// the limit that was reached.
static FACTORY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// How the context of a failed call ends, after the function's name.
const CALL: &str = "() failed";

/// The exception for a call of `function` that ended with `status`.
#[cold]
pub fn call_failed(py: Python<'_>, function: &str, status: &Status) -> PyErr {
    to_python(py, &format!("{function}{CALL}"), status)
}

fn factory(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    FACTORY
        .get_or_try_init(py, || Ok(py.import("tiree.runtime.errors")?.getattr("from_status")?.unbind()))
        .map(|object| object.bind(py))
}

/// The exception for `status`. `context` says what was being done.
///
/// What Python code raised inside the call comes out as it was raised, with a note that says where the call was.
pub fn to_python(py: Python<'_>, context: &str, status: &Status) -> PyErr {
    if let Some(error) = status.cause().and_then(|cause| cause.downcast_ref::<PyErr>()) {
        return noted(py, error.clone_ref(py), context, status);
    }
    let whole = status.to_string();
    let text = match context.strip_suffix(CALL) {
        // What the layers between call and cause add is for those who ask: `status` has it.
        // A failure of a kernel says where: `add() failed in 'add_dispatch_0' ...`.
        Some(function) if status.message().starts_with("in '") => format!("{function}{CALL} {}", status.message()),
        Some(function) => format!("{function}{CALL}: {}", status.message()),
        // The name of the code is no word for a user; `code_name` has it.
        None if context.is_empty() => {
            whole.strip_prefix(status.code().name()).unwrap_or(&whole).trim_start_matches("; ").to_owned()
        }
        None => format!("{context}: {whole}"),
    };
    let limit = status.limit().map(|limit| match limit {
        Limit::Fuel => "fuel",
        Limit::Time => "time",
        Limit::Stack => "stack",
        Limit::Memory => "memory",
    });
    match factory(py).and_then(|make| make.invoke((status.code() as u32, text, status.message(), limit, whole))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Says in a note of an exception of Python's which functions of modules it came through. KeyboardInterrupt and what else
/// is no `Exception` stays as it is.
fn noted(py: Python<'_>, error: PyErr, context: &str, status: &Status) -> PyErr {
    if status.annotations().is_empty() || !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let place = status.annotations().join("; ");
    let note = if context.is_empty() { place } else { format!("{context}: {place}") };
    let object = error.value(py);
    // The same exception may come out again and again.
    let noted = object.getattr("__notes__").and_then(|notes| notes.contains(&note)).unwrap_or(false);
    if !noted {
        // An exception class that takes no notes goes without.
        let _ = object.invoke_method("add_note", (note,));
    }
    error
}

/// The status of an exception that Python code raised inside a call; the exception itself goes with it.
pub fn from_python(py: Python<'_>, error: PyErr) -> Status {
    let code = if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyTypeError>(py) {
        StatusCode::InvalidArgument
    } else if error.is_instance_of::<PyKeyError>(py) {
        StatusCode::NotFound
    } else if error.is_instance_of::<PyIndexError>(py) {
        StatusCode::OutOfRange
    } else if error.is_instance_of::<PyNotImplementedError>(py) {
        StatusCode::Unimplemented
    } else if !error.is_instance_of::<PyException>(py) {
        StatusCode::Cancelled
    } else {
        StatusCode::Unknown
    };
    Status::new(code, error.to_string()).with_cause(Arc::new(error))
}

/// Lets Python handle signals on this thread, with or without the GIL held: the hook of the VM for calls that go on.
pub fn handle_signals() -> tiree_vm::Result<()> {
    // No interpreter, no signal handlers.
    try_attach(|py| py.check_signals().map_err(|error| from_python(py, error))).unwrap_or(Ok(()))
}

/// Results of the runtime crates as results of Python.
pub trait IntoPython<T> {
    /// Maps an error with [`to_python`].
    fn or_raise(self, py: Python<'_>, context: &str) -> PyResult<T>;
}

impl<T> IntoPython<T> for tiree_vm::Result<T> {
    fn or_raise(self, py: Python<'_>, context: &str) -> PyResult<T> {
        self.map_err(|status| to_python(py, context, &status))
    }
}
