//! The pool: making it, giving it work, shutting it down. What its threads do is in `worker.rs`.
//!
//! Threads start with the first work that needs them: a process that only runs tiny grids never has any, and may fork.
//!
//! Shutdown, in the destructor of [`Executor`]:
//! 1. `shutdown` is set: `spawn` refuses from now on;
//! 2. all sleepers are woken;
//! 3. every worker runs what the queues still hold and leaves when it finds nothing;
//! 4. the threads are joined, except by a worker that itself dropped the last handle, and except in a forked child.

use crate::error::Error;
use crate::fork;
use crate::grid::{Body, GridShared, Participant};
use crate::scope::Scope;
use crate::topology::{Topology, TopologyOptions};
use crate::worker::{self, Shared, Work};
use crossbeam_deque::Worker;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

const NOT_STARTED: u64 = u64::MAX;

/// How soon work is begun when all workers are busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    /// In its turn.
    #[default]
    Normal,
    /// Before everything that is not urgent: workers look for it between two claims of the tiles of an ordinary grid.
    /// For work that somebody waits for; when all is urgent nothing is.
    Urgent,
}

/// How a grid is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct GridOptions {
    /// Begin on the calling thread and share only what turns out to be long.
    pub begin_inline: bool,
    /// How soon the workers help.
    pub priority: Priority,
}

/// A pool of worker threads. Share it in an `Arc`; dropping it finishes the queued work and joins the threads.
pub struct Executor {
    shared: Arc<Shared>,
    /// Fork generation the threads were started in, or NOT_STARTED.
    started: AtomicU64,
    /// Deques that wait for their thread to start, then the threads.
    startup: Mutex<Startup>,
    stack_size: usize,
}

struct Startup {
    deques: Vec<Worker<Work>>,
    threads: Vec<JoinHandle<()>>,
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
        let spin = Duration::from_micros(u64::from(options.worker_spin_us));
        let shared = Arc::new(Shared::new(topology, spin, &deques));
        let startup = Mutex::new(Startup { deques, threads: Vec::new() });
        let stack_size = options.worker_stack_size.max(64 * 1024);
        Ok(Self { shared, started: AtomicU64::new(NOT_STARTED), startup, stack_size })
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
        let index = self.shared.current().map_or(worker_count, |worker| worker.index);
        Participant { index, worker_count, local_memory_limit: self.shared.topology.local_memory }
    }

    /// Starts the threads if they are not running.
    fn start(&self) -> Result<(), Error> {
        let generation = fork::generation();
        let started = self.started.load(Ordering::Acquire);
        if started == generation {
            return Ok(());
        }
        if started != NOT_STARTED {
            return Err(Error::Forked);
        }
        let mut startup = self.startup.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if self.started.load(Ordering::Acquire) != NOT_STARTED {
            return Ok(());
        }
        while let Some(deque) = startup.deques.pop() {
            let index = startup.deques.len();
            let shared = self.shared.clone();
            let thread = std::thread::Builder::new()
                .name(format!("tiree-worker-{index}"))
                .stack_size(self.stack_size)
                .spawn(move || worker::main(shared, deque, index));
            match thread {
                Ok(thread) => startup.threads.push(thread),
                // Fewer workers than planned is slower, not wrong; none at all is an error.
                Err(error) if startup.threads.is_empty() => return Err(Error::Thread(error.to_string())),
                Err(_) => break,
            }
        }
        self.started.store(generation, Ordering::Release);
        Ok(())
    }

    /// An error when this process is a forked child of the one whose threads run.
    ///
    /// # Errors
    /// [`Error::Forked`].
    pub fn check_fork(&self) -> Result<(), Error> {
        let started = self.started.load(Ordering::Acquire);
        if started == NOT_STARTED || started == fork::generation() { Ok(()) } else { Err(Error::Forked) }
    }

    /// Queues a detached task, counted by `scope` if there is one.
    ///
    /// # Errors
    /// [`Error::ShutDown`], [`Error::Forked`] or [`Error::Thread`]; the task has not been and will not be run.
    pub fn spawn(&self, scope: Option<&Scope>, task: Box<dyn FnOnce() + Send>) -> Result<(), Error> {
        self.spawn_at(Priority::Normal, scope, task)
    }

    /// As [`spawn`](Self::spawn), with a priority.
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    pub fn spawn_at(
        &self,
        priority: Priority,
        scope: Option<&Scope>,
        task: Box<dyn FnOnce() + Send>,
    ) -> Result<(), Error> {
        if self.shared.shutdown.load(Ordering::Relaxed) {
            return Err(Error::ShutDown);
        }
        self.start()?;
        if let Some(scope) = scope {
            scope.begin();
        }
        self.shared.push(std::iter::once(Work::Task(task, scope.cloned())), 1, priority);
        Ok(())
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
        self.run_grid_with(GridOptions::default(), count, body)
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
        self.run_grid_with(GridOptions { begin_inline: true, ..Default::default() }, count, body)
    }

    /// Runs tiles `0..count` as `options` say.
    ///
    /// # Errors
    /// As [`run_grid`](Self::run_grid).
    pub fn run_grid_with<F, E>(&self, options: GridOptions, count: u64, body: F) -> Result<(), E>
    where
        F: Fn(&Participant, Range<u64>) -> Result<(), E> + Sync,
        E: Send + From<Error>,
    {
        if count == 0 {
            return Ok(());
        }
        let body = Body::new(&body);
        let participant = self.participant();
        let may_share = count > 1 && self.worker_count() > 1;
        let mut first = 0;
        if options.begin_inline || !may_share {
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
        let grid = Arc::new(GridShared::new(&body, first..count, self.worker_count(), options.priority));
        let helpers = (self.worker_count() as u64 - 1).min(count - first - 1) as usize;
        self.shared.push((0..helpers).map(|_| Work::Grid(grid.clone())), helpers, options.priority);
        match self.shared.current() {
            Some(worker) => grid.participate(&participant, worker),
            None => grid.participate(&participant, &()),
        }
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
