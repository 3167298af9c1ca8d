// Made by isa/generate.py from isa/instructions.txt; do not edit.

use super::{Instruction, OpSet, Operand, OperandKind as K};

/// Major version of the bytecode that this table describes.
pub const VERSION_MAJOR: u32 = 17;
/// Minor version of the bytecode that this table describes.
pub const VERSION_MINOR: u32 = 0;

/// Every instruction; the number is the row in [`INSTRUCTIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Op {
    /// value at a fixed byte offset of rwdata
    GlobalLoadI32 = 0,
    /// set the value at a fixed byte offset of rwdata
    GlobalStoreI32 = 1,
    /// value at a byte offset of rwdata taken from a register; OUT_OF_RANGE outside
    GlobalLoadIndirectI32 = 2,
    /// set the value at a byte offset of rwdata taken from a register; OUT_OF_RANGE outside
    GlobalStoreIndirectI32 = 3,
    /// value at a fixed byte offset of rwdata
    GlobalLoadI64 = 4,
    /// set the value at a fixed byte offset of rwdata
    GlobalStoreI64 = 5,
    /// value at a byte offset of rwdata taken from a register; OUT_OF_RANGE outside
    GlobalLoadIndirectI64 = 6,
    /// set the value at a byte offset of rwdata taken from a register; OUT_OF_RANGE outside
    GlobalStoreIndirectI64 = 7,
    /// reference from a fixed slot, type-checked; move on the result empties the slot
    GlobalLoadRef = 8,
    /// reference into a fixed slot, type-checked
    GlobalStoreRef = 9,
    /// as global.load.ref, slot number in a register; OUT_OF_RANGE outside
    GlobalLoadIndirectRef = 10,
    /// as global.store.ref, slot number in a register; OUT_OF_RANGE outside
    GlobalStoreIndirectRef = 11,
    /// zero
    ConstI32Zero = 12,
    /// the immediate
    ConstI32 = 13,
    /// zero
    ConstI64Zero = 14,
    /// the immediate
    ConstI64 = 15,
    /// null
    ConstRefZero = 16,
    /// the read-only buffer of a rodata segment
    ConstRefRodata = 17,
    /// empty list of an element type; the capacity is a hint
    ListAlloc = 18,
    /// make room
    ListReserve = 19,
    /// number of elements
    ListSize = 20,
    /// set the number of elements; new ones are zero, null or unset
    ListResize = 21,
    /// element as a number, converted; OUT_OF_RANGE outside, FAILED_PRECONDITION when a reference or unset
    ListGetI32 = 22,
    /// store a number, converted to the element type; OUT_OF_RANGE outside, FAILED_PRECONDITION in a list of references
    ListSetI32 = 23,
    /// element as a number, converted; OUT_OF_RANGE outside, FAILED_PRECONDITION when a reference or unset
    ListGetI64 = 24,
    /// store a number, converted to the element type; OUT_OF_RANGE outside, FAILED_PRECONDITION in a list of references
    ListSetI64 = 25,
    /// element as a reference; null when of another type; move on the result empties the element
    ListGetRef = 26,
    /// store a reference; FAILED_PRECONDITION in a list of numbers
    ListSetRef = 27,
    /// condition != 0 ? true_value : false_value
    SelectI32 = 28,
    /// condition != 0 ? true_value : false_value
    SelectI64 = 29,
    /// as select, type-checked; an operand with the move bit is emptied even when not selected
    SelectRef = 30,
    /// 0 \<= index \< n ? values\[index\] : default_value
    SwitchI32 = 31,
    /// 0 \<= index \< n ? values\[index\] : default_value
    SwitchI64 = 32,
    /// as switch, type-checked; values not picked are untouched
    SwitchRef = 33,
    /// a + b, wrapping
    AddI32 = 34,
    /// a - b, wrapping
    SubI32 = 35,
    /// a \* b, wrapping
    MulI32 = 36,
    /// signed quotient, truncated toward zero; INVALID_ARGUMENT for divisor 0 and MIN / -1
    DivI32S = 37,
    /// unsigned quotient; INVALID_ARGUMENT for divisor 0
    DivI32U = 38,
    /// signed remainder, sign of the dividend; INVALID_ARGUMENT for divisor 0 and MIN % -1
    RemI32S = 39,
    /// unsigned remainder; INVALID_ARGUMENT for divisor 0
    RemI32U = 40,
    /// a \* b + c, wrapping
    FmaI32 = 41,
    /// a + b, wrapping
    AddI64 = 42,
    /// a - b, wrapping
    SubI64 = 43,
    /// a \* b, wrapping
    MulI64 = 44,
    /// signed quotient, truncated toward zero; INVALID_ARGUMENT for divisor 0 and MIN / -1
    DivI64S = 45,
    /// unsigned quotient; INVALID_ARGUMENT for divisor 0
    DivI64U = 46,
    /// signed remainder, sign of the dividend; INVALID_ARGUMENT for divisor 0 and MIN % -1
    RemI64S = 47,
    /// unsigned remainder; INVALID_ARGUMENT for divisor 0
    RemI64U = 48,
    /// a \* b + c, wrapping
    FmaI64 = 49,
    /// bitwise complement
    NotI32 = 50,
    /// bitwise and
    AndI32 = 51,
    /// bitwise or
    OrI32 = 52,
    /// bitwise xor
    XorI32 = 53,
    /// bitwise complement
    NotI64 = 54,
    /// bitwise and
    AndI64 = 55,
    /// bitwise or
    OrI64 = 56,
    /// bitwise xor
    XorI64 = 57,
    /// left shift; amount masked with 31
    ShlI32 = 58,
    /// arithmetic right shift; amount masked with 31
    ShrI32S = 59,
    /// logical right shift; amount masked with 31
    ShrI32U = 60,
    /// left shift; amount masked with 63
    ShlI64 = 61,
    /// arithmetic right shift; amount masked with 63
    ShrI64S = 62,
    /// logical right shift; amount masked with 63
    ShrI64U = 63,
    /// low 8 bits, zero-extended
    TruncI32I8 = 64,
    /// low 16 bits, zero-extended
    TruncI32I16 = 65,
    /// low 32 bits
    TruncI64I32 = 66,
    /// sign-extend low 8 bits to 32
    ExtI8I32S = 67,
    /// zero-extend low 8 bits to 32
    ExtI8I32U = 68,
    /// sign-extend low 16 bits to 32
    ExtI16I32S = 69,
    /// zero-extend low 16 bits to 32
    ExtI16I32U = 70,
    /// sign-extend low 32 bits to 64
    ExtI32I64S = 71,
    /// zero-extend low 32 bits to 64
    ExtI32I64U = 72,
    /// 1 if equal
    CmpEqI32 = 73,
    /// 1 if different
    CmpNeI32 = 74,
    /// 1 if a \< b, signed
    CmpLtI32S = 75,
    /// 1 if a \< b, unsigned
    CmpLtI32U = 76,
    /// 1 if not zero
    CmpNzI32 = 77,
    /// 1 if equal
    CmpEqI64 = 78,
    /// 1 if different
    CmpNeI64 = 79,
    /// 1 if a \< b, signed
    CmpLtI64S = 80,
    /// 1 if a \< b, unsigned
    CmpLtI64U = 81,
    /// 1 if not zero
    CmpNzI64 = 82,
    /// 1 if the same object or both null
    CmpEqRef = 83,
    /// 1 if not the same object
    CmpNeRef = 84,
    /// 1 if not null
    CmpNzRef = 85,
    /// apply the remap in order, go to dest_pc
    Br = 86,
    /// condition != 0 takes the true edge, else the false edge
    CondBr = 87,
    /// call a function of this module, or an import (bit 31)
    Call = 88,
    /// call an import with spans; segment_sizes: 0xFFFF for a plain argument, else tuples in the span
    CallVariadic = 89,
    /// leave the function with these results
    Return = 90,
    /// status != 0: end the invocation with that code (low 5 bits) and message; 0: fall through to the next block
    Fail = 91,
    /// 1 if the optional import is bound, else 0
    ImportResolved = 92,
    /// apply the remap, suspend, go on at dest_pc when resumed
    Yield = 93,
    /// no visible effect; releases operands that carry the move bit
    Trace = 94,
    /// no visible effect; releases operands that carry the move bit
    Print = 95,
    /// go to dest_pc
    CondBreak = 96,
    /// go to dest_pc
    Break = 97,
    /// element at an offset in elements; OUT_OF_RANGE outside; zero-extended
    BufferLoadI8U = 98,
    /// element at an offset in elements; OUT_OF_RANGE outside; sign-extended
    BufferLoadI8S = 99,
    /// element at an offset in elements; OUT_OF_RANGE outside; zero-extended
    BufferLoadI16U = 100,
    /// element at an offset in elements; OUT_OF_RANGE outside; sign-extended
    BufferLoadI16S = 101,
    /// element at an offset in elements; OUT_OF_RANGE outside
    BufferLoadI32 = 102,
    /// element at an offset in elements; OUT_OF_RANGE outside
    BufferLoadI64 = 103,
    /// set the element at an offset in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferStoreI8 = 104,
    /// set the element at an offset in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferStoreI16 = 105,
    /// set the element at an offset in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferStoreI32 = 106,
    /// set the element at an offset in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferStoreI64 = 107,
    /// mutable buffer of zeros; alignment 0 or a power of two
    BufferAlloc = 108,
    /// mutable copy of a byte range
    BufferClone = 109,
    /// length in bytes
    BufferLength = 110,
    /// copy a byte range
    BufferCopy = 111,
    /// 1 if two byte ranges are equal
    BufferCompare = 112,
    /// set elements, offset and length in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferFillI8 = 113,
    /// set elements, offset and length in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferFillI16 = 114,
    /// set elements, offset and length in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferFillI32 = 115,
    /// set elements, offset and length in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferFillI64 = 116,
    /// leading zero bits; all of them for 0
    CtlzI32 = 117,
    /// leading zero bits; all of them for 0
    CtlzI64 = 118,
    /// absolute value; MIN maps to MIN
    AbsI32 = 119,
    /// absolute value; MIN maps to MIN
    AbsI64 = 120,
    /// start of a block and only legal branch target
    Block = 121,
    /// signed min
    MinI32S = 122,
    /// unsigned min
    MinI32U = 123,
    /// signed max
    MaxI32S = 124,
    /// unsigned max
    MaxI32U = 125,
    /// signed min
    MinI64S = 126,
    /// unsigned min
    MinI64U = 127,
    /// signed max
    MaxI64S = 128,
    /// unsigned max
    MaxI64U = 129,
    /// copy or move a reference that must be of the type; null passes
    CastAnyRef = 130,
    /// 0 \<= index \< table_size takes case index, else the default edge
    BrTable = 131,
    /// SipHash-2-4 of a byte range, key bytes 00..0f
    BufferHash = 132,
    /// release and null each register
    DiscardRefs = 133,
    /// copy or move a reference
    AssignRef = 134,
    /// as call; the callee may suspend; goes on at dest_pc
    CallYieldable = 135,
    /// as call.variadic; the callee may suspend; goes on at dest_pc
    CallVariadicYieldable = 136,
    /// the next byte is an opcode of ext_f32
    PrefixExtF32 = 137,
    /// the next byte is an opcode of ext_f64
    PrefixExtF64 = 138,
    /// value at a fixed byte offset of rwdata
    GlobalLoadF32 = 139,
    /// set the value at a fixed byte offset of rwdata
    GlobalStoreF32 = 140,
    /// value at a byte offset of rwdata taken from a register; OUT_OF_RANGE outside
    GlobalLoadIndirectF32 = 141,
    /// set the value at a byte offset of rwdata taken from a register; OUT_OF_RANGE outside
    GlobalStoreIndirectF32 = 142,
    /// zero
    ConstF32Zero = 143,
    /// the immediate
    ConstF32 = 144,
    /// element as a number, converted; OUT_OF_RANGE outside, FAILED_PRECONDITION when a reference or unset
    ListGetF32 = 145,
    /// store a number, converted to the element type; OUT_OF_RANGE outside, FAILED_PRECONDITION in a list of references
    ListSetF32 = 146,
    /// condition != 0 ? true_value : false_value
    SelectF32 = 147,
    /// 0 \<= index \< n ? values\[index\] : default_value
    SwitchF32 = 148,
    /// IEEE a+b
    AddF32 = 149,
    /// IEEE a-b
    SubF32 = 150,
    /// IEEE a\*b
    MulF32 = 151,
    /// IEEE a/b
    DivF32 = 152,
    /// IEEE remainder: a - b \* (a / b rounded to even)
    RemF32 = 153,
    /// a \* b + c, rounded twice
    FmaF32 = 154,
    /// clear sign
    AbsF32 = 155,
    /// flip sign
    NegF32 = 156,
    /// toward +inf
    CeilF32 = 157,
    /// toward -inf
    FloorF32 = 158,
    /// signed integer to float, nearest even
    CastSi32F32 = 159,
    /// unsigned integer to float, nearest even
    CastUi32F32 = 160,
    /// nearest, ties away from zero, as a 64-bit integer (0 if it does not fit), low 32 bits
    CastF32Si32 = 161,
    /// nearest, ties away from zero, as a 64-bit integer (0 if it does not fit), low 32 bits
    CastF32Ui32 = 162,
    /// reinterpret bits
    BitcastI32F32 = 163,
    /// reinterpret bits
    BitcastF32I32 = 164,
    /// atan as in the C library
    AtanF32 = 165,
    /// atan2 as in the C library
    Atan2F32 = 166,
    /// cos as in the C library
    CosF32 = 167,
    /// sin as in the C library
    SinF32 = 168,
    /// exp as in the C library
    ExpF32 = 169,
    /// exp2 as in the C library
    Exp2F32 = 170,
    /// expm1 as in the C library
    Expm1F32 = 171,
    /// log as in the C library
    LogF32 = 172,
    /// log10 as in the C library
    Log10F32 = 173,
    /// log1p as in the C library
    Log1pF32 = 174,
    /// log2 as in the C library
    Log2F32 = 175,
    /// pow as in the C library
    PowF32 = 176,
    /// 1/sqrt(x)
    RsqrtF32 = 177,
    /// sqrt as in the C library
    SqrtF32 = 178,
    /// tanh as in the C library
    TanhF32 = 179,
    /// erf as in the C library
    ErfF32 = 180,
    /// 1 if a == b; 0 on NaN
    CmpEqF32O = 181,
    /// 1 if a == b or either is NaN
    CmpEqF32U = 182,
    /// 1 if different or either is NaN
    CmpNeF32O = 183,
    /// 1 if different or either is NaN
    CmpNeF32U = 184,
    /// 1 if a \< b; 0 on NaN
    CmpLtF32O = 185,
    /// 1 if a \< b or either is NaN
    CmpLtF32U = 186,
    /// 1 if a \<= b; 0 on NaN
    CmpLteF32O = 187,
    /// 1 if a \<= b or either is NaN
    CmpLteF32U = 188,
    /// 1 if NaN
    CmpNanF32 = 189,
    /// element at an offset in elements; OUT_OF_RANGE outside
    BufferLoadF32 = 190,
    /// set the element at an offset in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferStoreF32 = 191,
    /// set elements, offset and length in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferFillF32 = 192,
    /// ties away from zero
    RoundF32 = 193,
    /// b \< a ? b : a (so a NaN in a stays, one in b is ignored)
    MinF32 = 194,
    /// a \< b ? b : a (so a NaN in a stays, one in b is ignored)
    MaxF32 = 195,
    /// ties to even; -0.5 gives +0
    RoundF32Even = 196,
    /// nearest, ties away from zero; INT64_MIN when out of range or NaN
    CastF32Si64 = 197,
    /// nearest, ties away from zero; INT64_MIN when out of range or NaN; \[2^63, 2^64) is right
    CastF32Ui64 = 198,
    /// signed integer to float, nearest even
    CastSi64F32 = 199,
    /// unsigned integer to float, nearest even
    CastUi64F32 = 200,
    /// the operand to the power of the low 32 bits of an integer, by squaring: 1/x^n for negative n
    FpowiF32 = 201,
    /// value at a fixed byte offset of rwdata
    GlobalLoadF64 = 202,
    /// set the value at a fixed byte offset of rwdata
    GlobalStoreF64 = 203,
    /// value at a byte offset of rwdata taken from a register; OUT_OF_RANGE outside
    GlobalLoadIndirectF64 = 204,
    /// set the value at a byte offset of rwdata taken from a register; OUT_OF_RANGE outside
    GlobalStoreIndirectF64 = 205,
    /// zero
    ConstF64Zero = 206,
    /// the immediate
    ConstF64 = 207,
    /// element as a number, converted; OUT_OF_RANGE outside, FAILED_PRECONDITION when a reference or unset
    ListGetF64 = 208,
    /// store a number, converted to the element type; OUT_OF_RANGE outside, FAILED_PRECONDITION in a list of references
    ListSetF64 = 209,
    /// condition != 0 ? true_value : false_value
    SelectF64 = 210,
    /// 0 \<= index \< n ? values\[index\] : default_value
    SwitchF64 = 211,
    /// IEEE a+b
    AddF64 = 212,
    /// IEEE a-b
    SubF64 = 213,
    /// IEEE a\*b
    MulF64 = 214,
    /// IEEE a/b
    DivF64 = 215,
    /// IEEE remainder: a - b \* (a / b rounded to even)
    RemF64 = 216,
    /// a \* b + c, rounded twice
    FmaF64 = 217,
    /// clear sign
    AbsF64 = 218,
    /// flip sign
    NegF64 = 219,
    /// toward +inf
    CeilF64 = 220,
    /// toward -inf
    FloorF64 = 221,
    /// round to nearest even; overflow to inf
    TruncF64F32 = 222,
    /// exact
    ExtF32F64 = 223,
    /// signed integer to float, nearest even
    CastSi32F64 = 224,
    /// unsigned integer to float, nearest even
    CastUi32F64 = 225,
    /// narrowed to f32, then as cast.f32.si32
    CastF64Si32 = 226,
    /// narrowed to f32, then as cast.f32.ui32
    CastF64Ui32 = 227,
    /// signed integer to float, nearest even
    CastSi64F64 = 228,
    /// unsigned integer to float, nearest even
    CastUi64F64 = 229,
    /// nearest, ties away from zero; INT64_MIN when out of range or NaN
    CastF64Si64 = 230,
    /// nearest, ties away from zero; INT64_MIN when out of range or NaN
    CastF64Ui64 = 231,
    /// reinterpret bits
    BitcastI64F64 = 232,
    /// reinterpret bits
    BitcastF64I64 = 233,
    /// atan as in the C library
    AtanF64 = 234,
    /// atan2 as in the C library
    Atan2F64 = 235,
    /// cos as in the C library
    CosF64 = 236,
    /// sin as in the C library
    SinF64 = 237,
    /// exp as in the C library
    ExpF64 = 238,
    /// exp2 as in the C library
    Exp2F64 = 239,
    /// expm1 as in the C library
    Expm1F64 = 240,
    /// log as in the C library
    LogF64 = 241,
    /// log10 as in the C library
    Log10F64 = 242,
    /// log1p as in the C library
    Log1pF64 = 243,
    /// log2 as in the C library
    Log2F64 = 244,
    /// pow as in the C library
    PowF64 = 245,
    /// 1/sqrt(x)
    RsqrtF64 = 246,
    /// sqrt as in the C library
    SqrtF64 = 247,
    /// tanh as in the C library
    TanhF64 = 248,
    /// erf as in the C library
    ErfF64 = 249,
    /// 1 if a == b; 0 on NaN
    CmpEqF64O = 250,
    /// 1 if a == b or either is NaN
    CmpEqF64U = 251,
    /// 1 if different or either is NaN
    CmpNeF64O = 252,
    /// 1 if different or either is NaN
    CmpNeF64U = 253,
    /// 1 if a \< b; 0 on NaN
    CmpLtF64O = 254,
    /// 1 if a \< b or either is NaN
    CmpLtF64U = 255,
    /// 1 if a \<= b; 0 on NaN
    CmpLteF64O = 256,
    /// 1 if a \<= b or either is NaN
    CmpLteF64U = 257,
    /// 1 if NaN
    CmpNanF64 = 258,
    /// element at an offset in elements; OUT_OF_RANGE outside
    BufferLoadF64 = 259,
    /// set the element at an offset in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferStoreF64 = 260,
    /// set elements, offset and length in elements; PERMISSION_DENIED if read-only, OUT_OF_RANGE outside
    BufferFillF64 = 261,
    /// ties away from zero
    RoundF64 = 262,
    /// b \< a ? b : a (so a NaN in a stays, one in b is ignored)
    MinF64 = 263,
    /// a \< b ? b : a (so a NaN in a stays, one in b is ignored)
    MaxF64 = 264,
    /// ties to even; -0.5 gives +0
    RoundF64Even = 265,
    /// the operand to the power of the low 32 bits of an integer, by squaring: 1/x^n for negative n
    FpowiF64 = 266,
}

const fn op(name: &'static str, kind: K, result: bool) -> Operand {
    Operand { name, kind, result }
}

/// The rows in order of [`Op`].
#[rustfmt::skip]
pub static INSTRUCTIONS: [Instruction; 267] = [
    Instruction { op: Op::GlobalLoadI32, set: OpSet::Core, opcode: 0x00, mnemonic: "global.load.i32", terminator: false, operands: &[op("byte_offset", K::Global, false), op("result", K::I32, true)], forms: &[".rwdata[{byte_offset}]", "{byte_offset}"] },
    Instruction { op: Op::GlobalStoreI32, set: OpSet::Core, opcode: 0x01, mnemonic: "global.store.i32", terminator: false, operands: &[op("byte_offset", K::Global, false), op("value", K::I32, false)], forms: &["{value}, .rwdata[{byte_offset}]", "{value}, {byte_offset}"] },
    Instruction { op: Op::GlobalLoadIndirectI32, set: OpSet::Core, opcode: 0x02, mnemonic: "global.load.indirect.i32", terminator: false, operands: &[op("byte_offset", K::I32, false), op("result", K::I32, true)], forms: &[".rwdata[{byte_offset}]", "{byte_offset}"] },
    Instruction { op: Op::GlobalStoreIndirectI32, set: OpSet::Core, opcode: 0x03, mnemonic: "global.store.indirect.i32", terminator: false, operands: &[op("byte_offset", K::I32, false), op("value", K::I32, false)], forms: &["{value}, .rwdata[{byte_offset}]", "{byte_offset}, {value}"] },
    Instruction { op: Op::GlobalLoadI64, set: OpSet::Core, opcode: 0x04, mnemonic: "global.load.i64", terminator: false, operands: &[op("byte_offset", K::Global, false), op("result", K::I64, true)], forms: &[".rwdata[{byte_offset}]", "{byte_offset}"] },
    Instruction { op: Op::GlobalStoreI64, set: OpSet::Core, opcode: 0x05, mnemonic: "global.store.i64", terminator: false, operands: &[op("byte_offset", K::Global, false), op("value", K::I64, false)], forms: &["{value}, .rwdata[{byte_offset}]", "{value}, {byte_offset}"] },
    Instruction { op: Op::GlobalLoadIndirectI64, set: OpSet::Core, opcode: 0x06, mnemonic: "global.load.indirect.i64", terminator: false, operands: &[op("byte_offset", K::I32, false), op("result", K::I64, true)], forms: &[".rwdata[{byte_offset}]", "{byte_offset}"] },
    Instruction { op: Op::GlobalStoreIndirectI64, set: OpSet::Core, opcode: 0x07, mnemonic: "global.store.indirect.i64", terminator: false, operands: &[op("byte_offset", K::I32, false), op("value", K::I64, false)], forms: &["{value}, .rwdata[{byte_offset}]", "{byte_offset}, {value}"] },
    Instruction { op: Op::GlobalLoadRef, set: OpSet::Core, opcode: 0x08, mnemonic: "global.load.ref", terminator: false, operands: &[op("global", K::Global, false), op("type_def", K::Type, false), op("value", K::RefMove, true)], forms: &[".refs[{global}] : {type_def}", "{global} : {type_def}"] },
    Instruction { op: Op::GlobalStoreRef, set: OpSet::Core, opcode: 0x09, mnemonic: "global.store.ref", terminator: false, operands: &[op("global", K::Global, false), op("type_def", K::Type, false), op("value", K::RefMove, false)], forms: &["{value}, .refs[{global}] : {type_def}", "{value}, {global} : {type_def}"] },
    Instruction { op: Op::GlobalLoadIndirectRef, set: OpSet::Core, opcode: 0x0A, mnemonic: "global.load.indirect.ref", terminator: false, operands: &[op("global", K::I32, false), op("type_def", K::Type, false), op("value", K::RefMove, true)], forms: &[".refs[{global}] : {type_def}", "{global} : {type_def}"] },
    Instruction { op: Op::GlobalStoreIndirectRef, set: OpSet::Core, opcode: 0x0B, mnemonic: "global.store.indirect.ref", terminator: false, operands: &[op("global", K::I32, false), op("type_def", K::Type, false), op("value", K::RefMove, false)], forms: &["{value}, .refs[{global}] : {type_def}", "{global} : {type_def}, {value}"] },
    Instruction { op: Op::ConstI32Zero, set: OpSet::Core, opcode: 0x0C, mnemonic: "const.i32.zero", terminator: false, operands: &[op("result", K::I32, true)], forms: &[""] },
    Instruction { op: Op::ConstI32, set: OpSet::Core, opcode: 0x0D, mnemonic: "const.i32", terminator: false, operands: &[op("value", K::ImmI32, false), op("result", K::I32, true)], forms: &["{value}"] },
    Instruction { op: Op::ConstI64Zero, set: OpSet::Core, opcode: 0x0E, mnemonic: "const.i64.zero", terminator: false, operands: &[op("result", K::I64, true)], forms: &[""] },
    Instruction { op: Op::ConstI64, set: OpSet::Core, opcode: 0x0F, mnemonic: "const.i64", terminator: false, operands: &[op("value", K::ImmI64, false), op("result", K::I64, true)], forms: &["{value}"] },
    Instruction { op: Op::ConstRefZero, set: OpSet::Core, opcode: 0x10, mnemonic: "const.ref.zero", terminator: false, operands: &[op("result", K::RefMove, true)], forms: &[""] },
    Instruction { op: Op::ConstRefRodata, set: OpSet::Core, opcode: 0x11, mnemonic: "const.ref.rodata", terminator: false, operands: &[op("rodata", K::Rodata, false), op("value", K::RefMove, true)], forms: &["{rodata}"] },
    Instruction { op: Op::ListAlloc, set: OpSet::Core, opcode: 0x12, mnemonic: "list.alloc", terminator: false, operands: &[op("element_type", K::Type, false), op("initial_capacity", K::I32, false), op("result", K::RefMove, true)], forms: &["{initial_capacity} : !vm.list<{element_type}>"] },
    Instruction { op: Op::ListReserve, set: OpSet::Core, opcode: 0x13, mnemonic: "list.reserve", terminator: false, operands: &[op("list", K::Ref, false), op("minimum_capacity", K::I32, false)], forms: &["{list}, {minimum_capacity}"] },
    Instruction { op: Op::ListSize, set: OpSet::Core, opcode: 0x14, mnemonic: "list.size", terminator: false, operands: &[op("list", K::Ref, false), op("result", K::I32, true)], forms: &["{list}"] },
    Instruction { op: Op::ListResize, set: OpSet::Core, opcode: 0x15, mnemonic: "list.resize", terminator: false, operands: &[op("list", K::Ref, false), op("new_size", K::I32, false)], forms: &["{list}, {new_size}"] },
    Instruction { op: Op::ListGetI32, set: OpSet::Core, opcode: 0x16, mnemonic: "list.get.i32", terminator: false, operands: &[op("list", K::Ref, false), op("index", K::I32, false), op("result", K::I32, true)], forms: &["{list}, {index}"] },
    Instruction { op: Op::ListSetI32, set: OpSet::Core, opcode: 0x17, mnemonic: "list.set.i32", terminator: false, operands: &[op("list", K::Ref, false), op("index", K::I32, false), op("value", K::I32, false)], forms: &["{list}, {index}, {value}"] },
    Instruction { op: Op::ListGetI64, set: OpSet::Core, opcode: 0x18, mnemonic: "list.get.i64", terminator: false, operands: &[op("list", K::Ref, false), op("index", K::I32, false), op("result", K::I64, true)], forms: &["{list}, {index}"] },
    Instruction { op: Op::ListSetI64, set: OpSet::Core, opcode: 0x19, mnemonic: "list.set.i64", terminator: false, operands: &[op("list", K::Ref, false), op("index", K::I32, false), op("value", K::I64, false)], forms: &["{list}, {index}, {value}"] },
    Instruction { op: Op::ListGetRef, set: OpSet::Core, opcode: 0x1A, mnemonic: "list.get.ref", terminator: false, operands: &[op("list", K::Ref, false), op("index", K::I32, false), op("type_def", K::Type, false), op("result", K::RefMove, true)], forms: &["{list}, {index} : {type_def}"] },
    Instruction { op: Op::ListSetRef, set: OpSet::Core, opcode: 0x1B, mnemonic: "list.set.ref", terminator: false, operands: &[op("list", K::Ref, false), op("index", K::I32, false), op("value", K::RefMove, false)], forms: &["{list}, {index}, {value}"] },
    Instruction { op: Op::SelectI32, set: OpSet::Core, opcode: 0x1C, mnemonic: "select.i32", terminator: false, operands: &[op("condition", K::I32, false), op("true_value", K::I32, false), op("false_value", K::I32, false), op("result", K::I32, true)], forms: &["{condition} ? {true_value} : {false_value}"] },
    Instruction { op: Op::SelectI64, set: OpSet::Core, opcode: 0x1D, mnemonic: "select.i64", terminator: false, operands: &[op("condition", K::I32, false), op("true_value", K::I64, false), op("false_value", K::I64, false), op("result", K::I64, true)], forms: &["{condition} ? {true_value} : {false_value}"] },
    Instruction { op: Op::SelectRef, set: OpSet::Core, opcode: 0x1E, mnemonic: "select.ref", terminator: false, operands: &[op("condition", K::I32, false), op("type_def", K::Type, false), op("true_value", K::RefMove, false), op("false_value", K::RefMove, false), op("result", K::RefMove, true)], forms: &["{condition} ? {true_value} : {false_value} -> {type_def}"] },
    Instruction { op: Op::SwitchI32, set: OpSet::Core, opcode: 0x1F, mnemonic: "switch.i32", terminator: false, operands: &[op("index", K::I32, false), op("default_value", K::I32, false), op("values", K::ListI32, false), op("result", K::I32, true)], forms: &["{index}[{values}] else {default_value}"] },
    Instruction { op: Op::SwitchI64, set: OpSet::Core, opcode: 0x20, mnemonic: "switch.i64", terminator: false, operands: &[op("index", K::I32, false), op("default_value", K::I64, false), op("values", K::ListI64, false), op("result", K::I64, true)], forms: &["{index}[{values}] else {default_value}"] },
    Instruction { op: Op::SwitchRef, set: OpSet::Core, opcode: 0x21, mnemonic: "switch.ref", terminator: false, operands: &[op("index", K::I32, false), op("type_def", K::Type, false), op("default_value", K::RefMove, false), op("values", K::ListRef, false), op("result", K::RefMove, true)], forms: &["{index}[{values}] else {default_value} -> {type_def}"] },
    Instruction { op: Op::AddI32, set: OpSet::Core, opcode: 0x22, mnemonic: "add.i32", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::SubI32, set: OpSet::Core, opcode: 0x23, mnemonic: "sub.i32", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MulI32, set: OpSet::Core, opcode: 0x24, mnemonic: "mul.i32", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::DivI32S, set: OpSet::Core, opcode: 0x25, mnemonic: "div.i32.s", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::DivI32U, set: OpSet::Core, opcode: 0x26, mnemonic: "div.i32.u", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::RemI32S, set: OpSet::Core, opcode: 0x27, mnemonic: "rem.i32.s", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::RemI32U, set: OpSet::Core, opcode: 0x28, mnemonic: "rem.i32.u", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::FmaI32, set: OpSet::Core, opcode: 0x29, mnemonic: "fma.i32", terminator: false, operands: &[op("first", K::I32, false), op("second", K::I32, false), op("third", K::I32, false), op("result", K::I32, true)], forms: &["{first}, {second}, {third}"] },
    Instruction { op: Op::AddI64, set: OpSet::Core, opcode: 0x2A, mnemonic: "add.i64", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::SubI64, set: OpSet::Core, opcode: 0x2B, mnemonic: "sub.i64", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MulI64, set: OpSet::Core, opcode: 0x2C, mnemonic: "mul.i64", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::DivI64S, set: OpSet::Core, opcode: 0x2D, mnemonic: "div.i64.s", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::DivI64U, set: OpSet::Core, opcode: 0x2E, mnemonic: "div.i64.u", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::RemI64S, set: OpSet::Core, opcode: 0x2F, mnemonic: "rem.i64.s", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::RemI64U, set: OpSet::Core, opcode: 0x30, mnemonic: "rem.i64.u", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::FmaI64, set: OpSet::Core, opcode: 0x31, mnemonic: "fma.i64", terminator: false, operands: &[op("first", K::I64, false), op("second", K::I64, false), op("third", K::I64, false), op("result", K::I64, true)], forms: &["{first}, {second}, {third}"] },
    Instruction { op: Op::NotI32, set: OpSet::Core, opcode: 0x32, mnemonic: "not.i32", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::AndI32, set: OpSet::Core, opcode: 0x33, mnemonic: "and.i32", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::OrI32, set: OpSet::Core, opcode: 0x34, mnemonic: "or.i32", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::XorI32, set: OpSet::Core, opcode: 0x35, mnemonic: "xor.i32", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::NotI64, set: OpSet::Core, opcode: 0x36, mnemonic: "not.i64", terminator: false, operands: &[op("operand", K::I64, false), op("result", K::I64, true)], forms: &["{operand}"] },
    Instruction { op: Op::AndI64, set: OpSet::Core, opcode: 0x37, mnemonic: "and.i64", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::OrI64, set: OpSet::Core, opcode: 0x38, mnemonic: "or.i64", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::XorI64, set: OpSet::Core, opcode: 0x39, mnemonic: "xor.i64", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::ShlI32, set: OpSet::Core, opcode: 0x3A, mnemonic: "shl.i32", terminator: false, operands: &[op("operand", K::I32, false), op("amount", K::I32, false), op("result", K::I32, true)], forms: &["{operand}, {amount}"] },
    Instruction { op: Op::ShrI32S, set: OpSet::Core, opcode: 0x3B, mnemonic: "shr.i32.s", terminator: false, operands: &[op("operand", K::I32, false), op("amount", K::I32, false), op("result", K::I32, true)], forms: &["{operand}, {amount}"] },
    Instruction { op: Op::ShrI32U, set: OpSet::Core, opcode: 0x3C, mnemonic: "shr.i32.u", terminator: false, operands: &[op("operand", K::I32, false), op("amount", K::I32, false), op("result", K::I32, true)], forms: &["{operand}, {amount}"] },
    Instruction { op: Op::ShlI64, set: OpSet::Core, opcode: 0x3D, mnemonic: "shl.i64", terminator: false, operands: &[op("operand", K::I64, false), op("amount", K::I32, false), op("result", K::I64, true)], forms: &["{operand}, {amount}"] },
    Instruction { op: Op::ShrI64S, set: OpSet::Core, opcode: 0x3E, mnemonic: "shr.i64.s", terminator: false, operands: &[op("operand", K::I64, false), op("amount", K::I32, false), op("result", K::I64, true)], forms: &["{operand}, {amount}"] },
    Instruction { op: Op::ShrI64U, set: OpSet::Core, opcode: 0x3F, mnemonic: "shr.i64.u", terminator: false, operands: &[op("operand", K::I64, false), op("amount", K::I32, false), op("result", K::I64, true)], forms: &["{operand}, {amount}"] },
    Instruction { op: Op::TruncI32I8, set: OpSet::Core, opcode: 0x40, mnemonic: "trunc.i32.i8", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::TruncI32I16, set: OpSet::Core, opcode: 0x41, mnemonic: "trunc.i32.i16", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::TruncI64I32, set: OpSet::Core, opcode: 0x42, mnemonic: "trunc.i64.i32", terminator: false, operands: &[op("operand", K::I64, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::ExtI8I32S, set: OpSet::Core, opcode: 0x43, mnemonic: "ext.i8.i32.s", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::ExtI8I32U, set: OpSet::Core, opcode: 0x44, mnemonic: "ext.i8.i32.u", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::ExtI16I32S, set: OpSet::Core, opcode: 0x45, mnemonic: "ext.i16.i32.s", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::ExtI16I32U, set: OpSet::Core, opcode: 0x46, mnemonic: "ext.i16.i32.u", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::ExtI32I64S, set: OpSet::Core, opcode: 0x47, mnemonic: "ext.i32.i64.s", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I64, true)], forms: &["{operand}"] },
    Instruction { op: Op::ExtI32I64U, set: OpSet::Core, opcode: 0x48, mnemonic: "ext.i32.i64.u", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I64, true)], forms: &["{operand}"] },
    Instruction { op: Op::CmpEqI32, set: OpSet::Core, opcode: 0x49, mnemonic: "cmp.eq.i32", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNeI32, set: OpSet::Core, opcode: 0x4A, mnemonic: "cmp.ne.i32", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLtI32S, set: OpSet::Core, opcode: 0x4B, mnemonic: "cmp.lt.i32.s", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLtI32U, set: OpSet::Core, opcode: 0x4C, mnemonic: "cmp.lt.i32.u", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNzI32, set: OpSet::Core, opcode: 0x4D, mnemonic: "cmp.nz.i32", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CmpEqI64, set: OpSet::Core, opcode: 0x4E, mnemonic: "cmp.eq.i64", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNeI64, set: OpSet::Core, opcode: 0x4F, mnemonic: "cmp.ne.i64", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLtI64S, set: OpSet::Core, opcode: 0x50, mnemonic: "cmp.lt.i64.s", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLtI64U, set: OpSet::Core, opcode: 0x51, mnemonic: "cmp.lt.i64.u", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNzI64, set: OpSet::Core, opcode: 0x52, mnemonic: "cmp.nz.i64", terminator: false, operands: &[op("operand", K::I64, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CmpEqRef, set: OpSet::Core, opcode: 0x53, mnemonic: "cmp.eq.ref", terminator: false, operands: &[op("left", K::Ref, false), op("right", K::Ref, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNeRef, set: OpSet::Core, opcode: 0x54, mnemonic: "cmp.ne.ref", terminator: false, operands: &[op("left", K::Ref, false), op("right", K::Ref, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNzRef, set: OpSet::Core, opcode: 0x55, mnemonic: "cmp.nz.ref", terminator: false, operands: &[op("operand", K::Ref, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::Br, set: OpSet::Core, opcode: 0x56, mnemonic: "br", terminator: true, operands: &[op("dest_pc", K::Pc, false), op("operands", K::Remap, false)], forms: &["{dest_pc}({operands})", "{dest_pc}"] },
    Instruction { op: Op::CondBr, set: OpSet::Core, opcode: 0x57, mnemonic: "cond_br", terminator: true, operands: &[op("condition", K::I32, false), op("true_dest_pc", K::Pc, false), op("true_operands", K::Remap, false), op("false_dest_pc", K::Pc, false), op("false_operands", K::Remap, false)], forms: &["{condition}, {true_dest_pc}({true_operands}), {false_dest_pc}({false_operands})"] },
    Instruction { op: Op::Call, set: OpSet::Core, opcode: 0x58, mnemonic: "call", terminator: false, operands: &[op("callee", K::Func, false), op("operands", K::ListAny, false), op("results", K::ListAny, true)], forms: &["{callee}({operands})"] },
    Instruction { op: Op::CallVariadic, set: OpSet::Core, opcode: 0x59, mnemonic: "call.variadic", terminator: false, operands: &[op("callee", K::Func, false), op("segment_sizes", K::Segments, false), op("operands", K::ListAny, false), op("results", K::ListAny, true)], forms: &["{callee} {segment_sizes}({operands})"] },
    Instruction { op: Op::Return, set: OpSet::Core, opcode: 0x5A, mnemonic: "return", terminator: true, operands: &[op("operands", K::ListAny, false)], forms: &["{operands}"] },
    Instruction { op: Op::Fail, set: OpSet::Core, opcode: 0x5B, mnemonic: "fail", terminator: true, operands: &[op("status", K::I32, false), op("message", K::Str, false)], forms: &["{status}, {message}"] },
    Instruction { op: Op::ImportResolved, set: OpSet::Core, opcode: 0x5C, mnemonic: "import.resolved", terminator: false, operands: &[op("import", K::Func, false), op("result", K::I32, true)], forms: &["{import}"] },
    Instruction { op: Op::Yield, set: OpSet::Core, opcode: 0x5D, mnemonic: "yield", terminator: true, operands: &[op("dest_pc", K::Pc, false), op("operands", K::Remap, false)], forms: &["{dest_pc}({operands})", "{dest_pc}"] },
    Instruction { op: Op::Trace, set: OpSet::Core, opcode: 0x5E, mnemonic: "trace", terminator: false, operands: &[op("event_name", K::Str, false), op("operands", K::ListAny, false)], forms: &["{event_name}({operands})", "{event_name}, {operands}", "{event_name}"] },
    Instruction { op: Op::Print, set: OpSet::Core, opcode: 0x5F, mnemonic: "print", terminator: false, operands: &[op("event_name", K::Str, false), op("operands", K::ListAny, false)], forms: &["{event_name}({operands})", "{event_name}, {operands}", "{event_name}"] },
    Instruction { op: Op::CondBreak, set: OpSet::Core, opcode: 0x60, mnemonic: "cond_break", terminator: true, operands: &[op("condition", K::I32, false), op("dest_pc", K::Pc, false), op("operands", K::Remap, false)], forms: &["{condition}, {dest_pc}({operands})"] },
    Instruction { op: Op::Break, set: OpSet::Core, opcode: 0x61, mnemonic: "break", terminator: true, operands: &[op("dest_pc", K::Pc, false), op("operands", K::Remap, false)], forms: &["{dest_pc}({operands})", "{dest_pc}"] },
    Instruction { op: Op::BufferLoadI8U, set: OpSet::Core, opcode: 0x62, mnemonic: "buffer.load.i8.u", terminator: false, operands: &[op("source_buffer", K::Ref, false), op("source_offset", K::I64, false), op("result", K::I32, true)], forms: &["{source_buffer}, {source_offset}"] },
    Instruction { op: Op::BufferLoadI8S, set: OpSet::Core, opcode: 0x63, mnemonic: "buffer.load.i8.s", terminator: false, operands: &[op("source_buffer", K::Ref, false), op("source_offset", K::I64, false), op("result", K::I32, true)], forms: &["{source_buffer}, {source_offset}"] },
    Instruction { op: Op::BufferLoadI16U, set: OpSet::Core, opcode: 0x64, mnemonic: "buffer.load.i16.u", terminator: false, operands: &[op("source_buffer", K::Ref, false), op("source_offset", K::I64, false), op("result", K::I32, true)], forms: &["{source_buffer}, {source_offset}"] },
    Instruction { op: Op::BufferLoadI16S, set: OpSet::Core, opcode: 0x65, mnemonic: "buffer.load.i16.s", terminator: false, operands: &[op("source_buffer", K::Ref, false), op("source_offset", K::I64, false), op("result", K::I32, true)], forms: &["{source_buffer}, {source_offset}"] },
    Instruction { op: Op::BufferLoadI32, set: OpSet::Core, opcode: 0x66, mnemonic: "buffer.load.i32", terminator: false, operands: &[op("source_buffer", K::Ref, false), op("source_offset", K::I64, false), op("result", K::I32, true)], forms: &["{source_buffer}, {source_offset}"] },
    Instruction { op: Op::BufferLoadI64, set: OpSet::Core, opcode: 0x67, mnemonic: "buffer.load.i64", terminator: false, operands: &[op("source_buffer", K::Ref, false), op("source_offset", K::I64, false), op("result", K::I64, true)], forms: &["{source_buffer}, {source_offset}"] },
    Instruction { op: Op::BufferStoreI8, set: OpSet::Core, opcode: 0x68, mnemonic: "buffer.store.i8", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("value", K::I32, false)], forms: &["{value}, {target_buffer}, {target_offset}"] },
    Instruction { op: Op::BufferStoreI16, set: OpSet::Core, opcode: 0x69, mnemonic: "buffer.store.i16", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("value", K::I32, false)], forms: &["{value}, {target_buffer}, {target_offset}"] },
    Instruction { op: Op::BufferStoreI32, set: OpSet::Core, opcode: 0x6A, mnemonic: "buffer.store.i32", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("value", K::I32, false)], forms: &["{value}, {target_buffer}, {target_offset}"] },
    Instruction { op: Op::BufferStoreI64, set: OpSet::Core, opcode: 0x6B, mnemonic: "buffer.store.i64", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("value", K::I64, false)], forms: &["{value}, {target_buffer}, {target_offset}"] },
    Instruction { op: Op::BufferAlloc, set: OpSet::Core, opcode: 0x6C, mnemonic: "buffer.alloc", terminator: false, operands: &[op("length", K::I64, false), op("alignment", K::I32, false), op("result", K::RefMove, true)], forms: &["{length}, {alignment}"] },
    Instruction { op: Op::BufferClone, set: OpSet::Core, opcode: 0x6D, mnemonic: "buffer.clone", terminator: false, operands: &[op("source", K::Ref, false), op("offset", K::I64, false), op("length", K::I64, false), op("alignment", K::I32, false), op("result", K::RefMove, true)], forms: &["{source}, {offset}, {length}, {alignment}"] },
    Instruction { op: Op::BufferLength, set: OpSet::Core, opcode: 0x6E, mnemonic: "buffer.length", terminator: false, operands: &[op("buffer", K::Ref, false), op("result", K::I64, true)], forms: &["{buffer}"] },
    Instruction { op: Op::BufferCopy, set: OpSet::Core, opcode: 0x6F, mnemonic: "buffer.copy", terminator: false, operands: &[op("source_buffer", K::Ref, false), op("source_offset", K::I64, false), op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("length", K::I64, false)], forms: &["{source_buffer}, {source_offset}, {target_buffer}, {target_offset}, {length}"] },
    Instruction { op: Op::BufferCompare, set: OpSet::Core, opcode: 0x70, mnemonic: "buffer.compare", terminator: false, operands: &[op("lhs_buffer", K::Ref, false), op("lhs_offset", K::I64, false), op("rhs_buffer", K::Ref, false), op("rhs_offset", K::I64, false), op("length", K::I64, false), op("result", K::I32, true)], forms: &["{lhs_buffer}, {lhs_offset}, {rhs_buffer}, {rhs_offset}, {length}"] },
    Instruction { op: Op::BufferFillI8, set: OpSet::Core, opcode: 0x71, mnemonic: "buffer.fill.i8", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("length", K::I64, false), op("value", K::I32, false)], forms: &["{target_buffer}, {target_offset}, {length}, {value}"] },
    Instruction { op: Op::BufferFillI16, set: OpSet::Core, opcode: 0x72, mnemonic: "buffer.fill.i16", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("length", K::I64, false), op("value", K::I32, false)], forms: &["{target_buffer}, {target_offset}, {length}, {value}"] },
    Instruction { op: Op::BufferFillI32, set: OpSet::Core, opcode: 0x73, mnemonic: "buffer.fill.i32", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("length", K::I64, false), op("value", K::I32, false)], forms: &["{target_buffer}, {target_offset}, {length}, {value}"] },
    Instruction { op: Op::BufferFillI64, set: OpSet::Core, opcode: 0x74, mnemonic: "buffer.fill.i64", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("length", K::I64, false), op("value", K::I64, false)], forms: &["{target_buffer}, {target_offset}, {length}, {value}"] },
    Instruction { op: Op::CtlzI32, set: OpSet::Core, opcode: 0x75, mnemonic: "ctlz.i32", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CtlzI64, set: OpSet::Core, opcode: 0x76, mnemonic: "ctlz.i64", terminator: false, operands: &[op("operand", K::I64, false), op("result", K::I64, true)], forms: &["{operand}"] },
    Instruction { op: Op::AbsI32, set: OpSet::Core, opcode: 0x77, mnemonic: "abs.i32", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::AbsI64, set: OpSet::Core, opcode: 0x78, mnemonic: "abs.i64", terminator: false, operands: &[op("operand", K::I64, false), op("result", K::I64, true)], forms: &["{operand}"] },
    Instruction { op: Op::Block, set: OpSet::Core, opcode: 0x79, mnemonic: "Block", terminator: false, operands: &[], forms: &[""] },
    Instruction { op: Op::MinI32S, set: OpSet::Core, opcode: 0x7A, mnemonic: "min.i32.s", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MinI32U, set: OpSet::Core, opcode: 0x7B, mnemonic: "min.i32.u", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MaxI32S, set: OpSet::Core, opcode: 0x7C, mnemonic: "max.i32.s", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MaxI32U, set: OpSet::Core, opcode: 0x7D, mnemonic: "max.i32.u", terminator: false, operands: &[op("left", K::I32, false), op("right", K::I32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MinI64S, set: OpSet::Core, opcode: 0x7E, mnemonic: "min.i64.s", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MinI64U, set: OpSet::Core, opcode: 0x7F, mnemonic: "min.i64.u", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MaxI64S, set: OpSet::Core, opcode: 0x80, mnemonic: "max.i64.s", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MaxI64U, set: OpSet::Core, opcode: 0x81, mnemonic: "max.i64.u", terminator: false, operands: &[op("left", K::I64, false), op("right", K::I64, false), op("result", K::I64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CastAnyRef, set: OpSet::Core, opcode: 0x82, mnemonic: "cast.any.ref", terminator: false, operands: &[op("operand", K::RefMove, false), op("result_type", K::Type, false), op("result", K::RefMove, true)], forms: &["{operand} : !vm.ref<?> -> {result_type}", "{operand} : ... -> {result_type}"] },
    Instruction { op: Op::BrTable, set: OpSet::Core, opcode: 0x83, mnemonic: "br_table", terminator: true, operands: &[op("index", K::I32, false), op("default_dest_pc", K::Pc, false), op("default_operands", K::Remap, false), op("table_size", K::ImmU16, false), op("cases", K::Cases, false)], forms: &["{index} { default: {default_dest_pc}({default_operands}){cases} }"] },
    Instruction { op: Op::BufferHash, set: OpSet::Core, opcode: 0x84, mnemonic: "buffer.hash", terminator: false, operands: &[op("source_buffer", K::Ref, false), op("source_offset", K::I64, false), op("length", K::I64, false), op("result", K::I64, true)], forms: &["{source_buffer}, {source_offset}, {length}"] },
    Instruction { op: Op::DiscardRefs, set: OpSet::Core, opcode: 0x85, mnemonic: "discard.refs", terminator: false, operands: &[op("refs", K::ListAny, false)], forms: &["{refs}"] },
    Instruction { op: Op::AssignRef, set: OpSet::Core, opcode: 0x86, mnemonic: "assign.ref", terminator: false, operands: &[op("source", K::RefMove, false), op("result", K::RefMove, true)], forms: &["{source}"] },
    Instruction { op: Op::CallYieldable, set: OpSet::Core, opcode: 0x87, mnemonic: "call.yieldable", terminator: true, operands: &[op("callee", K::Func, false), op("operands", K::ListAny, false), op("dest_pc", K::Pc, false), op("results", K::ListAny, true)], forms: &["{callee}({operands}) -> {dest_pc}({results})"] },
    Instruction { op: Op::CallVariadicYieldable, set: OpSet::Core, opcode: 0x88, mnemonic: "call.variadic.yieldable", terminator: true, operands: &[op("callee", K::Func, false), op("segment_sizes", K::Segments, false), op("operands", K::ListAny, false), op("dest_pc", K::Pc, false), op("results", K::ListAny, true)], forms: &["{callee} {segment_sizes}({operands}) -> {dest_pc}({results})"] },
    Instruction { op: Op::PrefixExtF32, set: OpSet::Core, opcode: 0xE0, mnemonic: "PrefixExtF32", terminator: false, operands: &[], forms: &[""] },
    Instruction { op: Op::PrefixExtF64, set: OpSet::Core, opcode: 0xE1, mnemonic: "PrefixExtF64", terminator: false, operands: &[], forms: &[""] },
    Instruction { op: Op::GlobalLoadF32, set: OpSet::ExtF32, opcode: 0x00, mnemonic: "global.load.f32", terminator: false, operands: &[op("byte_offset", K::Global, false), op("result", K::F32, true)], forms: &[".rwdata[{byte_offset}]", "{byte_offset}"] },
    Instruction { op: Op::GlobalStoreF32, set: OpSet::ExtF32, opcode: 0x01, mnemonic: "global.store.f32", terminator: false, operands: &[op("byte_offset", K::Global, false), op("value", K::F32, false)], forms: &["{value}, .rwdata[{byte_offset}]", "{value}, {byte_offset}"] },
    Instruction { op: Op::GlobalLoadIndirectF32, set: OpSet::ExtF32, opcode: 0x02, mnemonic: "global.load.indirect.f32", terminator: false, operands: &[op("byte_offset", K::I32, false), op("result", K::F32, true)], forms: &[".rwdata[{byte_offset}]", "{byte_offset}"] },
    Instruction { op: Op::GlobalStoreIndirectF32, set: OpSet::ExtF32, opcode: 0x03, mnemonic: "global.store.indirect.f32", terminator: false, operands: &[op("byte_offset", K::I32, false), op("value", K::F32, false)], forms: &["{value}, .rwdata[{byte_offset}]", "{byte_offset}, {value}"] },
    Instruction { op: Op::ConstF32Zero, set: OpSet::ExtF32, opcode: 0x04, mnemonic: "const.f32.zero", terminator: false, operands: &[op("result", K::F32, true)], forms: &[""] },
    Instruction { op: Op::ConstF32, set: OpSet::ExtF32, opcode: 0x05, mnemonic: "const.f32", terminator: false, operands: &[op("value", K::ImmF32, false), op("result", K::F32, true)], forms: &["{value}"] },
    Instruction { op: Op::ListGetF32, set: OpSet::ExtF32, opcode: 0x06, mnemonic: "list.get.f32", terminator: false, operands: &[op("list", K::Ref, false), op("index", K::I32, false), op("result", K::F32, true)], forms: &["{list}, {index}"] },
    Instruction { op: Op::ListSetF32, set: OpSet::ExtF32, opcode: 0x07, mnemonic: "list.set.f32", terminator: false, operands: &[op("list", K::Ref, false), op("index", K::I32, false), op("value", K::F32, false)], forms: &["{list}, {index}, {value}"] },
    Instruction { op: Op::SelectF32, set: OpSet::ExtF32, opcode: 0x08, mnemonic: "select.f32", terminator: false, operands: &[op("condition", K::I32, false), op("true_value", K::F32, false), op("false_value", K::F32, false), op("result", K::F32, true)], forms: &["{condition} ? {true_value} : {false_value}"] },
    Instruction { op: Op::SwitchF32, set: OpSet::ExtF32, opcode: 0x09, mnemonic: "switch.f32", terminator: false, operands: &[op("index", K::I32, false), op("default_value", K::F32, false), op("values", K::ListF32, false), op("result", K::F32, true)], forms: &["{index}[{values}] else {default_value}"] },
    Instruction { op: Op::AddF32, set: OpSet::ExtF32, opcode: 0x0A, mnemonic: "add.f32", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::F32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::SubF32, set: OpSet::ExtF32, opcode: 0x0B, mnemonic: "sub.f32", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::F32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MulF32, set: OpSet::ExtF32, opcode: 0x0C, mnemonic: "mul.f32", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::F32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::DivF32, set: OpSet::ExtF32, opcode: 0x0D, mnemonic: "div.f32", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::F32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::RemF32, set: OpSet::ExtF32, opcode: 0x0E, mnemonic: "rem.f32", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::F32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::FmaF32, set: OpSet::ExtF32, opcode: 0x0F, mnemonic: "fma.f32", terminator: false, operands: &[op("first", K::F32, false), op("second", K::F32, false), op("third", K::F32, false), op("result", K::F32, true)], forms: &["{first}, {second}, {third}"] },
    Instruction { op: Op::AbsF32, set: OpSet::ExtF32, opcode: 0x10, mnemonic: "abs.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::NegF32, set: OpSet::ExtF32, opcode: 0x11, mnemonic: "neg.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CeilF32, set: OpSet::ExtF32, opcode: 0x12, mnemonic: "ceil.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::FloorF32, set: OpSet::ExtF32, opcode: 0x13, mnemonic: "floor.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastSi32F32, set: OpSet::ExtF32, opcode: 0x14, mnemonic: "cast.si32.f32", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastUi32F32, set: OpSet::ExtF32, opcode: 0x15, mnemonic: "cast.ui32.f32", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastF32Si32, set: OpSet::ExtF32, opcode: 0x16, mnemonic: "cast.f32.si32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastF32Ui32, set: OpSet::ExtF32, opcode: 0x17, mnemonic: "cast.f32.ui32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::BitcastI32F32, set: OpSet::ExtF32, opcode: 0x18, mnemonic: "bitcast.i32.f32", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::BitcastF32I32, set: OpSet::ExtF32, opcode: 0x19, mnemonic: "bitcast.f32.i32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::AtanF32, set: OpSet::ExtF32, opcode: 0x1A, mnemonic: "atan.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::Atan2F32, set: OpSet::ExtF32, opcode: 0x1B, mnemonic: "atan2.f32", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::F32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CosF32, set: OpSet::ExtF32, opcode: 0x1C, mnemonic: "cos.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::SinF32, set: OpSet::ExtF32, opcode: 0x1D, mnemonic: "sin.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::ExpF32, set: OpSet::ExtF32, opcode: 0x1E, mnemonic: "exp.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::Exp2F32, set: OpSet::ExtF32, opcode: 0x1F, mnemonic: "exp2.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::Expm1F32, set: OpSet::ExtF32, opcode: 0x20, mnemonic: "expm1.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::LogF32, set: OpSet::ExtF32, opcode: 0x21, mnemonic: "log.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::Log10F32, set: OpSet::ExtF32, opcode: 0x22, mnemonic: "log10.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::Log1pF32, set: OpSet::ExtF32, opcode: 0x23, mnemonic: "log1p.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::Log2F32, set: OpSet::ExtF32, opcode: 0x24, mnemonic: "log2.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::PowF32, set: OpSet::ExtF32, opcode: 0x25, mnemonic: "pow.f32", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::F32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::RsqrtF32, set: OpSet::ExtF32, opcode: 0x26, mnemonic: "rsqrt.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::SqrtF32, set: OpSet::ExtF32, opcode: 0x27, mnemonic: "sqrt.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::TanhF32, set: OpSet::ExtF32, opcode: 0x28, mnemonic: "tanh.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::ErfF32, set: OpSet::ExtF32, opcode: 0x29, mnemonic: "erf.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CmpEqF32O, set: OpSet::ExtF32, opcode: 0x2A, mnemonic: "cmp.eq.f32.o", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpEqF32U, set: OpSet::ExtF32, opcode: 0x2B, mnemonic: "cmp.eq.f32.u", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNeF32O, set: OpSet::ExtF32, opcode: 0x2C, mnemonic: "cmp.ne.f32.o", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNeF32U, set: OpSet::ExtF32, opcode: 0x2D, mnemonic: "cmp.ne.f32.u", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLtF32O, set: OpSet::ExtF32, opcode: 0x2E, mnemonic: "cmp.lt.f32.o", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLtF32U, set: OpSet::ExtF32, opcode: 0x2F, mnemonic: "cmp.lt.f32.u", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLteF32O, set: OpSet::ExtF32, opcode: 0x30, mnemonic: "cmp.lte.f32.o", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLteF32U, set: OpSet::ExtF32, opcode: 0x31, mnemonic: "cmp.lte.f32.u", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNanF32, set: OpSet::ExtF32, opcode: 0x32, mnemonic: "cmp.nan.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::BufferLoadF32, set: OpSet::ExtF32, opcode: 0x33, mnemonic: "buffer.load.f32", terminator: false, operands: &[op("source_buffer", K::Ref, false), op("source_offset", K::I64, false), op("result", K::F32, true)], forms: &["{source_buffer}, {source_offset}"] },
    Instruction { op: Op::BufferStoreF32, set: OpSet::ExtF32, opcode: 0x34, mnemonic: "buffer.store.f32", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("value", K::F32, false)], forms: &["{value}, {target_buffer}, {target_offset}"] },
    Instruction { op: Op::BufferFillF32, set: OpSet::ExtF32, opcode: 0x35, mnemonic: "buffer.fill.f32", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("length", K::I64, false), op("value", K::F32, false)], forms: &["{target_buffer}, {target_offset}, {length}, {value}"] },
    Instruction { op: Op::RoundF32, set: OpSet::ExtF32, opcode: 0x36, mnemonic: "round.f32", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::MinF32, set: OpSet::ExtF32, opcode: 0x37, mnemonic: "min.f32", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::F32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MaxF32, set: OpSet::ExtF32, opcode: 0x38, mnemonic: "max.f32", terminator: false, operands: &[op("left", K::F32, false), op("right", K::F32, false), op("result", K::F32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::RoundF32Even, set: OpSet::ExtF32, opcode: 0x39, mnemonic: "round.f32.even", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastF32Si64, set: OpSet::ExtF32, opcode: 0x3A, mnemonic: "cast.f32.si64", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::I64, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastF32Ui64, set: OpSet::ExtF32, opcode: 0x3B, mnemonic: "cast.f32.ui64", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::I64, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastSi64F32, set: OpSet::ExtF32, opcode: 0x3C, mnemonic: "cast.si64.f32", terminator: false, operands: &[op("operand", K::I64, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastUi64F32, set: OpSet::ExtF32, opcode: 0x3D, mnemonic: "cast.ui64.f32", terminator: false, operands: &[op("operand", K::I64, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::FpowiF32, set: OpSet::ExtF32, opcode: 0x3E, mnemonic: "fpowi.f32", terminator: false, operands: &[op("left", K::F32, false), op("right", K::I64, false), op("result", K::F32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::GlobalLoadF64, set: OpSet::ExtF64, opcode: 0x00, mnemonic: "global.load.f64", terminator: false, operands: &[op("byte_offset", K::Global, false), op("result", K::F64, true)], forms: &[".rwdata[{byte_offset}]", "{byte_offset}"] },
    Instruction { op: Op::GlobalStoreF64, set: OpSet::ExtF64, opcode: 0x01, mnemonic: "global.store.f64", terminator: false, operands: &[op("byte_offset", K::Global, false), op("value", K::F64, false)], forms: &["{value}, .rwdata[{byte_offset}]", "{value}, {byte_offset}"] },
    Instruction { op: Op::GlobalLoadIndirectF64, set: OpSet::ExtF64, opcode: 0x02, mnemonic: "global.load.indirect.f64", terminator: false, operands: &[op("byte_offset", K::I32, false), op("result", K::F64, true)], forms: &[".rwdata[{byte_offset}]", "{byte_offset}"] },
    Instruction { op: Op::GlobalStoreIndirectF64, set: OpSet::ExtF64, opcode: 0x03, mnemonic: "global.store.indirect.f64", terminator: false, operands: &[op("byte_offset", K::I32, false), op("value", K::F64, false)], forms: &["{value}, .rwdata[{byte_offset}]", "{byte_offset}, {value}"] },
    Instruction { op: Op::ConstF64Zero, set: OpSet::ExtF64, opcode: 0x04, mnemonic: "const.f64.zero", terminator: false, operands: &[op("result", K::F64, true)], forms: &[""] },
    Instruction { op: Op::ConstF64, set: OpSet::ExtF64, opcode: 0x05, mnemonic: "const.f64", terminator: false, operands: &[op("value", K::ImmF64, false), op("result", K::F64, true)], forms: &["{value}"] },
    Instruction { op: Op::ListGetF64, set: OpSet::ExtF64, opcode: 0x06, mnemonic: "list.get.f64", terminator: false, operands: &[op("list", K::Ref, false), op("index", K::I32, false), op("result", K::F64, true)], forms: &["{list}, {index}"] },
    Instruction { op: Op::ListSetF64, set: OpSet::ExtF64, opcode: 0x07, mnemonic: "list.set.f64", terminator: false, operands: &[op("list", K::Ref, false), op("index", K::I32, false), op("value", K::F64, false)], forms: &["{list}, {index}, {value}"] },
    Instruction { op: Op::SelectF64, set: OpSet::ExtF64, opcode: 0x08, mnemonic: "select.f64", terminator: false, operands: &[op("condition", K::I32, false), op("true_value", K::F64, false), op("false_value", K::F64, false), op("result", K::F64, true)], forms: &["{condition} ? {true_value} : {false_value}"] },
    Instruction { op: Op::SwitchF64, set: OpSet::ExtF64, opcode: 0x09, mnemonic: "switch.f64", terminator: false, operands: &[op("index", K::I32, false), op("default_value", K::F64, false), op("values", K::ListF64, false), op("result", K::F64, true)], forms: &["{index}[{values}] else {default_value}"] },
    Instruction { op: Op::AddF64, set: OpSet::ExtF64, opcode: 0x0A, mnemonic: "add.f64", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::F64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::SubF64, set: OpSet::ExtF64, opcode: 0x0B, mnemonic: "sub.f64", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::F64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MulF64, set: OpSet::ExtF64, opcode: 0x0C, mnemonic: "mul.f64", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::F64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::DivF64, set: OpSet::ExtF64, opcode: 0x0D, mnemonic: "div.f64", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::F64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::RemF64, set: OpSet::ExtF64, opcode: 0x0E, mnemonic: "rem.f64", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::F64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::FmaF64, set: OpSet::ExtF64, opcode: 0x0F, mnemonic: "fma.f64", terminator: false, operands: &[op("first", K::F64, false), op("second", K::F64, false), op("third", K::F64, false), op("result", K::F64, true)], forms: &["{first}, {second}, {third}"] },
    Instruction { op: Op::AbsF64, set: OpSet::ExtF64, opcode: 0x10, mnemonic: "abs.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::NegF64, set: OpSet::ExtF64, opcode: 0x11, mnemonic: "neg.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::CeilF64, set: OpSet::ExtF64, opcode: 0x12, mnemonic: "ceil.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::FloorF64, set: OpSet::ExtF64, opcode: 0x13, mnemonic: "floor.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::TruncF64F32, set: OpSet::ExtF64, opcode: 0x14, mnemonic: "trunc.f64.f32", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F32, true)], forms: &["{operand}"] },
    Instruction { op: Op::ExtF32F64, set: OpSet::ExtF64, opcode: 0x15, mnemonic: "ext.f32.f64", terminator: false, operands: &[op("operand", K::F32, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastSi32F64, set: OpSet::ExtF64, opcode: 0x16, mnemonic: "cast.si32.f64", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastUi32F64, set: OpSet::ExtF64, opcode: 0x17, mnemonic: "cast.ui32.f64", terminator: false, operands: &[op("operand", K::I32, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastF64Si32, set: OpSet::ExtF64, opcode: 0x18, mnemonic: "cast.f64.si32", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastF64Ui32, set: OpSet::ExtF64, opcode: 0x19, mnemonic: "cast.f64.ui32", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastSi64F64, set: OpSet::ExtF64, opcode: 0x1A, mnemonic: "cast.si64.f64", terminator: false, operands: &[op("operand", K::I64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastUi64F64, set: OpSet::ExtF64, opcode: 0x1B, mnemonic: "cast.ui64.f64", terminator: false, operands: &[op("operand", K::I64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastF64Si64, set: OpSet::ExtF64, opcode: 0x1C, mnemonic: "cast.f64.si64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::I64, true)], forms: &["{operand}"] },
    Instruction { op: Op::CastF64Ui64, set: OpSet::ExtF64, opcode: 0x1D, mnemonic: "cast.f64.ui64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::I64, true)], forms: &["{operand}"] },
    Instruction { op: Op::BitcastI64F64, set: OpSet::ExtF64, opcode: 0x1E, mnemonic: "bitcast.i64.f64", terminator: false, operands: &[op("operand", K::I64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::BitcastF64I64, set: OpSet::ExtF64, opcode: 0x1F, mnemonic: "bitcast.f64.i64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::I64, true)], forms: &["{operand}"] },
    Instruction { op: Op::AtanF64, set: OpSet::ExtF64, opcode: 0x20, mnemonic: "atan.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::Atan2F64, set: OpSet::ExtF64, opcode: 0x21, mnemonic: "atan2.f64", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::F64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CosF64, set: OpSet::ExtF64, opcode: 0x22, mnemonic: "cos.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::SinF64, set: OpSet::ExtF64, opcode: 0x23, mnemonic: "sin.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::ExpF64, set: OpSet::ExtF64, opcode: 0x24, mnemonic: "exp.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::Exp2F64, set: OpSet::ExtF64, opcode: 0x25, mnemonic: "exp2.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::Expm1F64, set: OpSet::ExtF64, opcode: 0x26, mnemonic: "expm1.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::LogF64, set: OpSet::ExtF64, opcode: 0x27, mnemonic: "log.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::Log10F64, set: OpSet::ExtF64, opcode: 0x28, mnemonic: "log10.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::Log1pF64, set: OpSet::ExtF64, opcode: 0x29, mnemonic: "log1p.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::Log2F64, set: OpSet::ExtF64, opcode: 0x2A, mnemonic: "log2.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::PowF64, set: OpSet::ExtF64, opcode: 0x2B, mnemonic: "pow.f64", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::F64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::RsqrtF64, set: OpSet::ExtF64, opcode: 0x2C, mnemonic: "rsqrt.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::SqrtF64, set: OpSet::ExtF64, opcode: 0x2D, mnemonic: "sqrt.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::TanhF64, set: OpSet::ExtF64, opcode: 0x2E, mnemonic: "tanh.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::ErfF64, set: OpSet::ExtF64, opcode: 0x2F, mnemonic: "erf.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::CmpEqF64O, set: OpSet::ExtF64, opcode: 0x30, mnemonic: "cmp.eq.f64.o", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpEqF64U, set: OpSet::ExtF64, opcode: 0x31, mnemonic: "cmp.eq.f64.u", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNeF64O, set: OpSet::ExtF64, opcode: 0x32, mnemonic: "cmp.ne.f64.o", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNeF64U, set: OpSet::ExtF64, opcode: 0x33, mnemonic: "cmp.ne.f64.u", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLtF64O, set: OpSet::ExtF64, opcode: 0x34, mnemonic: "cmp.lt.f64.o", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLtF64U, set: OpSet::ExtF64, opcode: 0x35, mnemonic: "cmp.lt.f64.u", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLteF64O, set: OpSet::ExtF64, opcode: 0x36, mnemonic: "cmp.lte.f64.o", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpLteF64U, set: OpSet::ExtF64, opcode: 0x37, mnemonic: "cmp.lte.f64.u", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::I32, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::CmpNanF64, set: OpSet::ExtF64, opcode: 0x38, mnemonic: "cmp.nan.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::I32, true)], forms: &["{operand}"] },
    Instruction { op: Op::BufferLoadF64, set: OpSet::ExtF64, opcode: 0x39, mnemonic: "buffer.load.f64", terminator: false, operands: &[op("source_buffer", K::Ref, false), op("source_offset", K::I64, false), op("result", K::F64, true)], forms: &["{source_buffer}, {source_offset}"] },
    Instruction { op: Op::BufferStoreF64, set: OpSet::ExtF64, opcode: 0x3A, mnemonic: "buffer.store.f64", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("value", K::F64, false)], forms: &["{value}, {target_buffer}, {target_offset}"] },
    Instruction { op: Op::BufferFillF64, set: OpSet::ExtF64, opcode: 0x3B, mnemonic: "buffer.fill.f64", terminator: false, operands: &[op("target_buffer", K::Ref, false), op("target_offset", K::I64, false), op("length", K::I64, false), op("value", K::F64, false)], forms: &["{target_buffer}, {target_offset}, {length}, {value}"] },
    Instruction { op: Op::RoundF64, set: OpSet::ExtF64, opcode: 0x3C, mnemonic: "round.f64", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::MinF64, set: OpSet::ExtF64, opcode: 0x3D, mnemonic: "min.f64", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::F64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::MaxF64, set: OpSet::ExtF64, opcode: 0x3E, mnemonic: "max.f64", terminator: false, operands: &[op("left", K::F64, false), op("right", K::F64, false), op("result", K::F64, true)], forms: &["{left}, {right}"] },
    Instruction { op: Op::RoundF64Even, set: OpSet::ExtF64, opcode: 0x3F, mnemonic: "round.f64.even", terminator: false, operands: &[op("operand", K::F64, false), op("result", K::F64, true)], forms: &["{operand}"] },
    Instruction { op: Op::FpowiF64, set: OpSet::ExtF64, opcode: 0x40, mnemonic: "fpowi.f64", terminator: false, operands: &[op("left", K::F64, false), op("right", K::I64, false), op("result", K::F64, true)], forms: &["{left}, {right}"] },
];
