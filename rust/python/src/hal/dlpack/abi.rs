//! The structs of the DLPack standard, without and with a version, and its names of element types.

use std::ffi::{CStr, c_void};

use tiree_hal::types::{ElementType, NumericalType};

/// The CPU, and memory of GPUs that the CPU reads as its own.
pub const CPU: i32 = 1;
pub const CUDA_HOST: i32 = 3;
pub const ROCM_HOST: i32 = 11;

/// The tensor may not be written.
pub const READ_ONLY: u64 = 1;
/// The producer made a copy for this consumer.
pub const IS_COPIED: u64 = 2;
/// The version that this file describes.
pub const VERSION: (u32, u32) = (1, 1);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct DataType {
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

#[repr(C)]
pub struct Tensor {
    pub data: *mut c_void,
    pub device_type: i32,
    pub device_id: i32,
    pub rank: i32,
    pub dtype: DataType,
    pub shape: *mut i64,
    pub strides: *mut i64,
    pub byte_offset: u64,
}

/// `DLManagedTensor`, from before there were versions.
#[repr(C)]
pub struct Unversioned {
    pub tensor: Tensor,
    pub context: *mut c_void,
    pub deleter: Option<unsafe extern "C-unwind" fn(*mut Unversioned)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
pub struct Versioned {
    pub major: u32,
    pub minor: u32,
    pub context: *mut c_void,
    pub deleter: Option<unsafe extern "C-unwind" fn(*mut Versioned)>,
    pub flags: u64,
    pub tensor: Tensor,
}

/// One of the two structs, with the names of its capsules.
pub trait Managed: Sized {
    /// A capsule with a tensor in it.
    const NAME: &'static CStr;
    /// A capsule whose tensor has gone to a consumer.
    const USED: &'static CStr;
    fn new(tensor: Tensor, context: *mut c_void, flags: u64, deleter: unsafe extern "C-unwind" fn(*mut Self)) -> Self;
    fn deleter(&self) -> Option<unsafe extern "C-unwind" fn(*mut Self)>;
    fn context(&self) -> *mut c_void;
    fn tensor(&self) -> &Tensor;
    fn flags(&self) -> u64;
    /// The major version, which says how the rest is laid out.
    fn major(&self) -> u32;
}

impl Managed for Unversioned {
    const NAME: &'static CStr = c"dltensor";
    const USED: &'static CStr = c"used_dltensor";

    fn new(tensor: Tensor, context: *mut c_void, _flags: u64, deleter: unsafe extern "C-unwind" fn(*mut Self)) -> Self {
        Unversioned { tensor, context, deleter: Some(deleter) }
    }

    fn deleter(&self) -> Option<unsafe extern "C-unwind" fn(*mut Self)> {
        self.deleter
    }

    fn context(&self) -> *mut c_void {
        self.context
    }

    fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    fn flags(&self) -> u64 {
        0
    }

    fn major(&self) -> u32 {
        VERSION.0
    }
}

impl Managed for Versioned {
    const NAME: &'static CStr = c"dltensor_versioned";
    const USED: &'static CStr = c"used_dltensor_versioned";

    fn new(tensor: Tensor, context: *mut c_void, flags: u64, deleter: unsafe extern "C-unwind" fn(*mut Self)) -> Self {
        Versioned { major: VERSION.0, minor: VERSION.1, context, deleter: Some(deleter), flags, tensor }
    }

    fn deleter(&self) -> Option<unsafe extern "C-unwind" fn(*mut Self)> {
        self.deleter
    }

    fn context(&self) -> *mut c_void {
        self.context
    }

    fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    fn flags(&self) -> u64 {
        self.flags
    }

    fn major(&self) -> u32 {
        self.major
    }
}

/// Type codes of the standard (version 1.1 for the 8-bit floats).
const CODES: &[(NumericalType, u8)] = &[
    (NumericalType::SignedInteger, 0),
    (NumericalType::Integer, 0),
    (NumericalType::UnsignedInteger, 1),
    (NumericalType::FloatIeee, 2),
    (NumericalType::FloatBrain, 4),
    (NumericalType::FloatComplex, 5),
    (NumericalType::Boolean, 6),
    (NumericalType::Float8E4M3Fn, 10),
    (NumericalType::Float8E4M3Fnuz, 11),
    (NumericalType::Float8E5M2, 12),
    (NumericalType::Float8E5M2Fnuz, 13),
    (NumericalType::Float8E8M0Fnu, 14),
];

/// The standard's name of an element type; None for types that it has not.
pub fn data_type(element: ElementType) -> Option<DataType> {
    let kind = element.numerical_type()?;
    let code = CODES.iter().find(|entry| entry.0 == kind)?.1;
    (element.bit_count() >= 8).then(|| DataType { code, bits: element.bit_count() as u8, lanes: 1 })
}

/// The element type of a name of the standard's; None for those that the HAL has not.
pub fn element_type(dtype: DataType) -> Option<ElementType> {
    let kind: u32 = match dtype.code {
        0 => 0x11,
        1 => 0x12,
        2 => 0x21,
        4 => 0x22,
        5 => 0x23,
        6 => 0x13,
        10 => 0x25,
        11 => 0x27,
        12 => 0x24,
        13 => 0x26,
        14 => 0x28,
        _ => return None,
    };
    (dtype.lanes == 1 && dtype.bits >= 8).then(|| ElementType(kind << 24 | u32::from(dtype.bits)))
}
