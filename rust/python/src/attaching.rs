//! Attaching to the interpreter from any thread, in step with forks.
//!
//! A thread that the interpreter does not know gets a state of its own first, which CPython makes under a lock but
//! without the GIL. Up to 3.11, a process that is forked meanwhile has that lock held for good and its child hangs before
//! any code of it runs. So a fork waits until no thread is at it, and until it is done, none begins.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::calls::Invoke;

/// Threads that are about to get a state.
static ENTERING: AtomicUsize = AtomicUsize::new(0);
/// Forks under way.
static FORKS: AtomicUsize = AtomicUsize::new(0);

const PAUSE: Duration = Duration::from_micros(20);
/// What waits for the other side goes on after this: a child that hangs is better than two threads that do.
const PATIENCE: Duration = Duration::from_secs(1);

fn wait_while(end: Instant, busy: impl Fn() -> bool) {
    while busy() && Instant::now() < end {
        sleep(PAUSE);
    }
}

/// While it lives, no fork goes ahead.
struct Entry;

impl Entry {
    /// None for a thread that has a state already: it makes none.
    fn new() -> Option<Entry> {
        // SAFETY: it may be called by any thread at any time; before and after the interpreter it gives null.
        if !unsafe { ffi::PyGILState_GetThisThreadState() }.is_null() {
            return None;
        }
        let end = Instant::now() + PATIENCE;
        loop {
            ENTERING.fetch_add(1, Ordering::SeqCst);
            let entry = Entry;
            if FORKS.load(Ordering::SeqCst) == 0 || Instant::now() >= end {
                return Some(entry);
            }
            drop(entry);
            wait_while(end, || FORKS.load(Ordering::SeqCst) > 0);
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        ENTERING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// As [`Python::attach`].
#[expect(clippy::disallowed_methods, reason = "everything else attaches here")]
pub fn attach<R>(work: impl FnOnce(Python<'_>) -> R) -> R {
    let entry = Entry::new();
    Python::attach(move |py| {
        drop(entry);
        work(py)
    })
}

/// As [`Python::try_attach`]: None when the interpreter is gone.
#[expect(clippy::disallowed_methods, reason = "everything else attaches here")]
pub fn try_attach<R>(work: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    let entry = Entry::new();
    Python::try_attach(move |py| {
        drop(entry);
        work(py)
    })
}

/// Waits, without the GIL, until no thread is getting a state.
#[pyfunction]
fn before_fork(py: Python<'_>) {
    FORKS.fetch_add(1, Ordering::SeqCst);
    if ENTERING.load(Ordering::SeqCst) > 0 {
        let end = Instant::now() + PATIENCE;
        py.detach(|| wait_while(end, || ENTERING.load(Ordering::SeqCst) > 0));
    }
}

/// In the process that called `fork()`.
#[pyfunction]
fn after_fork() {
    FORKS.fetch_sub(1, Ordering::SeqCst);
}

/// In the child, which has one thread.
#[pyfunction]
fn after_fork_in_child() {
    FORKS.store(0, Ordering::SeqCst);
    ENTERING.store(0, Ordering::SeqCst);
}

/// Has Python's forks take part.
pub fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    static INSTALLED: AtomicBool = AtomicBool::new(false);
    let os = module.py().import("os")?;
    if !os.hasattr("register_at_fork")? || INSTALLED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    let hooks = PyDict::new(module.py());
    hooks.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
    hooks.set_item("after_in_parent", wrap_pyfunction!(after_fork, module)?)?;
    hooks.set_item("after_in_child", wrap_pyfunction!(after_fork_in_child, module)?)?;
    os.getattr("register_at_fork")?.invoke_with((), Some(&hooks))?;
    Ok(())
}
