//! Calls of Python code from Rust: the only way in this crate, which `clippy.toml` sees to.
//!
//! Before 3.14 a thread that wants the GIL back while the interpreter ends is ended by CPython with `pthread_exit`, which
//! unwinds its stack (<https://github.com/python/cpython/issues/87135>). Frames of Rust that called a C function cannot be
//! unwound: the process would abort whenever a callback on a worker, or a method of a Python module in a daemon thread,
//! has not come to its end when the main thread has. So the frame next to Python's stops the unwinding, and the thread
//! sleeps until the process ends, as every thread does from 3.14 on.

use std::mem::forget;
use std::ptr::null_mut;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

mod raw {
    use super::ffi;

    // As pyo3 declares them, but as functions that may unwind.
    unsafe extern "C-unwind" {
        pub fn PyObject_Call(
            callable: *mut ffi::PyObject,
            arguments: *mut ffi::PyObject,
            keywords: *mut ffi::PyObject,
        ) -> *mut ffi::PyObject;
        pub fn PyBuffer_Release(view: *mut ffi::Py_buffer);
    }
}

/// Sleeps for ever where the stack is unwound.
struct Sleep;

impl Drop for Sleep {
    fn drop(&mut self) {
        loop {
            std::thread::park();
        }
    }
}

/// Does `call`, which calls one `C-unwind` function that may run Python code, and does not panic.
pub fn guarded<T>(call: impl FnOnce() -> T) -> T {
    let sleep = Sleep;
    let result = call();
    forget(sleep);
    result
}

/// Objects that can be called.
pub trait Invoke<'py> {
    /// Calls it with `arguments`. What it raises.
    fn invoke(&self, arguments: impl Arguments<'py>) -> PyResult<Bound<'py, PyAny>>;

    /// Calls it with `arguments` and `keywords`. What it raises.
    fn invoke_with(
        &self,
        arguments: impl Arguments<'py>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>>;

    /// Calls its method `name` with `arguments`. AttributeError when there is none; what it raises.
    fn invoke_method(&self, name: &str, arguments: impl Arguments<'py>) -> PyResult<Bound<'py, PyAny>>;
}

/// What becomes a tuple of arguments.
pub trait Arguments<'py>:
    IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>
{
}

impl<'py, T> Arguments<'py> for T where
    T: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>
{
}

impl<'py> Invoke<'py> for Bound<'py, PyAny> {
    fn invoke(&self, arguments: impl Arguments<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.invoke_with(arguments, None)
    }

    fn invoke_with(
        &self,
        arguments: impl Arguments<'py>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arguments = arguments.into_pyobject(self.py()).map_err(Into::into)?;
        let keywords = keywords.map_or(null_mut(), |keywords| keywords.as_ptr());
        // SAFETY: the GIL is held; three objects that live, and a new reference or null with an exception set comes back.
        unsafe {
            let result = guarded(|| raw::PyObject_Call(self.as_ptr(), arguments.as_ptr(), keywords));
            Bound::from_owned_ptr_or_err(self.py(), result)
        }
    }

    fn invoke_method(&self, name: &str, arguments: impl Arguments<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.getattr(name)?.invoke(arguments)
    }
}

/// Gives memory of another object back.
///
/// # Safety
/// With the GIL held, once, for a view that `PyObject_GetBuffer` filled.
pub unsafe fn release_buffer(view: &mut ffi::Py_buffer) {
    // SAFETY: as the caller promises.
    guarded(|| unsafe { raw::PyBuffer_Release(view) });
}
