//! `HalFence`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use tiree_hal::fence::Fence;
use tiree_vm::Status;

use crate::errors::IntoPython;
use crate::hal::semaphore::HalSemaphore;
use crate::vm::refs::VmRef;

/// A set of points on semaphores' timelines.
#[pyclass(frozen, module = "tiree._native")]
pub struct HalFence(pub Arc<Fence>);

#[pymethods]
impl HalFence {
    /// An empty fence; `capacity` is a hint.
    #[new]
    #[pyo3(signature = (capacity = 0))]
    fn new(capacity: usize) -> HalFence {
        let _ = capacity;
        HalFence(Arc::new(Fence::new()))
    }

    /// A fence that is reached when `semaphore` reaches `value`.
    #[staticmethod]
    fn create_at(semaphore: &HalSemaphore, value: u64) -> HalFence {
        HalFence(Arc::new(Fence::at(semaphore.0.clone(), value)))
    }

    /// A fence that is reached when all of `fences` are.
    #[staticmethod]
    fn join(fences: Vec<PyRef<'_, HalFence>>) -> HalFence {
        HalFence(Arc::new(Fence::join(fences.iter().map(|f| &*f.0))))
    }

    /// Number of points.
    #[getter]
    fn timepoint_count(&self) -> usize {
        self.0.timepoint_count()
    }

    /// Adds a point; of points on one semaphore the latest counts.
    fn insert(&self, semaphore: &HalSemaphore, value: u64) {
        self.0.insert(semaphore.0.clone(), value);
    }

    /// Adds the points of `fence`.
    fn extend(&self, fence: &HalFence) {
        self.0.extend(&fence.0);
    }

    /// Signals all points.
    fn signal(&self, py: Python<'_>) -> PyResult<()> {
        self.0.signal().or_raise(py, "signalling a fence")
    }

    /// Fails all points with ABORTED and `message`.
    fn fail(&self, message: &str) {
        self.0.fail(&Status::aborted(message));
    }

    /// Waits until all points are reached: True, or False when `timeout` or `deadline` passed first. Both are in
    /// nanoseconds as in IREE: `timeout` from now, `deadline` on the monotonic clock.
    #[pyo3(signature = (timeout = None, deadline = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<i64>, deadline: Option<i64>) -> PyResult<bool> {
        wait_until(py, timeout, deadline, |until| self.0.wait(until))
    }

    /// A counted reference for variant lists.
    #[getter]
    fn r#ref(&self) -> VmRef {
        VmRef(Some(self.0.clone()))
    }
}

/// Waits in slices so that interrupts are noticed.
pub fn wait_until(
    py: Python<'_>,
    timeout: Option<i64>,
    deadline: Option<i64>,
    wait: impl Fn(Option<Instant>) -> tiree_vm::Result<()> + Sync,
) -> PyResult<bool> {
    let now: i64 = match deadline {
        None => 0,
        Some(_) => py.import("time")?.call_method0("monotonic_ns")?.extract()?,
    };
    let nanoseconds = timeout.or(deadline.map(|d| d - now));
    let end = nanoseconds.map(|n| Instant::now() + Duration::from_nanos(n.max(0).unsigned_abs()));
    loop {
        let slice = Instant::now() + Duration::from_millis(50);
        let until = end.map_or(slice, |e| e.min(slice));
        match py.detach(|| wait(Some(until))) {
            Ok(()) => return Ok(true),
            Err(status) if status.code() == tiree_vm::StatusCode::DeadlineExceeded => {}
            Err(status) => return Err(crate::errors::to_python(py, "", &status)),
        }
        py.check_signals()?;
        if end.is_some_and(|e| Instant::now() >= e) {
            return Ok(false);
        }
    }
}
