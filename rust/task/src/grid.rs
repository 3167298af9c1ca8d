//! Fork-join grids: tiles of one closure shared out over the caller and the workers.
//!
//! A grid's tiles are cut into one contiguous shard per participant, so that successive grids over the same data meet
//! the same caches. A participant claims from its own shard first and then from the others, a few tiles at a time.
//!
//! Lifetime rule that makes the erased closure sound: the closure is only called for claimed tiles, `remaining` is
//! lowered only after a claimed range returned, and the owner leaves `run` only when `remaining` is zero. A late helper
//! that still holds the `Arc` finds nothing to claim and touches counters only.

use crate::error::{Error, from_panic};
use crate::executor::Priority;
use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, Thread, current, park, spin};
use crossbeam_utils::CachePadded;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Work estimated to be shorter than this is not worth a wake-up.
pub(crate) const PUBLISH_THRESHOLD: Duration = Duration::from_micros(15);
/// How long the owner of a grid spins for the last helpers before it parks.
const OWNER_SPIN: Duration = Duration::from_micros(20);
const MAX_CLAIM: u64 = 8;
/// Bit of `remaining`: the owner sleeps, or is about to.
const PARKED: u64 = 1 << 63;

/// The thread that runs a range of tiles, as the closure sees it.
#[derive(Clone, Copy, Debug)]
pub struct Participant {
    /// Index of the worker; a thread from outside the pool has the index `worker_count`.
    pub index: usize,
    /// Workers of the executor.
    pub worker_count: usize,
    /// Bytes of local memory a tile may ask for (see [`crate::with_local_memory`]).
    pub local_memory_limit: usize,
}

/// Work that comes between two claims.
pub(crate) trait Urgent {
    /// Whether there is some; may be wrong while others push or take.
    fn waits(&self) -> bool;
    /// Runs it.
    fn run(&self);
}

/// There is none for threads outside of the pool.
impl Urgent for () {
    fn waits(&self) -> bool {
        false
    }

    fn run(&self) {}
}

struct Shard {
    next: AtomicU64,
    end: u64,
}

/// What helpers need of a grid. The closure behind `data` outlives every call made through it (module head).
pub(crate) struct GridShared {
    shards: Box<[CachePadded<Shard>]>,
    /// Tiles not yet run, and [`PARKED`].
    remaining: CachePadded<AtomicU64>,
    participants: AtomicUsize,
    max_participants: usize,
    claim: u64,
    failed: AtomicBool,
    /// Workers look for urgent work between claims.
    interruptible: bool,
    owner: Thread,
    data: *const (),
    call: unsafe fn(*const (), &Participant, Range<u64>) -> bool,
}

// SAFETY: `data` points at a `Body<F, E>` whose closure is Sync and whose error slot is a Mutex; it is only reached
// through `call` under the lifetime rule of the module head.
unsafe impl Send for GridShared {}
// SAFETY: as above.
unsafe impl Sync for GridShared {}

/// The closure together with the slot for its first error, on the owner's stack.
pub(crate) struct Body<'a, F, E> {
    closure: &'a F,
    error: Mutex<Option<E>>,
}

impl<'a, F, E> Body<'a, F, E>
where
    F: Fn(&Participant, Range<u64>) -> Result<(), E> + Sync,
    E: Send + From<Error>,
{
    pub(crate) fn new(closure: &'a F) -> Self {
        Body { closure, error: Mutex::new(None) }
    }

    /// Runs `tiles`; false (with the error kept) when the closure failed or panicked.
    pub(crate) fn run(&self, participant: &Participant, tiles: Range<u64>) -> bool {
        let error = match catch_unwind(AssertUnwindSafe(|| (self.closure)(participant, tiles))) {
            Ok(Ok(())) => return true,
            Ok(Err(error)) => error,
            Err(payload) => E::from(from_panic(payload)),
        };
        self.error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
        false
    }

    pub(crate) fn into_result(self) -> Result<(), E> {
        match self.error.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            None => Ok(()),
            Some(error) => Err(error),
        }
    }

    /// Calls `run` on the body behind an erased pointer.
    ///
    /// # Safety
    /// `data` must point at a live `Body<F, E>` of exactly these type arguments.
    unsafe fn run_erased(data: *const (), participant: &Participant, tiles: Range<u64>) -> bool {
        // SAFETY: the caller promises that `data` is a live Self.
        let body = unsafe { &*data.cast::<Self>() };
        body.run(participant, tiles)
    }

    /// Runs tiles on the calling thread until all are done (None) or what is left looks long enough to share out
    /// (Some(first tile left)). Also stops, with None, at the first failure.
    pub(crate) fn run_inline(&self, participant: &Participant, count: u64, may_share: bool) -> Option<u64> {
        if !may_share {
            self.run(participant, 0..count);
            return None;
        }
        let start = Instant::now();
        let (mut done, mut step) = (0, 1);
        while done < count {
            let end = count.min(done + step);
            if !self.run(participant, done..end) {
                return None;
            }
            done = end;
            let left = count - done;
            // Estimate: what is left costs as much per tile as what was done.
            let spent = start.elapsed();
            if left > 1 && spent.as_nanos() * u128::from(left) > PUBLISH_THRESHOLD.as_nanos() * u128::from(done) {
                return Some(done);
            }
            step = done;
        }
        None
    }
}

impl GridShared {
    pub(crate) fn new<F, E>(
        body: &Body<'_, F, E>,
        tiles: Range<u64>,
        max_participants: usize,
        priority: Priority,
    ) -> Self
    where
        F: Fn(&Participant, Range<u64>) -> Result<(), E> + Sync,
        E: Send + From<Error>,
    {
        let count = tiles.end - tiles.start;
        let shard_count = (max_participants as u64).min(count).max(1);
        let bound = |index: u64| tiles.start + (u128::from(count) * u128::from(index) / u128::from(shard_count)) as u64;
        let shards = (0..shard_count)
            .map(|index| CachePadded::new(Shard { next: AtomicU64::new(bound(index)), end: bound(index + 1) }))
            .collect();
        Self {
            shards,
            remaining: CachePadded::new(AtomicU64::new(count)),
            participants: AtomicUsize::new(0),
            max_participants,
            claim: (count / (shard_count * 8)).clamp(1, MAX_CLAIM),
            failed: AtomicBool::new(false),
            interruptible: priority == Priority::Normal,
            owner: current(),
            data: std::ptr::from_ref(body).cast(),
            call: Body::<F, E>::run_erased,
        }
    }

    /// Takes part until nothing is left to claim. Called by the owner and by helpers. `urgent` is looked at between claims
    /// unless the grid is urgent itself.
    pub(crate) fn participate(&self, participant: &Participant, urgent: &impl Urgent) {
        if self.participants.fetch_add(1, Ordering::Relaxed) < self.max_participants {
            let first = participant.index % self.shards.len();
            for offset in 0..self.shards.len() {
                self.drain_shard(&self.shards[(first + offset) % self.shards.len()], participant, urgent);
            }
        }
        self.participants.fetch_sub(1, Ordering::Relaxed);
    }

    fn drain_shard(&self, shard: &Shard, participant: &Participant, urgent: &impl Urgent) {
        // Counted at the end of the shard: all participants share the counter's cache line.
        let mut done = 0;
        loop {
            // The load keeps late helpers from pushing the counter up without bound.
            if shard.next.load(Ordering::Relaxed) >= shard.end {
                break;
            }
            let start = shard.next.fetch_add(self.claim, Ordering::Relaxed);
            if start >= shard.end {
                break;
            }
            let end = shard.end.min(start + self.claim);
            // After a failure the rest is only counted down, so that the owner can leave.
            if !self.failed.load(Ordering::Relaxed) {
                // SAFETY: tiles start..end are claimed and not yet subtracted from `remaining`, so the owner still
                // holds the body (module head); `call` and `data` were made together in `new`.
                let ok = unsafe { (self.call)(self.data, participant, start..end) };
                if !ok {
                    self.failed.store(true, Ordering::Relaxed);
                }
            }
            done += end - start;
            if self.interruptible && urgent.waits() {
                // The owner does not wait for what comes between.
                self.count_down(std::mem::take(&mut done));
                urgent.run();
            }
        }
        self.count_down(done);
    }

    /// `done` tiles have been run, or skipped.
    fn count_down(&self, done: u64) {
        // Release: everything the tiles wrote is visible to the owner, which loads with Acquire.
        if done > 0 && self.remaining.fetch_sub(done, Ordering::AcqRel) == done | PARKED {
            self.owner.unpark();
        }
    }

    /// Blocks the owner until every tile has been run.
    pub(crate) fn wait_done(&self) {
        let done = || (self.remaining.load(Ordering::Acquire) == 0).then_some(());
        if spin(OWNER_SPIN, done).is_some() {
            return;
        }
        // One word holds both, so either the owner sees that nothing remains or whoever runs the last tile sees it parked.
        let mut remaining = self.remaining.fetch_or(PARKED, Ordering::AcqRel);
        while remaining & !PARKED != 0 {
            park();
            remaining = self.remaining.load(Ordering::Acquire);
        }
    }
}
