//! Operations on references, lists and globals, out of the loop's way.

use std::sync::Mutex;

use super::stack::header;
use super::state::State;
use crate::buffer::VmBuffer;
use crate::bytecode::MOVE;
use crate::context::{BytecodeInstance, lock_global};
use crate::limits::Budget;
use crate::list::VmList;
use crate::refs::Ref;
use crate::slot::Slot;
use crate::status::{Result, Status, StatusCode};
use crate::types::TypeDef;

/// What an operation over so many bytes (or elements) costs beside the instruction.
pub fn bulk(length: usize) -> usize {
    length / 32
}

/// The buffer in a register.
pub fn buffer(value: &Slot) -> Result<&VmBuffer> {
    value.buffer().ok_or_else(|| not_a("buffer", value))
}

/// The list in a register.
pub fn list(value: &Slot) -> Result<&VmList> {
    value.list().ok_or_else(|| not_a("list", value))
}

#[cold]
fn not_a(name: &str, value: &Slot) -> Status {
    Status::invalid_argument(match value.get() {
        Some(object) => format!("ref type mismatch; expected !vm.{name} but have !{}", object.type_name()),
        None => format!("{name} is null"),
    })
}

#[cold]
pub fn divide_error(zero: bool, what: &str) -> Status {
    Status::invalid_argument(if zero {
        format!("integer {what} by zero (division by zero)")
    } else {
        format!("integer overflow: {what} of the smallest value by -1")
    })
}

/// An error of a division, which is the program's own, says in its message where the program divides.
#[cold]
pub fn with_place(status: Status, place: &str) -> Status {
    if status.code() == StatusCode::InvalidArgument && status.message().starts_with("integer ") {
        return Status::invalid_argument(format!("{} at {place}", status.message()));
    }
    status
}

#[cold]
fn mismatch(have: &str, want: TypeDef) -> Status {
    Status::invalid_argument(format!("source ref type mismatch; expected {want} but have !{have}"))
}

/// INVALID_ARGUMENT unless `value` is null or of type `want`.
pub fn check_type(value: &Slot, want: TypeDef) -> Result<()> {
    match value.get() {
        Some(object) if !want.accepts_name(object.type_name()) => Err(mismatch(object.type_name(), want)),
        _ => Ok(()),
    }
}

/// Reads a global reference, or takes it.
pub fn global_load_ref(instance: &BytecodeInstance, slot: u32, want: TypeDef, take: bool) -> Result<Ref> {
    let mut global = lock_global(slot_of(instance, slot)?)?;
    match &*global {
        Some(object) if !want.accepts_name(object.type_name()) => Err(mismatch(object.type_name(), want)),
        value => Ok(if take { global.take() } else { value.clone() }),
    }
}

/// Writes the reference in operand `source` to a global.
///
/// # Safety
/// The state is that of an operation with that operand.
pub unsafe fn global_store_ref(s: State, slot: u32, want: TypeDef, source: u16) -> Result<()> {
    // SAFETY: the caller's.
    let (global, value) = unsafe {
        let global = slot_of(s.instance(), slot)?;
        check_type(s.slot(source & !MOVE), want)?;
        (global, s.take_ref(source))
    };
    let mut global = lock_global(global)?;
    let old = std::mem::replace(&mut *global, value);
    // Released outside the lock: dropping an object may run any code.
    drop(global);
    drop(old);
    Ok(())
}

#[inline]
fn slot_of(instance: &BytecodeInstance, slot: u32) -> Result<&Mutex<Ref>> {
    instance.refs.get(slot as usize).ok_or_else(|| {
        Status::out_of_range(format!("global ref ordinal {} out of range {}", slot as i32, instance.refs.len()))
    })
}

/// Byte offset of an indirect global access of `size` bytes.
#[inline]
pub fn global_offset(instance: &BytecodeInstance, offset: u32, size: u64) -> Result<usize> {
    if u64::from(offset) + size <= instance.rwdata.len() as u64 {
        return Ok(offset as usize);
    }
    Err(Status::out_of_range(format!("global byte offset {} out of range {}", offset as i32, instance.rwdata.len())))
}

/// An empty list; the capacity is a hint, so a huge one is no error.
pub fn list_alloc(instance: &BytecodeInstance, element: TypeDef, capacity: i32) -> Result<VmList> {
    let list = instance.allocating(|| VmList::charged(element, instance.quota.as_ref()))?;
    let _ = list.reserve(capacity.clamp(0, 1 << 16) as usize);
    Ok(list)
}

/// The element as a reference; null when of another type.
pub fn list_get_ref(list: &VmList, index: i32, want: TypeDef, take: bool) -> Result<Ref> {
    let value = list.get_ref(index.into(), false)?;
    if !want.accepts(&value) {
        return Ok(None);
    }
    if take { list.get_ref(index.into(), true) } else { Ok(value) }
}

/// A new buffer of zeros.
pub fn buffer_alloc(budget: &Budget, instance: &BytecodeInstance, length: i64, alignment: i32) -> Result<VmBuffer> {
    let length =
        usize::try_from(length).map_err(|_| Status::invalid_argument(format!("buffer length {length} is negative")))?;
    let charge = instance.charge(length)?;
    budget.afford(bulk(length))?;
    Ok(VmBuffer::allocate(length, alignment as u32 as usize)?.charged(charge))
}

/// Message and code of `vm.fail`; the message lies at `at` in the function's bytecode.
///
/// # Safety
/// The state is that of the operation.
#[cold]
pub unsafe fn fail(s: State, code: u32, at: usize, length: usize) -> Status {
    // SAFETY: a frame keeps its instance and its function alive.
    let (module, ordinal) = unsafe { (&s.instance().module, (*header(s.fp).function).ordinal) };
    let code = match StatusCode::from_u32(code & 31) {
        // A nonzero status that is OK after masking is still a failure.
        StatusCode::Ok => StatusCode::Unknown,
        code => code,
    };
    Status::new(code, String::from_utf8_lossy(&module.bytecode_of(ordinal)[at..at + length]))
}
