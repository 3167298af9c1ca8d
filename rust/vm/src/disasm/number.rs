//! Floats as C's `%.*g` prints them.

/// `%.{digits}g`
pub fn general(value: f64, digits: usize) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        return format!("{sign}nan");
    }
    if value.is_infinite() {
        return format!("{sign}inf");
    }
    if value == 0.0 {
        return format!("{sign}0");
    }
    let scientific = format!("{:.*e}", digits - 1, value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let mantissa = trim(mantissa);
        let (direction, size) = if exponent < 0 { ('-', -exponent) } else { ('+', exponent) };
        return format!("{sign}{mantissa}e{direction}{size:02}");
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    format!("{sign}{}", trim(&format!("{:.*}", decimals, value.abs())))
}

fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::general;

    #[test]
    fn as_printed_by_c() {
        for (value, expected) in [
            (0.1f32, "0.100000001"),
            (1e10, "1e+10"),
            (1e-10, "1.00000001e-10"),
            (123456789.0, "123456792"),
            (1e-4, "9.99999975e-05"),
            (1e6, "1000000"),
            (-0.0, "-0"),
            (f32::INFINITY, "inf"),
            (-f32::NAN, "-nan"),
        ] {
            assert_eq!(general(value.into(), 9), expected);
        }
        assert_eq!(general(1.0 / 3.0, 17), "0.33333333333333331");
        assert_eq!(general(1e10, 17), "10000000000");
        assert_eq!(general(0.0001, 17), "0.0001");
        assert_eq!(general(99999999999999990.0, 17), "99999999999999984");
    }
}
