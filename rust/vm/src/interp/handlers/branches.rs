//! Branches within a function.
//!
//! A conditional branch goes to its target when the condition holds, else on to the next instruction; the translator
//! turns conditions around as the layout of blocks needs it. What a branch costs is in its words: nothing when it leads
//! forwards.

use crate::interp::Exit;
use crate::interp::state::{Signal, State, operation};
use crate::status::Status;

impl State {
    /// Takes the conditional branch whose second word is the target.
    #[inline(always)]
    unsafe fn branch_if(self, taken: bool) -> Signal {
        // SAFETY: the second word has cost and distance.
        unsafe {
            if taken {
                let word = self.word(1);
                self.branch(word.number(), word.a)
            } else {
                self.next(2)
            }
        }
    }
}

/// Branches when `$taken`.
macro_rules! compare {
    ($name:ident, $read:ident, |$l:ident, $r:ident| $taken:expr) => {
        operation!($name, |s| {
            let inst = s.inst();
            let ($l, $r) = (s.$read(inst.a), s.$read(inst.b));
            s.branch_if($taken)
        });
    };
}

/// As `compare`, with a constant of 16 bits.
macro_rules! compare_immediate {
    ($name:ident, $read:ident, |$l:ident, $r:ident: $ty:ty| $taken:expr) => {
        operation!($name, |s| {
            let inst = s.inst();
            let ($l, $r) = (s.$read(inst.a), inst.b as i16 as $ty);
            s.branch_if($taken)
        });
    };
}

/// result = left + right, and branches when `$taken` of the result and another register.
macro_rules! add_compare {
    ($name:ident, $read:ident, $set:ident, $signed:ty, |$v:ident, $r:ident| $taken:expr) => {
        operation!($name, |s| {
            let inst = s.inst();
            let value = s.$read(inst.a).wrapping_add(s.$read(inst.b));
            s.$set(inst.c, value);
            let ($v, $r) = (value as $signed, s.$read(s.word(1).op) as $signed);
            s.branch_if($taken)
        });
    };
}

/// As `add_compare`, the right operand a constant of 16 bits.
macro_rules! add_compare_immediate {
    ($name:ident, $read:ident, $set:ident, $signed:ty, |$v:ident, $r:ident| $taken:expr) => {
        operation!($name, |s| {
            let inst = s.inst();
            let $v = (s.$read(inst.a) as $signed).wrapping_add((inst.b as i16).into());
            s.$set(inst.c, $v as _);
            let $r = s.$read(s.word(1).op) as $signed;
            s.branch_if($taken)
        });
    };
}

compare!(BrEqI32, u32, |l, r| l == r);
compare!(BrNeI32, u32, |l, r| l != r);
compare!(BrLtI32S, i32, |l, r| l < r);
compare!(BrGeI32S, i32, |l, r| l >= r);
compare!(BrLtI32U, u32, |l, r| l < r);
compare!(BrGeI32U, u32, |l, r| l >= r);
compare!(BrEqI64, u64, |l, r| l == r);
compare!(BrNeI64, u64, |l, r| l != r);
compare!(BrLtI64S, i64, |l, r| l < r);
compare!(BrGeI64S, i64, |l, r| l >= r);
compare!(BrLtI64U, u64, |l, r| l < r);
compare!(BrGeI64U, u64, |l, r| l >= r);
compare_immediate!(BrEqI32Imm, i32, |l, r: i32| l == r);
compare_immediate!(BrNeI32Imm, i32, |l, r: i32| l != r);
compare_immediate!(BrLtI32SImm, i32, |l, r: i32| l < r);
compare_immediate!(BrGeI32SImm, i32, |l, r: i32| l >= r);
compare_immediate!(BrEqI64Imm, i64, |l, r: i64| l == r);
compare_immediate!(BrNeI64Imm, i64, |l, r: i64| l != r);
compare_immediate!(BrLtI64SImm, i64, |l, r: i64| l < r);
compare_immediate!(BrGeI64SImm, i64, |l, r: i64| l >= r);
add_compare!(AddBrLtI32, u32, set32, i32, |v, r| v < r);
add_compare!(AddBrGeI32, u32, set32, i32, |v, r| v >= r);
add_compare!(AddBrLtI64, u64, set64, i64, |v, r| v < r);
add_compare!(AddBrGeI64, u64, set64, i64, |v, r| v >= r);
add_compare_immediate!(AddBrLtI32Imm, u32, set32, i32, |v, r| v < r);
add_compare_immediate!(AddBrGeI32Imm, u32, set32, i32, |v, r| v >= r);
add_compare_immediate!(AddBrLtI64Imm, u64, set64, i64, |v, r| v < r);
add_compare_immediate!(AddBrGeI64Imm, u64, set64, i64, |v, r| v >= r);

operation!(BrNz, |s| s.branch_if(s.u32(s.inst().a) != 0));
operation!(BrZ, |s| s.branch_if(s.u32(s.inst().a) == 0));

operation!(Br, |s| {
    let inst = s.inst();
    s.branch(inst.number(), inst.a)
});

operation!(MoveBr32, |s| {
    let inst = s.inst();
    s.set32(inst.b, s.u32(inst.a));
    s.branch(s.word(1).number(), inst.c)
});

operation!(MoveBr64, |s| {
    let inst = s.inst();
    s.set64(inst.b, s.u64(inst.a));
    s.branch(s.word(1).number(), inst.c)
});

operation!(BrTable, |s| {
    let inst = s.inst();
    // The default comes first.
    let index = s.u32(inst.a);
    let entry = s.word(if index < inst.number() { index as usize + 2 } else { 1 });
    s.branch(entry.number(), entry.a)
});

operation!(Charge, |s| s.next_charged(1, s.inst().a.into()));

operation!(Yield, |s| {
    s.save(1);
    (*s.m).stopped = Some(Ok(Exit::Yielded));
    Signal::Stopped
});

operation!(End, |s| s.fail(Status::internal("execution ran past the last block of the function")));
