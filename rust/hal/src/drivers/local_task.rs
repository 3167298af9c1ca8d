//! `local-task`: operations run on worker threads as soon as their waits are reached.
//!
//! An operation whose waits are not reached registers a callback and occupies no thread. One that is ready and expected
//! to be short runs at once on the thread that made it ready. A longer one is queued for the workers, and whoever blocks
//! on its signal meanwhile may take it over (`Helper`): the thread that submits and waits takes part in the work.

use crate::device::{Admission, Driver};
use crate::execute::{Threads, task_status};
use crate::fence::Fence;
use crate::queue::QueueOp;
use crate::semaphore::{Helper, Semaphore};
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use tiree_task::{Executor, Priority};
use tiree_vm::{Result, Status};

/// Operations expected to take less run on the thread that made them ready, and share out what is long in them from there.
/// To hand one over and to be woken again takes up to 20 us, and the caches are those of another core.
const INLINE_NANOSECONDS: f64 = 200_000.0;

/// Workers, which devices may share, and how soon they are to begin.
#[derive(Clone)]
pub(crate) struct Workers {
    pub(crate) executor: Arc<Executor>,
    pub(crate) priority: Priority,
}

pub(crate) struct LocalTask {
    pub(crate) workers: Workers,
}

impl Driver for LocalTask {
    fn submit(&self, waits: Option<Arc<Fence>>, signals: Option<Arc<Fence>>, operation: QueueOp) -> Result<()> {
        match self.admit(waits.as_deref())? {
            Admission::Now(..) => start(&self.workers, operation, signals),
            Admission::Failed(status) => return self.finish(Err(status), signals.as_deref()),
            Admission::Later => {
                let points = waits.map(|fence| fence.points()).unwrap_or_default();
                defer(&self.workers, &Fence::from_points(points), operation, signals);
            }
        }
        Ok(())
    }

    fn admit(&self, waits: Option<&Fence>) -> Result<Admission<'_>> {
        self.workers.executor.check_fork().map_err(|error| task_status(&error))?;
        Ok(match waits.map_or(Some(Ok(())), Fence::poll) {
            Some(Ok(())) => Admission::Now(Threads::Pool(&self.workers), INLINE_NANOSECONDS),
            Some(Err(status)) => Admission::Failed(status),
            None => Admission::Later,
        })
    }

    fn finish(&self, result: Result<()>, signals: Option<&Fence>) -> Result<()> {
        if let Some(fence) = signals {
            // A fence that is past its value already was signalled by somebody else: that is how it fails.
            if let Err(status) = result.and_then(|()| fence.signal()) {
                fence.fail(&status);
            }
        }
        Ok(())
    }

    fn with_priority(&self, priority: Priority) -> Option<Box<dyn Driver>> {
        let workers = Workers { priority, ..self.workers.clone() };
        Some(Box::new(LocalTask { workers }))
    }

    fn worker_count(&self) -> usize {
        self.workers.executor.worker_count()
    }
}

/// Runs an operation whose waits are reached and passes the outcome on.
fn complete(workers: &Workers, operation: QueueOp, signals: Option<Arc<Fence>>) {
    let run = catch_unwind(AssertUnwindSafe(|| operation.run(&Threads::Pool(workers))));
    let result = run.unwrap_or_else(|_| Err(Status::internal("a queue operation panicked")));
    if let Some(fence) = signals {
        // A fence that is past its value already was signalled by somebody else: that is how it fails.
        if let Err(status) = result.and_then(|()| fence.signal()) {
            fence.fail(&status);
        }
    }
}

fn start(workers: &Workers, operation: QueueOp, signals: Option<Arc<Fence>>) {
    if operation.estimate() < INLINE_NANOSECONDS {
        return complete(workers, operation, signals);
    }
    let queued = Arc::new(Queued { workers: workers.clone(), work: Mutex::new(Some((operation, signals.clone()))) });
    if let Some(fence) = &signals {
        fence.set_helper(&(queued.clone() as Arc<dyn Helper>));
    }
    let task = {
        let queued = queued.clone();
        Box::new(move || _ = queued.run())
    };
    if let Err(error) = workers.executor.spawn_at(workers.priority, None, task) {
        // No thread can be had: the operation is not lost, it runs here, unless the process was forked.
        let taken = queued.work.lock().take();
        match (taken, error) {
            (Some((operation, signals)), tiree_task::Error::Thread(_)) => complete(workers, operation, signals),
            (Some((_, Some(signals))), error) => signals.fail(&task_status(&error)),
            _ => {}
        }
    }
}

/// A ready operation that waits for a thread; taken by whoever comes first.
struct Queued {
    workers: Workers,
    work: Mutex<Option<(QueueOp, Option<Arc<Fence>>)>>,
}

impl Queued {
    fn run(&self) -> bool {
        let taken = self.work.lock().take();
        let Some((operation, signals)) = taken else { return false };
        complete(&self.workers, operation, signals);
        true
    }
}

impl Helper for Queued {
    fn help(&self, _depth: u32) -> bool {
        self.run()
    }
}

/// An operation that waits for its fence; knows, without keeping them alive, the semaphores that it waits for.
struct Deferred {
    waits: SmallVec<[(Weak<Semaphore>, u64); 2]>,
}

impl Helper for Deferred {
    fn help(&self, depth: u32) -> bool {
        self.waits.iter().any(|(semaphore, value)| {
            let pending = semaphore.upgrade().filter(|semaphore| semaphore.poll(*value).is_none());
            pending.is_some_and(|semaphore| semaphore.help(depth + 1))
        })
    }
}

fn defer(workers: &Workers, waits: &Fence, operation: QueueOp, signals: Option<Arc<Fence>>) {
    if let Some(fence) = &signals {
        let waits = waits.points().iter().map(|(semaphore, value)| (Arc::downgrade(semaphore), *value)).collect();
        fence.set_helper(&(Arc::new(Deferred { waits }) as Arc<dyn Helper>));
    }
    let workers = workers.clone();
    waits.then(move |result| match (result, signals) {
        (Ok(()), signals) => start(&workers, operation, signals),
        (Err(status), Some(fence)) => fence.fail(&status),
        (Err(_), None) => {}
    });
}
