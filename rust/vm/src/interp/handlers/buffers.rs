//! Buffers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::interp::state::{outlined, quick};
use crate::interp::{bulk, ops};
use crate::slot::Slot;

/// Reads an element: at once when it is where its alignment wants it.
macro_rules! load {
    ($name:ident, $set:ident, $atomic:ty, $load:ident, |$v:ident| $bits:expr) => {
        quick! { $name, 1,
            |s| {
                let inst = s.inst();
                let at = s.slot(inst.a).buffer()?.aligned::<$atomic>(s.i64(inst.b))?;
                let $v = at.load(Relaxed);
                s.$set(inst.c, $bits);
            },
            |s| {
                let inst = s.inst();
                let $v = ops::buffer(s.slot(inst.a))?.$load(s.i64(inst.b))?;
                s.$set(inst.c, $bits);
            }
        }
    };
}

/// Writes an element: at once when it is where its alignment wants it.
macro_rules! store {
    ($name:ident, $atomic:ty, $store:ident, $read:ident as $ty:ty) => {
        quick! { $name, 1,
            |s| {
                let inst = s.inst();
                let buffer = s.slot(inst.a).buffer()?;
                if !buffer.is_mutable() {
                    return None;
                }
                buffer.aligned::<$atomic>(s.i64(inst.b))?.store(s.$read(inst.c) as $ty, Relaxed);
            },
            |s| {
                let inst = s.inst();
                ops::buffer(s.slot(inst.a))?.$store(s.i64(inst.b), s.$read(inst.c) as $ty)?;
            }
        }
    };
}

/// Writes the same element many times.
macro_rules! fill {
    ($name:ident, $fill:ident, $read:ident as $ty:ty) => {
        outlined!($name, 2, |s| {
            let (inst, length) = (s.inst(), s.i64(s.inst().c));
            let (buffer, value) = (ops::buffer(s.slot(inst.a))?, s.$read(s.word(1).op) as $ty);
            let range = (s.i64(inst.b), length);
            bulk::fill(s.budget(), buffer, range, size_of::<$ty>(), |at, count| buffer.$fill(at, count, value))?;
            Ok(ops::bulk(length as usize * size_of::<$ty>()))
        });
    };
}

load!(BufferLoadI8U, set32, AtomicU8, load_u8, |v| v.into());
load!(BufferLoadI8S, set32, AtomicU8, load_u8, |v| v as i8 as i32 as u32);
load!(BufferLoadI16U, set32, AtomicU16, load_u16, |v| v.into());
load!(BufferLoadI16S, set32, AtomicU16, load_u16, |v| v as i16 as i32 as u32);
load!(BufferLoadI32, set32, AtomicU32, load_u32, |v| v);
load!(BufferLoadI64, set64, AtomicU64, load_u64, |v| v);
store!(BufferStoreI8, AtomicU8, store_u8, u32 as u8);
store!(BufferStoreI16, AtomicU16, store_u16, u32 as u16);
store!(BufferStoreI32, AtomicU32, store_u32, u32 as u32);
store!(BufferStoreI64, AtomicU64, store_u64, u64 as u64);
fill!(BufferFillI8, fill_u8, u32 as u8);
fill!(BufferFillI16, fill_u16, u32 as u16);
fill!(BufferFillI32, fill_u32, u32 as u32);
fill!(BufferFillI64, fill_u64, u64 as u64);

outlined!(BufferAlloc, 1, |s| {
    let inst = s.inst();
    let buffer = ops::buffer_alloc(s.budget(), s.instance(), s.i64(inst.a), s.i32(inst.b))?;
    let cost = ops::bulk(buffer.len());
    s.slot_mut(inst.c).set(Slot::new(Some(Arc::new(buffer))));
    Ok(cost)
});

outlined!(BufferClone, 2, |s| {
    let (inst, word) = (s.inst(), s.word(1));
    let (offset, length, alignment) = (s.u64(inst.b), s.u64(inst.c), s.u32(word.op) as usize);
    let source = ops::buffer(s.slot(inst.a))?;
    source.check_range(offset, length)?;
    let charge = s.instance().charge(length as usize)?;
    let copy = bulk::clone(s.budget(), source, offset, length, alignment)?.charged(charge);
    s.slot_mut(word.a).set(Slot::new(Some(Arc::new(copy))));
    Ok(ops::bulk(length as usize))
});

outlined!(BufferLength, 1, |s| {
    let inst = s.inst();
    let length = ops::buffer(s.slot(inst.a))?.len();
    s.set64(inst.b, length as u64);
    Ok(0)
});

outlined!(BufferCopy, 2, |s| {
    let (inst, word) = (s.inst(), s.word(1));
    let (source, target) = (ops::buffer(s.slot(inst.a))?, ops::buffer(s.slot(inst.c))?);
    let length = s.u64(word.a);
    bulk::copy(s.budget(), (target, s.u64(word.op)), (source, s.u64(inst.b)), length)?;
    Ok(ops::bulk(length as usize))
});

outlined!(BufferCompare, 2, |s| {
    let (inst, word) = (s.inst(), s.word(1));
    let (left, right) = (ops::buffer(s.slot(inst.a))?, ops::buffer(s.slot(inst.c))?);
    let length = s.u64(word.a);
    let equal = bulk::compare(s.budget(), (left, s.u64(inst.b)), (right, s.u64(word.op)), length)?;
    s.set32(word.b, equal.into());
    Ok(ops::bulk(length as usize))
});

outlined!(BufferHash, 2, |s| {
    let (inst, length) = (s.inst(), s.i64(s.inst().c));
    let hash = bulk::hash(s.budget(), ops::buffer(s.slot(inst.a))?, s.i64(inst.b), length)?;
    s.set64(s.word(1).op, hash);
    Ok(ops::bulk(length as usize))
});
