//! One call in progress: it runs until it is done or waits, and can be resumed any number of times.
//!
//! Nothing here blocks a thread unless [`Invocation::finish`] is asked for, so one thread can drive many invocations.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::cconv::{Item, Kind};
use crate::context::{Context, Instance, NativeInstance};
use crate::interp::{Exit, Machine, Pooled};
use crate::interrupt;
use crate::limits::{Account, Caller, Limits, past_deadline, too_many_calls};
use crate::manner::Manner;
use crate::mapped::Watch;
use crate::module::{Arguments, CallFrame, Flow, Outside, Wait};
use crate::status::{Annotate, Result, Status};
use crate::timeline;
use crate::value::Value;

/// How far [`Invocation::step`] got.
pub enum Step {
    /// Finished, with these results.
    Done(Vec<Value>),
    /// Call `step` again: when the wait is over, or at any time when there is none (a bare `vm.yield`).
    Pending(Option<Arc<dyn Wait>>),
}

impl Step {
    /// In a word, for timelines.
    fn outcome(&self) -> &'static str {
        match self {
            Step::Done(_) => "done",
            Step::Pending(Some(_)) => "waits",
            Step::Pending(None) => "yields",
        }
    }
}

/// How long bytecode of one call runs before others have their turn.
const TURN: Duration = Duration::from_millis(10);

enum Stage {
    Native(Box<NativeCall>),
    Bytecode(Pooled),
    Finished,
}

/// A call of a native function from outside.
struct NativeCall {
    args: Arguments,
    outside: Outside,
    limits: Limits,
    /// What the function's own calls are charged to.
    account: Account,
    /// Fuel that they have used.
    used: u64,
}

/// A call in progress. Dropping it releases everything it holds.
pub struct Invocation {
    stage: Stage,
    // Declared after `stage`: frames refer to what these keep alive.
    instance: Arc<Instance>,
    ordinal: usize,
    deadline: Option<Instant>,
    fuel_used: u64,
    watch: Watch,
    _context: Option<Context>,
}

impl Invocation {
    /// A call of function `ordinal` of `instance`.
    pub(crate) fn on_instance(
        instance: Arc<Instance>,
        ordinal: usize,
        args: Vec<Value>,
        limits: &Limits,
    ) -> Result<Invocation> {
        instance.check_files()?;
        let watch = Watch::start();
        let args = check_args(&instance, ordinal, args)?;
        let limits = &limits.started();
        let stage = match &*instance {
            Instance::Native(_) => Stage::Native(Box::new(NativeCall::new(args, limits)?)),
            Instance::Bytecode(_) => Stage::Bytecode(Machine::start(instance.clone(), ordinal, args, limits)?),
        };
        Ok(Invocation { stage, instance, ordinal, deadline: limits.deadline, fuel_used: 0, watch, _context: None })
    }

    pub(crate) fn keep_context(mut self, context: Context) -> Invocation {
        self._context = Some(context);
        self
    }

    /// Runs until the result is there or something must be waited for.
    ///
    /// After an error or a result there is nothing left to run: FAILED_PRECONDITION.
    pub fn step(&mut self) -> Result<Step> {
        if tiree_trace::timeline() {
            let instance = self.instance.clone();
            return timeline::call(&instance, self.ordinal, Step::outcome, || self.advance());
        }
        self.advance()
    }

    /// As [`step`](Self::step), but comes back with `Pending(None)` rather than run for long, block, or wait for a lock that
    /// is held while something else is waited for: callers may hold what other threads need to go on, such as Python's
    /// global lock. It stays within one slice of fuel and calls native functions only as far as they are
    /// [prompt](crate::NativeModule::is_prompt). A wait that would be over at once is no reason to come back.
    pub fn step_promptly(&mut self) -> Result<Step> {
        if !matches!(self.stage, Stage::Bytecode(_)) {
            return Ok(Step::Pending(None));
        }
        self.step_in(Manner::Prompt, None)
    }

    /// As [`step`](Self::step), but comes back with `Pending(None)` after some milliseconds of bytecode: for threads that
    /// have other things to do.
    pub fn step_in_turns(&mut self) -> Result<Step> {
        self.step_in(Manner::Ordinary, Some(TURN))
    }

    /// As [`step`](Self::step), but comes back with `Pending(None)` after a millisecond of bytecode, and rather than do device
    /// work that is known to take about as long: for threads that have other things to do, such as event loops. The rest is
    /// for [`step_away`](Self::step_away).
    pub fn step_briefly(&mut self) -> Result<Step> {
        self.step_in(Manner::Brief, Some(Duration::from_millis(1)))
    }

    /// As [`step`](Self::step), for a thread that helps the one that drives the call: comes back with `Pending(None)` before
    /// functions of modules that [need the latter](crate::NativeModule::needs_its_thread), see
    /// [`needs_its_thread`](Self::needs_its_thread), and after some milliseconds of bytecode, as others want help too.
    pub fn step_away(&mut self) -> Result<Step> {
        if self.is_at_home() {
            return Ok(Step::Pending(None));
        }
        self.step_in(Manner::Away, Some(TURN))
    }

    /// Whether the last [`step_away`](Self::step_away) came to a function that needs the driving thread.
    pub fn needs_its_thread(&self) -> bool {
        match &self.stage {
            Stage::Bytecode(machine) => machine.called_home(),
            _ => self.is_at_home(),
        }
    }

    /// Whether it is the call of a function that needs the driving thread.
    fn is_at_home(&self) -> bool {
        match (&self.stage, &*self.instance) {
            (Stage::Native(_), Instance::Native(native)) => native.module.needs_its_thread(),
            _ => false,
        }
    }

    fn step_in(&mut self, manner: Manner, turn: Option<Duration>) -> Result<Step> {
        if let Stage::Bytecode(machine) = &mut self.stage {
            machine.set_manner(manner);
            machine.set_turn(turn.map(|turn| Instant::now() + turn));
        }
        let step = self.step();
        if let Stage::Bytecode(machine) = &mut self.stage {
            let called_home = machine.called_home();
            machine.set_manner(Manner::Ordinary);
            machine.set_called_home(called_home);
            machine.set_turn(None);
        }
        step
    }

    fn advance(&mut self) -> Result<Step> {
        let outcome = match &mut self.stage {
            Stage::Bytecode(machine) => {
                let outcome = machine.run();
                self.fuel_used = machine.fuel_used();
                match outcome {
                    Ok(Exit::Done(results)) => Ok(Step::Done(results)),
                    Ok(Exit::Yielded) => return Ok(Step::Pending(None)),
                    Ok(Exit::Suspended(wait)) => return Ok(Step::Pending(Some(wait))),
                    Err(status) => Err(status),
                }
            }
            // Bytecode looks at the clock itself.
            Stage::Native(_) if self.deadline.is_some_and(|end| Instant::now() >= end) => Err(past_deadline()),
            Stage::Native(call) => {
                let outcome = call.run(&self.instance, self.ordinal);
                self.fuel_used = call.used;
                match outcome {
                    Ok(NativeOutcome::Done(results)) => Ok(Step::Done(results)),
                    Ok(NativeOutcome::Suspended(wait)) => return Ok(Step::Pending(Some(wait))),
                    Err(status) => Err(status),
                }
            }
            Stage::Finished => Err(Status::failed_precondition("the invocation has already finished")),
        };
        self.stage = Stage::Finished;
        checked(outcome, self.watch)
    }

    /// Fuel used so far, see [`limits`](crate::limits): by the calls that it makes too. Native functions use none themselves.
    pub fn fuel_used(&self) -> u64 {
        self.fuel_used
    }

    /// The deadline of the call's limits.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Runs to the end; the thread sleeps while the call waits. DEADLINE_EXCEEDED when the call's deadline passes.
    pub fn finish(self) -> Result<Vec<Value>> {
        if tiree_trace::timeline() {
            let (instance, ordinal) = (self.instance.clone(), self.ordinal);
            return timeline::call(&instance, ordinal, |_| "done", || self.finish_untraced());
        }
        self.finish_untraced()
    }

    fn finish_untraced(mut self) -> Result<Vec<Value>> {
        let mut pause = Pause::default();
        loop {
            match self.advance()? {
                Step::Done(results) => return Ok(results),
                Step::Pending(Some(wait)) => {
                    if !interrupt::wait(&*wait, self.deadline)? {
                        return Err(past_deadline());
                    }
                }
                Step::Pending(None) => pause.give_way()?,
            }
        }
    }

    /// As [`Invocation::finish`], but gives up with DEADLINE_EXCEEDED when a wait lasts longer than `deadline`; the call
    /// can then be continued later.
    pub fn finish_by(&mut self, deadline: Instant) -> Result<Vec<Value>> {
        let mut pause = Pause::default();
        loop {
            match self.step()? {
                Step::Done(results) => return Ok(results),
                Step::Pending(Some(wait)) if !wait.wait(Some(deadline)) => {
                    return Err(Status::deadline_exceeded("the call did not finish in time"));
                }
                Step::Pending(None) if Instant::now() >= deadline => {
                    return Err(Status::deadline_exceeded("the call did not finish in time"));
                }
                Step::Pending(_) => pause.yield_now(),
            }
        }
    }
}

/// `outcome`, unless it may come from zeros that were read instead of a file.
#[inline]
fn checked<T>(outcome: Result<T>, watch: Watch) -> Result<T> {
    match (watch.check(), outcome) {
        (Ok(()), outcome) => outcome,
        (Err(lost), Ok(_)) => Err(lost),
        (Err(lost), Err(status)) => Err(lost.annotate(status.message())),
    }
}

/// Calls function `ordinal` of `instance`; the thread sleeps while the call waits.
pub(crate) fn invoke(
    instance: &Arc<Instance>,
    ordinal: usize,
    args: Vec<Value>,
    limits: &Limits,
) -> Result<Vec<Value>> {
    if tiree_trace::timeline() {
        return timeline::call(instance, ordinal, |_| "done", || invoke_untraced(instance, ordinal, args, limits));
    }
    invoke_untraced(instance, ordinal, args, limits)
}

fn invoke_untraced(instance: &Arc<Instance>, ordinal: usize, args: Vec<Value>, limits: &Limits) -> Result<Vec<Value>> {
    if matches!(**instance, Instance::Native(_)) {
        return Invocation::on_instance(instance.clone(), ordinal, args, limits)?.finish_untraced();
    }
    instance.check_files()?;
    let watch = Watch::start();
    let args = check_args(instance, ordinal, args)?;
    let limits = &limits.started();
    let mut machine = Machine::start(instance.clone(), ordinal, args, limits)?;
    let mut pause = Pause::default();
    loop {
        match checked(machine.run(), watch)? {
            Exit::Done(results) => return Ok(results),
            Exit::Suspended(wait) => {
                if !interrupt::wait(&*wait, limits.deadline)? {
                    return Err(machine.abandon(past_deadline()));
                }
            }
            Exit::Yielded => pause.give_way()?,
        }
    }
}

/// Lets others run after a bare `vm.yield`: once in a while, as on a busy machine each time may cost milliseconds, which
/// no fuel pays for.
#[derive(Default)]
struct Pause {
    last: Option<Instant>,
}

impl Pause {
    const EVERY: Duration = Duration::from_millis(1);

    fn yield_now(&mut self) {
        if self.last.is_none_or(|last| last.elapsed() >= Pause::EVERY) {
            std::thread::yield_now();
            self.last = Some(Instant::now());
        }
    }

    fn give_way(&mut self) -> Result<()> {
        self.yield_now();
        interrupt::poll()
    }
}

impl NativeCall {
    fn new(args: Vec<Value>, limits: &Limits) -> Result<NativeCall> {
        if limits.max_stack_depth == Some(0) {
            return Err(too_many_calls(0));
        }
        Ok(NativeCall {
            args: Arguments::new(args, &[])?,
            outside: Outside::default(),
            limits: *limits,
            account: Account::default(),
            used: 0,
        })
    }

    /// Calls the function, or calls it again after a suspension.
    fn run(&mut self, instance: &Instance, ordinal: usize) -> Result<NativeOutcome> {
        let (caller, limits) = (Caller::here(), self.limits);
        let own = limits.max_stack_depth.map_or(u32::MAX, |depth| depth - 1);
        self.account.max_depth.set(caller.admit(own)?);
        let left = limits.fuel.map(|fuel| fuel.saturating_sub(self.used));
        self.account.beyond.set(left.into_iter().chain(caller.fuel).min());
        let deadline = limits.deadline.into_iter().chain(caller.deadline).min();
        let limited = limits.fuel.is_some() || deadline.is_some() || limits.max_stack_depth.is_some();
        let entered = self.account.enter(&caller, deadline, limited.then_some(Limits { deadline, ..limits }));
        let outcome = call_native(instance, ordinal, &self.args, &mut self.outside);
        drop(entered);
        let used = self.account.nested.take();
        self.used = self.used.saturating_add(used);
        caller.charge(used);
        outcome
    }
}

enum NativeOutcome {
    Done(Vec<Value>),
    Suspended(Arc<dyn Wait>),
}

fn call_native(instance: &Instance, ordinal: usize, args: &Arguments, outside: &mut Outside) -> Result<NativeOutcome> {
    let Instance::Native(NativeInstance { module, state, cconvs, .. }) = instance else {
        return Err(Status::internal("not a native module"));
    };
    outside.results.clear();
    let flow = module
        .call(&**state, ordinal, &mut CallFrame::new(args, outside))
        .annotate(|| native_name(instance, ordinal))?;
    match flow {
        Flow::Suspend(wait) => Ok(NativeOutcome::Suspended(wait)),
        Flow::NotPrompt => Err(Status::internal("not prompt, in an ordinary step")),
        Flow::Done => {
            let results = std::mem::take(&mut outside.results);
            check_results(&cconvs[ordinal].results, &results).annotate(|| native_name(instance, ordinal))?;
            Ok(NativeOutcome::Done(results))
        }
    }
}

/// What IREE says after an error of a native function.
#[cold]
pub(crate) fn native_name(instance: &Instance, ordinal: usize) -> String {
    match instance {
        Instance::Native(i) => {
            let function = i.module.exports().get(ordinal).map_or("?", |e| e.name);
            format!("while invoking native function {}.{function}", i.module.name())
        }
        Instance::Bytecode(_) => "while invoking a bytecode function".into(),
    }
}

/// Native code that breaks its own calling convention is reported, not believed.
pub(crate) fn check_results(kinds: &[Kind], results: &[Value]) -> Result<()> {
    if kinds.len() == results.len() && kinds.iter().zip(results).all(|(kind, value)| *kind == value.kind()) {
        return Ok(());
    }
    Err(Status::internal(format!("native function returned {results:?}, its calling convention says {kinds:?}")))
}

/// Checks number and kinds of arguments; numbers are converted where no value changes.
fn check_args(instance: &Instance, ordinal: usize, mut args: Vec<Value>) -> Result<Vec<Value>> {
    let items = &instance.cconv(ordinal).args;
    if items.len() != args.len() {
        return Err(Status::invalid_argument(format!(
            "input list and function mismatch; expected {} arguments but passed {}",
            items.len(),
            args.len()
        )));
    }
    for (index, (value, item)) in args.iter_mut().zip(items).enumerate() {
        let Item::Scalar(kind) = item else {
            return Err(Status::unimplemented("functions with variadic arguments can only be called by modules"));
        };
        if value.kind() != *kind {
            *value = convert(value, *kind).ok_or_else(|| {
                Status::invalid_argument(format!("argument {} is {value:?}, the function needs {kind}", index + 1))
            })?;
        }
    }
    Ok(args)
}

fn convert(value: &Value, kind: Kind) -> Option<Value> {
    Some(match (kind, value) {
        (Kind::I32, Value::I64(v)) => Value::I32(i32::try_from(*v).ok()?),
        (Kind::I64, Value::I32(v)) => Value::I64((*v).into()),
        (Kind::F64, Value::F32(v)) => Value::F64((*v).into()),
        _ => return None,
    })
}
