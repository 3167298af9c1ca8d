//! Operations on references, lists and globals, out of the loop's way.

use std::sync::{Arc, PoisonError};

use crate::buffer::VmBuffer;
use crate::context::BytecodeInstance;
use crate::isa::reg;
use crate::list::VmList;
use crate::refs::Ref;
use crate::siphash::siphash24;
use crate::status::{Result, Status};
use crate::types::TypeDef;

/// The buffer behind a reference.
#[inline]
pub fn buffer(value: &Ref) -> Result<&VmBuffer> {
    match value {
        Some(object) => object.as_vm_buffer().ok_or_else(|| not_a("vm.buffer", value)),
        None => Err(null("buffer")),
    }
}

/// The list behind a reference.
#[inline]
pub fn list(value: &Ref) -> Result<&VmList> {
    match value {
        Some(object) => object.as_vm_list().ok_or_else(|| not_a("vm.list", value)),
        None => Err(null("list")),
    }
}

#[cold]
fn null(what: &str) -> Status {
    Status::invalid_argument(format!("{what} is null"))
}

#[cold]
fn not_a(name: &str, value: &Ref) -> Status {
    let have = value.as_ref().map_or("null", |object| object.type_name());
    Status::invalid_argument(format!("ref type mismatch; expected !{name} but have !{have}"))
}

#[cold]
pub fn divide_error(zero: bool, what: &str) -> Status {
    Status::invalid_argument(if zero {
        format!("integer {what} by zero (division by zero)")
    } else {
        format!("integer overflow: {what} of the smallest value by -1")
    })
}

#[cold]
fn mismatch(value: &Ref, want: TypeDef) -> Status {
    let have = value.as_ref().map_or("null", |object| object.type_name());
    Status::invalid_argument(format!("source ref type mismatch; expected {want} but have !{have}"))
}

/// INVALID_ARGUMENT unless `value` is null or of type `want`.
#[inline]
pub fn check_type(value: &Ref, want: TypeDef) -> Result<()> {
    if want.accepts(value) { Ok(()) } else { Err(mismatch(value, want)) }
}

/// Moves or copies, as the register says.
#[inline]
pub fn take(slot: &mut Ref, register: u16) -> Ref {
    if reg::is_move(register) { slot.take() } else { slot.clone() }
}

/// Reads a global reference; moves it when the target register says so.
pub fn global_load_ref(instance: &BytecodeInstance, slot: u32, want: u32, register: u16) -> Result<Ref> {
    let mut global = slot_of(instance, slot)?.lock().unwrap_or_else(PoisonError::into_inner);
    check_type(&global, instance.module.types[want as usize])?;
    Ok(take(&mut global, register))
}

/// Writes a global reference.
pub fn global_store_ref(
    instance: &BytecodeInstance,
    slot: u32,
    want: u32,
    source: &mut Ref,
    register: u16,
) -> Result<()> {
    check_type(source, instance.module.types[want as usize])?;
    let value = take(source, register);
    let mut global = slot_of(instance, slot)?.lock().unwrap_or_else(PoisonError::into_inner);
    let old = std::mem::replace(&mut *global, value);
    // Released outside the lock: dropping an object may run any code.
    drop(global);
    drop(old);
    Ok(())
}

#[inline]
fn slot_of(instance: &BytecodeInstance, slot: u32) -> Result<&std::sync::Mutex<Ref>> {
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
pub fn list_alloc(element: TypeDef, capacity: i32) -> Ref {
    let list = VmList::new(element);
    let _ = list.reserve(capacity.clamp(0, 1 << 16) as usize);
    Some(Arc::new(list))
}

/// The element as a reference; null when of another type.
pub fn list_get_ref(list: &VmList, index: i32, want: TypeDef, register: u16) -> Result<Ref> {
    let value = list.get_ref(index.into(), false)?;
    if !want.accepts(&value) {
        return Ok(None);
    }
    if reg::is_move(register) { list.get_ref(index.into(), true) } else { Ok(value) }
}

/// A new buffer of zeros.
pub fn buffer_alloc(length: i64, alignment: i32) -> Result<Ref> {
    let length =
        usize::try_from(length).map_err(|_| Status::invalid_argument(format!("buffer length {length} is negative")))?;
    Ok(Some(Arc::new(VmBuffer::allocate(length, alignment as u32 as usize)?)))
}

/// A mutable copy of a range.
pub fn buffer_clone(source: &Ref, offset: i64, length: i64, alignment: i32) -> Result<Ref> {
    let copy = buffer(source)?.clone_range(offset as u64, length as u64, alignment as u32 as usize)?;
    Ok(Some(Arc::new(copy)))
}

/// SipHash of a range.
pub fn buffer_hash(source: &Ref, offset: i64, length: i64) -> Result<i64> {
    let source = buffer(source)?;
    let start = source.check_range(offset as u64, length as u64)?;
    let hash = match source.as_slice() {
        Some(bytes) => siphash24(&bytes[start..start + length as usize]),
        None => {
            let mut bytes = Vec::new();
            bytes
                .try_reserve_exact(length as usize)
                .map_err(|_| Status::resource_exhausted("no memory to hash the buffer"))?;
            bytes.resize(length as usize, 0);
            source.read(start as u64, &mut bytes)?;
            siphash24(&bytes)
        }
    };
    Ok(hash as i64)
}

/// Message and code of `vm.fail`.
#[cold]
pub fn fail(code: u32, message: &[u8]) -> Status {
    use crate::status::StatusCode;
    let code = match StatusCode::from_u32(code & 31) {
        // A nonzero status that is OK after masking is still a failure.
        StatusCode::Ok => StatusCode::Unknown,
        code => code,
    };
    Status::new(code, String::from_utf8_lossy(message))
}
