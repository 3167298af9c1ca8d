//! Native modules that Python can put into a context.

use std::sync::Arc;

use pyo3::prelude::*;
use tiree_hal::device::Device;
use tiree_hal::module::HalModule;
use tiree_vm::context::AnyModule;

use crate::hal::device::HalDevice;
use crate::vm::module::{VmInstance, VmModule};

/// The `hal` module over one device or several. Calls that wait suspend their invocation.
#[pyfunction]
#[pyo3(signature = (instance, device = None, devices = None))]
pub fn create_hal_module(
    instance: &VmInstance,
    device: Option<PyRef<'_, HalDevice>>,
    devices: Option<Vec<PyRef<'_, HalDevice>>>,
) -> PyResult<VmModule> {
    let _ = instance;
    let devices: Vec<Arc<Device>> = match (device, devices) {
        (Some(device), None) => vec![device.0.clone()],
        (None, Some(devices)) if !devices.is_empty() => devices.iter().map(|d| d.0.clone()).collect(),
        _ => return Err(pyo3::exceptions::PyValueError::new_err("give `device`, or a list of `devices`, not both")),
    };
    Ok(VmModule::native(AnyModule::from(Arc::new(HalModule::new(devices, false)))))
}
