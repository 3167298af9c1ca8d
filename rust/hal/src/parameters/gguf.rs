//! The GGUF format, versions 2 and 3: key-value pairs, a table of tensors, then their bytes, quantised blocks as they are.

use super::bytes::{Cursor, bad};
use super::{Index, Source};
use std::sync::Arc;
use tiree_vm::{Annotate, Result, Status};

const MAGIC: &[u8; 4] = b"GGUF";
const ALIGNMENT_KEY: &[u8] = b"general.alignment";
const DEFAULT_ALIGNMENT: u64 = 32;
const MAX_DIMS: u32 = 8;
/// Arrays in arrays.
const MAX_DEPTH: usize = 8;

/// Types of values.
mod value {
    pub(super) const UINT32: u32 = 4;
    pub(super) const STRING: u32 = 8;
    pub(super) const ARRAY: u32 = 9;
    /// Bytes of a scalar of type `kind`.
    pub(super) fn size(kind: u32) -> Option<u64> {
        match kind {
            0 | 1 | 7 => Some(1),
            2 | 3 => Some(2),
            4..=6 => Some(4),
            10..=12 => Some(8),
            _ => None,
        }
    }
}

/// (type number, name, elements of a block, bytes of a block)
const TYPES: &[(u32, &str, u64, u64)] = &[
    (0, "F32", 1, 4),
    (1, "F16", 1, 2),
    (2, "Q4_0", 32, 18),
    (3, "Q4_1", 32, 20),
    (6, "Q5_0", 32, 22),
    (7, "Q5_1", 32, 24),
    (8, "Q8_0", 32, 34),
    (9, "Q8_1", 32, 40),
    (10, "Q2_K", 256, 84),
    (11, "Q3_K", 256, 110),
    (12, "Q4_K", 256, 144),
    (13, "Q5_K", 256, 176),
    (14, "Q6_K", 256, 210),
    (15, "Q8_K", 256, 292),
    (16, "IQ2_XXS", 256, 66),
    (17, "IQ2_XS", 256, 74),
    (18, "IQ3_XXS", 256, 98),
    (19, "IQ1_S", 256, 50),
    (20, "IQ4_NL", 32, 18),
    (21, "IQ3_S", 256, 110),
    (22, "IQ2_S", 256, 82),
    (23, "IQ4_XS", 256, 136),
    (24, "I8", 1, 1),
    (25, "I16", 1, 2),
    (26, "I32", 1, 4),
    (27, "I64", 1, 8),
    (28, "F64", 1, 8),
    (29, "IQ1_M", 256, 56),
    (30, "BF16", 1, 2),
    (34, "TQ1_0", 256, 54),
    (35, "TQ2_0", 256, 66),
    (39, "MXFP4", 32, 17),
    (40, "NVFP4", 64, 36),
    (41, "Q1_0", 128, 18),
];

/// The types of tensors that are read: number, name, elements of a block, bytes of a block.
pub fn tensor_types() -> &'static [(u32, &'static str, u64, u64)] {
    TYPES
}

/// Adds all tensors of a file to `index`, in the order of its table.
///
/// # Errors
/// INVALID_ARGUMENT for damage, with the tensor and both sizes; UNIMPLEMENTED for other versions and unknown types.
pub fn read(source: &Arc<Source>, index: &Index) -> Result<()> {
    let file = source.bytes();
    let mut cursor = Cursor::new(file);
    if cursor.take(4, "magic")? != MAGIC {
        return Err(bad("not a GGUF file (magic is missing)"));
    }
    check_version(cursor.u32("version")?)?;
    let (tensor_count, pair_count) = (cursor.u64("number of tensors")?, cursor.u64("number of key-value pairs")?);
    let mut alignment = DEFAULT_ALIGNMENT;
    for number in 0..pair_count {
        read_pair(&mut cursor, &mut alignment).annotate(|| format!("key-value pair {number}"))?;
    }
    let mut tensors = Vec::new();
    for number in 0..tensor_count {
        tensors.push(read_tensor(&mut cursor).annotate(|| format!("tensor {number}"))?);
    }
    let data_start = (cursor.position() as u64).next_multiple_of(alignment);
    for Tensor { key, offset, length } in tensors {
        let end = data_start.checked_add(offset).and_then(|start| start.checked_add(length));
        if end.is_none_or(|end| end > file.len() as u64) {
            return Err(bad(format!(
                "the file is cut short or damaged: tensor \"{key}\" of {length} bytes at offset {offset} of the data, \
                 which begins at {data_start} of {} bytes",
                file.len()
            )));
        }
        index.add_data(key, Vec::new(), source, (data_start + offset) as usize, length as usize)?;
    }
    Ok(())
}

fn check_version(version: u32) -> Result<()> {
    match version {
        2 | 3 => Ok(()),
        _ if matches!(version.swap_bytes(), 1..=3) => {
            Err(Status::unimplemented("the file is big-endian; only little-endian GGUF files are read"))
        }
        _ => Err(Status::unimplemented(format!("GGUF version {version} is not supported; versions 2 and 3 are"))),
    }
}

fn read_pair(cursor: &mut Cursor<'_>, alignment: &mut u64) -> Result<()> {
    let key = cursor.string("key")?;
    let kind = cursor.u32("type of a value")?;
    if key != ALIGNMENT_KEY {
        return skip_value(cursor, kind, 0).annotate(|| format!("\"{}\"", String::from_utf8_lossy(key)));
    }
    if kind != value::UINT32 {
        return Err(bad(format!("general.alignment has type {kind}; must be {} (uint32)", value::UINT32)));
    }
    *alignment = u64::from(cursor.u32("general.alignment")?);
    if *alignment == 0 {
        return Err(bad("general.alignment is 0"));
    }
    Ok(())
}

fn skip_value(cursor: &mut Cursor<'_>, kind: u32, depth: usize) -> Result<()> {
    match kind {
        value::STRING => _ = cursor.string("text")?,
        value::ARRAY if depth >= MAX_DEPTH => {
            return Err(Status::unimplemented(format!("arrays are nested more than {MAX_DEPTH} deep")));
        }
        value::ARRAY => {
            let (kind, count) = (cursor.u32("type of an array")?, cursor.u64("length of an array")?);
            match value::size(kind) {
                Some(size) => {
                    let bytes = count.checked_mul(size).ok_or_else(|| bad("length of an array overflows"))?;
                    cursor.take(bytes, "array")?;
                }
                None => {
                    for _ in 0..count {
                        skip_value(cursor, kind, depth + 1)?;
                    }
                }
            }
        }
        _ => {
            let size = value::size(kind).ok_or_else(|| Status::unimplemented(format!("unknown type {kind}")))?;
            cursor.take(size, "value")?;
        }
    }
    Ok(())
}

struct Tensor {
    key: String,
    offset: u64,
    length: u64,
}

fn read_tensor(cursor: &mut Cursor<'_>) -> Result<Tensor> {
    let key = std::str::from_utf8(cursor.string("name")?).map_err(|_| bad("the name is not UTF-8"))?.to_owned();
    let named = |status: Status| status.annotate(format!("\"{key}\""));
    let rank = cursor.u32("rank").map_err(named)?;
    if rank > MAX_DIMS {
        return Err(named(bad(format!("rank {rank} is above {MAX_DIMS}"))));
    }
    let mut elements = Some(1u64);
    for _ in 0..rank {
        let dim = cursor.u64("dimension").map_err(named)?;
        elements = elements.and_then(|count| count.checked_mul(dim));
    }
    let kind = cursor.u32("type").map_err(named)?;
    let offset = cursor.u64("offset").map_err(named)?;
    let Some(&(_, name, block, bytes)) = TYPES.iter().find(|entry| entry.0 == kind) else {
        return Err(named(Status::unimplemented(format!("GGML tensor type {kind} is not supported"))));
    };
    let elements = elements.ok_or_else(|| named(bad("the number of elements overflows")))?;
    if !elements.is_multiple_of(block) {
        return Err(named(bad(format!("{elements} elements are not a multiple of the {block} of a {name} block"))));
    }
    let length = (elements / block).checked_mul(bytes).ok_or_else(|| named(bad("the size overflows")))?;
    Ok(Tensor { key, offset, length })
}
