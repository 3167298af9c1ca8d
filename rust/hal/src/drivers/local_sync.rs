//! `local-sync`: every operation waits and runs on the thread that submits it.

use crate::device::{Admission, Driver};
use crate::execute::Threads;
use crate::fence::Fence;
use crate::queue::QueueOp;
use std::sync::Arc;
use tiree_vm::Result;

pub(crate) struct LocalSync {
    pub(crate) local_memory: usize,
}

impl Driver for LocalSync {
    fn submit(&self, waits: Option<Arc<Fence>>, signals: Option<Arc<Fence>>, operation: QueueOp) -> Result<()> {
        let ready = waits.map_or(Ok(()), |fence| fence.wait(None));
        let result = ready.and_then(|()| operation.run(&Threads::Caller(self.local_memory)));
        self.finish(result, signals.as_deref())
    }

    fn admit(&self, waits: Option<&Fence>) -> Result<Admission<'_>> {
        Ok(match waits.map_or(Ok(()), |fence| fence.wait(None)) {
            Ok(()) => Admission::Now(Threads::Caller(self.local_memory), f64::INFINITY),
            Err(status) => Admission::Failed(status),
        })
    }

    fn finish(&self, result: Result<()>, signals: Option<&Fence>) -> Result<()> {
        pass_on(result, signals)
    }

    fn blocks(&self) -> bool {
        true
    }

    fn worker_count(&self) -> usize {
        1
    }
}

/// Signals or fails the fence of an operation that has run.
pub(super) fn pass_on(result: Result<()>, signals: Option<&Fence>) -> Result<()> {
    match (result, signals) {
        (Ok(()), None) => Ok(()),
        (Ok(()), Some(fence)) => fence.signal(),
        // With a fence the failure travels along it, as it would from a device that runs later.
        (Err(status), Some(fence)) => {
            fence.fail(&status);
            Ok(())
        }
        (Err(status), None) => Err(status),
    }
}
