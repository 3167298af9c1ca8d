//! A lock that a forked child can take although a thread that does not exist there may have held it.
//!
//! `fork` copies memory with whatever locks other threads hold at that moment, and only the forking thread lives on in
//! the child. The first use of the lock there replaces it: what it protects is taken over if nobody was changing it, and
//! renewed otherwise, because a change may have been half done.

use parking_lot::{Mutex, MutexGuard};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};
use tiree_task::fork_generation;

/// What a [`ForkLock`] protects.
pub(crate) trait Renew: Send {
    /// A value to go on with in a child, when this one was being changed: its parts may contradict each other and must
    /// not be dropped; only plain numbers may be read.
    fn renewed(&self) -> Self;
}

/// See the module head.
pub(crate) struct ForkLock<T> {
    lock: UnsafeCell<Mutex<T>>,
    /// The fork generation in which the lock can be used.
    ready: AtomicU64,
    /// The generation for which a thread is making it usable.
    claimed: AtomicU64,
}

// SAFETY: the lock is used as a `Mutex<T>`, which is Sync; the one write to it is described in `replace`.
unsafe impl<T: Send> Sync for ForkLock<T> {}

impl<T: Renew> ForkLock<T> {
    pub(crate) fn new(value: T) -> ForkLock<T> {
        let generation = AtomicU64::new(fork_generation());
        let claimed = AtomicU64::new(generation.load(Ordering::Relaxed));
        ForkLock { lock: UnsafeCell::new(Mutex::new(value)), ready: generation, claimed }
    }

    /// As `Mutex::lock`.
    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        let generation = fork_generation();
        if self.ready.load(Ordering::Acquire) != generation {
            self.prepare(generation);
        }
        // SAFETY: in this generation nobody writes the lock any more.
        unsafe { &*self.lock.get() }.lock()
    }

    /// Makes the lock usable in this process: one thread does, the others wait.
    #[cold]
    fn prepare(&self, generation: u64) {
        let before = self.ready.load(Ordering::Acquire);
        // A thread of the parent may have been about to do this: what counts is who claims this generation.
        let claimed = self.claimed.fetch_max(generation, Ordering::AcqRel);
        if before != generation && claimed != generation {
            self.replace();
            self.ready.store(generation, Ordering::Release);
        }
        while self.ready.load(Ordering::Acquire) != generation {
            std::thread::yield_now();
        }
    }

    fn replace(&self) {
        // SAFETY: only the thread that claimed the generation comes here, once, and all others wait until it is done:
        // threads of the parent, which may hold a guard or wait for one, are not in this process.
        unsafe {
            let lock = self.lock.get();
            let value = match (*lock).try_lock() {
                Some(guard) => {
                    let value = std::ptr::read(&raw const *guard);
                    std::mem::forget(guard);
                    value
                }
                None => (*(*lock).data_ptr()).renewed(),
            };
            // The old lock is forgotten, not dropped: it may say that threads wait for it, and its value was moved or
            // is in the middle of a change.
            std::ptr::write(lock.cast::<MaybeUninit<Mutex<T>>>(), MaybeUninit::new(Mutex::new(value)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pair(u32, u32);

    impl Renew for Pair {
        fn renewed(&self) -> Pair {
            Pair(100, 100)
        }
    }

    #[test]
    fn a_free_lock_keeps_its_value() {
        let lock = ForkLock::new(Pair(1, 2));
        lock.lock().0 = 7;
        lock.replace(); // As the first use in a child does.
        let pair = lock.lock();
        assert_eq!((pair.0, pair.1), (7, 2));
    }

    #[test]
    fn a_held_lock_is_renewed() {
        let lock = ForkLock::new(Pair(1, 2));
        std::mem::forget(lock.lock());
        lock.replace(); // As the first use in a child does.
        let pair = lock.lock();
        assert_eq!((pair.0, pair.1), (100, 100));
    }

    #[test]
    fn it_excludes() {
        let lock = ForkLock::new(Pair(0, 0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        let mut pair = lock.lock();
                        pair.0 += 1;
                        pair.1 = pair.0;
                    }
                });
            }
        });
        let pair = lock.lock();
        assert_eq!((pair.0, pair.1), (40_000, 40_000));
    }
}
