//! Globals.

use crate::interp::ops;
use crate::interp::state::{ok, operation, outlined};
use crate::slot::Slot;

operation!(GlobalLoad32, |s| {
    let inst = s.inst();
    s.set32(inst.a, s.instance().rwdata.u32_at(inst.number() as usize));
    s.next(1)
});

operation!(GlobalStore32, |s| {
    let inst = s.inst();
    s.instance().rwdata.set_u32_at(inst.number() as usize, s.u32(inst.a));
    s.next(1)
});

operation!(GlobalLoad64, |s| {
    let inst = s.inst();
    s.set64(inst.a, s.instance().rwdata.u64_at(inst.number() as usize));
    s.next(1)
});

operation!(GlobalStore64, |s| {
    let inst = s.inst();
    s.instance().rwdata.set_u64_at(inst.number() as usize, s.u64(inst.a));
    s.next(1)
});

operation!(GlobalLoadIndirectI32, |s| {
    let inst = s.inst();
    let at = ok!(s, ops::global_offset(s.instance(), s.u32(inst.a), 4));
    s.set32(inst.b, s.instance().rwdata.u32_at(at));
    s.next(1)
});

operation!(GlobalStoreIndirectI32, |s| {
    let inst = s.inst();
    let at = ok!(s, ops::global_offset(s.instance(), s.u32(inst.a), 4));
    s.instance().rwdata.set_u32_at(at, s.u32(inst.b));
    s.next(1)
});

operation!(GlobalLoadIndirectI64, |s| {
    let inst = s.inst();
    let at = ok!(s, ops::global_offset(s.instance(), s.u32(inst.a), 8));
    s.set64(inst.b, s.instance().rwdata.u64_at(at));
    s.next(1)
});

operation!(GlobalStoreIndirectI64, |s| {
    let inst = s.inst();
    let at = ok!(s, ops::global_offset(s.instance(), s.u32(inst.a), 8));
    s.instance().rwdata.set_u64_at(at, s.u64(inst.b));
    s.next(1)
});

outlined!(GlobalLoadRef, 2, |s| {
    let (inst, word) = (s.inst(), s.word(1));
    let value = ops::global_load_ref(s.instance(), inst.number(), s.type_def(word.number()), word.op != 0)?;
    s.slot_mut(inst.a).set(Slot::new(value));
    Ok(0)
});

outlined!(GlobalStoreRef, 2, |s| {
    let (inst, word) = (s.inst(), s.word(1));
    ops::global_store_ref(s, inst.number(), s.type_def(word.number()), inst.a)?;
    Ok(0)
});

outlined!(GlobalLoadIndirectRef, 2, |s| {
    let (inst, word) = (s.inst(), s.word(1));
    let value = ops::global_load_ref(s.instance(), s.u32(inst.a), s.type_def(word.number()), word.op != 0)?;
    s.slot_mut(inst.b).set(Slot::new(value));
    Ok(0)
});

outlined!(GlobalStoreIndirectRef, 2, |s| {
    let (inst, word) = (s.inst(), s.word(1));
    ops::global_store_ref(s, s.u32(inst.a), s.type_def(word.number()), inst.b)?;
    Ok(0)
});

operation!(ImportResolved, |s| {
    let inst = s.inst();
    s.set32(inst.a, s.instance().imports[inst.number() as usize].is_some().into());
    s.next(1)
});

operation!(Fail, |s| {
    let (inst, word) = (s.inst(), s.word(1));
    match s.u32(inst.a) {
        0 => s.next(2),
        code => s.fail(ops::fail(s, code, word.low() as usize, word.high() as usize)),
    }
});
