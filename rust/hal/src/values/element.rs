//! One element as text: reading it into bytes and printing it from bytes, for every element type.

use super::number::{IntegerError, format_g, parse_float, parse_integer};
use crate::types::{ElementType, NumericalType};
use half::{bf16, f16};

/// Appends the bytes of the element that `text` spells.
///
/// # Errors
/// A sentence that names the text and the type.
pub fn parse(element: ElementType, text: &str, target: &mut Vec<u8>) -> Result<(), String> {
    let bytes = element.byte_count();
    match element.numerical_type() {
        Some(NumericalType::Integer | NumericalType::SignedInteger | NumericalType::UnsignedInteger) => {
            let value = parse_int(element, text)?;
            target.extend_from_slice(&value.to_le_bytes()[..bytes]);
            Ok(())
        }
        Some(NumericalType::Boolean) => {
            target.push(parse_bool(text)?);
            Ok(())
        }
        Some(NumericalType::Opaque | NumericalType::FloatComplex) | None => parse_hex(element, text, target),
        Some(_) => parse_float_element(element, text, target),
    }
}

/// Range of an integer type.
fn integer_range(element: ElementType) -> (i128, i128) {
    let bits = element.bit_count().min(64);
    if element.numerical_type() == Some(NumericalType::UnsignedInteger) {
        (0, (1i128 << bits) - 1)
    } else {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    }
}

fn parse_int(element: ElementType, text: &str) -> Result<i128, String> {
    let (minimum, maximum) = integer_range(element);
    parse_in_range(element, text, minimum, maximum)
}

fn parse_in_range(element: ElementType, text: &str, minimum: i128, maximum: i128) -> Result<i128, String> {
    parse_integer(text, minimum, maximum, element.bit_count()).map_err(|error| match error {
        IntegerError::Syntax => format!("\"{text}\" is not {} {element}.", article(element)),
        IntegerError::LeadingZero => {
            format!("\"{text}\" has leading zeros, which C reads as octal; write it without them or with 0x.")
        }
        IntegerError::Range if text.starts_with('-') => {
            format!("{text} is out of range for {element} (min {minimum}).")
        }
        IntegerError::Range => format!("{text} is out of range for {element} (max {maximum})."),
    })
}

/// The register of a scalar of an integer type below 32 bits. A signless one takes the numbers of either sign.
///
/// # Errors
/// A sentence that names the text and the type.
pub fn parse_narrow(element: ElementType, text: &str) -> Result<i32, String> {
    if element.numerical_type() == Some(NumericalType::Boolean) {
        return parse_bool(text).map(i32::from);
    }
    let (minimum, maximum) = integer_range(element);
    let signless = element.numerical_type() == Some(NumericalType::Integer);
    let maximum = if signless { (1i128 << element.bit_count()) - 1 } else { maximum };
    parse_in_range(element, text, minimum, maximum).map(|value| value as i32)
}

/// `a` or `an` for the type's name.
pub fn article(element: ElementType) -> &'static str {
    let name = element.to_string();
    if name.starts_with(['i', 'f', '*']) { "an" } else { "a" }
}

fn parse_bool(text: &str) -> Result<u8, String> {
    match text {
        "0" | "00" | "false" => Ok(0),
        "1" | "01" | "true" => Ok(1),
        _ => Err(format!("\"{text}\" is not an i1; i1 values are 0/1 or false/true.")),
    }
}

fn parse_hex(element: ElementType, text: &str, target: &mut Vec<u8>) -> Result<(), String> {
    let need = element.byte_count() * 2;
    if text.len() != need || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!(
            "\"{text}\" is not {} {element}; its bytes are written as {need} hexadecimal digits.",
            article(element)
        ));
    }
    for pair in text.as_bytes().chunks_exact(2) {
        let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0) as u8;
        target.push(digit(pair[0]) << 4 | digit(pair[1]));
    }
    Ok(())
}

fn parse_float_element(element: ElementType, text: &str, target: &mut Vec<u8>) -> Result<(), String> {
    let value = parse_float(text).ok_or_else(|| format!("\"{text}\" is not {} {element}.", article(element)))?;
    let start = target.len();
    encode_float(element, value, target);
    let stored = decode_float(element, &target[start..]);
    // A finite number that became infinite or NaN, or an infinity that the type does not have, does not fit.
    if stored.is_some_and(|stored| stored.is_finite() != value.is_finite() || stored.is_nan() != value.is_nan()) {
        let maximum = format_g(maximum(element), true);
        let minimum = if element == ElementType::FLOAT_8_E8M0_FNU { "min 5.87747E-39, " } else { "" };
        return Err(format!("{text} is out of range for {element} ({minimum}max {maximum})."));
    }
    Ok(())
}

fn maximum(element: ElementType) -> f64 {
    match element {
        ElementType::FLOAT_16 => f16::MAX.to_f64(),
        ElementType::BFLOAT_16 => bf16::MAX.to_f64(),
        ElementType::FLOAT_32 => f64::from(f32::MAX),
        ElementType::FLOAT_64 => f64::MAX,
        _ => (0..=255u8)
            .filter_map(|byte| decode_float(element, &[byte]))
            .filter(|value| value.is_finite())
            .fold(0.0, f64::max),
    }
}

/// Appends `value` rounded to the type, to nearest with ties to even.
pub fn encode_float(element: ElementType, value: f64, target: &mut Vec<u8>) {
    match element {
        ElementType::FLOAT_16 => target.extend_from_slice(&f16::from_f64(value).to_le_bytes()),
        ElementType::BFLOAT_16 => target.extend_from_slice(&bf16::from_f64(value).to_le_bytes()),
        ElementType::FLOAT_32 => target.extend_from_slice(&(value as f32).to_le_bytes()),
        ElementType::FLOAT_64 => target.extend_from_slice(&value.to_le_bytes()),
        _ => target.push(encode_f8(element, value)),
    }
}

/// The nearest of the 256 values of an 8-bit type; ties go to the even code. Overflow gives infinity, or NaN without one.
fn encode_f8(element: ElementType, value: f64) -> u8 {
    let decode = |code: u8| decode_float(element, &[code]).unwrap_or(f64::NAN);
    let nan = (0..=255u8).find(|&code| decode(code).is_nan()).unwrap_or(0xFF);
    if value.is_nan() {
        return nan;
    }
    let (top, infinity) = (maximum(element), (0..=255u8).find(|&code| decode(code) == value.signum() * f64::INFINITY));
    // Half a step beyond the largest value rounds away from it.
    let below = (0..=255u8).map(decode).filter(|other| other.is_finite() && *other < top).fold(0.0, f64::max);
    if value.abs() >= top + (top - below) / 2.0 {
        return infinity.unwrap_or(nan);
    }
    if element == ElementType::FLOAT_8_E8M0_FNU {
        // Powers of two only: no sign, no zero; halfway goes up.
        let exponent = (value.log2() + 127.0).floor();
        let halfway = value >= 1.5 * 2f64.powf(exponent - 127.0);
        return if value > 0.0 && exponent >= 0.0 { exponent as u8 + u8::from(halfway) } else { nan };
    }
    let has_negative_zero = decode(0x80) == 0.0;
    let mut best = (f64::INFINITY, nan);
    for code in 0..=255u8 {
        let candidate = decode(code);
        let distance = (candidate - value).abs();
        let right_zero =
            candidate != 0.0 || !has_negative_zero || candidate.is_sign_negative() == value.is_sign_negative();
        let nearer = distance < best.0 || distance == best.0 && code % 2 == 0 && best.1 % 2 == 1;
        if candidate.is_finite() && right_zero && nearer {
            best = (distance, code);
        }
    }
    best.1
}

/// The value of a floating-point element; None for other types.
pub fn decode_float(element: ElementType, bytes: &[u8]) -> Option<f64> {
    let word =
        |n: usize| bytes.get(..n).map(|bytes| bytes.iter().rev().fold(0u64, |word, &b| word << 8 | u64::from(b)));
    Some(match element {
        ElementType::FLOAT_16 => f16::from_bits(word(2)? as u16).to_f64(),
        ElementType::BFLOAT_16 => bf16::from_bits(word(2)? as u16).to_f64(),
        ElementType::FLOAT_32 => f64::from(f32::from_bits(word(4)? as u32)),
        ElementType::FLOAT_64 => f64::from_bits(word(8)?),
        ElementType::FLOAT_8_E5M2 => f16::from_bits((word(1)? as u16) << 8).to_f64(),
        ElementType::FLOAT_8_E4M3_FN => decode_f8(word(1)? as u8, 4, 3, 7, |byte| byte & 0x7F == 0x7F),
        ElementType::FLOAT_8_E5M2_FNUZ => decode_f8(word(1)? as u8, 5, 2, 16, |byte| byte == 0x80),
        ElementType::FLOAT_8_E4M3_FNUZ => decode_f8(word(1)? as u8, 4, 3, 8, |byte| byte == 0x80),
        ElementType::FLOAT_8_E8M0_FNU => match word(1)? as u8 {
            0xFF => f64::NAN,
            exponent => 2f64.powi(i32::from(exponent) - 127),
        },
        _ => return None,
    })
}

fn decode_f8(byte: u8, exponent_bits: u32, mantissa_bits: u32, bias: i32, is_nan: impl Fn(u8) -> bool) -> f64 {
    if is_nan(byte) {
        return f64::NAN;
    }
    let sign = if byte & 0x80 != 0 { -1.0 } else { 1.0 };
    let exponent = i32::from(byte >> mantissa_bits) & ((1 << exponent_bits) - 1);
    let mantissa = f64::from(byte & ((1 << mantissa_bits) - 1)) / f64::from(1u32 << mantissa_bits);
    match exponent {
        0 => sign * mantissa * 2f64.powi(1 - bias),
        _ => sign * (1.0 + mantissa) * 2f64.powi(exponent - bias),
    }
}

/// The value of an integer element of whole bytes (or of a sub-byte value in one byte); None for other types.
pub fn decode_integer(element: ElementType, bytes: &[u8]) -> Option<i128> {
    if !element.is_integer() || element.bit_count() == 0 {
        return None;
    }
    let bits = element.bit_count();
    let raw = bytes.iter().rev().fold(0i128, |word, &byte| word << 8 | i128::from(byte)) & ((1i128 << bits) - 1);
    let signed = element.numerical_type() != Some(NumericalType::UnsignedInteger);
    Some(if signed && raw >> (bits - 1) & 1 == 1 { raw - (1i128 << bits) } else { raw })
}

/// Appends the text of one element, as IREE's tools print it.
pub fn format(element: ElementType, bytes: &[u8], target: &mut String) {
    if let Some(value) = decode_integer(element, bytes) {
        target.push_str(&value.to_string());
    } else if let Some(value) = decode_float(element, bytes) {
        // IREE widens types below 32 bits before it prints them, which loses the sign of a NaN.
        let unsigned = value.is_nan() && element.bit_count() < 32;
        target.push_str(&format_g(if unsigned { f64::NAN } else { value }, true));
    } else {
        for byte in bytes {
            target.push_str(&format!("{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_f8_value_survives() {
        for element in [
            ElementType::FLOAT_8_E5M2,
            ElementType::FLOAT_8_E4M3_FN,
            ElementType::FLOAT_8_E5M2_FNUZ,
            ElementType::FLOAT_8_E4M3_FNUZ,
            ElementType::FLOAT_8_E8M0_FNU,
        ] {
            for code in 0..=255u8 {
                let value = decode_float(element, &[code]).unwrap();
                let back = decode_float(element, &[encode_f8(element, value)]).unwrap();
                assert!(
                    value.to_bits() == back.to_bits() || value.is_nan() && back.is_nan(),
                    "{element} {code:#x} {value} {back}"
                );
            }
        }
    }

    #[test]
    fn values_must_fit() {
        let fails =
            |name: &str, text: &str| parse(ElementType::parse(name).unwrap(), text, &mut Vec::new()).unwrap_err();
        assert_eq!(fails("i32", "1.5"), "\"1.5\" is not an i32.");
        assert_eq!(fails("i32", "3000000000"), "3000000000 is out of range for i32 (max 2147483647).");
        assert_eq!(fails("ui8", "-1"), "-1 is out of range for ui8 (min 0).");
        assert_eq!(fails("i1", "2"), "\"2\" is not an i1; i1 values are 0/1 or false/true.");
        assert_eq!(fails("f16", "70000"), "70000 is out of range for f16 (max 65504).");
        assert_eq!(fails("f32", "1e39"), "1e39 is out of range for f32 (max 3.40282E+38).");
        assert_eq!(fails("f8E4M3FN", "inf"), "inf is out of range for f8E4M3FN (max 448).");
        assert_eq!(fails("bf16", "x"), "\"x\" is not a bf16.");
        assert!(fails("cf64", "00").contains("16 hexadecimal digits"));
    }
}
