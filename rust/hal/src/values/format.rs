//! Values as iree-run-module prints them.

use super::element;
use crate::buffer_view::BufferView;
use crate::types::ElementType;
use tiree_vm::refs::downcast_ref;
use tiree_vm::{Result, Value, VmList};

/// How many elements are printed before `...` unless told otherwise.
pub const DEFAULT_MAX_ELEMENTS: usize = 1024;

/// The elements of a tensor: nested in brackets below the first dimension, cut with `...` after `limit` elements.
pub fn format_elements(element: ElementType, shape: &[u64], bytes: &[u8], limit: usize) -> String {
    let mut text = String::new();
    let mut left = limit;
    let shape: Vec<usize> = shape.iter().map(|&dim| dim as usize).collect();
    format_level(&shape, &mut Elements { element, bytes, next: 0 }, &mut left, &mut text);
    text
}

/// Walks over the elements, also over those narrower than a byte.
struct Elements<'a> {
    element: ElementType,
    bytes: &'a [u8],
    next: usize,
}

impl Elements<'_> {
    fn append_next(&mut self, text: &mut String) {
        let index = self.next;
        self.next += 1;
        let bits = self.element.bit_count() as usize;
        if self.element.is_byte_aligned() {
            let size = bits / 8;
            let bytes = self.bytes.get(index * size..(index + 1) * size).unwrap_or_default();
            element::format(self.element, bytes, text);
        } else if bits < 8 {
            // Packed from the low bits of each byte on.
            let per_byte = 8 / bits;
            let byte = self.bytes.get(index / per_byte).copied().unwrap_or(0);
            element::format(self.element, &[byte >> (index % per_byte * bits) & ((1 << bits) - 1)], text);
        } else {
            let size = self.element.byte_count();
            element::format(self.element, self.bytes.get(index * size..(index + 1) * size).unwrap_or_default(), text);
        }
    }

    fn skip(&mut self, count: usize) {
        self.next += count;
    }
}

fn format_level(shape: &[usize], elements: &mut Elements<'_>, left: &mut usize, text: &mut String) {
    match shape {
        [] if *left == 0 => text.push_str("..."),
        [] => elements.append_next(text),
        [count] => {
            let shown = (*count).min(*left);
            for index in 0..shown {
                if index > 0 {
                    text.push(' ');
                }
                elements.append_next(text);
            }
            if shown < *count {
                text.push_str("...");
                elements.skip(count - shown);
            }
            *left -= shown;
        }
        [count, inner @ ..] => {
            for _ in 0..*count {
                text.push('[');
                format_level(inner, elements, left, text);
                text.push(']');
            }
        }
    }
}

/// `2x2xi8=[1 2][3 4]`
///
/// # Errors
/// When the contents cannot be read (see [`crate::buffer::Buffer::map`]).
pub fn format_view(view: &BufferView, limit: usize) -> Result<String> {
    let elements = format_elements(view.element_type(), view.shape(), &view.to_vec()?, limit);
    Ok(format!("{}={elements}", view.type_text()))
}

/// One result with its label, each line ended: `result[0]: i32=5` or the tensor's two lines.
///
/// # Errors
/// As [`format_view`].
pub fn format_result(label: &str, index: usize, value: &Value, limit: usize) -> Result<String> {
    format_nested(label, index, value, limit, 0)
}

/// Lists can hold each other, even themselves: what is deeper than this is not printed.
const MAX_DEPTH: usize = 16;

fn format_nested(label: &str, index: usize, value: &Value, limit: usize, depth: usize) -> Result<String> {
    let head = format!("{label}[{index}]: ");
    Ok(match value {
        Value::I32(value) => format!("{head}i32={value}\n"),
        Value::I64(value) => format!("{head}i64={value}\n"),
        Value::F32(value) => format!("{head}f32={}\n", super::number::format_g(f64::from(*value), false)),
        Value::F64(value) => format!("{head}f64={}\n", super::number::format_g(*value, false)),
        Value::Ref(None) => format!("{head}(null)\n"),
        Value::Ref(Some(object)) => format!("{head}{}\n{}", object.type_name(), format_object(value, limit, depth)?),
    })
}

fn format_object(value: &Value, limit: usize, depth: usize) -> Result<String> {
    let Value::Ref(reference) = value else { return Ok(String::new()) };
    if let Ok(view) = downcast_ref::<BufferView>(reference) {
        return Ok(format_view(view, limit)? + "\n");
    }
    if let Ok(list) = downcast_ref::<VmList>(reference) {
        if depth == MAX_DEPTH {
            return Ok("...\n".into());
        }
        let mut text = String::new();
        for index in 0..list.len() {
            text += &format_nested("child_list", index, &list.get(index)?, limit, depth + 1)?;
        }
        return Ok(text + "\n");
    }
    Ok("(no printer)\n".into())
}
