//! Copies of contexts: the same modules, states of their own.

use std::sync::{Arc, Mutex, RwLock};

use super::{BytecodeInstance, Context, ImportTarget, Inner, Instance, lock_global, native_instance};
use crate::buffer::VmBuffer;
use crate::list::Holders;
use crate::quota::{Charge, Quota};
use crate::refs::Ref;
use crate::status::{Annotate, Result};

impl Context {
    /// A context for another thread: the modules and what they were translated to are shared, the state of bytecode
    /// modules is copied as it is now (numbers by value, references to the same objects), and that of native modules is
    /// made anew. Initializers do not run again. A memory limit holds for the fork by itself. Calls in progress on other
    /// threads are not waited for; what they change meanwhile is copied or not.
    pub fn fork(&self) -> Result<Context> {
        let quota = self.0.quota.as_ref().map(|quota| Quota::new(quota.limit()));
        let holders = Arc::<Holders>::default();
        // Not locked while native modules make their states, which may take long and wait for other threads.
        let old: Vec<Arc<Instance>> = self.instances().clone();
        let mut new: Vec<Arc<Instance>> = Vec::with_capacity(old.len());
        for instance in old.iter() {
            let copy = match &**instance {
                Instance::Native(native) => Instance::Native(native_instance(native.module.clone())?),
                Instance::Bytecode(bytecode) => {
                    Instance::Bytecode(copy(bytecode, &old, &new, quota.as_ref(), &holders)?)
                }
            };
            new.push(Arc::new(copy));
        }
        let inner = Inner { instances: RwLock::new(new), frozen: self.0.frozen, limits: self.0.limits, quota, holders };
        Ok(Context(Arc::new(inner)))
    }
}

/// The state of a bytecode module, its imports led to the copies of the modules before it.
fn copy(
    from: &BytecodeInstance,
    old: &[Arc<Instance>],
    new: &[Arc<Instance>],
    quota: Option<&Arc<Quota>>,
    holders: &Arc<Holders>,
) -> Result<BytecodeInstance> {
    let size = from.rwdata.len() + from.refs.len() * size_of::<Mutex<Ref>>();
    let charge = quota.map(|quota| Charge::new(quota, size)).transpose().annotate(|| "forking the context".into())?;
    let rwdata = VmBuffer::allocate(from.rwdata.len(), 0)?.charged(charge);
    rwdata.write(0, &from.rwdata.to_vec())?;
    // Each is locked for the moment that it is copied: calls of other threads go on meanwhile, and are not waited for.
    let clone = |slot: &Mutex<Ref>| Ok(Mutex::new(lock_global(slot)?.clone()));
    let lead = |target: &ImportTarget| {
        let position = old.iter().position(|instance| Arc::ptr_eq(instance, &target.instance));
        // Imports lead to modules that were registered before, so their copies are there.
        let instance = position.and_then(|at| new.get(at)).unwrap_or(&target.instance).clone();
        ImportTarget { instance, ordinal: target.ordinal }
    };
    Ok(BytecodeInstance {
        module: from.module.clone(),
        rwdata,
        refs: from.refs.iter().map(clone).collect::<Result<_>>().annotate(|| "forking the context".into())?,
        imports: from.imports.iter().map(|import| import.as_ref().map(lead)).collect(),
        quota: quota.cloned(),
        holders: holders.clone(),
    })
}
