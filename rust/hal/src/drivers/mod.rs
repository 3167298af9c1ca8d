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

/// Names of the drivers of this build.
pub const DRIVERS: &[&str] = &["local-sync", "local-task", "null"];

/// Names of those that execute what they are given.
pub const EXECUTING_DRIVERS: &[&str] = &["local-sync", "local-task"];

/// URIs of the devices of this build, as `--list_devices` prints them.
pub fn device_uris() -> Vec<String> {
    DRIVERS.iter().map(|driver| format!("{driver}://")).collect()
}

/// Opens the device that `uri` names: `local-task`, `local-task://` or `local-task://0`.
///
/// # Errors
/// NOT_FOUND for an unknown driver or device, with what exists.
pub fn create_device(uri: &str, topology: &TopologyOptions) -> Result<Arc<Device>> {
    let (driver, path) = uri.split_once("://").unwrap_or((uri, ""));
    let path = path.split('?').next().unwrap_or_default();
    let known = DRIVERS.contains(&driver);
    if known && !matches!(path, "" | "0" | "default") {
        return Err(Status::not_found(format!("no device \"{uri}\"; {driver} has one device: {driver}://")));
    }
    match driver {
        "local-sync" => Device::local_sync(topology),
        "null" => Ok(Device::null()),
        "local-task" => {
            let executor = Executor::new(topology).map_err(|error| crate::execute::task_status(&error))?;
            Ok(Device::local_task(Arc::new(executor)))
        }
        _ => Err(Status::not_found(format!(
            "no device \"{uri}\"; this build has {}. For the CPU use local-task.",
            EXECUTING_DRIVERS.join(", ")
        ))),
    }
}
