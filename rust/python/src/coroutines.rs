//! Coroutines of Python modules: a call of an `async def` function is suspended while its coroutine waits.
//!
//! A call that an event loop drives has its coroutines run by that loop, as tasks. Other calls have them run by one loop
//! of the process in a thread of its own, see `tiree.runtime.coroutines`.

use std::cell::RefCell;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tiree_hal::fence::{Fence, FenceWait};
use tiree_vm::{Result, Wait};

use crate::errors::from_python;
use crate::hal::fence::HalFence;

thread_local! {
    /// The event loop that drives what this thread executes now.
    static LOOP: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
}

/// Puts the former loop back.
struct Restore(Option<Py<PyAny>>);

impl Drop for Restore {
    fn drop(&mut self) {
        LOOP.set(self.0.take());
    }
}

/// Does `work` for `event_loop`: coroutines that it starts run there; without one, in the loop of the process.
pub fn in_loop<T>(event_loop: Option<Py<PyAny>>, work: impl FnOnce() -> T) -> T {
    let _restore = Restore(LOOP.replace(event_loop));
    work()
}

/// The event loop that runs on this thread, if asyncio is in use at all.
pub fn running_loop(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    static MODULES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let modules =
        MODULES.get_or_try_init(py, || Ok::<_, PyErr>(py.import("sys")?.getattr("modules")?.unbind()))?.bind(py);
    if !modules.contains("asyncio.events")? {
        return Ok(None);
    }
    let running = modules.get_item("asyncio.events")?.call_method0("_get_running_loop")?;
    Ok((!running.is_none()).then_some(running))
}

/// Whether a function returned a coroutine.
pub fn is_coroutine(object: &Bound<'_, PyAny>) -> bool {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let class = CLASS.get_or_try_init(py, || Ok::<_, PyErr>(py.import("types")?.getattr("CoroutineType")?.unbind()));
    class.is_ok_and(|class| object.get_type().is(class.bind(py)))
}

fn helper<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("tiree.runtime.coroutines")?.getattr(name)
}

/// A coroutine that was started. Dropping it before its end cancels it.
pub struct Task {
    future: Py<PyAny>,
    ended: Arc<Fence>,
    taken: bool,
}

impl Task {
    /// Starts `coroutine` in the loop of the current call.
    pub fn start(coroutine: &Bound<'_, PyAny>) -> PyResult<Task> {
        let py = coroutine.py();
        let event_loop = LOOP.with_borrow(|event_loop| event_loop.as_ref().map(|l| l.clone_ref(py)));
        let ended = Arc::new(Fence::unsignalled());
        let future = helper(py, "launch")?.call1((coroutine, event_loop, HalFence(ended.clone())))?.unbind();
        Ok(Task { future, ended, taken: false })
    }

    /// What its end is waited for with.
    pub fn wait(&self) -> Arc<dyn Wait> {
        Arc::new(FenceWait(self.ended.clone()))
    }

    /// What the coroutine returned, or itself when it has not ended.
    pub fn finish(mut self: Box<Self>, py: Python<'_>) -> Result<std::result::Result<Bound<'_, PyAny>, Box<Self>>> {
        if self.ended.poll().is_none() {
            return Ok(Err(self));
        }
        self.taken = true;
        let returned = self.future.bind(py).call_method0("result");
        returned.map(Ok).map_err(|error| from_python(py, error))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        // When the interpreter is gone the coroutine is too.
        Python::try_attach(|py| {
            if let Err(error) = helper(py, "cancel").and_then(|cancel| cancel.call1((&self.future,))) {
                error.write_unraisable(py, None);
            }
        });
    }
}
