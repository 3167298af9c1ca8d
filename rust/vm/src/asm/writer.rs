//! A module that was read, as a file: the plain container, in the order of parts that iree-as-module writes.

use super::flatbuffer::{Builder, Field, Object};
use super::module::{Dependency, Import, Module};
use super::registers::Counts;
use crate::archive::schema::DIGEST;
use crate::isa::{VERSION_MAJOR, VERSION_MINOR};
use crate::status::{Result, Status};

/// The part of a digest that is about the whole file.
const WHOLE: &str = "fb";

/// What follows from the parts together.
pub struct Derived {
    /// Registers of each function.
    pub registers: Vec<Counts>,
    /// (name, ordinal)
    pub exports: Vec<(String, u32)>,
}

/// The bytes of the file. RESOURCE_EXHAUSTED when it would be larger than offsets reach.
pub fn write(module: &Module, derived: &Derived) -> Result<Vec<u8>> {
    let code: usize = module.functions.iter().map(|f| f.code.len() + 8).sum();
    let rodata: usize = module.rodata.iter().map(|r| r.len() + 16).sum();
    if code.saturating_add(rodata) > 1 << 30 {
        return Err(Status::resource_exhausted("the module is larger than 1 GiB, which assembly cannot make"));
    }
    let mut b = Builder::default();
    let name = b.text(module.name.as_deref().unwrap_or_default());
    let (bytecode, descriptors) = bytecode(module, derived);
    let attrs = with_checksums(module, &bytecode);
    let digest = attrs.iter().find(|(key, _)| key == DIGEST).map(|(_, value)| value.clone());
    let bytecode = b.bytes(&bytecode);
    let attrs = attributes(&mut b, &attrs);
    let types = module.tables.types.iter().map(|name| {
        let name = b.text(name);
        b.table(&[(0, Field::Object(name))])
    });
    let types: Vec<Object> = types.collect();
    let types = vector(&mut b, &types);
    let dependencies: Vec<Object> = module.dependencies.iter().map(|d| dependency(&mut b, d)).collect();
    let dependencies = vector(&mut b, &dependencies);
    let imports: Vec<Object> = module.imports.iter().map(|i| import(&mut b, i)).collect();
    let imports = vector(&mut b, &imports);
    let signatures: Vec<Object> = module.functions.iter().map(|f| signature(&mut b, &f.cconv, &f.attrs)).collect();
    let descriptors = b.structs(module.functions.len() as u32, &descriptors);
    let signatures = vector(&mut b, &signatures);
    let exports = derived.exports.iter().map(|(name, ordinal)| {
        let name = b.text(name);
        table(&mut b, &[(0, Some(Field::Object(name))), (1, number(*ordinal))])
    });
    let exports: Vec<Object> = exports.collect();
    let exports = vector(&mut b, &exports);
    let rodata = module.rodata.iter().map(|bytes| {
        let bytes = b.bytes(bytes);
        b.table(&[(2, Field::Object(bytes))])
    });
    let rodata: Vec<Object> = rodata.collect();
    let rodata = vector(&mut b, &rodata);
    let (bytes, refs) = module.tables.state;
    let state = (bytes != 0 || refs != 0).then(|| table(&mut b, &[(0, number(bytes)), (1, number(refs))]));
    let requirements =
        module.requirements.unwrap_or_else(|| module.functions.iter().fold(0, |a, f| a | f.requirements));
    let root = table(
        &mut b,
        &[
            (0, Some(Field::Object(name))),
            (1, number(module.version)),
            (2, number(requirements)),
            (3, attrs.map(Field::Object)),
            (4, types.map(Field::Object)),
            (5, dependencies.map(Field::Object)),
            (6, imports.map(Field::Object)),
            (7, exports.map(Field::Object)),
            (8, signatures.map(Field::Object)),
            (9, rodata.map(Field::Object)),
            (11, state.map(Field::Object)),
            (12, Some(Field::Object(descriptors))),
            (13, number(VERSION_MAJOR << 16 | VERSION_MINOR)),
            (14, Some(Field::Object(bytecode))),
        ],
    );
    let mut bytes = b.finish(root, b"IREE");
    if let Some(digest) = digest {
        fill_in(&mut bytes, &digest);
    }
    Ok(bytes)
}

/// The module's attributes; the checksums in `tiree.digest` are those of the parts at hand.
fn with_checksums(module: &Module, bytecode: &[u8]) -> Vec<(String, String)> {
    let checksum = |part: &str| {
        let name = part.split(':').next().unwrap_or_default();
        let segment = name.get(1..).and_then(|number| number.parse::<usize>().ok());
        let bytes = match segment.and_then(|number| module.rodata.get(number)) {
            Some(segment) => segment,
            None => bytecode,
        };
        let crc = if name == WHOLE { 0 } else { crc32fast::hash(bytes) };
        format!("{name}:{crc:08x}")
    };
    let mut attrs = module.attrs.clone();
    for (_, value) in attrs.iter_mut().filter(|(key, _)| key == DIGEST) {
        *value = value.split(',').map(checksum).collect::<Vec<_>>().join(",");
    }
    attrs
}

/// Replaces the zeros at the end of the digest by the checksum of everything behind the size prefix.
fn fill_in(bytes: &mut [u8], digest: &str) {
    let found = bytes.windows(digest.len()).position(|window| window == digest.as_bytes());
    if let (Some(at), true) = (found, digest.ends_with("fb:00000000")) {
        let crc = format!("{:08x}", crc32fast::hash(&bytes[4..]));
        let end = at + digest.len();
        bytes[end - crc.len()..end].copy_from_slice(crc.as_bytes());
    }
}

/// All code, each function from a multiple of 8, and the descriptors.
fn bytecode(module: &Module, derived: &Derived) -> (Vec<u8>, Vec<u8>) {
    let (mut bytecode, mut descriptors) = (Vec::new(), Vec::new());
    for (function, counts) in module.functions.iter().zip(&derived.registers) {
        let (cells, refs) = function.registers.unwrap_or((counts.cells as u16, counts.refs as u16));
        descriptors.extend_from_slice(&(bytecode.len() as u32).to_le_bytes());
        descriptors.extend_from_slice(&(function.code.len() as u32).to_le_bytes());
        descriptors.extend_from_slice(&function.requirements.to_le_bytes());
        for half in [0, function.block_count, cells, refs] {
            descriptors.extend_from_slice(&half.to_le_bytes());
        }
        bytecode.extend_from_slice(&function.code);
        bytecode.resize(bytecode.len().next_multiple_of(8), 0);
    }
    (bytecode, descriptors)
}

/// A number that is left out when 0, as that is what readers assume.
fn number(value: u32) -> Option<Field> {
    (value != 0).then_some(Field::U32(value))
}

fn table(b: &mut Builder, fields: &[(usize, Option<Field>)]) -> Object {
    let present: Vec<(usize, Field)> = fields.iter().filter_map(|(slot, field)| Some((*slot, (*field)?))).collect();
    b.table(&present)
}

/// A vector that is left out when empty.
fn vector(b: &mut Builder, objects: &[Object]) -> Option<Object> {
    (!objects.is_empty()).then(|| b.objects(objects))
}

fn attributes(b: &mut Builder, attrs: &[(String, String)]) -> Option<Object> {
    let tables = attrs.iter().map(|(key, value)| {
        let (key, value) = (b.text(key), b.text(value));
        b.table(&[(0, Field::Object(key)), (1, Field::Object(value))])
    });
    let tables: Vec<Object> = tables.collect();
    vector(b, &tables)
}

fn signature(b: &mut Builder, cconv: &str, attrs: &[(String, String)]) -> Object {
    let cconv = b.text(cconv);
    let attrs = attributes(b, attrs);
    table(b, &[(0, Some(Field::Object(cconv))), (1, attrs.map(Field::Object))])
}

fn import(b: &mut Builder, import: &Import) -> Object {
    let name = b.text(&import.name);
    let signature = signature(b, &import.cconv, &[]);
    // Required is what readers assume.
    let flags = (import.flags != 1).then_some(Field::U32(import.flags));
    table(b, &[(0, Some(Field::Object(name))), (1, Some(Field::Object(signature))), (2, flags)])
}

fn dependency(b: &mut Builder, dependency: &Dependency) -> Object {
    let name = b.text(&dependency.name);
    let flags = (dependency.flags != 1).then_some(Field::U32(dependency.flags));
    table(b, &[(0, Some(Field::Object(name))), (1, number(dependency.version)), (2, flags)])
}
