//! The worker threads' share of the pool: queues, stealing, and what a piece of work is.
//!
//! A worker looks for work in this order: urgent work, its own deque, the injector (work from outside), the other workers'
//! deques. While it runs the tiles of an ordinary grid it looks for urgent work between claims.

use crate::error::from_panic;
use crate::executor::Priority;
use crate::grid::{GridShared, Participant, Urgent};
use crate::machine::pin_current_thread;
use crate::scope::Scope;
use crate::sleep::EventCount;
use crate::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::topology::Topology;
use crate::worker_loop::{self, Source};
use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use crossbeam_utils::CachePadded;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

pub(crate) enum Work {
    /// An invitation to take part in a grid.
    Grid(Arc<GridShared>),
    Task(Box<dyn FnOnce() + Send>, Option<Scope>),
}

/// What the threads of a pool share.
pub(crate) struct Shared {
    injector: Injector<Work>,
    urgent: Injector<Work>,
    /// At least the number of items in `urgent`: what is looked at between claims.
    urgent_count: CachePadded<AtomicUsize>,
    stealers: Vec<Stealer<Work>>,
    pub(crate) events: EventCount,
    pub(crate) shutdown: AtomicBool,
    pub(crate) spin: Duration,
    pub(crate) topology: Topology,
}

impl Shared {
    pub(crate) fn new(topology: Topology, spin: Duration, deques: &[Worker<Work>]) -> Shared {
        Shared {
            injector: Injector::new(),
            urgent: Injector::new(),
            urgent_count: CachePadded::new(AtomicUsize::new(0)),
            stealers: deques.iter().map(Worker::stealer).collect(),
            events: EventCount::new(),
            shutdown: AtomicBool::new(false),
            spin,
            topology,
        }
    }

    /// Queues work and sees to it that somebody takes it.
    pub(crate) fn push(&self, items: impl Iterator<Item = Work>, count: usize, priority: Priority) {
        match priority {
            Priority::Urgent => {
                self.urgent_count.fetch_add(count, Ordering::Relaxed);
                items.for_each(|item| self.urgent.push(item));
            }
            Priority::Normal => match self.current() {
                Some(worker) => items.for_each(|item| worker.deque.push(item)),
                None => items.for_each(|item| self.injector.push(item)),
            },
        }
        self.events.notify(count);
    }

    /// The calling thread's record, when it is a worker of this pool.
    pub(crate) fn current(&self) -> Option<&WorkerThread> {
        // SAFETY: a non-null CURRENT points at the record on this very thread's stack, reset before the record dies; the
        // reference is used by this thread only, within the call that the record outlives.
        let worker = unsafe { CURRENT.get().as_ref() }?;
        std::ptr::eq(&*worker.shared, self).then_some(worker)
    }

    fn has_work(&self) -> bool {
        !self.injector.is_empty() || !self.urgent.is_empty() || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }

    fn take_urgent(&self) -> Option<Work> {
        if self.urgent_count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        loop {
            match self.urgent.steal() {
                Steal::Success(work) => {
                    self.urgent_count.fetch_sub(1, Ordering::Relaxed);
                    return Some(work);
                }
                Steal::Retry => {}
                Steal::Empty => return None,
            }
        }
    }

    fn steal(&self, deque: &Worker<Work>, index: usize) -> Option<Work> {
        loop {
            let mut retry = false;
            match self.injector.steal_batch_and_pop(deque) {
                Steal::Success(work) => return Some(work),
                Steal::Retry => retry = true,
                Steal::Empty => {}
            }
            let count = self.stealers.len();
            for offset in 1..count {
                match self.stealers[(index + offset) % count].steal() {
                    Steal::Success(work) => return Some(work),
                    Steal::Retry => retry = true,
                    Steal::Empty => {}
                }
            }
            if !retry {
                return None;
            }
        }
    }
}

/// The calling thread's place in a pool; lives on the worker's stack for as long as the thread runs.
pub(crate) struct WorkerThread {
    shared: Arc<Shared>,
    deque: Worker<Work>,
    pub(crate) index: usize,
    /// Urgent work is being run between two claims: no more is begun inside it, which would go as deep as there is work.
    in_urgent: Cell<bool>,
}

thread_local! {
    static CURRENT: Cell<*const WorkerThread> = const { Cell::new(std::ptr::null()) };
}

impl WorkerThread {
    fn participant(&self) -> Participant {
        Participant {
            index: self.index,
            worker_count: self.shared.topology.workers.len(),
            local_memory_limit: self.shared.topology.local_memory,
        }
    }
}

impl Urgent for WorkerThread {
    fn waits(&self) -> bool {
        self.shared.urgent_count.load(Ordering::Relaxed) > 0 && !self.in_urgent.get()
    }

    fn run(&self) {
        while let Some(work) = self.shared.take_urgent() {
            self.in_urgent.set(true);
            Source::run(self, work);
            self.in_urgent.set(false);
        }
    }
}

impl Source for WorkerThread {
    type Work = Work;

    fn find(&self) -> Option<Work> {
        let shared = &self.shared;
        shared.take_urgent().or_else(|| self.deque.pop()).or_else(|| shared.steal(&self.deque, self.index))
    }

    fn has_work(&self) -> bool {
        self.shared.has_work()
    }

    fn run(&self, work: Work) {
        match work {
            Work::Grid(grid) => grid.participate(&self.participant(), self),
            Work::Task(task, scope) => run_task(task, scope),
        }
    }
}

/// Runs a task; a panic becomes the failure of its scope.
pub(crate) fn run_task(task: Box<dyn FnOnce() + Send>, scope: Option<Scope>) {
    let result = catch_unwind(AssertUnwindSafe(task)).map_err(from_panic);
    if let Some(scope) = scope {
        scope.end(result);
    }
}

/// What a worker thread runs.
pub(crate) fn main(shared: Arc<Shared>, deque: Worker<Work>, index: usize) {
    if let Some(cpu) = shared.topology.workers[index] {
        pin_current_thread(cpu);
    }
    let worker = WorkerThread { shared, deque, index, in_urgent: Cell::new(false) };
    CURRENT.set(&worker);
    let shared = &worker.shared;
    worker_loop::work(&worker, &shared.events, &shared.shutdown, shared.spin);
    CURRENT.set(std::ptr::null());
}
