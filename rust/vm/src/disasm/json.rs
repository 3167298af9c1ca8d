//! A module's FlatBuffer as JSON: a small schema, and a printer that walks the buffer by it.

use super::put;
use crate::archive::flatbuffer::{Budget, Buffer, Table};
use crate::status::{Result, Status};

/// Type of a field.
#[derive(Clone, Copy)]
enum Type {
    U32,
    I32,
    U64,
    /// Names of bits, and the value of an absent field.
    Flags(&'static [(u32, &'static str)], u32),
    Text,
    Table(&'static Schema),
    Tables(&'static Schema),
    Bytes,
    Ints,
    Structs(&'static [(&'static str, Width)]),
    /// A union: this slot holds its tag, the next one the table.
    Union(&'static [&'static str], &'static [Option<&'static Schema>]),
    /// As `Union`, for a vector of them.
    Unions(&'static [&'static str], &'static [Option<&'static Schema>]),
}

#[derive(Clone, Copy)]
enum Width {
    I16,
    I32,
    Features,
}

/// Fields of a table: slot, name, type.
struct Schema(&'static [(usize, &'static str, Type)]);

const FEATURES: &[(u32, &str)] = &[(1, "EXT_F32"), (2, "EXT_F64"), (4, "YIELD"), (8, "UNWIND")];
const NEED: &[(u32, &str)] = &[(1, "REQUIRED"), (2, "OPTIONAL")];

static ATTR: Schema = Schema(&[(0, "key", Type::Text), (1, "value", Type::Text)]);
static TYPE: Schema = Schema(&[(0, "full_name", Type::Text)]);
static SIGNATURE: Schema = Schema(&[(0, "calling_convention", Type::Text), (1, "attrs", Type::Tables(&ATTR))]);
static DEPENDENCY: Schema =
    Schema(&[(0, "name", Type::Text), (1, "minimum_version", Type::U32), (2, "flags", Type::Flags(NEED, 1))]);
static IMPORT: Schema = Schema(&[
    (0, "full_name", Type::Text),
    (1, "signature", Type::Table(&SIGNATURE)),
    (2, "flags", Type::Flags(NEED, 1)),
]);
static EXPORT: Schema = Schema(&[(0, "local_name", Type::Text), (1, "internal_ordinal", Type::I32)]);
static UNCOMPRESSED: Schema = Schema(&[]);
static RODATA: Schema = Schema(&[
    (0, "compression_type", Type::Union(&["NONE", "UncompressedDataDef"], &[None, Some(&UNCOMPRESSED)])),
    (2, "embedded_data", Type::Bytes),
    (3, "external_data_offset", Type::U64),
    (4, "external_data_length", Type::U64),
]);
static RWDATA: Schema = Schema(&[(0, "byte_size", Type::I32)]);
static STATE: Schema = Schema(&[(0, "global_bytes_capacity", Type::I32), (1, "global_ref_count", Type::I32)]);
static CALL_SITE: Schema = Schema(&[(0, "callee", Type::I32), (1, "caller", Type::I32)]);
static FILE_LINE_COL: Schema = Schema(&[(0, "filename", Type::Text), (1, "line", Type::I32), (2, "column", Type::I32)]);
static FUSED: Schema = Schema(&[(0, "metadata", Type::Text), (1, "locations", Type::Ints)]);
static NAMED: Schema = Schema(&[(0, "name", Type::Text), (1, "child_location", Type::I32)]);
static SOURCE_MAP: Schema = Schema(&[
    (0, "local_name", Type::Text),
    (1, "locations", Type::Structs(&[("bytecode_offset", Width::I32), ("location", Width::I32)])),
]);
static DEBUG: Schema = Schema(&[
    (
        0,
        "location_table",
        Type::Unions(
            &["NONE", "CallSiteLocDef", "FileLineColLocDef", "FusedLocDef", "NameLocDef"],
            &[None, Some(&CALL_SITE), Some(&FILE_LINE_COL), Some(&FUSED), Some(&NAMED)],
        ),
    ),
    (2, "functions", Type::Tables(&SOURCE_MAP)),
]);
static MODULE: Schema = Schema(&[
    (0, "name", Type::Text),
    (1, "version", Type::U32),
    (2, "requirements", Type::Flags(FEATURES, 0)),
    (3, "attrs", Type::Tables(&ATTR)),
    (4, "types", Type::Tables(&TYPE)),
    (5, "dependencies", Type::Tables(&DEPENDENCY)),
    (6, "imported_functions", Type::Tables(&IMPORT)),
    (7, "exported_functions", Type::Tables(&EXPORT)),
    (8, "function_signatures", Type::Tables(&SIGNATURE)),
    (9, "rodata_segments", Type::Tables(&RODATA)),
    (10, "rwdata_segments", Type::Tables(&RWDATA)),
    (11, "module_state", Type::Table(&STATE)),
    (
        12,
        "function_descriptors",
        Type::Structs(&[
            ("bytecode_offset", Width::I32),
            ("bytecode_length", Width::I32),
            ("requirements", Width::Features),
            ("reserved", Width::I16),
            ("block_count", Width::I16),
            ("i32_register_count", Width::I16),
            ("ref_register_count", Width::I16),
        ]),
    ),
    (13, "bytecode_version", Type::U32),
    (14, "bytecode_data", Type::Bytes),
    (15, "debug_database", Type::Table(&DEBUG)),
]);

/// Text of the FlatBuffer `bytes` (without its size prefix).
pub fn print(bytes: &[u8], pretty: bool) -> Result<String> {
    let mut printer = Printer { out: String::new(), pretty, level: 0 };
    let budget = Budget::new(bytes.len());
    printer.table(Buffer::new(bytes, &budget).root()?, &MODULE)?;
    if pretty {
        printer.out.push('\n');
    }
    Ok(printer.out)
}

struct Printer {
    out: String,
    pretty: bool,
    level: usize,
}

impl Printer {
    fn line(&mut self) {
        if self.pretty {
            self.out.push('\n');
            for _ in 0..self.level {
                self.out.push_str("  ");
            }
        }
    }

    fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.level += 1;
    }

    fn close(&mut self, bracket: char) {
        self.level -= 1;
        self.line();
        self.out.push(bracket);
    }

    fn name(&mut self, name: &str, first: &mut bool) {
        if !std::mem::replace(first, false) {
            self.out.push(',');
        }
        self.line();
        put!(&mut self.out, "\"{name}\":{}", if self.pretty { " " } else { "" });
    }

    fn text(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                c if (c as u32) < 0x20 => put!(&mut self.out, "\\u{:04x}", c as u32),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    fn flags(&mut self, bits: u32, names: &[(u32, &str)]) {
        let known: u32 = names.iter().map(|(bit, _)| bit).sum();
        if bits == 0 || bits & !known != 0 {
            put!(&mut self.out, "{bits}");
        } else {
            let set: Vec<&str> = names.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect();
            put!(&mut self.out, "\"{}\"", set.join(" "));
        }
    }

    /// A vector whose elements go on lines of their own.
    fn items(&mut self, count: usize, mut print: impl FnMut(&mut Printer, usize) -> Result<()>) -> Result<()> {
        self.open('[');
        for i in 0..count {
            if i > 0 {
                self.out.push(',');
            }
            self.line();
            print(self, i)?;
        }
        self.close(']');
        Ok(())
    }

    /// A vector of tables: braces stay on the line of the bracket or comma before them.
    fn tables(&mut self, count: usize, mut print: impl FnMut(&mut Printer, usize) -> Result<()>) -> Result<()> {
        self.open('[');
        for i in 0..count {
            if i > 0 {
                self.out.push(',');
            }
            print(self, i)?;
        }
        self.close(']');
        Ok(())
    }

    fn table(&mut self, table: Table<'_>, schema: &Schema) -> Result<()> {
        self.open('{');
        let mut first = true;
        for (slot, name, ty) in schema.0 {
            self.field(table, *slot, name, *ty, &mut first)?;
        }
        self.close('}');
        Ok(())
    }

    fn field(&mut self, table: Table<'_>, slot: usize, name: &'static str, ty: Type, first: &mut bool) -> Result<()> {
        match ty {
            Type::Union(tags, schemas) => return self.union(table, slot, name, tags, schemas, first),
            Type::Unions(tags, schemas) => return self.unions(table, slot, name, tags, schemas, first),
            _ => {}
        }
        let width = match ty {
            Type::U64 => 8,
            _ => 4,
        };
        if table.field(slot, width, name)?.is_none() || is_default(table, slot, name, ty)? {
            return Ok(());
        }
        self.name(name, first);
        match ty {
            Type::U32 => put!(&mut self.out, "{}", table.u32(slot, name)?.unwrap_or(0)),
            Type::I32 => put!(&mut self.out, "{}", table.u32(slot, name)?.unwrap_or(0) as i32),
            Type::U64 => put!(&mut self.out, "{}", table.u64(slot, name)?.unwrap_or(0)),
            Type::Flags(names, _) => self.flags(table.u32(slot, name)?.unwrap_or(0), names),
            Type::Text => self.text(table.text(slot, name)?.unwrap_or_default()),
            Type::Table(schema) => {
                if let Some(child) = table.table(slot, name)? {
                    self.table(child, schema)?;
                }
            }
            Type::Tables(schema) => {
                if let Some(vector) = table.vector(slot, 4, name)? {
                    self.tables(vector.len(), |p, i| p.table(vector.table(i, name)?, schema))?;
                }
            }
            Type::Bytes => {
                if let Some(vector) = table.vector(slot, 1, name)? {
                    self.items(vector.len(), |p, i| {
                        put!(&mut p.out, "{}", vector.array::<1>(i)?[0]);
                        Ok(())
                    })?;
                }
            }
            Type::Ints => {
                if let Some(vector) = table.vector(slot, 4, name)? {
                    self.items(vector.len(), |p, i| {
                        put!(&mut p.out, "{}", i32::from_le_bytes(vector.array(i)?));
                        Ok(())
                    })?;
                }
            }
            Type::Structs(fields) => self.structs(table, slot, name, fields)?,
            Type::Union(..) | Type::Unions(..) => {}
        }
        Ok(())
    }

    fn structs(&mut self, table: Table<'_>, slot: usize, name: &str, fields: &[(&str, Width)]) -> Result<()> {
        let size = fields.iter().map(|(_, width)| if matches!(width, Width::I16) { 2 } else { 4 }).sum();
        let Some(vector) = table.vector(slot, size, name)? else { return Ok(()) };
        self.items(vector.len(), |p, i| {
            p.open('{');
            let (mut first, mut at) = (true, 0);
            for (field, width) in fields {
                p.name(field, &mut first);
                let mut bytes = [0u8; 4];
                let length = if matches!(width, Width::I16) { 2 } else { 4 };
                for byte in &mut bytes[..length] {
                    *byte = vector.array::<1>(i * size + at)?[0];
                    at += 1;
                }
                let value = u32::from_le_bytes(bytes);
                match width {
                    Width::I16 => put!(&mut p.out, "{}", value as u16 as i16),
                    Width::I32 => put!(&mut p.out, "{}", value as i32),
                    Width::Features => p.flags(value, FEATURES),
                }
            }
            p.close('}');
            Ok(())
        })
    }

    fn union(
        &mut self,
        table: Table<'_>,
        slot: usize,
        name: &'static str,
        tags: &[&str],
        schemas: &[Option<&Schema>],
        first: &mut bool,
    ) -> Result<()> {
        let Some(tag) = table.u8(slot, name)? else { return Ok(()) };
        let tag = known(tag, tags, name)?;
        self.name(&format!("{name}_type"), first);
        put!(&mut self.out, "\"{}\"", tags[tag]);
        if let (Some(schema), Some(child)) = (schemas[tag], table.table(slot + 1, name)?) {
            self.name(name, first);
            self.table(child, schema)?;
        }
        Ok(())
    }

    fn unions(
        &mut self,
        table: Table<'_>,
        slot: usize,
        name: &'static str,
        tags: &[&str],
        schemas: &[Option<&Schema>],
        first: &mut bool,
    ) -> Result<()> {
        let (Some(kinds), Some(values)) = (table.vector(slot, 1, name)?, table.vector(slot + 1, 4, name)?) else {
            return Ok(());
        };
        self.name(&format!("{name}_type"), first);
        self.items(kinds.len(), |p, i| {
            put!(&mut p.out, "\"{}\"", tags[known(kinds.array::<1>(i)?[0], tags, name)?]);
            Ok(())
        })?;
        self.name(name, first);
        self.tables(values.len().min(kinds.len()), |p, i| {
            let tag = known(kinds.array::<1>(i)?[0], tags, name)?;
            match (schemas[tag], values.opt_table(i, name)?) {
                (Some(schema), Some(child)) => p.table(child, schema),
                _ => {
                    p.out.push_str("null");
                    Ok(())
                }
            }
        })
    }
}

/// Whether a number has the value that an absent field stands for.
fn is_default(table: Table<'_>, slot: usize, name: &str, ty: Type) -> Result<bool> {
    Ok(match ty {
        Type::U32 | Type::I32 => table.u32(slot, name)? == Some(0),
        Type::U64 => table.u64(slot, name)? == Some(0),
        Type::Flags(_, default) => table.u32(slot, name)? == Some(default),
        _ => false,
    })
}

fn known(tag: u8, tags: &[&str], name: &str) -> Result<usize> {
    let tag = usize::from(tag);
    if tag < tags.len() {
        return Ok(tag);
    }
    Err(Status::invalid_argument(format!("{name} has union type {tag}, which does not exist")))
}
