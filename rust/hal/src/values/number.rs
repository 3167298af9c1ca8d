//! Numbers as text: C's `%g`, and reading what `strtod` and `strtoll` read, but whole and in range.

/// `value` with six significant digits as C's `%g` (or `%G`) prints it.
pub fn format_g(value: f64, upper: bool) -> String {
    if value.is_nan() {
        let text = if value.is_sign_negative() { "-nan" } else { "nan" };
        return if upper { text.to_uppercase() } else { text.to_owned() };
    }
    if value.is_infinite() {
        let text = if value < 0.0 { "-inf" } else { "inf" };
        return if upper { text.to_uppercase() } else { text.to_owned() };
    }
    // Six correctly rounded digits and the exponent that rounding left.
    let scientific = format!("{value:.5e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return trim(&format!("{value:.*}", (5 - exponent) as usize)).to_owned();
    }
    let letter = if upper { 'E' } else { 'e' };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}{letter}{sign}{:02}", trim(mantissa), exponent.unsigned_abs())
}

/// Without zeros after the last decimal.
fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Reads a whole decimal or hexadecimal floating-point number, an infinity or a NaN.
pub fn parse_float(text: &str) -> Option<f64> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = body.to_ascii_lowercase();
    let magnitude = match lower.as_str() {
        "nan" => f64::NAN,
        "inf" | "infinity" => f64::INFINITY,
        _ if lower.starts_with("0x") => parse_hex_float(&lower[2..])?,
        _ => {
            // Rust's reader also takes words and signs; only digits may begin here.
            if !lower.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
                return None;
            }
            lower.parse().ok()?
        }
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// `1.8p3`: digits with an optional point, then an optional binary exponent. Exact up to 16 digits.
fn parse_hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once('p') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    if digits.is_empty() || digits.len() > 13 {
        return None;
    }
    let value = u64::from_str_radix(&digits, 16).ok()?;
    let shift = exponent.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
    // At most 52 bits: the conversion is exact, and the two steps keep subnormal results exact as well.
    let half = shift.clamp(-2200, 2200) / 2;
    Some(value as f64 * 2f64.powi(half) * 2f64.powi(shift.clamp(-2200, 2200) - half))
}

/// Why a text is not an integer of some width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerError {
    /// Not an integer at all.
    Syntax,
    /// A decimal with leading zeros, which C reads as octal.
    LeadingZero,
    /// Too small or too large.
    Range,
}

/// Reads a whole decimal or hexadecimal integer and checks that it lies in `minimum..=maximum`. Hexadecimal numbers are
/// bit patterns of `bits` bits: they may use the sign bit.
pub fn parse_integer(text: &str, minimum: i128, maximum: i128, bits: u32) -> Result<i128, IntegerError> {
    let (negative, body) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match body.strip_prefix("0x").or_else(|| body.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None => (10, body),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err(IntegerError::Syntax);
    }
    if radix == 10 && digits.len() > 1 && digits.starts_with('0') && digits.bytes().any(|digit| digit != b'0') {
        return Err(IntegerError::LeadingZero);
    }
    let magnitude = i128::from_str_radix(digits, radix).map_err(|_| IntegerError::Range)?;
    let mut value = if negative { -magnitude } else { magnitude };
    if radix == 16 && !negative && value > maximum && value < 1i128 << bits {
        value -= 1i128 << bits;
    }
    if value < minimum || value > maximum { Err(IntegerError::Range) } else { Ok(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_whole_or_not_at_all() {
        for (text, value) in [
            ("1", 1.0),
            ("-1.5", -1.5),
            ("+2", 2.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e3", 1000.0),
            ("1E-2", 0.01),
            ("0x1p3", 8.0),
            ("0x1.8p0", 1.5),
            ("-0xA", -10.0),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("0x1p-1074", 5e-324),
        ] {
            assert_eq!(parse_float(text), Some(value), "{text}");
        }
        assert!(parse_float("NaN").is_some_and(f64::is_nan));
        assert!(parse_float("-0").is_some_and(|zero| zero.is_sign_negative()));
        for text in ["", "-", "1.5.5", "1x", "e5", "0x", "0xg", "--1", "1e", ".", "nano", "1;2", "++1", "-+1", "+inf "]
        {
            assert_eq!(parse_float(text), None, "{text}");
        }
    }

    #[test]
    fn integers_read_in_range() {
        let i8 = |text| parse_integer(text, -128, 127, 8);
        assert_eq!(i8("-128"), Ok(-128));
        assert_eq!(i8("0x7f"), Ok(127));
        assert_eq!(i8("0xFF"), Ok(-1));
        assert_eq!(i8("00"), Ok(0));
        assert_eq!(i8("010"), Err(IntegerError::LeadingZero));
        for text in ["128", "-129", "0x100", "-0x81", "99999999999999999999999999999999999999999999"] {
            assert_eq!(i8(text), Err(IntegerError::Range), "{text}");
        }
        for text in ["", "-", "1.5", "1e3", "a", "0x", "1 ", "+-1"] {
            assert_eq!(i8(text), Err(IntegerError::Syntax), "{text}");
        }
    }

    #[test]
    fn g_edge_cases() {
        for (value, text) in
            [(0.0, "0"), (-0.0, "-0"), (123456.0, "123456"), (999999.5, "1e+06"), (1e-5, "1e-05"), (0.0001, "0.0001")]
        {
            assert_eq!(format_g(value, false), text);
        }
    }
}
