//! Executes translated functions.
//!
//! [`Machine`] is the stack of one invocation. `run.rs` holds the loop; it and `calls.rs` access registers unchecked: what
//! they rely on is proved by the verifier and kept by the frames here.

mod calls;
mod math;
mod ops;
mod run;

use std::any::Any;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use crate::bytecode::{Code, kind};
use crate::context::{BytecodeInstance, Instance};
use crate::interrupt::Watch;
use crate::isa::reg;
use crate::module::{Module, Wait};
use crate::refs::Ref;
use crate::status::{Result, Status};
use crate::value::Value;

#[cfg(target_endian = "big")]
compile_error!("64-bit registers are pairs of cells, low half first; big-endian machines need another register file");

/// Most bytes that the frames of one invocation may take.
const MAX_STACK: usize = 1 << 20;
/// Backward branches and calls between two looks at the clock.
const SLICE: u32 = 1 << 14;
/// What a frame counts beside its registers.
const FRAME_OVERHEAD: usize = 64;

/// Why the loop stopped.
pub(crate) enum Exit {
    /// The outermost function returned this.
    Done(Vec<Value>),
    /// `vm.yield`.
    Yielded,
    /// An import waits.
    Suspended(Arc<dyn Wait>),
}

/// One active function.
struct Frame {
    /// Alive because the machine's root refers to it, directly or through imports.
    instance: NonNull<BytecodeInstance>,
    /// In the instance's module, hence as alive.
    code: NonNull<Code>,
    ordinal: u32,
    /// Where to go on; while a callee is active, the call itself.
    ip: u32,
    cells_base: u32,
    refs_base: u32,
}

impl Frame {
    fn instance(&self) -> &BytecodeInstance {
        // SAFETY: see the field.
        unsafe { self.instance.as_ref() }
    }

    fn code(&self) -> &Code {
        // SAFETY: see the field.
        unsafe { self.code.as_ref() }
    }
}

/// The stack of one invocation.
#[derive(Default)]
pub(crate) struct Machine {
    frames: Vec<Frame>,
    cells: Vec<u32>,
    refs: Vec<Ref>,
    /// Arguments on their way to another bytecode module.
    args: Vec<Value>,
    /// What the native call in progress has pushed.
    results: Vec<Value>,
    /// What a suspended native call keeps until it is made again.
    resume: Option<Box<dyn Any + Send>>,
    /// When the embedding process was asked last whether to go on.
    watch: Watch,
    /// Why an import call ended the loop.
    stopped: Option<Result<Exit>>,
    /// Keeps everything alive that frames point to; none only while the machine is in the pool, without frames.
    root: Option<Arc<Instance>>,
}

// SAFETY: the pointers in frames lead into instances, which are Sync and kept alive by `root`.
unsafe impl Send for Machine {}

thread_local! {
    /// Machines between two calls, so that a call need not allocate its stack.
    // The boxes go in and out as they are.
    #[allow(clippy::vec_box)]
    static POOL: RefCell<Vec<Box<Machine>>> = const { RefCell::new(Vec::new()) };
}

/// Machines that a thread keeps.
const POOL_SIZE: usize = 4;
/// Cells that a kept machine may hold.
const POOL_CELLS: usize = 1 << 14;

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
        if machine.cells.capacity() <= POOL_CELLS {
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
    pub fn start(root: Arc<Instance>, ordinal: usize, args: Vec<Value>) -> Result<Pooled> {
        let Instance::Bytecode(instance) = &*root else {
            return Err(Status::internal("not a bytecode module"));
        };
        let instance = NonNull::from(instance);
        let pooled = POOL.try_with(|pool| pool.try_borrow_mut().ok()?.pop()).ok().flatten();
        let mut machine = Pooled(Some(pooled.unwrap_or_default()));
        machine.root = Some(root);
        machine.watch = Watch::default();
        machine.push(instance, ordinal)?;
        machine.write_args(args);
        Ok(machine)
    }

    /// Drops all frames and values.
    fn clear(&mut self) {
        while !self.frames.is_empty() {
            self.pop();
        }
        self.args.clear();
        self.results.clear();
        self.resume = None;
        self.stopped = None;
    }

    /// Pushes a frame with zero and null registers.
    #[inline]
    fn push(&mut self, instance: NonNull<BytecodeInstance>, ordinal: usize) -> Result<()> {
        // SAFETY: callers pass instances that the root keeps alive.
        let module = &unsafe { instance.as_ref() }.module;
        let function = &module.functions[ordinal];
        let (cells, refs) = (self.cells.len() + function.i32_cells, self.refs.len() + function.ref_cells);
        let bytes = cells * size_of::<u32>() + refs * size_of::<Ref>() + self.frames.len() * FRAME_OVERHEAD;
        if bytes > MAX_STACK {
            return Err(stack_overflow(self.frames.len()));
        }
        self.frames.push(Frame {
            instance,
            code: NonNull::from(module.code(ordinal)),
            ordinal: ordinal as u32,
            ip: 0,
            cells_base: self.cells.len() as u32,
            refs_base: self.refs.len() as u32,
        });
        self.cells.resize(cells, 0);
        self.refs.resize_with(refs, || None);
        Ok(())
    }

    /// Drops the innermost frame and what its registers still hold.
    #[inline]
    fn pop(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.cells.truncate(frame.cells_base as usize);
            self.refs.truncate(frame.refs_base as usize);
        }
    }

    /// Puts arguments where the innermost function expects them.
    fn write_args(&mut self, args: impl IntoIterator<Item = Value>) {
        let Some(frame) = self.frames.last() else { return };
        let (mut cell, mut slot) = (frame.cells_base as usize, frame.refs_base as usize);
        let base = cell;
        for value in args {
            let bits = match value {
                Value::I32(v) => v as u32,
                Value::F32(v) => v.to_bits(),
                Value::I64(_) | Value::F64(_) => {
                    let bits = match value {
                        Value::I64(v) => v as u64,
                        Value::F64(v) => v.to_bits(),
                        _ => 0,
                    };
                    cell = base + (cell - base).next_multiple_of(2);
                    self.cells[cell] = bits as u32;
                    self.cells[cell + 1] = (bits >> 32) as u32;
                    cell += 2;
                    continue;
                }
                Value::Ref(object) => {
                    self.refs[slot] = object;
                    slot += 1;
                    continue;
                }
            };
            self.cells[cell] = bits;
            cell += 1;
        }
    }

    /// Reads a register of the innermost frame; moves references when the register says so.
    fn read(&mut self, code: u16, register: u16) -> Value {
        let Some(frame) = self.frames.last() else { return Value::NULL };
        let at = frame.cells_base as usize + usize::from(register);
        match code {
            kind::I32 => Value::I32(self.cells[at] as i32),
            kind::F32 => Value::F32(f32::from_bits(self.cells[at])),
            kind::I64 => Value::I64(self.wide(at) as i64),
            kind::F64 => Value::F64(f64::from_bits(self.wide(at))),
            kind::REF => {
                let slot = &mut self.refs[frame.refs_base as usize + reg::ref_ordinal(register)];
                Value::Ref(if reg::is_move(register) { slot.take() } else { slot.clone() })
            }
            _ => Value::NULL,
        }
    }

    fn wide(&self, at: usize) -> u64 {
        u64::from(self.cells[at]) | u64::from(self.cells[at + 1]) << 32
    }

    /// Adds the active functions to an error and releases everything.
    #[cold]
    fn unwind(&mut self, status: Status) -> Status {
        let mut text = String::new();
        for (depth, frame) in self.frames.iter().rev().enumerate() {
            let module = &frame.instance().module;
            let ordinal = frame.ordinal as usize;
            let pc = frame.code().pc_of(frame.ip as usize);
            let name = module.function_name(ordinal).unwrap_or("-");
            text += &format!("\n[{depth:2}] bytecode {}@{ordinal}:{pc} {name}", module.name());
        }
        self.clear();
        status.annotate(text)
    }
}

#[cold]
fn stack_overflow(depth: usize) -> Status {
    Status::resource_exhausted(format!(
        "stack overflow: {depth} calls are active and {MAX_STACK} bytes of frames is the limit"
    ))
}
