//! Tensors of other libraries: their memory is used in place where alignment and layout allow it, and given back.

use std::any::Any;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};
use tiree_hal::allocator::Allocator;
use tiree_hal::buffer::Buffer;
use tiree_hal::buffer_view::{BufferView, Shape};
use tiree_hal::types::{ElementType, access, encoding};

use super::abi::{
    CPU, CUDA_HOST, Managed, READ_ONLY, ROCM_HOST, Tensor, Unversioned, VERSION, Versioned, element_type,
};
use crate::attaching::try_attach;
use crate::calls::{Invoke, guarded};
use crate::errors::IntoPython;
use crate::hal::buffer_view::default_params;

/// More dimensions than any library makes.
const MAX_RANK: i32 = 64;

/// A tensor of somebody else's, given back when dropped.
struct Imported<M: Managed>(NonNull<M>);

// SAFETY: the standard lets any thread call the deleter; nothing else is done with the pointer after construction.
unsafe impl<M: Managed> Send for Imported<M> {}
// SAFETY: as above.
unsafe impl<M: Managed> Sync for Imported<M> {}

impl<M: Managed> Drop for Imported<M> {
    fn drop(&mut self) {
        // The deleters of Python libraries touch Python objects.
        try_attach(|_| {
            // SAFETY: the producer keeps the struct until its deleter is called, which happens once, here.
            unsafe {
                if let Some(deleter) = self.0.as_ref().deleter() {
                    guarded(|| deleter(self.0.as_ptr()));
                }
            }
        });
    }
}

/// Whether `owner` is a tensor that came from another library.
pub fn is_imported(owner: &(dyn Any + Send + Sync)) -> bool {
    owner.is::<Imported<Unversioned>>() || owner.is::<Imported<Versioned>>()
}

/// A tensor that another library lends.
pub struct Lent {
    owner: Arc<dyn Any + Send + Sync>,
    data: *const u8,
    readonly: bool,
    pub element: ElementType,
    pub shape: Shape,
    /// In elements; None for row-major without gaps.
    strides: Option<Vec<i64>>,
}

impl Lent {
    /// The tensor of `object`, if it has the protocol.
    ///
    /// ValueError for other devices than the CPU and for element types that the HAL has not; what the object raises.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<Lent>> {
        let py = object.py();
        let Some(method) = object.getattr_opt("__dlpack__")? else { return Ok(None) };
        if let Some(device) = object.getattr_opt("__dlpack_device__")? {
            let (kind, _): (i32, i32) = device.invoke(())?.extract()?;
            check_device(kind)?;
        }
        let keywords = PyDict::new(py);
        keywords.set_item("max_version", VERSION)?;
        let capsule = match method.invoke_with((), Some(&keywords)) {
            // From before there were versions.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => method.invoke(())?,
            other => other?,
        };
        Lent::take(&capsule).map(Some)
    }

    /// Takes the tensor out of a capsule of either kind.
    pub fn take(capsule: &Bound<'_, PyAny>) -> PyResult<Lent> {
        // SAFETY: the object is alive; any object may be asked.
        if unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), Versioned::NAME.as_ptr()) } != 0 {
            return Lent::take_as::<Versioned>(capsule);
        }
        Lent::take_as::<Unversioned>(capsule)
    }

    fn take_as<M: Managed + 'static>(capsule: &Bound<'_, PyAny>) -> PyResult<Lent> {
        let py = capsule.py();
        // SAFETY: the object is alive; a wrong object or name is answered with null and an exception.
        let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), M::NAME.as_ptr()) };
        let managed = NonNull::new(pointer.cast::<M>()).ok_or_else(|| {
            let error = PyErr::fetch(py);
            PyValueError::new_err(format!("not a DLPack capsule that is still unused ({error})"))
        })?;
        // SAFETY: a capsule of this name holds a managed tensor, valid until its deleter is called; the version is where
        // all versions have it.
        let managed_ref = unsafe { managed.as_ref() };
        if managed_ref.major() != VERSION.0 {
            return Err(PyBufferError::new_err(format!(
                "the tensor is of DLPack version {}; this build reads version {}",
                managed_ref.major(),
                VERSION.0
            )));
        }
        let tensor = managed_ref.tensor();
        let (element, shape, strides) = check(tensor)?;
        let data = tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize);
        let readonly = managed_ref.flags() & READ_ONLY != 0;
        // SAFETY: the capsule is valid and the name lives for ever.
        if unsafe { ffi::PyCapsule_SetName(capsule.as_ptr(), M::USED.as_ptr()) } != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(Lent { owner: Arc::new(Imported(managed)), data, readonly, element, shape, strides })
    }

    /// Whether elements lie row-major without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.strides.is_none()
    }

    /// As a buffer view: over the memory itself when it is contiguous, aligned to `alignment` and `share` allows it, else
    /// over a copy. Memory that may not be written is not written by devices either.
    pub fn into_view(
        self,
        py: Python<'_>,
        allocator: &Allocator,
        alignment: usize,
        share: bool,
    ) -> PyResult<BufferView> {
        let mut params = default_params();
        let size = self.element.byte_count();
        let length = self.shape.iter().product::<u64>() as usize * size;
        let (element, shape) = (self.element, self.shape.clone());
        let buffer = match NonNull::new(self.data.cast_mut()) {
            Some(data)
                if length > 0
                    && share
                    && self.is_contiguous()
                    && (data.as_ptr() as usize).is_multiple_of(alignment) =>
            {
                if self.readonly {
                    params.access = access::READ;
                }
                // SAFETY: valid, and writable unless told otherwise, until the owner's deleter is called.
                unsafe { Buffer::from_foreign(data, length, params, self.owner) }
            }
            Some(_) if length > 0 => {
                let bytes = self.gather(length, size);
                allocator.allocate_copy(params.memory_type, params.usage, &bytes).or_raise(py, "from_dlpack_capsule")?
            }
            _ => allocator.allocate(params.memory_type, params.usage, 0).or_raise(py, "from_dlpack_capsule")?,
        };
        BufferView::new(Arc::new(buffer), element, encoding::DENSE_ROW_MAJOR, &shape)
            .or_raise(py, "from_dlpack_capsule")
    }

    /// All `length` bytes in row-major order.
    fn gather(&self, length: usize, size: usize) -> Vec<u8> {
        let Some(strides) = &self.strides else {
            // SAFETY: the producer keeps as many bytes valid until its deleter is called.
            return unsafe { std::slice::from_raw_parts(self.data, length) }.to_vec();
        };
        let mut bytes = Vec::with_capacity(length);
        let mut index = vec![0u64; self.shape.len()];
        while bytes.len() < length {
            let offset: i64 = index.iter().zip(strides).map(|(i, stride)| *i as i64 * stride).sum();
            let element = self.data.wrapping_offset(offset as isize * size as isize);
            // SAFETY: the tensor has an element at each index inside its shape.
            bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(element, size) });
            for (i, dim) in index.iter_mut().zip(&self.shape).rev() {
                *i += 1;
                if *i < *dim {
                    break;
                }
                *i = 0;
            }
        }
        bytes
    }
}

fn check_device(kind: i32) -> PyResult<()> {
    if matches!(kind, CPU | CUDA_HOST | ROCM_HOST) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "the tensor is on DLPack device type {kind}, not on the CPU (1); copy it there first"
    )))
}

fn check(tensor: &Tensor) -> PyResult<(ElementType, Shape, Option<Vec<i64>>)> {
    check_device(tensor.device_type)?;
    let (code, bits, lanes) = (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
    let element = element_type(tensor.dtype).ok_or_else(|| {
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
    let shape: Shape = dims.iter().map(|&d| d as u64).collect();
    if tensor.strides.is_null() || rank == 0 || dims.contains(&0) {
        return Ok((element, shape, None));
    }
    // SAFETY: as for the dimensions.
    let strides = unsafe { std::slice::from_raw_parts(tensor.strides, rank) };
    let mut expected = 1;
    let mut contiguous = true;
    for (dim, stride) in dims.iter().zip(strides).rev() {
        contiguous &= *dim <= 1 || *stride == expected;
        expected *= dim.max(&1);
    }
    Ok((element, shape, (!contiguous).then(|| strides.to_vec())))
}

/// The tensor of a capsule as a buffer view; the capsule is used up. Memory that is not aligned to `alignment` is copied.
///
/// ValueError for a capsule that was used, other devices than the CPU, element types that the HAL has not, and strides.
pub fn from_capsule(capsule: &Bound<'_, PyAny>, allocator: &Allocator, alignment: usize) -> PyResult<BufferView> {
    // Refused before the capsule is used up.
    let lent = Lent::take(capsule)?;
    if !lent.is_contiguous() {
        return Err(PyValueError::new_err("Unsupported strided tensor: make it contiguous first"));
    }
    lent.into_view(capsule.py(), allocator, alignment, true)
}
