//! The end of contexts: `__deinit` of their modules runs without the GIL, whatever held the last reference.
//!
//! That may be any object with a context in it, dropped by any thread: by `del`, by the garbage collector, by a frame that
//! an exception leaves, or when the interpreter ends.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;
use tiree_vm::Status;
use tiree_vm::context::{Teardown, Work};

use crate::attaching::try_attach;
use crate::calls::Invoke;
use crate::coroutines::{self, in_loop};
use crate::errors::call_failed;

/// How long all contexts that are there when the interpreter ends may take together. Python handles no signals then.
const AT_EXIT: Duration = Duration::from_secs(2);

static IS_FINALIZING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Has contexts ended in this way. What is needed at the end of the interpreter is looked up now.
pub fn install(py: Python<'_>) -> PyResult<()> {
    IS_FINALIZING.get_or_try_init(py, || Ok::<_, PyErr>(py.import("sys")?.getattr("is_finalizing")?.unbind()))?;
    coroutines::class(py)?;
    // A second import finds it in place.
    tiree_vm::context::set_teardown(Teardown { run, failed });
    Ok(())
}

/// Whether the interpreter ends: no other thread executes Python code any more.
pub fn is_finalizing(py: Python<'_>) -> bool {
    let ask = |function: &Py<PyAny>| function.bind(py).invoke(())?.is_truthy();
    IS_FINALIZING.get(py).is_some_and(|function| ask(function).unwrap_or(true))
}

fn exit_deadline() -> Instant {
    static END: OnceLock<Instant> = OnceLock::new();
    *END.get_or_init(|| Instant::now() + AT_EXIT)
}

fn run(work: Work<'_>) {
    let attached = try_attach(|py| {
        // The exception that leaves a frame is set while what the frame held is dropped.
        let pending = PyErr::take(py);
        // The event loop of the call that drops the context does not run while its thread waits.
        in_loop(None, || {
            if is_finalizing(py) {
                // Nobody waits for the GIL any more, and who lets go of it may not get it back.
                work(Some(exit_deadline()));
            } else {
                py.detach(|| work(None));
            }
        });
        if let Some(pending) = pending {
            pending.restore(py);
        }
    });
    if attached.is_none() {
        work(Some(exit_deadline()));
    }
}

/// Nobody is left who could catch what `__deinit` raised.
fn failed(module: &str, status: &Status) {
    try_attach(|py| {
        let function = format!("{module}.__deinit");
        let raised = status.cause().and_then(|cause| cause.downcast_ref::<PyErr>());
        let error = match raised {
            // The classes of errors are gone, perhaps.
            None if is_finalizing(py) => PyRuntimeError::new_err(format!("{function}() failed: {}", status.message())),
            _ => call_failed(py, &function, status),
        };
        error.write_unraisable(py, Some(PyString::new(py, &function).as_any()));
    });
}
