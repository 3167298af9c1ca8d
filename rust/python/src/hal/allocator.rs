//! `HalAllocator`.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tiree_hal::allocator::Allocator;
use tiree_hal::buffer::BufferParams;
use tiree_hal::buffer_view::{BufferView, Shape};
use tiree_hal::memory::{Counters, PoolLimits};
use tiree_hal::types::{ElementType, encoding, memory_type, usage};

use crate::arguments::copy_bytes;
use crate::errors::IntoPython;
use crate::foreign::ForeignBuffer;
use crate::hal::buffer::HalBuffer;
use crate::hal::buffer_view::HalBufferView;
use crate::hal::device::HalDevice;
use crate::hal::peak::MemoryPeak;

/// What `query_buffer_compatibility` answers, in IREE's bits.
mod compatibility {
    pub(super) const ALLOCATABLE: u32 = 1;
    pub(super) const IMPORTABLE: u32 = 2;
    pub(super) const EXPORTABLE: u32 = 4;
    pub(super) const QUEUE_TRANSFER: u32 = 0x400;
    pub(super) const QUEUE_DISPATCH: u32 = 0x800;
}

const DISPATCH_IMAGE: u32 = usage::DISPATCH_IMAGE_READ | usage::DISPATCH_IMAGE_WRITE;

/// Memory of Python's that a buffer shares for good: unlike an argument's it is never copied when a call returns it.
struct Shared {
    _memory: Arc<ForeignBuffer>,
}

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
        allocation_size: usize,
    ) -> PyResult<HalBuffer> {
        let buffer = self.0.allocate(memory_type, allowed_usage, allocation_size).or_raise(py, "allocate_buffer")?;
        Ok(HalBuffer(Arc::new(buffer)))
    }

    /// A copy of `buffer`: a `HalBufferView` when `element_type` is given, else a `HalBuffer`.
    #[pyo3(signature = (memory_type, allowed_usage, device, buffer, element_type = None))]
    fn allocate_buffer_copy<'py>(
        &self,
        py: Python<'py>,
        memory_type: u32,
        allowed_usage: u32,
        device: &HalDevice,
        buffer: &Bound<'py, PyAny>,
        element_type: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = device;
        let memory = ForeignBuffer::contiguous(buffer, false)?;
        let params = BufferParams::local(memory_type, allowed_usage);
        let copy = Arc::new(copy_bytes(py, &memory, &self.0, params).or_raise(py, "allocate_buffer_copy")?);
        let Some(element_type) = element_type else { return Ok(Bound::new(py, HalBuffer(copy))?.into_any()) };
        let shape: Shape = memory.shape().iter().map(|&d| d as u64).collect();
        let view = BufferView::new(copy, ElementType(element_type), encoding::DENSE_ROW_MAJOR, &shape);
        let view = view.or_raise(py, "allocate_buffer_copy")?;
        Ok(Bound::new(py, HalBufferView(Arc::new(view)))?.into_any())
    }

    /// A copy of anything with a buffer, for transfers only.
    fn allocate_host_staging_buffer_copy(
        &self,
        py: Python<'_>,
        device: &HalDevice,
        initial_contents: &Bound<'_, PyAny>,
    ) -> PyResult<HalBuffer> {
        let _ = device;
        let memory = ForeignBuffer::contiguous(initial_contents, false)?;
        let params = BufferParams::local(memory_type::HOST_LOCAL | memory_type::DEVICE_VISIBLE, usage::TRANSFER);
        let copy = copy_bytes(py, &memory, &self.0, params).or_raise(py, "allocate_host_staging_buffer_copy")?;
        Ok(HalBuffer(Arc::new(copy)))
    }

    /// A buffer over the memory of `buffer`, which both sides see; devices do not write it when Python may not.
    /// RuntimeError when it is not 64-byte aligned, which kernels rely on: copy it then.
    fn import_host_allocation(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        memory_type: u32,
        allowed_usage: u32,
    ) -> PyResult<HalBuffer> {
        let memory = ForeignBuffer::contiguous(buffer, false)?;
        let (data, length, writable) = (NonNull::new(memory.data()), memory.len(), !memory.is_readonly());
        let data = data.unwrap_or(NonNull::dangling());
        let owner: Arc<dyn Any + Send + Sync> = Arc::new(Shared { _memory: memory });
        // SAFETY: the exporter keeps the memory valid while the owner holds its view; ordering accesses is up to whoever
        // shares the memory, as it says.
        let buffer = unsafe { self.0.import(memory_type, allowed_usage, data, length, writable, owner) };
        Ok(HalBuffer(Arc::new(buffer.or_raise(py, "import_host_allocation")?)))
    }

    /// What can be done with a buffer of these parameters (`BufferCompatibility` bits).
    fn query_buffer_compatibility(
        &self,
        memory_type: u32,
        allowed_usage: u32,
        intended_usage: u32,
        allocation_size: u64,
    ) -> u32 {
        let _ = allocation_size;
        let mut bits = compatibility::ALLOCATABLE | compatibility::IMPORTABLE | compatibility::EXPORTABLE;
        if memory_type & memory_type::DEVICE_VISIBLE == 0 {
            return bits;
        }
        // No usage means any usage.
        let or_any = |usage: u32| if usage == 0 { u32::MAX } else { usage };
        let usages = or_any(allowed_usage) & or_any(intended_usage);
        if usages & usage::TRANSFER != 0 {
            bits |= compatibility::QUEUE_TRANSFER;
        }
        if usages & (usage::DISPATCH_STORAGE | DISPATCH_IMAGE) != 0 {
            bits |= compatibility::QUEUE_DISPATCH;
        }
        bits
    }

    /// Frees cached memory.
    fn trim(&self) {
        self.0.trim();
    }

    /// Bounds the memory of the device: `memory` bytes may be live at once, beyond which allocations raise MemoryError, and
    /// `cached` bytes are kept for reuse; None for no bound. What is live stays.
    #[pyo3(signature = (memory = None, cached = None))]
    fn set_limits(&self, memory: Option<u64>, cached: Option<u64>) {
        self.0.set_limits(PoolLimits { memory: memory.unwrap_or(u64::MAX), cached: cached.unwrap_or(u64::MAX) });
    }

    /// The bounds that hold, by name; None for no bound.
    #[getter]
    fn limits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let limits = self.0.limits();
        let dict = PyDict::new(py);
        for (name, bytes) in [("memory", limits.memory), ("cached", limits.cached)] {
            dict.set_item(name, (bytes != u64::MAX).then_some(bytes))?;
        }
        Ok(dict)
    }

    /// Measures what a block of a program needs: `with allocator.track_peak() as peak: f(x)`, then `peak.peak_bytes`.
    fn track_peak(&self) -> MemoryPeak {
        MemoryPeak::new(self.0.clone())
    }

    /// Bytes that are kept for reuse; `trim()` gives them back to the system.
    #[getter]
    fn cached_bytes(&self) -> u64 {
        self.0.statistics().cached
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

    /// The same as text, with what is live.
    #[getter]
    fn formatted_statistics(&self) -> String {
        let statistics = self.0.statistics();
        let line = |name: &str, c: Counters| {
            let live = c.allocated.saturating_sub(c.freed);
            format!(
                "{name:>12}: {:>12}B peak / {:>12}B allocated / {:>12}B freed / {live:>12}B live\n",
                c.peak, c.allocated, c.freed
            )
        };
        line("HOST_LOCAL", statistics.host) + &line("DEVICE_LOCAL", statistics.device)
    }
}
