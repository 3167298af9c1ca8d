//! Float arithmetic whose meaning differs from Rust's operators, as measured on IREE 3.13.

/// IEEE remainder (quotient rounded to nearest even), exact.
pub fn remainder_f32(a: f32, b: f32) -> f32 {
    remainderf(a, b)
}

/// As [`remainder_f32`].
pub fn remainder_f64(a: f64, b: f64) -> f64 {
    remainder(a, b)
}

/// Error function.
pub fn erf_f32(a: f32) -> f32 {
    erff(a)
}

/// Error function.
pub fn erf_f64(a: f64) -> f64 {
    erf(a)
}

// SAFETY: functions of the C library's mathematics part, with their C types; they have no preconditions.
unsafe extern "C" {
    safe fn remainderf(a: f32, b: f32) -> f32;
    safe fn remainder(a: f64, b: f64) -> f64;
    safe fn erff(a: f32) -> f32;
    safe fn erf(a: f64) -> f64;
}

const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// Nearest integer, ties away from zero; `i64::MIN` when it does not fit.
pub fn to_i64(value: f64) -> i64 {
    let rounded = value.round();
    if (-TWO_63..TWO_63).contains(&rounded) { rounded as i64 } else { i64::MIN }
}

/// The low half of [`to_i64`].
pub fn f32_to_i32(value: f32) -> i32 {
    to_i64(value.into()) as i32
}

/// Narrows to f32 first, as the reference does.
pub fn f64_to_i32(value: f64) -> i32 {
    f32_to_i32(value as f32)
}

/// As [`to_i64`], but values in [2^63, 2^64) are right as u64.
pub fn f32_to_u64(value: f32) -> i64 {
    let rounded = f64::from(value).round();
    if (TWO_63..2.0 * TWO_63).contains(&rounded) { rounded as u64 as i64 } else { to_i64(value.into()) }
}

/// Round to even; -0.5 gives +0, as measured.
pub fn round_even_f32(value: f32) -> f32 {
    if value == -0.5 { 0.0 } else { value.round_ties_even() }
}

/// As [`round_even_f32`].
pub fn round_even_f64(value: f64) -> f64 {
    if value == -0.5 { 0.0 } else { value.round_ties_even() }
}

/// `base` to the power of `exponent` by squaring, in the order of factors that compilers' support libraries have.
pub fn powi<T: Copy + std::ops::MulAssign + std::ops::Div<Output = T> + From<u8>>(mut base: T, exponent: i32) -> T {
    let mut left = exponent.unsigned_abs();
    let mut product = T::from(1);
    loop {
        if left & 1 == 1 {
            product *= base;
        }
        left >>= 1;
        if left == 0 {
            break;
        }
        let factor = base;
        base *= factor;
    }
    if exponent < 0 { T::from(1) / product } else { product }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_casts() {
        for (value, expected) in [
            (2.5f32, 3),
            (-0.5, -1),
            (3e9, -1_294_967_296),
            (5e9, 705_032_704),
            (1e30, 0),
            (-1e30, 0),
            (f32::INFINITY, 0),
            (f32::NAN, 0),
        ] {
            assert_eq!(f32_to_i32(value), expected, "{value}");
        }
        assert_eq!(f64_to_i32(16_777_217.0), 16_777_216);
        assert_eq!(f64_to_i32(2_147_483_647.0), i32::MIN);
        assert_eq!(f32_to_u64(1e19) as u64, 9_999_999_980_506_447_872);
        assert_eq!(f32_to_u64(1e20), i64::MIN);
        assert_eq!(f32_to_u64(f32::NAN), i64::MIN);
        assert_eq!(f32_to_u64(-1.0), -1);
        assert_eq!(to_i64(1e19), i64::MIN);
    }

    #[test]
    fn measured_rounding() {
        assert_eq!(remainder_f32(5.5, 2.0), -0.5);
        assert_eq!(remainder_f32(5.0, 3.0), -1.0);
        assert!(remainder_f64(1.0, 0.0).is_nan());
        assert_eq!(round_even_f32(2.5), 2.0);
        assert!(round_even_f32(-0.5).is_sign_positive());
    }
}
