//! Which registers an instruction reads and writes, and where it may go.

use super::{Flow, Fold};
use crate::bytecode::verify::{IMPORT_BIT, flatten};
use crate::cconv::{CallingConvention, Kind};
use crate::isa::{Arg, Decoded, Op, OperandKind as K, Pairs, Regs, reg};

/// One register of an instruction.
#[derive(Clone, Copy, Debug)]
pub(in crate::bytecode) struct Access {
    pub register: u16,
    pub wide: bool,
    pub write: bool,
    /// The reference is released, not used.
    pub discard: bool,
}

impl Access {
    fn read(register: u16, wide: bool) -> Access {
        Access { register, wide, write: false, discard: false }
    }

    fn written(register: u16, wide: bool) -> Access {
        Access { register, wide, write: true, discard: false }
    }

    fn discarded(register: u16) -> Access {
        Access { register, wide: false, write: false, discard: true }
    }

    /// The cells of a number.
    pub fn cells(self, mut visit: impl FnMut(usize)) {
        if !reg::is_ref(self.register) {
            visit(self.register.into());
            if self.wide {
                visit(usize::from(self.register) + 1);
            }
        }
    }
}

impl Flow<'_> {
    /// The convention of a callee.
    pub(in crate::bytecode) fn convention(&self, callee: u32) -> &CallingConvention {
        let ordinal = (callee & !IMPORT_BIT) as usize;
        if callee & IMPORT_BIT != 0 {
            &self.module.imports[ordinal].cconv
        } else {
            &self.module.functions[ordinal].cconv
        }
    }

    /// Visits the registers of an instruction, remaps of branches excepted: what is read in order, then what is written.
    /// The operand that is a constant is left out.
    pub(in crate::bytecode) fn accesses(
        &self,
        decoded: &Decoded<'_>,
        fold: Option<Fold>,
        mut visit: impl FnMut(Access),
    ) {
        let args = &decoded.args;
        let mut call = |segments: Option<Regs<'_>>, operands: Regs<'_>, results: Regs<'_>| {
            let cconv = self.convention(args.ordinal(0));
            // Verified, so the segments fit.
            let kinds = flatten(cconv, segments).unwrap_or_default();
            scalars(&kinds, operands, |register, wide| visit(Access::read(register, wide)));
            scalars(&cconv.results, results, |register, wide| visit(Access::written(register, wide)));
        };
        match decoded.row.op {
            Op::Call => call(None, args.regs(1), args.regs(2)),
            Op::CallVariadic => call(Some(args.regs(1)), args.regs(2), args.regs(3)),
            Op::CallYieldable => call(None, args.regs(1), args.regs(3)),
            Op::CallVariadicYieldable => call(Some(args.regs(1)), args.regs(2), args.regs(4)),
            Op::Return => scalars(&self.function.cconv.results, args.regs(0), |register, wide| {
                visit(Access::read(register, wide));
            }),
            Op::DiscardRefs => args.regs(0).iter().for_each(|register| visit(Access::discarded(register))),
            // What is traced is not read; what is moved is gone.
            Op::Trace | Op::Print => {
                args.regs(1).iter().filter(|r| reg::is_move(*r)).for_each(|r| visit(Access::discarded(r)));
            }
            _ => {
                let skipped = fold.map(|fold| fold.operand);
                let operands = || decoded.row.operands.iter().zip(decoded.args.iter()).enumerate();
                for (index, (operand, arg)) in operands() {
                    if !operand.result && skipped != Some(index) {
                        registers(operand.kind, arg, |register, wide| visit(Access::read(register, wide)));
                    }
                }
                for (_, (operand, arg)) in operands() {
                    if operand.result {
                        registers(operand.kind, arg, |register, wide| visit(Access::written(register, wide)));
                    }
                }
            }
        }
    }
}

fn scalars(kinds: &[Kind], registers: Regs<'_>, mut visit: impl FnMut(u16, bool)) {
    for (kind, register) in kinds.iter().zip(registers.iter()) {
        visit(register, kind.is_wide());
    }
}

fn registers(kind: K, arg: Arg<'_>, mut visit: impl FnMut(u16, bool)) {
    match (kind, arg) {
        (K::I32 | K::F32 | K::Ref | K::RefMove, Arg::Reg(register)) => visit(register, false),
        (K::I64 | K::F64, Arg::Reg(register)) => visit(register, true),
        (K::ListI32 | K::ListF32 | K::ListRef, Arg::Regs(list)) => list.iter().for_each(|r| visit(r, false)),
        (K::ListI64 | K::ListF64, Arg::Regs(list)) => list.iter().for_each(|r| visit(r, true)),
        _ => {}
    }
}

/// Blocks that a terminator may go to, and what is assigned on the way.
impl Flow<'_> {
    pub(in crate::bytecode) fn edges<'a>(&self, decoded: &Decoded<'a>) -> Vec<(usize, Pairs<'a>)> {
        let targets = targets(decoded);
        targets.into_iter().filter_map(|(pc, pairs)| Some((self.block_at(pc)?, pairs))).collect()
    }
}

pub(super) fn targets<'a>(decoded: &Decoded<'a>) -> Vec<(u32, Pairs<'a>)> {
    let args = &decoded.args;
    let edge = |pc: usize, pairs: usize| (args.pc(pc), args.pairs(pairs));
    match decoded.row.op {
        Op::Br | Op::Break | Op::Yield => vec![edge(0, 1)],
        Op::CondBreak => vec![edge(1, 2)],
        Op::CondBr => vec![edge(1, 2), edge(3, 4)],
        Op::BrTable => std::iter::once(edge(1, 2)).chain(args.cases(4).iter()).collect(),
        Op::CallYieldable => vec![(args.pc(2), Pairs::default())],
        Op::CallVariadicYieldable => vec![(args.pc(3), Pairs::default())],
        // A failure with code 0 is none, and the next block follows.
        Op::Fail => vec![(decoded.next as u32, Pairs::default())],
        _ => Vec::new(),
    }
}
