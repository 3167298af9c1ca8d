//! Lists.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::interp::state::{outlined, quick};
use crate::interp::{bulk, ops};
use crate::list::VmList;
use crate::refs;
use crate::slot::Slot;
use crate::types::ValueType;

/// Reads an element: at once when the list has elements of this very type.
macro_rules! get {
    ($name:ident, $set:ident, $at:ident, $kind:ident, $get:ident, |$v:ident| $bits:expr) => {
        quick! { $name, 1,
            |s| {
                let inst = s.inst();
                let list = s.slot(inst.a).list()?;
                s.$set(inst.c, list.numbers().$at(ValueType::$kind, s.u32(inst.b) as usize)?.load(Relaxed));
            },
            |s| {
                let inst = s.inst();
                let $v = ops::list(s.slot(inst.a))?.$get(s.i32(inst.b).into())?;
                s.$set(inst.c, $bits);
            }
        }
    };
}

/// Writes an element: at once when the list has elements of this very type.
macro_rules! set {
    ($name:ident, $bits:ident, $at:ident, $kind:ident, $set:ident, $read:ident) => {
        quick! { $name, 1,
            |s| {
                let inst = s.inst();
                let list = s.slot(inst.a).list()?;
                list.numbers().$at(ValueType::$kind, s.u32(inst.b) as usize)?.store(s.$bits(inst.c), Relaxed);
            },
            |s| {
                let inst = s.inst();
                ops::list(s.slot(inst.a))?.$set(s.i32(inst.b).into(), s.$read(inst.c))?;
            }
        }
    };
}

get!(ListGetI32, set32, narrow, I32, get_i32, |v| v as u32);
get!(ListGetI64, set64, wide, I64, get_i64, |v| v as u64);
get!(ListGetF32, set32, narrow, F32, get_f32, |v| v.to_bits());
get!(ListGetF64, set64, wide, F64, get_f64, |v| v.to_bits());
set!(ListSetI32, u32, narrow, I32, set_i32, i32);
set!(ListSetI64, u64, wide, I64, set_i64, i64);
set!(ListSetF32, u32, narrow, F32, set_f32, f32);
set!(ListSetF64, u64, wide, F64, set_f64, f64);

outlined!(ListAlloc, 2, |s| {
    let inst = s.inst();
    let list = ops::list_alloc(s.instance(), s.type_def(s.word(1).low()), s.i32(inst.a))?;
    s.slot_mut(inst.b).set(Slot::new(Some(Arc::new(list))));
    Ok(0)
});

outlined!(ListReserve, 1, |s| {
    let (inst, capacity) = (s.inst(), s.u32(s.inst().b) as usize);
    bulk::reserve(s.budget(), ops::list(s.slot(inst.a))?, capacity)?;
    Ok(ops::bulk(capacity))
});

outlined!(ListSize, 1, |s| {
    let inst = s.inst();
    let length = ops::list(s.slot(inst.a))?.len();
    s.set32(inst.b, length as u32);
    Ok(0)
});

outlined!(ListResize, 1, |s| {
    let (inst, length) = (s.inst(), s.u32(s.inst().b) as usize);
    let list = ops::list(s.slot(inst.a))?;
    Ok(ops::bulk(s.instance().allocating(|| bulk::resize(s.budget(), list, length))?))
});

outlined!(ListGetRef, 2, |s| {
    let (inst, word) = (s.inst(), s.word(1));
    let list = ops::list(s.slot(inst.a))?;
    let value = ops::list_get_ref(list, s.i32(inst.b), s.type_def(word.number()), word.op != 0)?;
    s.slot_mut(inst.c).set(Slot::new(value));
    Ok(0)
});

outlined!(ListSetRef, 1, |s| {
    let inst = s.inst();
    ops::list(s.slot(inst.a))?;
    // The list stays alive even if it is moved into itself.
    let list = refs::downcast::<VmList>(&s.slot(inst.a).to_ref())?;
    let value = s.take_ref(inst.c);
    s.instance().holders.note(&list, &value);
    list.set_ref(s.i32(inst.b).into(), value)?;
    Ok(0)
});
