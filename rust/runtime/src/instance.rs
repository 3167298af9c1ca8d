//! What sessions share.

use parking_lot::Mutex;
use std::sync::Arc;
use tiree_hal::device::Device;
use tiree_hal::drivers;
use tiree_task::TopologyOptions;
use tiree_vm::{Result, TypeRegistry};

/// What sessions share: the registered types, how worker threads are laid out, and the devices opened so far.
///
/// ```
/// let instance = tiree_runtime::Instance::new();
/// assert!(instance.drivers().contains(&"local-task"));
/// let device = instance.create_device("local-sync").unwrap();
/// assert_eq!(device.id(), "local-sync");
/// // A device is opened once: sessions that name it share its workers and its memory.
/// assert!(std::sync::Arc::ptr_eq(&device, &instance.create_device("local-sync").unwrap()));
/// ```
pub struct Instance {
    registry: TypeRegistry,
    topology: TopologyOptions,
    devices: Mutex<Vec<(String, Arc<Device>)>>,
}

impl Instance {
    /// An instance with a worker thread per core that the process may use.
    pub fn new() -> Arc<Instance> {
        Instance::with_topology(TopologyOptions::default())
    }

    /// An instance whose worker threads follow `topology`.
    pub fn with_topology(topology: TopologyOptions) -> Arc<Instance> {
        Arc::new(Instance { registry: TypeRegistry::default(), topology, devices: Mutex::new(Vec::new()) })
    }

    /// The reference types that modules may name.
    pub fn registry(&self) -> &TypeRegistry {
        &self.registry
    }

    pub(crate) fn topology(&self) -> &TopologyOptions {
        &self.topology
    }

    /// Names of the drivers of this build.
    pub fn drivers(&self) -> Vec<&'static str> {
        drivers::names()
    }

    /// The device for whoever has no preference: `local-task`, all cores of the CPU.
    ///
    /// # Errors
    /// As [`create_device`](Self::create_device).
    pub fn create_default_device(&self) -> Result<Arc<Device>> {
        self.create_device("local-task")
    }

    /// The device at `uri` (`local-sync`, `local-task`, `null`), opened once per instance.
    ///
    /// # Errors
    /// NOT_FOUND for an unknown driver or device, with what exists; INVALID_ARGUMENT for a topology that cannot be.
    pub fn create_device(&self, uri: &str) -> Result<Arc<Device>> {
        let mut devices = self.devices.lock();
        if let Some((_, device)) = devices.iter().find(|entry| entry.0 == uri) {
            return Ok(device.clone());
        }
        let device = drivers::create_device(uri, &self.topology)?;
        devices.push((uri.to_owned(), device.clone()));
        Ok(device)
    }
}
