//! `Invocation`: a call in progress that Python drives. Many can be in flight on one thread.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyBaseException, PyException, PyRuntimeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use tiree_hal::allocator::Allocator;
use tiree_hal::fence::{Fence, FenceWait};
use tiree_vm::interrupt::unless;
use tiree_vm::invocation::{Invocation as Inner, Step};
use tiree_vm::leisure::Leisure;
use tiree_vm::limits::past_deadline;
use tiree_vm::mapped::Watch;
use tiree_vm::{Status, Value, Wait};

use crate::arguments::own_results;
use crate::calls::Invoke;
use crate::coroutines::{as_part_of_a_call, in_loop, running_loop};
use crate::errors::{call_failed, to_python};
use crate::signature::NarrowResults;
use crate::vm::driving::{self, By, DrivingThread, Listeners, Turn, results_object};
use crate::waiting::{callback_once, deadline_in, wait_for};

/// What failures of calls through IREE's interface begin with.
pub const INVOKING: &str = "Error invoking function";

enum State {
    /// Not at the end; the wait is what it stopped at.
    Running(Inner, Option<Arc<dyn Wait>>),
    /// A thread is inside `step`. Never held across a release of the GIL: others see it and do not wait.
    Busy,
    /// Returned, but its results are there only when the fence is reached.
    Finishing(Vec<Value>, Arc<Fence>),
    Done(Vec<Value>),
    /// What the next step raises again. Its traceback may lead back to the invocation: see `__traverse__`.
    Failed(Py<PyBaseException>),
}

/// A call in progress. `step()` runs until the call ends or waits; `await` works inside asyncio.
#[pyclass(frozen, module = "tiree._native")]
pub struct Invocation {
    state: Mutex<State>,
    /// Told when the thread that was inside `step` is out again.
    changed: Condvar,
    /// That thread.
    driver: DrivingThread,
    /// Reached when the work that the call queued is done; None when the call itself waits for its work.
    signal: Option<Arc<Fence>>,
    /// What errors name; empty for calls that IREE's interface started.
    function: String,
    narrow: NarrowResults,
    /// Where results are copied to that variables hold; None where there are no such.
    kept: Option<Arc<Allocator>>,
    watch: Watch,
    /// That of the call's limits.
    deadline: Option<Instant>,
    /// At the end of the last step.
    fuel_used: AtomicU64,
    /// Set while a thread is inside `step`: it ends the call when it looks, or comes back.
    cancelled: Arc<AtomicBool>,
    /// The event loop that the last step was made for.
    event_loop: Mutex<Option<Py<PyAny>>>,
    /// How long steps of the function take.
    leisure: Arc<Leisure>,
    /// That of its context.
    context: usize,
    /// Called when the thread that is inside is out.
    when_out: Listeners,
}

impl Invocation {
    /// Wraps a call of `function` in a context that has not run yet.
    pub fn new(inner: Inner, context: usize, signal: Option<Arc<Fence>>, function: &str) -> Invocation {
        Invocation {
            deadline: inner.deadline(),
            state: Mutex::new(State::Running(inner, None)),
            changed: Condvar::new(),
            driver: DrivingThread::default(),
            signal,
            function: function.to_owned(),
            narrow: NarrowResults::default(),
            kept: None,
            watch: Watch::start(),
            fuel_used: AtomicU64::new(0),
            cancelled: Arc::default(),
            event_loop: Mutex::new(None),
            leisure: Arc::default(),
            context,
            when_out: Listeners::default(),
        }
    }

    /// With what is known of the calls of the function.
    pub fn with_leisure(self, leisure: Arc<Leisure>) -> Invocation {
        Invocation { leisure, ..self }
    }

    /// With results that variables may hold.
    pub fn with_kept(self, kept: Option<Arc<Allocator>>) -> Invocation {
        Invocation { kept, ..self }
    }

    /// With results of fewer than 32 bits.
    pub fn with_narrow(self, narrow: NarrowResults) -> Invocation {
        Invocation { narrow, ..self }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the first step for the loop of this thread, if there is one. What it raises is kept for whoever asks.
    pub fn start(&self, py: Python<'_>) -> PyResult<()> {
        let event_loop = running_loop(py)?;
        match self.advance(py, &event_loop.as_ref().map_or(By::Caller, By::Driver)) {
            Err(error) if !error.is_instance_of::<PyException>(py) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the call ended.
    fn advance(&self, py: Python<'_>, by: &By<'_, '_>) -> PyResult<bool> {
        self.try_advance(py, by)?.map(|turn| turn == Turn::Ended).ok_or_else(|| self.driver.busy())
    }

    /// As `advance`; None while another thread is inside.
    fn try_advance(&self, py: Python<'_>, by: &By<'_, '_>) -> PyResult<Option<Turn>> {
        if let Some(event_loop) = by.event_loop() {
            let event_loop = Some(event_loop.clone().unbind());
            // The former one is dropped when nothing is locked.
            let former =
                std::mem::replace(&mut *self.event_loop.lock().unwrap_or_else(PoisonError::into_inner), event_loop);
            drop(former);
        }
        let taken = {
            let mut state = self.lock();
            match &*state {
                State::Busy => return self.driver.other_thread().map(|()| None),
                State::Done(_) => return Ok(Some(Turn::Ended)),
                State::Failed(error) => return Err(raised(py, error)),
                State::Running(inner, _) if matches!(by, By::Loop(_)) && self.needs_help(inner) => {
                    return Ok(Some(Turn::GoesOn));
                }
                State::Running(..) | State::Finishing(..) => {
                    self.driver.enter();
                    std::mem::replace(&mut *state, State::Busy)
                }
            }
        };
        let (next, turn) = match taken {
            State::Running(mut inner, _) => {
                let step = self.step_of(py, &mut inner, by);
                self.fuel_used.store(inner.fuel_used(), Ordering::Relaxed);
                match step {
                    Ok(Step::Done(values)) => match &self.signal {
                        Some(fence) => self.finish(py, values, fence.clone()),
                        None => (State::Done(values), Turn::Ended),
                    },
                    Ok(Step::Pending(wait)) => {
                        let turn = if wait.is_some() { Turn::Waits } else { Turn::GoesOn };
                        (State::Running(inner, wait), turn)
                    }
                    Err(status) => (self.failed(py, &status), Turn::Ended),
                }
            }
            State::Finishing(values, fence) => self.finish(py, values, fence),
            other => (other, Turn::Waits),
        };
        self.leave(py, next, turn)
    }

    /// Whether the next step is not one for the thread of the event loop.
    fn needs_help(&self, inner: &Inner) -> bool {
        let late = || self.deadline.is_some_and(|end| Instant::now() >= end);
        !self.leisure.is_short() && !inner.needs_its_thread() && !late()
    }

    fn step_of(&self, py: Python<'_>, inner: &mut Inner, by: &By<'_, '_>) -> tiree_vm::Result<Step> {
        let event_loop = by.event_loop().map(|event_loop| event_loop.clone().unbind());
        let begin = Instant::now();
        let step = match by {
            By::Caller => Inner::step,
            By::Driver(_) => Inner::step_in_turns,
            By::Loop(_) => Inner::step_briefly,
            By::Helper => Inner::step_away,
        };
        let mut work = || unless(&self.cancelled, || step(inner));
        let step = as_part_of_a_call(py, || in_loop(event_loop, || py.detach(&mut work)));
        let whole = !matches!(step, Ok(Step::Pending(None))) || matches!(by, By::Helper) && inner.needs_its_thread();
        self.leisure.note(begin.elapsed(), whole);
        step
    }

    /// Ends the turn of this thread with the call in state `next`, unless it was cancelled meanwhile.
    fn leave(&self, py: Python<'_>, mut next: State, turn: Turn) -> PyResult<Option<Turn>> {
        let is_cancelled = |next: &State| !matches!(next, State::Failed(_)) && self.cancelled.load(Ordering::Acquire);
        loop {
            if is_cancelled(&next) {
                next = self.cancelled(py);
            }
            let outcome = if let State::Failed(error) = &next { Err(raised(py, error)) } else { Ok(Some(turn)) };
            let mut state = self.lock();
            // Python code may have run since, and cancelled it.
            if is_cancelled(&next) {
                continue;
            }
            *state = next;
            self.changed.notify_all();
            drop(state);
            self.when_out.tell();
            return outcome;
        }
    }

    /// Sleeps until the thread that is inside is out, at most for a while, in which Ctrl-C is not looked for.
    fn wait_for_driver(&self, py: Python<'_>, deadline: Option<Instant>) -> PyResult<()> {
        const WHILE: Duration = Duration::from_millis(50);
        self.refuse_in_own_loop(py)?;
        if self.driver.is_this_thread() {
            return Err(self.driver.busy());
        }
        let left = deadline.map_or(WHILE, |end| end.saturating_duration_since(Instant::now()).min(WHILE));
        py.detach(|| {
            let busy = |state: &mut State| matches!(state, State::Busy);
            drop(self.changed.wait_timeout_while(self.lock(), left, busy));
        });
        py.check_signals()
    }

    /// The state after the call returned, whether or not its queued work is done.
    fn finish(&self, py: Python<'_>, values: Vec<Value>, fence: Arc<Fence>) -> (State, Turn) {
        match fence.poll().map(|reached| reached.and_then(|()| self.watch.check())) {
            None if self.deadline.is_some_and(|end| Instant::now() >= end) => {
                (self.failed(py, &past_deadline()), Turn::Ended)
            }
            None => (State::Finishing(values, fence), Turn::Waits),
            Some(Ok(())) => (State::Done(values), Turn::Ended),
            Some(Err(status)) => (self.failed(py, &status), Turn::Ended),
        }
    }

    #[cold]
    fn failed(&self, py: Python<'_>, status: &Status) -> State {
        let error = if self.function.is_empty() {
            to_python(py, INVOKING, status)
        } else {
            call_failed(py, &self.function, status)
        };
        State::Failed(error.into_value(py))
    }

    /// What becomes of a call that was cancelled.
    fn cancelled(&self, py: Python<'_>) -> State {
        self.failed(py, &Status::cancelled("the call was cancelled"))
    }

    /// What the call waits for now; None when a step would get further.
    fn pending(&self) -> Option<Arc<dyn Wait>> {
        match &*self.lock() {
            State::Running(_, wait) => wait.clone(),
            State::Finishing(_, fence) => Some(Arc::new(FenceWait(fence.clone()))),
            _ => None,
        }
    }

    /// Runs to the end, sleeping while the call waits; Ctrl-C ends it.
    pub fn finish_now(&self, py: Python<'_>) -> PyResult<Vec<Value>> {
        self.wait_until(py, None)?;
        self.values(py)
    }

    /// Whether the call ended before `deadline`.
    fn wait_until(&self, py: Python<'_>, deadline: Option<Instant>) -> PyResult<bool> {
        // That of the call itself: when it is past, the next step raises.
        let end = self.deadline.into_iter().chain(deadline).min();
        loop {
            match self.try_advance(py, &By::Caller)? {
                Some(Turn::Ended) => return Ok(true),
                Some(_) => {}
                None => {
                    self.wait_for_driver(py, deadline)?;
                    if deadline.is_some_and(|d| Instant::now() >= d) {
                        return Ok(false);
                    }
                    continue;
                }
            }
            self.refuse_in_own_loop(py)?;
            match self.pending() {
                Some(wait) => {
                    if !wait_for(py, &*wait, end)? && deadline.is_some_and(|d| Instant::now() >= d) {
                        return Ok(false);
                    }
                }
                None => {
                    py.check_signals()?;
                    if deadline.is_some_and(|d| Instant::now() >= d) {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// The loop cannot run what the call waits for while its thread sleeps.
    fn refuse_in_own_loop(&self, py: Python<'_>) -> PyResult<()> {
        let own = self.event_loop.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|own| own.clone_ref(py));
        match (own, running_loop(py)?) {
            (Some(own), Some(running)) if running.is(&own) => {
                Err(PyRuntimeError::new_err("the call belongs to the event loop of this thread; use await"))
            }
            _ => Ok(()),
        }
    }

    fn values(&self, py: Python<'_>) -> PyResult<Vec<Value>> {
        match &*self.lock() {
            State::Done(values) => Ok(values.clone()),
            State::Running(..) | State::Finishing(..) | State::Busy => Err(not_ended()),
            State::Failed(error) => Err(raised(py, error)),
        }
    }
}

fn not_ended() -> PyErr {
    PyRuntimeError::new_err("the call has not ended; call wait() or step()")
}

fn raised(py: Python<'_>, error: &Py<PyBaseException>) -> PyErr {
    PyErr::from_value(error.bind(py).clone().into_any())
}

#[pymethods]
impl Invocation {
    /// Runs until the call ends (True) or has to wait (False). Raises what the call raises. Coroutines that it meets are
    /// run by `event_loop`, which must be the one of this thread, else by a loop of the process.
    #[pyo3(signature = (event_loop = None))]
    fn step(&self, py: Python<'_>, event_loop: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        self.advance(py, &event_loop.map_or(By::Caller, By::Driver))
    }

    /// What `event_loop`, which is the one of this thread, can do at once: as `step`, but in a moment. None when there is
    /// more to do now, which is for another thread to `help` with.
    fn turn(&self, py: Python<'_>, event_loop: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
        // With another thread inside, `on_ready` tells when it is out.
        Ok(self.try_advance(py, &By::Loop(event_loop))?.unwrap_or(Turn::Waits).in_python())
    }

    /// What any thread can do, for some milliseconds, or as long as one dispatch takes: as `turn`. What the call raises is
    /// for the next `turn`.
    fn help(&self, py: Python<'_>) -> Option<bool> {
        match self.try_advance(py, &By::Helper) {
            Ok(turn) => turn.and_then(Turn::in_python),
            Err(_) => None,
        }
    }

    /// Calls with the same number have variables in common: what drives them on one thread interleaves them only where
    /// they wait.
    #[getter]
    fn context_id(&self) -> usize {
        self.context
    }

    /// Ends the call and releases what it holds: who asks for results gets a `StatusError` CANCELLED. False when the call
    /// had ended. Work that it has queued on a device is done all the same.
    fn cancel(&self, py: Python<'_>) -> bool {
        // Made here: Python code may run while it is, and must not find the state locked.
        let next = self.cancelled(py);
        let dropped = {
            let mut state = self.lock();
            match &*state {
                State::Done(_) | State::Failed(_) => return false,
                State::Busy => {
                    self.cancelled.store(true, Ordering::Release);
                    return true;
                }
                State::Running(..) | State::Finishing(..) => std::mem::replace(&mut *state, next),
            }
        };
        // Outside of the lock: what is released may run any code.
        drop(dropped);
        true
    }

    /// Instructions that the call has used of its fuel: what it executed, or a little more.
    #[getter]
    fn fuel_used(&self) -> u64 {
        match &*self.lock() {
            State::Running(inner, _) => inner.fuel_used(),
            _ => self.fuel_used.load(Ordering::Relaxed),
        }
    }

    /// Seconds until the deadline of the call, which the next step after it raises; None when there is none or no step.
    #[getter]
    fn time_left(&self) -> Option<f64> {
        match &*self.lock() {
            State::Running(..) | State::Finishing(..) => {
                self.deadline.map(|end| end.saturating_duration_since(Instant::now()).as_secs_f64())
            }
            _ => None,
        }
    }

    /// Whether the call has ended in any way: with results, by an exception, by `cancel()`.
    #[getter]
    fn done(&self) -> bool {
        matches!(&*self.lock(), State::Done(_) | State::Failed(_))
    }

    /// Whether it has ended without results; `exception()` says why.
    #[getter(failed)]
    fn has_failed(&self) -> bool {
        matches!(&*self.lock(), State::Failed(_))
    }

    /// What `results()` raises, or None when there are results. RuntimeError while the call has not ended.
    fn exception(&self, py: Python<'_>) -> PyResult<Option<Py<PyBaseException>>> {
        match &*self.lock() {
            State::Done(_) => Ok(None),
            State::Failed(error) => Ok(Some(error.clone_ref(py))),
            State::Running(..) | State::Finishing(..) | State::Busy => Err(not_ended()),
        }
    }

    /// Whether a step would get further: what the call waits for has happened.
    #[getter]
    fn ready(&self) -> bool {
        if matches!(&*self.lock(), State::Busy | State::Failed(_)) {
            return false;
        }
        self.pending().is_none_or(|wait| wait.is_ready())
    }

    /// Blocks until the call ended or `timeout` seconds have passed (then TimeoutError); the call can go on later. Several
    /// threads may wait for one call: one of them drives it.
    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        if self.wait_until(py, deadline_in(timeout))? {
            return Ok(());
        }
        Err(pyo3::exceptions::PyTimeoutError::new_err("the call did not finish in time"))
    }

    /// Calls `callback()` once when a step would get further, on whatever thread makes it so; at once when it would now.
    fn on_ready(&self, callback: Py<PyAny>) {
        {
            let state = self.lock();
            if matches!(*state, State::Busy) {
                return self.when_out.push(callback);
            }
        }
        let callback = callback_once(callback);
        match self.pending() {
            Some(wait) => wait.on_ready(Box::new(callback)),
            None => callback(),
        }
    }

    /// The results: None, one object, or a tuple. RuntimeError while the call has not ended.
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut values = self.values(py)?;
        self.narrow.fit(&mut values);
        if let Some(allocator) = &self.kept {
            own_results(py, &mut values, allocator, true)?;
        }
        results_object(py, values)
    }

    /// The exception of a failed call knows the frames that it came through, and these the call.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.when_out.visit(&visit)?;
        // Another thread is at work when it is locked; what is in use is no garbage.
        match self.state.try_lock().as_deref() {
            Ok(State::Failed(error)) => visit.call(error),
            _ => Ok(()),
        }
    }

    fn __clear__(&self) {
        let cleared = match self.state.try_lock().as_deref_mut() {
            Ok(state @ State::Failed(_)) => Some(std::mem::replace(state, State::Busy)),
            _ => None,
        };
        drop(cleared);
    }

    /// Inside asyncio: gives the results and lets other tasks run while the call waits. When that is cancelled, the call
    /// can be awaited again, or ended with `cancel()`.
    fn __await__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        static DRIVE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        driving::drive(slf, &DRIVE, "drive")?.invoke_method("__await__", ())
    }
}
