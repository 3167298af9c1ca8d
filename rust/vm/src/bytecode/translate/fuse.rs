//! Instructions that become one.

use super::super::code::{Inst, X};
use super::Translator;
use super::branches::Condition;
use crate::isa::{Decoded, Op};
use crate::status::Result;

impl Translator<'_> {
    /// Emits instruction `index` of block `number`, which ends at `end`, perhaps with the ones behind it; the first that
    /// was not emitted.
    pub(super) fn instruction(&mut self, number: usize, index: usize, end: usize) -> Result<usize> {
        let decoded = self.flow.at(index);
        self.flow.meter.spend(decoded.next - decoded.pc)?;
        self.mark(decoded.pc);
        if self.flow.facts[index].dead && is_pure(&decoded) {
            return Ok(index + 1);
        }
        if let Some(next) = self.sum_and_branch(number, index, end, &decoded) {
            return Ok(next);
        }
        if self.flow.facts[index].fused {
            self.compare_and_branch(index, &decoded, Some(number + 1), 0);
            return Ok(index + 2);
        }
        if index + 1 < end && self.product_and_sum(index, &decoded) {
            return Ok(index + 2);
        }
        self.single(number, index, &decoded)?;
        Ok(index + 1)
    }

    /// Whether a block does nothing but decide where to go on, so that it may as well be emitted again.
    pub(super) fn ends_at_once(&mut self, number: usize) -> bool {
        let block = self.flow.blocks[number];
        if block.end - block.first > 3 {
            return false;
        }
        let last = self.flow.at(block.end - 1);
        let ends =
            last.row.op == Op::CondBr && (block.end - block.first == 2 || self.flow.facts[block.first + 1].fused);
        ends && self.may_repeat(size_of::<Inst>() * (last.args.pairs(2).len() + last.args.pairs(4).len()))
    }

    /// Emits such a block again, at the end of another; `extra` is what coming here costs.
    pub(super) fn tail(&mut self, number: usize, extra: u32) {
        let block = self.flow.blocks[number];
        let decoded = self.flow.at(block.first + 1);
        self.mark(decoded.pc);
        if self.flow.facts[block.first + 1].fused {
            self.compare_and_branch(block.first + 1, &decoded, None, extra);
        } else {
            let condition = self.nonzero(decoded.args.reg(0));
            let edges = self.edges(block.first + 1, &decoded, extra);
            self.conditional(condition, edges, None, decoded.pc);
        }
    }

    /// The condition that a register is not zero.
    pub(super) fn nonzero(&self, cell: u16) -> Condition {
        Condition { ops: (X::BrNz, X::BrZ), operands: [cell, 0, 0], other: 0, reads: vec![cell], writes: Vec::new() }
    }

    fn compare_and_branch(&mut self, index: usize, compare: &Decoded<'_>, next: Option<usize>, extra: u32) {
        let args = &compare.args;
        let condition = match (compare.row.op, self.flow.fold(index)) {
            (Op::CmpNzI32, _) => self.nonzero(args.reg(0)),
            (Op::CmpNzI64, _) => Condition {
                ops: (X::BrNeI64Imm, X::BrEqI64Imm),
                operands: [args.reg(0), 0, 0],
                other: 0,
                reads: vec![args.reg(0), args.reg(0) + 1],
                writes: Vec::new(),
            },
            (op, fold) => {
                let right = fold.map_or(args.reg(1), |fold| fold.value as u16);
                // Too much for narrow registers and for constants does no harm.
                let reads = [args.reg(0), args.reg(1)].into_iter().flat_map(|cell| [cell, cell.saturating_add(1)]);
                Condition {
                    ops: comparison(op, fold.is_some()),
                    operands: [args.reg(0), right, 0],
                    other: 0,
                    reads: reads.collect(),
                    writes: Vec::new(),
                }
            }
        };
        let branch = self.flow.at(index + 1);
        let edges = self.edges(index + 1, &branch, extra);
        self.conditional(condition, edges, next, branch.pc);
    }

    /// An addition, a comparison of the sum, and the branch that the comparison decides.
    fn sum_and_branch(&mut self, number: usize, index: usize, end: usize, add: &Decoded<'_>) -> Option<usize> {
        if index + 3 != end || !self.flow.facts[index + 1].fused || self.flow.fold(index + 1).is_some() {
            return None;
        }
        let (compare, branch) = (self.flow.at(index + 1), self.flow.at(index + 2));
        let (sum, bound) = (add.args.reg(2), compare.args.reg(1));
        let constant = self.flow.fold(index);
        let ops = match (add.row.op, compare.row.op, constant) {
            (Op::AddI32, Op::CmpLtI32S, None) => (X::AddBrLtI32, X::AddBrGeI32),
            (Op::AddI32, Op::CmpLtI32S, _) => (X::AddBrLtI32Imm, X::AddBrGeI32Imm),
            (Op::AddI64, Op::CmpLtI64S, None) => (X::AddBrLtI64, X::AddBrGeI64),
            (Op::AddI64, Op::CmpLtI64S, _) => (X::AddBrLtI64Imm, X::AddBrGeI64Imm),
            _ => return None,
        };
        if compare.args.reg(0) != sum {
            return None;
        }
        let (left, right) = self.operands(index, add);
        let both = |cell: u16| [cell, cell.saturating_add(1)];
        let condition = Condition {
            ops,
            operands: [left, right, sum],
            other: bound,
            reads: [add.args.reg(0), add.args.reg(1), bound].into_iter().flat_map(both).collect(),
            writes: both(sum).to_vec(),
        };
        let edges = self.edges(index + 2, &branch, 0);
        self.conditional(condition, edges, Some(number + 1), branch.pc);
        Some(index + 3)
    }

    /// A multiplication and the addition of its product, which nobody else reads.
    fn product_and_sum(&mut self, index: usize, multiply: &Decoded<'_>) -> bool {
        let add = self.flow.at(index + 1);
        let (x, either) = match (multiply.row.op, add.row.op) {
            (Op::MulI32, Op::AddI32) => (X::FmaI32, true),
            (Op::MulI64, Op::AddI64) => (X::FmaI64, true),
            // Which of two NaNs comes out depends on the order.
            (Op::MulF32, Op::AddF32) => (X::FmaF32, false),
            (Op::MulF64, Op::AddF64) => (X::FmaF64, false),
            _ => return false,
        };
        let (product, sum) = (multiply.args.reg(2), add.args.reg(2));
        let other = match (add.args.reg(0), add.args.reg(1)) {
            (left, right) if left == product && right != product => right,
            (left, right) if either && right == product && left != product => left,
            _ => return false,
        };
        let gone = sum == product || self.flow.facts[index].dies;
        let constants = self.flow.fold(index).is_some() || self.flow.fold(index + 1).is_some();
        // The sum may be what a comparison and a branch go on with.
        if !gone || constants || self.flow.facts.get(index + 2).is_some_and(|fact| fact.fused) {
            return false;
        }
        self.push(Inst::new(x, multiply.args.reg(0), multiply.args.reg(1), other));
        self.push(Inst { op: sum, a: 0, b: 0, c: 0 });
        true
    }

    /// Left and right operand of arithmetic; the constant, if there is one, is the right one.
    pub(super) fn operands(&self, index: usize, decoded: &Decoded<'_>) -> (u16, u16) {
        let (left, right) = (decoded.args.reg(0), decoded.args.reg(1));
        match self.flow.fold(index) {
            None => (left, right),
            Some(fold) if fold.operand == 0 => (right, fold.value as u16),
            Some(fold) => (left, fold.value as u16),
        }
    }
}

/// Branches for a comparison: when it holds, and when it does not.
fn comparison(op: Op, immediate: bool) -> (X, X) {
    match (op, immediate) {
        (Op::CmpEqI32, false) => (X::BrEqI32, X::BrNeI32),
        (Op::CmpNeI32, false) => (X::BrNeI32, X::BrEqI32),
        (Op::CmpLtI32S, false) => (X::BrLtI32S, X::BrGeI32S),
        (Op::CmpLtI32U, _) => (X::BrLtI32U, X::BrGeI32U),
        (Op::CmpEqI64, false) => (X::BrEqI64, X::BrNeI64),
        (Op::CmpNeI64, false) => (X::BrNeI64, X::BrEqI64),
        (Op::CmpLtI64S, false) => (X::BrLtI64S, X::BrGeI64S),
        (Op::CmpEqI32, true) => (X::BrEqI32Imm, X::BrNeI32Imm),
        (Op::CmpNeI32, true) => (X::BrNeI32Imm, X::BrEqI32Imm),
        (Op::CmpLtI32S, true) => (X::BrLtI32SImm, X::BrGeI32SImm),
        (Op::CmpEqI64, true) => (X::BrEqI64Imm, X::BrNeI64Imm),
        (Op::CmpNeI64, true) => (X::BrNeI64Imm, X::BrEqI64Imm),
        (Op::CmpLtI64S, true) => (X::BrLtI64SImm, X::BrGeI64SImm),
        _ => (X::BrLtI64U, X::BrGeI64U),
    }
}

/// Whether an instruction only computes, and always can.
fn is_pure(decoded: &Decoded<'_>) -> bool {
    use crate::isa::OperandKind as K;
    use Op::*;
    let fails = matches!(
        decoded.row.op,
        DivI32S
            | DivI32U
            | RemI32S
            | RemI32U
            | DivI64S
            | DivI64U
            | RemI64S
            | RemI64U
            | GlobalLoadIndirectI32
            | GlobalLoadIndirectI64
            | GlobalLoadIndirectF32
            | GlobalLoadIndirectF64
    );
    let numbers = decoded.row.operands.iter().all(|operand| {
        matches!(operand.kind, K::I32 | K::I64 | K::F32 | K::F64 | K::ImmI32 | K::ImmI64 | K::ImmF32 | K::ImmF64)
    });
    numbers && !fails && !decoded.row.terminator
}
