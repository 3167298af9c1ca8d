//! The form that is executed: instructions of 8 bytes with resolved branches.
//!
//! Block markers are gone, remaps have become moves, float forms that only move bits share the integer form, and a
//! comparison that decides the next branch is one instruction with it.

use crate::isa::Op;

/// One word of code: an operation and three registers, or data of the operation before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(8))]
pub(crate) struct Inst {
    pub op: u16,
    pub a: u16,
    pub b: u16,
    pub c: u16,
}

impl Inst {
    pub const fn new(op: X, a: u16, b: u16, c: u16) -> Inst {
        Inst { op: op as u16, a, b, c }
    }

    /// An operation with register `a` and a 32-bit number.
    pub const fn wide(op: X, a: u16, number: u32) -> Inst {
        Inst { op: op as u16, a, b: number as u16, c: (number >> 16) as u16 }
    }

    /// A data word of two numbers.
    pub const fn pair(low: u32, high: u32) -> Inst {
        Inst { op: low as u16, a: (low >> 16) as u16, b: high as u16, c: (high >> 16) as u16 }
    }

    /// The number of [`Inst::wide`].
    #[inline(always)]
    pub const fn number(self) -> u32 {
        self.b as u32 | (self.c as u32) << 16
    }

    /// First number of [`Inst::pair`].
    #[inline(always)]
    pub const fn low(self) -> u32 {
        self.op as u32 | (self.a as u32) << 16
    }

    /// Second number of [`Inst::pair`].
    #[inline(always)]
    pub const fn high(self) -> u32 {
        self.number()
    }

    /// Both numbers of [`Inst::pair`] as one.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.low() as u64 | (self.high() as u64) << 32
    }
}

/// Kinds of moved values in call and return words.
pub(crate) mod kind {
    use crate::cconv::Kind;

    pub const I32: u16 = 0;
    pub const I64: u16 = 1;
    pub const F32: u16 = 2;
    pub const F64: u16 = 3;
    pub const REF: u16 = 4;
    /// A reference argument whose register an earlier argument of the same call has moved.
    pub const NULL: u16 = 5;

    /// The kind that a code stands for.
    pub fn of(code: u16) -> Kind {
        match code {
            I32 => Kind::I32,
            I64 => Kind::I64,
            F32 => Kind::F32,
            F64 => Kind::F64,
            _ => Kind::Ref,
        }
    }
}

/// Code of one function.
pub(crate) struct Code {
    /// Ends with [`X::End`], so that no path runs off.
    pub insts: Box<[Inst]>,
    /// First word of each bytecode instruction and its pc, ascending; for error reports.
    pub pcs: Box<[(u32, u32)]>,
}

impl Code {
    /// The bytecode pc of the instruction that owns word `index`.
    pub fn pc_of(&self, index: usize) -> u32 {
        let after = self.pcs.partition_point(|(word, _)| *word as usize <= index);
        after.checked_sub(1).map_or(0, |at| self.pcs[at].1)
    }
}

macro_rules! operations {
    (same { $($same:ident)* } own { $($own:ident)* }) => {
        /// Operations of the executed form. The first group has the operands of the bytecode instruction of that name,
        /// registers in order over the words.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u16)]
        pub(crate) enum X {
            $($same,)*
            $($own,)*
        }

        impl X {
            /// The operation of the same name, for instructions that have only registers.
            pub fn same(op: Op) -> Option<X> {
                Some(match op {
                    $(Op::$same => X::$same,)*
                    _ => return None,
                })
            }
        }
    };
}

operations! {
    same {
        GlobalLoadIndirectI32 GlobalStoreIndirectI32 GlobalLoadIndirectI64 GlobalStoreIndirectI64
        ListReserve ListSize ListResize ListGetI32 ListSetI32 ListGetI64 ListSetI64 ListSetRef
        ListGetF32 ListSetF32 ListGetF64 ListSetF64
        SelectI32 SelectI64
        AddI32 SubI32 MulI32 DivI32S DivI32U RemI32S RemI32U FmaI32
        AddI64 SubI64 MulI64 DivI64S DivI64U RemI64S RemI64U FmaI64
        NotI32 AndI32 OrI32 XorI32 NotI64 AndI64 OrI64 XorI64
        ShlI32 ShrI32S ShrI32U ShlI64 ShrI64S ShrI64U
        TruncI32I8 TruncI32I16 TruncI64I32 ExtI8I32S ExtI16I32S ExtI32I64S ExtI32I64U
        CmpEqI32 CmpNeI32 CmpLtI32S CmpLtI32U CmpNzI32 CmpEqI64 CmpNeI64 CmpLtI64S CmpLtI64U CmpNzI64
        CmpEqRef CmpNeRef CmpNzRef
        BufferLoadI8U BufferLoadI8S BufferLoadI16U BufferLoadI16S BufferLoadI32 BufferLoadI64
        BufferStoreI8 BufferStoreI16 BufferStoreI32 BufferStoreI64
        BufferAlloc BufferClone BufferLength BufferCopy BufferCompare BufferHash
        BufferFillI8 BufferFillI16 BufferFillI32 BufferFillI64
        CtlzI32 CtlzI64 AbsI32 AbsI64
        MinI32S MinI32U MaxI32S MaxI32U MinI64S MinI64U MaxI64S MaxI64U
        AssignRef
        AddF32 SubF32 MulF32 DivF32 RemF32 FmaF32 AbsF32 NegF32 CeilF32 FloorF32
        CastSi32F32 CastUi32F32 CastF32Si32 CastF32Ui32
        AtanF32 Atan2F32 CosF32 SinF32 ExpF32 Exp2F32 Expm1F32 LogF32 Log10F32 Log1pF32 Log2F32 PowF32 RsqrtF32 SqrtF32
        TanhF32 ErfF32
        CmpEqF32O CmpEqF32U CmpNeF32O CmpNeF32U CmpLtF32O CmpLtF32U CmpLteF32O CmpLteF32U CmpNanF32
        RoundF32 MinF32 MaxF32 RoundF32Even CastF32Si64 CastF32Ui64 CastSi64F32 CastUi64F32
        AddF64 SubF64 MulF64 DivF64 RemF64 FmaF64 AbsF64 NegF64 CeilF64 FloorF64 TruncF64F32 ExtF32F64
        CastSi32F64 CastUi32F64 CastF64Si32 CastF64Ui32 CastSi64F64 CastUi64F64 CastF64Si64 CastF64Ui64
        AtanF64 Atan2F64 CosF64 SinF64 ExpF64 Exp2F64 Expm1F64 LogF64 Log10F64 Log1pF64 Log2F64 PowF64 RsqrtF64 SqrtF64
        TanhF64 ErfF64
        CmpEqF64O CmpEqF64U CmpNeF64O CmpNeF64U CmpLtF64O CmpLtF64U CmpLteF64O CmpLteF64U CmpNanF64
        RoundF64 MinF64 MaxF64 RoundF64Even
    }
    own {
        Const32 Const64 ConstRefZero ConstRefRodata
        Move32 Move64
        GlobalLoad32 GlobalStore32 GlobalLoad64 GlobalStore64
        GlobalLoadRef GlobalStoreRef GlobalLoadIndirectRef GlobalStoreIndirectRef
        ListAlloc ListGetRef SelectRef CastAnyRef Switch32 Switch64 SwitchRef DiscardRefs
        Br CondBr BrTable BrEqI32 BrNeI32 BrLtI32S BrLtI32U BrEqI64 BrNeI64 BrLtI64S BrLtI64U
        Call CallImport Return Fail ImportResolved Yield End
    }
}
