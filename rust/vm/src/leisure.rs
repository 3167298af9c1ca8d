//! Whether a call that an event loop drives is to begin on the loop's thread or with the help of another one.
//!
//! A loop that runs a call does nothing else meanwhile; to have another thread run it costs some ten microseconds. So the
//! calls of a function begin on the loop's thread until one is seen to be long, and then elsewhere until they are short.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Steps that take less are short.
const SHORT: Duration = Duration::from_millis(1);
/// Short steps that must be seen after a long one.
const AFTER_LONG: u32 = 4;

/// What is known of how long the steps of a function's calls take. Threads may lose each other's updates: it is an estimate.
pub struct Leisure {
    /// Short steps to be seen before one is made by the loop's thread.
    missing: AtomicU32,
}

impl Default for Leisure {
    fn default() -> Leisure {
        Leisure { missing: AtomicU32::new(0) }
    }
}

impl Leisure {
    /// Whether the next step may be made by the loop's thread.
    pub fn is_short(&self) -> bool {
        self.missing.load(Ordering::Relaxed) == 0
    }

    /// A step took so long, and is `whole` unless there was more to do than it had time for.
    pub fn note(&self, time: Duration, whole: bool) {
        if !whole || time > SHORT {
            return self.missing.store(AFTER_LONG, Ordering::Relaxed);
        }
        let missing = self.missing.load(Ordering::Relaxed);
        if missing > 0 {
            self.missing.store(missing - 1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_until_one_is_long() {
        let leisure = Leisure::default();
        assert!(leisure.is_short());
        for (time, whole) in [(Duration::from_millis(2), true), (Duration::ZERO, false)] {
            leisure.note(time, whole);
            for _ in 0..AFTER_LONG {
                assert!(!leisure.is_short());
                leisure.note(Duration::ZERO, true);
            }
            assert!(leisure.is_short());
        }
    }
}
