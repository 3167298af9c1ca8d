//! Memory that comes and goes with queue operations.

use crate::memory::{Block, Kind, Pool};
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tiree_vm::{Charge, Result, Status};

/// Memory that an alloca brings and a dealloca takes, the latter only when no mapping or execution uses it any more.
///
/// `state` is a phase and, in steps of [`PIN`], the number of users. Who changes the phase to BUSY, or leaves READY with
/// no users left, owns `memory` until the next store.
pub(crate) struct Transient {
    state: AtomicU64,
    memory: UnsafeCell<Slot>,
}

enum Slot {
    /// Where memory will come from, and what has been taken for it.
    Pool(Arc<Pool>, Kind, Option<Charge>),
    Block(Block),
    Empty,
}

const PENDING: u64 = 0;
/// The alloca is running.
const BUSY: u64 = 1;
/// The alloca found no memory.
const FAILED: u64 = 2;
const READY: u64 = 3;
const RELEASED: u64 = 4;
const PHASE: u64 = 7;
const PIN: u64 = 8;

// SAFETY: how threads share the slot is described above; what it holds can be sent.
unsafe impl Sync for Transient {}

impl Transient {
    /// Memory of `pool`, once an alloca has run.
    pub(crate) fn pending(pool: Arc<Pool>, kind: Kind, charge: Option<Charge>) -> Transient {
        Transient { state: AtomicU64::new(PENDING), memory: UnsafeCell::new(Slot::Pool(pool, kind, charge)) }
    }

    /// Gets the memory, if it has not been had or given back before.
    pub(crate) fn commit(&self, length: usize) -> Result<()> {
        if self.state.compare_exchange(PENDING, BUSY, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return Ok(());
        }
        // SAFETY: the phase was changed to BUSY here, so nobody else touches the slot.
        let slot = unsafe { &mut *self.memory.get() };
        let allocated = match std::mem::replace(slot, Slot::Empty) {
            Slot::Pool(pool, kind, charge) => pool.allocate(length, kind).map(|block| block.charged(charge)),
            _ => Err(Status::internal("a transient buffer without a pool")),
        };
        match allocated {
            Ok(block) => {
                *slot = Slot::Block(block);
                self.state.store(READY, Ordering::Release);
                Ok(())
            }
            Err(status) => {
                self.state.store(FAILED, Ordering::Release);
                Err(status)
            }
        }
    }

    /// Gives the memory back as soon as nobody uses it.
    pub(crate) fn release(&self) {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let next = match state & PHASE {
                RELEASED | FAILED => return,
                // A program that gives back what it has not waited for; it takes a moment.
                BUSY => {
                    std::thread::yield_now();
                    state = self.state.load(Ordering::Relaxed);
                    continue;
                }
                _ => state & !PHASE | RELEASED,
            };
            match self.state.compare_exchange_weak(state, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if state == READY => return self.empty(),
                Ok(_) => return,
                Err(now) => state = now,
            }
        }
    }

    /// Keeps the memory until [`unpin`](Self::unpin).
    #[inline]
    pub(crate) fn pin(&self) -> Result<NonNull<u8>> {
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            if state & PHASE != READY {
                return Err(no_memory(state & PHASE));
            }
            // Acquire: what commit wrote is seen.
            match self.state.compare_exchange_weak(state, state + PIN, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        // SAFETY: while pinned, the slot holds the block and nobody changes it.
        match unsafe { &*self.memory.get() } {
            Slot::Block(block) => Ok(block.as_ptr()),
            _ => Err(Status::internal("a transient buffer without memory")),
        }
    }

    #[inline]
    pub(crate) fn unpin(&self) {
        // Release: whatever was done to the memory happens before it is given back.
        if self.state.fetch_sub(PIN, Ordering::AcqRel) == RELEASED | PIN {
            self.empty();
        }
    }

    fn empty(&self) {
        // SAFETY: the phase is RELEASED and there are no users, which only one thread brings about.
        let block = std::mem::replace(unsafe { &mut *self.memory.get() }, Slot::Empty);
        drop(block);
    }
}

#[cold]
fn no_memory(phase: u64) -> Status {
    Status::failed_precondition(match phase {
        RELEASED => "the buffer has no memory any more: it was given back with queue.dealloca",
        FAILED => "the buffer has no memory: its queue.alloca failed",
        _ => "the buffer has no memory yet: its queue.alloca has not run; wait for the fence that it signals",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Memory that is pinned stays, whoever gives it back meanwhile, and goes when the last user is gone.
    #[test]
    fn users_and_release_race() {
        let pool = Pool::new();
        for _ in 0..300 {
            let transient = Transient::pending(pool.clone(), Kind::Device, None);
            assert!(transient.pin().is_err());
            transient.commit(64).unwrap();
            let seen = AtomicBool::new(false);
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        while let Ok(data) = transient.pin() {
                            seen.store(true, Ordering::Relaxed);
                            // SAFETY: pinned, and the other thread only reads as well.
                            assert_eq!(unsafe { *data.as_ptr() }, 0);
                            transient.unpin();
                        }
                    });
                }
                while !seen.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                transient.release();
            });
            transient.release();
            assert!(transient.commit(64).is_ok() && transient.pin().is_err());
            let statistics = pool.statistics();
            assert_eq!(statistics.device.allocated, statistics.device.freed);
        }
    }
}
