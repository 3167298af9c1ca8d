//! What a module is to the VM, and how native modules are called.

mod arguments;

use std::any::Any;
use std::marker::PhantomData;
use std::slice;
use std::sync::Arc;
use std::time::Instant;

use crate::bytecode::{Inst, MOVE, kind};
use crate::manner::Manner;
use crate::quota::{Charge, Quota};
use crate::refs::{self, Ref, RefObject, Shared};
use crate::slot::Slot;
use crate::status::{Result, Status};
use crate::value::Value;

pub(crate) use arguments::Arguments;

/// A function that a native module offers.
#[derive(Clone, Copy, Debug)]
pub struct NativeExport {
    /// Name within the module, dots allowed: `buffer_view.create`.
    pub name: &'static str,
    /// Calling convention, compared byte for byte with that of importers: `0rIIiiCID_r`.
    pub cconv: &'static str,
}

/// What is common to bytecode modules and native modules.
pub trait Module: Send + Sync {
    /// The name that imports use before the first dot.
    fn name(&self) -> &str;
    /// The version that dependents compare with their minimum: 0 unless it says another.
    fn version(&self) -> u32 {
        0
    }
    /// Ordinal of the export called `name`; of equal names the first.
    fn lookup_export(&self, name: &str) -> Option<usize>;
    /// Names of all exports in ordinal order.
    fn export_names(&self) -> Vec<&str>;
}

/// A module written in Rust (or Python behind a Rust adapter): `hal`, `io_parameters`, `check`, ...
///
/// One module object may serve many contexts and threads; what belongs to a context lives in its state. Several
/// invocations may be inside `call` with the same state at once, so a state that changes locks itself.
pub trait NativeModule: Send + Sync {
    /// The name that imports use before the first dot.
    fn name(&self) -> &str;
    /// The version that dependents compare with their minimum: 0 unless it says another.
    fn version(&self) -> u32 {
        0
    }
    /// All functions; the index is the ordinal given to [`NativeModule::call`].
    fn exports(&self) -> &[NativeExport];
    /// Reflection attributes of export `ordinal`, in order.
    fn attrs(&self, ordinal: usize) -> Vec<(String, String)> {
        let _ = ordinal;
        Vec::new()
    }
    /// State for one new context: nothing, unless it has some.
    fn create_state(&self) -> Result<Box<dyn Any + Send + Sync>> {
        Ok(Box::new(()))
    }
    /// Calls export `ordinal`. Arguments have the kinds that its cconv says; results must be pushed likewise.
    fn call(&self, state: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow>;
    /// Whether [`call`](NativeModule::call) keeps the promise of [`CallFrame::is_prompt`]. Functions of modules that do not
    /// are never called in prompt steps.
    fn is_prompt(&self) -> bool {
        false
    }
    /// Whether functions have to run on the thread that drives the call, as [`step_away`](crate::Invocation::step_away)
    /// does not.
    fn needs_its_thread(&self) -> bool {
        false
    }
    /// DATA_LOSS if pages of a mapped file that calls of it lead to were gone when they were read. Asked only when any
    /// file has lost some.
    fn check_pages(&self) -> Result<()> {
        Ok(())
    }
    /// Export called `name`.
    fn lookup_export(&self, name: &str) -> Option<usize> {
        self.exports().iter().position(|export| export.name == name)
    }
}

/// How a native call ended.
pub enum Flow {
    /// Results are pushed.
    Done,
    /// Nothing is pushed; when the wait is over the same call is made again with the same arguments.
    Suspend(Arc<dyn Wait>),
    /// Nothing is pushed; the call cannot be as short as [`CallFrame::manner`] asks for and is made again in a step that
    /// asks for less.
    NotPrompt,
}

/// Something that becomes ready, once.
pub trait Wait: Send + Sync {
    /// Whether it is over, without waiting. Failure of what is waited for counts as over.
    fn is_ready(&self) -> bool;
    /// Blocks until ready (true) or until `deadline` has passed (false).
    fn wait(&self, deadline: Option<Instant>) -> bool;
    /// Calls `callback` once when ready, on whatever thread makes it so; at once when ready already.
    fn on_ready(&self, callback: Box<dyn FnOnce() + Send>);
    /// Does some of the work that is waited for on this thread; false when there is none that it could do now.
    fn help(&self) -> bool {
        false
    }
}

/// The registers of a frame, for reading. Registers that verified code names are inside.
#[derive(Clone, Copy)]
pub(crate) struct Registers<'a> {
    fp: *const u32,
    frame: PhantomData<&'a Slot>,
}

impl<'a> Registers<'a> {
    /// # Safety
    /// `fp` must point at the registers of a frame that does not change during `'a`, and only operands inside the frame
    /// may be asked for.
    #[inline]
    pub(crate) unsafe fn new(fp: *const u32) -> Registers<'a> {
        Registers { fp, frame: PhantomData }
    }

    #[inline]
    fn narrow(self, operand: u16) -> u32 {
        // SAFETY: inside the frame, as promised to `new`.
        unsafe { *self.fp.add(operand.into()) }
    }

    /// Two cells, low half first.
    #[inline]
    fn wide(self, operand: u16) -> u64 {
        // SAFETY: both cells are inside the frame, as promised to `new`.
        unsafe { self.fp.add(operand.into()).cast::<u64>().read_unaligned() }
    }

    #[inline]
    fn reference(self, operand: u16) -> &'a Slot {
        // SAFETY: inside the frame, which does not change during 'a, as promised to `new`.
        unsafe { &*self.fp.cast::<u64>().add((operand & !MOVE).into()).cast::<Slot>() }
    }

    /// The value in the register that `word` names.
    fn value(self, word: Inst) -> Value {
        match word.op {
            kind::I32 => Value::I32(self.narrow(word.a) as i32),
            kind::F32 => Value::F32(f32::from_bits(self.narrow(word.a))),
            kind::I64 => Value::I64(self.wide(word.a) as i64),
            kind::F64 => Value::F64(f64::from_bits(self.wide(word.a))),
            kind::REF => Value::Ref(self.reference(word.a).to_ref()),
            _ => Value::NULL,
        }
    }
}

/// Arguments and results of one native call.
///
/// Arguments are flattened in order, a span's tuples one after the other. The typed readers walk through them.
pub struct CallFrame<'a> {
    /// Arguments not yet read, each a kind and a register.
    words: slice::Iter<'a, Inst>,
    /// Spans not yet entered, each a count.
    spans: slice::Iter<'a, Inst>,
    registers: Registers<'a>,
    /// What the first of `words` was.
    first: *const Inst,
    outside: &'a mut Outside,
}

/// What is the same for all native calls of an invocation, so that no call has to put it together.
#[derive(Default)]
pub(crate) struct Outside {
    /// What the call in progress has pushed.
    pub results: Vec<Value>,
    /// What a suspended call keeps until it is made again.
    pub resume: Option<Box<dyn Any + Send>>,
    /// What the memory of objects is to be taken from.
    pub quota: Option<Arc<Quota>>,
    /// What calls must observe.
    pub manner: Manner,
    /// A step away from the driving thread came to a function that needs it.
    pub called_home: bool,
}

impl Outside {
    /// Drops what calls have left.
    pub fn clear(&mut self) {
        self.results.clear();
        self.resume = None;
        self.quota = None;
    }
}

/// A place among the arguments of a call.
pub struct Mark<'a>(slice::Iter<'a, Inst>);

impl<'a> CallFrame<'a> {
    /// A frame for a call from outside the VM. Results are appended to those of `outside`, which also has what is kept
    /// between a suspension and the repeated call.
    pub(crate) fn new(arguments: &'a Arguments, outside: &'a mut Outside) -> CallFrame<'a> {
        // SAFETY: every word was made together with its register; all are borrowed for 'a.
        let registers = unsafe { Registers::new(arguments.frame.as_ptr().cast()) };
        CallFrame::on_registers(&arguments.words, &arguments.spans, registers, outside)
    }

    /// A frame whose arguments are registers: each of `words` has a kind and a register, each of `spans` a count.
    #[inline]
    pub(crate) fn on_registers(
        words: &'a [Inst],
        spans: &'a [Inst],
        registers: Registers<'a>,
        outside: &'a mut Outside,
    ) -> CallFrame<'a> {
        let (first, words, spans) = (words.as_ptr(), words.iter(), spans.iter());
        CallFrame { words, spans, registers, first, outside }
    }

    /// Whether the call is part of a [prompt step](crate::Invocation::step_promptly): it must not block, wait for a lock
    /// that is held while something else is waited for, or run for more than microseconds. What cannot be done like
    /// that returns [`Flow::NotPrompt`] before it has changed anything.
    #[inline]
    pub fn is_prompt(&self) -> bool {
        self.outside.manner == Manner::Prompt
    }

    /// What the call must observe.
    #[inline]
    pub fn manner(&self) -> Manner {
        self.outside.manner
    }

    /// What the memory of objects that the caller asks for is to be taken from.
    pub fn quota(&self) -> Option<&Arc<Quota>> {
        self.outside.quota.as_ref()
    }

    /// Takes `bytes` of the caller's memory, if it is limited: the object that they are for keeps what is returned.
    pub fn charge(&self, bytes: usize) -> Result<Option<Charge>> {
        self.quota().map(|quota| Charge::new(quota, bytes)).transpose()
    }

    /// All arguments that have not been read, flat.
    pub fn args(&self) -> Vec<Value> {
        self.words.clone().map(|word| self.registers.value(*word)).collect()
    }

    /// Tuples in each span that has not been entered.
    pub fn span_counts(&self) -> Vec<u16> {
        self.spans.clone().map(|word| word.op).collect()
    }

    /// Where reading is, for [`rewind`](Self::rewind).
    pub fn mark(&self) -> Mark<'a> {
        Mark(self.words.clone())
    }

    /// Reads on from where `mark` was taken. Spans stay entered.
    pub fn rewind(&mut self, mark: Mark<'a>) {
        self.words = mark.0;
    }

    /// What the call before the suspension left here; `None` on the first call.
    pub fn resume_slot(&mut self) -> &mut Option<Box<dyn Any + Send>> {
        &mut self.outside.resume
    }

    /// Arguments read so far.
    fn position(&self) -> usize {
        // The words are one slice, so this is a difference of addresses in it.
        (self.words.as_slice().as_ptr() as usize - self.first as usize) / size_of::<Inst>()
    }

    /// The register of the next argument, which must be of kind `kind`.
    #[inline(always)]
    fn register(&mut self, kind: u16) -> Result<u16> {
        let mut words = self.words.clone();
        match words.next() {
            Some(word) if word.op == kind => {
                self.words = words;
                Ok(word.a)
            }
            _ => Err(self.wrong(kind)),
        }
    }

    #[cold]
    fn wrong(&self, need: u16) -> Status {
        let index = self.position();
        let Some(word) = self.words.as_slice().first() else { return missing(index) };
        let (have, need) = (kind::of(word.op), kind::of(need));
        Status::internal(format!("native function reads argument {index} as {need}, but it is {have}"))
    }

    /// Next argument, an i32.
    #[inline(always)]
    pub fn i32(&mut self) -> Result<i32> {
        Ok(self.registers.narrow(self.register(kind::I32)?) as i32)
    }

    /// Next argument, an i64.
    #[inline(always)]
    pub fn i64(&mut self) -> Result<i64> {
        Ok(self.registers.wide(self.register(kind::I64)?) as i64)
    }

    /// Next argument, an f32.
    #[inline(always)]
    pub fn f32(&mut self) -> Result<f32> {
        Ok(f32::from_bits(self.registers.narrow(self.register(kind::F32)?)))
    }

    /// Next argument, an f64.
    #[inline(always)]
    pub fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.registers.wide(self.register(kind::F64)?)))
    }

    /// Next argument, any reference; `None` for null.
    #[inline(always)]
    fn slot(&mut self) -> Result<Option<&'a Slot>> {
        let mut words = self.words.clone();
        match words.next() {
            Some(word) if word.op == kind::REF => {
                self.words = words;
                let slot = self.registers.reference(word.a);
                Ok((!slot.is_null()).then_some(slot))
            }
            Some(word) if word.op == kind::NULL => {
                self.words = words;
                Ok(None)
            }
            _ => Err(self.wrong(kind::REF)),
        }
    }

    /// Next argument, any reference or null.
    #[inline]
    pub fn any_ref(&mut self) -> Result<Ref> {
        Ok(self.slot()?.and_then(Slot::to_ref))
    }

    /// Next argument, borrowed; INVALID_ARGUMENT when null or not a `T`.
    #[inline(always)]
    pub fn borrow_ref<T: RefObject>(&mut self) -> Result<&'a T> {
        self.shared_ref().map(Shared::object)
    }

    /// Next argument, borrowed in a way that it can be kept; INVALID_ARGUMENT when null or not a `T`.
    #[inline(always)]
    pub fn shared_ref<T: RefObject>(&mut self) -> Result<Shared<'a, T>> {
        let slot = self.slot()?;
        match slot.and_then(Slot::downcast::<T>) {
            // SAFETY: the frame counts the object and does not change during 'a.
            Some(object) => Ok(unsafe { Shared::new(object) }),
            None => Err(unfit(slot, self.position() - 1)),
        }
    }

    /// As [`shared_ref`](Self::shared_ref), null gives `None`.
    #[inline(always)]
    pub fn opt_shared_ref<T: RefObject>(&mut self) -> Result<Option<Shared<'a, T>>> {
        let Some(slot) = self.slot()? else { return Ok(None) };
        match slot.downcast::<T>() {
            // SAFETY: as above.
            Some(object) => Ok(Some(unsafe { Shared::new(object) })),
            None => Err(unfit(Some(slot), self.position() - 1)),
        }
    }

    /// Next argument as a new reference; INVALID_ARGUMENT when null or not a `T`.
    #[inline(always)]
    pub fn get_ref<T: RefObject>(&mut self) -> Result<Arc<T>> {
        self.shared_ref().map(Shared::to_arc)
    }

    /// Next argument as a new reference or `None` for null; INVALID_ARGUMENT when not a `T`.
    #[inline(always)]
    pub fn opt_ref<T: RefObject>(&mut self) -> Result<Option<Arc<T>>> {
        Ok(self.opt_shared_ref()?.map(Shared::to_arc))
    }

    /// Enters the next span and says how many tuples it has; read them with the readers above.
    #[inline]
    pub fn span(&mut self) -> Result<usize> {
        match self.spans.next() {
            Some(word) => Ok(usize::from(word.op)),
            None => Err(missing(self.position())),
        }
    }

    /// Appends an i32 result.
    #[inline]
    pub fn push_i32(&mut self, value: i32) {
        let at = self.room();
        // SAFETY: see `room`.
        unsafe { at.write(Value::I32(value)) }
    }

    /// Appends an i64 result.
    #[inline]
    pub fn push_i64(&mut self, value: i64) {
        let at = self.room();
        // SAFETY: see `room`.
        unsafe { at.write(Value::I64(value)) }
    }

    /// Appends an f32 result.
    #[inline]
    pub fn push_f32(&mut self, value: f32) {
        let at = self.room();
        // SAFETY: see `room`.
        unsafe { at.write(Value::F32(value)) }
    }

    /// Appends an f64 result.
    #[inline]
    pub fn push_f64(&mut self, value: f64) {
        let at = self.room();
        // SAFETY: see `room`.
        unsafe { at.write(Value::F64(value)) }
    }

    /// Appends a reference result.
    #[inline]
    pub fn push_ref<T: RefObject>(&mut self, value: Arc<T>) {
        let at = self.room();
        // SAFETY: see `room`.
        unsafe { at.write(Value::Ref(Some(value))) }
    }

    /// Appends a reference of any type, or null.
    #[inline]
    pub fn push_any_ref(&mut self, value: Ref) {
        let at = self.room();
        // SAFETY: see `room`.
        unsafe { at.write(Value::Ref(value)) }
    }

    /// Appends a result.
    #[inline]
    pub fn push(&mut self, value: Value) {
        let at = self.room();
        // SAFETY: see `room`.
        unsafe { at.write(value) }
    }

    /// Where the next result is to be written, at once: it counts already. A value that is made before there is
    /// room for it would be written in parts and copied as a whole, which takes longer than the rest of a call.
    #[inline(always)]
    fn room(&mut self) -> *mut Value {
        let results = &mut self.outside.results;
        if results.len() == results.capacity() {
            grow(results);
        }
        let length = results.len();
        // SAFETY: there is room for one more; callers write it before anything else can happen.
        unsafe {
            results.set_len(length + 1);
            results.as_mut_ptr().add(length)
        }
    }
}

#[cold]
#[inline(never)]
fn grow(results: &mut Vec<Value>) {
    results.reserve(4);
}

#[cold]
fn missing(index: usize) -> Status {
    Status::internal(format!("native function reads argument {index}, which its cconv does not have"))
}

/// What is wrong with a reference that is not of the type asked for.
#[cold]
fn unfit(slot: Option<&Slot>, index: usize) -> Status {
    let status = match slot.and_then(Slot::get) {
        Some(object) => refs::mismatch(object),
        None => Status::invalid_argument("ref is null"),
    };
    status.annotate(format!("argument {index}"))
}
