//! What is known of a function's registers at every point: the facts that its translation builds on.
//!
//! - Which results nobody reads, so that they need not be computed, and comparisons can become branches.
//! - Which registers may be read before they are written: only these are set to zero when a frame is made.
//! - Which references may be left when the function returns: these are released, whether the code says so or not.
//! - Which arguments are moved or replaced: only for these a frame needs counts of its own.
//! - Which operands are constants.
//!
//! Code that keeps the rules of the instruction set needs nothing of the second and third; code that does not is as safe.
//! Functions that are too much work for the analysis are treated as if everything were possible. All else is done a fixed
//! number of times for each instruction, and counted; see `work`.

mod access;
mod bits;
mod constants;
mod order;
mod sets;
mod work;

use std::collections::HashMap;

use access::targets;
use bits::Bits;
pub(super) use constants::Fold;
use order::{Links, Order};
pub(super) use work::{Look, Meter};

use super::verify::cost;
use super::{BytecodeModule, Function};
use crate::cconv::Kind;
use crate::isa::{self, Decoded, Op, Pairs, reg};
use crate::status::Result;

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
    /// Counts what all this takes.
    pub meter: &'a Meter<'a>,
    code: &'a [u8],
    pcs: Vec<u32>,
    decoded: Vec<Decoded<'a>>,
    /// Whether a branch leads backwards.
    loops: bool,
    /// What the instructions before each cost together.
    costs: Vec<u32>,
    pub blocks: Vec<Block>,
    /// Where blocks lead.
    links: Links,
    order: Order,
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
    /// Analyses a verified function. Fails only where `meter` does.
    pub fn new(module: &'a BytecodeModule, function: &'a Function, meter: &'a Meter<'a>) -> Result<Flow<'a>> {
        let code = module.bytecode_of(function.ordinal);
        let mut flow = Flow {
            module,
            function,
            meter,
            code,
            pcs: Vec::new(),
            decoded: Vec::new(),
            loops: false,
            costs: vec![0],
            blocks: Vec::new(),
            links: Links::default(),
            order: Order::new(0, &Links::default(), false),
            facts: Vec::new(),
            folds: HashMap::new(),
            live: None,
            held: None,
            consumed: 0,
        };
        flow.take_apart()?;
        flow.order = Order::new(flow.blocks.len(), &flow.links, flow.loops);
        flow.facts = vec![Fact::default(); flow.pcs.len()];
        flow.consumed = flow.consumed_arguments()?;
        flow.live = flow.liveness()?;
        flow.held = flow.holding()?;
        flow.fuse_comparisons()?;
        flow.folds = constants::find(&flow)?;
        if !flow.folds.is_empty() {
            flow.live = flow.liveness()?;
        }
        flow.find_dead()?;
        Ok(flow)
    }

    fn take_apart(&mut self) -> Result<()> {
        let mut pc = 0;
        let mut links = Links::default();
        while pc < self.code.len() {
            // The function is verified, so decoding does not fail.
            let Ok(decoded) = isa::decode(self.code, pc) else { break };
            self.meter.spend(decoded.next - pc)?;
            if decoded.row.op == Op::Block {
                links.begin();
                self.blocks.push(Block { first: self.pcs.len(), end: 0 });
            }
            self.pcs.push(pc as u32);
            if self.decoded.len() < MAX_DECODED {
                self.decoded.push(decoded);
            }
            if decoded.row.terminator {
                for (to, _) in targets(&decoded) {
                    links.push(to);
                    self.loops |= to <= pc as u32;
                }
            }
            self.costs.push(self.costs.last().map_or(0, |before| before.saturating_add(cost(&decoded))));
            if let Some(block) = self.blocks.last_mut() {
                block.end = self.pcs.len();
            }
            pc = decoded.next;
        }
        links.end(|pc| self.block_at(pc));
        self.links = links;
        Ok(())
    }

    /// Counts looking at instruction `index`.
    fn spend_on(&self, decoded: &Decoded<'_>) -> Result<()> {
        self.meter.spend(decoded.next - decoded.pc)
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
        self.blocks.binary_search_by_key(&pc, |block| self.pcs[block.first]).ok()
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

    /// Whether the value of one of the targets of `assigned` may be read after an edge with `pairs` to block `to`.
    pub fn any_is_live(&self, assigned: Pairs<'_>, pairs: Pairs<'_>, to: usize) -> bool {
        if assigned.len() * pairs.len() <= 256 {
            return assigned.iter().any(|(_, target)| self.is_live(target, pairs, to));
        }
        let Some(live) = &self.live else { return true };
        let (mut sources, mut targets): (Vec<u16>, Vec<u16>) = pairs.iter().unzip();
        sources.sort_unstable();
        targets.sort_unstable();
        assigned.iter().any(|(_, cell)| {
            sources.binary_search(&cell).is_ok() || live.has(to, cell.into()) && targets.binary_search(&cell).is_err()
        })
    }

    /// For each cell, whether it is an argument.
    fn given(&self) -> Vec<bool> {
        let mut given = vec![false; self.function.cells];
        for (register, kind) in super::verify::argument_registers(&self.kinds()) {
            if kind != Kind::Ref {
                given[usize::from(register)] = true;
                if kind.is_wide() {
                    given[usize::from(register) + 1] = true;
                }
            }
        }
        given
    }

    /// Cells that are no arguments and may be read before they are written, ascending.
    pub fn unassigned(&self) -> Vec<u16> {
        let given = self.given();
        (0..self.function.cells as u16)
            .filter(|cell| !given[usize::from(*cell)])
            .filter(|cell| self.live.as_ref().is_none_or(|live| live.has(0, (*cell).into())))
            .collect()
    }

    fn kinds(&self) -> Vec<Kind> {
        self.function.cconv.scalar_args().unwrap_or_default()
    }

    fn consumed_arguments(&self) -> Result<u64> {
        let mut consumed = 0;
        if self.function.ref_args == 0 {
            return Ok(consumed);
        }
        let mut note = |register: u16| {
            let ordinal = reg::ref_ordinal(register);
            if ordinal < self.function.ref_args.min(64) {
                consumed |= 1 << ordinal;
            }
        };
        for index in 0..self.pcs.len() {
            let decoded = self.at(index);
            self.spend_on(&decoded)?;
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
        Ok(consumed)
    }

    /// Marks comparisons whose result only the conditional branch behind them reads.
    fn fuse_comparisons(&mut self) -> Result<()> {
        for block in self.blocks.clone() {
            let Some(last) = block.end.checked_sub(1).filter(|last| *last > block.first + 1) else { continue };
            let (branch, compare) = (self.at(last), self.at(last - 1));
            self.spend_on(&branch)?;
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
        Ok(())
    }

    fn find_dead(&mut self) -> Result<()> {
        let Some(live) = self.live.take() else { return Ok(()) };
        let mut row = live.scratch();
        for (number, block) in self.blocks.clone().into_iter().enumerate() {
            self.meter.spend(self.visit_work(number, row.len()))?;
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
        Ok(())
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
