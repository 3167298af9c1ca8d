//! The one place where std's primitives are swapped for loom's.
//!
//! What the protocols of sleeping, of scopes and of grids are made of is here; the deques are crossbeam's, which has
//! models of its own. The models are in `models.rs`; run them with `make loom`, or
//! `RUSTFLAGS="--cfg loom" cargo test --release -p tiree-task --lib`.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(loom)]
pub(crate) use loom::thread::{Thread, current, park};

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::thread::{Thread, current, park};

use std::time::{Duration, Instant};

/// As [`spin`], but lets other threads have the processor between two attempts.
pub(crate) fn yielding<R>(time: Duration, mut attempt: impl FnMut() -> Option<R>) -> Option<R> {
    let start = Instant::now();
    while start.elapsed() < time {
        std::thread::yield_now();
        let found = attempt();
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Tries `attempt` until it gives something or `time` is over. Once at most in models, where time stands still.
#[inline]
pub(crate) fn spin<R>(time: Duration, mut attempt: impl FnMut() -> Option<R>) -> Option<R> {
    if time.is_zero() || cfg!(loom) {
        return attempt();
    }
    let start = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return Some(found);
        }
        if start.elapsed() >= time {
            return None;
        }
        for _ in 0..16 {
            std::hint::spin_loop();
        }
    }
}
