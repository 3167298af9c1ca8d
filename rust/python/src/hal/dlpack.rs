//! DLPack capsules: tensors exchanged with other libraries, without a copy where alignment allows.

use std::any::Any;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use tiree_hal::allocator::Allocator;
use tiree_hal::buffer::{Buffer, Mapping};
use tiree_hal::buffer_view::{BufferView, Shape};
use tiree_hal::types::{ElementType, NumericalType, encoding};

use crate::errors::IntoPython;
use crate::hal::buffer_view::default_params;

const NAME: &CStr = c"dltensor";
const USED: &CStr = c"used_dltensor";
const CPU: i32 = 1;
/// What kernels may assume of the memory of arguments.
const ALIGNMENT: usize = 64;
/// More dimensions than any library makes.
const MAX_RANK: i32 = 64;

#[repr(C)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    rank: i32,
    dtype: DataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// Type codes of the DLPack standard (version 1.1 for the 8-bit floats).
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

fn code_of(element: ElementType) -> Option<u8> {
    let kind = element.numerical_type()?;
    CODES.iter().find(|entry| entry.0 == kind).map(|entry| entry.1)
}

fn element_of(dtype: &DataType) -> Option<ElementType> {
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

/// What a tensor of ours that somebody else uses needs to stay.
struct Exported {
    _view: Arc<BufferView>,
    _mapping: Mapping,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

unsafe extern "C" fn delete_exported(managed: *mut Managed) {
    // SAFETY: made by `create_capsule` with two boxes; the consumer calls this once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Exported>()));
    }
}

unsafe extern "C" fn delete_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: CPython passes the capsule that is going away. A used one was renamed and belongs to its consumer.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 0 {
            return;
        }
        let managed = ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast::<Managed>();
        if let Some(deleter) = managed.as_ref().and_then(|m| m.deleter) {
            deleter(managed);
        }
    }
}

/// A capsule that shares the memory of `view`. ValueError for element types that DLPack has not.
pub fn create_capsule(py: Python<'_>, view: &Arc<BufferView>, device: (i32, i32)) -> PyResult<Py<PyAny>> {
    let element = view.element_type();
    let code = code_of(element).ok_or_else(|| {
        PyValueError::new_err(format!("dlpack unsupported buffer view element type: {element} has no DLPack type"))
    })?;
    let mapping = view.buffer().map().or_raise(py, "create_dlpack_capsule")?;
    let shape: Vec<i64> = view.shape().iter().map(|&d| d as i64).collect();
    let mut strides = vec![1i64; shape.len()];
    for i in (0..shape.len().saturating_sub(1)).rev() {
        strides[i] = strides[i + 1] * shape[i + 1].max(1);
    }
    let data = mapping.as_ptr().as_ptr().cast();
    let exported = Box::into_raw(Box::new(Exported { _view: view.clone(), _mapping: mapping, shape, strides }));
    // SAFETY: `exported` was made just now and is not shared yet.
    let (rank, shape, strides) = unsafe {
        let exported = &mut *exported;
        (exported.shape.len() as c_int, exported.shape.as_mut_ptr(), exported.strides.as_mut_ptr())
    };
    let dtype = DataType { code, bits: element.bit_count() as u8, lanes: 1 };
    let tensor =
        Tensor { data, device_type: device.0, device_id: device.1, rank, dtype, shape, strides, byte_offset: 0 };
    let managed = Managed { tensor, context: exported.cast(), deleter: Some(delete_exported) };
    let managed = Box::into_raw(Box::new(managed));
    // SAFETY: name and destructor live for ever; the pointer is not null.
    let capsule = unsafe { ffi::PyCapsule_New(managed.cast(), NAME.as_ptr(), Some(delete_capsule)) };
    if capsule.is_null() {
        // SAFETY: nobody else knows it.
        unsafe { delete_exported(managed) };
        return Err(PyErr::fetch(py));
    }
    // SAFETY: a new reference.
    Ok(unsafe { Bound::from_owned_ptr(py, capsule) }.unbind())
}

/// A tensor of somebody else's, given back when dropped.
struct Imported(NonNull<Managed>);

// SAFETY: the standard lets any thread call the deleter; nothing else is done with the pointer after construction.
unsafe impl Send for Imported {}
// SAFETY: as above.
unsafe impl Sync for Imported {}

impl Drop for Imported {
    fn drop(&mut self) {
        // The deleters of Python libraries touch Python objects.
        Python::try_attach(|_| {
            // SAFETY: the producer keeps the struct until its deleter is called, which happens once, here.
            unsafe {
                if let Some(deleter) = self.0.as_ref().deleter {
                    deleter(self.0.as_ptr());
                }
            }
        });
    }
}

/// The tensor of a capsule as a buffer view; the capsule is used up. Memory that is not aligned to 64 bytes is copied.
///
/// ValueError for a capsule that was used, other devices than the CPU, element types that the HAL has not, and strides.
pub fn from_capsule(capsule: &Bound<'_, PyAny>, allocator: &Allocator) -> PyResult<BufferView> {
    let py = capsule.py();
    // SAFETY: the object is alive; a wrong object or name is answered with null and an exception.
    let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), NAME.as_ptr()) };
    let managed = NonNull::new(pointer.cast::<Managed>()).ok_or_else(|| {
        let error = PyErr::fetch(py);
        PyValueError::new_err(format!("not a DLPack capsule that is still unused ({error})"))
    })?;
    // SAFETY: a capsule of this name holds a managed tensor, valid until its deleter is called.
    let tensor = unsafe { &managed.as_ref().tensor };
    let (element, shape) = check(tensor)?;
    // SAFETY: the capsule is valid and the name lives for ever.
    if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), USED.as_ptr()) } != 0 {
        return Err(PyErr::fetch(py));
    }
    let owner = Imported(managed);
    let count = shape.iter().product::<u64>() as usize;
    let length = count * element.byte_count();
    let params = default_params();
    let data = tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize);
    let buffer = match NonNull::new(data) {
        Some(data) if length > 0 && (data.as_ptr() as usize).is_multiple_of(ALIGNMENT) => {
            let owner: Arc<dyn Any + Send + Sync> = Arc::new(owner);
            // SAFETY: valid and writable until the owner's deleter is called.
            unsafe { Buffer::from_foreign(data, length, params, owner) }
        }
        Some(data) if length > 0 => {
            // SAFETY: as above; read once, now.
            let bytes = unsafe { std::slice::from_raw_parts(data.as_ptr(), length) };
            allocator.allocate_copy(params.memory_type, params.usage, bytes).or_raise(py, "from_dlpack_capsule")?
        }
        _ => allocator.allocate(params.memory_type, params.usage, 0).or_raise(py, "from_dlpack_capsule")?,
    };
    BufferView::new(Arc::new(buffer), element, encoding::DENSE_ROW_MAJOR, &shape).or_raise(py, "from_dlpack_capsule")
}

fn check(tensor: &Tensor) -> PyResult<(ElementType, Shape)> {
    if tensor.device_type != CPU {
        return Err(PyValueError::new_err(format!(
            "the tensor is on DLPack device type {}, not on the CPU (1); copy it there first",
            tensor.device_type
        )));
    }
    let DataType { code, bits, lanes } = tensor.dtype;
    let element = element_of(&tensor.dtype).ok_or_else(|| {
        PyValueError::new_err(format!("DLPack type code {code} with {bits} bits and {lanes} lanes is not supported"))
    })?;
    if !(0..=MAX_RANK).contains(&tensor.rank) {
        return Err(PyValueError::new_err(format!("rank {} is not possible", tensor.rank)));
    }
    let rank = tensor.rank as usize;
    let dims = if rank == 0 || tensor.shape.is_null() { ptr::null() } else { tensor.shape.cast_const() };
    // SAFETY: a tensor has as many dimensions as its rank says.
    let dims: &[i64] = if dims.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(dims, rank) } };
    if dims.iter().any(|d| *d < 0) || dims.iter().try_fold(16i64, |n, d| n.checked_mul((*d).max(1))).is_none() {
        return Err(PyValueError::new_err("the tensor's shape is not possible"));
    }
    if !tensor.strides.is_null() && rank > 0 && !dims.contains(&0) {
        // SAFETY: as for the dimensions.
        let strides = unsafe { std::slice::from_raw_parts(tensor.strides, rank) };
        let mut expected = 1;
        for (dim, stride) in dims.iter().zip(strides).rev() {
            if *dim > 1 && *stride != expected {
                return Err(PyValueError::new_err("Unsupported strided tensor: make it contiguous first"));
            }
            expected *= dim.max(&1);
        }
    }
    Ok((element, dims.iter().map(|&d| d as u64).collect()))
}
