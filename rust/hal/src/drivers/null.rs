//! `null`: executes nothing and counts everything. What a program costs besides its kernels and copies can be measured
//! on it, and what it would do can be counted.
//!
//! Memory is real (its contents are arbitrary), operations are checked as on other devices, fences are signalled in
//! order; only the work between a wait and a signal is left out. Host code that depends on results sees arbitrary ones.

use crate::device::{Admission, Driver};
use crate::execute::Threads;
use crate::fence::Fence;
use crate::queue::QueueOp;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tiree_vm::Result;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        /// What a device was asked for since it was opened.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counts {
            /// Names and numbers, in the order of the fields.
            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }

        /// Counts that go up.
        #[derive(Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: AtomicU64,)*
        }

        impl Counters {
            fn snapshot(&self) -> Counts {
                Counts { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }
    };
}

counters! {
    /// Barriers on the queue.
    barriers;
    /// Allocations on the queue.
    allocas;
    /// Their bytes.
    alloca_bytes;
    /// Deallocations on the queue.
    deallocas;
    /// Executions of command buffers.
    executions;
    /// Dispatches.
    dispatches;
    /// Their workgroups.
    workgroups;
    /// Fills, on the queue and in command buffers.
    fills;
    /// Copies, likewise.
    copies;
    /// Updates, likewise.
    updates;
    /// Bytes that all of these would have written.
    transfer_bytes;
    /// File ranges that would have been read.
    reads;
    /// File ranges that would have been written.
    writes;
    /// Their bytes.
    file_bytes;
    /// Calls of host functions, such as the loading of parameters.
    host_calls;
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, number: u64) {
        counter.fetch_add(number, Ordering::Relaxed);
    }
}

#[derive(Default)]
pub(crate) struct Null {
    counters: Counters,
}

impl Driver for Null {
    fn submit(&self, waits: Option<Arc<Fence>>, signals: Option<Arc<Fence>>, operation: QueueOp) -> Result<()> {
        let ready = waits.map_or(Ok(()), |fence| fence.wait(None));
        let result = ready.and_then(|()| operation.run(&Threads::Nobody(&self.counters)));
        self.finish(result, signals.as_deref())
    }

    fn admit(&self, waits: Option<&Fence>) -> Result<Admission<'_>> {
        Ok(match waits.map_or(Ok(()), |fence| fence.wait(None)) {
            Ok(()) => Admission::Now(Threads::Nobody(&self.counters), f64::INFINITY),
            Err(status) => Admission::Failed(status),
        })
    }

    fn finish(&self, result: Result<()>, signals: Option<&Fence>) -> Result<()> {
        super::local_sync::pass_on(result, signals)
    }

    fn blocks(&self) -> bool {
        true
    }

    fn worker_count(&self) -> usize {
        1
    }

    fn counts(&self) -> Option<Counts> {
        Some(self.counters.snapshot())
    }
}
