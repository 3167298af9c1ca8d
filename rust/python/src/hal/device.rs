//! `HalDevice` and how devices are opened.

use std::sync::Arc;

use pyo3::prelude::*;
use tiree_hal::device::Device;
use tiree_hal::drivers;
use tiree_task::TopologyOptions;

use crate::errors::IntoPython;
use crate::hal::allocator::HalAllocator;
use crate::hal::semaphore::HalSemaphore;
use crate::vm::refs::VmRef;

/// An open device.
#[pyclass(frozen, module = "tiree._native")]
pub struct HalDevice(pub Arc<Device>);

#[pymethods]
impl HalDevice {
    /// Opens the device that `uri` names; zeros in the topology mean the default.
    #[staticmethod]
    #[pyo3(signature = (uri, group_count = 0, max_group_count = 0, cpu_ids = vec![], worker_spin_us = None,
                        worker_local_memory = 0, worker_stack_size = 0))]
    #[expect(clippy::too_many_arguments, reason = "one per flag, keywords in Python")]
    fn open(
        py: Python<'_>,
        uri: &str,
        group_count: usize,
        max_group_count: usize,
        cpu_ids: Vec<usize>,
        worker_spin_us: Option<u32>,
        worker_local_memory: usize,
        worker_stack_size: usize,
    ) -> PyResult<HalDevice> {
        let defaults = TopologyOptions::default();
        let or = |value: usize, default: usize| if value == 0 { default } else { value };
        let options = TopologyOptions {
            group_count,
            max_group_count: or(max_group_count, defaults.max_group_count),
            cpu_ids,
            worker_spin_us: worker_spin_us.unwrap_or(defaults.worker_spin_us),
            worker_local_memory: or(worker_local_memory, defaults.worker_local_memory),
            worker_stack_size: or(worker_stack_size, defaults.worker_stack_size),
        };
        drivers::create_device(uri, &options).map(HalDevice).or_raise(py, "")
    }

    /// `local-sync` or `local-task`.
    #[getter]
    fn id(&self) -> &'static str {
        self.0.id()
    }

    /// Threads that run dispatches.
    #[getter]
    fn worker_count(&self) -> usize {
        self.0.worker_count()
    }

    /// Its allocator.
    #[getter]
    fn allocator(&self) -> HalAllocator {
        HalAllocator(self.0.allocator().clone())
    }

    /// A semaphore that starts at `initial_value`.
    fn create_semaphore(&self, initial_value: u64) -> HalSemaphore {
        HalSemaphore::with_value(initial_value)
    }

    /// A counted reference for variant lists.
    #[getter]
    fn r#ref(&self) -> VmRef {
        VmRef(Some(self.0.clone()))
    }

    fn __repr__(&self) -> &'static str {
        self.0.id()
    }
}

/// Names of the drivers of this build.
#[pyfunction]
pub fn driver_names() -> Vec<&'static str> {
    drivers::DRIVERS.to_vec()
}

/// URIs of the devices of this build.
#[pyfunction]
pub fn device_uris() -> Vec<String> {
    drivers::device_uris()
}
