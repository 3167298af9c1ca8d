//! `HalSemaphore`.

use std::sync::Arc;

use pyo3::prelude::*;
use tiree_hal::semaphore::Semaphore;
use tiree_vm::Status;

use crate::errors::IntoPython;
use crate::hal::fence::wait_until;
use crate::vm::refs::VmRef;

/// A timeline: a number that only grows.
#[pyclass(frozen, module = "tiree._native")]
pub struct HalSemaphore(pub Arc<Semaphore>);

impl HalSemaphore {
    /// A semaphore that starts at `value`.
    pub fn with_value(value: u64) -> HalSemaphore {
        HalSemaphore(Arc::new(Semaphore::new(value)))
    }
}

#[pymethods]
impl HalSemaphore {
    /// The number now. Raises the failure of a semaphore that failed.
    fn query(&self, py: Python<'_>) -> PyResult<u64> {
        self.0.query().or_raise(py, "")
    }

    /// Sets the number to `new_value`, which must be larger.
    fn signal(&self, py: Python<'_>, new_value: u64) -> PyResult<()> {
        self.0.signal(new_value).or_raise(py, "signalling a semaphore")
    }

    /// Fails it for good with ABORTED and `message`.
    fn fail(&self, message: &str) {
        self.0.fail(Status::aborted(message));
    }

    /// Waits for `payload`: True, or False when time ran out (see `HalFence.wait`).
    #[pyo3(signature = (payload, timeout = None, deadline = None))]
    fn wait(&self, py: Python<'_>, payload: u64, timeout: Option<i64>, deadline: Option<i64>) -> PyResult<bool> {
        wait_until(py, timeout, deadline, |until| self.0.wait(payload, until))
    }

    /// A counted reference for variant lists.
    #[getter]
    fn r#ref(&self) -> VmRef {
        VmRef(Some(self.0.clone()))
    }
}
