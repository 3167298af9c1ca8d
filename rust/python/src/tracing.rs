//! Timelines and sums of dispatches.

use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use tiree_trace::{BeginError, dispatches};

/// Begins a timeline in the file at `path`. OSError when it cannot be written; RuntimeError when a timeline is being
/// written already.
#[pyfunction]
pub fn begin_trace(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    py.detach(|| tiree_trace::begin(&path)).map_err(|error| match error {
        BeginError::Busy(_) => PyRuntimeError::new_err(error.to_string()),
        BeginError::File(path, error) => os_error(path, &error),
    })
}

/// An OSError of the class that belongs to the error number.
fn os_error(path: PathBuf, error: &std::io::Error) -> PyErr {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    PyOSError::new_err((error.raw_os_error().unwrap_or(0), text, path.into_os_string()))
}

/// Ends the timeline. OSError when the file could not be written to the end.
#[pyfunction]
pub fn end_trace(py: Python<'_>) -> PyResult<()> {
    py.detach(tiree_trace::end).map_err(|error| PyOSError::new_err(error.to_string()))
}

/// Starts summing up what the functions of dispatches take, from zero.
#[pyfunction]
pub fn collect_dispatches() {
    dispatches::collect();
}

/// Ends summing up. Of each function, the longest time first: executable, name, executions, workgroups, nanoseconds
/// spent in its workgroups.
#[pyfunction]
pub fn collected_dispatches() -> Vec<(String, String, u64, u64, u64)> {
    let sums = dispatches::collected().into_iter();
    sums.map(|(label, sum)| {
        (label.executable.clone(), label.function.clone(), sum.count, sum.workgroups, sum.nanoseconds)
    })
    .collect()
}
