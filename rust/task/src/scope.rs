//! Scopes: count detached tasks, keep their first failure, wait until none is left.
//!
//! Counting takes no lock. Whoever counts the last task as ended takes the lock once before it signals: a waiter looks at
//! the count under the lock before it sleeps, so it sees zero or is woken.

use crate::error::Error;
use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};
use std::sync::Arc;
use std::time::Instant;

/// A group of detached tasks. Cloning gives another handle to the same group.
#[derive(Clone)]
pub struct Scope {
    shared: Arc<Shared>,
}

struct Shared {
    pending: AtomicUsize,
    failure: Mutex<Option<Error>>,
    idle: Condvar,
}

impl Default for Scope {
    fn default() -> Self {
        Scope::new()
    }
}

impl Scope {
    /// An empty scope.
    pub fn new() -> Self {
        let shared = Shared { pending: AtomicUsize::new(0), failure: Mutex::new(None), idle: Condvar::new() };
        Scope { shared: Arc::new(shared) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Error>> {
        self.shared.failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Counts one more task.
    pub(crate) fn begin(&self) {
        self.shared.pending.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one task as ended, keeping the first failure of the scope.
    pub(crate) fn end(&self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.lock().get_or_insert(error);
        }
        // Release: whoever sees zero sees what the tasks wrote.
        if self.shared.pending.fetch_sub(1, Ordering::AcqRel) == 1 {
            drop(self.lock());
            self.shared.idle.notify_all();
        }
    }

    /// How many tasks have begun and not ended.
    pub fn pending(&self) -> usize {
        self.shared.pending.load(Ordering::Acquire)
    }

    /// The first failure so far.
    pub fn failure(&self) -> Option<Error> {
        self.lock().clone()
    }

    /// Waits until no task is pending; false when `deadline` (none: for ever) came first.
    pub fn wait_idle(&self, deadline: Option<Instant>) -> bool {
        if self.pending() == 0 {
            return true;
        }
        let mut guard = self.lock();
        while self.pending() > 0 {
            match deadline {
                None => guard = self.shared.idle.wait(guard).unwrap_or_else(|poisoned| poisoned.into_inner()),
                Some(deadline) => {
                    let Some(left) = deadline.checked_duration_since(Instant::now()) else { return false };
                    guard = match self.shared.idle.wait_timeout(guard, left) {
                        Ok((guard, _)) => guard,
                        Err(poisoned) => poisoned.into_inner().0,
                    };
                }
            }
        }
        true
    }
}
