//! Sets of registers at the start of each block, found by visiting blocks until nothing changes.

use super::work::of_sets;
use super::{Flow, bits};
use crate::bytecode::flow::bits::Bits;
use crate::isa::{Decoded, Op, reg};
use crate::status::Result;

/// Most words of bit sets; beyond, nothing is analysed.
const MAX_WORDS: usize = 1 << 17;
/// How often blocks are visited on average, at most; beyond, nothing is analysed. Loops are visited once more for each
/// loop around them.
const VISITS: usize = 8;
/// Work that is allowed in any case.
const FREE: usize = 1 << 14;

/// Work that is left for finding the sets of all blocks.
struct Allowance(usize);

impl Allowance {
    fn new(flow: &Flow<'_>, words: usize) -> Allowance {
        let once = flow.code.len() + of_sets(flow.blocks.len() + flow.links.len(), words);
        Allowance(once.saturating_mul(VISITS).saturating_add(FREE))
    }

    /// Takes what visiting a block is; false when it is more than is left.
    fn take(&mut self, flow: &Flow<'_>, block: usize, words: usize) -> Result<bool> {
        let work = flow.visit_work(block, words);
        flow.meter.spend(work)?;
        let left = self.0.checked_sub(work);
        self.0 = left.unwrap_or_default();
        Ok(left.is_some())
    }
}

impl Flow<'_> {
    /// Bytes of the instructions of a block.
    pub(super) fn bytes_of(&self, block: usize) -> usize {
        let block = self.blocks[block];
        let end = self.pcs.get(block.end).map_or(self.code.len(), |pc| *pc as usize);
        end - self.pcs[block.first] as usize
    }

    /// What visiting a block is, with sets of `words` words.
    pub(super) fn visit_work(&self, block: usize, words: usize) -> usize {
        self.bytes_of(block) + of_sets(1 + self.links.of(block).len(), words)
    }

    /// Cells live at the start of each block.
    pub(super) fn liveness(&self) -> Result<Option<Bits>> {
        let Some(mut live) = Bits::new(self.blocks.len(), self.function.cells, MAX_WORDS) else { return Ok(None) };
        let mut row = live.scratch();
        let mut allowance = Allowance::new(self, row.len());
        let mut queue = self.order.backwards();
        while let Some(number) = queue.pop() {
            if !allowance.take(self, number, row.len())? {
                return Ok(None);
            }
            row.fill(0);
            let block = self.blocks[number];
            for index in (block.first..block.end).rev() {
                self.step_back(index, &self.at(index), &live, &mut row);
            }
            if live.replace(number, &row) {
                self.order.before(number).iter().for_each(|before| queue.add(*before as usize));
            }
        }
        Ok(Some(live))
    }

    /// From what is live behind an instruction to what is live before it.
    pub(super) fn step_back(&self, index: usize, decoded: &Decoded<'_>, live: &Bits, row: &mut [u64]) {
        for (to, pairs) in self.edges(decoded) {
            if pairs.is_empty() {
                bits::add(row, live.row(to));
                continue;
            }
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

    /// References that may be held at the start of each block.
    pub(super) fn holding(&self) -> Result<Option<Bits>> {
        if self.function.refs == 0 {
            return Ok(None);
        }
        let Some(mut held) = Bits::new(self.blocks.len(), self.function.refs, MAX_WORDS) else { return Ok(None) };
        let mut row = held.scratch();
        (0..self.function.ref_args).for_each(|ordinal| bits::set(&mut row, ordinal));
        held.replace(0, &row);
        let mut reached = vec![false; self.blocks.len()];
        reached[0] = true;
        let mut allowance = Allowance::new(self, row.len());
        let mut queue = self.order.forwards();
        while let Some(number) = queue.pop() {
            if !reached[number] {
                continue;
            }
            if !allowance.take(self, number, row.len())? {
                return Ok(None);
            }
            row.copy_from_slice(held.row(number));
            let block = self.blocks[number];
            for index in block.first..block.end {
                let decoded = self.at(index);
                self.hold(&decoded, &mut row);
                for (to, pairs) in self.edges(&decoded) {
                    let changed = if pairs.is_empty() {
                        held.join(to, &row)
                    } else {
                        let mut edge = row.clone();
                        pairs.iter().filter(|(source, _)| reg::is_ref(*source)).for_each(|(source, target)| {
                            assign(&mut edge, source, target);
                        });
                        held.join(to, &edge)
                    };
                    if changed | !std::mem::replace(&mut reached[to], true) {
                        queue.add(to);
                    }
                }
            }
        }
        Ok(Some(held))
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

    /// References that may be held before the Return at `index`, the last instruction of block `block`; None when they are
    /// not known, or more than `most`.
    pub(in crate::bytecode) fn held_at(&self, block: usize, index: usize, most: usize) -> Result<Option<Vec<usize>>> {
        let Some(held) = &self.held else {
            let refs = self.function.refs;
            return Ok((refs <= most).then(|| (0..refs).collect()));
        };
        let mut row = held.row(block).to_vec();
        self.meter.spend(self.visit_work(block, row.len()))?;
        for i in self.blocks[block].first..index {
            self.hold(&self.at(i), &mut row);
        }
        Ok((bits::count(&row) <= most).then(|| bits::members(&row).collect()))
    }
}

/// What a pair of a branch does to the references that may be held.
fn assign(edge: &mut [u64], source: u16, target: u16) {
    let (moved, source, target) = (reg::is_move(source), reg::ref_ordinal(source), reg::ref_ordinal(target));
    let was = bits::has(edge, source);
    if moved {
        bits::take(edge, source);
    }
    bits::assign(edge, target, was);
}
