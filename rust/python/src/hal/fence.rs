//! `HalFence`.

use std::sync::Arc;

use pyo3::prelude::*;
use tiree_hal::fence::Fence;
use tiree_vm::Status;

use crate::errors::IntoPython;
use crate::hal::semaphore::{HalSemaphore, signalled_already};
use crate::vm::refs::VmRef;
use crate::waiting::{callback_once, wait_for_fence};

/// A set of points on semaphores' timelines.
#[pyclass(frozen, module = "tiree._native")]
pub struct HalFence(pub Arc<Fence>);

#[pymethods]
impl HalFence {
    /// An empty fence; `capacity` is a hint.
    #[new]
    fn new(capacity: usize) -> HalFence {
        let _ = capacity;
        HalFence(Arc::new(Fence::new()))
    }

    /// A fence that is reached when `sem` reaches `value`.
    #[staticmethod]
    fn create_at(sem: &HalSemaphore, value: u64) -> HalFence {
        HalFence(Arc::new(Fence::at(sem.0.clone(), value)))
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
    fn insert(&self, sem: &HalSemaphore, value: u64) {
        self.0.insert(sem.0.clone(), value);
    }

    /// Adds the points of `from_fence`.
    fn extend(&self, from_fence: &HalFence) {
        self.0.extend(&from_fence.0);
    }

    /// Signals all points. Work that waits for them may run meanwhile.
    fn signal(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.signal()).map_err(signalled_already).or_raise(py, "signaling fence")
    }

    /// Fails all points with `message`.
    fn fail(&self, py: Python<'_>, message: &str) {
        py.detach(|| self.0.fail(&Status::unknown(message)));
    }

    /// Waits until all points are reached: True, or False when `timeout` or `deadline` passed first. Both are in
    /// nanoseconds as in IREE: `timeout` from now, `deadline` as `time.monotonic_ns()` counts. Raises the failure of a point.
    #[pyo3(signature = (timeout = None, deadline = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<i64>, deadline: Option<i64>) -> PyResult<bool> {
        wait_for_fence(py, self.0.clone(), timeout, deadline)
    }

    /// Calls `callback()` once when the fence is reached or fails, on whatever thread makes it so.
    fn on_reached(&self, py: Python<'_>, callback: Py<PyAny>) {
        let callback = callback_once(callback);
        py.detach(|| self.0.on_reached(move |_| callback()));
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
