//! Floating-point numbers in text: decimal, hexadecimal (`0x1.8p3`), `inf`, and NaNs with their payload.

use super::scanner::{Parsed, Scanner};

/// Reads an f32 as its bits.
pub fn f32(scanner: &mut Scanner<'_>) -> Parsed<u32> {
    number(scanner, "f32", 23, 0x7F80_0000, |value, text| {
        let exact = value.map_or_else(|| text.parse::<f32>().ok(), |v| Some(v as f32))?;
        Some((u64::from(exact.to_bits()), exact.is_infinite()))
    })
    .map(|bits| bits as u32)
}

/// Reads an f64 as its bits.
pub fn f64(scanner: &mut Scanner<'_>) -> Parsed<u64> {
    number(scanner, "f64", 52, 0x7FF0_0000_0000_0000, |value, text| {
        let exact = value.map_or_else(|| text.parse::<f64>().ok(), Some)?;
        Some((exact.to_bits(), exact.is_infinite()))
    })
}

/// `mantissa` is the number of bits behind the point, `infinity` the bits of infinity; `finite` gives the bits of a
/// number without sign and whether it became infinite.
fn number(
    scanner: &mut Scanner<'_>,
    name: &str,
    mantissa: u32,
    infinity: u64,
    finite: impl Fn(Option<f64>, &str) -> Option<(u64, bool)>,
) -> Parsed<u64> {
    let mut before = scanner.clone();
    let text = scanner.take(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => (infinity.next_power_of_two(), &text[1..]),
        Some(b'+') => (0, &text[1..]),
        _ => (0, text),
    };
    let quiet = 1u64 << (mantissa - 1);
    let magnitude = match digits {
        "inf" | "infinity" => infinity,
        "nan" | "snan" => {
            let mut payload = 0;
            if scanner.eat("(") {
                payload = scanner.integer(0, (1i128 << mantissa) - 1, "the payload of a NaN")? as u64;
                scanner.expect(")")?;
            }
            match digits {
                "nan" => infinity | quiet | payload,
                _ if payload == 0 || payload & quiet != 0 => {
                    return Err(before.expected("a signaling NaN with a payload below the quiet bit, as in snan(0x1)"));
                }
                _ => infinity | payload,
            }
        }
        _ => {
            let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
            let value = match hex {
                Some(hex) => Some(hexadecimal(hex).ok_or_else(|| before.clone().expected(format!("an {name}")))?),
                None => None,
            };
            let is_decimal = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
            match finite(value, digits).filter(|_| is_decimal) {
                None => return Err(before.expected(format!("an {name} such as 1.5, 1e-3, 0x1p3, inf or nan"))),
                Some((_, true)) => return Err(before.expected(format!("a number in the range of {name}, or inf"))),
                Some((bits, false)) => bits,
            }
        }
    };
    Ok(sign | magnitude)
}

/// `1.8p3` as a number, if it is exact in an f64.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P']).unwrap_or((text, "0"));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let significant = format!("{whole}{part}");
    let mantissa = u64::from_str_radix(&significant, 16).ok().filter(|m| *m < 1 << 53)?;
    let exponent = exponent.parse::<i32>().ok()?.checked_sub(4 * i32::try_from(part.len()).ok()?)?;
    // In two steps, of which only the second can round.
    let first = exponent.clamp(-900, 900);
    Some(mantissa as f64 * power_of_two(first) * power_of_two((exponent - first).clamp(-1022, 1023)))
}

/// For exponents of normal numbers.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn single(text: &str) -> Option<u32> {
        let mut scanner = Scanner::new(text, 1);
        f32(&mut scanner).ok().filter(|_| scanner.at_end())
    }

    fn double(text: &str) -> Option<u64> {
        f64(&mut Scanner::new(text, 1)).ok()
    }

    #[test]
    fn numbers() {
        for (text, value) in [
            ("1.5", 1.5f32),
            ("-0", -0.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("+2e3", 2000.0),
            ("0x1p-3", 0.125),
            ("0x1.8p1", 3.0),
            ("1e-45", f32::from_bits(1)),
            ("3.40282347e+38", f32::MAX),
            ("inf", f32::INFINITY),
            ("-infinity", f32::NEG_INFINITY),
        ] {
            assert_eq!(single(text), Some(value.to_bits()), "{text}");
        }
        assert_eq!(double("5e-324"), Some(1));
        assert_eq!(double("1.0000000000000001e+300"), Some(1e300f64.to_bits()));
        assert_eq!(double("0x1p-1074"), Some(1));
    }

    #[test]
    fn nans() {
        for (text, bits) in [
            ("nan", 0x7FC0_0000),
            ("-nan", 0xFFC0_0000),
            ("nan(0x12345)", 0x7FC1_2345),
            ("-nan(7)", 0xFFC0_0007),
            ("snan(0x1)", 0x7F80_0001),
            ("-snan(0x3fffff)", 0xFFBF_FFFF),
        ] {
            assert_eq!(single(text), Some(bits), "{text}");
        }
        assert_eq!(double("nan"), Some(0x7FF8_0000_0000_0000));
        assert_eq!(double("-snan(2)"), Some(0xFFF0_0000_0000_0002));
    }

    #[test]
    fn refusals() {
        for text in ["", "x", "1.5f", "1e39", "nan(0x800000)", "snan", "snan(0)", "0x", "e5", "infinite", "--1"] {
            assert_eq!(single(text), None, "{text}");
        }
    }
}
