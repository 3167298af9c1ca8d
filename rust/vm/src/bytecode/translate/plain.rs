//! Instructions that become an operation each.

use super::super::code::{Inst, X};
use super::super::verify::IMPORT_BIT;
use super::Translator;
use crate::isa::{Arg, Args, Decoded, Op, reg};
use crate::status::Result;

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

/// The form with a constant.
fn immediate(op: Op) -> X {
    match op {
        Op::AddI32 | Op::SubI32 => X::AddI32Imm,
        Op::AddI64 | Op::SubI64 => X::AddI64Imm,
        Op::MulI32 => X::MulI32Imm,
        Op::MulI64 => X::MulI64Imm,
        Op::AndI32 => X::AndI32Imm,
        Op::AndI64 => X::AndI64Imm,
        Op::ShlI32 => X::ShlI32Imm,
        Op::ShrI32S => X::ShrI32SImm,
        Op::ShrI32U => X::ShrI32UImm,
        Op::ShlI64 => X::ShlI64Imm,
        Op::ShrI64S => X::ShrI64SImm,
        // Comparisons with a constant are branches; nothing else has one.
        _ => X::ShrI64UImm,
    }
}

impl Translator<'_> {
    /// Emits instruction `index` of block `number` by itself.
    pub(super) fn single(&mut self, number: usize, index: usize, decoded: &Decoded<'_>) -> Result<()> {
        let args = &decoded.args;
        let op = bits_form(decoded.row.op);
        if self.flow.fold(index).is_some() {
            let (left, right) = self.operands(index, decoded);
            self.push(Inst::new(immediate(op), left, right, args.reg(2)));
            return Ok(());
        }
        if let Some(x) = X::same(op) {
            self.registers(x, args);
            return Ok(());
        }
        match op {
            Op::ConstI32 | Op::ConstF32 => self.push(Inst::wide(X::Const32, args.reg(1), args.imm(0) as u32)),
            Op::ConstI32Zero | Op::ConstF32Zero => self.push(Inst::wide(X::Const32, args.reg(0), 0)),
            Op::ConstI64 | Op::ConstF64 => self.const64(args.reg(1), args.imm(0)),
            Op::ConstI64Zero | Op::ConstF64Zero => self.const64(args.reg(0), 0),
            Op::ConstRefZero => self.push(Inst::new(X::ConstRefZero, self.operand(args.reg(0)), 0, 0)),
            Op::ConstRefRodata => self.numbered(X::ConstRefRodata, args.reg(1), args.ordinal(0)),
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
            Op::AssignRef => {
                self.push(Inst::new(X::AssignRef, self.source(args.reg(0)), self.operand(args.reg(1)), 0));
            }
            Op::ListSetRef => {
                let list = self.operand(args.reg(0));
                self.push(Inst::new(X::ListSetRef, list, args.reg(1), self.source(args.reg(2))));
            }
            Op::DiscardRefs => self.discard(args.regs(0).iter().map(reg::ref_ordinal)),
            Op::Trace | Op::Print => {
                self.discard(args.regs(1).iter().filter(|r| reg::is_move(*r)).map(reg::ref_ordinal));
            }
            Op::Call => self.call(args.ordinal(0), None, args.regs(1), args.regs(2)),
            Op::CallVariadic => self.call(args.ordinal(0), Some(args.regs(1)), args.regs(2), args.regs(3)),
            _ if decoded.row.terminator => return self.terminator(number, index, decoded),
            _ => self.typed(op, args),
        }
        Ok(())
    }

    fn terminator(&mut self, number: usize, index: usize, decoded: &Decoded<'_>) -> Result<()> {
        let args = &decoded.args;
        match decoded.row.op {
            Op::Return => self.leave(number, index, args.regs(0))?,
            Op::Fail => {
                // The message ends the instruction.
                let length = args.str(1).len();
                self.push(Inst::new(X::Fail, args.reg(0), 0, 0));
                self.push(Inst::pair((decoded.next - length) as u32, length as u32));
            }
            Op::CallYieldable | Op::CallVariadicYieldable => {
                if decoded.row.op == Op::CallYieldable {
                    self.call(args.ordinal(0), None, args.regs(1), args.regs(3));
                } else {
                    self.call(args.ordinal(0), Some(args.regs(1)), args.regs(2), args.regs(4));
                }
                if let Some((block, _)) = self.flow.edges(decoded).first() {
                    self.br_to(index, *block, number);
                }
            }
            _ => self.branch(number, index, decoded),
        }
        Ok(())
    }

    /// Registers over as many words as they need: three in the first, four in the next.
    fn registers(&mut self, x: X, args: &Args<'_>) {
        let mut registers = [0u16; 7];
        let mut count = 0;
        for arg in args.iter() {
            if let Arg::Reg(register) = arg {
                registers[count] = self.operand(register);
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
        self.push(Inst::wide(x, self.operand(register), number));
    }

    /// Instructions with a type ordinal.
    fn typed(&mut self, op: Op, args: &Args<'_>) {
        let moves = |register: u16| u16::from(reg::is_move(register));
        let (first, second) = match op {
            Op::GlobalLoadRef => (
                Inst::wide(X::GlobalLoadRef, self.operand(args.reg(2)), args.ordinal(0)),
                Inst::data(moves(args.reg(2)), 0, args.ordinal(1)),
            ),
            Op::GlobalStoreRef => (
                Inst::wide(X::GlobalStoreRef, self.source(args.reg(2)), args.ordinal(0)),
                Inst::data(0, 0, args.ordinal(1)),
            ),
            Op::GlobalLoadIndirectRef => (
                Inst::new(X::GlobalLoadIndirectRef, args.reg(0), self.operand(args.reg(2)), 0),
                Inst::data(moves(args.reg(2)), 0, args.ordinal(1)),
            ),
            Op::GlobalStoreIndirectRef => (
                Inst::new(X::GlobalStoreIndirectRef, args.reg(0), self.source(args.reg(2)), 0),
                Inst::data(0, 0, args.ordinal(1)),
            ),
            Op::ListAlloc => {
                (Inst::new(X::ListAlloc, args.reg(1), self.operand(args.reg(2)), 0), Inst::pair(args.ordinal(0), 0))
            }
            Op::ListGetRef => (
                Inst::new(X::ListGetRef, self.operand(args.reg(0)), args.reg(1), self.operand(args.reg(3))),
                Inst::data(moves(args.reg(3)), 0, args.ordinal(2)),
            ),
            Op::CastAnyRef => (
                Inst::new(X::CastAnyRef, self.source(args.reg(0)), self.operand(args.reg(2)), 0),
                Inst::pair(args.ordinal(1), 0),
            ),
            Op::SelectRef => (
                Inst::new(X::SelectRef, args.reg(0), self.source(args.reg(2)), self.source(args.reg(3))),
                Inst::data(self.operand(args.reg(4)), 0, args.ordinal(1)),
            ),
            // Every row is handled in one place or another; a row that is not would stop here, loudly.
            _ => (Inst::new(X::End, 0, 0, 0), Inst::data(0, 0, 0)),
        };
        self.push(first);
        self.push(second);
    }

    /// Data of four operands a word.
    pub(super) fn packed(&mut self, operands: &[u16]) {
        for four in operands.chunks(4) {
            let at = |i: usize| four.get(i).copied().unwrap_or(0);
            self.push(Inst { op: at(0), a: at(1), b: at(2), c: at(3) });
        }
    }

    fn switch(&mut self, x: X, args: &Args<'_>, type_def: u32, default: usize) {
        let values: Vec<u16> = args.regs(default + 1).iter().map(|register| self.source(register)).collect();
        self.push(Inst::new(x, args.reg(0), self.source(args.reg(default)), self.operand(args.reg(default + 2))));
        self.push(Inst::pair(values.len() as u32, type_def));
        self.packed(&values);
    }

    /// Whether a reference is an argument that has no count of its own, perhaps.
    pub(super) fn may_be_lent(&self, ordinal: usize) -> bool {
        ordinal < self.function.ref_args.min(64) && self.flow.consumed >> ordinal & 1 == 0
    }

    /// Releases references; arguments may be lent, and are only forgotten then.
    pub(super) fn discard(&mut self, ordinals: impl Iterator<Item = usize>) {
        let (arguments, others): (Vec<usize>, Vec<usize>) = ordinals.partition(|ordinal| self.may_be_lent(*ordinal));
        for ordinal in arguments {
            self.push(Inst::new(X::DiscardArg, self.reference(ordinal), ordinal as u16, 0));
        }
        let others: Vec<u16> = others.into_iter().map(|ordinal| self.reference(ordinal)).collect();
        match others[..] {
            [] => {}
            [one] => self.push(Inst::new(X::DiscardRef, one, 0, 0)),
            _ => {
                self.push(Inst::new(X::DiscardRefs, others.len() as u16, 0, 0));
                self.packed(&others);
            }
        }
    }
}
