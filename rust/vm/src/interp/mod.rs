//! Executes translated functions.
//!
//! [`Machine`] is one invocation: the stack of its frames, what is left of its limits, and why it stopped. `handlers` has
//! the operations, `state` how they follow each other. They access registers unchecked: what they rely on is proved by
//! the verifier and kept by the frames here.

mod bulk;
mod handlers;
mod imports;
mod manners;
mod math;
mod ops;
mod stack;
mod state;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;
use std::time::Instant;

use self::stack::{Header, Stack, caller, header, slot};
use self::state::{Signal, dispatch};
use crate::bytecode::{Function, Inst, X, kind};
use crate::cconv::Kind;
use crate::context::{BytecodeInstance, Instance};
use crate::float_mode;
use crate::isa::reg;
use crate::limits::{Account, Budget, Caller, Limits, MAX_STACK, too_many_calls};
use crate::manner::Manner;
use crate::module::{Module, Outside, Wait};
use crate::slot::Slot;
use crate::status::{Result, Status};
use crate::value::Value;

pub(crate) use stack::{frame_units, slot_unit};

#[cfg(target_endian = "big")]
compile_error!("64-bit registers are pairs of cells, low half first; big-endian machines need another register file");
#[cfg(not(target_pointer_width = "64"))]
compile_error!("references in frames are two words of 8 bytes; other machines need other operands");

/// Why the run stopped.
pub(crate) enum Exit {
    /// The outermost function returned this.
    Done(Vec<Value>),
    /// `vm.yield`.
    Yielded,
    /// An import waits.
    Suspended(Arc<dyn Wait>),
}

/// One invocation of bytecode.
pub(crate) struct Machine {
    stack: Stack,
    /// Where the stack ends.
    end: *mut u8,
    /// Calls that may be active below the innermost one, by the limit of the call.
    own_depth: u32,
    /// And by that of its caller.
    max_depth: u32,
    /// The innermost frame, when operations are not running; null without frames.
    fp: *mut u32,
    /// Where it goes on.
    ip: *const Inst,
    budget: Budget,
    /// What native code sees of it that calls the VM again; it has what is left of the current slice.
    account: Arc<Account>,
    /// What native calls get beside their arguments.
    outside: Outside,
    /// Bytes of functions that this prompt step may still translate.
    promptly: usize,
    /// Why operations stopped.
    stopped: Option<Result<Exit>>,
    /// Keeps everything alive that frames point to; none only while the machine is in the pool, without frames.
    root: Option<Arc<Instance>>,
}

// SAFETY: the pointers lead into the stack, and into instances, which are Sync and kept alive by `root`.
unsafe impl Send for Machine {}

impl Default for Machine {
    fn default() -> Machine {
        Machine {
            stack: Stack::default(),
            end: ptr::null_mut(),
            own_depth: u32::MAX,
            max_depth: u32::MAX,
            fp: ptr::null_mut(),
            ip: ptr::null(),
            budget: Budget::default(),
            account: Arc::default(),
            outside: Outside::default(),
            promptly: 0,
            stopped: None,
            root: None,
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.clear();
    }
}

thread_local! {
    /// Machines between two calls, so that a call need not allocate its stack.
    // The boxes go in and out as they are.
    #[allow(clippy::vec_box)]
    static POOL: RefCell<Vec<Box<Machine>>> = const { RefCell::new(Vec::new()) };
}

/// Innermost and outermost calls that an error names.
const TRACED: u32 = 16;
/// Machines that a thread keeps.
const POOL_SIZE: usize = 4;
/// Bytes of stack that a kept machine may hold.
const POOL_STACK: usize = 1 << 16;

/// A machine that returns to the pool of the thread that drops it.
pub(crate) struct Pooled(Option<Box<Machine>>);

impl Deref for Pooled {
    type Target = Machine;

    fn deref(&self) -> &Machine {
        // It is `Some` until dropped.
        self.0.as_ref().unwrap_or_else(|| unreachable!())
    }
}

impl DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut Machine {
        self.0.as_mut().unwrap_or_else(|| unreachable!())
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        let Some(mut machine) = self.0.take() else { return };
        // Releasing references can run any code, also other calls, so this comes before the pool is borrowed.
        machine.clear();
        machine.root = None;
        if machine.stack.size() <= POOL_STACK {
            // A thread that is ending has no pool; then the machine is dropped.
            let _ = POOL.try_with(|pool| {
                if let Ok(mut pool) = pool.try_borrow_mut()
                    && pool.len() < POOL_SIZE
                {
                    pool.push(machine);
                }
            });
        }
    }
}

impl Machine {
    /// A machine about to execute function `ordinal`; `args` fit its calling convention.
    pub fn start(root: Arc<Instance>, ordinal: usize, args: Vec<Value>, limits: &Limits) -> Result<Pooled> {
        let Instance::Bytecode(instance) = &*root else {
            return Err(Status::internal("not a bytecode module"));
        };
        let (instance, function) = (ptr::from_ref(instance), ptr::from_ref(&instance.module.functions[ordinal]));
        let pooled = POOL.try_with(|pool| pool.try_borrow_mut().ok()?.pop()).ok().flatten();
        let mut machine = Pooled(Some(pooled.unwrap_or_default()));
        if limits.max_stack_depth == Some(0) {
            return Err(too_many_calls(0));
        }
        machine.root = Some(root);
        machine.outside.manner = Manner::Ordinary;
        machine.own_depth = limits.max_stack_depth.map_or(u32::MAX, |depth| depth.saturating_sub(1));
        machine.budget = Budget::new(limits);
        let first = machine.budget.first();
        machine.account.calls_to_look.set(1);
        machine.account.fuel.set(first);
        // SAFETY: the root keeps both alive, here and below. All instances of a context have one quota.
        machine.outside.quota.clone_from(unsafe { &(*instance).quota });
        // SAFETY: as above.
        unsafe { machine.push_outermost(&*instance, &*function, args)? };
        Ok(machine)
    }

    fn push_outermost(&mut self, instance: &BytecodeInstance, function: &Function, args: Vec<Value>) -> Result<()> {
        let mut fp = self.stack.first();
        if function.end(fp) > self.stack.end() {
            let need = self.stack.offset(function.end(fp).cast());
            self.stack.grow(need, MAX_STACK)?;
            fp = self.stack.first();
        }
        self.end = self.stack.end();
        // SAFETY: the frame fits; references are written before anything reads or drops them, arguments fit the cconv.
        unsafe {
            *header(fp) = Header { function, instance, ip: ptr::null(), back: 0, depth: 0, lent: 0 };
            for ordinal in 0..function.refs {
                ptr::from_mut(slot(fp, slot_unit(function.cells, ordinal))).write(Slot::NULL);
            }
            self.fp = fp;
            let (mut cell, mut reference) = (0, 0);
            for value in args {
                match value {
                    Value::I32(v) => *fp.add(cell) = v as u32,
                    Value::F32(v) => *fp.add(cell) = v.to_bits(),
                    Value::I64(v) => cell = store_wide(fp, cell, v as u64),
                    Value::F64(v) => cell = store_wide(fp, cell, v.to_bits()),
                    Value::Ref(object) => {
                        *slot(fp, slot_unit(function.cells, reference)) = Slot::new(object);
                        reference += 1;
                        continue;
                    }
                }
                cell += 1;
            }
        }
        self.ip = function.entry.load(Acquire);
        self.account.fuel.set(self.account.fuel.get() - function.cost);
        Ok(())
    }

    /// Executes until the outermost function returns, something waits, or an error ends it all.
    pub fn run(&mut self) -> Result<Exit> {
        let _floats = float_mode::standard();
        if self.fp.is_null() {
            return Err(Status::failed_precondition("the invocation has already finished"));
        }
        let caller = Caller::here();
        match caller.admit(self.own_depth) {
            Ok(depth) => self.max_depth = depth,
            Err(status) => return Err(self.unwind(status)),
        }
        let own = self.budget.deadline();
        let deadline = own.into_iter().chain(caller.deadline).min();
        self.budget.set_deadline(deadline);
        self.account.fuel.set(self.budget.begin(self.account.fuel.get(), caller.fuel));
        let entered = self.account.enter(&caller, deadline, self.budget.limits());
        let outcome = match self.budget.check_deadline_now() {
            Ok(()) => self.go_on(),
            Err(status) => Err(self.unwind(status)),
        };
        drop(entered);
        self.budget.take(self.account.nested.take());
        self.budget.set_deadline(own);
        caller.charge(self.budget.end(self.account.fuel.get()));
        outcome
    }

    /// The run itself.
    fn go_on(&mut self) -> Result<Exit> {
        self.account.max_depth.set(self.max_depth);
        loop {
            if self.account.fuel.get() < 0 {
                if self.outside.manner == Manner::Prompt || self.budget.turn_is_over() {
                    return Ok(Exit::Yielded);
                }
                self.budget.take(self.account.nested.take());
                match self.budget.refill(self.account.fuel.get()) {
                    Ok(fuel) => self.account.fuel.set(fuel),
                    Err(status) => return Err(self.unwind(status)),
                }
            }
            self.account.beyond.set(self.budget.beyond());
            let fuel = self.account.fuel.get();
            // SAFETY: the machine's frames are whole, and it is noted where they go on.
            let signal = unsafe { dispatch(self.fp, self.ip, self, &raw const handlers::TABLE, fuel) };
            if signal == Signal::Stopped {
                return match self.stopped.take() {
                    Some(Ok(exit)) => Ok(exit),
                    Some(Err(status)) => Err(self.unwind(status)),
                    None => Err(self.unwind(Status::internal("operations stopped without a reason"))),
                };
            }
        }
    }

    /// Fuel used so far.
    pub fn fuel_used(&self) -> u64 {
        self.budget.used(self.account.fuel.get())
    }

    /// Sets when runs come back, though they could go on.
    pub fn set_turn(&mut self, end: Option<Instant>) {
        self.budget.set_turn(end);
    }

    /// Gives up, because of `status`: what is returned says where.
    pub fn abandon(&mut self, status: Status) -> Status {
        self.unwind(status)
    }

    /// Counts a native call that has ended, and looks at the limits now and then.
    #[inline(always)]
    fn native_call(&mut self) -> Result<()> {
        let left = self.account.calls_to_look.get() - 1;
        self.account.calls_to_look.set(left);
        if left == 0 { self.look_after_calls() } else { Ok(()) }
    }

    #[cold]
    fn look_after_calls(&mut self) -> Result<()> {
        self.account.calls_to_look.set(1);
        let nested = self.account.nested.take() as usize;
        self.account.fuel.set(self.account.fuel.get().saturating_sub_unsigned(nested));
        let next = self.budget.look_after_calls()?;
        self.account.calls_to_look.set(next);
        Ok(())
    }

    /// Notes where operations have got to.
    fn save(&mut self, fp: *mut u32, ip: *const Inst, fuel: isize) {
        (self.fp, self.ip) = (fp, ip);
        self.account.fuel.set(fuel);
    }

    /// Notes why the run stops at `ip`; null, for an instruction behind it.
    #[cold]
    fn stop(&mut self, fp: *mut u32, ip: *const Inst, reason: Result<Exit>) -> *const Inst {
        (self.fp, self.ip) = (fp, ip);
        self.stopped = Some(reason);
        ptr::null()
    }

    /// Looks at the clock, and asks who may have ended the call.
    fn look(&mut self) -> Result<()> {
        self.budget.look(Instant::now())
    }

    /// Drops all frames and values.
    fn clear(&mut self) {
        while !self.fp.is_null() {
            self.pop();
        }
        self.outside.clear();
        self.stopped = None;
    }

    /// Drops the innermost frame and what its references still hold.
    fn pop(&mut self) {
        let fp = self.fp;
        // SAFETY: a frame whose function is alive; its references are never uninitialised.
        unsafe {
            let Header { function, back, lent, .. } = *header(fp);
            // First of all, so that nothing is dropped twice if dropping panics.
            self.fp = if back == 0 { ptr::null_mut() } else { caller(fp, back) };
            for ordinal in 0..(*function).refs {
                let slot = slot(fp, slot_unit((*function).cells, ordinal));
                if ordinal >= 64 || lent >> ordinal & 1 == 0 {
                    slot.clear();
                }
            }
        }
    }

    /// Adds the active functions to an error and releases everything.
    #[cold]
    fn unwind(&mut self, mut status: Status) -> Status {
        let mut text = String::new();
        let (mut fp, mut ip, mut index) = (self.fp, self.ip, 0);
        while !fp.is_null() {
            // SAFETY: a frame whose instance and function are alive; callers are at their calls.
            unsafe {
                let header = header(fp);
                let (module, ordinal) = (&(*header.instance).module, (*header.function).ordinal);
                let pc = (*header.function).pc_of(ip);
                match header.depth {
                    depth if index < TRACED || depth < TRACED => {
                        let place = module.archive().place(ordinal, pc);
                        let name = module.function_name(ordinal).or(place.function.as_deref()).unwrap_or("-");
                        let _ = write!(text, "\n[{index:2}] bytecode {}@{ordinal}:{pc} {name}", module.name());
                        if let Some(location) = place.location {
                            let _ = write!(text, " at {location}");
                            if index == 0 {
                                status = ops::with_place(status, &location);
                            }
                        }
                    }
                    depth if index == TRACED => {
                        let _ = write!(text, "\n... {} more ...", depth + 1 - TRACED);
                    }
                    _ => {}
                }
                fp = if header.back == 0 { ptr::null_mut() } else { caller(fp, header.back) };
                if !fp.is_null() {
                    ip = stack::header(fp).ip;
                }
            }
            index += 1;
        }
        self.clear();
        status.annotate(text)
    }
}

/// Puts an argument of 64 bits into the next even cell; the cell of its high half.
///
/// # Safety
/// The frame has both cells.
unsafe fn store_wide(fp: *mut u32, cell: usize, bits: u64) -> usize {
    let cell = cell.next_multiple_of(2);
    // SAFETY: the caller's.
    unsafe { fp.add(cell).cast::<u64>().write_unaligned(bits) };
    cell + 1
}

/// Returns from the outermost function.
///
/// # Safety
/// The parameters are those of a Return operation in the outermost frame.
#[cold]
#[inline(never)]
unsafe fn leave(fp: *mut u32, ip: *const Inst, m: *mut Machine, fuel: isize) -> Signal {
    let s = state::State { fp, ip, m, table: ptr::null(), fuel };
    // SAFETY: the caller's.
    unsafe {
        let kinds = &(*header(fp).function).cconv.results;
        let inst = s.inst();
        let read = |kind: Kind, operand: u16| match kind {
            Kind::I32 => Value::I32(s.i32(operand)),
            Kind::F32 => Value::F32(s.f32(operand)),
            Kind::I64 => Value::I64(s.i64(operand)),
            Kind::F64 => Value::F64(s.f64(operand)),
            Kind::Ref => Value::Ref(s.take_ref(operand)),
        };
        let results = if inst.op == X::Return as u16 {
            (0..usize::from(inst.a)).map(|i| read(kind::of(s.word(1 + i).op), s.word(1 + i).a)).collect()
        } else {
            kinds.iter().map(|kind| read(*kind, inst.a)).collect()
        };
        let machine = &mut *m;
        machine.save(fp, ip, fuel);
        machine.pop();
        machine.stopped = Some(Ok(Exit::Done(results)));
    }
    Signal::Stopped
}

/// Makes room for a frame of `function`, or fails: the call at `ip` is made again.
///
/// # Safety
/// The parameters are those of a call.
#[cold]
#[inline(never)]
unsafe fn overflow(fp: *mut u32, ip: *const Inst, m: *mut Machine, fuel: isize, function: *const Function) -> Signal {
    // SAFETY: the caller's.
    unsafe {
        let machine = &mut *m;
        let depth = header(fp).depth;
        machine.save(fp, ip, fuel);
        let offset = machine.stack.offset(fp);
        let callee = fp.cast::<u64>().add((*ip).a.into()).cast::<u32>();
        let need = machine.stack.offset((*function).end(callee).cast());
        let grown = if depth >= machine.max_depth {
            // By the caller's limit, what the caller has active counts.
            let below = if machine.max_depth < machine.own_depth { machine.account.below() } else { 0 };
            Err(too_many_calls(below + depth + 1))
        } else {
            let calls = |status: Status| status.annotate(format!("{} calls are active", depth + 1));
            machine.stack.grow(need, MAX_STACK).map_err(calls)
        };
        machine.end = machine.stack.end();
        machine.fp = machine.stack.at(offset);
        match grown {
            Ok(()) => Signal::Resume,
            Err(status) => {
                machine.stopped = Some(Err(status));
                Signal::Stopped
            }
        }
    }
}

// The operands of moved references leave their highest bit free.
const _: () = assert!(frame_units(1 << 14, 1 << 13) < 1 << 15);
// Registers name references with fewer bits than operands have.
const _: () = assert!(reg::REF_MASK as usize >= 1 << 13);
