//! The protocols under loom: every interleaving of a few threads is tried, with every value that a relaxed load may give.
//!
//! A wake-up that is lost shows as a deadlock, which loom reports; so does a worker that does not leave.

use crate::error::Error;
use crate::executor::Priority;
use crate::grid::{Body, GridShared, Participant};
use crate::scope::Scope;
use crate::sleep::EventCount;
use crate::worker::run_task;
use crate::worker_loop::{self, Source};
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

type Task = Box<dyn FnOnce() + Send>;

/// A pool as `worker_loop` sees it, with one queue that loom knows.
struct Pool {
    queue: Mutex<VecDeque<(Task, Option<Scope>)>>,
    events: EventCount,
    shutdown: AtomicBool,
}

impl Pool {
    fn new() -> Arc<Pool> {
        let queue = Mutex::new(VecDeque::new());
        Arc::new(Pool { queue, events: EventCount::new(), shutdown: AtomicBool::new(false) })
    }

    fn start(this: &Arc<Pool>) -> thread::JoinHandle<()> {
        let pool = this.clone();
        thread::spawn(move || worker_loop::work(&*pool, &pool.events, &pool.shutdown, Duration::ZERO))
    }

    fn spawn(&self, scope: Option<&Scope>, task: impl FnOnce() + Send + 'static) {
        if let Some(scope) = scope {
            scope.begin();
        }
        self.queue.lock().unwrap().push_back((Box::new(task), scope.cloned()));
        self.events.notify(1);
    }

    fn shut_down(&self) {
        self.shutdown.store(true, Ordering::SeqCst);
        self.events.notify_all();
    }
}

impl Source for Pool {
    type Work = (Task, Option<Scope>);

    fn find(&self) -> Option<Self::Work> {
        self.queue.lock().unwrap().pop_front()
    }

    fn has_work(&self) -> bool {
        !self.queue.lock().unwrap().is_empty()
    }

    fn run(&self, (task, scope): Self::Work) {
        run_task(task, scope);
    }
}

/// Tries interleavings with at most `preemptions` switches that no thread asked for: with so few threads, two find what
/// there is, and the whole space would take hours.
fn model(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(builder.preemption_bound.unwrap_or(preemptions));
    builder.check(body);
}

fn count(counter: &Arc<AtomicUsize>) -> impl FnOnce() + Send + 'static {
    let counter = counter.clone();
    move || _ = counter.fetch_add(1, Ordering::Relaxed)
}

/// What a worker does with an event count, for one item of a queue that is only a relaxed number: all order comes from
/// the event count.
fn take_one(events: &EventCount, items: &AtomicUsize) {
    events.begin_search();
    while items.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |items| items.checked_sub(1)).is_err() {
        events.prepare();
        if items.load(Ordering::Relaxed) > 0 {
            events.cancel();
        } else {
            events.commit();
        }
    }
    if events.end_search() && items.load(Ordering::Relaxed) > 0 {
        events.notify(1);
    }
}

/// Starts `workers` that take an item each, and publishes as many, one at a time. None of them comes back for a second:
/// an item that everybody else was relied on for would never be taken.
fn publish(workers: usize) {
    let (events, items) = (Arc::new(EventCount::new()), Arc::new(AtomicUsize::new(0)));
    let workers: Vec<_> = (0..workers)
        .map(|_| {
            let (events, items) = (events.clone(), items.clone());
            thread::spawn(move || take_one(&events, &items))
        })
        .collect();
    for _ in 0..workers.len() {
        items.fetch_add(1, Ordering::Relaxed);
        events.notify(1);
    }
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

/// The bare event count: one thread that goes to sleep, one that publishes. All interleavings.
#[test]
fn no_wake_up_is_lost() {
    loom::model(|| publish(1));
}

/// A worker on its way counts as a searcher, so that nobody else is woken for the second item; it passes the wake-up on.
#[test]
fn a_searcher_that_finds_more_passes_the_wake_up_on() {
    model(3, || publish(2));
}

/// A sleeping worker runs what is spawned, without a shutdown that would wake it anyway.
#[test]
fn a_sleeping_worker_wakes_for_a_task() {
    model(3, || {
        let pool = Pool::new();
        let worker = Pool::start(&pool);
        let leave = {
            let pool = pool.clone();
            move || pool.shutdown.store(true, Ordering::SeqCst)
        };
        pool.spawn(None, leave);
        worker.join().unwrap();
    });
}

/// Two workers that search while two tasks come: neither task waits for somebody to come back. Nobody is woken for the
/// shutdown, which would hide that a worker was left asleep.
#[test]
fn two_tasks_find_two_workers() {
    model(2, || {
        let pool = Pool::new();
        let workers = [Pool::start(&pool), Pool::start(&pool)];
        let meeting = Arc::new((Mutex::new(0), loom::sync::Condvar::new()));
        for _ in 0..2 {
            let (meeting, inner) = (meeting.clone(), pool.clone());
            // Each task waits for the other: with one of the workers asleep this would not end.
            pool.spawn(None, move || {
                let mut here = meeting.0.lock().unwrap();
                *here += 1;
                meeting.1.notify_all();
                while *here < 2 {
                    here = meeting.1.wait(here).unwrap();
                }
                inner.shutdown.store(true, Ordering::SeqCst);
            });
        }
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// All workers leave, and not before the queue is empty.
#[test]
fn shutdown_runs_what_is_queued_and_ends_every_worker() {
    model(2, || {
        let pool = Pool::new();
        let workers = [Pool::start(&pool), Pool::start(&pool)];
        let runs = Arc::new(AtomicUsize::new(0));
        pool.spawn(None, count(&runs));
        pool.spawn(None, count(&runs));
        pool.shut_down();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(runs.load(Ordering::Relaxed), 2);
    });
}

/// A task that adds a task while the pool shuts down: that one runs too.
#[test]
fn shutdown_waits_for_tasks_of_tasks() {
    model(2, || {
        let pool = Pool::new();
        let worker = Pool::start(&pool);
        let runs = Arc::new(AtomicUsize::new(0));
        let outer = {
            let (pool, runs) = (pool.clone(), runs.clone());
            move || pool.spawn(None, count(&runs))
        };
        pool.spawn(None, outer);
        pool.shut_down();
        worker.join().unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    });
}

/// Whoever waits for a scope wakes when its last task ends, and sees what the tasks wrote.
#[test]
fn a_scope_is_idle_when_all_tasks_have_ended() {
    model(3, || {
        let scope = Scope::new();
        let written = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|index| {
                scope.begin();
                let (scope, written) = (scope.clone(), written.clone());
                thread::spawn(move || {
                    written.fetch_add(1, Ordering::Relaxed);
                    scope.end(if index == 0 { Ok(()) } else { Err(Error::ShutDown) });
                })
            })
            .collect();
        assert!(scope.wait_idle(None));
        assert_eq!((scope.pending(), written.load(Ordering::Relaxed)), (0, 2));
        assert_eq!(scope.failure(), Some(Error::ShutDown));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A panic ends its task, not its worker: it is the scope's failure, and the next task runs.
#[test]
fn a_panic_is_reported_and_the_worker_goes_on() {
    model(2, || {
        let pool = Pool::new();
        let worker = Pool::start(&pool);
        let (scope, runs) = (Scope::new(), Arc::new(AtomicUsize::new(0)));
        // Raised without the hook that prints: it is called thousands of times.
        pool.spawn(Some(&scope), || std::panic::resume_unwind(Box::new("bad")));
        pool.spawn(Some(&scope), count(&runs));
        assert!(scope.wait_idle(None));
        assert_eq!(scope.failure(), Some(Error::Panicked("bad".into())));
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        pool.shut_down();
        worker.join().unwrap();
    });
}

fn participant(index: usize) -> Participant {
    Participant { index, worker_count: 2, local_memory_limit: 0 }
}

/// Runs a grid of `tiles` on the owner and one helper. How often each tile ran.
fn run_grid(tiles: u64, fails: Option<u64>) -> (Vec<usize>, Result<(), Error>) {
    // A late unpark must not meet a join, which loom takes for the same thing: the owner is a thread that joins nobody.
    let owner = thread::spawn(move || {
        let runs: Vec<AtomicUsize> = (0..tiles).map(|_| AtomicUsize::new(0)).collect();
        let closure = |_: &Participant, range: Range<u64>| {
            for tile in range {
                runs[tile as usize].fetch_add(1, Ordering::Relaxed);
                if fails == Some(tile) {
                    std::panic::resume_unwind(Box::new("tile"));
                }
            }
            Ok::<(), Error>(())
        };
        let body = Body::new(&closure);
        let grid = std::sync::Arc::new(GridShared::new(&body, 0..tiles, 2, Priority::Normal));
        let helper = {
            let grid = grid.clone();
            thread::spawn(move || grid.participate(&participant(1), &()))
        };
        grid.participate(&participant(0), &());
        grid.wait_done();
        // From here on the helper may touch counters only.
        let result = body.into_result();
        (runs.iter().map(|run| run.load(Ordering::Relaxed)).collect(), result, helper)
    });
    let (seen, result, helper) = owner.join().unwrap();
    helper.join().unwrap();
    (seen, result)
}

/// Every tile runs once, and the owner leaves after the last, whether the helper comes early, late or not at all.
#[test]
fn the_owner_of_a_grid_leaves_after_every_tile_has_run_once() {
    model(3, || {
        let (runs, result) = run_grid(3, None);
        assert_eq!((runs, result), (vec![1; 3], Ok(())));
    });
}

/// A panic in a tile is the grid's error; the owner still leaves.
#[test]
fn a_panic_in_a_tile_ends_the_grid() {
    model(3, || {
        let (runs, result) = run_grid(2, Some(1));
        assert!(runs[0] <= 1 && runs[1] == 1);
        assert_eq!(result, Err(Error::Panicked("tile".into())));
    });
}
