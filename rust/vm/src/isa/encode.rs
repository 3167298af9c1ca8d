//! Writes one instruction of a function by the table: the reverse of `decode.rs`.

use super::{Instruction, OpSet, OperandKind, PREFIX_F32, PREFIX_F64};
use crate::status::{Result, Status};

/// Pairs (source, target) of a remap.
pub type Remap = Vec<(u16, u16)>;

/// An operand to encode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A register as encoded.
    Reg(u16),
    /// Bits of an immediate.
    Imm(u64),
    /// Global offset or slot, rodata, function or type ordinal.
    Ordinal(u32),
    /// Branch target.
    Pc(u32),
    /// String bytes.
    Str(Vec<u8>),
    /// Register list or segment sizes.
    Regs(Vec<u16>),
    /// Remap.
    Pairs(Remap),
    /// Cases of a branch table; their number is encoded in front by the `#u16` operand.
    Cases(Vec<(u32, Remap)>),
}

/// Appends one instruction to `code`, whose first byte is the start of the function.
///
/// `values` are the operands in the order of the row. `placed` is told where branch targets and ordinals are in `code`,
/// so that they can be filled in later. INVALID_ARGUMENT when an operand has the wrong kind, OUT_OF_RANGE when a list or
/// string is longer than 65535.
pub fn encode(
    code: &mut Vec<u8>,
    row: &Instruction,
    values: &[Value],
    mut placed: impl FnMut(usize, OperandKind, u32),
) -> Result<()> {
    match row.set {
        OpSet::Core => {}
        OpSet::ExtF32 => code.push(PREFIX_F32),
        OpSet::ExtF64 => code.push(PREFIX_F64),
    }
    code.push(row.opcode);
    if values.len() != row.operands.len() {
        return Err(Status::invalid_argument(format!(
            "vm.{} has {} operands, {} given",
            row.mnemonic,
            row.operands.len(),
            values.len()
        )));
    }
    for (operand, value) in row.operands.iter().zip(values) {
        one(code, operand.kind, value, &mut placed)
            .map_err(|status| status.annotate(format!("operand `{}` of vm.{}", operand.name, row.mnemonic)))?;
    }
    Ok(())
}

fn one(
    code: &mut Vec<u8>,
    kind: OperandKind,
    value: &Value,
    placed: &mut impl FnMut(usize, OperandKind, u32),
) -> Result<()> {
    use OperandKind as K;
    match (kind, value) {
        (K::I32 | K::I64 | K::F32 | K::F64 | K::Ref | K::RefMove, Value::Reg(register)) => put16(code, *register),
        (K::ImmI32 | K::ImmF32, Value::Imm(bits)) => code.extend_from_slice(&(*bits as u32).to_le_bytes()),
        (K::ImmI64 | K::ImmF64, Value::Imm(bits)) => code.extend_from_slice(&bits.to_le_bytes()),
        (K::ImmU16, Value::Imm(bits)) => put16(code, *bits as u16),
        (K::Global | K::Rodata | K::Func | K::Type, Value::Ordinal(ordinal)) | (K::Pc, Value::Pc(ordinal)) => {
            placed(code.len(), kind, *ordinal);
            code.extend_from_slice(&ordinal.to_le_bytes());
        }
        (K::Str, Value::Str(bytes)) => {
            put16(code, length(bytes.len())?);
            code.extend_from_slice(bytes);
        }
        (
            K::ListI32 | K::ListI64 | K::ListF32 | K::ListF64 | K::ListRef | K::ListAny | K::Segments,
            Value::Regs(list),
        ) => {
            pad(code);
            put16(code, length(list.len())?);
            list.iter().for_each(|register| put16(code, *register));
        }
        (K::Remap, Value::Pairs(pairs)) => remap(code, pairs)?,
        (K::Cases, Value::Cases(cases)) => {
            for (pc, pairs) in cases {
                placed(code.len(), K::Pc, *pc);
                code.extend_from_slice(&pc.to_le_bytes());
                remap(code, pairs)?;
            }
        }
        _ => return Err(Status::invalid_argument(format!("{value:?} is not of kind {kind:?}"))),
    }
    Ok(())
}

fn remap(code: &mut Vec<u8>, pairs: &Remap) -> Result<()> {
    pad(code);
    put16(code, length(pairs.len())?);
    for (source, target) in pairs {
        put16(code, *source);
        put16(code, *target);
    }
    Ok(())
}

fn put16(code: &mut Vec<u8>, value: u16) {
    code.extend_from_slice(&value.to_le_bytes());
}

fn pad(code: &mut Vec<u8>) {
    if !code.len().is_multiple_of(2) {
        code.push(0);
    }
}

fn length(count: usize) -> Result<u16> {
    u16::try_from(count).map_err(|_| Status::out_of_range(format!("{count} entries; at most 65535 can be encoded")))
}

#[cfg(test)]
mod tests {
    use super::super::{Arg, Decoded, INSTRUCTIONS, decode};
    use super::*;

    fn sample(kind: OperandKind) -> Value {
        use OperandKind as K;
        match kind {
            K::I32 | K::F32 => Value::Reg(3),
            K::I64 | K::F64 => Value::Reg(4),
            K::Ref | K::RefMove => Value::Reg(0x8001),
            K::ImmI32 | K::ImmF32 => Value::Imm(0xFEDC_BA98),
            K::ImmI64 | K::ImmF64 => Value::Imm(0xFEDC_BA98_7654_3210),
            K::ImmU16 => Value::Imm(2),
            K::Global | K::Rodata | K::Func | K::Type => Value::Ordinal(0x8000_0007),
            K::Pc => Value::Pc(77),
            K::Str => Value::Str(b"abc".to_vec()),
            K::ListI32 | K::ListI64 | K::ListF32 | K::ListF64 | K::ListRef | K::ListAny | K::Segments => {
                Value::Regs(vec![1, 0xC002])
            }
            K::Remap => Value::Pairs(vec![(1, 2), (3, 4)]),
            K::Cases => Value::Cases(vec![(5, vec![]), (6, vec![(7, 8)])]),
        }
    }

    fn owned(arg: Arg<'_>) -> Value {
        match arg {
            Arg::Reg(register) => Value::Reg(register),
            Arg::Imm(bits) => Value::Imm(bits),
            Arg::Ordinal(ordinal) => Value::Ordinal(ordinal),
            Arg::Pc(pc) => Value::Pc(pc),
            Arg::Str(bytes) => Value::Str(bytes.to_vec()),
            Arg::Regs(list) => Value::Regs(list.iter().collect()),
            Arg::Pairs(pairs) => Value::Pairs(pairs.iter().collect()),
            Arg::Cases(cases) => Value::Cases(cases.iter().map(|(pc, pairs)| (pc, pairs.iter().collect())).collect()),
        }
    }

    #[test]
    fn every_row_decodes_to_what_was_encoded() {
        for row in INSTRUCTIONS.iter().filter(|row| !row.mnemonic.starts_with("PrefixExt")) {
            for lead in 0..2 {
                let values: Vec<Value> = row.operands.iter().map(|o| sample(o.kind)).collect();
                let mut code = vec![0x79; lead];
                encode(&mut code, row, &values, |_, _, _| {}).unwrap();
                let Decoded { row: found, next, args, .. } = decode(&code, lead).unwrap();
                assert_eq!((found.mnemonic, next), (row.mnemonic, code.len()));
                assert_eq!(args.iter().map(owned).collect::<Vec<_>>(), values, "{}", row.mnemonic);
            }
        }
    }

    #[test]
    fn refusals() {
        let row = INSTRUCTIONS.iter().find(|row| row.mnemonic == "trace").unwrap();
        let mut code = Vec::new();
        let long = [Value::Str(vec![0; 65536]), Value::Regs(vec![])];
        assert!(encode(&mut code, row, &long, |_, _, _| {}).unwrap_err().to_string().contains("65536 entries"));
        assert!(encode(&mut code, row, &[Value::Reg(1), Value::Regs(vec![])], |_, _, _| {}).is_err());
        assert!(encode(&mut code, row, &[], |_, _, _| {}).is_err());
    }
}
