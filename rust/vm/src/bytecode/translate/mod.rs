//! From verified bytecode to the executed form.
//!
//! Layout of the operations that are more than registers (word 0 is the operation itself; numbers in brackets are two
//! operands wide):
//!
//! | operation | words |
//! |---|---|
//! | Const32, GlobalLoad32.., ConstRefRodata, ImportResolved | `a` register, (number) |
//! | Const64 | `a` register; word 1: the bits |
//! | ZeroCells | `a` first, `b` count |
//! | AddI32Imm.. | operand, 16 bits, result |
//! | GlobalLoadRef, GlobalStoreRef | `a` register, (slot); word 1: `op` whether the global is moved from, (type) |
//! | Global..IndirectRef | registers `a`, `b`; word 1 as above |
//! | ListAlloc, CastAnyRef | registers `a`, `b`; word 1: (type) low |
//! | ListGetRef | registers `a`, `b`, `c` = result; word 1 as GlobalLoadRef |
//! | SelectRef | condition, true, false; word 1: `op` result, (type) |
//! | Switch32.. | index, default, result; word 1: (count), (type); then values, 4 a word |
//! | DiscardRefs | `a` = count; then registers, 4 a word |
//! | DiscardAll | `a` first reference, `b` count, `c` how many are kept; then the numbers of those, ascending, 4 a word |
//! | DiscardArg | register, number of the argument |
//! | OwnArgs | `a` = first reference; word 1: set of arguments |
//! | Br | `a` cost, (distance) |
//! | MoveBr32.. | source, target, cost; word 1: (distance) |
//! | BrEqI32.. | left, right; word 1: `a` cost, (distance) |
//! | AddBrLtI32.. | left, right, result; word 1: `op` what the result is compared with, `a` cost, (distance) |
//! | BrTable | `a` index, (count); then a word for the default and for each case: `a` cost, (distance) |
//! | Call, CallImport | see `interp::handlers::calls` and `interp::imports` |
//! | Return | `a` = count; then a word (kind, source) each |
//! | Return32.. | `a` source |
//! | Fail | `a` = status; word 1: message offset in the function's bytecode, length |
//! | Charge | `a` cost |
//!
//! Code is at most a fixed number of times as large as the bytecode. What is no part of an instruction but is repeated for it
//! (references that a return releases, short blocks at the end of others) has a [room](Translator::room) of its own.

mod branches;
mod calls;
mod fuse;
mod plain;
#[cfg(test)]
mod tests;

use super::code::{CHUNK, Code, Inst, MOVE, X};
use super::flow::{Flow, Look, Meter};
use super::{BytecodeModule, Function};
use crate::interp::slot_unit;
use crate::isa::reg;
use crate::status::Result;

use branches::{Fixup, Stub};

struct Translator<'a> {
    flow: Flow<'a>,
    module: &'a BytecodeModule,
    function: &'a Function,
    insts: Vec<Inst>,
    pcs: Vec<(u32, u32)>,
    /// Chunks of cost that the code so far is charged for.
    chunks: u32,
    /// Words where blocks start.
    starts: Vec<u32>,
    /// Distances still to be written.
    fixups: Vec<Fixup>,
    /// Branch edges with moves, emitted behind the code.
    stubs: Vec<Stub>,
    /// Bytes of code that may still be repeated.
    room: usize,
}

/// Bytes of repeated code for each byte of bytecode.
const ROOM: usize = 4;
/// Bytes that may be repeated in any case.
const FREE: usize = 16;

/// Translates function `ordinal` of a verified module. The error is that of `look`, which is asked now and then.
pub(super) fn translate(module: &BytecodeModule, ordinal: usize, look: Look<'_>) -> Result<Code> {
    metered(module, ordinal, &Meter::new(look))
}

fn metered(module: &BytecodeModule, ordinal: usize, meter: &Meter<'_>) -> Result<Code> {
    let function = &module.functions[ordinal];
    let flow = Flow::new(module, function, meter)?;
    let mut translator = Translator {
        starts: vec![0; flow.blocks.len()],
        flow,
        module,
        function,
        insts: Vec::new(),
        pcs: Vec::new(),
        chunks: 0,
        fixups: Vec::new(),
        stubs: Vec::new(),
        room: ROOM * function.range.len(),
    };
    translator.prologue();
    for number in 0..translator.flow.blocks.len() {
        translator.block(number)?;
    }
    Ok(translator.finish())
}

impl Translator<'_> {
    fn word(&self) -> usize {
        self.insts.len()
    }

    fn push(&mut self, inst: Inst) {
        self.insts.push(inst);
    }

    fn mark(&mut self, pc: usize) {
        self.pcs.push((self.word() as u32, pc as u32));
    }

    /// The operand of a register.
    fn operand(&self, register: u16) -> u16 {
        if reg::is_ref(register) { self.reference(reg::ref_ordinal(register)) } else { register }
    }

    /// The operand of a reference.
    fn reference(&self, ordinal: usize) -> u16 {
        // Frames are small enough, see `interp`.
        slot_unit(self.function.cells, ordinal) as u16
    }

    /// The operand of a register that may be moved from.
    fn source(&self, register: u16) -> u16 {
        self.operand(register) | if reg::is_move(register) { MOVE } else { 0 }
    }

    /// What a new frame needs before its first instruction.
    fn prologue(&mut self) {
        let mut cells = self.flow.unassigned().into_iter().peekable();
        while let Some(first) = cells.next() {
            let mut count = 1;
            while cells.next_if_eq(&(first + count)).is_some() {
                count += 1;
            }
            self.push(Inst::new(X::ZeroCells, first, count, 0));
        }
        if self.flow.consumed != 0 {
            self.push(Inst::new(X::OwnArgs, self.reference(0), 0, 0));
            self.push(Inst::pair(self.flow.consumed as u32, (self.flow.consumed >> 32) as u32));
        }
    }

    fn block(&mut self, number: usize) -> Result<()> {
        self.starts[number] = self.word() as u32;
        let block = self.flow.blocks[number];
        let mut index = block.first + 1;
        self.charge(index);
        while index < block.end {
            index = self.instruction(number, index, block.end)?;
            // Behind a terminator nothing would be reached; the next block charges instead.
            if index < block.end {
                self.charge(index);
            }
        }
        Ok(())
    }

    /// Whether there is room to repeat code of that many bytes: a little always, more while there is some.
    fn may_repeat(&mut self, bytes: usize) -> bool {
        let room = self.room.checked_sub(if bytes <= FREE { 0 } else { bytes });
        self.room = room.unwrap_or(self.room);
        room.is_some()
    }

    /// Code that is longer than what is charged at its beginning charges on the way: before instruction `index`.
    fn charge(&mut self, index: usize) {
        let chunks = self.flow.cost_before(index) / CHUNK;
        if chunks > self.chunks {
            let cost = CHUNK.saturating_mul(chunks - self.chunks).min(u16::MAX.into());
            self.push(Inst::new(X::Charge, cost as u16, 0, 0));
            self.chunks = chunks;
        }
    }

    fn finish(mut self) -> Code {
        self.push(Inst::new(X::End, 0, 0, 0));
        self.finish_branches();
        Code { insts: self.insts.into(), pcs: self.pcs.into() }
    }
}
