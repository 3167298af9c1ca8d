//! Tables and sections.

use super::{Dump, put, requirements, type_name};
use crate::archive::schema::{Attr, Rodata};
use crate::cconv::{CallingConvention, Item, Kind};
use crate::status::Result;

const RULE: &str = "//===--------------------------------------------------------------------------------------------------------------===//\n";

fn heading(out: &mut String, title: &str) {
    put!(out, "{RULE}// {title}\n{RULE}");
}

fn join(kinds: &[Kind]) -> String {
    kinds.iter().map(|kind| type_name(*kind)).collect::<Vec<_>>().join(", ")
}

/// `(i32, tuple<i64>...) -> (!vm.ref<?>)`
fn signature(cconv: &str) -> Result<String> {
    let cconv = CallingConvention::parse(cconv)?;
    let args: Vec<String> = cconv
        .args
        .iter()
        .map(|item| match item {
            Item::Scalar(kind) => type_name(*kind).to_owned(),
            Item::Span(kinds) => format!("tuple<{}>...", join(kinds)),
        })
        .collect();
    Ok(format!("({}) -> ({})", args.join(", "), join(&cconv.results)))
}

impl Dump<'_> {
    pub fn metadata(&self, out: &mut String) -> Result<()> {
        let def = self.archive.def();
        heading(out, &format!("@{} : version {}", def.name, def.version));
        out.push('\n');
        if def.requirements != 0 {
            put!(out, "Requirements: {}\n\n", requirements(def.requirements));
        }
        if self.has(3)? {
            out.push_str("Attributes:\n");
            attrs(out, &def.attrs, "  ");
            out.push('\n');
        }
        if self.has(4)? {
            out.push_str("Required Types:\n");
            for (i, name) in def.types.iter().enumerate() {
                put!(out, "  [{i:3}] {name}\n");
            }
            out.push('\n');
        }
        self.linkage(out)?;
        self.sections(out)?;
        self.functions(out);
        if self.has_debug {
            heading(out, "Debug Information");
            out.push_str("// NOTE: debug databases are large and should be stripped in deployed artifacts.\n\n");
            put!(out, "Locations: {}\n\n", def.debug_locations.unwrap_or(0));
        }
        Ok(())
    }

    fn linkage(&self, out: &mut String) -> Result<()> {
        let def = self.archive.def();
        if self.has(5)? {
            out.push_str("Module Dependencies:\n");
            for d in &def.dependencies {
                let need = if d.is_required() { "required" } else { "optional" };
                put!(out, "  {}, version >= {}, {need}\n", d.name, d.minimum_version);
            }
            out.push('\n');
        }
        if self.has(6)? {
            out.push_str("Imported Functions:\n");
            for (i, import) in def.imports.iter().enumerate() {
                let optional = if import.is_optional() { "?" } else { "" };
                put!(out, "  [{i:3}] {optional}{}{}\n", import.full_name, signature(import.cconv())?);
            }
            out.push('\n');
        }
        if self.has(7)? {
            out.push_str("Exported Functions:\n");
            for (i, export) in def.exports.iter().enumerate() {
                let found = def.signatures.get(export.ordinal as usize);
                let cconv = found.map_or("", |s| &s.cconv);
                put!(out, "  [{i:3}] {}{}\n", export.name, signature(cconv)?);
                attrs(out, found.map_or(&[], |s| &s.attrs), "        ");
            }
            out.push('\n');
        }
        Ok(())
    }

    fn sections(&self, out: &mut String) -> Result<()> {
        let def = self.archive.def();
        heading(out, "Sections");
        out.push('\n');
        if let Some((bytes, refs)) = def.state {
            let total = u64::from(bytes) + u64::from(refs) * 16;
            put!(out, "Module State:\n  {bytes} bytes, {refs} refs, ~{total} bytes total\n\n");
        }
        put!(out, "FlatBuffer: {} bytes\n", self.archive.flatbuffer().len());
        put!(out, "  Bytecode: {} bytes\n", def.bytecode.len());
        let mut external = 0u64;
        let segments = self.root.vector(9, 4, "rodata_segments")?;
        for (i, rodata) in def.rodata.iter().enumerate() {
            let compression = match segments {
                Some(vector) => vector.table(i, "rodata_segments")?.u8(0, "compression_type")?.unwrap_or(0),
                None => 0,
            };
            let compression = if compression == 1 { "uncompressed " } else { "" };
            put!(out, "  .rodata[{i:3}] {compression}");
            match rodata {
                Rodata::Embedded(range) => {
                    put!(out, "embedded {:8} bytes", range.len());
                    preview(out, &self.archive.flatbuffer()[range.clone()]);
                }
                Rodata::External { offset, length } => {
                    external += length;
                    let end = offset.saturating_add(*length);
                    put!(out, "external {length:8} bytes (offset {offset} / {offset:X}h to {end:X}h)");
                }
            }
            out.push('\n');
        }
        if external != 0 {
            put!(out, "\nExternal .rodata: ~{external} bytes\n");
        }
        out.push('\n');
        Ok(())
    }

    fn functions(&self, out: &mut String) {
        let def = self.archive.def();
        heading(out, &format!("Bytecode : version {}", def.version));
        out.push_str("\n  # | Offset   |   Length | Blocks | i32 # | ref # | Requirements | Aliases\n");
        out.push_str("----+----------+----------+--------+-------+-------+--------------+");
        out.push_str("-----------------------------------------------------\n");
        for (i, f) in def.functions.iter().enumerate() {
            let names: Vec<&str> = self.exported_names(i).collect();
            put!(
                out,
                "{i:3} | {:08X} | {:8} | {:6} | {:5} | {:5} | {:12} | {}\n",
                f.offset,
                f.length,
                f.block_count,
                f.i32_registers,
                f.ref_registers,
                requirements(f.requirements),
                names.join(", ")
            );
        }
        out.push('\n');
    }
}

fn attrs(out: &mut String, attrs: &[Attr], indent: &str) {
    for attr in attrs {
        put!(out, "{indent}{}: {}\n", attr.key, attr.value);
    }
}

/// The text in a segment: shown when everything before the first NUL is printable, at most 32 characters of it.
fn preview(out: &mut String, bytes: &[u8]) {
    let text = bytes.split(|b| *b == 0).next().unwrap_or(bytes);
    if !text.iter().all(|b| (0x20..0x7F).contains(b)) {
        return;
    }
    let shown = String::from_utf8_lossy(&text[..text.len().min(32)]).into_owned();
    put!(out, " `{shown}`{}", if text.len() >= 32 { "..." } else { "" });
}
