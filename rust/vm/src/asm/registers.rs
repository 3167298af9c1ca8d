//! How many registers a function has.
//!
//! The text does not say it. As with iree-as-module it is the highest register that is mentioned, where a register of a
//! list counts as one cell unless it is written as a pair. That can be too little (arguments that are not used, 64-bit
//! values written as one register, as in disassembly): then it is what the verifier needs.

use crate::bytecode::{argument_registers, flatten};
use crate::cconv::{CallingConvention, Kind};
use crate::isa::{self, Arg, Op, OperandKind as K, Regs, reg};
use crate::status::Result;

/// i32 cells and references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub cells: u32,
    pub refs: u32,
}

impl Counts {
    fn add(&mut self, register: u16, width: u32) {
        if reg::is_ref(register) {
            self.refs = self.refs.max(reg::ref_ordinal(register) as u32 + 1);
        } else {
            self.cells = self.cells.max(u32::from(register) + width);
        }
    }

    fn add_kinds(&mut self, kinds: &[Kind], registers: Regs<'_>) {
        for (kind, register) in kinds.iter().zip(registers.iter()) {
            self.add(register, if kind.is_wide() { 2 } else { 1 });
        }
    }
}

/// What a function with this code and calling convention gets. `pair_cells` are the cells that its text mentions as
/// pairs in lists; `cconv_of` knows the calling conventions of callees.
pub fn counts(
    code: &[u8],
    cconv: &CallingConvention,
    pair_cells: u32,
    cconv_of: impl Fn(u32) -> CallingConvention,
) -> Result<Counts> {
    let (mut mentioned, mut needed) = (Counts::default(), Counts::default());
    mentioned.cells = pair_cells;
    for (register, kind) in argument_registers(&cconv.scalar_args().unwrap_or_default()) {
        needed.add(register, if kind.is_wide() { 2 } else { 1 });
    }
    let mut pc = 0;
    while pc < code.len() {
        let decoded = isa::decode(code, pc)?;
        for (operand, arg) in decoded.row.operands.iter().zip(decoded.args.iter()) {
            mention(&mut mentioned, operand.kind, arg);
        }
        let args = &decoded.args;
        let call = match decoded.row.op {
            Op::Call => Some((None, args.regs(1), args.regs(2))),
            Op::CallVariadic => Some((Some(args.regs(1)), args.regs(2), args.regs(3))),
            Op::CallYieldable => Some((None, args.regs(1), args.regs(3))),
            Op::CallVariadicYieldable => Some((Some(args.regs(1)), args.regs(2), args.regs(4))),
            _ => None,
        };
        if let Some((segments, operands, results)) = call {
            let callee = cconv_of(args.ordinal(0));
            needed.add_kinds(&flatten(&callee, segments).unwrap_or_default(), operands);
            needed.add_kinds(&callee.results, results);
        }
        match (decoded.row.op, args.regs(0)) {
            (Op::Return, list) => needed.add_kinds(&cconv.results, list),
            (Op::SwitchI64 | Op::SwitchF64, _) => args.regs(2).iter().for_each(|register| needed.add(register, 2)),
            _ => {}
        }
        pc = decoded.next;
    }
    // The verifier rounds up, so a count that is too low may do.
    let fits = |have: u32, need: u32| have.max(1).next_power_of_two() >= need;
    Ok(Counts {
        cells: if fits(mentioned.cells, needed.cells) { mentioned.cells } else { needed.cells },
        refs: if fits(mentioned.refs, needed.refs) { mentioned.refs } else { needed.refs },
    })
}

fn mention(counts: &mut Counts, kind: K, arg: Arg<'_>) {
    match (kind, arg) {
        (K::I64 | K::F64, Arg::Reg(register)) => counts.add(register, 2),
        (_, Arg::Reg(register)) => counts.add(register, 1),
        (K::Segments, _) => {}
        (_, Arg::Regs(list)) => list.iter().for_each(|register| counts.add(register, 1)),
        (_, Arg::Pairs(pairs)) => pairs.iter().for_each(|(source, target)| {
            counts.add(source, 1);
            counts.add(target, 1);
        }),
        (_, Arg::Cases(cases)) => cases.iter().for_each(|(_, pairs)| mention(counts, K::Remap, Arg::Pairs(pairs))),
        _ => {}
    }
}
