//! The safetensors format: a length, a header of JSON, then the bytes of the tensors.

use super::bytes::{bad, range, u64_at};
use super::{Index, Source};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use tiree_vm::{Annotate, Result};

/// The format's own limit of the header.
const MAX_HEADER: u64 = 100_000_000;

/// Bits of the data types. Others are taken as they come: their bytes are what matters.
const BITS: &[(&str, u64)] = &[
    ("F4", 4),
    ("F6_E2M3", 6),
    ("F6_E3M2", 6),
    ("BOOL", 8),
    ("U8", 8),
    ("I8", 8),
    ("F8_E5M2", 8),
    ("F8_E4M3", 8),
    ("F8_E8M0", 8),
    ("F8_E4M3FNUZ", 8),
    ("F8_E5M2FNUZ", 8),
    ("I16", 16),
    ("U16", 16),
    ("F16", 16),
    ("BF16", 16),
    ("I32", 32),
    ("U32", 32),
    ("F32", 32),
    ("I64", 64),
    ("U64", 64),
    ("F64", 64),
    ("C64", 64),
];

/// Adds all tensors of a file to `index`, in the order of their bytes.
///
/// # Errors
/// INVALID_ARGUMENT for damage, with the tensor and both sizes.
pub fn read(source: &Arc<Source>, index: &Index) -> Result<()> {
    let file = source.bytes();
    if file.len() < 8 {
        return Err(bad(format!(
            "a safetensors file begins with 8 bytes of length; this one has {} bytes",
            file.len()
        )));
    }
    let length = u64_at(file, 0);
    if length > MAX_HEADER {
        return Err(bad(format!(
            "the header's length is {length}, above the format's limit of {MAX_HEADER}: not a safetensors file, or damaged"
        )));
    }
    let header = range(file, 8, length, "header")?;
    let data_start = 8 + length as usize;
    let Header(header) = serde_json::from_slice(header).map_err(|error| {
        bad(if error.is_data() {
            format!("the header is not a JSON object: {error}")
        } else {
            format!("the header is not JSON: {error}")
        })
    })?;
    let mut tensors = Vec::with_capacity(header.len());
    for (key, value) in header.into_iter().filter(|(key, _)| key != "__metadata__") {
        let (begin, end) = offsets(&value).and_then(|found| check_size(&value, found)).annotate(|| tensor(&key))?;
        tensors.push((begin, end, key));
    }
    tensors.sort();
    let available = (file.len() - data_start) as u64;
    for (begin, end, key) in tensors {
        if end > available {
            return Err(bad(format!(
                "the file is cut short or damaged: {} lies at [{begin}, {end}) of {available} bytes of data",
                tensor(&key)
            )));
        }
        index.add_data(key, Vec::new(), source, data_start + begin as usize, (end - begin) as usize)?;
    }
    Ok(())
}

/// All pairs of a JSON object, also those of one name, of which maps keep the last.
struct Header(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Header, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Header, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Header(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

fn tensor(key: &str) -> String {
    format!("tensor \"{key}\"")
}

fn field<'a>(tensor: &'a Value, name: &str) -> Option<&'a Value> {
    tensor.as_object().and_then(|fields: &Map<String, Value>| fields.get(name))
}

/// `data_offsets`: begin and end.
fn offsets(tensor: &Value) -> Result<(u64, u64)> {
    let pair = field(tensor, "data_offsets").and_then(Value::as_array);
    match pair.map(Vec::as_slice) {
        Some([begin, end]) => match (begin.as_u64(), end.as_u64()) {
            (Some(begin), Some(end)) if begin <= end => Ok((begin, end)),
            _ => Err(bad(format!("data_offsets [{begin}, {end}] are not a range"))),
        },
        _ => Err(bad("data_offsets are not two numbers")),
    }
}

/// What type and shape say of the size must be what the offsets say.
fn check_size(tensor: &Value, (begin, end): (u64, u64)) -> Result<(u64, u64)> {
    let dtype = field(tensor, "dtype").and_then(Value::as_str).ok_or_else(|| bad("dtype is not text"))?;
    let shape = field(tensor, "shape").and_then(Value::as_array).ok_or_else(|| bad("shape is not a list"))?;
    let Some(bits) = BITS.iter().find(|entry| entry.0 == dtype).map(|entry| entry.1) else { return Ok((begin, end)) };
    let elements = shape.iter().try_fold(1u64, |count, dim| count.checked_mul(dim.as_u64()?));
    let bytes = elements.and_then(|count| count.checked_mul(bits)).map(|bits| bits.div_ceil(8));
    if bytes != Some(end - begin) {
        let dims = shape.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
        let needed = bytes.map_or("more than any file has".to_owned(), |bytes| bytes.to_string());
        return Err(bad(format!("{dtype} of shape [{dims}] takes {needed} bytes, its data has {}", end - begin)));
    }
    Ok((begin, end))
}
