//! What is passed from operation to operation, and the macros that define operations.
//!
//! Every operation is a function that ends by calling the next one with the same parameters. In optimised builds that
//! call is a jump, and the parameters stay in machine registers; nothing relies on it: a run of operations returns to the
//! machine after a limited number of them (see `limits`), which bounds the native stack in any build.

use super::stack::{header, slot};
use super::{Exit, Machine};
use crate::bytecode::{Inst, MOVE};
use crate::context::BytecodeInstance;
use crate::limits::Budget;
use crate::refs::Ref;
use crate::slot::Slot;
use crate::status::Status;
use crate::types::TypeDef;

/// An operation: frame pointer, instruction, machine, operations, fuel of the current slice.
pub(super) type Handler = unsafe fn(*mut u32, *const Inst, *mut Machine, *const Table, isize) -> Signal;

/// All operations by number.
pub(super) struct Table(pub [Handler; OPERATIONS]);

macro_rules! count_operations {
    (same { $($same:ident)* } own { $($own:ident)* }) => {
        /// How many operations there are.
        const OPERATIONS: usize = [$(stringify!($same),)* $(stringify!($own)),*].len();
    };
}
crate::bytecode::operations!(count_operations);

/// Why a run of operations came back to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Signal {
    /// To be continued where the machine has noted.
    Resume,
    /// What happened is in the machine.
    Stopped,
}

/// The parameters of an operation by name.
#[derive(Clone, Copy)]
pub(super) struct State {
    pub fp: *mut u32,
    pub ip: *const Inst,
    pub m: *mut Machine,
    pub table: *const Table,
    pub fuel: isize,
}

/// Executes the instruction at `ip`.
///
/// # Safety
/// Everything belongs together: the instruction is of the function whose frame is at `fp`, in the stack of `m`.
#[inline(always)]
pub(super) unsafe fn dispatch(
    fp: *mut u32,
    ip: *const Inst,
    m: *mut Machine,
    table: *const Table,
    fuel: isize,
) -> Signal {
    // SAFETY: the caller's; numbers of operations are indices of the table.
    unsafe {
        let handler = *(&raw const (*table).0).cast::<Handler>().add((*ip).op.into());
        handler(fp, ip, m, table, fuel)
    }
}

// SAFETY of all methods: the state is that of an operation being executed. The verifier proved that every register named
// by an instruction is inside the frame, that 64-bit registers are even, and that type, rodata, global and function
// ordinals exist; the translator turned registers into operands and branch targets into distances. Cells are plain u32,
// valid for any bits; references in a frame are never uninitialised.
#[allow(clippy::missing_safety_doc, clippy::undocumented_unsafe_blocks)]
impl State {
    /// The instruction.
    #[inline(always)]
    pub unsafe fn inst<'a>(self) -> &'a Inst {
        unsafe { &*self.ip }
    }

    /// Word `index` of it.
    #[inline(always)]
    pub unsafe fn word<'a>(self, index: usize) -> &'a Inst {
        unsafe { &*self.ip.add(index) }
    }

    #[inline(always)]
    pub unsafe fn u32(self, cell: u16) -> u32 {
        unsafe { *self.fp.add(cell.into()) }
    }

    #[inline(always)]
    pub unsafe fn i32(self, cell: u16) -> i32 {
        unsafe { self.u32(cell) as i32 }
    }

    #[inline(always)]
    pub unsafe fn f32(self, cell: u16) -> f32 {
        unsafe { f32::from_bits(self.u32(cell)) }
    }

    #[inline(always)]
    pub unsafe fn u64(self, cell: u16) -> u64 {
        unsafe { self.fp.add(cell.into()).cast::<u64>().read_unaligned() }
    }

    #[inline(always)]
    pub unsafe fn i64(self, cell: u16) -> i64 {
        unsafe { self.u64(cell) as i64 }
    }

    #[inline(always)]
    pub unsafe fn f64(self, cell: u16) -> f64 {
        unsafe { f64::from_bits(self.u64(cell)) }
    }

    #[inline(always)]
    pub unsafe fn set32(self, cell: u16, value: u32) {
        unsafe { *self.fp.add(cell.into()) = value }
    }

    #[inline(always)]
    pub unsafe fn set64(self, cell: u16, value: u64) {
        unsafe { self.fp.add(cell.into()).cast::<u64>().write_unaligned(value) }
    }

    /// The reference at `unit`, an operand without [`MOVE`].
    #[inline(always)]
    pub unsafe fn slot<'a>(self, unit: u16) -> &'a Slot {
        unsafe { slot(self.fp, unit.into()) }
    }

    /// As `slot`, to be changed: nothing else may hold on to it meanwhile.
    #[inline(always)]
    pub unsafe fn slot_mut<'a>(self, unit: u16) -> &'a mut Slot {
        unsafe { slot(self.fp, unit.into()) }
    }

    /// The reference in an operand: taken with [`MOVE`], else counted again.
    #[inline]
    pub unsafe fn take(self, operand: u16) -> Slot {
        unsafe {
            let slot = self.slot_mut(operand & !MOVE);
            if operand & MOVE != 0 { std::mem::replace(slot, Slot::NULL) } else { slot.duplicate() }
        }
    }

    /// As `take`, for the outside.
    #[inline]
    pub unsafe fn take_ref(self, operand: u16) -> Ref {
        unsafe { self.take(operand).into_ref() }
    }

    /// The instance that the function belongs to.
    #[inline(always)]
    pub unsafe fn instance<'a>(self) -> &'a BytecodeInstance {
        unsafe { &*header(self.fp).instance }
    }

    /// What is left of the limits, for operations that take long; the state must have the fuel.
    #[inline(always)]
    pub unsafe fn budget<'a>(self) -> &'a mut Budget {
        unsafe {
            let machine = &mut *self.m;
            machine.budget.set_at_hand(self.fuel);
            &mut machine.budget
        }
    }

    /// Entry `ordinal` of the module's type table.
    pub unsafe fn type_def(self, ordinal: u32) -> TypeDef {
        unsafe { self.instance().module.types[ordinal as usize] }
    }

    /// Executes the instruction `words` further.
    #[inline(always)]
    pub unsafe fn next(self, words: usize) -> Signal {
        unsafe { dispatch(self.fp, self.ip.add(words), self.m, self.table, self.fuel) }
    }

    /// As `next`, after `cost` has been charged.
    #[inline(always)]
    pub unsafe fn next_charged(self, words: usize, cost: usize) -> Signal {
        unsafe { State { fuel: self.fuel - cost as isize, ..self }.go(self.fp, self.ip.add(words)) }
    }

    /// Executes the instruction `distance` words away, which costs `cost`.
    #[inline(always)]
    pub unsafe fn branch(self, distance: u32, cost: u16) -> Signal {
        unsafe {
            let ip = self.ip.offset(distance as i32 as isize);
            State { fuel: self.fuel - cost as isize, ..self }.go(self.fp, ip)
        }
    }

    /// Executes the instruction at `ip`, unless the fuel of this slice is used up.
    #[inline(always)]
    pub unsafe fn go(self, fp: *mut u32, ip: *const Inst) -> Signal {
        unsafe {
            if self.fuel < 0 {
                return pause(fp, ip, self.m, self.fuel);
            }
            dispatch(fp, ip, self.m, self.table, self.fuel)
        }
    }

    /// The operand that a switch picks.
    #[inline(always)]
    pub unsafe fn picked(self) -> u16 {
        unsafe {
            let (index, inst) = (self.u32(self.inst().a), self.inst());
            let values = self.ip.add(2).cast::<u16>();
            if index < self.word(1).low() { *values.add(index as usize) } else { inst.b }
        }
    }

    /// Words of a switch.
    #[inline(always)]
    pub unsafe fn switch_words(self) -> usize {
        unsafe { 2 + self.word(1).low().div_ceil(4) as usize }
    }

    /// Ends the run with an error of this instruction.
    #[inline(always)]
    pub unsafe fn fail(self, status: Status) -> Signal {
        unsafe { fail(self.fp, self.ip, self.m, self.fuel, status) }
    }

    /// Notes where the run has got to, `words` further.
    pub unsafe fn save(self, words: usize) {
        unsafe { (*self.m).save(self.fp, self.ip.add(words), self.fuel) }
    }
}

/// Comes back to the machine to have the limits looked at.
#[cold]
#[inline(never)]
pub(super) unsafe fn pause(fp: *mut u32, ip: *const Inst, m: *mut Machine, fuel: isize) -> Signal {
    // SAFETY: those of the operation that was being executed.
    unsafe { (*m).save(fp, ip, fuel) }
    Signal::Resume
}

#[cold]
#[inline(never)]
unsafe fn fail(fp: *mut u32, ip: *const Inst, m: *mut Machine, fuel: isize, status: Status) -> Signal {
    // SAFETY: those of the operation that was being executed.
    unsafe {
        (*m).save(fp, ip, fuel);
        (*m).stopped = Some(if (*m).budget.take_postponed() { Ok(Exit::Yielded) } else { Err(status) });
    }
    Signal::Stopped
}

/// Defines an operation.
macro_rules! operation {
    ($(#[$attribute:meta])* $name:ident, |$s:ident| $body:expr) => {
        $(#[$attribute])*
        #[allow(non_snake_case, clippy::missing_safety_doc)]
        pub(in crate::interp) unsafe fn $name(
            fp: *mut u32,
            ip: *const crate::bytecode::Inst,
            m: *mut crate::interp::Machine,
            table: *const crate::interp::state::Table,
            fuel: isize,
        ) -> crate::interp::state::Signal {
            let $s = crate::interp::state::State { fp, ip, m, table, fuel };
            // SAFETY: see `State`.
            unsafe { $body }
        }
    };
}

/// Defines an operation whose work is a function of its own, so that nothing of it is in the way of the dispatch.
/// `$body` is a Result of what it costs beside the instruction.
macro_rules! outlined {
    ($(#[$attribute:meta])* $name:ident, $words:literal, |$s:ident| $body:expr) => {
        crate::interp::state::outlined! { $(#[$attribute])* $name, |_s| $words, |$s| $body }
    };
    ($(#[$attribute:meta])* $name:ident, |$w:ident| $words:expr, |$s:ident| $body:expr) => {
        crate::interp::state::operation! { $(#[$attribute])* $name, |$w| {
            #[inline(never)]
            unsafe fn body(
                fp: *mut u32,
                ip: *const crate::bytecode::Inst,
                m: *mut crate::interp::Machine,
                fuel: isize,
            ) -> crate::status::Result<usize> {
                let $s = crate::interp::state::State { fp, ip, m, table: std::ptr::null(), fuel };
                // SAFETY: see `State`.
                unsafe { $body }
            }
            match body($w.fp, $w.ip, $w.m, $w.fuel) {
                Ok(cost) => $w.next_charged($words, cost),
                Err(status) => $w.fail(status),
            }
        }}
    };
}

/// Defines an operation that mostly goes a short way; when `$fast` finds that it cannot (`None`), `$slow` does all of it.
macro_rules! quick {
    ($name:ident, $words:literal, |$f:ident| $fast:block, |$s:ident| $slow:block) => {
        crate::interp::state::operation! { $name, |s| {
            #[inline(always)]
            unsafe fn fast($f: crate::interp::state::State) -> Option<()> {
                // SAFETY: see `State`.
                unsafe { $fast }
                Some(())
            }
            // An operation itself, so that the short way has nothing to save for after it.
            mod slow {
                #[allow(clippy::wildcard_imports)]
                use super::*;
                crate::interp::state::outlined! {
                    #[cold]
                    #[inline(never)]
                    $name, $words, |$s| {
                    $slow
                    Ok(0)
                }}
            }
            if fast(s).is_some() {
                s.next($words)
            } else {
                slow::$name(s.fp, s.ip, s.m, s.table, s.fuel)
            }
        }}
    };
}

/// Unwraps inside an operation.
macro_rules! ok {
    ($s:ident, $result:expr) => {
        match $result {
            Ok(value) => value,
            Err(status) => return $s.fail(status),
        }
    };
}

pub(super) use {ok, operation, outlined, quick};
