//! `hal.device`: an allocator, a queue and what can be asked about them.

use crate::allocator::Allocator;
use crate::buffer::Buffer;
use crate::drivers::{Counts, LocalSync, LocalTask, Null, Workers};
use crate::executable::{LoadOptions, cpu};
use crate::execute::Threads;
use crate::fence::Fence;
use crate::queue::{self, QueueOp};
use crate::timeline;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use tiree_task::{Executor, Priority, Topology, TopologyOptions};
use tiree_trace::Place;
use tiree_vm::{Charge, Quota, RefObject, Result, Shared, Status};

/// What differs between devices.
pub(crate) trait Driver: Send + Sync {
    /// Runs `operation` after `waits` and signals `signals`.
    fn submit(&self, waits: Option<Arc<Fence>>, signals: Option<Arc<Fence>>, operation: QueueOp) -> Result<()>;
    /// Whether an operation after `waits` can run now, on the calling thread.
    ///
    /// # Errors
    /// What concerns the submission itself.
    fn admit(&self, waits: Option<&Fence>) -> Result<Admission<'_>>;
    /// Passes the outcome of an admitted operation on.
    fn finish(&self, result: Result<()>, signals: Option<&Fence>) -> Result<()>;
    /// The same workers for submissions of another priority.
    fn with_priority(&self, _priority: Priority) -> Option<Box<dyn Driver>> {
        None
    }
    /// Threads that run dispatches.
    fn worker_count(&self) -> usize;
    /// Whether `submit` and `admit` wait on the calling thread.
    fn blocks(&self) -> bool {
        false
    }
    /// What was asked for, where that is counted.
    fn counts(&self) -> Option<Counts> {
        None
    }
}

/// What a driver says to an operation.
pub(crate) enum Admission<'a> {
    /// It can run here and now, if it is estimated to take less than so many nanoseconds.
    Now(Threads<'a>, f64),
    /// What it waits for has failed.
    Failed(Status),
    /// It has to be queued.
    Later,
}

/// An operation that borrows what it works on, so that running it at once counts no references.
pub(crate) trait Operation {
    /// Estimated nanoseconds.
    fn estimate(&self) -> f64;
    /// The same, not less than what the bytes suggest that it is given: what was measured may have been smaller.
    fn cautious_estimate(&self) -> f64 {
        self.estimate()
    }
    /// Does it.
    fn run(&self, threads: &Threads<'_>) -> Result<()>;
    /// What it is called on timelines.
    fn name(&self) -> &'static str;
    /// The same operation for a queue.
    fn to_owned(&self) -> QueueOp;
}

/// What an operation is submitted with: what it waits for, what it signals, which queues may run it.
pub(crate) struct Between<'a> {
    pub(crate) waits: Option<Shared<'a, Fence>>,
    pub(crate) signals: Option<Shared<'a, Fence>>,
    pub(crate) affinity: i64,
}

/// See the module head.
pub struct Device {
    id: &'static str,
    /// Which of the devices of this process, in the order in which they were opened.
    number: u32,
    allocator: Arc<Allocator>,
    driver: Box<dyn Driver>,
    system_libraries: AtomicBool,
}

impl RefObject for Device {
    fn type_name(&self) -> &'static str {
        "hal.device"
    }
}

impl Device {
    /// A device that runs everything on the submitting thread.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for topology options that cannot be.
    pub fn local_sync(options: &TopologyOptions) -> Result<Arc<Device>> {
        let topology = Topology::resolve(options).map_err(|error| crate::execute::task_status(&error))?;
        let driver = Box::new(LocalSync { local_memory: topology.local_memory });
        Ok(Device::new("local-sync", driver))
    }

    /// A device that runs on the workers of `executor`, which may be shared by several devices.
    pub fn local_task(executor: Arc<Executor>) -> Arc<Device> {
        let workers = Workers { executor, priority: Priority::Normal };
        Device::new("local-task", Box::new(LocalTask { workers }))
    }

    /// The same device (its workers, its memory) for submissions of another priority. None for devices without workers.
    pub fn with_priority(&self, priority: Priority) -> Option<Arc<Device>> {
        let driver = self.driver.with_priority(priority)?;
        let system_libraries = AtomicBool::new(self.load_options().system_libraries);
        let (id, number, allocator) = (self.id, self.number, self.allocator.clone());
        Some(Arc::new(Device { id, number, allocator, driver, system_libraries }))
    }

    /// A device that executes nothing and counts everything.
    pub fn null() -> Arc<Device> {
        Device::new("null", Box::new(Null::default()))
    }

    /// What this device was asked for, if it counts that.
    pub fn counts(&self) -> Option<Counts> {
        self.driver.counts()
    }

    fn new(id: &'static str, driver: Box<dyn Driver>) -> Arc<Device> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (number, system_libraries) = (NEXT.fetch_add(1, Ordering::Relaxed), AtomicBool::new(false));
        Arc::new(Device { id, number, allocator: Arc::new(Allocator::new()), driver, system_libraries })
    }

    /// Allows (or forbids, which is the default) executables that the operating system's loader loads. They run code of
    /// their own while being loaded and may use all that this process may.
    pub fn allow_system_libraries(&self, allow: bool) {
        self.system_libraries.store(allow, Ordering::Relaxed);
    }

    /// Which executables are loaded.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions { system_libraries: self.system_libraries.load(Ordering::Relaxed) }
    }

    /// `local-sync`, `local-task` or `null`.
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// What it is called on timelines: `local-task#1`, with the number of devices that this process had opened before.
    pub fn trace_name(&self) -> String {
        self.place(0).name()
    }

    /// The queue that `affinity` stands for on timelines: the first of those it names. Queues share the workers of the
    /// device and are ordered by fences alone, so there are as many as anybody names.
    fn place(&self, affinity: i64) -> Place {
        let queue = if affinity == 0 { 0 } else { affinity.trailing_zeros() };
        Place { device: self.id, number: self.number, queue }
    }

    /// The allocator.
    pub fn allocator(&self) -> &Arc<Allocator> {
        &self.allocator
    }

    /// Threads that run dispatches.
    pub fn worker_count(&self) -> usize {
        self.driver.worker_count()
    }

    /// Queues `operation`: it starts when `waits` is reached (None: at once) and `signals` is signalled when it is done,
    /// or failed with its error.
    ///
    /// # Errors
    /// Only what concerns the submission itself; a device that runs at once and has no signal fence returns the
    /// operation's error.
    pub fn submit(&self, waits: Option<Arc<Fence>>, signals: Option<Arc<Fence>>, operation: QueueOp) -> Result<()> {
        self.driver.submit(waits, signals, operation.placed(|affinity| self.place(affinity)))
    }

    /// As [`submit`](Self::submit), but an operation that can run at once is not queued, and what is queued is taken from
    /// `quota`. An operation that is to run `alone` gets no help of other threads, so it waits for none.
    pub(crate) fn perform(
        &self,
        Between { waits, signals, affinity }: Between<'_>,
        operation: &impl Operation,
        quota: Option<&Arc<Quota>>,
        alone: bool,
    ) -> Result<()> {
        let result = match self.driver.admit(waits.map(Shared::object))? {
            Admission::Now(threads, limit) if limit == f64::INFINITY || operation.estimate() < limit => {
                let threads = if alone { threads.alone() } else { threads };
                let place = || Some(self.place(affinity));
                catch_unwind(AssertUnwindSafe(|| {
                    timeline::operation(operation.name(), place, || operation.run(&threads))
                }))
                .unwrap_or_else(|_| Err(Status::internal("a queue operation panicked")))
            }
            Admission::Failed(status) => Err(status),
            _ => {
                let (waits, signals) = (waits.map(Shared::to_arc), signals.map(Shared::to_arc));
                return self.submit(waits, signals, operation.to_owned().on(affinity).within(quota)?);
            }
        };
        self.driver.finish(result, signals.map(Shared::object))
    }

    /// Queues an allocation: the buffer is there at once, its memory when `signals` is signalled.
    ///
    /// # Errors
    /// As [`submit`](Self::submit); RESOURCE_EXHAUSTED comes through the fence.
    pub fn alloca(
        &self,
        waits: Option<Arc<Fence>>,
        signals: Option<Arc<Fence>>,
        memory_type: u32,
        usage: u32,
        size: usize,
    ) -> Result<Arc<Buffer>> {
        let buffer = self.allocator.transient(memory_type, usage, size, None);
        self.submit(waits, signals, QueueOp::alloca(buffer.storage().clone()))?;
        Ok(Arc::new(buffer))
    }

    /// As [`alloca`](Self::alloca), with borrowed fences and for a limited context.
    pub(crate) fn perform_alloca(
        &self,
        between: Between<'_>,
        (memory_type, usage, size): (u32, u32, usize),
        quota: Option<&Arc<Quota>>,
    ) -> Result<Buffer> {
        let charge = quota.map(|quota| Charge::new(quota, size)).transpose()?;
        let buffer = self.allocator.transient(memory_type, usage, size, charge);
        self.perform(between, &queue::Alloca { storage: buffer.storage() }, quota, false)?;
        Ok(buffer)
    }

    /// Whether queue operations block the thread that submits them until their waits are over.
    pub(crate) fn blocks(&self) -> bool {
        self.driver.blocks()
    }

    /// Answers a query; None for what is not known.
    pub fn query_i64(&self, category: &str, key: &str) -> Option<i64> {
        match (category, key) {
            ("hal.device.id", pattern) => {
                let is = |id: &str| glob(pattern.as_bytes(), id.as_bytes());
                // A null device stands in for the one that a program was made for.
                Some(i64::from(is(self.id) || self.counts().is_some() && is("local-null")))
            }
            ("hal.executable.format", format) => Some(i64::from(self.load_options().supports(format))),
            ("hal.device", "concurrency") => Some(1),
            ("hal.dispatch", "concurrency") => i64::try_from(self.worker_count()).ok(),
            ("hal.cpu", feature) => cpu::has_feature(feature).map(i64::from),
            _ => None,
        }
    }
}

/// `*` matches any run, `?` one character.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == b'?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, seen)) => {
                    p = at + 1;
                    t = seen + 1;
                    star = Some((at, seen + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, matches) in [
            ("local*", true),
            ("*", true),
            ("local-tas?", true),
            ("local-task", true),
            ("*task", true),
            ("l*t*k", true),
        ] {
            assert_eq!(glob(pattern.as_bytes(), b"local-task"), matches, "{pattern}");
        }
        for pattern in ["", "local", "cuda*", "local-task?", "*x*", "local-?"] {
            assert!(!glob(pattern.as_bytes(), b"local-task"), "{pattern}");
        }
    }
}
