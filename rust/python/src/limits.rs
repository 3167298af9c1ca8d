//! Limits of calls, as keyword arguments.

use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tiree_vm::Limits;

/// Limits from what Python gave; `timeout` is in seconds from the start of the call.
pub fn limits(fuel: Option<u64>, timeout: Option<f64>, max_stack_depth: Option<u32>) -> PyResult<Limits> {
    let timeout = match timeout {
        Some(seconds) if seconds.is_nan() => return Err(PyValueError::new_err("timeout is not a number of seconds")),
        // A time that no clock can count to is no limit.
        Some(seconds) => Duration::try_from_secs_f64(seconds.max(0.0)).ok(),
        None => None,
    };
    Ok(Limits { fuel, timeout, deadline: None, max_stack_depth })
}
