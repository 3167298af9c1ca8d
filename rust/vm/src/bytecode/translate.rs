//! From verified bytecode to the executed form.
//!
//! Layout of the operations that are more than registers (word 0 is the operation itself):
//!
//! | operation | words |
//! |---|---|
//! | Const32, GlobalLoad32.., ConstRefRodata, ImportResolved | `a` register, number |
//! | Const64 | `a` register; word 1: the bits |
//! | GlobalLoadRef, GlobalStoreRef | `a` register, number = slot; word 1: type |
//! | Global..IndirectRef, ListAlloc, CastAnyRef | registers `a`, `b`; word 1: type |
//! | ListGetRef | registers `a`, `b`, `c` = result; word 1: type |
//! | SelectRef | condition, true, false; word 1: result, then type in the high half |
//! | Switch32.. | index, default, result; word 1: count, type; then values, 4 a word |
//! | DiscardRefs | `a` = count; then registers, 4 a word |
//! | Br | number = target word |
//! | CondBr | `a` condition; word 1: true target, false target |
//! | BrEqI32.. | left, right, result; word 1: true target, false target |
//! | BrTable | `a` index; word 1: count, default target; then targets, 2 a word |
//! | Call, CallImport | `a` arguments, `b` results, `c` spans; word 1: callee, moves; then a word (kind, source[, target]) per argument, (kind, target) per result, (count) per span, and a word (register) per reference moved by an import call |
//! | Return | `a` = count; then a word (kind, source) each |
//! | Fail | `a` = status; word 1: message offset in the function's bytecode, length |

use std::collections::{BTreeSet, HashMap};

use super::code::{Code, Inst, X, kind};
use super::verify::{IMPORT_BIT, PLAIN, argument_registers, flatten};
use super::{BytecodeModule, Function};
use crate::cconv::Kind;
use crate::isa::{self, Arg, Args, Decoded, Op, Pairs, Regs, reg};

struct Translator<'a> {
    module: &'a BytecodeModule,
    function: &'a Function,
    insts: Vec<Inst>,
    pcs: Vec<(u32, u32)>,
    /// Words where blocks start, by pc.
    blocks: HashMap<u32, u32>,
    /// Targets still given as pcs.
    fixups: Vec<Fixup>,
    /// Branch edges with remaps, emitted behind the code.
    stubs: Vec<Stub>,
}

/// A branch edge with a remap: pc of the branch, moves, and the target that leads here instead.
struct Stub {
    from: u32,
    moves: Vec<(u16, u16)>,
    fixup: Fixup,
}

/// Where a target number is to be written.
#[derive(Clone, Copy)]
struct Fixup {
    word: usize,
    half: Half,
    pc: u32,
}

#[derive(Clone, Copy)]
enum Half {
    Low,
    High,
}

/// Translates function `ordinal` of a verified module.
pub(super) fn translate(module: &BytecodeModule, ordinal: usize) -> Code {
    let code = module.bytecode_of(ordinal);
    let mut translator = Translator {
        module,
        function: &module.functions[ordinal],
        insts: Vec::new(),
        pcs: Vec::new(),
        blocks: HashMap::new(),
        fixups: Vec::new(),
        stubs: Vec::new(),
    };
    let mut pc = 0;
    let mut pending: Option<Decoded<'_>> = None;
    while pc < code.len() {
        // The module is verified, so decoding does not fail.
        let Ok(decoded) = isa::decode(code, pc) else { break };
        pc = decoded.next;
        if let Some(compare) = pending.take() {
            if translator.fuse(&compare, &decoded) {
                continue;
            }
            translator.instruction(&compare);
        }
        if fused(decoded.row.op).is_some() {
            pending = Some(decoded);
        } else {
            translator.instruction(&decoded);
        }
    }
    translator.finish()
}

/// Comparison and branch in one.
fn fused(op: Op) -> Option<X> {
    Some(match op {
        Op::CmpEqI32 => X::BrEqI32,
        Op::CmpNeI32 => X::BrNeI32,
        Op::CmpLtI32S => X::BrLtI32S,
        Op::CmpLtI32U => X::BrLtI32U,
        Op::CmpEqI64 => X::BrEqI64,
        Op::CmpNeI64 => X::BrNeI64,
        Op::CmpLtI64S => X::BrLtI64S,
        Op::CmpLtI64U => X::BrLtI64U,
        _ => return None,
    })
}

/// The integer instruction that moves the same bits.
fn bits_form(op: Op) -> Op {
    match op {
        Op::GlobalLoadIndirectF32 => Op::GlobalLoadIndirectI32,
        Op::GlobalStoreIndirectF32 => Op::GlobalStoreIndirectI32,
        Op::GlobalLoadIndirectF64 => Op::GlobalLoadIndirectI64,
        Op::GlobalStoreIndirectF64 => Op::GlobalStoreIndirectI64,
        Op::SelectF32 => Op::SelectI32,
        Op::SelectF64 => Op::SelectI64,
        Op::BufferLoadF32 => Op::BufferLoadI32,
        Op::BufferLoadF64 => Op::BufferLoadI64,
        Op::BufferStoreF32 => Op::BufferStoreI32,
        Op::BufferStoreF64 => Op::BufferStoreI64,
        Op::BufferFillF32 => Op::BufferFillI32,
        Op::BufferFillF64 => Op::BufferFillI64,
        Op::ExtI8I32U => Op::TruncI32I8,
        Op::ExtI16I32U => Op::TruncI32I16,
        other => other,
    }
}

fn kind_code(kind: Kind) -> u16 {
    match kind {
        Kind::I32 => kind::I32,
        Kind::I64 => kind::I64,
        Kind::F32 => kind::F32,
        Kind::F64 => kind::F64,
        Kind::Ref => kind::REF,
    }
}

impl Translator<'_> {
    fn word(&self) -> u32 {
        self.insts.len() as u32
    }

    fn push(&mut self, inst: Inst) {
        self.insts.push(inst);
    }

    fn mark(&mut self, pc: usize) {
        self.pcs.push((self.word(), pc as u32));
    }

    fn instruction(&mut self, decoded: &Decoded<'_>) {
        self.mark(decoded.pc);
        let args = &decoded.args;
        let op = bits_form(decoded.row.op);
        if let Some(x) = X::same(op) {
            return self.registers(x, args);
        }
        match op {
            Op::Block => self.block(decoded.pc as u32),
            Op::ConstI32 | Op::ConstF32 => self.push(Inst::wide(X::Const32, args.reg(1), args.imm(0) as u32)),
            Op::ConstI32Zero | Op::ConstF32Zero => self.push(Inst::wide(X::Const32, args.reg(0), 0)),
            Op::ConstI64 | Op::ConstF64 => self.const64(args.reg(1), args.imm(0)),
            Op::ConstI64Zero | Op::ConstF64Zero => self.const64(args.reg(0), 0),
            Op::ConstRefZero => self.push(Inst::new(X::ConstRefZero, args.reg(0), 0, 0)),
            Op::ConstRefRodata => self.push(Inst::wide(X::ConstRefRodata, args.reg(1), args.ordinal(0))),
            Op::GlobalLoadI32 | Op::GlobalLoadF32 => self.numbered(X::GlobalLoad32, args.reg(1), args.ordinal(0)),
            Op::GlobalStoreI32 | Op::GlobalStoreF32 => self.numbered(X::GlobalStore32, args.reg(1), args.ordinal(0)),
            Op::GlobalLoadI64 | Op::GlobalLoadF64 => self.numbered(X::GlobalLoad64, args.reg(1), args.ordinal(0)),
            Op::GlobalStoreI64 | Op::GlobalStoreF64 => self.numbered(X::GlobalStore64, args.reg(1), args.ordinal(0)),
            Op::BitcastI32F32 | Op::BitcastF32I32 => self.push(Inst::new(X::Move32, args.reg(0), args.reg(1), 0)),
            Op::BitcastI64F64 | Op::BitcastF64I64 => self.push(Inst::new(X::Move64, args.reg(0), args.reg(1), 0)),
            Op::ImportResolved => self.numbered(X::ImportResolved, args.reg(1), args.ordinal(0) & !IMPORT_BIT),
            Op::SwitchI32 | Op::SwitchF32 => self.switch(X::Switch32, args, 0, 1),
            Op::SwitchI64 | Op::SwitchF64 => self.switch(X::Switch64, args, 0, 1),
            Op::SwitchRef => self.switch(X::SwitchRef, args, args.ordinal(1), 2),
            Op::DiscardRefs => self.discard(args.regs(0).iter().collect()),
            Op::Trace | Op::Print => self.discard(args.regs(1).iter().filter(|r| reg::is_move(*r)).collect()),
            _ if decoded.row.terminator => self.terminator(decoded),
            Op::Call => self.call(args.ordinal(0), None, args.regs(1), args.regs(2)),
            Op::CallVariadic => self.call(args.ordinal(0), Some(args.regs(1)), args.regs(2), args.regs(3)),
            _ => self.typed(op, args),
        }
    }

    fn block(&mut self, pc: u32) {
        // A jump to the next word is no jump.
        let last = self.insts.len().wrapping_sub(1);
        if self.fixups.last().is_some_and(|f| f.word == last && f.pc == pc && self.insts[last].op == X::Br as u16) {
            self.fixups.pop();
            self.insts.pop();
        }
        let word = self.word();
        self.blocks.insert(pc, word);
    }

    /// Registers over as many words as they need: three in the first, four in the next.
    fn registers(&mut self, x: X, args: &Args<'_>) {
        let mut registers = [0u16; 7];
        let mut count = 0;
        for arg in args.iter() {
            if let Arg::Reg(register) = arg {
                registers[count] = register;
                count += 1;
            }
        }
        let [a, b, c, d, e, f, g] = registers;
        self.push(Inst::new(x, a, b, c));
        if count > 3 {
            self.push(Inst { op: d, a: e, b: f, c: g });
        }
    }

    fn const64(&mut self, register: u16, bits: u64) {
        self.push(Inst::new(X::Const64, register, 0, 0));
        self.push(Inst::pair(bits as u32, (bits >> 32) as u32));
    }

    fn numbered(&mut self, x: X, register: u16, number: u32) {
        self.push(Inst::wide(x, register, number));
    }

    /// Instructions with a type ordinal.
    fn typed(&mut self, op: Op, args: &Args<'_>) {
        let (first, type_def) = match op {
            Op::GlobalLoadRef => (Inst::wide(X::GlobalLoadRef, args.reg(2), args.ordinal(0)), args.ordinal(1)),
            Op::GlobalStoreRef => (Inst::wide(X::GlobalStoreRef, args.reg(2), args.ordinal(0)), args.ordinal(1)),
            Op::GlobalLoadIndirectRef => {
                (Inst::new(X::GlobalLoadIndirectRef, args.reg(0), args.reg(2), 0), args.ordinal(1))
            }
            Op::GlobalStoreIndirectRef => {
                (Inst::new(X::GlobalStoreIndirectRef, args.reg(0), args.reg(2), 0), args.ordinal(1))
            }
            Op::ListAlloc => (Inst::new(X::ListAlloc, args.reg(1), args.reg(2), 0), args.ordinal(0)),
            Op::ListGetRef => (Inst::new(X::ListGetRef, args.reg(0), args.reg(1), args.reg(3)), args.ordinal(2)),
            Op::CastAnyRef => (Inst::new(X::CastAnyRef, args.reg(0), args.reg(2), 0), args.ordinal(1)),
            Op::SelectRef => {
                self.push(Inst::new(X::SelectRef, args.reg(0), args.reg(2), args.reg(3)));
                self.push(Inst::pair(args.reg(4).into(), args.ordinal(1)));
                return;
            }
            // Every row is handled in one place or another; a row that is not would stop here, loudly.
            _ => (Inst::new(X::End, 0, 0, 0), 0),
        };
        self.push(first);
        self.push(Inst::pair(type_def, 0));
    }

    fn packed(&mut self, registers: &[u16]) {
        for four in registers.chunks(4) {
            let at = |i: usize| four.get(i).copied().unwrap_or(0);
            self.push(Inst { op: at(0), a: at(1), b: at(2), c: at(3) });
        }
    }

    fn switch(&mut self, x: X, args: &Args<'_>, type_def: u32, default: usize) {
        let values: Vec<u16> = args.regs(default + 1).iter().collect();
        self.push(Inst::new(x, args.reg(0), args.reg(default), args.reg(default + 2)));
        self.push(Inst::pair(values.len() as u32, type_def));
        self.packed(&values);
    }

    fn discard(&mut self, registers: Vec<u16>) {
        if !registers.is_empty() {
            self.push(Inst::new(X::DiscardRefs, registers.len() as u16, 0, 0));
            self.packed(&registers);
        }
    }

    fn terminator(&mut self, decoded: &Decoded<'_>) {
        let args = &decoded.args;
        match decoded.row.op {
            Op::Br | Op::Break => self.jump(args.pc(0), args.pairs(1)),
            Op::CondBreak => self.jump(args.pc(1), args.pairs(2)),
            Op::Yield => {
                self.moves(&args.pairs(1).iter().collect::<Vec<_>>());
                self.push(Inst::new(X::Yield, 0, 0, 0));
                self.br(args.pc(0));
            }
            Op::CondBr => {
                let word = self.insts.len() + 1;
                self.push(Inst::new(X::CondBr, args.reg(0), 0, 0));
                self.push(Inst::pair(0, 0));
                self.edge(word, Half::Low, args.pc(1), args.pairs(2));
                self.edge(word, Half::High, args.pc(3), args.pairs(4));
            }
            Op::BrTable => self.br_table(args),
            Op::Return => self.leave(args.regs(0)),
            Op::Fail => {
                // The message ends the instruction.
                let length = args.str(1).len();
                self.push(Inst::new(X::Fail, args.reg(0), 0, 0));
                self.push(Inst::pair((decoded.next - length) as u32, length as u32));
            }
            Op::CallYieldable => {
                self.call(args.ordinal(0), None, args.regs(1), args.regs(3));
                self.br(args.pc(2));
            }
            _ => {
                self.call(args.ordinal(0), Some(args.regs(1)), args.regs(2), args.regs(4));
                self.br(args.pc(3));
            }
        }
    }

    fn br(&mut self, pc: u32) {
        self.fixups.push(Fixup { word: self.insts.len(), half: Half::High, pc });
        self.push(Inst::new(X::Br, 0, 0, 0));
    }

    fn jump(&mut self, pc: u32, pairs: Pairs<'_>) {
        self.moves(&pairs.iter().collect::<Vec<_>>());
        self.br(pc);
    }

    fn edge(&mut self, word: usize, half: Half, pc: u32, pairs: Pairs<'_>) {
        let fixup = Fixup { word, half, pc };
        if pairs.is_empty() {
            self.fixups.push(fixup);
        } else {
            let from = self.pcs.last().map_or(0, |(_, pc)| *pc);
            self.stubs.push(Stub { from, moves: pairs.iter().collect(), fixup });
        }
    }

    fn br_table(&mut self, args: &Args<'_>) {
        let cases: Vec<_> = args.cases(4).iter().collect();
        let word = self.insts.len() + 1;
        self.push(Inst::new(X::BrTable, args.reg(0), 0, 0));
        self.push(Inst::pair(cases.len() as u32, 0));
        self.insts.resize(word + 1 + cases.len().div_ceil(2), Inst::pair(0, 0));
        self.edge(word, Half::High, args.pc(1), args.pairs(2));
        for (i, (pc, pairs)) in cases.into_iter().enumerate() {
            self.edge(word + 1 + i / 2, if i % 2 == 0 { Half::Low } else { Half::High }, pc, pairs);
        }
    }

    /// Moves in order; two halves of a 64-bit value that follow each other become one move.
    fn moves(&mut self, pairs: &[(u16, u16)]) {
        let mut i = 0;
        while let Some(&(source, target)) = pairs.get(i) {
            i += 1;
            if reg::is_ref(source) {
                self.push(Inst::new(X::AssignRef, source, target, 0));
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

    fn fuse(&mut self, compare: &Decoded<'_>, branch: &Decoded<'_>) -> bool {
        let result = compare.args.reg(2);
        let (Some(x), Op::CondBr) = (fused(compare.row.op), branch.row.op) else { return false };
        if branch.args.reg(0) != result {
            return false;
        }
        self.mark(compare.pc);
        let word = self.insts.len() + 1;
        self.push(Inst::new(x, compare.args.reg(0), compare.args.reg(1), result));
        self.push(Inst::pair(0, 0));
        self.edge(word, Half::Low, branch.args.pc(1), branch.args.pairs(2));
        self.edge(word, Half::High, branch.args.pc(3), branch.args.pairs(4));
        true
    }

    fn call(&mut self, callee: u32, segments: Option<Regs<'_>>, operands: Regs<'_>, results: Regs<'_>) {
        let import = callee & IMPORT_BIT != 0;
        let ordinal = callee & !IMPORT_BIT;
        let cconv = if import {
            &self.module.imports[ordinal as usize].cconv
        } else {
            &self.module.functions[ordinal as usize].cconv
        };
        // Verified, so the segments fit.
        let kinds = flatten(cconv, segments).unwrap_or_default();
        let spans: Vec<u16> =
            segments.map_or_else(Vec::new, |s| s.iter().take(cconv.args.len()).filter(|size| *size != PLAIN).collect());
        let sources: Vec<u16> = operands.iter().take(kinds.len()).collect();
        let mut moved = BTreeSet::new();
        if import {
            moved
                .extend(sources.iter().filter(|source| reg::is_move(**source)).map(|source| reg::ref_ordinal(*source)));
        }
        let x = if import { X::CallImport } else { X::Call };
        self.push(Inst::new(x, kinds.len() as u16, cconv.results.len() as u16, spans.len() as u16));
        self.push(Inst::pair(ordinal, moved.len() as u32));
        let targets = if import { Vec::new() } else { argument_registers(&kinds) };
        let mut gone = BTreeSet::new();
        for (i, (kind, source)) in kinds.iter().zip(sources).enumerate() {
            let target = targets.get(i).map_or(0, |(register, _)| *register);
            // Import calls read registers in place and empty them afterwards, as if they had been moved one by one.
            let is_gone = import && reg::is_ref(source) && gone.contains(&reg::ref_ordinal(source));
            if import && reg::is_move(source) {
                gone.insert(reg::ref_ordinal(source));
            }
            let op = if is_gone { kind::NULL } else { kind_code(*kind) };
            self.push(Inst { op, a: source, b: target, c: 0 });
        }
        for (kind, target) in cconv.results.iter().zip(results.iter()) {
            self.push(Inst { op: kind_code(*kind), a: target, b: 0, c: 0 });
        }
        for count in spans {
            self.push(Inst { op: count, a: 0, b: 0, c: 0 });
        }
        for register in moved {
            self.push(Inst { op: 0, a: register as u16, b: 0, c: 0 });
        }
    }

    fn leave(&mut self, registers: Regs<'_>) {
        let kinds = &self.function.cconv.results;
        self.push(Inst::new(X::Return, kinds.len() as u16, 0, 0));
        for (kind, source) in kinds.iter().zip(registers.iter()) {
            self.push(Inst { op: kind_code(*kind), a: source, b: 0, c: 0 });
        }
    }

    fn finish(mut self) -> Code {
        self.push(Inst::new(X::End, 0, 0, 0));
        for Stub { from, moves, fixup } in std::mem::take(&mut self.stubs) {
            self.mark(from as usize);
            let word = self.word();
            self.write(fixup, word);
            self.moves(&moves);
            self.br(fixup.pc);
        }
        for fixup in std::mem::take(&mut self.fixups) {
            // Verified, so every target is a block.
            let word = self.blocks.get(&fixup.pc).copied().unwrap_or(0);
            self.write(fixup, word);
        }
        Code { insts: self.insts.into(), pcs: self.pcs.into() }
    }

    fn write(&mut self, fixup: Fixup, target: u32) {
        let inst = &mut self.insts[fixup.word];
        let (low, high) = (target as u16, (target >> 16) as u16);
        match fixup.half {
            Half::Low => (inst.op, inst.a) = (low, high),
            Half::High => (inst.b, inst.c) = (low, high),
        }
    }
}
