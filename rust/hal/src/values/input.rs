//! Reading `--input=` values: the grammar of iree-run-module, but every value must be whole and fit its type.

use super::file::read_file;
use super::{element, npy};
use crate::allocator::Allocator;
use crate::buffer::Buffer;
use crate::buffer_view::{BufferView, Shape, element_count};
use crate::types::{ElementType, encoding, memory_type, usage};
use std::collections::HashMap;
use std::sync::Arc;
use tiree_vm::cconv::Kind;
use tiree_vm::{Result, Status, Value};

/// What a flag value stands for.
#[derive(Clone, Debug)]
pub enum Parsed {
    /// A value.
    Value(Value),
    /// `(ignored)`: an expected output that is not compared.
    Ignored,
}

struct OpenFile {
    bytes: Vec<u8>,
    position: usize,
}

/// Reads the values of one flag; remembers how far its files have been read.
pub struct InputReader {
    allocator: Arc<Allocator>,
    flag: &'static str,
    /// For each value the type of a scalar that does not fill its register, where it is known.
    narrow: Vec<Option<ElementType>>,
    files: HashMap<String, OpenFile>,
}

pub(super) fn invalid(message: impl Into<String>) -> Status {
    Status::invalid_argument(message)
}

impl InputReader {
    /// A reader for values of `flag` (`--input`), whose tensors live in `allocator`'s memory.
    pub fn new(allocator: Arc<Allocator>, flag: &'static str) -> InputReader {
        InputReader { allocator, flag, narrow: Vec::new(), files: HashMap::new() }
    }

    /// Says which scalars are of a narrower type than their register: `i8` in an i32. Their values must fit it.
    pub fn narrow(mut self, types: Vec<Option<ElementType>>) -> InputReader {
        self.narrow = types;
        self
    }

    /// Reads all values for arguments (or results) of these kinds. `*file.npy` gives as many values as the file has arrays.
    ///
    /// # Errors
    /// INVALID_ARGUMENT or OUT_OF_RANGE, beginning with the flag and the number of the value; INVALID_ARGUMENT when the
    /// number of values is not that of `kinds`; NOT_FOUND for files.
    pub fn read_all(&mut self, texts: &[impl AsRef<str>], kinds: &[Kind]) -> Result<Vec<Parsed>> {
        let mut values = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let kind = kinds.get(values.len()).copied();
            let read = self.read_one(text.as_ref(), kind, &mut values);
            read.map_err(|status| match status.cause() {
                // What ended the waiting for a pipe: Ctrl-C.
                Some(_) => status,
                None => Status::new(status.code(), format!("{} {}: {}", self.flag, number + 1, status.message())),
            })?;
        }
        if values.len() != kinds.len() {
            let what = if self.flag == "--input" { "takes" } else { "returns" };
            return Err(invalid(format!(
                "the function {what} {} value{}, {} given with {}",
                kinds.len(),
                if kinds.len() == 1 { "" } else { "s" },
                values.len(),
                self.flag
            )));
        }
        Ok(values)
    }

    /// Reads one value for an argument of `kind` (None: one too many, read all the same).
    fn read_one(&mut self, text: &str, kind: Option<Kind>, values: &mut Vec<Parsed>) -> Result<()> {
        let text = text.trim();
        if text == "(ignored)" {
            if self.flag == "--input" {
                return Err(invalid("(ignored) is for --expected_output; a null reference is (null)"));
            }
            values.push(Parsed::Ignored);
            return Ok(());
        }
        if text.is_empty() {
            return Err(invalid("no value given"));
        }
        let scalar = match kind {
            Some(Kind::I32) => Some((ElementType::INT_32, kind)),
            Some(Kind::I64) => Some((ElementType::INT_64, kind)),
            Some(Kind::F32) => Some((ElementType::FLOAT_32, kind)),
            Some(Kind::F64) => Some((ElementType::FLOAT_64, kind)),
            Some(Kind::Ref) | None => None,
        };
        if let Some((element, Some(kind))) = scalar {
            let value = match self.narrow.get(values.len()).copied().flatten() {
                Some(narrow) => Value::I32(element::parse_narrow(narrow, text).map_err(invalid)?),
                None => scalar_value(element, kind, text)?,
            };
            values.push(Parsed::Value(value));
            return Ok(());
        }
        match text.as_bytes()[0] {
            b'@' | b'+' | b'*' => self.read_arrays(text, values),
            b'&' => {
                let view = self.tensor(text[1..].trim_start())?;
                values.push(Parsed::Value(Value::from_object(view.buffer().clone())));
                Ok(())
            }
            _ if text == "(null)" => {
                values.push(Parsed::Value(Value::NULL));
                Ok(())
            }
            _ => {
                values.push(Parsed::Value(Value::from_object(Arc::new(self.tensor(text)?))));
                Ok(())
            }
        }
    }

    /// `@x.npy` from the start of the file, `+x.npy` from where it was left, `*x.npy` all arrays.
    fn read_arrays(&mut self, text: &str, values: &mut Vec<Parsed>) -> Result<()> {
        let (mode, path) = text.split_at(1);
        self.open(path, mode != "+")?;
        loop {
            let file = self.open(path, false)?;
            let rest = &file.bytes[file.position..];
            if rest.is_empty() {
                return Err(Status::out_of_range(format!("{path} has no more arrays")));
            }
            let (array, length) = npy::read(rest).map_err(|status| in_file(path, &status))?;
            file.position += length;
            let more = mode == "*" && file.position < file.bytes.len();
            let buffer = self.copy(&array.bytes)?;
            let view = BufferView::new(Arc::new(buffer), array.element, encoding::DENSE_ROW_MAJOR, &array.shape)
                .map_err(|status| in_file(path, &status))?;
            values.push(Parsed::Value(Value::from_object(Arc::new(view))));
            if !more {
                return Ok(());
            }
        }
    }

    fn open(&mut self, path: &str, rewind: bool) -> Result<&mut OpenFile> {
        if !self.files.contains_key(path) {
            let bytes = read_file(path)?;
            self.files.insert(path.to_owned(), OpenFile { bytes, position: 0 });
        }
        let file = self.files.get_mut(path).ok_or_else(|| Status::internal("file just opened is missing"))?;
        if rewind {
            file.position = 0;
        }
        Ok(file)
    }

    fn allocate(&self, length: usize) -> Result<Buffer> {
        self.allocator.allocate(memory_type::DEVICE_LOCAL, usage::DEFAULT, length)
    }

    fn copy(&self, bytes: &[u8]) -> Result<Buffer> {
        self.allocator.allocate_copy(memory_type::DEVICE_LOCAL, usage::DEFAULT, bytes)
    }

    /// `2x3xf32=...`
    fn tensor(&mut self, text: &str) -> Result<BufferView> {
        let (spec, data) = match text.split_once('=') {
            Some((spec, data)) => (spec, Some(data.trim())),
            None => (text, None),
        };
        let (shape, element) = parse_type(spec.trim())?;
        if data.is_none() && shape.is_empty() {
            return Err(invalid(format!(
                "\"{text}\" is not a tensor; write a type and values, such as {element}=1 or 2x3x{element}=1 2 3 4 5 6"
            )));
        }
        let size = element_count(&shape).and_then(|count| Some((count, element.dense_bytes(count)?)));
        let (count, size) = size.ok_or_else(|| invalid(format!("the shape of {spec} is too large")))?;
        let data = data.unwrap_or_default();
        let buffer = if let Some(path) = data.strip_prefix('@') {
            self.contents(path, true, (spec, &shape, element), size)?
        } else if let Some(path) =
            data.strip_prefix('+').filter(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
        {
            self.contents(path, false, (spec, &shape, element), size)?
        } else {
            let mut bytes = parse_elements(spec, element, count, data)?;
            let splat = bytes.len() == element.byte_count() && count != 1;
            if splat || bytes.is_empty() {
                let buffer = self.allocate(size)?;
                fill(&buffer, element, &bytes, count)?;
                buffer
            } else {
                if !element.is_byte_aligned() {
                    bytes = pack(element, &bytes);
                }
                self.copy(&bytes)?
            }
        };
        BufferView::new(Arc::new(buffer), element, encoding::DENSE_ROW_MAJOR, &shape)
    }

    /// Raw bytes of a file for a tensor of a given type; a `.npy` file must hold that type.
    fn contents(
        &mut self,
        path: &str,
        rewind: bool,
        (spec, shape, element): (&str, &Shape, ElementType),
        size: usize,
    ) -> Result<Buffer> {
        let file = self.open(path, rewind)?;
        let rest = &file.bytes[file.position..];
        let (bytes, used) = if npy::is_array(rest) {
            let (array, used) = npy::read(rest).map_err(|status| in_file(path, &status))?;
            let opaque = array.element.is_opaque() && array.element.bit_count() == element.bit_count();
            if (!opaque && !array.element.is_compatible(element)) || array.shape != *shape {
                let dims = array.shape.iter().map(|dim| format!("{dim}x")).collect::<String>();
                return Err(invalid(format!("{path} is a .npy file of {dims}{}, not of {spec}", array.element)));
            }
            (array.bytes, used)
        } else {
            if rest.len() < size {
                let have = rest.len();
                return Err(Status::out_of_range(format!("{path} has {have} bytes (left), {spec} needs {size}")));
            }
            (rest[..size].to_vec(), size)
        };
        file.position += used;
        self.copy(&bytes)
    }
}

fn in_file(path: &str, status: &Status) -> Status {
    Status::new(status.code(), format!("{path}: {}", status.message()))
}

fn scalar_value(element: ElementType, kind: Kind, text: &str) -> Result<Value> {
    let mut bytes = Vec::new();
    element::parse(element, text, &mut bytes).map_err(invalid)?;
    let integer = || element::decode_integer(element, &bytes).unwrap_or(0);
    let float = || element::decode_float(element, &bytes).unwrap_or(0.0);
    Ok(match kind {
        Kind::I32 => Value::I32(integer() as i32),
        Kind::I64 => Value::I64(integer() as i64),
        Kind::F32 => Value::F32(float() as f32),
        _ => Value::F64(float()),
    })
}

/// `2x3xf32` → shape and element type.
///
/// # Errors
/// INVALID_ARGUMENT, with a suggestion for types of other systems.
pub fn parse_type(spec: &str) -> Result<(Shape, ElementType)> {
    let mut shape = Shape::new();
    let mut rest = spec;
    while let Some((dim, tail)) = rest.split_once('x') {
        if dim.is_empty() || !dim.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        shape.push(dim.parse().map_err(|_| invalid(format!("dimension {dim} of \"{spec}\" is too large")))?);
        rest = tail;
    }
    if let Some((dim, _)) = rest.split_once('x').filter(|(dim, _)| dim.starts_with('-') || *dim == "?") {
        return Err(invalid(format!("dimension \"{dim}\" of \"{spec}\" must be a number of elements")));
    }
    if shape.len() > crate::buffer_view::MAX_RANK {
        return Err(invalid(format!("rank {} of \"{spec}\" is above the limit", shape.len())));
    }
    if rest.is_empty() || rest.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid(format!("\"{spec}\" has no element type; write for example 2x3xf32=...")));
    }
    let element = ElementType::parse(rest).map_err(|error| invalid(error.to_string()))?;
    if !matches!(element.bit_count(), 1 | 2 | 4) && !element.is_byte_aligned() {
        return Err(invalid(format!("{element} has no layout in memory; widths are 1, 2, 4 or whole bytes")));
    }
    Ok((shape, element))
}

/// `2x3xf32=1.5` → bytes that the tensor takes, and the bytes of the values given, which may be none or any number: the
/// pattern of a splat. Elements of less than a byte are repeated to a byte.
///
/// # Errors
/// INVALID_ARGUMENT, as for `--input`.
pub fn parse_pattern(text: &str) -> Result<(usize, Vec<u8>)> {
    let (spec, data) = text.split_once('=').unwrap_or((text, ""));
    let (shape, element) = parse_type(spec.trim())?;
    let size = element_count(&shape).and_then(|count| element.dense_bytes(count));
    let size = size.ok_or_else(|| invalid(format!("the shape of {spec} is too large")))?;
    let mut bytes = Vec::new();
    for token in tokens(data) {
        element::parse(element, token, &mut bytes).map_err(invalid)?;
    }
    if !element.is_byte_aligned() {
        let per_byte = 8 / element.bit_count().min(8) as usize;
        bytes = pack(element, &if bytes.len() == 1 { bytes.repeat(per_byte) } else { bytes });
    }
    Ok((size, bytes))
}

/// The values in `data`: apart by blanks, commas or brackets.
fn tokens(data: &str) -> impl Iterator<Item = &str> {
    data.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']')).filter(|token| !token.is_empty())
}

/// Bytes of the values in `data`: none, one or `count`.
fn parse_elements(spec: &str, element: ElementType, count: usize, data: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut given = 0;
    for token in tokens(data) {
        given += 1;
        if given <= count.max(1) {
            element::parse(element, token, &mut bytes).map_err(invalid)?;
        }
    }
    if given > 1 && given != count {
        return Err(Status::out_of_range(format!(
            "{given} values given, {spec} needs {count}{}.",
            if count > 1 { " (or 1, to fill)" } else { "" }
        )));
    }
    if count == 0 {
        bytes.clear()
    }
    Ok(bytes)
}

/// Packs one-byte values into the low bits of each byte on.
fn pack(element: ElementType, values: &[u8]) -> Vec<u8> {
    let bits = element.bit_count() as usize;
    if bits > 8 {
        return values.to_vec();
    }
    let per_byte = 8 / bits;
    let mask = ((1u16 << bits) - 1) as u8;
    let join =
        |group: &[u8]| group.iter().enumerate().fold(0, |byte, (at, value)| byte | (value & mask) << (at * bits));
    values.chunks(per_byte).map(join).collect()
}

/// Fills a buffer with one element, or with zeros when there is none.
fn fill(buffer: &Buffer, element: ElementType, value: &[u8], count: usize) -> Result<()> {
    let size = buffer.byte_length();
    let mut pattern = if value.is_empty() { vec![0] } else { value.to_vec() };
    if !value.is_empty() && !element.is_byte_aligned() {
        pattern = pack(element, &value.repeat(8 / element.bit_count().min(8) as usize));
    }
    // A few KiB at a time.
    let unit = pattern.len();
    let chunk = pattern.repeat((4096 / unit).max(1).min(count.max(1)));
    let mut offset = 0;
    while offset < size {
        let length = chunk.len().min(size - offset);
        buffer.write(offset as u64, &chunk[..length])?;
        offset += length;
    }
    Ok(())
}
