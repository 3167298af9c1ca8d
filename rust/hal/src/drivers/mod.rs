//! The drivers and how devices are named.

mod local_sync;
mod local_task;
mod null;

use crate::device::Device;
use std::sync::Arc;
use tiree_task::{Executor, TopologyOptions};
use tiree_vm::{Result, Status};

pub(crate) use local_sync::LocalSync;
pub(crate) use local_task::{LocalTask, Workers};
pub use null::Counts;
pub(crate) use null::{Counters, Null};

/// A driver of this build, which has one device.
struct Known {
    name: &'static str,
    executes: bool,
    open: fn(&TopologyOptions) -> Result<Arc<Device>>,
}

/// All of them: whatever lists drivers or opens one begins here.
const KNOWN: [Known; 3] = [
    Known { name: "local-sync", executes: true, open: Device::local_sync },
    Known { name: "local-task", executes: true, open: open_local_task },
    Known { name: "null", executes: false, open: |_| Ok(Device::null()) },
];

/// Names of the drivers of this build.
pub fn names() -> Vec<&'static str> {
    KNOWN.iter().map(|driver| driver.name).collect()
}

/// Names of those that execute what they are given.
pub fn executing() -> Vec<&'static str> {
    KNOWN.iter().filter(|driver| driver.executes).map(|driver| driver.name).collect()
}

/// URIs of the devices of this build, as `--list_devices` prints them.
pub fn device_uris() -> Vec<String> {
    KNOWN.iter().map(|driver| format!("{}://", driver.name)).collect()
}

fn open_local_task(topology: &TopologyOptions) -> Result<Arc<Device>> {
    let executor = Executor::new(topology).map_err(|error| crate::execute::task_status(&error))?;
    Ok(Device::local_task(Arc::new(executor)))
}

/// Opens the device that `uri` names: `local-task`, `local-task://` or `local-task://0`.
///
/// # Errors
/// NOT_FOUND for an unknown driver or device, with what exists.
pub fn create_device(uri: &str, topology: &TopologyOptions) -> Result<Arc<Device>> {
    let (name, path) = uri.split_once("://").unwrap_or((uri, ""));
    let path = path.split('?').next().unwrap_or_default();
    let Some(driver) = KNOWN.iter().find(|driver| driver.name == name) else {
        let known = names().join(", ");
        let text = format!("no device \"{uri}\"; this build has {known}. For the CPU use local-task.");
        return Err(Status::not_found(text));
    };
    if !matches!(path, "" | "0" | "default") {
        return Err(Status::not_found(format!("no device \"{uri}\"; {name} has one device: {name}://")));
    }
    (driver.open)(topology)
}
