//! What a worker does between being started and leaving: the worker's half of the sleep protocol (see `sleep.rs`).
//!
//! It is generic over where work comes from, so that the models run this very code with a queue that loom can look into.
//!
//! A worker repeats:
//! 1. `find`: its own deque, the injectors, the deques of the others;
//! 2. nothing there: it is a searcher and looks again for a while, see [`Patience`];
//! 3. nothing there either: it announces its sleep, looks once more, and then
//!    * searches again, if there is something after all;
//!    * leaves, if the pool is shutting down;
//!    * sleeps, otherwise, and is a searcher when it wakes.
//!
//! Shutdown loses nothing: the flag is set after the last push from outside and before everybody is woken, and a worker
//! leaves only when a look at all queues *after* it saw the flag found nothing. Work that a running task adds is found by
//! the worker that ran it, which comes back to step 1.

use crate::sleep::EventCount;
use crate::sync::{AtomicBool, Ordering, spin, yielding};
use std::cell::Cell;
use std::time::Duration;

/// Where a worker finds its work, and how it runs it.
pub(crate) trait Source {
    type Work;
    /// Takes something to do.
    fn find(&self) -> Option<Self::Work>;
    /// Whether `find` would find something; may be wrong while others push or take.
    fn has_work(&self) -> bool;
    /// Does it. Does not unwind.
    fn run(&self, work: Self::Work);
}

/// How long a worker looks for work before it sleeps: for the spin time, and after that for twice as long while it lets
/// others have the processor, as long as one of the last searches found something. Work often comes when somebody has
/// been woken by the end of the work before, and to be woken takes about as long as the spin time.
struct Patience {
    spin: Duration,
    /// Searches that found nothing since the last one that did.
    misses: Cell<u32>,
}

impl Patience {
    /// Misses after which a worker does without the second part.
    const FEW: u32 = 4;
    /// Of so many searches one tries it then.
    const AGAIN: u32 = 16;

    fn look<R>(&self, mut attempt: impl FnMut() -> Option<R>) -> Option<R> {
        let misses = self.misses.get();
        let found = spin(self.spin, &mut attempt).or_else(|| {
            let longer = !self.spin.is_zero() && (misses < Self::FEW || misses.is_multiple_of(Self::AGAIN));
            if longer { yielding(2 * self.spin, &mut attempt) } else { None }
        });
        self.misses.set(if found.is_some() { 0 } else { misses.wrapping_add(1) });
        found
    }
}

/// Works until `shutdown` is set and nothing is left.
pub(crate) fn work(source: &impl Source, events: &EventCount, shutdown: &AtomicBool, spin_time: Duration) {
    let patience = Patience { spin: spin_time, misses: Cell::new(0) };
    while let Some(work) = source.find().or_else(|| search(source, events, shutdown, &patience)) {
        source.run(work);
    }
}

/// Looks for work until there is some, asleep when that takes long; None when the worker has to leave.
fn search<S: Source>(source: &S, events: &EventCount, shutdown: &AtomicBool, patience: &Patience) -> Option<S::Work> {
    events.begin_search();
    loop {
        let found = patience.look(|| match source.find() {
            Some(work) => Some(Some(work)),
            None => shutdown.load(Ordering::Relaxed).then_some(None),
        });
        if let Some(work) = found.flatten() {
            // Producers may have counted on this search for more than this.
            if events.end_search() && source.has_work() {
                events.notify(1);
            }
            return Some(work);
        }
        events.prepare();
        // Read before the look at the queues: what was queued before the flag was set must be seen by that look.
        let leaving = shutdown.load(Ordering::SeqCst);
        if source.has_work() {
            events.cancel();
        } else if leaving {
            events.cancel();
            events.end_search();
            return None;
        } else {
            events.commit();
        }
    }
}
