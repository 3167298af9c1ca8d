//! `HalSemaphore`.

use std::sync::Arc;

use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use tiree_hal::fence::Fence;
use tiree_hal::semaphore::Semaphore;
use tiree_vm::{Status, StatusCode};

use crate::calls::Invoke;
use crate::errors::IntoPython;
use crate::vm::refs::VmRef;
use crate::waiting::{callback_once, wait_for_fence};

/// A timeline: a number that only grows.
#[pyclass(frozen, module = "tiree._native")]
pub struct HalSemaphore(pub Arc<Semaphore>);

#[pymethods]
impl HalSemaphore {
    /// The number now. Raises the failure of a semaphore that failed.
    fn query(&self, py: Python<'_>) -> PyResult<u64> {
        self.0.query().or_raise(py, "querying semaphore")
    }

    /// Sets the number to `new_value`, which must be larger (else ValueError). Work that waits for it may run meanwhile.
    fn signal(&self, py: Python<'_>, new_value: u64) -> PyResult<()> {
        py.detach(|| self.0.signal(new_value)).map_err(signalled_already).or_raise(py, "signaling semaphore")
    }

    /// Fails it for good with `message`.
    fn fail(&self, py: Python<'_>, message: &str) {
        py.detach(|| self.0.fail(Status::unknown(message)));
    }

    /// Waits for `payload`: True, or False when time ran out (see `HalFence.wait`). Raises its failure.
    #[pyo3(signature = (payload, timeout = None, deadline = None))]
    fn wait(&self, py: Python<'_>, payload: u64, timeout: Option<i64>, deadline: Option<i64>) -> PyResult<bool> {
        wait_for_fence(py, Arc::new(Fence::at(self.0.clone(), payload)), timeout, deadline)
    }

    /// Calls `callback()` once when `payload` is reached or the semaphore fails, on whatever thread makes it so.
    fn on_reached(&self, py: Python<'_>, payload: u64, callback: Py<PyAny>) {
        let callback = callback_once(callback);
        py.detach(|| self.0.on_reached(payload, move |_| callback()));
    }

    /// Makes `out_external_timepoint` stand for this semaphore at `value`: of the type ASYNC_PRIMITIVE, to be imported by
    /// another semaphore. NotImplementedError for events of GPUs.
    fn export_timepoint(
        slf: &Bound<'_, Self>,
        value: u64,
        requested_type: i32,
        requested_flags: i32,
        out_external_timepoint: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let _ = requested_flags;
        if requested_type != ASYNC_PRIMITIVE {
            return Err(no_events("export"));
        }
        out_external_timepoint.invoke_method("_export", (slf, value)).map(drop)
    }

    /// Sets this semaphore to `value` when what `external_timepoint` stands for is reached; fails with it.
    /// NotImplementedError for events of GPUs.
    fn import_timepoint(&self, value: u64, external_timepoint: &Bound<'_, PyAny>) -> PyResult<()> {
        let exported = external_timepoint.getattr("_exported")?;
        let kind: i32 = external_timepoint.getattr("type")?.extract()?;
        if kind != ASYNC_PRIMITIVE || exported.is_none() {
            return Err(no_events("import"));
        }
        let (source, at): (PyRef<'_, HalSemaphore>, u64) = exported.extract()?;
        let (source, target) = (source.0.clone(), self.0.clone());
        external_timepoint.py().detach(|| {
            source.then(at, move |outcome| match outcome {
                // Who set it further meanwhile has signalled the value.
                Ok(()) => _ = target.signal(value),
                Err(status) => target.fail(status),
            });
        });
        Ok(())
    }

    /// A counted reference for variant lists.
    #[getter]
    fn r#ref(&self) -> VmRef {
        VmRef(Some(self.0.clone()))
    }

    /// As `ref`.
    #[getter]
    fn __iree_vm_ref__(&self) -> VmRef {
        self.r#ref()
    }
}

/// The number of that type of external timepoints.
const ASYNC_PRIMITIVE: i32 = 1;

fn no_events(what: &str) -> PyErr {
    PyNotImplementedError::new_err(format!(
        "semaphores of CPU devices {what} timepoints of the type ASYNC_PRIMITIVE only, not events of GPUs; use wait, \
         on_reached and signal"
    ))
}

/// IREE says INVALID_ARGUMENT, a `ValueError`, where a value does not grow.
pub fn signalled_already(status: Status) -> Status {
    match status.code() {
        StatusCode::OutOfRange => Status::invalid_argument(status.message()),
        _ => status,
    }
}
