//! What objects take from the memory limit of the context whose module asked for them.
//!
//! Memory of buffers is charged where it is (see [`crate::memory::Block`]); everything else by its size, so that no loop
//! that keeps making objects outgrows the limit. What the host makes for itself is not charged.

use std::sync::Arc;
use tiree_vm::{CallFrame, Charge, Flow, Quota, RefObject, Result};

/// What an object takes beside its size: the allocator's part, and what it may allocate when it is used.
const OBJECT: usize = 128;

/// An object that keeps what was taken for it.
pub(crate) trait Charged: RefObject {
    /// Keeps `charge` as long as the object lives.
    fn keep(&mut self, charge: Charge);
}

/// An object that modules make.
macro_rules! charged {
    ($($type:ty),*) => {
        $(impl $crate::charge::Charged for $type {
            fn keep(&mut self, charge: tiree_vm::Charge) {
                self.charge = Some(charge);
            }
        })*
    };
}
pub(crate) use charged;

/// The result `object`, taken from the caller's memory.
///
/// # Errors
/// RESOURCE_EXHAUSTED.
#[inline]
pub(crate) fn push_new<T: Charged>(frame: &mut CallFrame<'_>, object: T) -> Result<Flow> {
    push_new_with(frame, object, 0)
}

/// As [`push_new`], for an object that has `bytes` elsewhere.
#[inline]
pub(crate) fn push_new_with<T: Charged>(frame: &mut CallFrame<'_>, mut object: T, bytes: usize) -> Result<Flow> {
    if let Some(quota) = frame.quota() {
        object.keep(take::<T>(quota, bytes)?);
    }
    frame.push_ref(Arc::new(object));
    Ok(Flow::Done)
}

/// What a `T` with `bytes` elsewhere takes.
#[cold]
pub(crate) fn take<T>(quota: &Arc<Quota>, bytes: usize) -> Result<Charge> {
    Charge::new(quota, bytes.saturating_add(size_of::<T>() + OBJECT))
}
