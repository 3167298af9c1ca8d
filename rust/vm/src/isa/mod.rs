//! The instruction set: one table, and the decoder that reads bytecode by it.

use std::collections::HashMap;
use std::sync::OnceLock;

mod decode;
pub mod encode;
mod table;

pub use decode::{Arg, Args, Cases, Decoded, Pairs, Regs, decode};
pub use table::{INSTRUCTIONS, Op, VERSION_MAJOR, VERSION_MINOR};

/// Whether bytecode of this version can be executed: the same major version, and no newer minor version.
pub fn supports_version(major: u32, minor: u32) -> bool {
    major == VERSION_MAJOR && (0..=VERSION_MINOR).contains(&minor)
}

/// Feature bits of modules and functions.
pub mod features {
    /// Instructions of set `ext_f32`.
    pub const EXT_F32: u32 = 1;
    /// Instructions of set `ext_f64`.
    pub const EXT_F64: u32 = 2;
    /// Calls that may suspend.
    pub const YIELD: u32 = 4;
    /// References are released when a call fails.
    pub const UNWIND: u32 = 8;
    /// Everything this runtime offers.
    pub const AVAILABLE: u32 = EXT_F32 | EXT_F64 | YIELD | UNWIND;

    /// `EXT_F32|YIELD`; unknown bits in hexadecimal.
    pub fn names(bits: u32) -> String {
        let mut names: Vec<String> = [(EXT_F32, "EXT_F32"), (EXT_F64, "EXT_F64"), (YIELD, "YIELD"), (UNWIND, "UNWIND")]
            .iter()
            .filter(|(bit, _)| bits & bit != 0)
            .map(|(_, name)| name.to_string())
            .collect();
        if bits & !AVAILABLE != 0 {
            names.push(format!("{:#x}", bits & !AVAILABLE));
        }
        names.join("|")
    }
}

/// Register encoding.
pub mod reg {
    /// The register is a reference register.
    pub const REF: u16 = 0x8000;
    /// The reference is moved out of the register.
    pub const MOVE: u16 = 0x4000;
    /// Bits of a reference register's ordinal.
    pub const REF_MASK: u16 = 0x3FFF;

    /// Whether `reg` is a reference register.
    #[inline]
    pub fn is_ref(reg: u16) -> bool {
        reg & REF != 0
    }

    /// Whether `reg` is a reference register that is moved from.
    #[inline]
    pub fn is_move(reg: u16) -> bool {
        reg & (REF | MOVE) == REF | MOVE
    }

    /// Ordinal of a reference register.
    #[inline]
    pub fn ref_ordinal(reg: u16) -> usize {
        usize::from(reg & REF_MASK)
    }
}

/// How an opcode is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpSet {
    /// One byte.
    Core,
    /// Prefix E0.
    ExtF32,
    /// Prefix E1.
    ExtF64,
}

impl OpSet {
    /// The feature bit that a function using the set must have.
    pub fn feature(self) -> u32 {
        match self {
            OpSet::Core => 0,
            OpSet::ExtF32 => features::EXT_F32,
            OpSet::ExtF64 => features::EXT_F64,
        }
    }
}

/// What an operand is; `isa/instructions.txt` explains the encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The table documents them.
pub enum OperandKind {
    I32,
    I64,
    F32,
    F64,
    Ref,
    RefMove,
    ImmI32,
    ImmI64,
    ImmF32,
    ImmF64,
    ImmU16,
    Global,
    Rodata,
    Func,
    Type,
    Pc,
    Str,
    ListI32,
    ListI64,
    ListF32,
    ListF64,
    ListRef,
    ListAny,
    Segments,
    Remap,
    Cases,
}

/// One operand of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Its name in the table.
    pub name: &'static str,
    /// What it is.
    pub kind: OperandKind,
    /// Whether the instruction writes it.
    pub result: bool,
}

/// One row of the table.
#[derive(Debug)]
pub struct Instruction {
    /// Which instruction.
    pub op: Op,
    /// How the opcode is reached.
    pub set: OpSet,
    /// The opcode byte within the set.
    pub opcode: u8,
    /// Name without `vm.`.
    pub mnemonic: &'static str,
    /// Whether it ends a block.
    pub terminator: bool,
    /// Operands in encoding order.
    pub operands: &'static [Operand],
    /// How they are written in assembly, `{name}` for an operand; the first form is printed, all are read.
    pub forms: &'static [&'static str],
}

impl Instruction {
    /// Whether results are written behind the mnemonic, where the form has them, and not in front.
    pub fn places_results(&self) -> bool {
        let mut results = self.operands.iter().filter(|operand| operand.result);
        results.any(|operand| self.forms[0].contains(&format!("{{{}}}", operand.name)))
    }
}

/// Opcode of the block marker.
pub const BLOCK: u8 = 0x79;
const PREFIX_F32: u8 = 0xE0;
const PREFIX_F64: u8 = 0xE1;

const fn index(set: OpSet) -> [Option<&'static Instruction>; 256] {
    let mut rows: [Option<&'static Instruction>; 256] = [None; 256];
    let mut i = 0;
    while i < INSTRUCTIONS.len() {
        let row = &INSTRUCTIONS[i];
        if row.set as u8 == set as u8 {
            rows[row.opcode as usize] = Some(row);
        }
        i += 1;
    }
    rows
}

static CORE: [Option<&Instruction>; 256] = index(OpSet::Core);
static EXT_F32: [Option<&Instruction>; 256] = index(OpSet::ExtF32);
static EXT_F64: [Option<&Instruction>; 256] = index(OpSet::ExtF64);

/// The bytes that an instruction with a fixed global accesses; None when it accesses a reference.
pub fn global_size(op: Op) -> Option<u32> {
    match op {
        Op::GlobalLoadRef | Op::GlobalStoreRef => None,
        Op::GlobalLoadI64 | Op::GlobalStoreI64 | Op::GlobalLoadF64 | Op::GlobalStoreF64 => Some(8),
        _ => Some(4),
    }
}

/// The instruction called `name` (without `vm.`) that can be written: markers and prefixes are no instructions.
pub fn by_mnemonic(name: &str) -> Option<&'static Instruction> {
    static ROWS: OnceLock<HashMap<&str, &Instruction>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let real = INSTRUCTIONS.iter().filter(|row| !matches!(row.op, Op::Block | Op::PrefixExtF32 | Op::PrefixExtF64));
        real.map(|row| (row.mnemonic, row)).collect()
    });
    rows.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The generated table says what `isa/instructions.txt` says (read here by other code than the generator's).
    #[test]
    fn table_is_fresh() {
        let text = include_str!("../../../../isa/instructions.txt");
        let rows: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| line.contains('|') && !line.starts_with('#'))
            .map(|line| line.split('|').map(str::trim).collect())
            .collect();
        assert_eq!(rows.len(), INSTRUCTIONS.len(), "run: python isa/generate.py");
        for (number, (row, instruction)) in rows.iter().zip(&INSTRUCTIONS).enumerate() {
            assert_eq!(instruction.op as usize, number);
            assert_eq!(instruction.mnemonic, row[2], "run: python isa/generate.py");
            assert_eq!(u8::from_str_radix(row[1], 16), Ok(instruction.opcode));
            assert_eq!(instruction.terminator, row[3] == "T");
            let set = match instruction.set {
                OpSet::Core => "core",
                OpSet::ExtF32 => "ext_f32",
                OpSet::ExtF64 => "ext_f64",
            };
            assert_eq!(set, row[0]);
            let names: Vec<&str> =
                row[4].split_whitespace().map(|o| o.trim_start_matches('>').split(':').next().unwrap()).collect();
            assert_eq!(names, instruction.operands.iter().map(|o| o.name).collect::<Vec<_>>());
        }
        assert!(text.contains(&format!("\nversion {VERSION_MAJOR}.{VERSION_MINOR}\n")));
    }

    #[test]
    fn feature_names() {
        assert_eq!(features::names(0), "");
        assert_eq!(features::names(5), "EXT_F32|YIELD");
        assert_eq!(features::names(0x11), "EXT_F32|0x10");
    }
}
