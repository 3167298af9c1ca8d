//! What a call may use: instructions, time, stack.
//!
//! # Fuel
//!
//! Fuel is counted in instructions. A call takes as much as the callee has instructions, a backward branch as much as
//! lie between it and its target (both at most 1024 at a time, the rest as it is reached), and an operation over many
//! bytes one for every 32. So the fuel that a call used is never less than the instructions that it executed, and depends
//! on nothing but the module and the arguments.

use std::cell::Cell;
use std::time::{Duration, Instant};

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

    /// The same, the timeout turned into a deadline: for a call that starts now.
    #[must_use]
    pub(crate) fn started(mut self) -> Limits {
        // A time that no clock reaches is no end.
        let end = self.timeout.take().and_then(|timeout| Instant::now().checked_add(timeout));
        self.deadline = match (self.deadline, end) {
            (Some(deadline), Some(end)) => Some(deadline.min(end)),
            (deadline, end) => deadline.or(end),
        };
        self
    }
}

thread_local! {
    static CURRENT: Cell<Limits> = const { Cell::new(Limits { fuel: None, timeout: None, deadline: None, max_stack_depth: None }) };
}

/// The limits of the innermost limited call that executes on this thread, for native code that waits, or has bytecode
/// executed, on its behalf; none outside of calls. A timeout has become a deadline.
pub fn current() -> Limits {
    CURRENT.get()
}

/// Makes `limits` the current ones of this thread until it is dropped.
pub struct Scope(Limits);

impl Scope {
    /// Enters the scope.
    #[must_use]
    pub fn enter(limits: Limits) -> Scope {
        Scope(CURRENT.replace(limits))
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        CURRENT.set(self.0);
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
    /// Fuel given out and used up, without the current slice.
    used: u64,
    /// What the current slice had.
    slice: isize,
    limit: Option<u64>,
    deadline: Option<Instant>,
    max_stack_depth: Option<u32>,
    watch: Watch,
    slices_to_look: u32,
    calls_to_look: u32,
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
            calls_to_look: 1,
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
        self.slice = SLICE.min(isize::try_from(self.left).unwrap_or(isize::MAX));
        self.slice
    }

    /// The next slice, after one of which `fuel` is left (less than nothing).
    pub fn refill(&mut self, fuel: isize) -> Result<isize> {
        let used = self.slice.abs_diff(fuel) as u64;
        self.used += used;
        let Some(left) = self.left.checked_sub(used) else { return Err(self.exhausted()) };
        if self.limit.is_some() {
            self.left = left;
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
    fn exhausted(&mut self) -> Status {
        let limit = self.limit.unwrap_or(u64::MAX);
        self.slice = 0;
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

    /// The deadline, if there is one.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Counts a native call. Such calls may be short or long, so how many come between two looks depends on how long they
    /// have taken.
    #[inline(always)]
    pub fn native_call(&mut self) -> Result<()> {
        self.calls_to_look -= 1;
        if self.calls_to_look == 0 { self.look_after_calls() } else { Ok(()) }
    }

    #[cold]
    fn look_after_calls(&mut self) -> Result<()> {
        let now = Instant::now();
        if let Some(last) = self.last_call_look.replace(now) {
            let quick = (now - last).as_micros() < 100;
            let next = if quick { self.calls_per_look * 2 } else { self.calls_per_look / 4 };
            self.calls_per_look = next.clamp(1, MAX_CALLS_PER_LOOK);
        }
        self.calls_to_look = self.calls_per_look;
        self.look(now)
    }
}

/// What a call fails with when its time is over: DEADLINE_EXCEEDED.
#[cold]
pub fn past_deadline() -> Status {
    Status::deadline_exceeded("the call did not finish before its deadline").with_limit(Limit::Time)
}
