//! Waiting without the GIL, in a way that Ctrl-C ends.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use tiree_hal::fence::{Fence, FenceWait};
use tiree_vm::Wait;

use crate::attaching::{attach, try_attach};
use crate::calls::Invoke;

/// How long a thread sleeps before it looks for signals of the process.
const SLICE: Duration = Duration::from_millis(50);

/// Waits with the GIL released, helping with the work when there is no end: true when the wait is over, false when `end`
/// came first. Raises KeyboardInterrupt and whatever other signal handlers raise.
pub fn wait_for(py: Python<'_>, wait: &dyn Wait, end: Option<Instant>) -> PyResult<bool> {
    if wait.is_ready() {
        return Ok(true);
    }
    loop {
        let ready = py.detach(|| {
            // Work that is taken over cannot be left at a deadline, so a wait with an end leaves it to the workers.
            while end.is_none() && !wait.is_ready() && wait.help() {}
            let slice = Instant::now() + SLICE;
            wait.wait(Some(end.map_or(slice, |e| e.min(slice))))
        });
        if ready {
            return Ok(true);
        }
        py.check_signals()?;
        raise_kept()?;
        if end.is_some_and(|e| Instant::now() >= e) {
            return Ok(false);
        }
    }
}

/// The time in `timeout` seconds; none when there is no timeout, or none that a clock reaches.
pub fn deadline_in(timeout: Option<f64>) -> Option<Instant> {
    let timeout = Duration::try_from_secs_f64(timeout?.max(0.0)).ok()?;
    Instant::now().checked_add(timeout)
}

/// Waits for `fence` as IREE's `wait(timeout, deadline)` does: True, or False when time ran out. Both are nanoseconds,
/// `timeout` from now and `deadline` as `time.monotonic_ns()` counts.
pub fn wait_for_fence(
    py: Python<'_>,
    fence: Arc<Fence>,
    timeout: Option<i64>,
    deadline: Option<i64>,
) -> PyResult<bool> {
    let end = match (timeout, deadline) {
        (Some(_), Some(_)) => return Err(PyValueError::new_err("timeout and deadline cannot both be set")),
        (None, None) => None,
        (Some(timeout), None) => Some(timeout),
        (None, Some(deadline)) => {
            let now: i64 = py.import("time")?.invoke_method("monotonic_ns", ())?.extract()?;
            Some(deadline.saturating_sub(now))
        }
    };
    // A time that no clock reaches is no end.
    let end = end.and_then(|n| Instant::now().checked_add(Duration::from_nanos(n.max(0).unsigned_abs())));
    let wait = FenceWait(fence);
    if !wait_for(py, &wait, end)? {
        return Ok(false);
    }
    match wait.0.poll() {
        Some(Err(status)) => Err(crate::errors::to_python(py, "", &status)),
        _ => Ok(true),
    }
}

thread_local! {
    /// Callbacks of Python's that run on this thread, one inside the other.
    static CALLBACKS: Cell<u32> = const { Cell::new(0) };
    /// What a callback raised to end the program.
    static KEPT: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// A function of Python's that is called once, from any thread. A failure is reported as unraisable; KeyboardInterrupt,
/// SystemExit and the like on the main thread are raised there when no callback runs any more.
pub fn callback_once(callback: Py<PyAny>) -> impl FnOnce() + Send + 'static {
    move || {
        // When the interpreter is gone there is nobody left to call.
        try_attach(|py| {
            CALLBACKS.set(CALLBACKS.get() + 1);
            let called = callback.bind(py).invoke(());
            CALLBACKS.set(CALLBACKS.get() - 1);
            match called {
                Ok(_) => {}
                Err(error) if !error.is_instance_of::<PyException>(py) && on_main_thread(py) => KEPT.set(Some(error)),
                Err(error) => error.write_unraisable(py, Some(callback.bind(py))),
            }
            raise_soon();
        });
    }
}

fn on_main_thread(py: Python<'_>) -> bool {
    let ask = || {
        let threading = py.import("threading")?;
        let main = threading.getattr("main_thread")?.invoke(())?.getattr("ident")?;
        main.eq(threading.getattr("get_ident")?.invoke(())?)
    };
    ask().unwrap_or(false)
}

/// Has the interpreter raise what a callback left on this thread, which is the main thread, as soon as it goes on.
fn raise_soon() {
    extern "C" fn raise(_: *mut c_void) -> c_int {
        // The interpreter calls this with the GIL held, perhaps inside of another callback: then the last one asks again.
        attach(|py| match raise_kept() {
            Ok(()) => 0,
            Err(error) => {
                error.restore(py);
                -1
            }
        })
    }
    let kept = KEPT.take();
    if kept.is_some() && CALLBACKS.get() == 0 {
        // SAFETY: a function that may be called at any time. When the queue is full the next wait raises it.
        unsafe { ffi::Py_AddPendingCall(Some(raise), null_mut()) };
    }
    KEPT.set(kept);
}

/// What a callback raised on this thread to end the program, when none runs any more.
fn raise_kept() -> PyResult<()> {
    if CALLBACKS.get() > 0 { Ok(()) } else { KEPT.take().map_or(Ok(()), Err) }
}
