//! Python objects that offer their memory (the buffer protocol), and memory of ours that Python reads.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;
use std::sync::Arc;

use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use tiree_hal::buffer::Mapping;
use tiree_hal::types::ElementType;

use crate::attaching::try_attach;
use crate::calls::release_buffer;

/// A view of an object's memory; the object stays exported, and so alive, until this is dropped.
///
/// Always behind an `Arc`: CPython lets a view point into itself, so it must not move.
pub struct ForeignBuffer(ffi::Py_buffer);

// SAFETY: the view is plain data; it is released with the GIL held (see `drop`), and the memory it points to is only
// read or written by code that owns this value.
unsafe impl Send for ForeignBuffer {}
// SAFETY: as above; nothing changes the view itself.
unsafe impl Sync for ForeignBuffer {}

impl ForeignBuffer {
    /// Asks for shape, strides and format; writable memory only when `writable`.
    pub fn get(object: &Bound<'_, PyAny>, writable: bool) -> PyResult<Arc<ForeignBuffer>> {
        let mut buffer = Arc::new(ForeignBuffer(ffi::Py_buffer::new()));
        let flags = if writable { ffi::PyBUF_FULL } else { ffi::PyBUF_FULL_RO };
        let view = match Arc::get_mut(&mut buffer) {
            Some(buffer) => &raw mut buffer.0,
            None => ptr::null_mut(),
        };
        // SAFETY: `view` is valid for writes and stays where it is; on success it is released exactly once, in `drop`.
        // On failure CPython leaves its object null, and releasing such a view does nothing.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), view, flags) } != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        Ok(buffer)
    }

    /// Asks for plain C-contiguous bytes.
    pub fn contiguous(object: &Bound<'_, PyAny>, writable: bool) -> PyResult<Arc<ForeignBuffer>> {
        let buffer = ForeignBuffer::get(object, writable)?;
        if buffer.is_contiguous() {
            return Ok(buffer);
        }
        Err(PyValueError::new_err("the array is not C-contiguous; pass numpy.ascontiguousarray(...)"))
    }

    /// The bytes.
    ///
    /// # Safety
    /// They must not change while the slice is used: the GIL is held, or the owner of the memory promises it.
    pub unsafe fn bytes(&self) -> &[u8] {
        if self.len() == 0 {
            return &[];
        }
        // SAFETY: the exporter keeps `len` bytes valid while the view is not released.
        unsafe { std::slice::from_raw_parts(self.data(), self.len()) }
    }

    /// Whether writing is forbidden.
    pub fn is_readonly(&self) -> bool {
        self.0.readonly != 0
    }

    /// First byte.
    pub fn data(&self) -> *mut u8 {
        self.0.buf.cast()
    }

    /// Bytes of the elements, without gaps.
    pub fn len(&self) -> usize {
        self.0.len.max(0) as usize
    }

    /// Dimensions.
    pub fn shape(&self) -> &[isize] {
        if self.0.ndim == 0 || self.0.shape.is_null() {
            return &[];
        }
        // SAFETY: a view with dimensions has `ndim` sizes, valid as long as the view.
        unsafe { std::slice::from_raw_parts(self.0.shape, self.0.ndim as usize) }
    }

    /// Whether elements lie row-major without gaps.
    pub fn is_contiguous(&self) -> bool {
        // SAFETY: the view is valid.
        unsafe { ffi::PyBuffer_IsContiguous(&raw const self.0, b'C' as c_char) != 0 }
    }

    /// The element type; None when the format is another byte order or no plain number.
    pub fn element_type(&self) -> Option<ElementType> {
        if self.0.format.is_null() {
            return Some(ElementType::UINT_8);
        }
        // SAFETY: a non-null format is a C string that lives as long as the view.
        let format = unsafe { CStr::from_ptr(self.0.format) }.to_bytes();
        let swapped = if cfg!(target_endian = "little") { b'>' } else { b'<' };
        let format = match format.split_first() {
            Some((order, _)) if *order == swapped || *order == b'!' => return None,
            Some((b'@' | b'=' | b'<' | b'>' | b'|', rest)) => rest,
            _ => format,
        };
        let size = self.0.itemsize as usize;
        Some(match (format, size) {
            (b"?", 1) => ElementType::BOOL_8,
            (b"b", 1) => ElementType::SINT_8,
            (b"B" | b"c", 1) => ElementType::UINT_8,
            (b"h", 2) => ElementType::SINT_16,
            (b"H", 2) => ElementType::UINT_16,
            (b"i" | b"l" | b"q" | b"n", 4) => ElementType::SINT_32,
            (b"I" | b"L" | b"Q" | b"N", 4) => ElementType::UINT_32,
            (b"i" | b"l" | b"q" | b"n", 8) => ElementType::SINT_64,
            (b"I" | b"L" | b"Q" | b"N", 8) => ElementType::UINT_64,
            (b"e", 2) => ElementType::FLOAT_16,
            (b"f", 4) => ElementType::FLOAT_32,
            (b"d", 8) => ElementType::FLOAT_64,
            (b"Zf", 8) => ElementType::COMPLEX_FLOAT_64,
            (b"Zd", 16) => ElementType::COMPLEX_FLOAT_128,
            _ => return None,
        })
    }
}

impl Drop for ForeignBuffer {
    fn drop(&mut self) {
        if self.0.obj.is_null() {
            return;
        }
        // When the interpreter is gone there is nobody left to release the memory for.
        try_attach(|_| {
            // SAFETY: the view was filled by PyObject_GetBuffer and is released once, with the GIL held.
            unsafe { release_buffer(&mut self.0) };
        });
    }
}

/// The format string of an element type, or None for types that the buffer protocol cannot name.
pub fn format_of(element: ElementType) -> Option<&'static CStr> {
    Some(match element {
        ElementType::BOOL_8 => c"?",
        ElementType::INT_8 | ElementType::SINT_8 => c"b",
        ElementType::UINT_8 | ElementType::OPAQUE_8 => c"B",
        ElementType::INT_16 | ElementType::SINT_16 => c"h",
        ElementType::UINT_16 | ElementType::OPAQUE_16 => c"H",
        ElementType::INT_32 | ElementType::SINT_32 => c"i",
        ElementType::UINT_32 | ElementType::OPAQUE_32 => c"I",
        ElementType::INT_64 | ElementType::SINT_64 => c"q",
        ElementType::UINT_64 | ElementType::OPAQUE_64 => c"Q",
        ElementType::FLOAT_16 => c"e",
        ElementType::FLOAT_32 => c"f",
        ElementType::FLOAT_64 => c"d",
        ElementType::COMPLEX_FLOAT_64 => c"Zf",
        ElementType::COMPLEX_FLOAT_128 => c"Zd",
        _ => return None,
    })
}

/// Shape and strides of an exported view and what keeps its memory; lives in `Py_buffer.internal` until the release.
struct Extent {
    shape: Vec<isize>,
    strides: Vec<isize>,
    _pin: Option<Mapping>,
}

/// Memory that is handed to Python.
pub struct Export<'a> {
    /// First byte.
    pub data: *mut u8,
    /// Bytes.
    pub len: usize,
    /// Bytes of one element.
    pub item_size: usize,
    /// Format string.
    pub format: &'static CStr,
    /// Dimensions.
    pub shape: &'a [u64],
    /// Whether writing is forbidden.
    pub readonly: bool,
    /// Keeps the memory when the owner alone does not.
    pub pin: Option<Mapping>,
}

/// Fills `view` for `owner`, which Python keeps alive while it holds the view.
///
/// # Safety
/// `view` comes from CPython's request for a buffer of `owner`; `export.data` stays valid while `owner` and `export.pin`
/// are alive.
pub unsafe fn export(
    owner: &Bound<'_, PyAny>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
    export: Export<'_>,
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("no view was given"));
    }
    if export.readonly && flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
        return Err(PyBufferError::new_err("the buffer is read-only; copy it before writing"));
    }
    let shape: Vec<isize> = export.shape.iter().map(|&d| d as isize).collect();
    let mut strides = vec![export.item_size as isize; shape.len()];
    for i in (0..shape.len().saturating_sub(1)).rev() {
        strides[i] = strides[i + 1] * shape[i + 1].max(1);
    }
    let extent = Box::new(Extent { shape, strides, _pin: export.pin });
    // SAFETY: CPython gives a writable view; the pointers stored are valid until `release` (Extent) or for ever.
    unsafe {
        (*view).obj = owner.clone().into_ptr();
        (*view).buf = export.data.cast();
        (*view).len = export.len as isize;
        (*view).readonly = c_int::from(export.readonly);
        (*view).itemsize = export.item_size as isize;
        let wants_format = flags & ffi::PyBUF_FORMAT == ffi::PyBUF_FORMAT;
        (*view).format = if wants_format { export.format.as_ptr().cast_mut() } else { ptr::null_mut() };
        (*view).ndim = extent.shape.len() as c_int;
        let wants_shape = flags & ffi::PyBUF_ND == ffi::PyBUF_ND;
        (*view).shape = if wants_shape { extent.shape.as_ptr().cast_mut() } else { ptr::null_mut() };
        let wants_strides = flags & ffi::PyBUF_STRIDES == ffi::PyBUF_STRIDES;
        (*view).strides = if wants_strides { extent.strides.as_ptr().cast_mut() } else { ptr::null_mut() };
        (*view).suboffsets = ptr::null_mut();
        (*view).internal = Box::into_raw(extent).cast();
    }
    Ok(())
}

/// Frees what [`export`] allocated.
///
/// # Safety
/// `view` was filled by [`export`] and is released once.
pub unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: `internal` holds the box that `export` leaked.
    unsafe {
        let extent = (*view).internal.cast::<Extent>();
        if !extent.is_null() {
            drop(Box::from_raw(extent));
            (*view).internal = ptr::null_mut();
        }
    }
}
