//! Timelines of what the runtime does, in the trace-event format that Perfetto and Chrome's `about:tracing` read, and
//! sums of the time that each dispatch function takes.
//!
//! Nothing is recorded before [`begin`] or [`dispatches::collect`]. While nothing is, instrumented code costs one relaxed
//! load and a branch:
//!
//! ```
//! if tiree_trace::timeline() {
//!     let start = tiree_trace::now();
//!     // ... the work ...
//!     tiree_trace::span("call", "module.add", start, |arguments| arguments.number("results", 1));
//! }
//! ```
//!
//! How it works:
//!
//! * every thread has a *lane*: text of its own behind a lock that nobody else takes before the end, so that threads do
//!   not meet while they record;
//! * a lane goes to the file when it is 64 KiB long, when a tenth of a second has passed since it last did, when its
//!   thread ends, and at [`end`];
//! * every write ends with the closing brackets of the file and the next one starts over them: the file is valid JSON at
//!   all times, whatever happens to the process;
//! * one timeline is written at a time. A forked child records nothing and never touches its parent's file.
//!
//! The crate knows no devices and no modules: those that do call it with names.

pub mod dispatches;
mod file;
mod json;
mod lane;
mod session;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

pub use dispatches::{Dispatch, Label, Place};
use json::Subject;

pub use json::Arguments;
pub use session::{BeginError, begin, end};

/// Bit of [`MODE`]: a timeline is written.
pub(crate) const TIMELINE: u32 = 1;
/// Bit of [`MODE`]: dispatches are summed up.
pub(crate) const DISPATCHES: u32 = 2;

/// What is being recorded.
pub(crate) static MODE: AtomicU32 = AtomicU32::new(0);

/// Whether a timeline is being written. One relaxed load.
#[inline]
pub fn timeline() -> bool {
    MODE.load(Ordering::Relaxed) & TIMELINE != 0
}

/// Whether a timeline is being written or dispatches are summed up. One relaxed load.
#[inline]
pub fn active() -> bool {
    MODE.load(Ordering::Relaxed) != 0
}

/// Nanoseconds on the clock of all events.
pub fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Records that the calling thread did `name` from `start` until now. Spans of one thread nest.
pub fn span(category: &'static str, name: &str, start: u64, arguments: impl FnOnce(&mut Arguments<'_>)) {
    let end = now();
    lane::record(end, |text, thread, zero| {
        let time = (start.saturating_sub(zero), end.saturating_sub(start.max(zero)));
        json::complete(text, &Subject { category, name, thread }, time, arguments);
    });
}

/// Records that something happened on the calling thread.
pub fn instant(category: &'static str, name: &str, arguments: impl FnOnce(&mut Arguments<'_>)) {
    let at = now();
    lane::record(at, |text, thread, zero| {
        json::instant(text, &Subject { category, name, thread }, at.saturating_sub(zero), arguments);
    });
}

/// Records the values of a counter; `id` tells counters of the same name apart.
pub fn counter(category: &'static str, name: &str, id: u64, values: impl FnOnce(&mut Arguments<'_>)) {
    let at = now();
    lane::record(at, |text, thread, zero| {
        json::counter(text, &Subject { category, name, thread }, id, at.saturating_sub(zero), values);
    });
}
