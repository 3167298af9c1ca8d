//! What a call that waits leaves to code that goes on elsewhere on its behalf, on whatever thread.

use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::Limits;
use super::nested::{ANYWHERE, Account, Caller, current};

/// What is left of the limits of a call. Calls made in [`Share::run`] draw from it, and [`Share::settle`] charges the call
/// itself. Several threads may do so at once; then they may together take more than is left.
pub struct Share {
    limits: Limits,
    caller: Caller,
    used: AtomicU64,
    settled: AtomicU64,
}

// SAFETY: the account that the caller points to is never looked at.
unsafe impl Send for Share {}
// SAFETY: as for Send.
unsafe impl Sync for Share {}

impl Share {
    /// Of the innermost call of this thread, unless it has no limits.
    pub fn of_current() -> Option<Share> {
        let caller = Caller::here();
        let limited = caller.fuel.is_some() || caller.deadline.is_some() || caller.calls != u32::MAX;
        limited.then(|| Share {
            limits: current(),
            caller: caller.detached(),
            used: AtomicU64::new(0),
            settled: AtomicU64::new(0),
        })
    }

    /// Does `work`, which is part of the call.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        // Not on the stack, which coroutines may take turns on.
        let account = Rc::new(Account::default());
        let used = self.used.load(Relaxed);
        account.beyond.set(self.caller.fuel.map(|fuel| fuel.saturating_sub(used)));
        account.max_depth.set(self.caller.calls);
        // The call itself is the one that is active in the account.
        let below = Caller { active: self.caller.active.saturating_sub(1), level: Caller::here().level, ..self.caller };
        let entered = account.enter(&below, self.caller.deadline, Some(self.limits));
        // The work may be in the very frame of this.
        account.at.set(ANYWHERE);
        let result = work();
        drop(entered);
        self.used.fetch_add(account.nested.get(), Relaxed);
        result
    }

    /// Charges the innermost call of this thread with what has been used since the last time.
    pub fn settle(&self) {
        let used = self.used.load(Relaxed);
        Caller::here().charge(used - self.settled.swap(used, Relaxed));
    }
}
