//! Coroutines of Python modules: a call of an `async def` function is suspended while its coroutine waits.
//!
//! A call that an event loop drives has its coroutines run by that loop, as tasks. Other calls have them run by one loop
//! of the process in a thread of its own, see `tiree.runtime.coroutines`.
//!
//! Calls that a coroutine makes are part of the call that waits for it, so they stay inside its limits: the share of them
//! that is left goes with the context of the coroutine's task, and so with the tasks that it makes in turn.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tiree_hal::fence::{Fence, FenceWait};
use tiree_vm::limits::Share;
use tiree_vm::{Result, Wait};

use crate::attaching::try_attach;
use crate::calls::Invoke;
use crate::errors::from_python;
use crate::hal::fence::HalFence;
use crate::teardown::is_finalizing;

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
    let running = modules.get_item("asyncio.events")?.invoke_method("_get_running_loop", ())?;
    Ok((!running.is_none()).then_some(running))
}

/// The class of coroutines.
pub fn class(py: Python<'_>) -> PyResult<&Py<PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLASS.get_or_try_init(py, || Ok(py.import("types")?.getattr("CoroutineType")?.unbind()))
}

/// Whether a function returned a coroutine.
pub fn is_coroutine(object: &Bound<'_, PyAny>) -> bool {
    class(object.py()).is_ok_and(|class| object.get_type().is(class))
}

fn helper<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("tiree.runtime.coroutines")?.getattr(name)
}

/// Calls with limits that wait for coroutines.
static SHARES: AtomicUsize = AtomicUsize::new(0);

/// What a call leaves to a coroutine that it waits for.
#[pyclass(frozen, module = "tiree._native")]
struct CallShare {
    share: Share,
    /// The call does not wait any more.
    ended: AtomicBool,
}

impl CallShare {
    fn of_current() -> Option<CallShare> {
        let share = Share::of_current()?;
        SHARES.fetch_add(1, Ordering::Relaxed);
        Some(CallShare { share, ended: AtomicBool::new(false) })
    }

    fn end(&self) {
        if !self.ended.swap(true, Ordering::Relaxed) {
            SHARES.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Does `work`, which makes a call: inside the limits of the call that waits for this coroutine, if it is one.
pub fn as_part_of_a_call<T>(py: Python<'_>, work: impl FnOnce() -> T) -> T {
    if SHARES.load(Ordering::Relaxed) == 0 {
        return work();
    }
    match share_of_context(py) {
        Some(share) if !share.get().ended.load(Ordering::Relaxed) => share.get().share.run(work),
        _ => work(),
    }
}

#[cold]
fn share_of_context(py: Python<'_>) -> Option<Py<CallShare>> {
    static VARIABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let variable = VARIABLE.get_or_try_init(py, || Ok::<_, PyErr>(helper(py, "share_of_call")?.unbind())).ok()?;
    variable.bind(py).invoke_method("get", ()).ok()?.extract().ok()
}

/// A coroutine that was started. Dropping it before its end cancels it.
pub struct Task {
    share: Option<Py<CallShare>>,
    future: Py<PyAny>,
    ended: Arc<Fence>,
    taken: bool,
}

impl Task {
    /// Starts `coroutine` in the loop of the current call.
    pub fn start(coroutine: &Bound<'_, PyAny>) -> PyResult<Task> {
        let py = coroutine.py();
        if is_finalizing(py) {
            coroutine.invoke_method("close", ())?;
            return Err(PyRuntimeError::new_err(
                "the interpreter ends, so that no event loop runs the coroutine any more",
            ));
        }
        let event_loop = LOOP.with_borrow(|event_loop| event_loop.as_ref().map(|l| l.clone_ref(py)));
        let ended = Arc::new(Fence::unsignalled());
        let share = CallShare::of_current().map(|share| Py::new(py, share)).transpose()?;
        let arguments = (coroutine, event_loop, HalFence(ended.clone()), share.as_ref());
        let future = helper(py, "launch")?.invoke(arguments)?.unbind();
        Ok(Task { share, future, ended, taken: false })
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
        if let Some(share) = &self.share {
            share.get().share.settle();
        }
        let returned = self.future.bind(py).invoke_method("result", ());
        returned.map(Ok).map_err(|error| from_python(py, error))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if let Some(share) = &self.share {
            share.get().end();
        }
        if self.taken {
            return;
        }
        // When the interpreter is gone the coroutine is too.
        try_attach(|py| {
            if let Err(error) = helper(py, "cancel").and_then(|cancel| cancel.invoke((&self.future,))) {
                error.write_unraisable(py, None);
            }
        });
    }
}
