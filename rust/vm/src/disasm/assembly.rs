//! Assembly text that says everything: what the reference's disassembly leaves out stands in directives of the assembler.
//!
//! `assemble` of this text gives a module of the same parts: the same bytecode, descriptors, signatures, attributes,
//! state and data. The debug database is not part of it, and data behind the FlatBuffer moves into it.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::bytecode::{Names, header};
use super::{Dump, put};
use crate::archive::schema::{Attr, Dependency};
use crate::asm::{is_plain_symbol, quoted, registers, symbol_text};
use crate::cconv::{CallingConvention, Item, Kind};
use crate::isa::{self, Arg, Op, OperandKind as K, features};
use crate::status::{Annotate, Result, Status};

const IMPORT_BIT: u32 = 0x8000_0000;

/// What the assembler finds out by itself about the functions.
#[derive(Default)]
struct Derived {
    requirements: u32,
    bytes: u32,
    refs: u32,
}

impl Dump<'_> {
    /// The whole module, or `function` alone when it is not empty.
    pub fn assembly(&self, offsets: bool, out: &mut String) -> Result<()> {
        let names = self.unique_names();
        let mut bodies = String::new();
        let mut derived = Derived::default();
        for ordinal in 0..self.archive.def().functions.len() {
            bodies.push('\n');
            self.whole_function(ordinal, offsets, &names, &mut derived, &mut bodies)
                .annotate(|| format!("in function {ordinal}"))?;
        }
        self.directives(&names, &derived, out)?;
        out.push_str(&bodies);
        Ok(())
    }

    fn directives(&self, names: &Names, derived: &Derived, out: &mut String) -> Result<()> {
        let def = self.archive.def();
        put!(out, "vm.module {} version {}\n", symbol_text(&def.name), def.version);
        for Attr { key, value } in &def.attrs {
            put!(out, "vm.attr {} = {}\n", quoted(key.as_bytes()), quoted(value.as_bytes()));
        }
        if def.requirements != derived.requirements {
            put!(out, "vm.requires {}\n", requirements(def.requirements));
        }
        for name in &def.types {
            put!(out, "vm.type {name}\n");
        }
        for Dependency { name, minimum_version, flags } in &def.dependencies {
            let optional = if flags & 1 == 0 { "optional " } else { "" };
            put!(out, "vm.dependency {optional}{} version {minimum_version}\n", symbol_text(name));
        }
        for import in &def.imports {
            let optional = if import.is_optional() { "optional " } else { "" };
            let cconv = quoted(import.cconv().as_bytes());
            put!(out, "vm.import {optional}{} cconv {cconv}\n", symbol_text(&import.full_name));
        }
        let (bytes, refs) = def.state.unwrap_or_default();
        if (bytes, refs) != (derived.bytes, derived.refs) {
            put!(out, "vm.state bytes {bytes} refs {refs}\n");
        }
        for i in 0..def.rodata.len() {
            put!(out, "vm.rodata[{i}] = {}\n", data(self.archive.rodata(i).unwrap_or_default()));
        }
        for export in &def.exports {
            let function = names.functions.get(export.ordinal as usize).ok_or_else(|| {
                Status::invalid_argument(format!("export {} is of function {}", export.name, export.ordinal))
            })?;
            let target = if *function == export.name { String::new() } else { format!(" = {}", symbol_text(function)) };
            put!(out, "vm.export {}{target}\n", symbol_text(&export.name));
        }
        if self.has_debug {
            out.push_str("// The debug database of this module is not part of its assembly.\n");
        }
        Ok(())
    }

    /// A name for each function that no other has: its first exported name, its debug name, or `fn3`.
    fn unique_names(&self) -> Names {
        let count = self.archive.def().functions.len();
        let mut functions: Vec<Option<String>> = vec![None; count];
        let mut taken = HashSet::new();
        for export in &self.archive.def().exports {
            if let Some(name @ None) = functions.get_mut(export.ordinal as usize)
                && taken.insert(export.name.clone())
            {
                *name = Some(export.name.clone());
            }
        }
        for (ordinal, name) in functions.iter_mut().enumerate().filter(|(_, name)| name.is_none()) {
            let mut unique = self.debug_name(ordinal).map_or_else(|| format!("fn{ordinal}"), str::to_owned);
            while !taken.insert(unique.clone()) {
                unique = format!("{unique}_{ordinal}");
            }
            *name = Some(unique);
        }
        let functions: Vec<String> = functions.into_iter().flatten().collect();
        let imports: HashSet<&str> = self.archive.def().imports.iter().map(|i| i.full_name.as_str()).collect();
        let can_be_called = |name: &String| {
            let plain = is_plain_symbol(name) && !name.contains('.') && !imports.contains(name.as_str());
            plain.then(|| format!("@{name}"))
        };
        Names { callees: functions.iter().map(can_be_called).collect(), functions }
    }

    fn whole_function(
        &self,
        ordinal: usize,
        offsets: bool,
        names: &Names,
        derived: &mut Derived,
        out: &mut String,
    ) -> Result<()> {
        let def = self.archive.def();
        let code = self.code(ordinal)?;
        let signature = def.signatures.get(ordinal).cloned().unwrap_or_default();
        let cconv = CallingConvention::parse(&signature.cconv)?;
        put!(out, "vm.func {}{} {{\n", symbol_text(&names.functions[ordinal]), header(&cconv));
        for Attr { key, value } in &signature.attrs {
            put!(out, "  .attr {} = {}\n", quoted(key.as_bytes()), quoted(value.as_bytes()));
        }
        if signature.cconv != canonical(&cconv) {
            put!(out, "  .cconv {}\n", quoted(signature.cconv.as_bytes()));
        }
        let descriptor = &def.functions[ordinal];
        let counts = registers::counts(code, &cconv, 0, |callee| self.cconv_of(callee))?;
        let have = (u32::from(descriptor.i32_registers), u32::from(descriptor.ref_registers));
        if (counts.cells, counts.refs) != have {
            put!(out, "  .registers i32 {} ref {}\n", have.0, have.1);
        }
        let used = derived.add(code)?;
        if u32::from(descriptor.block_count) != block_count(code)? {
            put!(out, "  .blocks {}\n", descriptor.block_count);
        }
        if descriptor.requirements != used {
            put!(out, "  .requires {}\n", requirements(descriptor.requirements));
        }
        derived.requirements |= descriptor.requirements;
        self.blocks_text(code, offsets, Some(names), out)?;
        out.push_str("}\n");
        Ok(())
    }

    fn cconv_of(&self, callee: u32) -> CallingConvention {
        let def = self.archive.def();
        let text = if callee & IMPORT_BIT == 0 {
            def.signatures.get(callee as usize).map(|s| s.cconv.as_str())
        } else {
            def.imports.get((callee & !IMPORT_BIT) as usize).map(|i| i.cconv())
        };
        text.and_then(|text| CallingConvention::parse(text).ok()).unwrap_or_default()
    }
}

impl Derived {
    /// Notes the state that `code` accesses; returns the features that it uses.
    fn add(&mut self, code: &[u8]) -> Result<u32> {
        let (mut used, mut pc) = (0, 0);
        while pc < code.len() {
            let decoded = isa::decode(code, pc)?;
            used |= decoded.row.set.feature();
            for (operand, arg) in decoded.row.operands.iter().zip(decoded.args.iter()) {
                let (K::Global, Arg::Ordinal(at)) = (operand.kind, arg) else { continue };
                match isa::global_size(decoded.row.op) {
                    Some(size) => self.bytes = self.bytes.max(at.saturating_add(size)),
                    None => self.refs = self.refs.max(at.saturating_add(1)),
                }
            }
            pc = decoded.next;
        }
        Ok(used)
    }
}

/// How many blocks `code` has.
fn block_count(code: &[u8]) -> Result<u32> {
    let (mut count, mut pc) = (0, 0);
    while pc < code.len() {
        let decoded = isa::decode(code, pc)?;
        count += u32::from(decoded.row.op == Op::Block);
        pc = decoded.next;
    }
    Ok(count)
}

/// The string that the assembler makes of a signature.
fn canonical(cconv: &CallingConvention) -> String {
    let letters = |kinds: &mut dyn Iterator<Item = Kind>| {
        let text: String = kinds.map(Kind::letter).collect();
        if text.is_empty() { "v".to_owned() } else { text }
    };
    let args =
        letters(&mut cconv.args.iter().filter_map(|i| if let Item::Scalar(kind) = i { Some(*kind) } else { None }));
    format!("0{args}_{}", letters(&mut cconv.results.iter().copied()))
}

/// `ext_f32 yield 0x10`
fn requirements(bits: u32) -> String {
    let named = [
        (features::EXT_F32, "ext_f32"),
        (features::EXT_F64, "ext_f64"),
        (features::YIELD, "yield"),
        (features::UNWIND, "unwind"),
    ];
    let mut words: Vec<String> =
        named.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| (*name).to_owned()).collect();
    let rest = bits & !features::AVAILABLE;
    if rest != 0 || words.is_empty() {
        words.push(format!("{rest:#x}"));
    }
    words.join(" ")
}

/// Text when all of it is printable, else hexadecimal digits.
fn data(bytes: &[u8]) -> String {
    let is_text = !bytes.is_empty() && bytes.iter().all(|b| (0x20..0x7F).contains(b) && *b != b'"');
    if is_text {
        return quoted(bytes);
    }
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02X}");
        text
    })
}
