//! `HalAllocator`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tiree_hal::allocator::Allocator;
use tiree_hal::buffer_view::BufferView;
use tiree_hal::types::{ElementType, encoding};

use crate::errors::IntoPython;
use crate::foreign::ForeignBuffer;
use crate::hal::buffer::HalBuffer;
use crate::hal::buffer_view::HalBufferView;

/// Makes buffers of a device.
#[pyclass(frozen, module = "tiree._native")]
pub struct HalAllocator(pub Arc<Allocator>);

#[pymethods]
impl HalAllocator {
    /// Uninitialised memory.
    fn allocate_buffer(
        &self,
        py: Python<'_>,
        memory_type: u32,
        allowed_usage: u32,
        size: usize,
    ) -> PyResult<HalBuffer> {
        let buffer = self.0.allocate(memory_type, allowed_usage, size).or_raise(py, "allocate_buffer")?;
        Ok(HalBuffer(Arc::new(buffer)))
    }

    /// A copy of `buffer`: a `HalBufferView` when `element_type` is given, else a `HalBuffer`.
    #[pyo3(signature = (memory_type, allowed_usage, device, buffer, element_type = None))]
    fn allocate_buffer_copy<'py>(
        &self,
        py: Python<'py>,
        memory_type: u32,
        allowed_usage: u32,
        device: &Bound<'py, PyAny>,
        buffer: &Bound<'py, PyAny>,
        element_type: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = device;
        let memory = ForeignBuffer::get(buffer, false)?;
        if !memory.is_contiguous() {
            return Err(pyo3::exceptions::PyValueError::new_err("the array must be C-contiguous"));
        }
        let bytes = if memory.len() == 0 {
            &[][..]
        } else {
            // SAFETY: the exporter keeps `len` bytes valid while `memory` lives; the GIL is held while they are read.
            unsafe { std::slice::from_raw_parts(memory.data(), memory.len()) }
        };
        let copy = self.0.allocate_copy(memory_type, allowed_usage, bytes).or_raise(py, "allocate_buffer_copy")?;
        let copy = Arc::new(copy);
        let Some(element_type) = element_type else { return Ok(Bound::new(py, HalBuffer(copy))?.into_any()) };
        let shape: Vec<u64> = memory.shape().iter().map(|&d| d as u64).collect();
        let view = BufferView::new(copy, ElementType(element_type), encoding::DENSE_ROW_MAJOR, &shape);
        let view = view.or_raise(py, "allocate_buffer_copy")?;
        Ok(Bound::new(py, HalBufferView(Arc::new(view)))?.into_any())
    }

    /// Frees cached memory.
    fn trim(&self) {
        self.0.trim();
    }

    /// Always: counting costs nothing worth switching off.
    #[getter]
    fn has_statistics(&self) -> bool {
        true
    }

    /// Bytes allocated, freed and at peak, by kind of memory.
    #[getter]
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let statistics = self.0.statistics();
        let dict = PyDict::new(py);
        for (kind, counters) in [("host", statistics.host), ("device", statistics.device)] {
            dict.set_item(format!("{kind}_bytes_peak"), counters.peak)?;
            dict.set_item(format!("{kind}_bytes_allocated"), counters.allocated)?;
            dict.set_item(format!("{kind}_bytes_freed"), counters.freed)?;
        }
        Ok(dict)
    }
}
