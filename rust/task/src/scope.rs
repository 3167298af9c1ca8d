//! Scopes: count detached tasks, keep their first failure, wait until none is left.

use crate::error::Error;
use crate::sync::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::time::Instant;

/// A group of detached tasks. Cloning gives another handle to the same group.
#[derive(Clone)]
pub struct Scope {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    pending: usize,
    failure: Option<Error>,
}

impl Default for Scope {
    fn default() -> Self {
        Scope::new()
    }
}

impl Scope {
    /// An empty scope.
    pub fn new() -> Self {
        let shared = Shared { state: Mutex::new(State::default()), idle: Condvar::new() };
        Scope { shared: Arc::new(shared) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Counts one more task.
    pub fn begin(&self) {
        self.lock().pending += 1;
    }

    /// Counts one task as ended, keeping the first failure of the scope.
    pub fn end(&self, result: Result<(), Error>) {
        let mut state = self.lock();
        if let Err(error) = result {
            state.failure.get_or_insert(error);
        }
        state.pending = state.pending.saturating_sub(1);
        if state.pending == 0 {
            self.shared.idle.notify_all();
        }
    }

    /// How many tasks have begun and not ended.
    pub fn pending(&self) -> usize {
        self.lock().pending
    }

    /// The first failure so far.
    pub fn failure(&self) -> Option<Error> {
        self.lock().failure.clone()
    }

    /// Waits until no task is pending; false when `deadline` (none: for ever) came first.
    pub fn wait_idle(&self, deadline: Option<Instant>) -> bool {
        let mut state = self.lock();
        while state.pending > 0 {
            match deadline {
                None => state = self.shared.idle.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()),
                Some(deadline) => {
                    let Some(left) = deadline.checked_duration_since(Instant::now()) else { return false };
                    state = match self.shared.idle.wait_timeout(state, left) {
                        Ok((state, _)) => state,
                        Err(poisoned) => poisoned.into_inner().0,
                    };
                }
            }
        }
        true
    }
}
