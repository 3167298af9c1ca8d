//! Reads one instruction of a function by the table. Nothing is trusted: every read is checked.

use super::{CORE, EXT_F32, EXT_F64, Instruction, OperandKind, PREFIX_F32, PREFIX_F64};
use crate::status::{Result, Status};

/// Registers of a list.
#[derive(Clone, Copy, Debug)]
pub struct Regs<'a>(&'a [u8]);

impl<'a> Regs<'a> {
    /// Number of registers.
    pub fn len(self) -> usize {
        self.0.len() / 2
    }

    /// Whether the list is empty.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The registers (or segment sizes) in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = u16> + 'a {
        self.0.as_chunks::<2>().0.iter().map(|b| u16::from_le_bytes(*b))
    }
}

/// Pairs (source, target) of a remap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pairs<'a>(&'a [u8]);

impl<'a> Pairs<'a> {
    /// Number of pairs.
    pub fn len(self) -> usize {
        self.0.len() / 4
    }

    /// Whether there are no pairs.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The pairs in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (u16, u16)> + 'a {
        self.0.as_chunks::<4>().0.iter().map(|b| (u16::from_le_bytes([b[0], b[1]]), u16::from_le_bytes([b[2], b[3]])))
    }
}

/// The cases of a branch table, checked when decoded.
#[derive(Clone, Copy, Debug)]
pub struct Cases<'a> {
    code: &'a [u8],
    pc: usize,
    count: u16,
}

impl<'a> Cases<'a> {
    /// Target and remap of each case.
    pub fn iter(self) -> impl Iterator<Item = (u32, Pairs<'a>)> {
        let mut cursor = Cursor { code: self.code, pc: self.pc };
        // Decoding read all cases once, so no case fails here.
        (0..self.count).map_while(move |_| cursor.case().ok())
    }
}

/// A decoded operand.
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A register as encoded.
    Reg(u16),
    /// An immediate, zero-extended bits.
    Imm(u64),
    /// Global offset or slot, rodata, function or type ordinal.
    Ordinal(u32),
    /// Branch target.
    Pc(u32),
    /// String bytes.
    Str(&'a [u8]),
    /// Register list or segment sizes.
    Regs(Regs<'a>),
    /// Remap.
    Pairs(Pairs<'a>),
    /// Cases of a branch table.
    Cases(Cases<'a>),
}

/// Operands of one instruction, in the order of its row.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    args: [Arg<'a>; 6],
    count: usize,
}

impl<'a> Args<'a> {
    /// The operands.
    pub fn iter(&self) -> impl Iterator<Item = Arg<'a>> {
        self.args[..self.count].iter().copied()
    }

    /// Register operand `index`; 0 when it is something else, which the row rules out.
    pub fn reg(&self, index: usize) -> u16 {
        if let Arg::Reg(value) = self.args[index] { value } else { 0 }
    }

    /// Immediate operand `index`.
    pub fn imm(&self, index: usize) -> u64 {
        if let Arg::Imm(value) = self.args[index] { value } else { 0 }
    }

    /// Ordinal operand `index`.
    pub fn ordinal(&self, index: usize) -> u32 {
        if let Arg::Ordinal(value) = self.args[index] { value } else { 0 }
    }

    /// Branch target operand `index`.
    pub fn pc(&self, index: usize) -> u32 {
        if let Arg::Pc(value) = self.args[index] { value } else { 0 }
    }

    /// String operand `index`.
    pub fn str(&self, index: usize) -> &'a [u8] {
        if let Arg::Str(value) = self.args[index] { value } else { &[] }
    }

    /// List operand `index`.
    pub fn regs(&self, index: usize) -> Regs<'a> {
        if let Arg::Regs(value) = self.args[index] { value } else { Regs(&[]) }
    }

    /// Remap operand `index`.
    pub fn pairs(&self, index: usize) -> Pairs<'a> {
        if let Arg::Pairs(value) = self.args[index] { value } else { Pairs(&[]) }
    }

    /// Cases operand `index`.
    pub fn cases(&self, index: usize) -> Cases<'a> {
        if let Arg::Cases(value) = self.args[index] { value } else { Cases { code: &[], pc: 0, count: 0 } }
    }
}

/// One instruction in a function.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'a> {
    /// Its row.
    pub row: &'static Instruction,
    /// Where it starts.
    pub pc: usize,
    /// Where the next one starts.
    pub next: usize,
    /// Its operands.
    pub args: Args<'a>,
}

struct Cursor<'a> {
    code: &'a [u8],
    pc: usize,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let end =
            self.pc.checked_add(length).filter(|end| *end <= self.code.len()).ok_or_else(|| self.overrun(length))?;
        let bytes = &self.code[self.pc..end];
        self.pc = end;
        Ok(bytes)
    }

    #[cold]
    fn overrun(&self, length: usize) -> Status {
        Status::out_of_range(format!(
            "bytecode data overrun: {length} bytes wanted at {:08X}, the function ends at {:08X}",
            self.pc,
            self.code.len()
        ))
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn list(&mut self, width: usize) -> Result<&'a [u8]> {
        self.pc += self.pc & 1;
        let count = self.u16()?;
        self.take(usize::from(count) * width)
    }

    fn case(&mut self) -> Result<(u32, Pairs<'a>)> {
        Ok((self.u32()?, Pairs(self.list(4)?)))
    }

    fn arg(&mut self, kind: OperandKind, table_size: &mut u16) -> Result<Arg<'a>> {
        use OperandKind as K;
        Ok(match kind {
            K::I32 | K::I64 | K::F32 | K::F64 | K::Ref | K::RefMove => Arg::Reg(self.u16()?),
            K::ImmI32 | K::ImmF32 => Arg::Imm(self.u32()?.into()),
            K::ImmI64 | K::ImmF64 => Arg::Imm(self.u64()?),
            K::ImmU16 => {
                *table_size = self.u16()?;
                Arg::Imm((*table_size).into())
            }
            K::Global | K::Rodata | K::Func | K::Type => Arg::Ordinal(self.u32()?),
            K::Pc => Arg::Pc(self.u32()?),
            K::Str => {
                let length = self.u16()?;
                Arg::Str(self.take(length.into())?)
            }
            K::ListI32 | K::ListI64 | K::ListF32 | K::ListF64 | K::ListRef | K::ListAny | K::Segments => {
                Arg::Regs(Regs(self.list(2)?))
            }
            K::Remap => Arg::Pairs(Pairs(self.list(4)?)),
            K::Cases => {
                let cases = Cases { code: self.code, pc: self.pc, count: *table_size };
                for _ in 0..*table_size {
                    self.case()?;
                }
                Arg::Cases(cases)
            }
        })
    }
}

/// Decodes the instruction at `pc` of a function's `code`.
///
/// OUT_OF_RANGE when the code ends inside it, INVALID_ARGUMENT for opcodes that do not exist.
pub fn decode(code: &[u8], pc: usize) -> Result<Decoded<'_>> {
    let mut cursor = Cursor { code, pc };
    let opcode = cursor.u8()?;
    let row = match opcode {
        PREFIX_F32 | PREFIX_F64 => {
            let (rows, set) = if opcode == PREFIX_F32 { (&EXT_F32, "f32") } else { (&EXT_F64, "f64") };
            let extended = cursor.u8()?;
            rows[usize::from(extended)]
                .ok_or_else(|| Status::invalid_argument(format!("unhandled ext {set} opcode {extended}")))?
        }
        _ => CORE[usize::from(opcode)]
            .ok_or_else(|| Status::invalid_argument(format!("unrecognized opcode {opcode}")))?,
    };
    let mut args = Args { args: [Arg::Imm(0); 6], count: row.operands.len() };
    let mut table_size = 0;
    for (arg, operand) in args.args.iter_mut().zip(row.operands) {
        *arg = cursor.arg(operand.kind, &mut table_size)?;
    }
    Ok(Decoded { row, pc, next: cursor.pc, args })
}

#[cfg(test)]
mod tests {
    use super::super::{INSTRUCTIONS, Op};
    use super::*;

    #[test]
    fn rows_fit_the_argument_array() {
        assert!(INSTRUCTIONS.iter().all(|row| row.operands.len() <= 6));
    }

    #[test]
    fn padding_follows_the_function_start() {
        // br to 8 with one pair: opcode at 1, pc at 2..6, the list is already even.
        let code = [0x79, 0x56, 8, 0, 0, 0, 1, 0, 1, 0, 2, 0];
        let decoded = decode(&code, 1).unwrap();
        assert_eq!((decoded.row.op, decoded.next), (Op::Br, 12));
        assert_eq!(decoded.args.pairs(1).iter().collect::<Vec<_>>(), [(1, 2)]);
        // The same one byte later needs a padding byte.
        let code = [0x79, 0x79, 0x56, 8, 0, 0, 0, 0, 1, 0, 1, 0, 2, 0];
        assert_eq!(decode(&code, 2).unwrap().next, 14);
    }

    #[test]
    fn overruns_and_unknown_opcodes() {
        assert!(
            decode(&[0x22, 0, 0, 1], 0).unwrap_err().to_string().starts_with("OUT_OF_RANGE; bytecode data overrun")
        );
        assert_eq!(decode(&[192], 0).unwrap_err().message(), "unrecognized opcode 192");
        assert_eq!(decode(&[0xE0, 0x3F], 0).unwrap_err().message(), "unhandled ext f32 opcode 63");
        assert!(decode(&[0xE0], 0).is_err());
        assert!(decode(&[], 0).is_err());
        assert!(decode(&[0x79], 7).is_err());
    }
}
