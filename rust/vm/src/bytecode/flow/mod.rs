//! What is known of a function's registers at every point: the facts that its translation builds on.
//!
//! - Which results nobody reads, so that they need not be computed, and comparisons can become branches.
//! - Which registers may be read before they are written: only these are set to zero when a frame is made.
//! - Which references may be left when the function returns: these are released, whether the code says so or not.
//! - Which arguments are moved or replaced: only for these a frame needs counts of its own.
//! - Which operands are constants.
//!
//! Code that keeps the rules of the instruction set needs nothing of the second and third; code that does not is as safe.
//! Functions too large for the analysis are treated as if everything were possible.

mod access;
mod bits;
mod constants;

use std::collections::HashMap;

use access::targets;
use bits::Bits;
pub(super) use constants::Fold;

use super::verify::cost;
use super::{BytecodeModule, Function};
use crate::cconv::Kind;
use crate::isa::{self, Decoded, Op, Pairs, reg};

/// Most words of bit sets; beyond, nothing is analysed.
const MAX_WORDS: usize = 1 << 17;
/// Most instructions that are kept decoded; beyond, they are decoded whenever they are looked at.
const MAX_DECODED: usize = 1 << 12;

/// A block: its marker, and the instruction behind its last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub first: usize,
    pub end: usize,
}

/// Facts about one instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fact {
    /// Nobody reads its results.
    pub dead: bool,
    /// Nobody reads its results behind the next instruction.
    pub dies: bool,
    /// A comparison that only the branch behind it reads.
    pub fused: bool,
}

/// A function taken apart.
pub(super) struct Flow<'a> {
    pub module: &'a BytecodeModule,
    pub function: &'a Function,
    code: &'a [u8],
    pcs: Vec<u32>,
    decoded: Vec<Decoded<'a>>,
    /// Whether a branch leads backwards.
    loops: bool,
    /// What the instructions before each cost together.
    costs: Vec<u32>,
    pub blocks: Vec<Block>,
    by_pc: HashMap<u32, usize>,
    pub facts: Vec<Fact>,
    folds: HashMap<usize, Fold>,
    /// Cells live at the start of each block; none when not analysed.
    live: Option<Bits>,
    /// References that may be held at the start of each block; none when not analysed.
    held: Option<Bits>,
    /// Bit n: argument n, a reference, is moved, replaced or returned.
    pub consumed: u64,
}

impl<'a> Flow<'a> {
    /// Analyses a verified function.
    pub fn new(module: &'a BytecodeModule, function: &'a Function) -> Flow<'a> {
        let code = module.bytecode_of(function.ordinal);
        let mut flow = Flow {
            module,
            function,
            code,
            pcs: Vec::new(),
            decoded: Vec::new(),
            loops: false,
            costs: vec![0],
            blocks: Vec::new(),
            by_pc: HashMap::new(),
            facts: Vec::new(),
            folds: HashMap::new(),
            live: None,
            held: None,
            consumed: 0,
        };
        flow.take_apart();
        flow.facts = vec![Fact::default(); flow.pcs.len()];
        flow.consumed = flow.consumed_arguments();
        flow.live = flow.liveness();
        flow.held = flow.holding();
        flow.fuse_comparisons();
        flow.folds = constants::find(&flow);
        if !flow.folds.is_empty() {
            flow.live = flow.liveness();
        }
        flow.find_dead();
        flow
    }

    fn take_apart(&mut self) {
        let mut pc = 0;
        while pc < self.code.len() {
            // The function is verified, so decoding does not fail.
            let Ok(decoded) = isa::decode(self.code, pc) else { break };
            if decoded.row.op == Op::Block {
                self.by_pc.insert(pc as u32, self.blocks.len());
                self.blocks.push(Block { first: self.pcs.len(), end: 0 });
            }
            self.pcs.push(pc as u32);
            if self.decoded.len() < MAX_DECODED {
                self.decoded.push(decoded);
            }
            self.loops |= decoded.row.terminator && targets(&decoded).iter().any(|(to, _)| *to <= pc as u32);
            self.costs.push(self.costs.last().map_or(0, |before| before.saturating_add(cost(&decoded))));
            if let Some(block) = self.blocks.last_mut() {
                block.end = self.pcs.len();
            }
            pc = decoded.next;
        }
    }

    /// Instruction `index`.
    pub fn at(&self, index: usize) -> Decoded<'a> {
        match self.decoded.get(index) {
            Some(decoded) => *decoded,
            // Decoded once before, so it can be decoded.
            None => isa::decode(self.code, self.pcs[index] as usize).unwrap_or_else(|_| unreachable!()),
        }
    }

    /// The block at `pc`; there is one at every target of a verified branch.
    pub fn block_at(&self, pc: u32) -> Option<usize> {
        self.by_pc.get(&pc).copied()
    }

    /// The constant operand of instruction `index`.
    pub fn fold(&self, index: usize) -> Option<Fold> {
        self.folds.get(&index).copied()
    }

    /// What the instructions before `index` cost.
    pub fn cost_before(&self, index: usize) -> u32 {
        self.costs[index]
    }

    /// What going from instruction `from` to block `to` costs: nothing forwards.
    pub fn branch_cost(&self, from: usize, to: usize) -> u32 {
        let first = self.blocks[to].first;
        if first <= from { self.costs[from + 1] - self.costs[first] } else { 0 }
    }

    /// Whether the value of `cell` may be read after an edge with `pairs` to block `to`.
    pub fn is_live(&self, cell: u16, pairs: Pairs<'_>, to: usize) -> bool {
        let Some(live) = &self.live else { return true };
        if pairs.iter().any(|(source, _)| source == cell) {
            return true;
        }
        live.has(to, cell.into()) && !pairs.iter().any(|(_, target)| target == cell)
    }

    /// Cells that are no arguments and may be read before they are written.
    pub fn unassigned(&self) -> Vec<u16> {
        let mut given = vec![false; self.function.cells];
        for (register, kind) in super::verify::argument_registers(&self.kinds()) {
            if kind != Kind::Ref {
                given[usize::from(register)] = true;
                if kind.is_wide() {
                    given[usize::from(register) + 1] = true;
                }
            }
        }
        (0..self.function.cells as u16)
            .filter(|cell| !given[usize::from(*cell)])
            .filter(|cell| self.live.as_ref().is_none_or(|live| live.has(0, (*cell).into())))
            .collect()
    }

    fn kinds(&self) -> Vec<Kind> {
        self.function.cconv.scalar_args().unwrap_or_default()
    }

    /// References that may be held before the Return at `index`, the last instruction of block `block`.
    pub fn held_at(&self, block: usize, index: usize) -> Vec<usize> {
        let Some(held) = &self.held else { return (0..self.function.refs).collect() };
        let mut row = held.row(block).to_vec();
        for i in self.blocks[block].first..index {
            self.hold(&self.at(i), &mut row);
        }
        (0..self.function.refs).filter(|ordinal| bits::has(&row, *ordinal)).collect()
    }

    fn consumed_arguments(&self) -> u64 {
        let mut consumed = 0;
        if self.function.ref_args == 0 {
            return consumed;
        }
        let mut note = |register: u16| {
            let ordinal = reg::ref_ordinal(register);
            if ordinal < self.function.ref_args.min(64) {
                consumed |= 1 << ordinal;
            }
        };
        for index in 0..self.pcs.len() {
            let decoded = self.at(index);
            self.accesses(&decoded, None, |access| {
                let gone = access.write || reg::is_move(access.register) || decoded.row.op == Op::Return;
                if reg::is_ref(access.register) && gone && !access.discard {
                    note(access.register);
                }
            });
            for (_, pairs) in self.edges(&decoded) {
                for (source, target) in pairs.iter().filter(|(source, _)| reg::is_ref(*source)) {
                    note(target);
                    if reg::is_move(source) {
                        note(source);
                    }
                }
            }
        }
        consumed
    }

    /// Cells live at the start of each block, by going backwards until nothing changes.
    fn liveness(&self) -> Option<Bits> {
        let mut live = Bits::new(self.blocks.len(), self.function.cells, MAX_WORDS)?;
        let mut row = live.scratch();
        loop {
            let mut changed = false;
            for (number, block) in self.blocks.iter().enumerate().rev() {
                row.fill(0);
                for index in (block.first..block.end).rev() {
                    let decoded = self.at(index);
                    self.step_back(index, &decoded, &live, &mut row);
                }
                changed |= live.replace(number, &row);
            }
            if !changed || !self.loops {
                return Some(live);
            }
        }
    }

    /// From what is live behind an instruction to what is live before it.
    fn step_back(&self, index: usize, decoded: &Decoded<'_>, live: &Bits, row: &mut [u64]) {
        for (to, pairs) in self.edges(decoded) {
            let mut edge = live.row(to).to_vec();
            let pairs: Vec<_> = pairs.iter().filter(|(source, _)| !reg::is_ref(*source)).collect();
            for (source, target) in pairs.into_iter().rev() {
                if bits::take(&mut edge, target.into()) {
                    bits::set(&mut edge, source.into());
                }
            }
            bits::add(row, &edge);
        }
        self.accesses(decoded, self.fold(index), |access| {
            if access.write {
                access.cells(|cell| _ = bits::take(row, cell));
            }
        });
        self.accesses(decoded, self.fold(index), |access| {
            if !access.write {
                access.cells(|cell| bits::set(row, cell));
            }
        });
    }

    /// References that may be held at the start of each block, by going forwards until nothing changes.
    fn holding(&self) -> Option<Bits> {
        if self.function.refs == 0 {
            return None;
        }
        let mut held = Bits::new(self.blocks.len(), self.function.refs, MAX_WORDS)?;
        let mut row = held.scratch();
        (0..self.function.ref_args).for_each(|ordinal| bits::set(&mut row, ordinal));
        held.replace(0, &row);
        let mut reached = vec![false; self.blocks.len()];
        reached[0] = true;
        loop {
            let mut changed = false;
            for (number, block) in self.blocks.iter().enumerate() {
                if !reached[number] {
                    continue;
                }
                let mut row = held.row(number).to_vec();
                for index in block.first..block.end {
                    let decoded = self.at(index);
                    self.hold(&decoded, &mut row);
                    for (to, pairs) in self.edges(&decoded) {
                        let mut edge = row.clone();
                        for (source, target) in pairs.iter().filter(|(source, _)| reg::is_ref(*source)) {
                            let (source, target, moved) =
                                (reg::ref_ordinal(source), reg::ref_ordinal(target), reg::is_move(source));
                            let was = bits::has(&edge, source);
                            if moved {
                                bits::take(&mut edge, source);
                            }
                            bits::assign(&mut edge, target, was);
                        }
                        changed |= held.join(to, &edge) | !std::mem::replace(&mut reached[to], true);
                    }
                }
            }
            if !changed || !self.loops {
                return Some(held);
            }
        }
    }

    /// What an instruction does to the references that may be held.
    fn hold(&self, decoded: &Decoded<'_>, row: &mut [u64]) {
        self.accesses(decoded, None, |access| {
            if reg::is_ref(access.register) {
                let ordinal = reg::ref_ordinal(access.register);
                if access.write {
                    bits::assign(row, ordinal, decoded.row.op != Op::ConstRefZero);
                } else if access.discard || reg::is_move(access.register) {
                    bits::take(row, ordinal);
                }
            }
        });
    }

    /// Marks comparisons whose result only the conditional branch behind them reads.
    fn fuse_comparisons(&mut self) {
        for block in self.blocks.clone() {
            let Some(last) = block.end.checked_sub(1).filter(|last| *last > block.first + 1) else { continue };
            let (branch, compare) = (self.at(last), self.at(last - 1));
            let result = match compare.row.op {
                Op::CmpNzI32 | Op::CmpNzI64 => compare.args.reg(1),
                op if is_comparison(op) => compare.args.reg(2),
                _ => continue,
            };
            let edges = self.edges(&branch);
            self.facts[last - 1].fused = branch.row.op == Op::CondBr
                && branch.args.reg(0) == result
                && edges.into_iter().all(|(to, pairs)| !self.is_live(result, pairs, to));
        }
    }

    fn find_dead(&mut self) {
        let Some(live) = self.live.take() else { return };
        let mut row = live.scratch();
        for block in self.blocks.clone() {
            row.fill(0);
            for index in (block.first..block.end).rev() {
                let decoded = self.at(index);
                if decoded.row.terminator {
                    self.step_back(index, &decoded, &live, &mut row);
                    continue;
                }
                self.facts[index].dead = self.writes_only_dead(&decoded, &row);
                if index > block.first {
                    self.facts[index - 1].dies = self.writes_only_dead(&self.at(index - 1), &row);
                }
                self.step_back(index, &decoded, &live, &mut row);
            }
        }
        self.live = Some(live);
    }

    /// Whether everything that an instruction writes is a cell that is not live.
    fn writes_only_dead(&self, decoded: &Decoded<'_>, live: &[u64]) -> bool {
        let (mut writes, mut dead) = (false, true);
        self.accesses(decoded, None, |access| {
            if access.write {
                writes = true;
                dead &= !reg::is_ref(access.register);
                access.cells(|cell| dead &= !bits::has(live, cell));
            }
        });
        writes && dead
    }
}

/// Comparisons of two integers, which can become branches.
pub(super) fn is_comparison(op: Op) -> bool {
    use Op::*;
    matches!(op, CmpEqI32 | CmpNeI32 | CmpLtI32S | CmpLtI32U | CmpEqI64 | CmpNeI64 | CmpLtI64S | CmpLtI64U)
}
