//! `hal.semaphore`: a payload that only grows, with waits, callbacks and sticky failure.
//!
//! Callbacks run on the thread that signals, after the lock is released (see `callbacks`).

use crate::callbacks::{self, Callback, Kind};
use crate::sync::{AtomicU64, Condvar, Mutex, Ordering};
use crate::timeline;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tiree_vm::{RefObject, Result, Status};

/// The payload of a failed semaphore.
pub const FAILED: u64 = u64::MAX;

/// How long a blocked thread spins before it sleeps.
const WAIT_SPIN: Duration = Duration::from_micros(20);
/// Chains of helpers deeper than this are left to the workers.
const MAX_HELP_DEPTH: u32 = 32;

/// Work that a thread blocked on a semaphore can do itself instead of sleeping.
pub(crate) trait Helper: Send + Sync {
    /// Does some of the work; false when there is nothing to do (any more).
    fn help(&self, depth: u32) -> bool;
}

/// See the module head.
pub struct Semaphore {
    value: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    failure: Option<Status>,
    waiters: Vec<(u64, Kind, Callback)>,
    helper: Option<Arc<dyn Helper>>,
    sleepers: usize,
}

impl RefObject for Semaphore {
    fn type_name(&self) -> &'static str {
        "hal.semaphore"
    }
}

impl Semaphore {
    /// A semaphore with the payload `initial`.
    pub fn new(initial: u64) -> Semaphore {
        let state = State { failure: None, waiters: Vec::new(), helper: None, sleepers: 0 };
        Semaphore { value: AtomicU64::new(initial), state: Mutex::new(state), changed: Condvar::new() }
    }

    /// The payload.
    ///
    /// # Errors
    /// The status that the semaphore failed with.
    pub fn query(&self) -> Result<u64> {
        match self.value.load(Ordering::Acquire) {
            FAILED => Err(self.failure()),
            value => Ok(value),
        }
    }

    fn failure(&self) -> Status {
        let state = self.state.lock();
        state.failure.clone().unwrap_or_else(|| Status::aborted("the semaphore failed"))
    }

    /// Whether the payload has reached `value`: None while pending.
    #[inline]
    pub fn poll(&self, value: u64) -> Option<Result<()>> {
        match self.value.load(Ordering::Acquire) {
            FAILED => Some(Err(self.failure())),
            now if now >= value => Some(Ok(())),
            _ => None,
        }
    }

    /// Raises the payload to `value`. Nothing happens to a failed semaphore.
    ///
    /// # Errors
    /// OUT_OF_RANGE when the payload would not grow.
    pub fn signal(&self, value: u64) -> Result<()> {
        // Declared first, dropped last: what it holds may run any code when released, so the lock is free then.
        let _released;
        let mut state = self.state.lock();
        let now = self.value.load(Ordering::Relaxed);
        if now == FAILED {
            return Ok(());
        }
        if value <= now || value == FAILED {
            return Err(Status::out_of_range(format!(
                "semaphore values must be monotonically increasing; current_value={now}, new_value={value}"
            )));
        }
        self.value.store(value, Ordering::Release);
        _released = state.helper.take();
        if state.sleepers > 0 {
            self.changed.notify_all();
        }
        if state.waiters.is_empty() {
            return Ok(());
        }
        let (ready, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut state.waiters).into_iter().partition(|w| w.0 <= value);
        state.waiters = left;
        drop(state);
        callbacks::run(ready.into_iter().map(|(_, kind, callback)| (kind, callback, Ok(()))));
        Ok(())
    }

    /// Fails the semaphore; the first failure stays.
    pub fn fail(&self, status: Status) {
        // Declared first, dropped last: what it holds may run any code when released, so the lock is free then.
        let _released;
        let mut state = self.state.lock();
        if state.failure.is_some() {
            return;
        }
        state.failure = Some(status.clone());
        _released = state.helper.take();
        self.value.store(FAILED, Ordering::Release);
        if state.sleepers > 0 {
            self.changed.notify_all();
        }
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        callbacks::run(waiters.into_iter().map(|(_, kind, callback)| (kind, callback, Err(status.clone()))));
    }

    /// Calls `callback` when the payload reaches `value` or the semaphore fails: at once when it has already. It may do
    /// anything, but others that the same signal makes due on this thread come after it.
    pub fn on_reached(&self, value: u64, callback: impl FnOnce(Result<()>) + Send + 'static) {
        self.when_reached(value, Kind::Callback, Box::new(callback));
    }

    /// As `on_reached`, before all callbacks, for what never blocks.
    pub fn then(&self, value: u64, continuation: impl FnOnce(Result<()>) + Send + 'static) {
        self.when_reached(value, Kind::Continuation, Box::new(continuation));
    }

    pub(crate) fn when_reached(&self, value: u64, kind: Kind, callback: Callback) {
        let result = {
            let mut state = self.state.lock();
            match self.value.load(Ordering::Relaxed) {
                FAILED => Err(state.failure.clone().unwrap_or_else(|| Status::aborted("the semaphore failed"))),
                now if now >= value => Ok(()),
                _ => {
                    state.waiters.push((value, kind, callback));
                    return;
                }
            }
        };
        callbacks::run(std::iter::once((kind, callback, result)));
    }

    /// Says who can bring the next signal about.
    pub(crate) fn set_helper(&self, helper: Arc<dyn Helper>) {
        self.state.lock().helper = Some(helper);
    }

    /// Does some of the work that this semaphore waits for, if there is any.
    pub(crate) fn help(&self, depth: u32) -> bool {
        if depth > MAX_HELP_DEPTH {
            return false;
        }
        let helper = self.state.lock().helper.clone();
        helper.is_some_and(|helper| helper.help(depth))
    }

    /// Blocks until the payload has reached `value`; DEADLINE_EXCEEDED when `deadline` comes first.
    ///
    /// # Errors
    /// DEADLINE_EXCEEDED, or the status that the semaphore failed with.
    pub fn wait(&self, value: u64, deadline: Option<Instant>) -> Result<()> {
        if let Some(result) = self.poll(value) {
            return result;
        }
        if tiree_trace::timeline() {
            return timeline::wait(|| self.wait_pending(value, deadline));
        }
        self.wait_pending(value, deadline)
    }

    fn wait_pending(&self, value: u64, deadline: Option<Instant>) -> Result<()> {
        let timeout = || Err(Status::deadline_exceeded("the semaphore was not signalled in time"));
        callbacks::run_all();
        if let Some(result) = self.poll(value) {
            return result;
        }
        let start = Instant::now();
        if deadline.is_some_and(|deadline| deadline <= start) {
            return timeout();
        }
        // A helper's work cannot be interrupted, so a wait with a deadline leaves it to the workers.
        while deadline.is_none() && self.help(0) {
            if let Some(result) = self.poll(value) {
                return result;
            }
        }
        let spin_end = Instant::now() + WAIT_SPIN;
        // In models time stands still.
        while !cfg!(loom) && Instant::now() < spin_end {
            if let Some(result) = self.poll(value) {
                return result;
            }
            for _ in 0..16 {
                std::hint::spin_loop();
            }
        }
        let mut state = self.state.lock();
        state.sleepers += 1;
        let result = loop {
            match self.value.load(Ordering::Acquire) {
                FAILED => break Err(state.failure.clone().unwrap_or_else(|| Status::aborted("the semaphore failed"))),
                now if now >= value => break Ok(()),
                _ => {}
            }
            match deadline {
                None => self.changed.wait(&mut state),
                Some(deadline) => {
                    let timed_out = self.changed.wait_until(&mut state, deadline).timed_out();
                    if timed_out && self.value.load(Ordering::Acquire) < value {
                        break timeout();
                    }
                }
            }
        };
        state.sleepers -= 1;
        result
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // Whoever waits by callback learns that the signal can no longer come.
        let waiters = std::mem::take(&mut self.state.get_mut().waiters);
        if !waiters.is_empty() {
            let status = Status::aborted("the semaphore was released before it was signalled");
            callbacks::run(waiters.into_iter().map(|(_, kind, callback)| (kind, callback, Err(status.clone()))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiree_vm::StatusCode;

    #[test]
    fn payload_grows_only() {
        let semaphore = Semaphore::new(3);
        assert_eq!(semaphore.query().unwrap(), 3);
        semaphore.signal(5).unwrap();
        for value in [5, 4, 0, FAILED] {
            assert_eq!(semaphore.signal(value).unwrap_err().code(), StatusCode::OutOfRange);
        }
        assert!(semaphore.wait(5, None).is_ok());
        let soon = Some(Instant::now() + Duration::from_millis(2));
        assert_eq!(semaphore.wait(6, soon).unwrap_err().code(), StatusCode::DeadlineExceeded);
    }

    #[test]
    fn failure_is_sticky_and_reaches_everybody() {
        let semaphore = Arc::new(Semaphore::new(0));
        let (sender, receiver) = std::sync::mpsc::channel();
        semaphore.on_reached(9, move |result| sender.send(result).unwrap());
        let waiter = {
            let semaphore = semaphore.clone();
            std::thread::spawn(move || semaphore.wait(1, None))
        };
        semaphore.fail(Status::data_loss("first"));
        semaphore.fail(Status::internal("second"));
        semaphore.signal(10).unwrap();
        for result in [receiver.recv().unwrap(), waiter.join().unwrap(), semaphore.query().map(|_| ())] {
            assert_eq!(result.unwrap_err().message(), "first");
        }
    }

    #[test]
    fn dropping_tells_the_waiters() {
        let (sender, receiver) = std::sync::mpsc::channel();
        Semaphore::new(0).on_reached(1, move |result| sender.send(result).unwrap());
        assert_eq!(receiver.recv().unwrap().unwrap_err().code(), StatusCode::Aborted);
    }
}
