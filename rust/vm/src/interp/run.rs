//! The loop. With `calls.rs` the only code of the VM that writes registers without checking.
//!
//! It is one function, and long, on purpose: the macros that make an operation one line work on the loop's own variables
//! (`ip`, `cells`, `slots`), which the compiler keeps in machine registers. Groups of operations in functions of their own
//! would be reached through a second dispatch, and would spill those variables before and reload them after each.
//! Whatever is not about registers is in `ops.rs`, `math.rs` and `calls.rs`.

use std::ptr::NonNull;

use super::calls::{Called, ImportCall};
use super::{Exit, Machine, SLICE, math, ops};
use crate::bytecode::{Inst, X, kind};
use crate::context::BytecodeInstance;
use crate::isa::reg;
use crate::refs::{self, Ref};
use crate::status::{Result, Status};

/// Words of a Call or CallImport that begins with these two.
#[inline(always)]
fn call_length(head: Inst, callee: Inst) -> usize {
    2 + usize::from(head.a) + usize::from(head.b) + usize::from(head.c) + callee.high() as usize
}

#[cold]
fn no_reason() -> Status {
    Status::internal("an import call stopped without a reason")
}

impl Machine {
    /// Executes until the outermost function returns, something waits, or an error ends it all.
    pub fn run(&mut self) -> Result<Exit> {
        let mut ip = 0;
        match self.execute(&mut ip) {
            Ok(exit) => Ok(exit),
            Err(status) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.ip = ip;
                }
                Err(self.unwind(status))
            }
        }
    }

    // SAFETY of the whole function: `code`, `cells` and `slots` point at the innermost frame's instructions, 32-bit
    // registers and reference registers; `load!` renews them whenever frames or their storage change. The verifier
    // proved that every register named by an instruction is inside the frame, that 64-bit registers are even, that type,
    // rodata, global and function ordinals exist, and that every path ends in a terminator; the translator resolved
    // branch targets to the starts of instructions and closed the code with `End`. Registers are plain u32 cells, valid
    // for any bits; 64-bit values are read and written unaligned.
    #[allow(clippy::cognitive_complexity)]
    fn execute(&mut self, failed_at: &mut u32) -> Result<Exit> {
        let mut code: *const Inst;
        let mut ip: *const Inst;
        let mut cells: *mut u32;
        let mut slots: *mut Ref;
        let mut instance: NonNull<BytecodeInstance>;
        // Backward branches and calls until the next look at the clock.
        let mut slice = SLICE;

        // Renews the pointers from the innermost frame.
        macro_rules! load {
            () => {{
                let Some(frame) = self.frames.last() else { return Ok(Exit::Done(Vec::new())) };
                instance = frame.instance;
                code = frame.code().insts.as_ptr();
                // The bases of a frame lie inside its storage, `ip` inside its code.
                ip = code.add(frame.ip as usize);
                cells = self.cells.as_mut_ptr().add(frame.cells_base as usize);
                slots = self.refs.as_mut_ptr().add(frame.refs_base as usize);
            }};
        }
        // Ends the loop with the error, remembering where.
        macro_rules! ok {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(status) => {
                        *failed_at = ip.offset_from(code) as u32;
                        return Err(status);
                    }
                }
            };
        }
        // Saves where to go on (`$ahead` words further) before the frame is left.
        macro_rules! save {
            ($ahead:expr) => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.ip = ip.offset_from(code) as u32 + $ahead as u32;
                }
            };
        }
        macro_rules! u32 {
            ($r:expr) => {
                *cells.add(usize::from($r))
            };
        }
        macro_rules! i32 {
            ($r:expr) => {
                u32!($r) as i32
            };
        }
        macro_rules! f32 {
            ($r:expr) => {
                f32::from_bits(u32!($r))
            };
        }
        macro_rules! u64 {
            ($r:expr) => {
                cells.add(usize::from($r)).cast::<u64>().read_unaligned()
            };
        }
        macro_rules! i64 {
            ($r:expr) => {
                u64!($r) as i64
            };
        }
        macro_rules! f64 {
            ($r:expr) => {
                f64::from_bits(u64!($r))
            };
        }
        macro_rules! set32 {
            ($r:expr, $value:expr) => {{
                let value: u32 = $value;
                *cells.add(usize::from($r)) = value;
            }};
        }
        macro_rules! set64 {
            ($r:expr, $value:expr) => {{
                let value: u64 = $value;
                cells.add(usize::from($r)).cast::<u64>().write_unaligned(value);
            }};
        }
        macro_rules! slot {
            ($r:expr) => {
                *slots.add(reg::ref_ordinal($r))
            };
        }
        macro_rules! next {
            ($words:expr) => {{
                ip = ip.add($words);
                continue;
            }};
        }
        // Whatever runs for long passes here again and again.
        macro_rules! charge {
            () => {{
                slice -= 1;
                if slice == 0 {
                    ok!(self.watch.look());
                    slice = SLICE;
                }
            }};
        }
        macro_rules! jump {
            ($target:expr) => {{
                let target = code.add($target as usize);
                if target <= ip {
                    charge!();
                }
                ip = target;
                continue;
            }};
        }
        // result = f(left, right) over one register kind.
        macro_rules! bin32 {
            ($inst:ident, $read:ident, |$l:ident, $r:ident| $value:expr) => {{
                let ($l, $r) = ($read!($inst.a), $read!($inst.b));
                set32!($inst.c, $value);
                next!(1)
            }};
        }
        macro_rules! bin64 {
            ($inst:ident, $read:ident, |$l:ident, $r:ident| $value:expr) => {{
                let ($l, $r) = ($read!($inst.a), $read!($inst.b));
                set64!($inst.c, $value);
                next!(1)
            }};
        }
        macro_rules! un32 {
            ($inst:ident, $read:ident, |$v:ident| $value:expr) => {{
                let $v = $read!($inst.a);
                set32!($inst.b, $value);
                next!(1)
            }};
        }
        macro_rules! un64 {
            ($inst:ident, $read:ident, |$v:ident| $value:expr) => {{
                let $v = $read!($inst.a);
                set64!($inst.b, $value);
                next!(1)
            }};
        }
        macro_rules! shift {
            ($inst:ident, $set:ident, $read:ident, |$v:ident, $n:ident| $value:expr) => {{
                let ($v, $n) = ($read!($inst.a), u32!($inst.b));
                $set!($inst.c, $value);
                next!(1)
            }};
        }
        macro_rules! ternary {
            ($inst:ident, $set:ident, $read:ident, |$x:ident, $y:ident, $z:ident| $value:expr) => {{
                let ($x, $y, $z) = ($read!($inst.a), $read!($inst.b), $read!($inst.c));
                $set!((*ip.add(1)).op, $value);
                next!(2)
            }};
        }
        // Quotients and remainders: None from the checked operation is an error.
        macro_rules! divide {
            ($inst:ident, $set:ident, $read:ident, $op:ident, $what:literal, $unsigned:ty) => {{
                let (l, r) = ($read!($inst.a), $read!($inst.b));
                match l.$op(r) {
                    Some(value) => $set!($inst.c, value as $unsigned),
                    None => ok!(Err(ops::divide_error(r == 0, $what))),
                }
                next!(1)
            }};
        }
        macro_rules! branch {
            ($inst:ident, $read:ident, |$l:ident, $r:ident| $value:expr) => {{
                let ($l, $r) = ($read!($inst.a), $read!($inst.b));
                let taken: bool = $value;
                set32!($inst.c, taken.into());
                let targets = *ip.add(1);
                jump!(if taken { targets.low() } else { targets.high() })
            }};
        }
        macro_rules! load_element {
            ($inst:ident, $set:ident, $load:ident, |$v:ident| $value:expr) => {{
                let $v = ok!(ok!(ops::buffer(&slot!($inst.a))).$load(i64!($inst.b)));
                $set!($inst.c, $value);
                next!(1)
            }};
        }
        macro_rules! store_element {
            ($inst:ident, $store:ident, $read:ident as $ty:ty) => {{
                ok!(ok!(ops::buffer(&slot!($inst.a))).$store(i64!($inst.b), $read!($inst.c) as $ty));
                next!(1)
            }};
        }
        macro_rules! fill {
            ($inst:ident, $fill:ident, $read:ident as $ty:ty) => {{
                let value = $read!((*ip.add(1)).op) as $ty;
                ok!(ok!(ops::buffer(&slot!($inst.a))).$fill(i64!($inst.b), i64!($inst.c), value));
                next!(2)
            }};
        }
        macro_rules! list_get {
            ($inst:ident, $set:ident, $get:ident, |$v:ident| $value:expr) => {{
                let $v = ok!(ok!(ops::list(&slot!($inst.a))).$get(i32!($inst.b).into()));
                $set!($inst.c, $value);
                next!(1)
            }};
        }
        macro_rules! list_set {
            ($inst:ident, $put:ident, $read:ident) => {{
                ok!(ok!(ops::list(&slot!($inst.a))).$put(i32!($inst.b).into(), $read!($inst.c)));
                next!(1)
            }};
        }

        // SAFETY: see above the function.
        unsafe { load!() };
        loop {
            // SAFETY: see above the function.
            unsafe {
                // By reference, so that an operation loads only the fields that it has.
                let inst = &*ip;
                match std::mem::transmute::<u16, X>(inst.op) {
                    X::Const32 => {
                        set32!(inst.a, inst.number());
                        next!(1)
                    }
                    X::Const64 => {
                        set64!(inst.a, (*ip.add(1)).bits());
                        next!(2)
                    }
                    X::ConstRefZero => {
                        slot!(inst.a) = None;
                        next!(1)
                    }
                    X::ConstRefRodata => {
                        slot!(inst.a) = Some(instance.as_ref().module.rodata[inst.number() as usize].clone());
                        next!(1)
                    }
                    X::Move32 => un32!(inst, u32, |v| v),
                    X::Move64 => un64!(inst, u64, |v| v),
                    X::AssignRef => {
                        let value = ops::take(&mut slot!(inst.a), inst.a);
                        slot!(inst.b) = value;
                        next!(1)
                    }

                    X::AddI32 => bin32!(inst, u32, |l, r| l.wrapping_add(r)),
                    X::SubI32 => bin32!(inst, u32, |l, r| l.wrapping_sub(r)),
                    X::MulI32 => bin32!(inst, u32, |l, r| l.wrapping_mul(r)),
                    X::AndI32 => bin32!(inst, u32, |l, r| l & r),
                    X::OrI32 => bin32!(inst, u32, |l, r| l | r),
                    X::XorI32 => bin32!(inst, u32, |l, r| l ^ r),
                    X::MinI32S => bin32!(inst, i32, |l, r| l.min(r) as u32),
                    X::MinI32U => bin32!(inst, u32, |l, r| l.min(r)),
                    X::MaxI32S => bin32!(inst, i32, |l, r| l.max(r) as u32),
                    X::MaxI32U => bin32!(inst, u32, |l, r| l.max(r)),
                    X::DivI32S => divide!(inst, set32, i32, checked_div, "division", u32),
                    X::DivI32U => divide!(inst, set32, u32, checked_div, "division", u32),
                    X::RemI32S => divide!(inst, set32, i32, checked_rem, "remainder", u32),
                    X::RemI32U => divide!(inst, set32, u32, checked_rem, "remainder", u32),
                    X::FmaI32 => ternary!(inst, set32, u32, |x, y, z| x.wrapping_mul(y).wrapping_add(z)),
                    X::AddI64 => bin64!(inst, u64, |l, r| l.wrapping_add(r)),
                    X::SubI64 => bin64!(inst, u64, |l, r| l.wrapping_sub(r)),
                    X::MulI64 => bin64!(inst, u64, |l, r| l.wrapping_mul(r)),
                    X::AndI64 => bin64!(inst, u64, |l, r| l & r),
                    X::OrI64 => bin64!(inst, u64, |l, r| l | r),
                    X::XorI64 => bin64!(inst, u64, |l, r| l ^ r),
                    X::MinI64S => bin64!(inst, i64, |l, r| l.min(r) as u64),
                    X::MinI64U => bin64!(inst, u64, |l, r| l.min(r)),
                    X::MaxI64S => bin64!(inst, i64, |l, r| l.max(r) as u64),
                    X::MaxI64U => bin64!(inst, u64, |l, r| l.max(r)),
                    X::DivI64S => divide!(inst, set64, i64, checked_div, "division", u64),
                    X::DivI64U => divide!(inst, set64, u64, checked_div, "division", u64),
                    X::RemI64S => divide!(inst, set64, i64, checked_rem, "remainder", u64),
                    X::RemI64U => divide!(inst, set64, u64, checked_rem, "remainder", u64),
                    X::FmaI64 => ternary!(inst, set64, u64, |x, y, z| x.wrapping_mul(y).wrapping_add(z)),
                    X::NotI32 => un32!(inst, u32, |v| !v),
                    X::NotI64 => un64!(inst, u64, |v| !v),
                    X::AbsI32 => un32!(inst, i32, |v| v.unsigned_abs()),
                    X::AbsI64 => un64!(inst, i64, |v| v.unsigned_abs()),
                    X::CtlzI32 => un32!(inst, u32, |v| v.leading_zeros()),
                    X::CtlzI64 => un64!(inst, u64, |v| v.leading_zeros().into()),
                    X::ShlI32 => shift!(inst, set32, u32, |v, n| v.wrapping_shl(n)),
                    X::ShrI32S => shift!(inst, set32, i32, |v, n| v.wrapping_shr(n) as u32),
                    X::ShrI32U => shift!(inst, set32, u32, |v, n| v.wrapping_shr(n)),
                    X::ShlI64 => shift!(inst, set64, u64, |v, n| v.wrapping_shl(n)),
                    X::ShrI64S => shift!(inst, set64, i64, |v, n| v.wrapping_shr(n) as u64),
                    X::ShrI64U => shift!(inst, set64, u64, |v, n| v.wrapping_shr(n)),
                    X::TruncI32I8 => un32!(inst, u32, |v| v & 0xFF),
                    X::TruncI32I16 => un32!(inst, u32, |v| v & 0xFFFF),
                    X::TruncI64I32 => un32!(inst, u64, |v| v as u32),
                    X::ExtI8I32S => un32!(inst, u32, |v| v as i8 as i32 as u32),
                    X::ExtI16I32S => un32!(inst, u32, |v| v as i16 as i32 as u32),
                    X::ExtI32I64S => un64!(inst, i32, |v| i64::from(v) as u64),
                    X::ExtI32I64U => un64!(inst, u32, |v| v.into()),
                    X::CmpEqI32 => bin32!(inst, u32, |l, r| (l == r).into()),
                    X::CmpNeI32 => bin32!(inst, u32, |l, r| (l != r).into()),
                    X::CmpLtI32S => bin32!(inst, i32, |l, r| (l < r).into()),
                    X::CmpLtI32U => bin32!(inst, u32, |l, r| (l < r).into()),
                    X::CmpNzI32 => un32!(inst, u32, |v| (v != 0).into()),
                    X::CmpEqI64 => bin32!(inst, u64, |l, r| (l == r).into()),
                    X::CmpNeI64 => bin32!(inst, u64, |l, r| (l != r).into()),
                    X::CmpLtI64S => bin32!(inst, i64, |l, r| (l < r).into()),
                    X::CmpLtI64U => bin32!(inst, u64, |l, r| (l < r).into()),
                    X::CmpNzI64 => un32!(inst, u64, |v| (v != 0).into()),
                    X::CmpEqRef => {
                        let same = refs::same(&slot!(inst.a), &slot!(inst.b));
                        set32!(inst.c, same.into());
                        next!(1)
                    }
                    X::CmpNeRef => {
                        let same = refs::same(&slot!(inst.a), &slot!(inst.b));
                        set32!(inst.c, (!same).into());
                        next!(1)
                    }
                    X::CmpNzRef => {
                        let some = slot!(inst.a).is_some();
                        set32!(inst.b, some.into());
                        next!(1)
                    }

                    X::AddF32 => bin32!(inst, f32, |l, r| (l + r).to_bits()),
                    X::SubF32 => bin32!(inst, f32, |l, r| (l - r).to_bits()),
                    X::MulF32 => bin32!(inst, f32, |l, r| (l * r).to_bits()),
                    X::DivF32 => bin32!(inst, f32, |l, r| (l / r).to_bits()),
                    X::RemF32 => bin32!(inst, f32, |l, r| math::remainder_f32(l, r).to_bits()),
                    X::FmaF32 => ternary!(inst, set32, f32, |x, y, z| (x * y + z).to_bits()),
                    X::MinF32 => bin32!(inst, f32, |l, r| if r < l { r } else { l }.to_bits()),
                    X::MaxF32 => bin32!(inst, f32, |l, r| if l < r { r } else { l }.to_bits()),
                    X::Atan2F32 => bin32!(inst, f32, |l, r| l.atan2(r).to_bits()),
                    X::PowF32 => bin32!(inst, f32, |l, r| l.powf(r).to_bits()),
                    X::AbsF32 => un32!(inst, f32, |v| v.abs().to_bits()),
                    X::NegF32 => un32!(inst, f32, |v| (-v).to_bits()),
                    X::CeilF32 => un32!(inst, f32, |v| v.ceil().to_bits()),
                    X::FloorF32 => un32!(inst, f32, |v| v.floor().to_bits()),
                    X::RoundF32 => un32!(inst, f32, |v| v.round().to_bits()),
                    X::RoundF32Even => un32!(inst, f32, |v| math::round_even_f32(v).to_bits()),
                    X::AtanF32 => un32!(inst, f32, |v| v.atan().to_bits()),
                    X::CosF32 => un32!(inst, f32, |v| v.cos().to_bits()),
                    X::SinF32 => un32!(inst, f32, |v| v.sin().to_bits()),
                    X::ExpF32 => un32!(inst, f32, |v| v.exp().to_bits()),
                    X::Exp2F32 => un32!(inst, f32, |v| v.exp2().to_bits()),
                    X::Expm1F32 => un32!(inst, f32, |v| v.exp_m1().to_bits()),
                    X::LogF32 => un32!(inst, f32, |v| v.ln().to_bits()),
                    X::Log10F32 => un32!(inst, f32, |v| v.log10().to_bits()),
                    X::Log1pF32 => un32!(inst, f32, |v| v.ln_1p().to_bits()),
                    X::Log2F32 => un32!(inst, f32, |v| v.log2().to_bits()),
                    X::RsqrtF32 => un32!(inst, f32, |v| (1.0 / v.sqrt()).to_bits()),
                    X::SqrtF32 => un32!(inst, f32, |v| v.sqrt().to_bits()),
                    X::TanhF32 => un32!(inst, f32, |v| v.tanh().to_bits()),
                    X::ErfF32 => un32!(inst, f32, |v| math::erf_f32(v).to_bits()),
                    X::CmpEqF32O => bin32!(inst, f32, |l, r| (l == r).into()),
                    X::CmpEqF32U => bin32!(inst, f32, |l, r| (l == r || l.is_nan() || r.is_nan()).into()),
                    X::CmpNeF32O | X::CmpNeF32U => bin32!(inst, f32, |l, r| (l != r).into()),
                    X::CmpLtF32O => bin32!(inst, f32, |l, r| (l < r).into()),
                    X::CmpLtF32U => bin32!(inst, f32, |l, r| (l < r || l.is_nan() || r.is_nan()).into()),
                    X::CmpLteF32O => bin32!(inst, f32, |l, r| (l <= r).into()),
                    X::CmpLteF32U => bin32!(inst, f32, |l, r| (l <= r || l.is_nan() || r.is_nan()).into()),
                    X::CmpNanF32 => un32!(inst, f32, |v| v.is_nan().into()),
                    X::CastSi32F32 => un32!(inst, i32, |v| (v as f32).to_bits()),
                    X::CastUi32F32 => un32!(inst, u32, |v| (v as f32).to_bits()),
                    X::CastF32Si32 | X::CastF32Ui32 => un32!(inst, f32, |v| math::f32_to_i32(v) as u32),
                    X::CastF32Si64 => un64!(inst, f32, |v| math::to_i64(v.into()) as u64),
                    X::CastF32Ui64 => un64!(inst, f32, |v| math::f32_to_u64(v) as u64),
                    X::CastSi64F32 => un32!(inst, i64, |v| (v as f32).to_bits()),
                    X::CastUi64F32 => un32!(inst, u64, |v| (v as f32).to_bits()),

                    X::AddF64 => bin64!(inst, f64, |l, r| (l + r).to_bits()),
                    X::SubF64 => bin64!(inst, f64, |l, r| (l - r).to_bits()),
                    X::MulF64 => bin64!(inst, f64, |l, r| (l * r).to_bits()),
                    X::DivF64 => bin64!(inst, f64, |l, r| (l / r).to_bits()),
                    X::RemF64 => bin64!(inst, f64, |l, r| math::remainder_f64(l, r).to_bits()),
                    X::FmaF64 => ternary!(inst, set64, f64, |x, y, z| (x * y + z).to_bits()),
                    X::MinF64 => bin64!(inst, f64, |l, r| if r < l { r } else { l }.to_bits()),
                    X::MaxF64 => bin64!(inst, f64, |l, r| if l < r { r } else { l }.to_bits()),
                    X::Atan2F64 => bin64!(inst, f64, |l, r| l.atan2(r).to_bits()),
                    X::PowF64 => bin64!(inst, f64, |l, r| l.powf(r).to_bits()),
                    X::AbsF64 => un64!(inst, f64, |v| v.abs().to_bits()),
                    X::NegF64 => un64!(inst, f64, |v| (-v).to_bits()),
                    X::CeilF64 => un64!(inst, f64, |v| v.ceil().to_bits()),
                    X::FloorF64 => un64!(inst, f64, |v| v.floor().to_bits()),
                    X::RoundF64 => un64!(inst, f64, |v| v.round().to_bits()),
                    X::RoundF64Even => un64!(inst, f64, |v| math::round_even_f64(v).to_bits()),
                    X::AtanF64 => un64!(inst, f64, |v| v.atan().to_bits()),
                    X::CosF64 => un64!(inst, f64, |v| v.cos().to_bits()),
                    X::SinF64 => un64!(inst, f64, |v| v.sin().to_bits()),
                    X::ExpF64 => un64!(inst, f64, |v| v.exp().to_bits()),
                    X::Exp2F64 => un64!(inst, f64, |v| v.exp2().to_bits()),
                    X::Expm1F64 => un64!(inst, f64, |v| v.exp_m1().to_bits()),
                    X::LogF64 => un64!(inst, f64, |v| v.ln().to_bits()),
                    X::Log10F64 => un64!(inst, f64, |v| v.log10().to_bits()),
                    X::Log1pF64 => un64!(inst, f64, |v| v.ln_1p().to_bits()),
                    X::Log2F64 => un64!(inst, f64, |v| v.log2().to_bits()),
                    X::RsqrtF64 => un64!(inst, f64, |v| (1.0 / v.sqrt()).to_bits()),
                    X::SqrtF64 => un64!(inst, f64, |v| v.sqrt().to_bits()),
                    X::TanhF64 => un64!(inst, f64, |v| v.tanh().to_bits()),
                    X::ErfF64 => un64!(inst, f64, |v| math::erf_f64(v).to_bits()),
                    X::CmpEqF64O => bin32!(inst, f64, |l, r| (l == r).into()),
                    X::CmpEqF64U => bin32!(inst, f64, |l, r| (l == r || l.is_nan() || r.is_nan()).into()),
                    X::CmpNeF64O | X::CmpNeF64U => bin32!(inst, f64, |l, r| (l != r).into()),
                    X::CmpLtF64O => bin32!(inst, f64, |l, r| (l < r).into()),
                    X::CmpLtF64U => bin32!(inst, f64, |l, r| (l < r || l.is_nan() || r.is_nan()).into()),
                    X::CmpLteF64O => bin32!(inst, f64, |l, r| (l <= r).into()),
                    X::CmpLteF64U => bin32!(inst, f64, |l, r| (l <= r || l.is_nan() || r.is_nan()).into()),
                    X::CmpNanF64 => un32!(inst, f64, |v| v.is_nan().into()),
                    X::TruncF64F32 => un32!(inst, f64, |v| (v as f32).to_bits()),
                    X::ExtF32F64 => un64!(inst, f32, |v| f64::from(v).to_bits()),
                    X::CastSi32F64 => un64!(inst, i32, |v| f64::from(v).to_bits()),
                    X::CastUi32F64 => un64!(inst, u32, |v| f64::from(v).to_bits()),
                    X::CastF64Si32 | X::CastF64Ui32 => un32!(inst, f64, |v| math::f64_to_i32(v) as u32),
                    X::CastSi64F64 => un64!(inst, i64, |v| (v as f64).to_bits()),
                    X::CastUi64F64 => un64!(inst, u64, |v| (v as f64).to_bits()),
                    X::CastF64Si64 | X::CastF64Ui64 => un64!(inst, f64, |v| math::to_i64(v) as u64),

                    X::SelectI32 => {
                        let value = if u32!(inst.a) != 0 { u32!(inst.b) } else { u32!(inst.c) };
                        set32!((*ip.add(1)).op, value);
                        next!(2)
                    }
                    X::SelectI64 => {
                        let value = if u32!(inst.a) != 0 { u64!(inst.b) } else { u64!(inst.c) };
                        set64!((*ip.add(1)).op, value);
                        next!(2)
                    }
                    X::SelectRef => {
                        let word = *ip.add(1);
                        let (yes, no) = (inst.b, inst.c);
                        let (picked, other) = if u32!(inst.a) != 0 { (yes, no) } else { (no, yes) };
                        let result = word.op;
                        ok!(ops::check_type(&slot!(picked), instance.as_ref().module.types[word.high() as usize]));
                        let value = ops::take(&mut slot!(picked), picked);
                        if reg::is_move(other) {
                            slot!(other) = None;
                        }
                        slot!(result) = value;
                        next!(2)
                    }
                    X::Switch32 | X::Switch64 | X::SwitchRef => {
                        let word = *ip.add(1);
                        let values = ip.add(2).cast::<u16>();
                        let index = u32!(inst.a);
                        let picked = if index < word.low() { *values.add(index as usize) } else { inst.b };
                        if inst.op == X::Switch32 as u16 {
                            let value = u32!(picked);
                            set32!(inst.c, value);
                        } else if inst.op == X::Switch64 as u16 {
                            let value = u64!(picked);
                            set64!(inst.c, value);
                        } else {
                            ok!(ops::check_type(&slot!(picked), instance.as_ref().module.types[word.high() as usize]));
                            let value = ops::take(&mut slot!(picked), picked);
                            slot!(inst.c) = value;
                        }
                        next!(2 + word.low().div_ceil(4) as usize)
                    }
                    X::CastAnyRef => {
                        let want = instance.as_ref().module.types[(*ip.add(1)).low() as usize];
                        ok!(ops::check_type(&slot!(inst.a), want));
                        let value = ops::take(&mut slot!(inst.a), inst.a);
                        slot!(inst.b) = value;
                        next!(2)
                    }
                    X::DiscardRefs => {
                        let registers = ip.add(1).cast::<u16>();
                        for i in 0..usize::from(inst.a) {
                            slot!(*registers.add(i)) = None;
                        }
                        next!(1 + usize::from(inst.a).div_ceil(4))
                    }

                    X::GlobalLoad32 => {
                        set32!(inst.a, instance.as_ref().rwdata.u32_at(inst.number() as usize));
                        next!(1)
                    }
                    X::GlobalStore32 => {
                        instance.as_ref().rwdata.set_u32_at(inst.number() as usize, u32!(inst.a));
                        next!(1)
                    }
                    X::GlobalLoad64 => {
                        set64!(inst.a, instance.as_ref().rwdata.u64_at(inst.number() as usize));
                        next!(1)
                    }
                    X::GlobalStore64 => {
                        instance.as_ref().rwdata.set_u64_at(inst.number() as usize, u64!(inst.a));
                        next!(1)
                    }
                    X::GlobalLoadIndirectI32 => {
                        let at = ok!(ops::global_offset(instance.as_ref(), u32!(inst.a), 4));
                        set32!(inst.b, instance.as_ref().rwdata.u32_at(at));
                        next!(1)
                    }
                    X::GlobalStoreIndirectI32 => {
                        let at = ok!(ops::global_offset(instance.as_ref(), u32!(inst.a), 4));
                        instance.as_ref().rwdata.set_u32_at(at, u32!(inst.b));
                        next!(1)
                    }
                    X::GlobalLoadIndirectI64 => {
                        let at = ok!(ops::global_offset(instance.as_ref(), u32!(inst.a), 8));
                        set64!(inst.b, instance.as_ref().rwdata.u64_at(at));
                        next!(1)
                    }
                    X::GlobalStoreIndirectI64 => {
                        let at = ok!(ops::global_offset(instance.as_ref(), u32!(inst.a), 8));
                        instance.as_ref().rwdata.set_u64_at(at, u64!(inst.b));
                        next!(1)
                    }
                    X::GlobalLoadRef => {
                        let want = (*ip.add(1)).low();
                        let value = ok!(ops::global_load_ref(instance.as_ref(), inst.number(), want, inst.a));
                        slot!(inst.a) = value;
                        next!(2)
                    }
                    X::GlobalStoreRef => {
                        let want = (*ip.add(1)).low();
                        let source = &mut slot!(inst.a);
                        ok!(ops::global_store_ref(instance.as_ref(), inst.number(), want, source, inst.a));
                        next!(2)
                    }
                    X::GlobalLoadIndirectRef => {
                        let want = (*ip.add(1)).low();
                        let value = ok!(ops::global_load_ref(instance.as_ref(), u32!(inst.a), want, inst.b));
                        slot!(inst.b) = value;
                        next!(2)
                    }
                    X::GlobalStoreIndirectRef => {
                        let want = (*ip.add(1)).low();
                        let source = &mut slot!(inst.b);
                        ok!(ops::global_store_ref(instance.as_ref(), u32!(inst.a), want, source, inst.b));
                        next!(2)
                    }

                    X::ListAlloc => {
                        let element = instance.as_ref().module.types[(*ip.add(1)).low() as usize];
                        let list = ops::list_alloc(element, i32!(inst.a));
                        slot!(inst.b) = list;
                        next!(2)
                    }
                    X::ListReserve => {
                        ok!(ok!(ops::list(&slot!(inst.a))).reserve(u32!(inst.b) as usize));
                        next!(1)
                    }
                    X::ListSize => {
                        let length = ok!(ops::list(&slot!(inst.a))).len();
                        set32!(inst.b, length as u32);
                        next!(1)
                    }
                    X::ListResize => {
                        ok!(ok!(ops::list(&slot!(inst.a))).resize(u32!(inst.b) as usize));
                        next!(1)
                    }
                    X::ListGetI32 => list_get!(inst, set32, get_i32, |v| v as u32),
                    X::ListGetI64 => list_get!(inst, set64, get_i64, |v| v as u64),
                    X::ListGetF32 => list_get!(inst, set32, get_f32, |v| v.to_bits()),
                    X::ListGetF64 => list_get!(inst, set64, get_f64, |v| v.to_bits()),
                    X::ListSetI32 => list_set!(inst, set_i32, i32),
                    X::ListSetI64 => list_set!(inst, set_i64, i64),
                    X::ListSetF32 => list_set!(inst, set_f32, f32),
                    X::ListSetF64 => list_set!(inst, set_f64, f64),
                    X::ListGetRef => {
                        let want = instance.as_ref().module.types[(*ip.add(1)).low() as usize];
                        let list = ok!(ops::list(&slot!(inst.a)));
                        let value = ok!(ops::list_get_ref(list, i32!(inst.b), want, inst.c));
                        slot!(inst.c) = value;
                        next!(2)
                    }
                    X::ListSetRef => {
                        // The list stays alive even if it is moved into itself.
                        let list = slot!(inst.a).clone();
                        let value = ops::take(&mut slot!(inst.c), inst.c);
                        ok!(ok!(ops::list(&list)).set_ref(i32!(inst.b).into(), value));
                        next!(1)
                    }

                    X::BufferLoadI8U => load_element!(inst, set32, load_u8, |v| v.into()),
                    X::BufferLoadI8S => load_element!(inst, set32, load_u8, |v| v as i8 as i32 as u32),
                    X::BufferLoadI16U => load_element!(inst, set32, load_u16, |v| v.into()),
                    X::BufferLoadI16S => load_element!(inst, set32, load_u16, |v| v as i16 as i32 as u32),
                    X::BufferLoadI32 => load_element!(inst, set32, load_u32, |v| v),
                    X::BufferLoadI64 => load_element!(inst, set64, load_u64, |v| v),
                    X::BufferStoreI8 => store_element!(inst, store_u8, u32 as u8),
                    X::BufferStoreI16 => store_element!(inst, store_u16, u32 as u16),
                    X::BufferStoreI32 => store_element!(inst, store_u32, u32 as u32),
                    X::BufferStoreI64 => store_element!(inst, store_u64, u64 as u64),
                    X::BufferFillI8 => fill!(inst, fill_u8, u32 as u8),
                    X::BufferFillI16 => fill!(inst, fill_u16, u32 as u16),
                    X::BufferFillI32 => fill!(inst, fill_u32, u32 as u32),
                    X::BufferFillI64 => fill!(inst, fill_u64, u64 as u64),
                    X::BufferAlloc => {
                        let value = ok!(ops::buffer_alloc(i64!(inst.a), i32!(inst.b)));
                        slot!(inst.c) = value;
                        next!(1)
                    }
                    X::BufferClone => {
                        let word = *ip.add(1);
                        let copy = ops::buffer_clone(&slot!(inst.a), i64!(inst.b), i64!(inst.c), i32!(word.op));
                        slot!(word.a) = ok!(copy);
                        next!(2)
                    }
                    X::BufferLength => {
                        let length = ok!(ops::buffer(&slot!(inst.a))).len();
                        set64!(inst.b, length as u64);
                        next!(1)
                    }
                    X::BufferCopy => {
                        let word = *ip.add(1);
                        let source = ok!(ops::buffer(&slot!(inst.a)));
                        let target = ok!(ops::buffer(&slot!(inst.c)));
                        ok!(target.copy_from(u64!(word.op), source, u64!(inst.b), u64!(word.a)));
                        next!(2)
                    }
                    X::BufferCompare => {
                        let word = *ip.add(1);
                        let left = ok!(ops::buffer(&slot!(inst.a)));
                        let right = ok!(ops::buffer(&slot!(inst.c)));
                        let equal = ok!(left.compare(u64!(inst.b), right, u64!(word.op), u64!(word.a)));
                        set32!(word.b, equal.into());
                        next!(2)
                    }
                    X::BufferHash => {
                        let hash = ok!(ops::buffer_hash(&slot!(inst.a), i64!(inst.b), i64!(inst.c)));
                        set64!((*ip.add(1)).op, hash as u64);
                        next!(2)
                    }

                    X::Br => jump!(inst.number()),
                    X::CondBr => {
                        let targets = *ip.add(1);
                        jump!(if u32!(inst.a) != 0 { targets.low() } else { targets.high() })
                    }
                    X::BrEqI32 => branch!(inst, u32, |l, r| l == r),
                    X::BrNeI32 => branch!(inst, u32, |l, r| l != r),
                    X::BrLtI32S => branch!(inst, i32, |l, r| l < r),
                    X::BrLtI32U => branch!(inst, u32, |l, r| l < r),
                    X::BrEqI64 => branch!(inst, u64, |l, r| l == r),
                    X::BrNeI64 => branch!(inst, u64, |l, r| l != r),
                    X::BrLtI64S => branch!(inst, i64, |l, r| l < r),
                    X::BrLtI64U => branch!(inst, u64, |l, r| l < r),
                    X::BrTable => {
                        let word = *ip.add(1);
                        let index = u32!(inst.a);
                        jump!(if index < word.low() {
                            *ip.add(2).cast::<u32>().add(index as usize)
                        } else {
                            word.high()
                        })
                    }
                    X::Call => {
                        charge!();
                        save!(0);
                        ok!(self.push(instance, (*ip.add(1)).low() as usize));
                        let caller = &self.frames[self.frames.len() - 2];
                        let (from, to) = (caller.cells_base as usize, self.frames[self.frames.len() - 1].cells_base);
                        let (from_ref, to_ref) =
                            (caller.refs_base as usize, self.frames[self.frames.len() - 1].refs_base);
                        let from = self.cells.as_mut_ptr().add(from);
                        let to = self.cells.as_mut_ptr().add(to as usize);
                        let from_ref = self.refs.as_mut_ptr().add(from_ref);
                        let to_ref = self.refs.as_mut_ptr().add(to_ref as usize);
                        let words = ip.add(2);
                        for i in 0..usize::from(inst.a) {
                            let word = *words.add(i);
                            let (source, target) = (usize::from(word.a), usize::from(word.b));
                            match word.op {
                                kind::I32 | kind::F32 => *to.add(target) = *from.add(source),
                                kind::I64 | kind::F64 => {
                                    *to.add(target) = *from.add(source);
                                    *to.add(target + 1) = *from.add(source + 1);
                                }
                                _ => {
                                    *to_ref.add(reg::ref_ordinal(word.b)) =
                                        ops::take(&mut *from_ref.add(reg::ref_ordinal(word.a)), word.a);
                                }
                            }
                        }
                        load!();
                    }
                    X::Return => {
                        let count = usize::from(inst.a);
                        let depth = self.frames.len();
                        if depth == 1 {
                            let words = std::slice::from_raw_parts(ip.add(1), count);
                            let results = words.iter().map(|word| self.read(word.op, word.a)).collect();
                            self.pop();
                            return Ok(Exit::Done(results));
                        }
                        let caller = &self.frames[depth - 2];
                        let call = caller.code().insts.as_ptr().add(caller.ip as usize);
                        let to = self.cells.as_mut_ptr().add(caller.cells_base as usize);
                        let to_ref = self.refs.as_mut_ptr().add(caller.refs_base as usize);
                        let head = *call;
                        let targets = call.add(2 + usize::from(head.a));
                        let words = ip.add(1);
                        for i in 0..count {
                            let (word, target) = (*words.add(i), (*targets.add(i)).a);
                            let (source, at) = (usize::from(word.a), usize::from(target));
                            match word.op {
                                kind::I32 | kind::F32 => *to.add(at) = *cells.add(source),
                                kind::I64 | kind::F64 => {
                                    *to.add(at) = *cells.add(source);
                                    *to.add(at + 1) = *cells.add(source + 1);
                                }
                                _ => {
                                    let value = ops::take(&mut slot!(word.a), word.a);
                                    *to_ref.add(reg::ref_ordinal(target)) = value;
                                }
                            }
                        }
                        self.pop();
                        if let Some(frame) = self.frames.last_mut() {
                            frame.ip += call_length(head, *call.add(1)) as u32;
                        }
                        load!();
                    }
                    X::CallImport => {
                        match self.call_import(instance, ImportCall { words: ip, cells, slots }) {
                            // Neither frames nor their storage have changed.
                            Called::Returned => next!(call_length(*inst, *ip.add(1))),
                            Called::Entered => load!(),
                            Called::Stopped => {
                                save!(0);
                                return ok!(self.stopped.take().transpose()).ok_or_else(no_reason);
                            }
                        }
                    }
                    X::ImportResolved => {
                        let bound = instance.as_ref().imports[inst.number() as usize].is_some();
                        set32!(inst.a, bound.into());
                        next!(1)
                    }
                    X::Fail => {
                        let code = u32!(inst.a);
                        if code == 0 {
                            next!(2)
                        }
                        let word = *ip.add(1);
                        let (at, length) = (word.low() as usize, word.high() as usize);
                        let ordinal = self.frames.last().map_or(0, |frame| frame.ordinal as usize);
                        let message = &instance.as_ref().module.bytecode_of(ordinal)[at..at + length];
                        ok!(Err(ops::fail(code, message)))
                    }
                    X::Yield => {
                        save!(1);
                        return Ok(Exit::Yielded);
                    }
                    X::End => ok!(Err(Status::internal("execution ran past the last block of the function"))),
                }
            }
        }
    }
}
