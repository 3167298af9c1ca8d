//! Integers, constants and moves.

use super::numbers::{binary, divide, immediate, shift, ternary, unary};
use crate::interp::ops;
use crate::interp::state::operation;

unary!(Move32, u32, set32, |v| v);
unary!(Move64, u64, set64, |v| v);
binary!(AddI32, u32, set32, |l, r| l.wrapping_add(r));
binary!(SubI32, u32, set32, |l, r| l.wrapping_sub(r));
binary!(MulI32, u32, set32, |l, r| l.wrapping_mul(r));
binary!(AndI32, u32, set32, |l, r| l & r);
binary!(OrI32, u32, set32, |l, r| l | r);
binary!(XorI32, u32, set32, |l, r| l ^ r);
binary!(MinI32S, i32, set32, |l, r| l.min(r) as u32);
binary!(MinI32U, u32, set32, |l, r| l.min(r));
binary!(MaxI32S, i32, set32, |l, r| l.max(r) as u32);
binary!(MaxI32U, u32, set32, |l, r| l.max(r));
divide!(DivI32S, i32, set32, checked_div, "division", u32);
divide!(DivI32U, u32, set32, checked_div, "division", u32);
divide!(RemI32S, i32, set32, checked_rem, "remainder", u32);
divide!(RemI32U, u32, set32, checked_rem, "remainder", u32);
ternary!(FmaI32, u32, set32, |x, y, z| x.wrapping_mul(y).wrapping_add(z));
binary!(AddI64, u64, set64, |l, r| l.wrapping_add(r));
binary!(SubI64, u64, set64, |l, r| l.wrapping_sub(r));
binary!(MulI64, u64, set64, |l, r| l.wrapping_mul(r));
binary!(AndI64, u64, set64, |l, r| l & r);
binary!(OrI64, u64, set64, |l, r| l | r);
binary!(XorI64, u64, set64, |l, r| l ^ r);
binary!(MinI64S, i64, set64, |l, r| l.min(r) as u64);
binary!(MinI64U, u64, set64, |l, r| l.min(r));
binary!(MaxI64S, i64, set64, |l, r| l.max(r) as u64);
binary!(MaxI64U, u64, set64, |l, r| l.max(r));
divide!(DivI64S, i64, set64, checked_div, "division", u64);
divide!(DivI64U, u64, set64, checked_div, "division", u64);
divide!(RemI64S, i64, set64, checked_rem, "remainder", u64);
divide!(RemI64U, u64, set64, checked_rem, "remainder", u64);
ternary!(FmaI64, u64, set64, |x, y, z| x.wrapping_mul(y).wrapping_add(z));
unary!(NotI32, u32, set32, |v| !v);
unary!(NotI64, u64, set64, |v| !v);
unary!(AbsI32, i32, set32, |v| v.unsigned_abs());
unary!(AbsI64, i64, set64, |v| v.unsigned_abs());
unary!(CtlzI32, u32, set32, |v| v.leading_zeros());
unary!(CtlzI64, u64, set64, |v| v.leading_zeros().into());
shift!(ShlI32, u32, set32, |v, n| v.wrapping_shl(n));
shift!(ShrI32S, i32, set32, |v, n| v.wrapping_shr(n) as u32);
shift!(ShrI32U, u32, set32, |v, n| v.wrapping_shr(n));
shift!(ShlI64, u64, set64, |v, n| v.wrapping_shl(n));
shift!(ShrI64S, i64, set64, |v, n| v.wrapping_shr(n) as u64);
shift!(ShrI64U, u64, set64, |v, n| v.wrapping_shr(n));
unary!(TruncI32I8, u32, set32, |v| v & 0xFF);
unary!(TruncI32I16, u32, set32, |v| v & 0xFFFF);
unary!(TruncI64I32, u64, set32, |v| v as u32);
unary!(ExtI8I32S, u32, set32, |v| v as i8 as i32 as u32);
unary!(ExtI16I32S, u32, set32, |v| v as i16 as i32 as u32);
unary!(ExtI32I64S, i32, set64, |v| i64::from(v) as u64);
unary!(ExtI32I64U, u32, set64, |v| v.into());
binary!(CmpEqI32, u32, set32, |l, r| (l == r).into());
binary!(CmpNeI32, u32, set32, |l, r| (l != r).into());
binary!(CmpLtI32S, i32, set32, |l, r| (l < r).into());
binary!(CmpLtI32U, u32, set32, |l, r| (l < r).into());
unary!(CmpNzI32, u32, set32, |v| (v != 0).into());
binary!(CmpEqI64, u64, set32, |l, r| (l == r).into());
binary!(CmpNeI64, u64, set32, |l, r| (l != r).into());
binary!(CmpLtI64S, i64, set32, |l, r| (l < r).into());
binary!(CmpLtI64U, u64, set32, |l, r| (l < r).into());
unary!(CmpNzI64, u64, set32, |v| (v != 0).into());

immediate!(AddI32Imm, u32, set32, |l, r: i32| l.wrapping_add(r as u32));
immediate!(MulI32Imm, u32, set32, |l, r: i32| l.wrapping_mul(r as u32));
immediate!(AndI32Imm, u32, set32, |l, r: i32| l & r as u32);
immediate!(ShlI32Imm, u32, set32, |l, r: u32| l.wrapping_shl(r));
immediate!(ShrI32SImm, i32, set32, |l, r: u32| l.wrapping_shr(r) as u32);
immediate!(ShrI32UImm, u32, set32, |l, r: u32| l.wrapping_shr(r));
immediate!(AddI64Imm, u64, set64, |l, r: i64| l.wrapping_add(r as u64));
immediate!(MulI64Imm, u64, set64, |l, r: i64| l.wrapping_mul(r as u64));
immediate!(AndI64Imm, u64, set64, |l, r: i64| l & r as u64);
immediate!(ShlI64Imm, u64, set64, |l, r: u32| l.wrapping_shl(r));
immediate!(ShrI64SImm, i64, set64, |l, r: u32| l.wrapping_shr(r) as u64);
immediate!(ShrI64UImm, u64, set64, |l, r: u32| l.wrapping_shr(r));

operation!(Const32, |s| {
    let inst = s.inst();
    s.set32(inst.a, inst.number());
    s.next(1)
});

operation!(Const64, |s| {
    s.set64(s.inst().a, s.word(1).bits());
    s.next(2)
});

operation!(ZeroCells, |s| {
    let inst = s.inst();
    s.fp.add(inst.a.into()).write_bytes(0, inst.b.into());
    s.next(1)
});

operation!(SelectI32, |s| {
    let inst = s.inst();
    let value = s.u32(if s.u32(inst.a) != 0 { inst.b } else { inst.c });
    s.set32(s.word(1).op, value);
    s.next(2)
});

operation!(SelectI64, |s| {
    let inst = s.inst();
    let value = s.u64(if s.u32(inst.a) != 0 { inst.b } else { inst.c });
    s.set64(s.word(1).op, value);
    s.next(2)
});

operation!(Switch32, |s| {
    let picked = s.picked();
    s.set32(s.inst().c, s.u32(picked));
    s.next(s.switch_words())
});

operation!(Switch64, |s| {
    let picked = s.picked();
    s.set64(s.inst().c, s.u64(picked));
    s.next(s.switch_words())
});
