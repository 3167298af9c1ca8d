//! The one place where the primitives of semaphores and fences are swapped for loom's (see `models.rs`).

#[cfg(not(loom))]
pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

#[cfg(loom)]
pub(crate) use self::model::{Condvar, Mutex, MutexGuard};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// loom's locks in the shape of parking_lot's.
#[cfg(loom)]
mod model {
    use std::ops::{Deref, DerefMut};
    use std::time::Instant;

    #[derive(Default)]
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    pub(crate) struct MutexGuard<'a, T>(Option<loom::sync::MutexGuard<'a, T>>);

    pub(crate) struct Condvar(loom::sync::Condvar);

    pub(crate) struct TimedOut(bool);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Mutex<T> {
            Mutex(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard(Some(self.0.lock().unwrap()))
        }

        pub(crate) fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap()
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            self.0.as_ref().unwrap()
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_mut().unwrap()
        }
    }

    impl Condvar {
        pub(crate) fn new() -> Condvar {
            Condvar(loom::sync::Condvar::new())
        }

        pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            guard.0 = guard.0.take().map(|guard| self.0.wait(guard).unwrap());
        }

        /// Without a limit: time stands still in models.
        pub(crate) fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, _: Instant) -> TimedOut {
            self.wait(guard);
            TimedOut(false)
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    impl TimedOut {
        pub(crate) fn timed_out(&self) -> bool {
            self.0
        }
    }
}
