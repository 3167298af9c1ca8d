//! What a call may use: instructions, time, stack. `nested` has what calls inside of calls may use.
//!
//! # Fuel
//!
//! Fuel is counted in instructions. A call takes as much as the callee has instructions, a backward branch as much as
//! lie between it and its target (both at most 1024 at a time, the rest as it is reached), and an operation over many
//! bytes or elements one for every 32, before it begins. So the fuel that a call used is never less than the instructions
//! that it executed, and depends on nothing but the module and the arguments.

mod nested;
mod share;

use std::cell::Cell;
use std::time::{Duration, Instant};

pub(crate) use self::nested::{Account, Caller, too_many_calls};
pub use self::nested::{Scope, current};
pub use self::share::Share;
use crate::interrupt::Watch;
use crate::status::{Result, Status};

/// A limit that an error can be about, see [`Status::limit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::fuel`]
    Fuel,
    /// [`Limits::timeout`] and [`Limits::deadline`]
    Time,
    /// [`Limits::max_stack_depth`] and [`MAX_STACK`]
    Stack,
    /// [`ContextOptions::memory`](crate::ContextOptions::memory)
    Memory,
}

/// Limits of one call; none unless set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Instructions that the call and all it calls may execute: RESOURCE_EXHAUSTED beyond.
    pub fuel: Option<u64>,
    /// How long it may take from its start: DEADLINE_EXCEEDED after. Native functions are not interrupted.
    pub timeout: Option<Duration>,
    /// When it must be done; with a timeout, the earlier of both counts.
    pub deadline: Option<Instant>,
    /// Calls that may be active at once: RESOURCE_EXHAUSTED beyond. Frames take at most [`MAX_STACK`] bytes in any case.
    pub max_stack_depth: Option<u32>,
}

impl Limits {
    /// These limits, and those of `others` where there is none. A time to end replaces any other.
    #[must_use]
    pub fn or(self, others: &Limits) -> Limits {
        let timed = self.timeout.is_some() || self.deadline.is_some();
        Limits {
            fuel: self.fuel.or(others.fuel),
            timeout: if timed { self.timeout } else { others.timeout },
            deadline: if timed { self.deadline } else { others.deadline },
            max_stack_depth: self.max_stack_depth.or(others.max_stack_depth),
        }
    }

    /// These limits inside of `others`: the lower one of each.
    #[must_use]
    pub(crate) fn within(self, others: &Limits) -> Limits {
        fn lower<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.into_iter().chain(other).min()
        }
        Limits {
            fuel: lower(self.fuel, others.fuel),
            timeout: lower(self.timeout, others.timeout),
            deadline: lower(self.deadline, others.deadline),
            max_stack_depth: lower(self.max_stack_depth, others.max_stack_depth),
        }
    }

    /// The same, the timeout turned into a deadline: for a call that starts now. It must end by the deadline of the
    /// call that executes on this thread, too.
    #[must_use]
    pub(crate) fn started(mut self) -> Limits {
        // A time that no clock reaches is no end.
        let end = self.timeout.take().and_then(|timeout| Instant::now().checked_add(timeout));
        self.deadline = self.deadline.into_iter().chain(end).chain(nested::current_deadline()).min();
        self
    }
}

/// Most bytes that the frames of one invocation may take.
pub const MAX_STACK: usize = 1 << 20;

/// Fuel after which a run of operations comes back to have the limits looked at. It bounds the native stack where calls
/// in tail position are not jumps, so it is smaller in builds that are not optimised.
const SLICE: isize = if cfg!(debug_assertions) { 512 } else { 8192 };
/// Slices between two looks at the clock.
const SLICES_PER_LOOK: u32 = 4;
/// Most native calls between two looks at the clock.
const MAX_CALLS_PER_LOOK: u32 = 256;

/// What is left of the limits.
#[derive(Default)]
pub(crate) struct Budget {
    /// Fuel beyond the current slice; counts down from the limit.
    left: u64,
    /// What the caller of the call leaves it, counted in the same way.
    lent: Option<u64>,
    /// Fuel given out and used up, without the current slice.
    used: u64,
    /// Of that, what the caller has been charged for.
    charged: u64,
    /// What the current slice had.
    slice: isize,
    limit: Option<u64>,
    deadline: Option<Instant>,
    max_stack_depth: Option<u32>,
    /// When the thread is to come back for other things.
    turn: Option<Instant>,
    watch: Watch,
    /// Of the current slice, while an operation over many bytes begins.
    at_hand: isize,
    /// Whether the run is not to take long, and whether it came to something that would.
    prompt: bool,
    postponed: Cell<bool>,
    slices_to_look: u32,
    calls_per_look: u32,
    last_call_look: Option<Instant>,
}

impl Budget {
    pub fn new(limits: &Limits) -> Budget {
        Budget {
            left: limits.fuel.unwrap_or(u64::MAX),
            limit: limits.fuel,
            deadline: limits.deadline,
            max_stack_depth: limits.max_stack_depth,
            slices_to_look: 1,
            calls_per_look: 1,
            ..Budget::default()
        }
    }

    /// What was set, if anything was.
    pub fn limits(&self) -> Option<Limits> {
        let set = self.limit.is_some() || self.deadline.is_some() || self.max_stack_depth.is_some();
        let (fuel, deadline, max_stack_depth) = (self.limit, self.deadline, self.max_stack_depth);
        set.then_some(Limits { fuel, timeout: None, deadline, max_stack_depth })
    }

    /// The first slice.
    pub fn first(&mut self) -> isize {
        self.slice = SLICE.min(isize::try_from(self.room()).unwrap_or(isize::MAX));
        self.slice
    }

    /// Fuel that the call and its caller have, the current slice with it.
    fn room(&self) -> u64 {
        self.left.min(self.lent.unwrap_or(u64::MAX))
    }

    /// Fuel that is left when the current slice is used up, if it is limited.
    pub fn beyond(&self) -> Option<u64> {
        let limited = self.limit.is_some() || self.lent.is_some();
        limited.then(|| self.room().saturating_sub(self.slice as u64))
    }

    /// Begins a run with `fuel` left of the current slice, for a caller that leaves it `lent`: how much it is then.
    pub fn begin(&mut self, fuel: isize, lent: Option<u64>) -> isize {
        let gone = self.slice.abs_diff(fuel) as u64;
        let due = self.used + gone - self.charged;
        self.lent = lent.map(|lent| lent.saturating_add(gone).saturating_sub(due));
        let most = isize::try_from(self.room()).unwrap_or(isize::MAX).saturating_sub_unsigned(gone as usize);
        let fewer = (fuel - most).max(0);
        self.slice -= fewer;
        fuel - fewer
    }

    /// Ends a run with `fuel` left of the current slice: what the caller is to be charged for.
    pub fn end(&mut self, fuel: isize) -> u64 {
        self.lent = None;
        let used = self.used(fuel);
        used - std::mem::replace(&mut self.charged, used)
    }

    /// Takes what nested calls have used.
    pub fn take(&mut self, nested: u64) {
        self.used += nested;
        if self.limit.is_some() {
            self.left = self.left.saturating_sub(nested);
        }
        self.lent = self.lent.map(|lent| lent.saturating_sub(nested));
    }

    /// Says what is left of the current slice, for [`Budget::afford`].
    pub fn set_at_hand(&mut self, fuel: isize) {
        self.at_hand = fuel;
    }

    /// Whether there is fuel for an operation that is about to begin, and that will be charged `cost` when it is done.
    pub fn afford(&self, cost: usize) -> Result<()> {
        self.long(cost > SLICE as usize)?;
        let gone = self.slice.abs_diff(self.at_hand) as u64;
        let need = gone.saturating_add(cost as u64);
        if need > self.left {
            return Err(self.exhausted());
        }
        if self.lent.is_some_and(|lent| need > lent) { Err(nothing_left()) } else { Ok(()) }
    }

    /// Says whether the run is not to take long.
    pub fn set_prompt(&mut self, prompt: bool) {
        self.prompt = prompt;
    }

    /// An operation is about to begin that may take long, if `is_long`. With an error, which is not one of the call, it must
    /// not: the operation is postponed.
    pub fn long(&self, is_long: bool) -> Result<()> {
        if !(is_long && self.prompt) {
            return Ok(());
        }
        self.postponed.set(true);
        Err(Status::unavailable("not in a prompt step"))
    }

    /// Whether an operation failed only because it would have taken long.
    pub fn take_postponed(&self) -> bool {
        self.postponed.take()
    }

    /// The next slice, after one of which `fuel` is left (less than nothing).
    pub fn refill(&mut self, fuel: isize) -> Result<isize> {
        let used = self.slice.abs_diff(fuel) as u64;
        self.used += used;
        self.slice = fuel;
        let Some(left) = self.left.checked_sub(used) else { return Err(self.exhausted()) };
        if self.limit.is_some() {
            self.left = left;
        }
        if let Some(lent) = &mut self.lent {
            *lent = lent.checked_sub(used).ok_or_else(nothing_left)?;
        }
        self.slices_to_look -= 1;
        if self.slices_to_look == 0 {
            self.slices_to_look = SLICES_PER_LOOK;
            self.look(Instant::now())?;
        }
        Ok(self.first())
    }

    /// What has been used when `fuel` is left of the current slice.
    pub fn used(&self, fuel: isize) -> u64 {
        self.used + self.slice.abs_diff(fuel) as u64
    }

    #[cold]
    fn exhausted(&self) -> Status {
        let limit = self.limit.unwrap_or(u64::MAX);
        Status::resource_exhausted(format!("out of fuel: the call needs more than {limit} instructions, its limit"))
            .with_limit(Limit::Fuel)
    }

    /// DEADLINE_EXCEEDED when it is past; asks the embedding process now and then.
    pub fn look(&mut self, now: Instant) -> Result<()> {
        self.check_deadline(now)?;
        self.watch.look_at(now)
    }

    /// DEADLINE_EXCEEDED when the deadline is past.
    pub fn check_deadline(&self, now: Instant) -> Result<()> {
        match self.deadline {
            Some(deadline) if now >= deadline => Err(past_deadline()),
            _ => Ok(()),
        }
    }

    /// As `check_deadline`, now.
    pub fn check_deadline_now(&self) -> Result<()> {
        if self.deadline.is_some() { self.check_deadline(Instant::now()) } else { Ok(()) }
    }

    /// Sets when the run is to come back, though it could go on.
    pub fn set_turn(&mut self, end: Option<Instant>) {
        self.turn = end;
    }

    /// Whether the run is to come back.
    pub fn turn_is_over(&self) -> bool {
        self.turn.is_some_and(|end| Instant::now() >= end)
    }

    /// Replaces the deadline: what it was.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) -> Option<Instant> {
        std::mem::replace(&mut self.deadline, deadline)
    }

    /// The deadline, if there is one.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Looks after some native calls; after how many more to look again. Such calls may be short or long, so that depends
    /// on how long they have taken.
    pub fn look_after_calls(&mut self) -> Result<u32> {
        let now = Instant::now();
        if let Some(last) = self.last_call_look.replace(now) {
            let quick = (now - last).as_micros() < 100;
            let next = if quick { self.calls_per_look * 2 } else { self.calls_per_look / 4 };
            self.calls_per_look = next.clamp(1, MAX_CALLS_PER_LOOK);
        }
        self.look(now)?;
        Ok(self.calls_per_look)
    }
}

/// What a nested call fails with when the fuel of its caller is used up.
#[cold]
fn nothing_left() -> Status {
    Status::resource_exhausted(
        "out of fuel: the call that this one was made by has no more instructions left, by its limit",
    )
    .with_limit(Limit::Fuel)
}

/// What a call fails with when its time is over: DEADLINE_EXCEEDED.
#[cold]
pub fn past_deadline() -> Status {
    Status::deadline_exceeded("the call did not finish before its deadline").with_limit(Limit::Time)
}
