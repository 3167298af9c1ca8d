//! How idle workers sleep and how they are woken: one word that counts *sleepers* and *searchers* (workers that look for
//! work, and workers that have been woken to look for it), and a gate that hands out permits to wake (`gate.rs`).
//!
//! A worker that found nothing:
//! 1. `begin_search`: searchers + 1; it looks at all queues for the spin time;
//! 2. found: `end_search`: searchers - 1, full fence; if it was the last searcher and there is more, it notifies for one;
//! 3. not found: `prepare`: from searcher to sleeper in one step, full fence;
//! 4. looks at all queues once more; work: `cancel` (a searcher again) and back to 1;
//! 5. `commit`: waits for a permit; is then a searcher and goes back to 1.
//!
//! A producer:
//! 1. publishes work in a queue;
//! 2. `notify(n)`: full fence; makes searchers of min(n - searchers, sleepers) sleepers in one step, then gives out as
//!    many permits. So a worker that is on its way counts as a searcher, and further work wakes nobody else meanwhile:
//!    the worker itself wakes the next when it finds more than it takes.
//!
//! Why no wake-up is lost: the fences in `prepare` and `notify` are ordered one way or the other. If prepare's comes
//! first, the producer sees the sleeper, and wakes one unless there is a searcher. If notify's comes first, the worker sees
//! the published work in step 4. A searcher that the producer relied on leaves that state after the producer's look: by 2,
//! whose fence makes it see the work, if it is the last one; or by 3 and 4, which see it as well.
//!
//! Permits are not for a particular worker. Their number is the number of workers that were sleepers, have been made
//! searchers by somebody else, and have not noticed: so whoever finds in `cancel` that no sleeper is counted takes one.

use crate::gate::Gate;
use crate::sync::{AtomicUsize, Ordering, fence};
use crossbeam_utils::CachePadded;

const SEARCHER: usize = 1;
const SLEEPER: usize = 1 << (usize::BITS / 2);

/// See the module head.
pub(crate) struct EventCount {
    gate: Gate,
    /// Sleepers in the upper half, searchers in the lower.
    state: CachePadded<AtomicUsize>,
}

impl EventCount {
    pub(crate) fn new() -> Self {
        Self { gate: Gate::new(), state: CachePadded::new(AtomicUsize::new(0)) }
    }

    /// The calling worker starts to look for work.
    pub(crate) fn begin_search(&self) {
        self.state.fetch_add(SEARCHER, Ordering::SeqCst);
    }

    /// The calling worker stops looking. Returns whether it was the last one that did; it must then look whether there is
    /// more work than it took.
    pub(crate) fn end_search(&self) -> bool {
        let before = self.state.fetch_sub(SEARCHER, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        before % SLEEPER == SEARCHER
    }

    /// The calling searcher is about to sleep; it must look at the queues once more before `commit`.
    pub(crate) fn prepare(&self) {
        self.state.fetch_add(SLEEPER - SEARCHER, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Takes `prepare` back: the caller is a searcher again.
    pub(crate) fn cancel(&self) {
        if self.claim(|_, sleepers| sleepers.min(1)) == 0 {
            // A producer has made a searcher of the last sleeper counted, which must then be this one or stand for it.
            self.gate.wait();
        }
    }

    /// Sleeps until woken by a notification that came after `prepare`; the caller is a searcher then.
    pub(crate) fn commit(&self) {
        self.gate.wait();
    }

    /// Makes sure that `count` published items find a worker. Costs a fence and a load when nobody has to be woken.
    pub(crate) fn notify(&self, count: usize) {
        fence(Ordering::SeqCst);
        self.wake(|searchers, sleepers| count.saturating_sub(searchers).min(sleepers));
    }

    /// Wakes everybody (shutdown).
    pub(crate) fn notify_all(&self) {
        fence(Ordering::SeqCst);
        self.wake(|_, sleepers| sleepers);
    }

    fn wake(&self, count: impl Fn(usize, usize) -> usize) {
        let woken = self.claim(count);
        if woken > 0 {
            self.gate.open(woken);
        }
    }

    /// Makes searchers of as many sleepers as `count` says for (searchers, sleepers). How many those were.
    fn claim(&self, count: impl Fn(usize, usize) -> usize) -> usize {
        let mut state = self.state.load(Ordering::SeqCst);
        loop {
            let claimed = count(state % SLEEPER, state / SLEEPER);
            if claimed == 0 {
                return 0;
            }
            let next = state - claimed * (SLEEPER - SEARCHER);
            match self.state.compare_exchange(state, next, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return claimed,
                Err(now) => state = now,
            }
        }
    }
}
