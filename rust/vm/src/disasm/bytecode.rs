//! Assembly text.

use std::collections::BTreeMap;

use super::number::general;
use super::{Dump, Options, put, type_name};
use crate::archive::schema::Import;
use crate::asm::{quoted, symbol_text};
use crate::cconv::{CallingConvention, Kind};
use crate::isa::{self, Arg, Decoded, Instruction, Op, OperandKind as K, Pairs, Regs, reg};
use crate::status::{Annotate, Result, Status};

const IMPORT_BIT: u32 = 0x8000_0000;

/// Names that are unique in a module.
pub(super) struct Names {
    /// Of each function.
    pub functions: Vec<String>,
    /// How each function is called; None for those that can only be called by number.
    pub callees: Vec<Option<String>>,
}

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
        let code = self.code(ordinal)?;
        for name in self.exported_names(ordinal) {
            put!(out, "vm.export @{name}\n");
        }
        let cconv = def.signatures.get(ordinal).map_or("", |s| &s.cconv);
        put!(out, "vm.func @{}{} {{\n", self.function_name(ordinal), header(&CallingConvention::parse(cconv)?));
        self.blocks_text(code, offsets, None, out)?;
        out.push_str("}\n");
        Ok(())
    }

    /// The bytecode of a function.
    pub fn code(&self, ordinal: usize) -> Result<&[u8]> {
        let descriptor = &self.archive.def().functions[ordinal];
        let (start, length) = (descriptor.offset as usize, descriptor.length as usize);
        start
            .checked_add(length)
            .and_then(|end| self.archive.bytecode().get(start..end))
            .ok_or_else(|| Status::invalid_argument("bytecode range is outside the bytecode"))
    }

    /// The blocks of a function. With `names`, callees have these names.
    pub fn blocks_text(&self, code: &[u8], offsets: bool, names: Option<&Names>, out: &mut String) -> Result<()> {
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
                Printer { dump: self, blocks: &blocks, names, out }.instruction(&decoded);
                out.push('\n');
            }
            pc = decoded.next;
        }
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
pub(super) fn header(cconv: &CallingConvention) -> String {
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

/// `nan(0x123)` or `snan(0x1)` for a NaN whose payload matters; `sign` is the number of its bit.
fn nan(bits: u64, sign: u32, mantissa: u32) -> Option<String> {
    let quiet = 1u64 << (mantissa - 1);
    let exponent = bits >> mantissa & ((1 << (sign - mantissa)) - 1);
    let payload = bits & ((1 << mantissa) - 1);
    if exponent.wrapping_add(1) != 1 << (sign - mantissa) || payload == 0 || payload == quiet {
        return None;
    }
    let minus = if bits >> sign & 1 == 1 { "-" } else { "" };
    let name = if payload & quiet == 0 { "snan" } else { "nan" };
    Some(format!("{minus}{name}({:#x})", payload & !quiet))
}

fn list(registers: Regs<'_>) -> String {
    registers.iter().map(plain).collect::<Vec<_>>().join(", ")
}

struct Printer<'a> {
    dump: &'a Dump<'a>,
    blocks: &'a Blocks,
    names: Option<&'a Names>,
    out: &'a mut String,
}

impl Printer<'_> {
    fn instruction(&mut self, decoded: &Decoded<'_>) {
        let row = decoded.row;
        let operands: Vec<String> =
            row.operands.iter().zip(decoded.args.iter()).map(|(o, arg)| self.operand(o.kind, arg)).collect();
        let results: Vec<&str> =
            row.operands.iter().zip(&operands).filter(|(o, _)| o.result).map(|(_, text)| text.as_str()).collect();
        if results.iter().any(|text| !text.is_empty()) && !row.places_results() {
            put!(self.out, "{} = ", results.join(", "));
        }
        put!(self.out, "vm.{}", row.mnemonic);
        let body = Self::body(row, &operands);
        // The reference leaves a blank behind this one.
        if !body.is_empty() || row.op == Op::DiscardRefs {
            put!(self.out, " {body}");
        }
    }

    fn operand(&self, kind: K, arg: Arg<'_>) -> String {
        match arg {
            Arg::Reg(value) => register(kind, value),
            Arg::Imm(bits) => match kind {
                K::ImmI32 => format!("{}  // 0x{:08X}", bits as u32 as i32, bits as u32),
                K::ImmI64 => format!("{}  // 0x{bits:016X}", bits as i64),
                K::ImmF32 => nan(bits, 31, 23).unwrap_or_else(|| general(f32::from_bits(bits as u32).into(), 9)),
                K::ImmF64 => nan(bits, 63, 52).unwrap_or_else(|| general(f64::from_bits(bits), 17)),
                _ => bits.to_string(),
            },
            Arg::Ordinal(value) => match kind {
                K::Type => self.type_name(value),
                K::Func => self.callee(value),
                K::Rodata => {
                    let length = self.dump.archive.rodata(value as usize).map_or(0, <[u8]>::len);
                    format!("{value}  // {length}b")
                }
                _ => value.to_string(),
            },
            Arg::Pc(pc) => self.block(pc),
            Arg::Str(bytes) => match std::str::from_utf8(bytes) {
                // As the reference does, quotes inside included.
                Ok(text) if self.names.is_none() && !text.chars().any(char::is_control) => format!("\"{text}\""),
                _ => quoted(bytes),
            },
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
            let name = |i: &Import| match self.names {
                Some(_) => symbol_text(&i.full_name),
                None => format!("@{}", i.full_name),
            };
            return import.map_or_else(|| format!("@<import {}>", ordinal & !IMPORT_BIT), name);
        }
        if let Some(names) = self.names {
            let named = names.callees.get(ordinal as usize).cloned().flatten();
            return named.unwrap_or_else(|| format!("{}:{ordinal}", symbol_text(&def.name)));
        }
        match self.dump.debug_name(ordinal as usize) {
            Some(name) => format!("@{}.{name}", def.name),
            None => format!("@{}:{ordinal}", def.name),
        }
    }

    /// What follows the mnemonic, by the first form of the row; `operands` are printed already, in encoding order.
    fn body(row: &Instruction, operands: &[String]) -> String {
        let mut out = String::new();
        let mut rest = row.forms[0];
        while let Some(open) = rest.find('{') {
            let name = rest[open + 1..].split('}').next().unwrap_or_default();
            let Some(index) = row.operands.iter().position(|o| o.name == name) else {
                out.push_str(&rest[..=open]);
                rest = &rest[open + 1..];
                continue;
            };
            out.push_str(&rest[..open]);
            out.push_str(&operands[index]);
            rest = &rest[open + name.len() + 2..];
        }
        out.push_str(rest);
        out
    }
}

fn remap(pairs: Pairs<'_>) -> String {
    pairs.iter().map(|(from, to)| format!("{}->{}", plain(from), plain(to))).collect::<Vec<_>>().join(", ")
}
