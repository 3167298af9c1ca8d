//! The form that is executed: instructions of 8-byte words with resolved operands and branches.
//!
//! Block markers are gone, remaps have become moves, float forms that only move bits share the integer form, and what
//! often comes together is one operation: comparison and branch, addition and comparison and branch, constants inside
//! arithmetic. An operand that is a cell counts 4 bytes from the frame pointer, one that is a reference counts 8 bytes,
//! so both are addressed without arithmetic. `translate` documents the layouts.

use crate::isa::Op;

/// One word of code: an operation and three operands, or data of the operation before it.
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

    /// An operation with operand `a` and a 32-bit number.
    pub const fn wide(op: X, a: u16, number: u32) -> Inst {
        Inst::data(op as u16, a, number)
    }

    /// A data word of two operands and a 32-bit number.
    pub const fn data(op: u16, a: u16, number: u32) -> Inst {
        Inst { op, a, b: number as u16, c: (number >> 16) as u16 }
    }

    /// A data word of two numbers.
    pub const fn pair(low: u32, high: u32) -> Inst {
        Inst::data(low as u16, (low >> 16) as u16, high)
    }

    /// The number of [`Inst::wide`] and [`Inst::data`].
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

/// Marks the operand of a reference that is moved. Frames are smaller than what the other bits can address.
pub(crate) const MOVE: u16 = 0x8000;
/// Marks the target of an argument that the callee gets with a count of its own.
pub(crate) const OWN: u16 = 0x8000;

/// Most fuel that is charged at once; longer stretches of code charge on their way.
pub(crate) const CHUNK: u32 = if cfg!(debug_assertions) { 256 } else { 1024 };

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

    /// The code of a kind.
    pub fn code(kind: Kind) -> u16 {
        match kind {
            Kind::I32 => I32,
            Kind::I64 => I64,
            Kind::F32 => F32,
            Kind::F64 => F64,
            Kind::Ref => REF,
        }
    }

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
    /// Every path in it ends: with [`X::End`] if nothing else.
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

    /// Bytes that the translation takes.
    pub fn size(&self) -> usize {
        size_of::<Code>() + size_of_val(&*self.insts) + size_of_val(&*self.pcs)
    }
}

/// Calls the macro `$callback` with all operations: those with the operands of the bytecode instruction of the same name
/// (registers in order over the words), and the others.
macro_rules! operations {
    ($callback:ident) => {
        $callback! {
            same {
                GlobalLoadIndirectI32 GlobalStoreIndirectI32 GlobalLoadIndirectI64 GlobalStoreIndirectI64
                ListReserve ListSize ListResize ListGetI32 ListSetI32 ListGetI64 ListSetI64
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
                AddF32 SubF32 MulF32 DivF32 RemF32 FmaF32 AbsF32 NegF32 CeilF32 FloorF32
                CastSi32F32 CastUi32F32 CastF32Si32 CastF32Ui32
                AtanF32 Atan2F32 CosF32 SinF32 ExpF32 Exp2F32 Expm1F32 LogF32 Log10F32 Log1pF32 Log2F32 PowF32
                RsqrtF32 SqrtF32 TanhF32 ErfF32
                CmpEqF32O CmpEqF32U CmpNeF32O CmpNeF32U CmpLtF32O CmpLtF32U CmpLteF32O CmpLteF32U CmpNanF32
                RoundF32 MinF32 MaxF32 RoundF32Even CastF32Si64 CastF32Ui64 CastSi64F32 CastUi64F32 FpowiF32
                AddF64 SubF64 MulF64 DivF64 RemF64 FmaF64 AbsF64 NegF64 CeilF64 FloorF64 TruncF64F32 ExtF32F64
                CastSi32F64 CastUi32F64 CastF64Si32 CastF64Ui32 CastSi64F64 CastUi64F64 CastF64Si64 CastF64Ui64
                AtanF64 Atan2F64 CosF64 SinF64 ExpF64 Exp2F64 Expm1F64 LogF64 Log10F64 Log1pF64 Log2F64 PowF64
                RsqrtF64 SqrtF64 TanhF64 ErfF64
                CmpEqF64O CmpEqF64U CmpNeF64O CmpNeF64U CmpLtF64O CmpLtF64U CmpLteF64O CmpLteF64U CmpNanF64
                RoundF64 MinF64 MaxF64 RoundF64Even FpowiF64
            }
            own {
                Const32 Const64 ZeroCells ConstRefZero ConstRefRodata
                Move32 Move64 AssignRef OwnArgs DiscardRef DiscardRefs DiscardArg DiscardAll
                AddI32Imm AddI64Imm MulI32Imm MulI64Imm AndI32Imm AndI64Imm
                ShlI32Imm ShrI32SImm ShrI32UImm ShlI64Imm ShrI64SImm ShrI64UImm
                GlobalLoad32 GlobalStore32 GlobalLoad64 GlobalStore64
                GlobalLoadRef GlobalStoreRef GlobalLoadIndirectRef GlobalStoreIndirectRef
                ListAlloc ListGetRef ListSetRef SelectRef CastAnyRef Switch32 Switch64 SwitchRef
                Br MoveBr32 MoveBr64 BrNz BrZ BrTable
                BrEqI32 BrNeI32 BrLtI32S BrGeI32S BrLtI32U BrGeI32U
                BrEqI64 BrNeI64 BrLtI64S BrGeI64S BrLtI64U BrGeI64U
                BrEqI32Imm BrNeI32Imm BrLtI32SImm BrGeI32SImm BrEqI64Imm BrNeI64Imm BrLtI64SImm BrGeI64SImm
                AddBrLtI32 AddBrGeI32 AddBrLtI32Imm AddBrGeI32Imm AddBrLtI64 AddBrGeI64 AddBrLtI64Imm AddBrGeI64Imm
                Call CallImport Return Return0 Return32 Return64 ReturnRef
                Fail ImportResolved Yield Charge Translate End
            }
        }
    };
}
pub(crate) use operations;

macro_rules! define_operations {
    (same { $($same:ident)* } own { $($own:ident)* }) => {
        /// Operations of the executed form.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u16)]
        pub(crate) enum X {
            $($same,)*
            $($own,)*
        }

        impl X {
            /// The operation of the same name, for instructions that have only registers and move none.
            pub fn same(op: Op) -> Option<X> {
                Some(match op {
                    $(Op::$same => X::$same,)*
                    _ => return None,
                })
            }
        }
    };
}
operations!(define_operations);
