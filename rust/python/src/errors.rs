//! Statuses become Python exceptions, in one place.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tiree_vm::Status;

/// `tiree.runtime.errors.from_status(code, text, message)` makes the exception: its class depends on the code.
static FACTORY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

fn factory(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    FACTORY
        .get_or_try_init(py, || Ok(py.import("tiree.runtime.errors")?.getattr("from_status")?.unbind()))
        .map(|object| object.bind(py))
}

/// The exception for `status`. `context` says what was being done.
pub fn to_python(py: Python<'_>, context: &str, status: &Status) -> PyErr {
    let text = if context.is_empty() { status.to_string() } else { format!("{context}: {status}") };
    match factory(py).and_then(|make| make.call1((status.code() as u32, text, status.message()))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
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
