//! The worker threads: finding work, running it, going to sleep, shutting down.
//!
//! A worker looks for work in this order: its own deque, the injector (work from outside), the other workers' deques.
//! The sleep protocol is described in `sleep.rs`.
//!
//! Threads start with the first work that needs them: a process that only runs tiny grids never has any, and may fork.
//!
//! Shutdown, in the destructor of [`Executor`]:
//! 1. `shutdown` is set: `spawn` refuses from now on;
//! 2. all sleepers are woken;
//! 3. every worker runs what the queues still hold and leaves when it finds nothing;
//! 4. the threads are joined, except by a worker that itself dropped the last handle, and except in a forked child.

use crate::error::{Error, from_panic};
use crate::fork;
use crate::grid::{Body, GridShared, Participant};
use crate::scope::Scope;
use crate::sleep::EventCount;
use crate::topology::{Topology, TopologyOptions, pin_current_thread};
use crossbeam_deque::{Injector, Steal, Stealer, Worker};
use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const NOT_STARTED: u64 = u64::MAX;

enum Work {
    /// An invitation to take part in a grid.
    Grid(Arc<GridShared>),
    Task(Box<dyn FnOnce() + Send>, Option<Scope>),
}

struct Shared {
    injector: Injector<Work>,
    stealers: Vec<Stealer<Work>>,
    events: EventCount,
    shutdown: AtomicBool,
    /// Fork generation the threads were started in, or NOT_STARTED.
    started: AtomicU64,
    spin: Duration,
    topology: Topology,
}

/// A pool of worker threads. Share it in an `Arc`; dropping it finishes the queued work and joins the threads.
pub struct Executor {
    shared: Arc<Shared>,
    /// Deques that wait for their thread to start, then the threads.
    startup: Mutex<Startup>,
    stack_size: usize,
}

struct Startup {
    deques: Vec<Worker<Work>>,
    threads: Vec<JoinHandle<()>>,
}

/// The calling thread's place in a pool; lives on the worker's stack for as long as the thread runs.
struct WorkerThread {
    shared: Arc<Shared>,
    deque: Worker<Work>,
    index: usize,
}

thread_local! {
    static CURRENT: Cell<*const WorkerThread> = const { Cell::new(std::ptr::null()) };
}

impl Executor {
    /// An executor for the topology that `options` describe. No thread starts yet.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] as in [`Topology::resolve`].
    pub fn new(options: &TopologyOptions) -> Result<Self, Error> {
        let topology = Topology::resolve(options)?;
        // LIFO for the owner: the invitation pushed last belongs to the grid the worker is in.
        let deques: Vec<Worker<Work>> = topology.workers.iter().map(|_| Worker::new_lifo()).collect();
        let shared = Arc::new(Shared {
            injector: Injector::new(),
            stealers: deques.iter().map(Worker::stealer).collect(),
            events: EventCount::new(),
            shutdown: AtomicBool::new(false),
            started: AtomicU64::new(NOT_STARTED),
            spin: Duration::from_micros(u64::from(options.worker_spin_us)),
            topology,
        });
        let startup = Mutex::new(Startup { deques, threads: Vec::new() });
        Ok(Self { shared, startup, stack_size: options.worker_stack_size.max(64 * 1024) })
    }

    /// Number of workers.
    pub fn worker_count(&self) -> usize {
        self.shared.topology.workers.len()
    }

    /// The topology the executor was made with.
    pub fn topology(&self) -> &Topology {
        &self.shared.topology
    }

    fn participant(&self) -> Participant {
        let worker_count = self.worker_count();
        let index = self.with_current(|worker| worker.index).unwrap_or(worker_count);
        Participant { index, worker_count, local_memory_limit: self.shared.topology.local_memory }
    }

    /// Calls `body` with the calling thread's worker record when it belongs to this executor.
    fn with_current<R>(&self, body: impl FnOnce(&WorkerThread) -> R) -> Option<R> {
        let pointer = CURRENT.get();
        if pointer.is_null() {
            return None;
        }
        // SAFETY: a non-null CURRENT points at the record on this very thread's stack, reset before the record dies.
        let worker = unsafe { &*pointer };
        Arc::ptr_eq(&worker.shared, &self.shared).then(|| body(worker))
    }

    /// Starts the threads if they are not running.
    fn start(&self) -> Result<(), Error> {
        let generation = fork::generation();
        let started = self.shared.started.load(Ordering::Acquire);
        if started == generation {
            return Ok(());
        }
        if started != NOT_STARTED {
            return Err(Error::Forked);
        }
        let mut startup = self.startup.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if self.shared.started.load(Ordering::Acquire) != NOT_STARTED {
            return Ok(());
        }
        while let Some(deque) = startup.deques.pop() {
            let index = startup.deques.len();
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new()
                .name(format!("tiree-worker-{index}"))
                .stack_size(self.stack_size)
                .spawn(move || worker_main(shared, deque, index));
            match thread {
                Ok(thread) => startup.threads.push(thread),
                // Fewer workers than planned is slower, not wrong; none at all is an error.
                Err(error) if startup.threads.is_empty() => return Err(Error::Thread(error.to_string())),
                Err(_) => break,
            }
        }
        self.shared.started.store(generation, Ordering::Release);
        Ok(())
    }

    /// An error when this process is a forked child of the one whose threads run.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub fn check_fork(&self) -> Result<(), Error> {
        let started = self.shared.started.load(Ordering::Acquire);
        if started == NOT_STARTED || started == fork::generation() { Ok(()) } else { Err(Error::Forked) }
    }

    /// Queues a detached task, counted by `scope` if there is one.
    ///
    /// # Errors
    /// [`Error::ShutDown`], [`Error::Forked`] or [`Error::Thread`]; the task has not been and will not be run.
    pub fn spawn(&self, scope: Option<&Scope>, task: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        if self.shared.shutdown.load(Ordering::Relaxed) {
            return Err(Error::ShutDown);
        }
        self.start()?;
        if let Some(scope) = scope {
            scope.begin();
        }
        self.push(std::iter::once(Work::Task(task, scope.cloned())), 1);
        Ok(())
    }

    fn push(&self, items: impl Iterator<Item = Work>, count: usize) {
        let mut items = items;
        self.with_current(|worker| items.by_ref().for_each(|item| worker.deque.push(item)));
        items.for_each(|item| self.shared.injector.push(item));
        self.shared.events.notify(count);
    }

    /// Runs tiles `0..count`, sharing them with the workers from the start. `body` gets ranges of tiles, in no
    /// particular order, each tile exactly once; after a failure the tiles not yet begun are skipped.
    ///
    /// # Errors
    /// The first error that `body` returned, or [`Error`] turned into `E` for a panic or a forked process.
    pub fn run_grid<F, E>(&self, count: u64, body: F) -> Result<(), E>
    where
        F: Fn(&Participant, Range<u64>) -> Result<(), E> + Sync,
        E: Send + From<Error>,
    {
        self.grid(count, false, &body)
    }

    /// As [`run_grid`](Self::run_grid), but begins on the calling thread and shares only what turns out to be long.
    ///
    /// # Errors
    /// As [`run_grid`](Self::run_grid).
    pub fn run_small_grid<F, E>(&self, count: u64, body: F) -> Result<(), E>
    where
        F: Fn(&Participant, Range<u64>) -> Result<(), E> + Sync,
        E: Send + From<Error>,
    {
        self.grid(count, true, &body)
    }

    fn grid<F, E>(&self, count: u64, begin_inline: bool, closure: &F) -> Result<(), E>
    where
        F: Fn(&Participant, Range<u64>) -> Result<(), E> + Sync,
        E: Send + From<Error>,
    {
        if count == 0 {
            return Ok(());
        }
        let body = Body { closure, error: Mutex::new(None) };
        let participant = self.participant();
        let may_share = count > 1 && self.worker_count() > 1;
        let mut first = 0;
        if begin_inline || !may_share {
            match body.run_inline(&participant, count, may_share) {
                None => return body.into_result(),
                Some(left) => first = left,
            }
        }
        match self.start() {
            Err(Error::Thread(_)) => {
                body.run(&participant, first..count);
                return body.into_result();
            }
            other => other?,
        }
        let grid = Arc::new(GridShared::new(&body, first..count, self.worker_count()));
        let helpers = (self.worker_count() as u64 - 1).min(count - first - 1) as usize;
        self.push((0..helpers).map(|_| Work::Grid(grid.clone())), helpers);
        grid.participate(&participant);
        grid.wait_done();
        body.into_result()
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.shared.shutdown.store(true, Ordering::SeqCst);
        let startup = self.startup.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        let threads = std::mem::take(&mut startup.threads);
        if self.check_fork().is_err() {
            // The threads exist only in the parent: joining would wait for ever, detaching could touch freed stacks.
            std::mem::forget(threads);
            return;
        }
        self.shared.events.notify_all();
        let this = std::thread::current().id();
        for thread in threads {
            if thread.thread().id() != this {
                let _ = thread.join();
            }
        }
    }
}

impl Shared {
    fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.stealers.iter().any(|stealer| !stealer.is_empty())
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

impl WorkerThread {
    fn find(&self) -> Option<Work> {
        self.deque.pop().or_else(|| self.shared.steal(&self.deque, self.index))
    }

    fn run(&self, work: Work) {
        match work {
            Work::Grid(grid) => grid.participate(&Participant {
                index: self.index,
                worker_count: self.shared.topology.workers.len(),
                local_memory_limit: self.shared.topology.local_memory,
            }),
            Work::Task(task, scope) => {
                let result = catch_unwind(AssertUnwindSafe(task)).map_err(from_panic);
                if let Some(scope) = scope {
                    scope.end(result);
                }
            }
        }
    }

    /// Spins over the queues for the spin time.
    fn search(&self) -> Option<Work> {
        let shared = &self.shared;
        shared.events.begin_search();
        let start = Instant::now();
        let mut found = self.find();
        while found.is_none() && start.elapsed() < shared.spin && !shared.shutdown.load(Ordering::Relaxed) {
            for _ in 0..16 {
                std::hint::spin_loop();
            }
            found = self.find();
        }
        let last = shared.events.end_search();
        if found.is_some() && last && shared.has_work() {
            shared.events.notify(1);
        }
        found
    }

    fn main_loop(&self) {
        let events = &self.shared.events;
        loop {
            if let Some(work) = self.find().or_else(|| self.search()) {
                self.run(work);
                continue;
            }
            let epoch = events.prepare();
            if self.shared.has_work() {
                events.cancel();
            } else if self.shared.shutdown.load(Ordering::SeqCst) {
                events.cancel();
                return;
            } else {
                events.commit(epoch);
            }
        }
    }
}

fn worker_main(shared: Arc<Shared>, deque: Worker<Work>, index: usize) {
    if let Some(cpu) = shared.topology.workers[index] {
        pin_current_thread(cpu);
    }
    let worker = WorkerThread { shared, deque, index };
    CURRENT.set(&worker);
    worker.main_loop();
    CURRENT.set(std::ptr::null());
}
