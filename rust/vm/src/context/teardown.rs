//! The end of a context: the `__deinit` functions of its modules, and how the process that embeds the VM runs them.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use super::Instance;
use crate::invocation::Invocation;
use crate::limits::Limits;
use crate::module::Module;
use crate::status::Status;

/// The `__deinit` functions of one context, with the time at which they must have ended, if there is one.
pub type Work<'a> = &'a mut (dyn FnMut(Option<Instant>) + Send);

/// How the process that embeds the VM ends contexts. Whoever drops the last reference of a context runs its `__deinit`
/// functions, and may be a thread that others wait for, such as the one with Python's global lock.
pub struct Teardown {
    /// Does the work once, on this thread, while others are not held up.
    pub run: fn(Work<'_>),
    /// Hears of a `__deinit` that failed, with the name of its module.
    pub failed: fn(&str, &Status),
}

static TEARDOWN: OnceLock<Teardown> = OnceLock::new();

/// Installs what ends the contexts of this process; false when there is something already.
pub fn set_teardown(teardown: Teardown) -> bool {
    TEARDOWN.set(teardown).is_ok()
}

/// Calls `__deinit` of the modules that have one, the latest first.
pub(super) fn deinitialize(instances: &[Arc<Instance>], limits: &Limits) {
    let exported = |instance: &Arc<Instance>| match &**instance {
        Instance::Bytecode(i) => i.module.lookup_export("__deinit"),
        Instance::Native(_) => None,
    };
    let calls: Vec<_> = instances.iter().rev().filter_map(|i| Some((i, exported(i)?))).collect();
    if calls.is_empty() {
        return;
    }
    let teardown = TEARDOWN.get();
    let mut work = |deadline: Option<Instant>| {
        let limits = limits.within(&Limits { deadline, ..Limits::default() });
        for (instance, ordinal) in &calls {
            let call = Invocation::on_instance((*instance).clone(), *ordinal, Vec::new(), &limits);
            if let (Err(status), Some(teardown)) = (call.and_then(Invocation::finish), teardown) {
                (teardown.failed)(instance.any_module().name(), &status);
            }
        }
    };
    match teardown {
        Some(teardown) => (teardown.run)(&mut work),
        None => work(None),
    }
}
