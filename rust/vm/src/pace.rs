//! Whether a call is to begin with a [prompt step](crate::Invocation::step_promptly), for callers who hold something
//! meanwhile that others need, and who know that to let go of it costs about as much as a short call.
//!
//! It is, when the calls of the function before it were short. A prompt step that took long after all (a kernel whose time
//! depends on its data), or that came back, was misjudged: the next calls are ordinary ones, for each so many
//! microseconds one. Only a few misjudged ones of some ten microseconds are let pass, as interrupts and hypervisors make
//! them. So what others lose by misjudged calls stays a small part of their time, however lengths come and go.
//!
//! What counts is the time that the thread had a processor. To ask for that takes longer than to read the clock, so it is
//! asked when the clock says that a call was long, and now and then to have something to compare with. Otherwise a busy
//! machine, on which calls are interrupted, would have them all let go, which interrupts them again.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Calls that take less are short.
const SHORT: Duration = Duration::from_micros(10);
/// A prompt step that took longer was misjudged.
const MISJUDGED: Duration = Duration::from_micros(20);
/// How much of misjudged steps is let pass, if nothing else is for as many microseconds calls.
const LET_PASS: Duration = Duration::from_micros(200);
/// For each of these in a long call, a short one must be seen before the next prompt step.
const PAID_BACK: Duration = Duration::from_micros(25);
/// Short calls that must be seen first in any case.
const FEWEST: u32 = 8;
const MOST: u32 = 1 << 20;
/// Processor time that it takes at most to stop a thread and to let it go on, with cold caches.
const SWITCHED: Duration = Duration::from_micros(40);
/// A thread that has made prompt calls for so long lets the others have a turn. Python's threads ask for one when they have
/// waited for 5 ms, and begin to wait anew when they were woken in vain, so it is longer than that.
const TURN: Duration = Duration::from_millis(10);
/// Of so many prompt calls one looks at the thread's processor time.
const COMPARED: u32 = 64;

/// What is known of how long the calls of a function take. Threads may lose each other's updates: it is an estimate.
pub struct Pace {
    /// Short calls to be seen before one begins promptly.
    missing: AtomicU32,
    /// Microseconds of misjudged steps that were let pass; each short call takes one away.
    passed: AtomicU32,
    /// Calls were long by the clock, and whether they had a processor all the time is not known.
    doubtful: AtomicBool,
}

/// When a call began.
pub struct Begin {
    clocks: Clocks,
    prompt: bool,
}

/// The time, and the processor time of a thread.
#[derive(Clone, Copy)]
struct Clocks {
    wall: Instant,
    processor: Option<Duration>,
}

thread_local! {
    /// Calls until the next look, and the last one.
    static LOOKED: Cell<(u32, Option<Clocks>)> = const { Cell::new((0, None)) };
    /// When the last ordinary call of this thread began, or the first call, and whether its turn is over.
    static LAST_TURN: Cell<(Option<Instant>, bool)> = const { Cell::new((None, false)) };
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { missing: AtomicU32::new(FEWEST), passed: AtomicU32::new(0), doubtful: AtomicBool::new(false) }
    }
}

impl Clocks {
    /// How long the thread has had no processor since then, as far as that is known, and what it costs to be stopped.
    fn stopped(&self) -> Duration {
        let Some((before, now)) = self.processor.zip(processor_time()) else { return Duration::ZERO };
        let stopped = self.wall.elapsed().saturating_sub(now.saturating_sub(before));
        stopped + stopped.min(SWITCHED)
    }
}

impl Pace {
    /// Whether the next call, of this thread, is to begin with a prompt step.
    ///
    /// Not when the thread has made only such for a while: whoever makes calls without a break, as C code that is given a
    /// function does, would never let go.
    pub fn is_prompt(&self) -> bool {
        self.missing.load(Ordering::Relaxed) == 0 && !LAST_TURN.get().1
    }

    /// A call begins, on this thread, with a prompt step or not.
    pub fn begin(&self, prompt: bool) -> Begin {
        let wall = Instant::now();
        if !prompt {
            LAST_TURN.set((Some(wall), false));
            let processor = self.doubtful.load(Ordering::Relaxed).then(processor_time).flatten();
            return Begin { clocks: Clocks { wall, processor }, prompt };
        }
        match LAST_TURN.get() {
            (Some(last), false) if wall.saturating_duration_since(last) >= TURN => LAST_TURN.set((Some(last), true)),
            (None, _) => LAST_TURN.set((Some(wall), false)),
            _ => {}
        }
        let looked = match LOOKED.get() {
            (0, _) => (COMPARED, Some(Clocks { wall, processor: processor_time() })),
            (left, clocks) => (left - 1, clocks),
        };
        LOOKED.set(looked);
        Begin { clocks: Clocks { wall, processor: None }, prompt }
    }

    /// Its first step is over, and was all of it or not.
    pub fn end(&self, begin: &Begin, whole: bool) {
        let (time, limit) = (begin.clocks.wall.elapsed(), if begin.prompt { MISJUDGED } else { SHORT });
        if whole && time <= limit {
            return self.short(begin.prompt);
        }
        let known = if begin.prompt { LOOKED.get().1 } else { Some(begin.clocks) };
        let time = time.saturating_sub(known.map_or(Duration::ZERO, |clocks| clocks.stopped()));
        if whole && time <= limit {
            return self.short(begin.prompt);
        }
        if begin.prompt && whole && self.lets_pass(time) {
            return;
        }
        // With the processor time known there is no doubt left.
        self.doubtful.store(begin.prompt || begin.clocks.processor.is_none(), Ordering::Relaxed);
        self.long(time);
    }

    /// Whether a misjudged step is one of few.
    fn lets_pass(&self, time: Duration) -> bool {
        let passed = Duration::from_micros(self.passed.load(Ordering::Relaxed).into()) + time;
        let left = if passed < LET_PASS { passed.as_micros() as u32 } else { 0 };
        self.passed.store(left, Ordering::Relaxed);
        left > 0
    }

    fn short(&self, prompt: bool) {
        let counter = if prompt { &self.passed } else { &self.missing };
        let count = counter.load(Ordering::Relaxed);
        if count > 0 {
            counter.store(count - 1, Ordering::Relaxed);
        }
    }

    #[cold]
    fn long(&self, time: Duration) {
        let units = u32::try_from(time.as_nanos() / PAID_BACK.as_nanos()).unwrap_or(MOST).clamp(FEWEST, MOST);
        self.missing.fetch_max(units, Ordering::Relaxed);
    }
}

/// What this thread has had of processors.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for writes.
    if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } != 0 {
        return None;
    }
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call that keeps the processor for `busy` and sleeps for `idle`.
    fn call(pace: &Pace, busy: Duration, idle: Duration) {
        let begin = pace.begin(pace.is_prompt());
        std::thread::sleep(idle);
        let start = processor_time().unwrap();
        while processor_time().unwrap() - start < busy {}
        pace.end(&begin, true);
    }

    fn missing(pace: &Pace) -> u32 {
        pace.missing.load(Ordering::Relaxed)
    }

    #[test]
    fn short_calls_come_to_be_prompt() {
        let pace = Pace::default();
        // By the clock some may be long, on a busy machine.
        for _ in 0..10_000 {
            call(&pace, Duration::ZERO, Duration::ZERO);
        }
        LAST_TURN.set((None, false));
        assert!(pace.is_prompt());
    }

    #[test]
    fn prompt_calls_without_a_break_end_after_a_turn() {
        let pace = Pace { missing: AtomicU32::new(0), ..Pace::default() };
        let begin = Instant::now();
        while pace.is_prompt() {
            pace.begin(true);
            assert!(begin.elapsed() < Duration::from_secs(10));
        }
        assert!(begin.elapsed() >= TURN);
        pace.begin(false);
        assert!(pace.is_prompt());
    }

    #[test]
    fn long_calls_are_paid_back() {
        let pace = Pace { missing: AtomicU32::new(0), ..Pace::default() };
        call(&pace, Duration::from_millis(5), Duration::ZERO);
        assert!((150..2000).contains(&missing(&pace)), "{}", missing(&pace));
        let before = missing(&pace);
        call(&pace, Duration::from_micros(100), Duration::ZERO);
        assert_eq!(missing(&pace), before);
        call(&pace, Duration::ZERO, Duration::ZERO);
        assert!(missing(&pace) <= before);
        pace.long(Duration::from_secs(3600));
        assert_eq!(missing(&pace), MOST);
    }

    #[test]
    fn threads_that_were_stopped_are_not_slow() {
        let pace = Pace { missing: AtomicU32::new(0), ..Pace::default() };
        call(&pace, Duration::ZERO, Duration::from_millis(5));
        assert_eq!(missing(&pace), 0);
        let pace = Pace { missing: AtomicU32::new(5), doubtful: AtomicBool::new(true), ..Pace::default() };
        call(&pace, Duration::ZERO, Duration::from_millis(5));
        assert_eq!(missing(&pace), 4);
    }

    #[test]
    fn a_few_calls_of_some_ten_microseconds_are_let_pass() {
        let pace = Pace { missing: AtomicU32::new(0), ..Pace::default() };
        for time in [30, 40, 50, 60] {
            assert!(pace.lets_pass(Duration::from_micros(time)));
        }
        for _ in 0..20 {
            pace.short(true);
        }
        assert!(pace.lets_pass(Duration::from_micros(30)));
        assert!(!pace.lets_pass(Duration::from_micros(30)));
        assert!(!pace.lets_pass(Duration::from_micros(200)));
        assert!(pace.lets_pass(Duration::from_micros(199)));
    }

    #[test]
    fn calls_that_went_on_were_misjudged() {
        let pace = Pace { missing: AtomicU32::new(0), ..Pace::default() };
        pace.end(&pace.begin(true), false);
        assert!(missing(&pace) >= FEWEST);
    }
}
