//! How idle workers sleep and how they are woken: an event count.
//!
//! The state is an epoch (moved by every wake-up that found a sleeper, see `gate.rs`), a count of sleepers and a count of
//! searchers (workers that spin over the queues).
//!
//! A worker that found nothing:
//! 1. has been a searcher (`begin_search`); it looks at all queues for the spin time;
//! 2. `end_search`: searchers -= 1;
//! 3. `prepare`: sleepers += 1, full fence, reads the epoch;
//! 4. looks at all queues once more; finds work: `cancel` (sleepers -= 1) and works;
//! 5. `commit`: waits at the gate while the epoch is still the one read in 3; then sleepers -= 1.
//!
//! A producer:
//! 1. publishes work in a queue;
//! 2. `notify(n)`: full fence; reads searchers and sleepers; opens the gate (the epoch moves) for
//!    min(n - searchers, sleepers).
//!
//! Why no wake-up is lost: the fences in `prepare` and `notify` are ordered one way or the other. If prepare's comes
//! first, the producer sees the sleeper and moves the epoch; the worker read the epoch before that (then commit sees a
//! change, or is signalled) or after (then it also sees the published work in step 4). If notify's comes first, the
//! worker sees the published work in step 4. A searcher that the producer relied on does steps 2 to 4 after the
//! producer's read, so it sees the work as well. A searcher that takes *one* item of two passes the wake-up on when it was
//! the last searcher (see `worker_loop.rs`).

use crate::gate::Gate;
use crate::sync::{AtomicUsize, Ordering, fence};
use crossbeam_utils::CachePadded;

/// See the module head.
pub(crate) struct EventCount {
    gate: Gate,
    sleepers: CachePadded<AtomicUsize>,
    searchers: CachePadded<AtomicUsize>,
}

impl EventCount {
    pub(crate) fn new() -> Self {
        Self {
            gate: Gate::new(),
            sleepers: CachePadded::new(AtomicUsize::new(0)),
            searchers: CachePadded::new(AtomicUsize::new(0)),
        }
    }

    /// The calling worker starts to spin over the queues.
    pub(crate) fn begin_search(&self) {
        self.searchers.fetch_add(1, Ordering::SeqCst);
    }

    /// The calling worker stops spinning. Returns whether it was the last one that did.
    pub(crate) fn end_search(&self) -> bool {
        self.searchers.fetch_sub(1, Ordering::SeqCst) == 1
    }

    /// Announces that the caller is about to sleep; it must look at the queues once more before `commit`.
    pub(crate) fn prepare(&self) -> u32 {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.gate.epoch()
    }

    /// Takes the announcement of `prepare` back.
    pub(crate) fn cancel(&self) {
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Sleeps until a wake-up that came after `prepare` returned `epoch`.
    pub(crate) fn commit(&self, epoch: u32) {
        self.gate.wait(epoch);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Makes sure that `count` published items find a worker. Costs a fence and two loads when nobody sleeps.
    pub(crate) fn notify(&self, count: usize) {
        fence(Ordering::SeqCst);
        let sleepers = self.sleepers.load(Ordering::SeqCst);
        if sleepers == 0 {
            return;
        }
        let searchers = self.searchers.load(Ordering::SeqCst);
        let wake = count.saturating_sub(searchers).min(sleepers);
        if wake > 0 {
            self.gate.open(wake);
        }
    }

    /// Wakes everybody, whatever they wait for (shutdown).
    pub(crate) fn notify_all(&self) {
        fence(Ordering::SeqCst);
        self.gate.open(usize::MAX);
    }
}
