//! When a call keeps the GIL.
//!
//! To release the GIL and to take it back costs little when nobody else wants it. With other Python threads waiting, each
//! release wakes one of them, which finds the GIL taken again: the wake-ups then cost more than a short call. So a call
//! that is expected to take a few microseconds begins with the GIL held. The rules:
//!
//! 1. A call begins with the GIL only when the [`Pace`] of its function says that the last ones were short.
//! 2. Held, it does one *prompt step* (`Invocation::step_promptly`): at most one slice of VM instructions, no wait, no
//!    queue operation that is estimated to take long or that would begin work of others, nothing shared with workers, and
//!    native functions only of modules that promise the same. Whatever cannot be done like that ends the step.
//! 3. A step that ended before the call did is continued with the GIL released, as all others are.
//! 4. No lock of `tiree-vm`, `tiree-hal` or `tiree-task` is held while Python code or a destructor runs (either may want
//!    the GIL), so those that a prompt step takes are free within moments, whoever has them.
//! 5. A step that took long after all (a kernel whose time depends on its data, a thread that the system stopped) makes the
//!    next calls release the GIL: for each so many microseconds one call. So what Python threads lose by misjudged
//!    calls stays a small part of their time, however lengths come and go.
//!
//! Between two calls the interpreter hands the GIL over as between any two instructions.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Calls that take less are short.
const SHORT: Duration = Duration::from_micros(10);
/// A prompt step that took longer was misjudged.
const MISJUDGED: Duration = Duration::from_micros(20);
/// For each of these in a long call, a short one must be seen before the GIL is held again.
const PAID_BACK: Duration = Duration::from_micros(25);
/// Short calls that must be seen first in any case.
const FEWEST: u32 = 8;
const MOST: u32 = 1 << 20;

/// What is known of how long the calls of a function take. Threads may lose each other's updates: it is an estimate.
pub struct Pace {
    /// Short calls to be seen before the GIL is held.
    missing: AtomicU32,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { missing: AtomicU32::new(FEWEST) }
    }
}

impl Pace {
    /// Whether the next call begins with the GIL held.
    pub fn holds(&self) -> bool {
        self.missing.load(Ordering::Relaxed) == 0
    }

    /// A call that began with the GIL held: how long the prompt step took, and whether it was all.
    pub fn held(&self, time: Duration, whole: bool) {
        if !whole || time > MISJUDGED {
            self.long(time);
        }
    }

    /// A call without the GIL: how long its first step took, and whether it was all.
    pub fn released(&self, time: Duration, whole: bool) {
        if !whole || time > SHORT {
            return self.long(time);
        }
        let missing = self.missing.load(Ordering::Relaxed);
        if missing > 0 {
            self.missing.store(missing - 1, Ordering::Relaxed);
        }
    }

    #[cold]
    fn long(&self, time: Duration) {
        let units = u32::try_from(time.as_nanos() / PAID_BACK.as_nanos()).unwrap_or(MOST).clamp(FEWEST, MOST);
        self.missing.fetch_max(units, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn micros(count: u64) -> Duration {
        Duration::from_micros(count)
    }

    #[test]
    fn short_calls_come_to_hold() {
        let pace = Pace::default();
        for _ in 0..FEWEST {
            assert!(!pace.holds());
            pace.released(micros(2), true);
        }
        assert!(pace.holds());
        pace.held(micros(12), true);
        assert!(pace.holds());
    }

    #[test]
    fn one_long_call_is_paid_back() {
        for (time, whole, calls) in
            [(micros(5000), true, 200), (micros(1), false, FEWEST), (Duration::from_secs(3600), true, MOST)]
        {
            let pace = Pace { missing: AtomicU32::new(0) };
            pace.held(time, whole);
            assert_eq!(pace.missing.load(Ordering::Relaxed), calls);
            pace.released(micros(30), true);
            assert_eq!(pace.missing.load(Ordering::Relaxed), calls);
            pace.released(micros(3), true);
            assert_eq!(pace.missing.load(Ordering::Relaxed), calls - 1);
        }
    }
}
