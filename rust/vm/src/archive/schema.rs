//! The tables of a module's FlatBuffer, read into owned structures with every check that needs no other part.

use std::ops::Range;

use super::flatbuffer::{Budget, Buffer, Table, Vector};
use crate::status::{Annotate, Result, Status};

/// Key and value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attr {
    /// Key.
    pub key: String,
    /// Value.
    pub value: String,
}

/// A module that this one needs.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// Its name.
    pub name: String,
    /// Lowest version that will do.
    pub minimum_version: u32,
    /// Bit 0 required, bit 1 optional.
    pub flags: u32,
}

impl Dependency {
    /// Whether the module must be there.
    pub fn is_required(&self) -> bool {
        self.flags & 1 != 0
    }
}

/// Calling convention and reflection attributes of a function.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// Calling-convention string.
    pub cconv: String,
    /// Reflection attributes.
    pub attrs: Vec<Attr>,
}

/// A function of another module.
#[derive(Clone, Debug)]
pub struct Import {
    /// `module.function`.
    pub full_name: String,
    /// What this module believes its signature to be.
    pub signature: Option<Signature>,
    /// Bit 0 required, bit 1 optional.
    pub flags: u32,
}

impl Import {
    /// Whether the function may be missing.
    pub fn is_optional(&self) -> bool {
        self.flags & 2 != 0
    }

    /// The calling convention, empty when there is none.
    pub fn cconv(&self) -> &str {
        self.signature.as_ref().map_or("", |s| &s.cconv)
    }
}

/// A public function.
#[derive(Clone, Debug)]
pub struct Export {
    /// Name without the module.
    pub name: String,
    /// Ordinal of the function.
    pub ordinal: u32,
}

/// Where the bytes of a rodata segment are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rodata {
    /// In the FlatBuffer, at this range of it.
    Embedded(Range<usize>),
    /// Behind the FlatBuffer.
    External {
        /// From the first 64-byte boundary of the file behind the FlatBuffer.
        offset: u64,
        /// In bytes.
        length: u64,
    },
}

/// One function's place and size.
#[derive(Clone, Copy, Debug)]
pub struct FunctionDescriptor {
    /// Range in the bytecode.
    pub offset: u32,
    /// Length without padding.
    pub length: u32,
    /// Feature bits.
    pub requirements: u32,
    /// Number of block markers.
    pub block_count: u16,
    /// 32-bit cells.
    pub i32_registers: u16,
    /// Reference registers.
    pub ref_registers: u16,
    /// Must be 0.
    pub reserved: u16,
}

/// A module as its FlatBuffer describes it.
#[derive(Clone, Debug)]
pub struct ModuleDef {
    /// Name that importers use.
    pub name: String,
    /// Version that dependents compare.
    pub version: u32,
    /// Feature bits.
    pub requirements: u32,
    /// Module attributes.
    pub attrs: Vec<Attr>,
    /// Type names.
    pub types: Vec<String>,
    /// Modules needed.
    pub dependencies: Vec<Dependency>,
    /// Functions needed.
    pub imports: Vec<Import>,
    /// Public functions.
    pub exports: Vec<Export>,
    /// One for each function.
    pub signatures: Vec<Signature>,
    /// Constant data.
    pub rodata: Vec<Rodata>,
    /// Bytes and references of module state, when the table is present.
    pub state: Option<(u32, u32)>,
    /// One for each function.
    pub functions: Vec<FunctionDescriptor>,
    /// `major << 16 | minor`.
    pub bytecode_version: u32,
    /// The bytecode's range of the FlatBuffer.
    pub bytecode: Range<usize>,
    /// Entries of the debug database's location table, when there is one.
    pub debug_locations: Option<usize>,
    /// Range of the value of the attribute `tiree.digest` in the FlatBuffer, when present.
    pub digest: Option<Range<usize>>,
}

/// Field numbers of the root table.
mod root {
    pub const NAME: usize = 0;
    pub const VERSION: usize = 1;
    pub const REQUIREMENTS: usize = 2;
    pub const ATTRS: usize = 3;
    pub const TYPES: usize = 4;
    pub const DEPENDENCIES: usize = 5;
    pub const IMPORTS: usize = 6;
    pub const EXPORTS: usize = 7;
    pub const SIGNATURES: usize = 8;
    pub const RODATA: usize = 9;
    pub const STATE: usize = 11;
    pub const FUNCTIONS: usize = 12;
    pub const BYTECODE_VERSION: usize = 13;
    pub const BYTECODE: usize = 14;
    pub const DEBUG: usize = 15;
}

/// What names of attributes that Tiree writes begin with.
pub const PREFIX: &str = "tiree.";
/// Name of the attribute with checksums.
pub const DIGEST: &str = "tiree.digest";

/// Calls `read` for each table of the vector in `slot`.
fn tables<T>(
    table: Table<'_>,
    slot: usize,
    what: &str,
    mut read: impl FnMut(Table<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let Some(vector) = table.vector(slot, 4, what)? else { return Ok(Vec::new()) };
    (0..vector.len())
        .map(|i| vector.table(i, what).and_then(&mut read).annotate(|| format!("in {what}[{i}]")))
        .collect()
}

fn required(text: Option<&str>, what: &str) -> Result<String> {
    match text {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(Status::invalid_argument(format!("{what} is missing"))),
    }
}

fn attr(table: Table<'_>) -> Result<Attr> {
    let text = |slot, what| Ok::<_, Status>(table.text(slot, what)?.unwrap_or_default().to_owned());
    Ok(Attr { key: text(0, "attribute key")?, value: text(1, "attribute value")? })
}

fn signature(table: Table<'_>) -> Result<Signature> {
    Ok(Signature {
        cconv: table.text(0, "calling_convention")?.unwrap_or_default().to_owned(),
        attrs: tables(table, 1, "signature attrs", attr)?,
    })
}

fn dependency(table: Table<'_>) -> Result<Dependency> {
    Ok(Dependency {
        name: required(table.text(0, "dependency name")?, "dependency name")?,
        minimum_version: table.u32(1, "dependency minimum_version")?.unwrap_or(0),
        flags: table.u32(2, "dependency flags")?.unwrap_or(1),
    })
}

fn import(table: Table<'_>) -> Result<Import> {
    Ok(Import {
        full_name: required(table.text(0, "import full_name")?, "import full_name")?,
        signature: table.table(1, "import signature")?.map(signature).transpose()?,
        flags: table.u32(2, "import flags")?.unwrap_or(1),
    })
}

fn export(table: Table<'_>) -> Result<Export> {
    Ok(Export {
        name: required(table.text(0, "export local_name")?, "export local_name")?,
        ordinal: table.u32(1, "export internal_ordinal")?.unwrap_or(0),
    })
}

fn rodata(table: Table<'_>) -> Result<Rodata> {
    let compression = table.u8(0, "rodata compression_type")?.unwrap_or(0);
    if compression > 1 {
        return Err(Status::unimplemented(format!("rodata compression {compression} is not known to this runtime")));
    }
    if let Some(bytes) = table.vector(2, 1, "rodata embedded_data")? {
        return Ok(Rodata::Embedded(range(bytes)));
    }
    Ok(Rodata::External {
        offset: table.u64(3, "rodata external_data_offset")?.unwrap_or(0),
        length: table.u64(4, "rodata external_data_length")?.unwrap_or(0),
    })
}

fn range(bytes: Vector<'_>) -> Range<usize> {
    bytes.position()..bytes.position() + bytes.len()
}

fn function(bytes: [u8; 20]) -> Result<FunctionDescriptor> {
    let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let u16_at = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    Ok(FunctionDescriptor {
        offset: u32_at(0),
        length: u32_at(4),
        requirements: u32_at(8),
        reserved: u16_at(12),
        block_count: u16_at(14),
        i32_registers: u16_at(16),
        ref_registers: u16_at(18),
    })
}

fn digest(root: Table<'_>) -> Result<Option<Range<usize>>> {
    let Some(attrs) = root.vector(root::ATTRS, 4, "attrs")? else { return Ok(None) };
    for i in 0..attrs.len() {
        let table = attrs.table(i, "attrs")?;
        if table.text(0, "attribute key")? == Some(DIGEST) {
            return Ok(table.vector(1, 1, "attribute value")?.map(range));
        }
    }
    Ok(None)
}

/// Whether there are attributes of Tiree's that `parse` does not reach, as damage to a few bytes of the tables leaves
/// them. It looks where they would be, and reads nothing else.
pub fn hides_attrs(bytes: &[u8]) -> bool {
    /// Elements that are looked at, whatever the vector says of its length.
    const ELEMENTS: usize = 8;
    let budget = Budget::new(bytes.len());
    let Ok(root) = Buffer::new(bytes, &budget).root() else { return false };
    root.unnamed_vectors(root::ATTRS).any(|vector| {
        let keys = (0..ELEMENTS).map_while(|i| vector.table(i, "attrs").and_then(|attr| attr.text(0, "key")).ok());
        keys.flatten().any(|key| key.starts_with(PREFIX))
    })
}

/// Reads a FlatBuffer whose first byte is the root offset (the size prefix is not part of `bytes`).
pub fn parse(bytes: &[u8]) -> Result<ModuleDef> {
    let budget = Budget::new(bytes.len());
    let root = Buffer::new(bytes, &budget).root()?;
    let functions = root.vector(root::FUNCTIONS, 20, "function_descriptors")?;
    let functions = match functions {
        Some(vector) => (0..vector.len()).map(|i| function(vector.array(i)?)).collect::<Result<_>>()?,
        None => Vec::new(),
    };
    let state = root.table(root::STATE, "module_state")?;
    let state = state
        .map(|t| {
            let size = |slot, what| Ok::<_, Status>(t.u32(slot, what)?.unwrap_or(0));
            Ok::<_, Status>((size(0, "global_bytes_capacity")?, size(1, "global_ref_count")?))
        })
        .transpose()?;
    let debug = root.table(root::DEBUG, "debug_database")?;
    let debug_locations =
        debug.map(|t| Ok::<_, Status>(t.vector(1, 4, "location_table")?.map_or(0, Vector::len))).transpose()?;
    Ok(ModuleDef {
        name: root.text(root::NAME, "name")?.unwrap_or_default().to_owned(),
        version: root.u32(root::VERSION, "version")?.unwrap_or(0),
        requirements: root.u32(root::REQUIREMENTS, "requirements")?.unwrap_or(0),
        attrs: tables(root, root::ATTRS, "attrs", attr)?,
        types: tables(root, root::TYPES, "types", |t| required(t.text(0, "type full_name")?, "type full_name"))?,
        dependencies: tables(root, root::DEPENDENCIES, "dependencies", dependency)?,
        imports: tables(root, root::IMPORTS, "imported_functions", import)?,
        exports: tables(root, root::EXPORTS, "exported_functions", export)?,
        signatures: tables(root, root::SIGNATURES, "function_signatures", signature)?,
        rodata: tables(root, root::RODATA, "rodata_segments", rodata)?,
        state,
        functions,
        bytecode_version: root.u32(root::BYTECODE_VERSION, "bytecode_version")?.unwrap_or(0),
        bytecode: root.vector(root::BYTECODE, 1, "bytecode_data")?.map_or(0..0, range),
        debug_locations,
        digest: digest(root)?,
    })
}
