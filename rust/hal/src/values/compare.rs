//! `--expected_output=`: comparing results and saying where they differ.

use super::Parsed;
use super::element::{decode_float, format};
use super::format::format_view;
use crate::buffer::Buffer;
use crate::buffer_view::BufferView;
use crate::types::ElementType;
use tiree_vm::refs::downcast_ref;
use tiree_vm::{Ref, Result, Value};

/// How exact results must be.
#[derive(Clone, Copy, Debug)]
pub struct Equality {
    /// Compare bytes instead of numbers.
    pub exact: bool,
    /// Absolute tolerance of f16.
    pub f16: f64,
    /// Absolute tolerance of f32.
    pub f32: f64,
    /// Absolute tolerance of f64.
    pub f64: f64,
    /// Absolute tolerance of bf16.
    pub bf16: f64,
    /// Relative tolerance.
    pub relative: f64,
    /// Elements printed of a tensor that differs.
    pub max_elements: usize,
}

impl Default for Equality {
    fn default() -> Self {
        let max_elements = super::DEFAULT_MAX_ELEMENTS;
        Self { exact: false, f16: 1e-3, f32: 1e-4, f64: 1e-4, bf16: 1e-2, relative: 1e-5, max_elements }
    }
}

impl Equality {
    fn absolute(&self, element: ElementType) -> Option<f64> {
        match element {
            ElementType::FLOAT_16 => Some(self.f16),
            ElementType::FLOAT_32 => Some(self.f32),
            ElementType::FLOAT_64 => Some(self.f64),
            ElementType::BFLOAT_16 => Some(self.bf16),
            _ => None,
        }
    }

    fn close(&self, element: ElementType, actual: &[u8], expected: &[u8]) -> bool {
        if actual == expected {
            return true;
        }
        let (Some(absolute), false) = (self.absolute(element), self.exact) else { return false };
        match (decode_float(element, actual), decode_float(element, expected)) {
            (Some(a), Some(b)) => self.near(a, b, absolute),
            _ => false,
        }
    }

    fn near(&self, a: f64, b: f64, absolute: f64) -> bool {
        a == b
            || a.is_nan() && b.is_nan()
            || (a - b).abs() <= absolute + self.relative * b.abs() && a.is_finite() && b.is_finite()
    }
}

/// Compares results with what was expected. Returns whether all match and the text that iree-run-module prints.
///
/// # Errors
/// When a tensor cannot be read (see [`crate::buffer::Buffer::map`]).
pub fn compare(expected: &[Parsed], actual: &[Value], equality: &Equality) -> Result<(bool, String)> {
    if expected.len() != actual.len() {
        let text = format!("[FAILED] expected {} list elements but {} provided\n", expected.len(), actual.len());
        return Ok((false, text));
    }
    let mut text = String::new();
    for (index, (expected, actual)) in expected.iter().zip(actual).enumerate() {
        let Parsed::Value(expected) = expected else { continue };
        if let Some(difference) = compare_values(expected, actual, equality)? {
            text += &format!("[FAILED] result[{index}]: {difference}\n");
        }
    }
    if text.is_empty() {
        return Ok((true, "[SUCCESS] all function outputs matched their expected values.\n".into()));
    }
    Ok((false, text))
}

fn kind(value: &Value) -> &str {
    match value {
        Value::Ref(None) => "empty",
        Value::Ref(Some(object)) => object.type_name(),
        scalar => scalar.kind_name(),
    }
}

fn compare_values(expected: &Value, actual: &Value, equality: &Equality) -> Result<Option<String>> {
    let numbers =
        |same: bool| Ok((!same).then(|| format!("value {actual:?} does not match the expected {expected:?}")));
    match (expected, actual) {
        (Value::I32(a), Value::I32(b)) => numbers(a == b),
        (Value::I64(a), Value::I64(b)) => numbers(a == b),
        (Value::F32(a), Value::F32(b)) if equality.exact => numbers(a.to_bits() == b.to_bits()),
        (Value::F64(a), Value::F64(b)) if equality.exact => numbers(a.to_bits() == b.to_bits()),
        (Value::F32(a), Value::F32(b)) => numbers(equality.near(f64::from(*b), f64::from(*a), equality.f32)),
        (Value::F64(a), Value::F64(b)) => numbers(equality.near(*b, *a, equality.f64)),
        (Value::Ref(a), Value::Ref(b)) => compare_refs(expected, actual, a, b, equality),
        _ => Ok(Some(mismatch(expected, actual))),
    }
}

fn mismatch(expected: &Value, actual: &Value) -> String {
    format!("variant types mismatch; expected {} but got {}", kind(expected), kind(actual))
}

fn compare_refs(expected: &Value, actual: &Value, a: &Ref, b: &Ref, equality: &Equality) -> Result<Option<String>> {
    if a.is_none() && b.is_none() {
        return Ok(None);
    }
    if let (Ok(expected), Ok(actual)) = (downcast_ref::<BufferView>(a), downcast_ref::<BufferView>(b)) {
        return compare_views(expected, actual, equality);
    }
    if let (Ok(expected), Ok(actual)) = (downcast_ref::<Buffer>(a), downcast_ref::<Buffer>(b)) {
        let (expected, actual) = (expected.to_vec()?, actual.to_vec()?);
        let first = expected.iter().zip(&actual).position(|(a, b)| a != b);
        return Ok(match first {
            _ if expected.len() != actual.len() => {
                Some(format!("buffer has {} bytes, expected {}", actual.len(), expected.len()))
            }
            Some(at) => Some(format!(
                "byte at offset {at} ({:02X}) does not match the expected ({:02X})",
                actual[at], expected[at]
            )),
            None => None,
        });
    }
    Ok(Some(mismatch(expected, actual)))
}

fn compare_views(expected: &BufferView, actual: &BufferView, equality: &Equality) -> Result<Option<String>> {
    let element = expected.element_type();
    // Integers of .npy files are signed or unsigned, results are signless: the width decides.
    let core = if !element.is_compatible(actual.element_type()) || expected.shape() != actual.shape() {
        format!("metadata is {}; expected that the view matches {}", actual.type_text(), expected.type_text())
    } else {
        let (want, have) = (expected.to_vec()?, actual.to_vec()?);
        let size = element.byte_count().max(1);
        let pairs = have.chunks(size).zip(want.chunks(size));
        let Some((index, (have, want))) =
            pairs.enumerate().find(|(_, (have, want))| !equality.close(element, have, want))
        else {
            return Ok(None);
        };
        let (mut have_text, mut want_text) = (String::new(), String::new());
        format(element, have, &mut have_text);
        format(element, want, &mut want_text);
        format!("element at index {index} ({have_text}) does not match the expected ({want_text})")
    };
    Ok(Some(format!(
        "{core}; expected that the view is equal to contents of a view of {}\n  expected:\n{}\n  actual:\n{}",
        expected.type_text(),
        format_view(expected, equality.max_elements)?,
        format_view(actual, equality.max_elements)?
    )))
}
