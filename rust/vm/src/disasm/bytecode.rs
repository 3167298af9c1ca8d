//! Assembly text.

use std::collections::BTreeMap;

use super::number::general;
use super::{Dump, Options, put, type_name};
use crate::cconv::{CallingConvention, Kind};
use crate::isa::{self, Arg, Decoded, Op, OperandKind as K, Pairs, Regs, reg};
use crate::status::{Annotate, Result, Status};

const IMPORT_BIT: u32 = 0x8000_0000;

/// Block numbers by pc.
type Blocks = BTreeMap<u32, usize>;

impl Dump<'_> {
    pub fn disassembly(&self, options: &Options, out: &mut String) -> Result<()> {
        let def = self.archive.def();
        put!(out, "vm.module @{} version {}\n", def.name, def.version);
        for name in &def.types {
            put!(out, "vm.type {name}\n");
        }
        for import in &def.imports {
            let optional = if import.is_optional() { "optional " } else { "" };
            put!(out, "vm.import {optional}@{} cconv \"{}\"\n", import.full_name, import.cconv());
        }
        for i in 0..def.rodata.len() {
            put!(out, "vm.rodata[{i}] = ");
            for byte in self.archive.rodata(i).unwrap_or_default() {
                put!(out, "{byte:02X}");
            }
            out.push('\n');
        }
        out.push('\n');
        let mut first = true;
        for ordinal in 0..def.functions.len() {
            if !self.is_wanted(ordinal, &options.function) {
                continue;
            }
            if !first {
                out.push('\n');
            }
            first = false;
            self.function(ordinal, options.bytecode_offsets, out).annotate(|| format!("in function {ordinal}"))?;
        }
        Ok(())
    }

    fn is_wanted(&self, ordinal: usize, function: &str) -> bool {
        let mut names = self.exported_names(ordinal).peekable();
        function.is_empty()
            || function.parse() == Ok(ordinal)
            || names.peek().is_none() && self.debug_name(ordinal) == Some(function)
            || names.any(|name| name == function)
    }

    fn function(&self, ordinal: usize, offsets: bool, out: &mut String) -> Result<()> {
        let def = self.archive.def();
        let descriptor = &def.functions[ordinal];
        let (start, length) = (descriptor.offset as usize, descriptor.length as usize);
        let code = start
            .checked_add(length)
            .and_then(|end| self.archive.bytecode().get(start..end))
            .ok_or_else(|| Status::invalid_argument("bytecode range is outside the bytecode"))?;
        for name in self.exported_names(ordinal) {
            put!(out, "vm.export @{name}\n");
        }
        let cconv = def.signatures.get(ordinal).map_or("", |s| &s.cconv);
        put!(out, "vm.func @{}{} {{\n", self.function_name(ordinal), header(&CallingConvention::parse(cconv)?));
        let blocks = blocks(code)?;
        let mut pc = 0;
        while pc < code.len() {
            let decoded = isa::decode(code, pc).annotate(|| format!("at {pc:08X}"))?;
            if offsets {
                put!(out, "[{pc:08X}]");
            }
            if decoded.row.op == Op::Block {
                put!(out, "^bb{}:\n", blocks.get(&(pc as u32)).copied().unwrap_or(0));
            } else {
                out.push_str("  ");
                Printer { dump: self, blocks: &blocks, out }.instruction(&decoded);
                out.push('\n');
            }
            pc = decoded.next;
        }
        out.push_str("}\n");
        Ok(())
    }
}

fn blocks(code: &[u8]) -> Result<Blocks> {
    let mut blocks = Blocks::new();
    let mut pc = 0;
    while pc < code.len() {
        let decoded = isa::decode(code, pc).annotate(|| format!("at {pc:08X}"))?;
        if decoded.row.op == Op::Block {
            blocks.insert(pc as u32, blocks.len());
        }
        pc = decoded.next;
    }
    Ok(blocks)
}

/// `(%i0: i32, %i1:2: i64) -> (i32)`; registers are numbered one after the other here, whatever their alignment.
fn header(cconv: &CallingConvention) -> String {
    let (mut i32s, mut refs) = (0, 0);
    let mut args = Vec::new();
    for kind in cconv.scalar_args().unwrap_or_default() {
        let name = type_name(kind);
        if kind == Kind::Ref {
            args.push(format!("%r{refs}: {name}"));
            refs += 1;
        } else if kind.is_wide() {
            args.push(format!("%i{i32s}:{}: {name}", i32s + 1));
            i32s += 2;
        } else {
            args.push(format!("%i{i32s}: {name}"));
            i32s += 1;
        }
    }
    let results: Vec<&str> = cconv.results.iter().map(|kind| type_name(*kind)).collect();
    format!("({}) -> ({})", args.join(", "), results.join(", "))
}

/// A register without regard to its width.
fn plain(register: u16) -> String {
    if !reg::is_ref(register) {
        return format!("%i{register}");
    }
    let letter = if reg::is_move(register) { 'R' } else { 'r' };
    format!("%{letter}{}", reg::ref_ordinal(register))
}

fn register(kind: K, value: u16) -> String {
    match kind {
        K::I64 | K::F64 => format!("%i{value}:{}", u32::from(value) + 1),
        _ => plain(value),
    }
}

fn list(registers: Regs<'_>) -> String {
    registers.iter().map(plain).collect::<Vec<_>>().join(", ")
}

struct Printer<'a> {
    dump: &'a Dump<'a>,
    blocks: &'a Blocks,
    out: &'a mut String,
}

impl Printer<'_> {
    fn instruction(&mut self, decoded: &Decoded<'_>) {
        let row = decoded.row;
        let operands: Vec<String> =
            row.operands.iter().zip(decoded.args.iter()).map(|(o, arg)| self.operand(o.kind, arg)).collect();
        let results: Vec<&str> =
            row.operands.iter().zip(&operands).filter(|(o, _)| o.result).map(|(_, text)| text.as_str()).collect();
        let yields = matches!(row.op, Op::CallYieldable | Op::CallVariadicYieldable);
        if results.iter().any(|text| !text.is_empty()) && !yields {
            put!(self.out, "{} = ", results.join(", "));
        }
        put!(self.out, "vm.{}", row.mnemonic);
        let body = self.body(decoded, &operands);
        if !body.is_empty() {
            put!(self.out, " {body}");
        }
    }

    fn operand(&self, kind: K, arg: Arg<'_>) -> String {
        match arg {
            Arg::Reg(value) => register(kind, value),
            Arg::Imm(bits) => match kind {
                K::ImmI32 => format!("{}  // 0x{:08X}", bits as u32 as i32, bits as u32),
                K::ImmI64 => format!("{}  // 0x{bits:016X}", bits as i64),
                K::ImmF32 => general(f32::from_bits(bits as u32).into(), 9),
                K::ImmF64 => general(f64::from_bits(bits), 17),
                _ => bits.to_string(),
            },
            Arg::Ordinal(value) => match kind {
                K::Type => self.type_name(value),
                K::Func => self.callee(value),
                _ => value.to_string(),
            },
            Arg::Pc(pc) => self.block(pc),
            Arg::Str(bytes) => format!("\"{}\"", String::from_utf8_lossy(bytes)),
            Arg::Regs(registers) if kind == K::Segments => {
                let sizes: Vec<String> = registers.iter().map(|size| size.to_string()).collect();
                format!("segments[{}]", sizes.join(", "))
            }
            Arg::Regs(registers) => list(registers),
            Arg::Pairs(pairs) => remap(pairs),
            Arg::Cases(cases) => cases
                .iter()
                .enumerate()
                .map(|(i, (pc, pairs))| format!(", {i}: {}({})", self.block(pc), remap(pairs)))
                .collect(),
        }
    }

    fn block(&self, pc: u32) -> String {
        match self.blocks.get(&pc) {
            Some(number) => format!("^bb{number}"),
            None => format!("^<{pc:08X}>"),
        }
    }

    fn type_name(&self, ordinal: u32) -> String {
        let types = &self.dump.archive.def().types;
        types.get(ordinal as usize).cloned().unwrap_or_else(|| format!("<type {ordinal}>"))
    }

    fn callee(&self, ordinal: u32) -> String {
        let def = self.dump.archive.def();
        if ordinal & IMPORT_BIT != 0 {
            let import = def.imports.get((ordinal & !IMPORT_BIT) as usize);
            return import
                .map_or_else(|| format!("@<import {}>", ordinal & !IMPORT_BIT), |i| format!("@{}", i.full_name));
        }
        match self.dump.debug_name(ordinal as usize) {
            Some(name) => format!("@{}.{name}", def.name),
            None => format!("@{}:{ordinal}", def.name),
        }
    }

    /// What follows the mnemonic; `o` are the printed operands in encoding order.
    fn body(&self, decoded: &Decoded<'_>, o: &[String]) -> String {
        use Op::*;
        match decoded.row.op {
            GlobalLoadI32
            | GlobalLoadI64
            | GlobalLoadF32
            | GlobalLoadF64
            | GlobalLoadIndirectI32
            | GlobalLoadIndirectI64
            | GlobalLoadIndirectF32
            | GlobalLoadIndirectF64 => format!(".rwdata[{}]", o[0]),
            GlobalStoreI32
            | GlobalStoreI64
            | GlobalStoreF32
            | GlobalStoreF64
            | GlobalStoreIndirectI32
            | GlobalStoreIndirectI64
            | GlobalStoreIndirectF32
            | GlobalStoreIndirectF64 => {
                format!("{}, .rwdata[{}]", o[1], o[0])
            }
            GlobalLoadRef | GlobalLoadIndirectRef => format!(".refs[{}] : {}", o[0], o[1]),
            GlobalStoreRef | GlobalStoreIndirectRef => format!("{}, .refs[{}] : {}", o[2], o[0], o[1]),
            ConstRefRodata => {
                let length = self.dump.archive.rodata(decoded.args.ordinal(0) as usize).map_or(0, <[u8]>::len);
                format!("{}  // {length}b", o[0])
            }
            ListAlloc => format!("{} : !vm.list<{}>", o[1], o[0]),
            ListGetRef => format!("{}, {} : {}", o[0], o[1], o[2]),
            SelectI32 | SelectI64 | SelectF32 | SelectF64 => format!("{} ? {} : {}", o[0], o[1], o[2]),
            SelectRef => format!("{} ? {} : {} -> {}", o[0], o[2], o[3], o[1]),
            SwitchI32 | SwitchI64 | SwitchF32 | SwitchF64 => format!("{}[{}] else {}", o[0], o[2], o[1]),
            SwitchRef => format!("{}[{}] else {} -> {}", o[0], o[3], o[2], o[1]),
            CastAnyRef => format!("{} : !vm.ref<?> -> {}", o[0], o[1]),
            BufferStoreI8 | BufferStoreI16 | BufferStoreI32 | BufferStoreI64 | BufferStoreF32 | BufferStoreF64 => {
                format!("{}, {}, {}", o[2], o[0], o[1])
            }
            Br | Yield | Break => format!("{}({})", o[0], o[1]),
            CondBreak => format!("{}, {}({})", o[0], o[1], o[2]),
            CondBr => format!("{}, {}({}), {}({})", o[0], o[1], o[2], o[3], o[4]),
            BrTable => format!("{} {{ default: {}({}){} }}", o[0], o[1], o[2], o[4]),
            Call => format!("{}({})", o[0], o[1]),
            CallVariadic => format!("{} {}({})", o[0], o[1], o[2]),
            CallYieldable => format!("{}({}) -> {}({})", o[0], o[1], o[2], o[3]),
            CallVariadicYieldable => format!("{} {}({}) -> {}({})", o[0], o[1], o[2], o[3], o[4]),
            Trace | Print => format!("{}({})", o[0], o[1]),
            _ => {
                let inputs = decoded.row.operands.iter().zip(o).filter(|(operand, _)| !operand.result);
                inputs.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn remap(pairs: Pairs<'_>) -> String {
    pairs.iter().map(|(from, to)| format!("{}->{}", plain(from), plain(to))).collect::<Vec<_>>().join(", ")
}
