//! What the benchmarks share: the programs of `fixtures/programs.vmasm` in a context, and sessions on both devices.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;
use tiree_runtime::{Instance, Session};
use tiree_task::{Executor, TopologyOptions};
use tiree_vm::{BytecodeModule, CallFrame, Context, Flow, NativeExport, NativeModule, Result, Status, VmBuffer};

/// Workers of the pools that are compared.
pub const WORKERS: usize = 2;

/// The native module that the programs import.
struct Host;

static HOST: [NativeExport; 3] = [
    NativeExport { name: "add", cconv: "0ii_i" },
    NativeExport { name: "length", cconv: "0r_I" },
    NativeExport { name: "same", cconv: "0r_r" },
];

impl NativeModule for Host {
    fn name(&self) -> &str {
        "host"
    }

    fn exports(&self) -> &[NativeExport] {
        &HOST
    }

    fn call(&self, _: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match ordinal {
            0 => {
                let (a, b) = (frame.i32()?, frame.i32()?);
                frame.push_i32(a.wrapping_add(b));
            }
            1 => {
                let length = frame.borrow_ref::<VmBuffer>()?.len();
                frame.push_i64(length as i64);
            }
            2 => {
                let same = frame.any_ref()?;
                frame.push_any_ref(same);
            }
            _ => return Err(Status::out_of_range(format!("host has no function {ordinal}"))),
        }
        Ok(Flow::Done)
    }
}

fn path(relative: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// A context with the programs and the native functions that they call.
///
/// # Errors
/// Those of loading.
pub fn programs() -> Result<Context> {
    let module = BytecodeModule::open(path("fixtures/programs.vmfb"))?;
    Context::new([Arc::new(Host).into(), module.into()])
}

/// A session on `device` with a module of the HAL crate's fixtures, which are compiled for x86-64.
///
/// # Errors
/// NOT_FOUND on other machines.
pub fn session(device: &str, fixture: &str) -> Result<Session> {
    let instance = Instance::with_topology(workers());
    let session = Session::new(&instance, instance.create_device(device)?)?;
    session.append_module_from_file(path(&format!("../rust/hal/tests/fixtures/{fixture}.vmfb")))?;
    Ok(session)
}

/// Options for [`WORKERS`] workers.
pub fn workers() -> TopologyOptions {
    TopologyOptions { group_count: WORKERS, ..Default::default() }
}

/// An executor with these options.
///
/// # Panics
/// When the options are not possible on this machine: there is nothing to measure then.
pub fn executor(options: &TopologyOptions) -> Executor {
    Executor::new(options).unwrap_or_else(|error| panic!("no executor: {error}"))
}
