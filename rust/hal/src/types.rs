//! Flag values and element types of the HAL, with IREE's numbers and names.

use std::fmt;

/// Memory type bits.
pub mod memory_type {
    #![allow(missing_docs)] // The names are IREE's.
    pub const OPTIMAL: u32 = 0x1;
    pub const HOST_VISIBLE: u32 = 0x2;
    pub const HOST_COHERENT: u32 = 0x4;
    pub const HOST_CACHED: u32 = 0x8;
    pub const DEVICE_VISIBLE: u32 = 0x10;
    pub const DEVICE_LOCAL: u32 = 0x30;
    pub const HOST_LOCAL: u32 = 0x46;
    pub(crate) const NAMES: &[(&str, u32)] = &[
        ("HOST_LOCAL", HOST_LOCAL),
        ("DEVICE_LOCAL", DEVICE_LOCAL),
        ("OPTIMAL", OPTIMAL),
        ("HOST_VISIBLE", HOST_VISIBLE),
        ("HOST_COHERENT", HOST_COHERENT),
        ("HOST_CACHED", HOST_CACHED),
        ("DEVICE_VISIBLE", DEVICE_VISIBLE),
    ];
}

/// Buffer usage bits.
pub mod usage {
    #![allow(missing_docs)] // The names are IREE's.
    pub const TRANSFER_SOURCE: u32 = 0x1;
    pub const TRANSFER_TARGET: u32 = 0x2;
    pub const TRANSFER: u32 = 0x3;
    pub const DISPATCH_INDIRECT_PARAMETERS: u32 = 0x100;
    pub const DISPATCH_UNIFORM_READ: u32 = 0x200;
    pub const DISPATCH_STORAGE_READ: u32 = 0x400;
    pub const DISPATCH_STORAGE_WRITE: u32 = 0x800;
    pub const DISPATCH_STORAGE: u32 = 0xC00;
    pub const DISPATCH_IMAGE_READ: u32 = 0x1000;
    pub const DISPATCH_IMAGE_WRITE: u32 = 0x2000;
    pub const SHARING_EXPORT: u32 = 0x1_0000;
    pub const SHARING_REPLICATE: u32 = 0x2_0000;
    pub const SHARING_CONCURRENT: u32 = 0x4_0000;
    pub const SHARING_IMMUTABLE: u32 = 0x8_0000;
    pub const MAPPING_SCOPED: u32 = 0x100_0000;
    pub const MAPPING_PERSISTENT: u32 = 0x200_0000;
    pub const MAPPING_OPTIONAL: u32 = 0x400_0000;
    pub const MAPPING_ACCESS_RANDOM: u32 = 0x800_0000;
    pub const MAPPING_ACCESS_SEQUENTIAL_WRITE: u32 = 0x1000_0000;
    pub const MAPPING: u32 = 0x900_0000;
    pub const DEFAULT: u32 = 0xC03;
    pub(crate) const NAMES: &[(&str, u32)] = &[
        ("TRANSFER_SOURCE", TRANSFER_SOURCE),
        ("TRANSFER_TARGET", TRANSFER_TARGET),
        ("DISPATCH_INDIRECT_PARAMETERS", DISPATCH_INDIRECT_PARAMETERS),
        ("DISPATCH_UNIFORM_READ", DISPATCH_UNIFORM_READ),
        ("DISPATCH_STORAGE_READ", DISPATCH_STORAGE_READ),
        ("DISPATCH_STORAGE_WRITE", DISPATCH_STORAGE_WRITE),
        ("DISPATCH_IMAGE_READ", DISPATCH_IMAGE_READ),
        ("DISPATCH_IMAGE_WRITE", DISPATCH_IMAGE_WRITE),
        ("SHARING_EXPORT", SHARING_EXPORT),
        ("SHARING_REPLICATE", SHARING_REPLICATE),
        ("SHARING_CONCURRENT", SHARING_CONCURRENT),
        ("SHARING_IMMUTABLE", SHARING_IMMUTABLE),
        ("MAPPING_SCOPED", MAPPING_SCOPED),
        ("MAPPING_PERSISTENT", MAPPING_PERSISTENT),
        ("MAPPING_OPTIONAL", MAPPING_OPTIONAL),
        ("MAPPING_ACCESS_RANDOM", MAPPING_ACCESS_RANDOM),
        ("MAPPING_ACCESS_SEQUENTIAL_WRITE", MAPPING_ACCESS_SEQUENTIAL_WRITE),
    ];
}

/// Memory access bits.
pub mod access {
    #![allow(missing_docs)] // The names are IREE's.
    pub const READ: u32 = 1;
    pub const WRITE: u32 = 2;
    pub const DISCARD: u32 = 4;
    pub const ALL: u32 = 7;
}

/// Command buffer mode bits.
pub mod command_buffer_mode {
    #![allow(missing_docs)] // The names are IREE's.
    pub const ONE_SHOT: u32 = 1;
    pub const ALLOW_INLINE_EXECUTION: u32 = 16;
    pub const UNVALIDATED: u32 = 32;
    pub const UNRETAINED: u32 = 64;
    pub const RETAIN_PROFILE_METADATA: u32 = 128;
    pub const RETAIN_DISPATCH_METADATA: u32 = 256;
    pub const ALL: u32 = 1 | 16 | 32 | 64 | 128 | 256;
}

/// Command category bits.
pub mod command_category {
    #![allow(missing_docs)] // The names are IREE's.
    pub const TRANSFER: u32 = 1;
    pub const DISPATCH: u32 = 2;
    pub const ALL: u32 = 3;
    pub(crate) const NAMES: &[(&str, u32)] = &[("TRANSFER", TRANSFER), ("DISPATCH", DISPATCH)];
}

/// Dispatch flag bits.
pub mod dispatch_flags {
    #![allow(missing_docs)] // The names are IREE's.
    pub const DYNAMIC_INDIRECT_PARAMETERS: u64 = 1;
    pub const STATIC_INDIRECT_PARAMETERS: u64 = 2;
    pub const CUSTOM_DIRECT_ARGUMENTS: u64 = 4;
    pub const DYNAMIC_INDIRECT_ARGUMENTS: u64 = 8;
    pub const STATIC_INDIRECT_ARGUMENTS: u64 = 16;
    pub const ALLOW_INLINE_EXECUTION: u64 = 32;
    pub const BORROW_RESOURCE_LIFETIMES: u64 = 64;
}

/// Names of the bits of `value`, joined by `|`; bits without a name as hex.
pub(crate) fn bit_names(value: u32, names: &[(&str, u32)]) -> String {
    let (mut left, mut found) = (value, Vec::new());
    for (name, bits) in names {
        if left & bits == *bits {
            found.push((*name).to_owned());
            left &= !bits;
        }
    }
    if left != 0 || found.is_empty() {
        found.push(format!("{left:#X}"));
    }
    found.join("|")
}

/// An element type: numerical kind in the top byte, bit count in the low bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementType(pub u32);

/// The numerical kinds (top byte of an element type).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The names are IREE's.
pub enum NumericalType {
    Opaque,
    Integer,
    SignedInteger,
    UnsignedInteger,
    Boolean,
    FloatIeee,
    FloatBrain,
    FloatComplex,
    Float8E5M2,
    Float8E4M3Fn,
    Float8E5M2Fnuz,
    Float8E4M3Fnuz,
    Float8E8M0Fnu,
}

const KINDS: &[(u8, NumericalType)] = &[
    (0x00, NumericalType::Opaque),
    (0x10, NumericalType::Integer),
    (0x11, NumericalType::SignedInteger),
    (0x12, NumericalType::UnsignedInteger),
    (0x13, NumericalType::Boolean),
    (0x21, NumericalType::FloatIeee),
    (0x22, NumericalType::FloatBrain),
    (0x23, NumericalType::FloatComplex),
    (0x24, NumericalType::Float8E5M2),
    (0x25, NumericalType::Float8E4M3Fn),
    (0x26, NumericalType::Float8E5M2Fnuz),
    (0x27, NumericalType::Float8E4M3Fnuz),
    (0x28, NumericalType::Float8E8M0Fnu),
];

/// Fixed names; families with any bit count (iN, siN, uiN, xN) are handled apart.
const NAMED: &[(&str, u32)] = &[
    ("i1", 0x1300_0008),
    ("f16", 0x2100_0010),
    ("f32", 0x2100_0020),
    ("f64", 0x2100_0040),
    ("bf16", 0x2200_0010),
    ("cf64", 0x2300_0040),
    ("cf128", 0x2300_0080),
    ("f8E5M2", 0x2400_0008),
    ("f8E4M3FN", 0x2500_0008),
    ("f8E5M2FNUZ", 0x2600_0008),
    ("f8E4M3FNUZ", 0x2700_0008),
    ("f8E8M0FNU", 0x2800_0008),
];

macro_rules! element_types {
    ($($name:ident = $value:literal;)*) => {
        #[allow(missing_docs)] // The names are IREE's.
        impl ElementType { $(pub const $name: ElementType = ElementType($value);)* }
    };
}

element_types! {
    NONE = 0x0000_0000; OPAQUE_8 = 0x0000_0008; OPAQUE_16 = 0x0000_0010; OPAQUE_32 = 0x0000_0020; OPAQUE_64 = 0x0000_0040;
    BOOL_8 = 0x1300_0008; INT_4 = 0x1000_0004; INT_8 = 0x1000_0008; INT_16 = 0x1000_0010; INT_32 = 0x1000_0020;
    INT_64 = 0x1000_0040; SINT_4 = 0x1100_0004; SINT_8 = 0x1100_0008; SINT_16 = 0x1100_0010; SINT_32 = 0x1100_0020;
    SINT_64 = 0x1100_0040; UINT_4 = 0x1200_0004; UINT_8 = 0x1200_0008; UINT_16 = 0x1200_0010; UINT_32 = 0x1200_0020;
    UINT_64 = 0x1200_0040; FLOAT_16 = 0x2100_0010; FLOAT_32 = 0x2100_0020; FLOAT_64 = 0x2100_0040;
    BFLOAT_16 = 0x2200_0010; COMPLEX_FLOAT_64 = 0x2300_0040; COMPLEX_FLOAT_128 = 0x2300_0080;
    FLOAT_8_E5M2 = 0x2400_0008; FLOAT_8_E4M3_FN = 0x2500_0008; FLOAT_8_E5M2_FNUZ = 0x2600_0008;
    FLOAT_8_E4M3_FNUZ = 0x2700_0008; FLOAT_8_E8M0_FNU = 0x2800_0008;
}

/// Why a type name is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownElementType {
    /// The name as given.
    pub name: String,
    /// What was probably meant.
    pub suggestion: Option<&'static str>,
}

impl fmt::Display for UnknownElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown element type \"{}\"", self.name)?;
        match self.suggestion {
            Some(suggestion) => write!(f, "; did you mean {suggestion}?"),
            None => f.write_str("; known: i1, iN, siN, uiN, f16, f32, f64, bf16, f8E5M2, f8E4M3FN, f8E5M2FNUZ, f8E4M3FNUZ, f8E8M0FNU, cf64, cf128, xN"),
        }
    }
}

impl ElementType {
    /// The kind, or None for a top byte without a meaning.
    pub fn numerical_type(self) -> Option<NumericalType> {
        let kind = (self.0 >> 24) as u8;
        KINDS.iter().find(|entry| entry.0 == kind).map(|entry| entry.1)
    }

    /// Bits per element.
    pub fn bit_count(self) -> u32 {
        self.0 & 0xFF
    }

    /// Bytes per element, rounded up; 0 for none.
    pub fn byte_count(self) -> usize {
        self.bit_count().div_ceil(8) as usize
    }

    /// Whether elements fill whole bytes.
    pub fn is_byte_aligned(self) -> bool {
        self.bit_count().is_multiple_of(8)
    }

    /// Whether elements are bytes without a meaning.
    pub fn is_opaque(self) -> bool {
        self.numerical_type() == Some(NumericalType::Opaque)
    }

    /// Whether it is one of the integer kinds (without booleans).
    pub fn is_integer(self) -> bool {
        matches!(
            self.numerical_type(),
            Some(NumericalType::Integer | NumericalType::SignedInteger | NumericalType::UnsignedInteger)
        )
    }

    /// Whether values of one type may be taken for the other: equal types, and integers of one width whatever their sign
    /// (MLIR's are signless, numpy's are not).
    pub fn is_compatible(self, other: ElementType) -> bool {
        self == other || self.is_integer() && other.is_integer() && self.bit_count() == other.bit_count()
    }

    /// Bytes that `count` dense elements take; None on overflow.
    pub fn dense_bytes(self, count: usize) -> Option<usize> {
        let bits = (count as u128) * u128::from(self.bit_count());
        usize::try_from(bits.div_ceil(8)).ok()
    }

    /// Reads a name such as `f32`, `si8` or `x32`.
    ///
    /// # Errors
    /// [`UnknownElementType`], with a suggestion for common names of other systems.
    pub fn parse(name: &str) -> Result<ElementType, UnknownElementType> {
        if let Some(entry) = NAMED.iter().find(|entry| entry.0 == name) {
            return Ok(ElementType(entry.1));
        }
        let families: [(&str, u32); 5] =
            [("si", 0x1100_0000), ("ui", 0x1200_0000), ("i", 0x1000_0000), ("x", 0), ("*", 0)];
        for (prefix, kind) in families {
            let Some(digits) = name.strip_prefix(prefix) else { continue };
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            if let (true, Ok(bits @ 1..=255)) = (plain, digits.parse::<u32>()) {
                // Integers are at most 64 bits wide: wider ones have no values that could be read or printed.
                if kind == 0 || bits <= 64 {
                    return Ok(ElementType(kind | bits));
                }
            }
        }
        Err(UnknownElementType { name: name.to_owned(), suggestion: suggestion(name) })
    }
}

fn suggestion(name: &str) -> Option<&'static str> {
    const OTHER_NAMES: &[(&str, &str)] = &[
        ("float", "f32"),
        ("float16", "f16"),
        ("half", "f16"),
        ("float32", "f32"),
        ("float64", "f64"),
        ("double", "f64"),
        ("bfloat16", "bf16"),
        ("int8", "i8"),
        ("int16", "i16"),
        ("int32", "i32"),
        ("int", "i32"),
        ("int64", "i64"),
        ("long", "i64"),
        ("index", "i64"),
        ("uint8", "ui8"),
        ("uint16", "ui16"),
        ("uint32", "ui32"),
        ("uint64", "ui64"),
        ("u8", "ui8"),
        ("u16", "ui16"),
        ("u32", "ui32"),
        ("u64", "ui64"),
        ("s8", "si8"),
        ("s16", "si16"),
        ("s32", "si32"),
        ("s64", "si64"),
        ("bool", "i1"),
        ("pred", "i1"),
        ("complex64", "cf64"),
        ("complex128", "cf128"),
        ("complex<f32>", "cf64"),
        ("complex<f64>", "cf128"),
        ("c64", "cf64"),
        ("c128", "cf128"),
        ("f8", "f8E4M3FN"),
        ("float8_e4m3fn", "f8E4M3FN"),
        ("float8_e5m2", "f8E5M2"),
    ];
    let lower = name.to_ascii_lowercase();
    if let Some(entry) = OTHER_NAMES.iter().find(|entry| entry.0 == lower) {
        return Some(entry.1);
    }
    NAMED.iter().find(|entry| entry.0.eq_ignore_ascii_case(name)).map(|entry| entry.0)
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(entry) = NAMED.iter().find(|entry| entry.1 == self.0) {
            return f.write_str(entry.0);
        }
        let bits = self.bit_count();
        match self.numerical_type() {
            Some(NumericalType::Integer) => write!(f, "i{bits}"),
            Some(NumericalType::SignedInteger) => write!(f, "si{bits}"),
            Some(NumericalType::UnsignedInteger) => write!(f, "ui{bits}"),
            Some(NumericalType::Opaque) => write!(f, "*{bits}"),
            _ => write!(f, "{:08X}", self.0),
        }
    }
}

impl fmt::Debug for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({:08X})", self.0)
    }
}

/// Encoding types of buffer views.
pub mod encoding {
    /// Not known to the runtime.
    pub const OPAQUE: u32 = 0;
    /// Dense, row-major.
    pub const DENSE_ROW_MAJOR: u32 = 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in [
            "i1",
            "i4",
            "i8",
            "si16",
            "ui64",
            "f16",
            "f32",
            "f64",
            "bf16",
            "cf64",
            "cf128",
            "f8E5M2",
            "f8E4M3FN",
            "f8E8M0FNU",
        ] {
            assert_eq!(ElementType::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(ElementType::parse("x32").unwrap(), ElementType::OPAQUE_32);
        assert_eq!(ElementType::parse("*32").unwrap().to_string(), "*32");
        assert_eq!(ElementType::parse("i8").unwrap(), ElementType::INT_8);
    }

    #[test]
    fn foreign_names_get_a_suggestion() {
        let text = ElementType::parse("float32").unwrap_err().to_string();
        assert_eq!(text, "unknown element type \"float32\"; did you mean f32?");
        for name in ["index", "u8", "bool", "complex<f32>", "i0", "i65", "i", "", "f", "i-1", "i+1", "x256"] {
            assert!(ElementType::parse(name).is_err(), "{name}");
        }
    }
}
