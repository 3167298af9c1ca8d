//! What sleeping workers wait at: an epoch that moves when somebody is to wake.
//!
//! On Linux the epoch is a futex: a thread that is woken goes straight on, without a lock that it would have to take
//! again. Elsewhere, and in the models, a lock and a condition variable stand for it; what they promise is the same:
//! `wait` does not sleep when the epoch has moved, and `open` wakes threads that sleep.

use crate::sync::{AtomicU32, Ordering};

#[cfg(any(loom, not(target_os = "linux")))]
use crate::sync::{Condvar, Mutex};

pub(crate) struct Gate {
    epoch: AtomicU32,
    #[cfg(any(loom, not(target_os = "linux")))]
    lock: Mutex<()>,
    #[cfg(any(loom, not(target_os = "linux")))]
    opened: Condvar,
}

impl Gate {
    pub(crate) fn new() -> Gate {
        Gate {
            epoch: AtomicU32::new(0),
            #[cfg(any(loom, not(target_os = "linux")))]
            lock: Mutex::new(()),
            #[cfg(any(loom, not(target_os = "linux")))]
            opened: Condvar::new(),
        }
    }

    pub(crate) fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::SeqCst)
    }
}

#[cfg(any(loom, not(target_os = "linux")))]
impl Gate {
    /// Sleeps until the epoch is no longer `epoch`.
    pub(crate) fn wait(&self, epoch: u32) {
        let mut guard = self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        while self.epoch.load(Ordering::SeqCst) == epoch {
            guard = self.opened.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Moves the epoch and wakes `count` threads.
    pub(crate) fn open(&self, count: usize) {
        {
            let _guard = self.lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            self.epoch.fetch_add(1, Ordering::SeqCst);
        }
        if count == usize::MAX {
            return self.opened.notify_all();
        }
        (0..count).for_each(|_| self.opened.notify_one());
    }
}

#[cfg(all(not(loom), target_os = "linux"))]
impl Gate {
    /// Sleeps until the epoch is no longer `epoch`.
    pub(crate) fn wait(&self, epoch: u32) {
        while self.epoch.load(Ordering::SeqCst) == epoch {
            let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
            let forever = std::ptr::null::<libc::timespec>();
            // SAFETY: the word is alive for the call; the kernel only compares it. Any outcome leads to another look.
            unsafe { libc::syscall(libc::SYS_futex, self.epoch.as_ptr(), operation, epoch, forever) };
        }
    }

    /// Moves the epoch and wakes `count` threads.
    pub(crate) fn open(&self, count: usize) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        // SAFETY: the word is alive for the call; the kernel only uses its address.
        unsafe { libc::syscall(libc::SYS_futex, self.epoch.as_ptr(), operation, count) };
    }
}
