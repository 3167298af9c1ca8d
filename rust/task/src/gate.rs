//! What sleeping workers wait at: permits to go on.
//!
//! `open` adds permits and wakes as many threads; `wait` takes one, or sleeps until there is one. On Linux the number of
//! permits is a futex: a thread that is woken goes straight on, without a lock that it would have to take again. Elsewhere,
//! and in the models, a lock and a condition variable stand for it; what they promise is the same.

#[cfg(any(loom, not(target_os = "linux")))]
use crate::sync::{Condvar, Mutex};
#[cfg(all(not(loom), target_os = "linux"))]
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(any(loom, not(target_os = "linux")))]
pub(crate) struct Gate {
    permits: Mutex<usize>,
    opened: Condvar,
}

#[cfg(any(loom, not(target_os = "linux")))]
impl Gate {
    pub(crate) fn new() -> Gate {
        Gate { permits: Mutex::new(0), opened: Condvar::new() }
    }

    /// Takes a permit; sleeps until there is one.
    pub(crate) fn wait(&self) {
        let mut permits = self.permits.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        while *permits == 0 {
            permits = self.opened.wait(permits).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        *permits -= 1;
    }

    /// Adds `count` permits and wakes as many threads.
    pub(crate) fn open(&self, count: usize) {
        *self.permits.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += count;
        (0..count).for_each(|_| self.opened.notify_one());
    }
}

#[cfg(all(not(loom), target_os = "linux"))]
pub(crate) struct Gate {
    permits: AtomicU32,
}

#[cfg(all(not(loom), target_os = "linux"))]
impl Gate {
    pub(crate) fn new() -> Gate {
        Gate { permits: AtomicU32::new(0) }
    }

    /// Takes a permit; sleeps until there is one.
    pub(crate) fn wait(&self) {
        let less = |permits: u32| permits.checked_sub(1);
        while self.permits.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_err() {
            let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
            let forever = std::ptr::null::<libc::timespec>();
            // SAFETY: the word is alive for the call; the kernel only compares it. Any outcome leads to another look.
            unsafe { libc::syscall(libc::SYS_futex, self.permits.as_ptr(), operation, 0, forever) };
        }
    }

    /// Adds `count` permits and wakes as many threads.
    pub(crate) fn open(&self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.permits.fetch_add(count, Ordering::SeqCst);
        let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the word is alive for the call; the kernel only uses its address.
        unsafe { libc::syscall(libc::SYS_futex, self.permits.as_ptr(), operation, count) };
    }
}
