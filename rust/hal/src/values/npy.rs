//! `.npy` arrays: reading from any position of a file, writing.

use crate::buffer_view::{BufferView, Shape, element_count};
use crate::types::{ElementType, NumericalType};
use tiree_vm::{Result, Status, Value};

const MAGIC: &[u8] = b"\x93NUMPY";

/// An array as it stands in a file: little-endian, row-major.
#[derive(Debug)]
pub struct Array {
    /// The element type.
    pub element: ElementType,
    /// The dimensions.
    pub shape: Shape,
    /// The dense contents.
    pub bytes: Vec<u8>,
}

fn bad(message: impl Into<String>) -> Status {
    Status::invalid_argument(message)
}

/// Whether an array begins at `bytes[0]`.
pub fn is_array(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads the array that begins at `bytes[0]`; returns it and its length in the file.
///
/// # Errors
/// INVALID_ARGUMENT for a damaged header or cut contents; UNIMPLEMENTED for dtypes that have no element type.
pub fn read(bytes: &[u8]) -> Result<(Array, usize)> {
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(bad("this is a .npz archive; unpack it and pass one of its .npy files"));
    }
    if !is_array(bytes) || bytes.len() < 10 {
        return Err(bad("not a .npy array (magic is missing)"));
    }
    let (header_start, header_length) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        2 | 3 if bytes.len() >= 12 => (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize),
        version => return Err(bad(format!(".npy version {version} is not supported"))),
    };
    let data_start = header_start + header_length;
    let header = bytes.get(header_start..data_start).ok_or_else(|| bad(".npy header is cut short"))?;
    let header = std::str::from_utf8(header).map_err(|_| bad(".npy header is not text"))?;
    let descr = quoted(field(header, "descr")?)?;
    let (element, swap) = element_of(descr)?;
    let fortran = parse_order(field(header, "fortran_order")?)?;
    let shape = parse_shape(field(header, "shape")?)?;
    let count = element_count(&shape).ok_or_else(|| bad(".npy shape is too large"))?;
    let length = element.dense_bytes(count).ok_or_else(|| bad(".npy shape is too large"))?;
    let end = data_start.checked_add(length).filter(|&end| end <= bytes.len());
    let end = end.ok_or_else(|| {
        bad(format!(".npy array is cut short: {} of {length} bytes are there", bytes.len() - data_start))
    })?;
    let mut contents = bytes[data_start..end].to_vec();
    if swap {
        let width =
            element.byte_count() / if element.numerical_type() == Some(NumericalType::FloatComplex) { 2 } else { 1 };
        contents.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    if fortran && shape.len() > 1 {
        contents = to_row_major(&contents, &shape, element.byte_count());
    }
    Ok((Array { element, shape, bytes: contents }, end))
}

/// The text after `'name':` in the header's dictionary.
fn field<'a>(header: &'a str, name: &str) -> Result<&'a str> {
    let missing = || bad(format!(".npy header has no '{name}'"));
    let at = header.find(&format!("'{name}'")).ok_or_else(missing)?;
    let rest = &header[at + name.len() + 2..];
    let colon = rest.find(':').ok_or_else(missing)?;
    Ok(rest[colon + 1..].trim_start())
}

fn quoted(text: &str) -> Result<&str> {
    let body =
        text.strip_prefix('\'').ok_or_else(|| Status::unimplemented(".npy files of records are not supported"))?;
    body.split('\'').next().ok_or_else(|| bad(".npy descr is not closed"))
}

fn parse_order(text: &str) -> Result<bool> {
    let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    match word {
        "True" => Ok(true),
        "False" => Ok(false),
        _ => Err(bad(format!(".npy fortran_order \"{word}\" is neither True nor False"))),
    }
}

fn parse_shape(text: &str) -> Result<Shape> {
    let body =
        text.strip_prefix('(').and_then(|text| text.split(')').next()).ok_or_else(|| bad(".npy shape is damaged"))?;
    let dims = body.split(',').map(str::trim).filter(|dim| !dim.is_empty());
    dims.map(|dim| dim.parse().map_err(|_| bad(format!(".npy dimension \"{dim}\" is not a number")))).collect()
}

/// Element type of a dtype, and whether its bytes must be swapped.
fn element_of(descr: &str) -> Result<(ElementType, bool)> {
    let unknown = || Status::unimplemented(format!(".npy dtype '{descr}' has no element type here"));
    let (order, code) = match descr.chars().next() {
        Some(order @ ('<' | '>' | '|' | '=')) => (order, &descr[1..]),
        _ => ('<', descr),
    };
    let element = match code {
        "b1" | "?" => ElementType::BOOL_8,
        "i1" => ElementType::SINT_8,
        "i2" => ElementType::SINT_16,
        "i4" => ElementType::SINT_32,
        "i8" => ElementType::SINT_64,
        "u1" => ElementType::UINT_8,
        "u2" => ElementType::UINT_16,
        "u4" => ElementType::UINT_32,
        "u8" => ElementType::UINT_64,
        "f2" => ElementType::FLOAT_16,
        "f4" => ElementType::FLOAT_32,
        "f8" => ElementType::FLOAT_64,
        "c8" => ElementType::COMPLEX_FLOAT_64,
        "c16" => ElementType::COMPLEX_FLOAT_128,
        // What numpy writes for types that it does not know: bf16 and the 8-bit floats of ml_dtypes.
        "V1" | "f1" => ElementType::OPAQUE_8,
        "V2" => ElementType::OPAQUE_16,
        "V4" => ElementType::OPAQUE_32,
        "V8" => ElementType::OPAQUE_64,
        _ => return Err(unknown()),
    };
    Ok((element, order == '>' && element.byte_count() > 1))
}

fn to_row_major(bytes: &[u8], shape: &[u64], width: usize) -> Vec<u8> {
    let dims: Vec<usize> = shape.iter().map(|&dim| dim as usize).collect();
    let count: usize = dims.iter().product();
    let mut target = Vec::with_capacity(bytes.len());
    let mut index = vec![0; dims.len()];
    for _ in 0..count {
        let mut stride = 1;
        let mut offset = 0;
        for (dim, at) in dims.iter().zip(&index) {
            offset += at * stride;
            stride *= dim;
        }
        target.extend_from_slice(&bytes[offset * width..(offset + 1) * width]);
        for axis in (0..dims.len()).rev() {
            index[axis] += 1;
            if index[axis] < dims[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    target
}

/// The file contents of a view.
///
/// # Errors
/// UNIMPLEMENTED for element types that numpy does not have.
pub fn write(view: &BufferView) -> Result<Vec<u8>> {
    file_of(view.element_type(), view.shape(), &view.to_vec()?)
}

/// The file contents of a number, as an array of rank 0.
///
/// # Errors
/// INVALID_ARGUMENT for references.
pub fn write_number(value: &Value) -> Result<Vec<u8>> {
    let (element, bytes) = number_bytes(value)?;
    file_of(element, &[], &bytes)
}

/// The element type of a number and its bytes.
///
/// # Errors
/// INVALID_ARGUMENT for references.
pub fn number_bytes(value: &Value) -> Result<(ElementType, Vec<u8>)> {
    Ok(match value {
        Value::I32(number) => (ElementType::INT_32, number.to_le_bytes().to_vec()),
        Value::I64(number) => (ElementType::INT_64, number.to_le_bytes().to_vec()),
        Value::F32(number) => (ElementType::FLOAT_32, number.to_le_bytes().to_vec()),
        Value::F64(number) => (ElementType::FLOAT_64, number.to_le_bytes().to_vec()),
        Value::Ref(_) => return Err(Status::invalid_argument("a reference is no number")),
    })
}

fn file_of(element: ElementType, shape: &[u64], contents: &[u8]) -> Result<Vec<u8>> {
    let bytes = element.byte_count();
    let whole = element.bit_count().is_power_of_two() && element.is_byte_aligned();
    let code = match element.numerical_type() {
        Some(NumericalType::Boolean) => "|b1".to_owned(),
        Some(NumericalType::Integer | NumericalType::SignedInteger) if whole => format!("{}i{bytes}", order(bytes)),
        Some(NumericalType::UnsignedInteger) if whole => format!("{}u{bytes}", order(bytes)),
        Some(NumericalType::FloatIeee) => format!("<f{bytes}"),
        Some(NumericalType::FloatComplex) => format!("<c{bytes}"),
        _ => {
            return Err(Status::unimplemented(format!(
                "{element} has no numpy dtype; write raw bytes (--output=@file.bin) instead"
            )));
        }
    };
    let mut dims = shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    if shape.len() == 1 {
        dims.push(',');
    }
    let mut header = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': ({dims}), }}");
    // The contents begin at a multiple of 64; the header ends with a line break.
    let unpadded = 10 + header.len() + 1;
    header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(|_| bad("the shape is too long for a .npy header"))?;
    let mut file = MAGIC.to_vec();
    file.extend_from_slice(&[1, 0]);
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(header.as_bytes());
    file.extend_from_slice(contents);
    Ok(file)
}

fn order(bytes: usize) -> char {
    if bytes == 1 { '|' } else { '<' }
}
