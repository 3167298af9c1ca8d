//! What a module is to the VM, and how native modules are called.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use crate::bytecode::{Inst, kind};
use crate::cconv::Kind;
use crate::isa::reg;
use crate::refs::{self, Ref, RefObject, Shared};
use crate::status::{Result, Status};
use crate::value::Value;

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
    /// The version that dependents compare with their minimum.
    fn version(&self) -> u32;
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
    /// The version that dependents compare with their minimum.
    fn version(&self) -> u32;
    /// All functions; the index is the ordinal given to [`NativeModule::call`].
    fn exports(&self) -> &[NativeExport];
    /// State for one new context.
    fn create_state(&self) -> Result<Box<dyn Any + Send + Sync>>;
    /// Calls export `ordinal`. Arguments have the kinds that its cconv says; results must be pushed likewise.
    fn call(&self, state: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow>;
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

/// Where a native call finds its arguments.
enum Arguments<'a> {
    /// Values of a caller outside the VM.
    Values { values: &'a [Value], span_counts: &'a [u16] },
    /// Registers of the calling function, read in place.
    Registers { words: &'a [Inst], spans: &'a [Inst], registers: Registers<'a> },
}

/// The registers of a frame, for reading. Registers that verified code names are inside.
#[derive(Clone, Copy)]
pub(crate) struct Registers<'a> {
    cells: *const u32,
    refs: *const Ref,
    frame: PhantomData<&'a Ref>,
}

impl<'a> Registers<'a> {
    /// # Safety
    /// Both must point at the registers of a frame that does not change during `'a`, and only registers inside the
    /// frame may be asked for.
    #[inline]
    pub(crate) unsafe fn new(cells: *const u32, refs: *const Ref) -> Registers<'a> {
        Registers { cells, refs, frame: PhantomData }
    }

    #[inline]
    fn narrow(self, register: u16) -> u32 {
        // SAFETY: inside the frame, as promised to `new`.
        unsafe { *self.cells.add(usize::from(register)) }
    }

    /// Two cells, low half first.
    #[inline]
    fn wide(self, register: u16) -> u64 {
        // SAFETY: both cells are inside the frame, as promised to `new`.
        unsafe { self.cells.add(usize::from(register)).cast::<u64>().read_unaligned() }
    }

    #[inline]
    fn reference(self, register: u16) -> &'a Ref {
        // SAFETY: inside the frame, which does not change during 'a, as promised to `new`.
        unsafe { &*self.refs.add(reg::ref_ordinal(register)) }
    }

    /// The value in the register that `word` names.
    fn value(self, word: Inst) -> Value {
        match word.op {
            kind::I32 => Value::I32(self.narrow(word.a) as i32),
            kind::F32 => Value::F32(f32::from_bits(self.narrow(word.a))),
            kind::I64 => Value::I64(self.wide(word.a) as i64),
            kind::F64 => Value::F64(f64::from_bits(self.wide(word.a))),
            kind::REF => Value::Ref(self.reference(word.a).clone()),
            _ => Value::NULL,
        }
    }
}

/// Arguments and results of one native call.
///
/// Arguments are flattened in order, a span's tuples one after the other. The typed readers walk through them.
pub struct CallFrame<'a> {
    arguments: Arguments<'a>,
    results: &'a mut Vec<Value>,
    resume: &'a mut Option<Box<dyn Any + Send>>,
    next: usize,
    next_span: usize,
}

/// What null arguments are read from.
static NULL: Ref = None;

impl<'a> CallFrame<'a> {
    /// A frame. `span_counts` has the number of tuples of each `C..D` span; `resume` is kept between a suspension and
    /// the repeated call.
    pub fn new(
        args: &'a [Value],
        span_counts: &'a [u16],
        results: &'a mut Vec<Value>,
        resume: &'a mut Option<Box<dyn Any + Send>>,
    ) -> CallFrame<'a> {
        CallFrame { arguments: Arguments::Values { values: args, span_counts }, results, resume, next: 0, next_span: 0 }
    }

    /// A frame whose arguments are registers: each of `words` has a kind and a register, each of `spans` a count.
    #[inline]
    pub(crate) fn on_registers(
        words: &'a [Inst],
        spans: &'a [Inst],
        registers: Registers<'a>,
        results: &'a mut Vec<Value>,
        resume: &'a mut Option<Box<dyn Any + Send>>,
    ) -> CallFrame<'a> {
        CallFrame {
            arguments: Arguments::Registers { words, spans, registers },
            results,
            resume,
            next: 0,
            next_span: 0,
        }
    }

    /// All arguments, flat.
    pub fn args(&self) -> Vec<Value> {
        match self.arguments {
            Arguments::Values { values, .. } => values.to_vec(),
            Arguments::Registers { words, registers, .. } => words.iter().map(|word| registers.value(*word)).collect(),
        }
    }

    /// Tuples in each span.
    pub fn span_counts(&self) -> Vec<u16> {
        match self.arguments {
            Arguments::Values { span_counts, .. } => span_counts.to_vec(),
            Arguments::Registers { spans, .. } => spans.iter().map(|word| word.op).collect(),
        }
    }

    /// What the call before the suspension left here; `None` on the first call.
    pub fn resume_slot(&mut self) -> &mut Option<Box<dyn Any + Send>> {
        self.resume
    }

    /// The next argument of a caller outside the VM.
    #[inline(never)]
    fn value(&mut self, values: &'a [Value]) -> Result<&'a Value> {
        let value = values.get(self.next).ok_or_else(|| missing(self.next))?;
        self.next += 1;
        Ok(value)
    }

    /// The register of the next argument, which must be of kind `kind`.
    #[inline]
    fn register(&mut self, words: &[Inst], kind: u16) -> Result<u16> {
        match words.get(self.next) {
            Some(word) if word.op == kind => {
                self.next += 1;
                Ok(word.a)
            }
            _ => Err(wrong_register(self.next, words, kind)),
        }
    }

    /// Next argument, an i32.
    #[inline]
    pub fn i32(&mut self) -> Result<i32> {
        match self.arguments {
            Arguments::Registers { words, registers, .. } => {
                Ok(registers.narrow(self.register(words, kind::I32)?) as i32)
            }
            Arguments::Values { values, .. } => match self.value(values)? {
                Value::I32(v) => Ok(*v),
                other => Err(wrong(self.next - 1, other.kind(), "i32")),
            },
        }
    }

    /// Next argument, an i64.
    #[inline]
    pub fn i64(&mut self) -> Result<i64> {
        match self.arguments {
            Arguments::Registers { words, registers, .. } => {
                Ok(registers.wide(self.register(words, kind::I64)?) as i64)
            }
            Arguments::Values { values, .. } => match self.value(values)? {
                Value::I64(v) => Ok(*v),
                other => Err(wrong(self.next - 1, other.kind(), "i64")),
            },
        }
    }

    /// Next argument, an f32.
    #[inline]
    pub fn f32(&mut self) -> Result<f32> {
        match self.arguments {
            Arguments::Registers { words, registers, .. } => {
                Ok(f32::from_bits(registers.narrow(self.register(words, kind::F32)?)))
            }
            Arguments::Values { values, .. } => match self.value(values)? {
                Value::F32(v) => Ok(*v),
                other => Err(wrong(self.next - 1, other.kind(), "f32")),
            },
        }
    }

    /// Next argument, an f64.
    #[inline]
    pub fn f64(&mut self) -> Result<f64> {
        match self.arguments {
            Arguments::Registers { words, registers, .. } => {
                Ok(f64::from_bits(registers.wide(self.register(words, kind::F64)?)))
            }
            Arguments::Values { values, .. } => match self.value(values)? {
                Value::F64(v) => Ok(*v),
                other => Err(wrong(self.next - 1, other.kind(), "f64")),
            },
        }
    }

    /// Next argument, any reference or null.
    #[inline]
    pub fn any_ref(&mut self) -> Result<&'a Ref> {
        match self.arguments {
            Arguments::Registers { words, registers, .. } => match words.get(self.next) {
                Some(word) if word.op == kind::REF => {
                    self.next += 1;
                    Ok(registers.reference(word.a))
                }
                Some(word) if word.op == kind::NULL => {
                    self.next += 1;
                    Ok(&NULL)
                }
                _ => Err(wrong_register(self.next, words, kind::REF)),
            },
            Arguments::Values { values, .. } => match self.value(values)? {
                Value::Ref(v) => Ok(v),
                other => Err(wrong(self.next - 1, other.kind(), "ref")),
            },
        }
    }

    /// Next argument, borrowed; INVALID_ARGUMENT when null or not a `T`.
    #[inline]
    pub fn borrow_ref<T: RefObject>(&mut self) -> Result<&'a T> {
        let value = self.any_ref()?;
        match value.as_ref().and_then(|object| refs::borrow::<T>(object.as_ref())) {
            Some(object) => Ok(object),
            None => Err(unfit::<T>(value, self.next - 1)),
        }
    }

    /// Next argument, borrowed in a way that it can be kept; INVALID_ARGUMENT when null or not a `T`.
    #[inline]
    pub fn shared_ref<T: RefObject>(&mut self) -> Result<Shared<'a, T>> {
        let value = self.any_ref()?;
        match value.as_ref().and_then(refs::share::<T>) {
            Some(shared) => Ok(shared),
            None => Err(unfit::<T>(value, self.next - 1)),
        }
    }

    /// As [`shared_ref`](Self::shared_ref), null gives `None`.
    #[inline]
    pub fn opt_shared_ref<T: RefObject>(&mut self) -> Result<Option<Shared<'a, T>>> {
        let value = self.any_ref()?;
        let Some(object) = value else { return Ok(None) };
        match refs::share::<T>(object) {
            Some(shared) => Ok(Some(shared)),
            None => Err(unfit::<T>(value, self.next - 1)),
        }
    }

    /// Next argument as a new reference; INVALID_ARGUMENT when null or not a `T`.
    #[inline]
    pub fn get_ref<T: RefObject>(&mut self) -> Result<Arc<T>> {
        self.shared_ref().map(Shared::to_arc)
    }

    /// Next argument as a new reference or `None` for null; INVALID_ARGUMENT when not a `T`.
    #[inline]
    pub fn opt_ref<T: RefObject>(&mut self) -> Result<Option<Arc<T>>> {
        Ok(self.opt_shared_ref()?.map(Shared::to_arc))
    }

    /// Enters the next span and says how many tuples it has; read them with the readers above.
    #[inline]
    pub fn span(&mut self) -> Result<usize> {
        let count = match self.arguments {
            Arguments::Registers { spans, .. } => spans.get(self.next_span).map(|word| word.op),
            Arguments::Values { span_counts, .. } => span_counts.get(self.next_span).copied(),
        };
        self.next_span += 1;
        count.map(usize::from).ok_or_else(|| missing(self.next))
    }

    /// Appends an i32 result.
    #[inline]
    pub fn push_i32(&mut self, value: i32) {
        self.results.push(Value::I32(value));
    }

    /// Appends an i64 result.
    #[inline]
    pub fn push_i64(&mut self, value: i64) {
        self.results.push(Value::I64(value));
    }

    /// Appends an f32 result.
    #[inline]
    pub fn push_f32(&mut self, value: f32) {
        self.results.push(Value::F32(value));
    }

    /// Appends an f64 result.
    #[inline]
    pub fn push_f64(&mut self, value: f64) {
        self.results.push(Value::F64(value));
    }

    /// Appends a reference result.
    #[inline]
    pub fn push_ref<T: RefObject>(&mut self, value: Arc<T>) {
        self.results.push(Value::Ref(Some(value)));
    }

    /// Appends a reference of any type, or null.
    #[inline]
    pub fn push_any_ref(&mut self, value: Ref) {
        self.results.push(Value::Ref(value));
    }

    /// Appends a result.
    #[inline]
    pub fn push(&mut self, value: Value) {
        self.results.push(value);
    }
}

#[cold]
fn missing(index: usize) -> Status {
    Status::internal(format!("native function reads argument {index}, which its cconv does not have"))
}

#[cold]
fn wrong(index: usize, have: Kind, need: &str) -> Status {
    Status::internal(format!("native function reads argument {index} as {need}, but it is {have}"))
}

#[cold]
fn wrong_register(index: usize, words: &[Inst], need: u16) -> Status {
    match words.get(index) {
        Some(word) => wrong(index, kind::of(word.op), kind::of(need).name()),
        None => missing(index),
    }
}

/// What is wrong with a reference that is no `T`.
#[cold]
fn unfit<T: RefObject>(value: &Ref, index: usize) -> Status {
    let status = refs::downcast_ref::<T>(value).err();
    status.unwrap_or_else(|| Status::internal("the reference fits")).annotate(format!("argument {index}"))
}
