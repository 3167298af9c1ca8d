//! What `tiree.testing` needs of the runtime.

use pyo3::prelude::*;

use crate::vm::module::VmModule;

/// The module `native` whose functions generated programs import.
#[pyfunction]
pub fn native_test_module() -> VmModule {
    VmModule::native(tiree_vm::testing::native_module())
}
