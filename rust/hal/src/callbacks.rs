//! Callbacks of semaphores, on the thread that makes them due.
//!
//! Two kinds wait in queues of their own for each thread. *Continuations* are the runtime's: they start the next operation
//! and never block. They run first, one after the other, so a chain of any length takes no stack. *Callbacks* are the
//! user's and may do anything, such as waiting for what they signal themselves: what becomes due inside of one runs there
//! and then, nested to a certain depth. Beyond it callbacks wait for the one that runs to end, or to wait: a thread that
//! waits runs first what it owes.
//!
//! A panic does not keep others from running; it goes on when they have.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use tiree_vm::Result;

/// As deep callbacks nest; each may take the stack of a call of Python's.
const MAX_DEPTH: u32 = 16;

/// What runs when a semaphore is reached or fails.
pub(crate) type Callback = Box<dyn FnOnce(Result<()>) + Send>;

/// What a callback may do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It never blocks.
    Continuation,
    /// Anything.
    Callback,
}

type Queue = RefCell<VecDeque<(Callback, Result<()>)>>;

/// What a thread owes, and what it is doing.
struct Due {
    continuations: Queue,
    callbacks: Queue,
    /// Whether a frame of this thread runs continuations and will see to new ones.
    continuing: Cell<bool>,
    /// Callbacks that are running, one inside the other.
    depth: Cell<u32>,
}

impl Due {
    fn new() -> Due {
        Due {
            continuations: Queue::default(),
            callbacks: Queue::default(),
            continuing: Cell::new(false),
            depth: Cell::new(0),
        }
    }

    fn push(&self, kind: Kind, callback: Callback, result: Result<()>) {
        let queue = if kind == Kind::Continuation { &self.continuations } else { &self.callbacks };
        queue.borrow_mut().push_back((callback, result));
    }

    /// Runs what is due, callbacks only where less than `depth` are running. The first panic of all.
    fn run(&self, depth: u32) -> Option<Box<dyn Any + Send>> {
        let mut panicked = None;
        loop {
            while let Some((callback, result)) = pop(&self.continuations) {
                self.continuing.set(true);
                let outcome = catch_unwind(AssertUnwindSafe(|| callback(result)));
                self.continuing.set(false);
                panicked = panicked.or(outcome.err());
            }
            if self.depth.get() >= depth {
                return panicked;
            }
            let Some((callback, result)) = pop(&self.callbacks) else { return panicked };
            self.depth.set(self.depth.get() + 1);
            let outcome = catch_unwind(AssertUnwindSafe(|| callback(result)));
            self.depth.set(self.depth.get() - 1);
            panicked = panicked.or(outcome.err());
        }
    }
}

fn pop(queue: &Queue) -> Option<(Callback, Result<()>)> {
    queue.borrow_mut().pop_front()
}

#[cfg(not(loom))]
thread_local! {
    static DUE: Due = Due::new();
}

#[cfg(loom)]
loom::thread_local! {
    static DUE: Due = Due::new();
}

/// Runs callbacks with their results, or leaves them to a frame of this thread that runs some.
pub(crate) fn run(due: impl Iterator<Item = (Kind, Callback, Result<()>)>) {
    let mut due = Some(due);
    let panicked = DUE.try_with(|thread| {
        for (kind, callback, result) in due.take().into_iter().flatten() {
            thread.push(kind, callback, result);
        }
        if thread.continuing.get() { None } else { thread.run(MAX_DEPTH) }
    });
    match panicked {
        Ok(None) => {}
        // A panic of a second one inside a panic would end the process.
        Ok(Some(panic)) if !std::thread::panicking() => resume_unwind(panic),
        Ok(Some(_)) => {}
        // A thread that is ending has no queues any more.
        Err(_) => due.into_iter().flatten().for_each(|(_, callback, result)| callback(result)),
    }
}

/// Does `signals`, which only signal and fail semaphores, before anything that they make due runs.
pub(crate) fn run_after<T>(signals: impl FnOnce() -> T) -> T {
    let before = DUE.try_with(|thread| thread.continuing.replace(true));
    let result = signals();
    if let Ok(before) = before {
        // The thread has not ended meanwhile.
        let _ = DUE.try_with(|thread| thread.continuing.set(before));
        run(std::iter::empty());
    }
    result
}

/// Runs what this thread owes, before it waits for anything: that may be what it waits for.
pub(crate) fn run_all() {
    let panicked = DUE.try_with(|thread| {
        let continuing = thread.continuing.replace(false);
        let panicked = thread.run(u32::MAX);
        thread.continuing.set(continuing);
        panicked
    });
    if let Ok(Some(panic)) = panicked {
        resume_unwind(panic);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::semaphore::Semaphore;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};
    use std::time::{Duration, Instant};

    fn soon() -> Option<Instant> {
        Some(Instant::now() + Duration::from_secs(5))
    }

    /// A chain of `length` semaphores: each signals the next, by a callback or a continuation.
    fn chain(length: usize, callbacks: bool) -> Vec<Arc<Semaphore>> {
        let semaphores: Vec<_> = (0..length).map(|_| Arc::new(Semaphore::new(0))).collect();
        for pair in semaphores.windows(2) {
            let next = pair[1].clone();
            let signal = move |_| next.signal(1).unwrap();
            if callbacks { pair[0].on_reached(1, signal) } else { pair[0].then(1, signal) }
        }
        semaphores
    }

    #[test]
    fn long_chains_do_not_nest() {
        for callbacks in [true, false] {
            let semaphores = chain(100_000, callbacks);
            semaphores[0].signal(1).unwrap();
            assert_eq!(semaphores[semaphores.len() - 1].query().unwrap(), 1);
        }
    }

    #[test]
    fn a_callback_may_wait_for_what_it_signals() {
        for length in [1, 2, 10, 40, 1000] {
            for callbacks in [true, false] {
                let semaphores = chain(length, callbacks);
                let (sender, receiver) = mpsc::channel();
                let first = Semaphore::new(0);
                first.on_reached(1, move |_| {
                    semaphores[0].signal(1).unwrap();
                    sender.send(semaphores[length - 1].wait(1, soon())).unwrap();
                });
                first.signal(1).unwrap();
                receiver.recv().unwrap().unwrap();
            }
        }
    }

    /// So do callbacks that wait inside callbacks that wait, deeper than callbacks nest by themselves.
    #[test]
    fn callbacks_that_wait_nest() {
        let semaphores: Vec<_> = (0..201).map(|_| Arc::new(Semaphore::new(0))).collect();
        let ends: Vec<_> = (0..201).map(|_| Arc::new(Semaphore::new(0))).collect();
        for i in 0..200 {
            let (next, end, inner) = (semaphores[i + 1].clone(), ends[i].clone(), ends[i + 1].clone());
            semaphores[i].on_reached(1, move |_| {
                next.signal(1).unwrap();
                inner.wait(1, soon()).unwrap();
                end.signal(1).unwrap();
            });
        }
        let last = ends[200].clone();
        semaphores[200].on_reached(1, move |_| last.signal(1).unwrap());
        semaphores[0].signal(1).unwrap();
        assert_eq!(ends[0].query().unwrap(), 1);
    }

    /// Work that a callback makes ready starts before the callback goes on, also in the depth.
    #[test]
    fn continuations_do_not_wait_for_callbacks() {
        let semaphores = chain(50, true);
        let (work, seen) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
        let (signalled, told) = (work.clone(), seen.clone());
        work.then(1, move |_| _ = told.fetch_add(1, Ordering::SeqCst));
        let (sender, receiver) = mpsc::channel();
        semaphores[49].on_reached(1, move |_| {
            signalled.signal(1).unwrap();
            sender.send(seen.load(Ordering::SeqCst)).unwrap();
        });
        semaphores[0].signal(1).unwrap();
        assert_eq!(receiver.recv().unwrap(), 1);
    }

    #[test]
    fn a_panic_keeps_nobody_from_running() {
        for callbacks in [true, false] {
            let calls = Arc::new(AtomicUsize::new(0));
            let count = || {
                let calls = calls.clone();
                move |_| _ = calls.fetch_add(1, Ordering::SeqCst)
            };
            let semaphore = Semaphore::new(0);
            if callbacks {
                semaphore.on_reached(1, |_| panic!("made by a test"));
            } else {
                semaphore.then(1, |_| panic!("made by a test"));
            }
            semaphore.on_reached(1, count());
            semaphore.then(1, count());
            let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| semaphore.signal(1)));
            assert!(caught.is_err());
            assert_eq!(calls.load(Ordering::SeqCst), 2);
            let other = Semaphore::new(0);
            other.on_reached(1, count());
            other.signal(1).unwrap();
            assert_eq!(calls.load(Ordering::SeqCst), 3);
        }
    }
}
