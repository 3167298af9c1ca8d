//! References in registers.

use crate::bytecode::MOVE;
use crate::interp::ops;
use crate::interp::stack::{header, slot};
use crate::interp::state::{operation, outlined};
use crate::slot::Slot;

/// Releases the reference in the first operand; anything can run then.
mod release {
    use super::*;
    outlined!(
        #[inline(never)]
        Release,
        1,
        |s| {
            s.slot_mut(s.inst().a).clear();
            Ok(0)
        }
    );
}

operation!(CmpEqRef, |s| {
    let inst = s.inst();
    s.set32(inst.c, s.slot(inst.a).same(s.slot(inst.b)).into());
    s.next(1)
});

operation!(CmpNeRef, |s| {
    let inst = s.inst();
    s.set32(inst.c, (!s.slot(inst.a).same(s.slot(inst.b))).into());
    s.next(1)
});

operation!(CmpNzRef, |s| {
    let inst = s.inst();
    s.set32(inst.b, (!s.slot(inst.a).is_null()).into());
    s.next(1)
});

operation!(DiscardRef, |s| {
    if s.slot(s.inst().a).is_null() { s.next(1) } else { release::Release(s.fp, s.ip, s.m, s.table, s.fuel) }
});

operation!(ConstRefZero, |s| {
    if s.slot(s.inst().a).is_null() { s.next(1) } else { release::Release(s.fp, s.ip, s.m, s.table, s.fuel) }
});

// What is lent is only forgotten.
operation!(DiscardArg, |s| {
    let inst = s.inst();
    if header(s.fp).lent >> inst.b & 1 != 0 {
        *s.slot_mut(inst.a) = Slot::NULL;
        s.next(1)
    } else {
        DiscardRef(s.fp, s.ip, s.m, s.table, s.fuel)
    }
});

outlined!(DiscardRefs, |s| 1 + usize::from(s.inst().a).div_ceil(4), |s| {
    let units = s.ip.add(1).cast::<u16>();
    for i in 0..usize::from(s.inst().a) {
        s.slot_mut(*units.add(i)).clear();
    }
    Ok(0)
});

// What the frame still holds, but for what is returned; what is lent is only forgotten.
outlined!(DiscardAll, |s| 1 + usize::from(s.inst().c).div_ceil(4), |s| {
    let inst = s.inst();
    let mut kept = std::slice::from_raw_parts(s.ip.add(1).cast::<u16>(), inst.c.into()).iter().peekable();
    for ordinal in 0..inst.b {
        if kept.next_if(|kept| **kept == ordinal).is_some() {
            continue;
        }
        let unit = usize::from(inst.a) + usize::from(ordinal) * (size_of::<Slot>() / size_of::<u64>());
        if ordinal < 64 && header(s.fp).lent >> ordinal & 1 != 0 {
            std::ptr::from_mut(slot(s.fp, unit)).write(Slot::NULL);
        } else {
            slot(s.fp, unit).clear();
        }
    }
    Ok(0)
});

// Before arguments are moved or replaced, those that are lent get counts of their own.
outlined!(OwnArgs, 2, |s| {
    let (first, mask) = (usize::from(s.inst().a), s.word(1).bits());
    let header = header(s.fp);
    for ordinal in 0..64 {
        if header.lent & mask & 1 << ordinal != 0 {
            slot(s.fp, first + ordinal * (size_of::<Slot>() / size_of::<u64>())).retain();
        }
    }
    header.lent &= !mask;
    Ok(0)
});

outlined!(ConstRefRodata, 1, |s| {
    let inst = s.inst();
    let buffer = s.instance().module.rodata[inst.number() as usize].clone();
    s.slot_mut(inst.a).set(Slot::new(Some(buffer)));
    Ok(0)
});

outlined!(AssignRef, 1, |s| {
    let inst = s.inst();
    let value = s.take(inst.a);
    s.slot_mut(inst.b).set(value);
    Ok(0)
});

outlined!(CastAnyRef, 2, |s| {
    let inst = s.inst();
    ops::check_type(s.slot(inst.a & !MOVE), s.type_def(s.word(1).low()))?;
    let value = s.take(inst.a);
    s.slot_mut(inst.b).set(value);
    Ok(0)
});

outlined!(SelectRef, 2, |s| {
    let (inst, word) = (s.inst(), s.word(1));
    let (picked, other) = if s.u32(inst.a) != 0 { (inst.b, inst.c) } else { (inst.c, inst.b) };
    ops::check_type(s.slot(picked & !MOVE), s.type_def(word.number()))?;
    let value = s.take(picked);
    if other & MOVE != 0 {
        s.slot_mut(other & !MOVE).clear();
    }
    s.slot_mut(word.op).set(value);
    Ok(0)
});

outlined!(SwitchRef, |s| s.switch_words(), |s| {
    let picked = s.picked();
    ops::check_type(s.slot(picked & !MOVE), s.type_def(s.word(1).high()))?;
    let value = s.take(picked);
    s.slot_mut(s.inst().c).set(value);
    Ok(0)
});
