//! What a module is to the VM, and how native modules are called.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use crate::refs::{self, Ref, RefObject};
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
}

/// Arguments and results of one native call.
///
/// Arguments are flattened in order, a span's tuples one after the other. The typed readers walk through them.
pub struct CallFrame<'a> {
    args: &'a [Value],
    span_counts: &'a [u16],
    results: &'a mut Vec<Value>,
    resume: &'a mut Option<Box<dyn Any + Send>>,
    next: usize,
    next_span: usize,
}

impl<'a> CallFrame<'a> {
    /// A frame. `span_counts` has the number of tuples of each `C..D` span; `resume` is kept between a suspension and
    /// the repeated call.
    pub fn new(
        args: &'a [Value],
        span_counts: &'a [u16],
        results: &'a mut Vec<Value>,
        resume: &'a mut Option<Box<dyn Any + Send>>,
    ) -> CallFrame<'a> {
        CallFrame { args, span_counts, results, resume, next: 0, next_span: 0 }
    }

    /// All arguments, flat.
    pub fn args(&self) -> &'a [Value] {
        self.args
    }

    /// Tuples in each span.
    pub fn span_counts(&self) -> &'a [u16] {
        self.span_counts
    }

    /// What the call before the suspension left here; `None` on the first call.
    pub fn resume_slot(&mut self) -> &mut Option<Box<dyn Any + Send>> {
        self.resume
    }

    #[inline]
    fn take(&mut self) -> Result<(usize, &'a Value)> {
        let index = self.next;
        let value = self.args.get(index).ok_or_else(|| missing(index))?;
        self.next += 1;
        Ok((index, value))
    }

    /// Next argument, an i32.
    #[inline]
    pub fn i32(&mut self) -> Result<i32> {
        match self.take()? {
            (_, Value::I32(v)) => Ok(*v),
            (index, other) => Err(wrong(index, other, "i32")),
        }
    }

    /// Next argument, an i64.
    #[inline]
    pub fn i64(&mut self) -> Result<i64> {
        match self.take()? {
            (_, Value::I64(v)) => Ok(*v),
            (index, other) => Err(wrong(index, other, "i64")),
        }
    }

    /// Next argument, an f32.
    #[inline]
    pub fn f32(&mut self) -> Result<f32> {
        match self.take()? {
            (_, Value::F32(v)) => Ok(*v),
            (index, other) => Err(wrong(index, other, "f32")),
        }
    }

    /// Next argument, an f64.
    #[inline]
    pub fn f64(&mut self) -> Result<f64> {
        match self.take()? {
            (_, Value::F64(v)) => Ok(*v),
            (index, other) => Err(wrong(index, other, "f64")),
        }
    }

    /// Next argument, any reference or null.
    #[inline]
    pub fn any_ref(&mut self) -> Result<&'a Ref> {
        match self.take()? {
            (_, Value::Ref(v)) => Ok(v),
            (index, other) => Err(wrong(index, other, "ref")),
        }
    }

    /// Next argument, borrowed; INVALID_ARGUMENT when null or not a `T`.
    #[inline]
    pub fn borrow_ref<T: RefObject>(&mut self) -> Result<&'a T> {
        let index = self.next;
        refs::downcast_ref(self.any_ref()?).map_err(|e| e.annotate(format!("argument {index}")))
    }

    /// Next argument as a new reference; INVALID_ARGUMENT when null or not a `T`.
    #[inline]
    pub fn get_ref<T: RefObject>(&mut self) -> Result<Arc<T>> {
        let index = self.next;
        refs::downcast(self.any_ref()?).map_err(|e| e.annotate(format!("argument {index}")))
    }

    /// Next argument as a new reference or `None` for null; INVALID_ARGUMENT when not a `T`.
    #[inline]
    pub fn opt_ref<T: RefObject>(&mut self) -> Result<Option<Arc<T>>> {
        let index = self.next;
        refs::opt_downcast(self.any_ref()?).map_err(|e| e.annotate(format!("argument {index}")))
    }

    /// Enters the next span and says how many tuples it has; read them with the readers above.
    #[inline]
    pub fn span(&mut self) -> Result<usize> {
        let count = *self.span_counts.get(self.next_span).ok_or_else(|| missing(self.next))?;
        self.next_span += 1;
        Ok(usize::from(count))
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
fn wrong(index: usize, have: &Value, need: &str) -> Status {
    Status::internal(format!("native function reads argument {index} as {need}, but it is {}", have.kind_name()))
}
