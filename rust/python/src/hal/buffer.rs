//! `HalBuffer` and `MappedMemory`.

use std::ffi::c_int;
use std::sync::Arc;

use pyo3::ffi;
use pyo3::prelude::*;
use tiree_hal::buffer::{Buffer, Mapping};
use tiree_hal::types::{access, memory_type, usage};

use crate::calls::Invoke;
use crate::errors::IntoPython;
use crate::foreign::{self, Export};
use crate::hal::buffer_view::HalBufferView;
use crate::vm::refs::VmRef;

/// Names of bits, sets first, in the order that they are printed.
type Names = &'static [(&'static str, u32)];

const MEMORY_TYPES: Names = &[
    ("HOST_LOCAL", memory_type::HOST_LOCAL),
    ("DEVICE_LOCAL", memory_type::DEVICE_LOCAL),
    ("DEVICE_VISIBLE", memory_type::DEVICE_VISIBLE),
    ("HOST_VISIBLE", memory_type::HOST_VISIBLE),
    ("HOST_COHERENT", memory_type::HOST_COHERENT),
    ("HOST_CACHED", memory_type::HOST_CACHED),
];
const ACCESSES: Names =
    &[("ALL", access::ALL), ("READ", access::READ), ("WRITE", access::WRITE), ("DISCARD", access::DISCARD)];
const USAGES: Names = &[
    ("TRANSFER", usage::TRANSFER),
    ("TRANSFER_SOURCE", usage::TRANSFER_SOURCE),
    ("TRANSFER_TARGET", usage::TRANSFER_TARGET),
    ("DISPATCH_INDIRECT_PARAMETERS", usage::DISPATCH_INDIRECT_PARAMETERS),
    ("DISPATCH_UNIFORM_READ", usage::DISPATCH_UNIFORM_READ),
    ("DISPATCH_STORAGE", usage::DISPATCH_STORAGE),
    ("DISPATCH_STORAGE_READ", usage::DISPATCH_STORAGE_READ),
    ("DISPATCH_STORAGE_WRITE", usage::DISPATCH_STORAGE_WRITE),
    ("SHARING_EXPORT", usage::SHARING_EXPORT),
    ("SHARING_REPLICATE", usage::SHARING_REPLICATE),
    ("SHARING_CONCURRENT", usage::SHARING_CONCURRENT),
    ("SHARING_IMMUTABLE", usage::SHARING_IMMUTABLE),
    ("MAPPING", usage::MAPPING),
    ("MAPPING_SCOPED", usage::MAPPING_SCOPED),
    ("MAPPING_PERSISTENT", usage::MAPPING_PERSISTENT),
    ("MAPPING_OPTIONAL", usage::MAPPING_OPTIONAL),
    ("MAPPING_ACCESS_RANDOM", usage::MAPPING_ACCESS_RANDOM),
    ("MAPPING_ACCESS_SEQUENTIAL_WRITE", usage::MAPPING_ACCESS_SEQUENTIAL_WRITE),
];

/// The names of the bits of `value`, joined by `|`; those without a name as hex.
fn bit_names(value: u32, names: Names) -> String {
    let (mut left, mut found) = (value, Vec::new());
    for (name, bits) in names {
        if left & bits == *bits {
            found.push((*name).to_owned());
            left &= !bits;
        }
    }
    if left != 0 {
        found.push(format!("{left:#x}"));
    }
    if found.is_empty() { "NONE".to_owned() } else { found.join("|") }
}

/// A range of device memory.
#[pyclass(frozen, module = "tiree._native")]
pub struct HalBuffer(pub Arc<Buffer>);

#[pymethods]
impl HalBuffer {
    /// Length in bytes.
    fn byte_length(&self) -> usize {
        self.0.byte_length()
    }

    /// Memory type bits (`MemoryType`).
    fn memory_type(&self) -> u32 {
        self.0.memory_type()
    }

    /// Usage bits (`BufferUsage`).
    fn allowed_usage(&self) -> u32 {
        self.0.allowed_usage()
    }

    /// Sets `byte_length` bytes from `byte_offset` to zero.
    fn fill_zero(&self, py: Python<'_>, byte_offset: u64, byte_length: u64) -> PyResult<()> {
        let (_, length) = self.0.resolve_range(byte_offset, byte_length).or_raise(py, "fill_zero")?;
        self.0.write(byte_offset, &vec![0; length]).or_raise(py, "fill_zero")
    }

    /// A view with a shape; `element_size` bytes each, of no particular type.
    fn create_view(&self, py: Python<'_>, shape: &Bound<'_, PyAny>, element_size: u32) -> PyResult<HalBufferView> {
        let dims: Vec<u64> = match shape.getattr("dims") {
            Ok(dims) => dims.extract()?,
            Err(_) => shape.extract()?,
        };
        let element = tiree_hal::types::ElementType(element_size * 8);
        let encoding = tiree_hal::types::encoding::DENSE_ROW_MAJOR;
        let view = tiree_hal::buffer_view::BufferView::new(self.0.clone(), element, encoding, &dims);
        view.map(|v| HalBufferView(Arc::new(v))).or_raise(py, "create_view")
    }

    /// The contents as host memory.
    fn map(&self, py: Python<'_>) -> PyResult<MappedMemory> {
        MappedMemory::of(py, &self.0)
    }

    /// A counted reference for variant lists.
    #[getter]
    fn r#ref(&self) -> VmRef {
        VmRef(Some(self.0.clone()))
    }

    /// As `ref`.
    #[getter]
    fn __iree_vm_ref__(&self) -> VmRef {
        self.r#ref()
    }

    fn __repr__(&self) -> String {
        let b = &self.0;
        format!(
            "<HalBuffer {} bytes (at offset {} into {}), memory_type={}, allowed_access={}, allowed_usage={}>",
            b.byte_length(),
            b.byte_offset(),
            b.allocation_size(),
            bit_names(b.memory_type(), MEMORY_TYPES),
            bit_names(b.allowed_access(), ACCESSES),
            bit_names(b.allowed_usage(), USAGES)
        )
    }
}

/// Host access to a buffer's bytes, through the buffer protocol.
#[pyclass(frozen, module = "tiree._native")]
pub struct MappedMemory {
    mapping: Mapping,
    readonly: bool,
    dims: [u64; 1],
}

impl MappedMemory {
    /// Maps all of `buffer`.
    pub fn of(py: Python<'_>, buffer: &Buffer) -> PyResult<MappedMemory> {
        let mapping = buffer.lend().or_raise(py, "mapping the buffer")?;
        let dims = [mapping.len() as u64];
        Ok(MappedMemory { mapping, readonly: buffer.allowed_access() & access::WRITE == 0, dims })
    }
}

#[pymethods]
impl MappedMemory {
    /// A numpy array over the memory.
    fn asarray<'py>(
        slf: Bound<'py, Self>,
        shape: &Bound<'py, PyAny>,
        numpy_dtype_descr: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let numpy = slf.py().import("numpy")?;
        let dtype = numpy.invoke_method("dtype", (numpy_dtype_descr,))?;
        let count: usize = shape.try_iter()?.try_fold(1usize, |n, d| Ok::<_, PyErr>(n * d?.extract::<usize>()?))?;
        let array = numpy.invoke_method("frombuffer", (slf, dtype, count))?;
        array.invoke_method("reshape", (shape,))
    }

    fn __len__(&self) -> usize {
        self.mapping.len()
    }

    /// # Safety
    /// Called by CPython with a valid view.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        let export = Export {
            data: this.mapping.as_ptr().as_ptr(),
            len: this.mapping.len(),
            item_size: 1,
            format: c"B",
            shape: &this.dims,
            readonly: this.readonly,
            pin: None,
        };
        // SAFETY: the object holds the mapping.
        unsafe { foreign::export(slf.as_any(), view, flags, export) }
    }

    /// # Safety
    /// Called by CPython with a view that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: as stated.
        unsafe { foreign::release(view) }
    }
}
