//! Branches: which way falls through, and what is assigned on each.

use super::super::code::{CHUNK, Inst, X};
use super::Translator;
use crate::isa::{Decoded, Op, Pairs, reg};

/// Where a distance is to be written.
#[derive(Clone, Copy)]
pub(super) struct Fixup {
    /// The word that the distance counts from.
    from: usize,
    /// The word that holds it.
    at: usize,
    block: usize,
}

/// An edge with moves, which a branch reaches by way of code of its own.
pub(super) struct Stub {
    pc: u32,
    moves: Vec<(u16, u16)>,
    from: usize,
    at: usize,
    target: Target,
}

/// Where an edge leads, and what taking it costs.
#[derive(Clone, Copy)]
pub(super) struct Target {
    block: usize,
    cost: u32,
}

/// One edge of a branch.
pub(super) struct Edge<'a> {
    pairs: Pairs<'a>,
    target: Target,
}

/// A condition about to become a branch.
pub(super) struct Condition {
    /// The operation that branches when it holds, and the one when it does not.
    pub ops: (X, X),
    pub operands: [u16; 3],
    /// The operand in the second word.
    pub other: u16,
    /// Cells that it reads and writes: moves before it must not touch them.
    pub reads: Vec<u16>,
    pub writes: Vec<u16>,
}

impl Translator<'_> {
    fn target(&self, from: usize, block: usize, extra: u32) -> Target {
        Target { block, cost: (self.flow.branch_cost(from, block) + extra).min(CHUNK) }
    }

    pub(super) fn edges<'a>(&self, index: usize, decoded: &Decoded<'a>, extra: u32) -> Vec<Edge<'a>> {
        let edges = self.flow.edges(decoded).into_iter();
        edges.map(|(block, pairs)| Edge { pairs, target: self.target(index, block, extra) }).collect()
    }

    /// Emits the branches among the terminators. `number` is the block that they end.
    pub(super) fn branch(&mut self, number: usize, index: usize, decoded: &Decoded<'_>) {
        let mut edges = self.edges(index, decoded, 0);
        match decoded.row.op {
            Op::CondBr => {
                let condition = self.nonzero(decoded.args.reg(0));
                self.conditional(condition, edges, Some(number + 1), decoded.pc);
            }
            Op::BrTable => self.table(decoded, edges),
            op => {
                let Some(edge) = edges.pop() else { return };
                if op == Op::Yield {
                    self.moves(&edge.pairs.iter().collect::<Vec<_>>());
                    self.push(Inst::new(X::Yield, 0, 0, 0));
                    self.br(edge.target, Some(number + 1));
                } else {
                    self.jump(number, edge);
                }
            }
        }
    }

    /// An unconditional branch. When it leads to a short block that decides where to go on, that is done here.
    fn jump(&mut self, number: usize, edge: Edge<'_>) {
        let to = edge.target.block;
        if to != number + 1 && self.ends_at_once(to) {
            self.moves(&edge.pairs.iter().collect::<Vec<_>>());
            self.tail(to, edge.target.cost);
        } else {
            self.go(&edge.pairs.iter().collect::<Vec<_>>(), edge.target, Some(number + 1));
        }
    }

    /// A branch that is always taken, to what it leads to directly.
    pub(super) fn br_to(&mut self, index: usize, block: usize, number: usize) {
        self.br(self.target(index, block, 0), Some(number + 1));
    }

    fn br(&mut self, target: Target, next: Option<usize>) {
        // What comes next anyway needs no branch.
        if next != Some(target.block) || target.cost > 0 {
            let word = self.word();
            self.fixups.push(Fixup { from: word, at: word, block: target.block });
            self.push(Inst::new(X::Br, target.cost as u16, 0, 0));
        }
    }

    /// Moves and a branch; the last move and the branch are one.
    fn go(&mut self, pairs: &[(u16, u16)], target: Target, next: Option<usize>) {
        let first = self.word();
        // All that this emits is operations of one word.
        self.moves(pairs);
        let fused = self.insts[first..].last().and_then(|last| match last.op {
            op if op == X::Move32 as u16 => Some((X::MoveBr32, *last)),
            op if op == X::Move64 as u16 => Some((X::MoveBr64, *last)),
            _ => None,
        });
        match fused {
            Some((x, last)) if next != Some(target.block) || target.cost > 0 => {
                let word = self.word() - 1;
                self.insts[word] = Inst::new(x, last.a, last.b, target.cost as u16);
                self.fixups.push(Fixup { from: word, at: word + 1, block: target.block });
                self.push(Inst::data(0, 0, 0));
            }
            _ => self.br(target, next),
        }
    }

    /// Moves in order; two halves of a 64-bit value that follow each other become one move.
    pub(super) fn moves(&mut self, pairs: &[(u16, u16)]) {
        let mut i = 0;
        while let Some(&(source, target)) = pairs.get(i) {
            i += 1;
            if reg::is_ref(source) {
                self.push(Inst::new(X::AssignRef, self.source(source), self.operand(target), 0));
            } else if source.is_multiple_of(2)
                && target.is_multiple_of(2)
                && pairs.get(i) == Some(&(source + 1, target + 1))
            {
                i += 1;
                self.push(Inst::new(X::Move64, source, target, 0));
            } else {
                self.push(Inst::new(X::Move32, source, target, 0));
            }
        }
    }

    /// Whether moves of one edge can be made before the condition is looked at: nobody misses what they overwrite.
    fn can_hoist(&self, edge: &Edge<'_>, other: &Edge<'_>, condition: &Condition) -> bool {
        edge.pairs.iter().all(|(source, target)| {
            !reg::is_ref(source)
                && !condition.reads.contains(&target)
                && !condition.writes.contains(&target)
                && !condition.writes.contains(&source)
        }) && !self.flow.any_is_live(edge.pairs, other.pairs, other.target.block)
    }

    /// A conditional branch; `edges` are where it goes when the condition holds and when it does not.
    pub(super) fn conditional(&mut self, condition: Condition, edges: Vec<Edge<'_>>, next: Option<usize>, pc: usize) {
        let Ok([mut yes, mut no]) = <[Edge<'_>; 2]>::try_from(edges) else { return };
        if !yes.pairs.is_empty() && self.can_hoist(&yes, &no, &condition) {
            self.moves(&yes.pairs.iter().collect::<Vec<_>>());
            yes.pairs = Pairs::default();
        } else if !no.pairs.is_empty() && self.can_hoist(&no, &yes, &condition) {
            self.moves(&no.pairs.iter().collect::<Vec<_>>());
            no.pairs = Pairs::default();
        }
        let falls = |edge: &Edge<'_>| edge.pairs.is_empty() && next == Some(edge.target.block) && edge.target.cost == 0;
        // Taken is the edge that needs no moves, so that those of the other can follow, or the one that does not follow
        // anyway. Moves on the way back into a loop follow in any case.
        let turned = match (yes.pairs.is_empty(), no.pairs.is_empty()) {
            (true, true) => falls(&yes) && !falls(&no),
            (false, true) => yes.target.cost > 0 || !falls(&no),
            _ => false,
        };
        let (op, taken, other) = if turned { (condition.ops.1, no, yes) } else { (condition.ops.0, yes, no) };
        let [a, b, c] = condition.operands;
        let word = self.word();
        self.push(Inst::new(op, a, b, c));
        let direct = taken.pairs.is_empty();
        self.push(Inst::data(condition.other, if direct { taken.target.cost as u16 } else { 0 }, 0));
        self.arrive(taken, word, word + 1, pc);
        self.go(&other.pairs.iter().collect::<Vec<_>>(), other.target, next);
    }

    /// Notes where the distance at word `at` leads, counted from word `from`.
    fn arrive(&mut self, edge: Edge<'_>, from: usize, at: usize, pc: usize) {
        if edge.pairs.is_empty() {
            self.fixups.push(Fixup { from, at, block: edge.target.block });
        } else {
            self.stubs.push(Stub { pc: pc as u32, moves: edge.pairs.iter().collect(), from, at, target: edge.target });
        }
    }

    fn table(&mut self, decoded: &Decoded<'_>, edges: Vec<Edge<'_>>) {
        let word = self.word();
        self.push(Inst::wide(X::BrTable, decoded.args.reg(0), edges.len() as u32 - 1));
        for edge in edges {
            let cost = if edge.pairs.is_empty() { edge.target.cost } else { 0 };
            let at = self.word();
            self.push(Inst::data(0, cost as u16, 0));
            self.arrive(edge, word, at, decoded.pc);
        }
    }

    /// Emits the stubs and writes all distances.
    pub(super) fn finish_branches(&mut self) {
        for stub in std::mem::take(&mut self.stubs) {
            let start = self.word();
            self.mark(stub.pc as usize);
            self.write(stub.from, stub.at, start);
            self.go(&stub.moves, stub.target, None);
        }
        for fixup in std::mem::take(&mut self.fixups) {
            self.write(fixup.from, fixup.at, self.starts[fixup.block] as usize);
        }
    }

    fn write(&mut self, from: usize, at: usize, to: usize) {
        let distance = (to as i64 - from as i64) as i32 as u32;
        let inst = &mut self.insts[at];
        (inst.b, inst.c) = (distance as u16, (distance >> 16) as u16);
    }
}
