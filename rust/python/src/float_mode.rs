//! Python code that must not compute in another mode than programs do.

use pyo3::prelude::*;
use tiree_vm::float_mode;

use crate::calls::Invoke;

/// Calls `function` while this thread computes with floats as IEEE 754 says, whatever has been set before; that comes back.
#[pyfunction]
pub fn in_standard_float_mode<'py>(function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let _floats = float_mode::standard();
    function.invoke(())
}
