//! `HalCommandBuffer`: copies and fills, recorded once and executed by `HalDevice.queue_execute`.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tiree_hal::buffer::WHOLE_BUFFER;
use tiree_hal::command_buffer::{Binding, CommandBuffer, Pattern};
use tiree_vm::{Result, Status};

use crate::errors::IntoPython;
use crate::foreign::ForeignBuffer;
use crate::hal::buffer::HalBuffer;
use crate::hal::device::HalDevice;
use crate::vm::refs::VmRef;

/// Transfers and dispatches.
const ALL_CATEGORIES: u32 = 3;

/// A list of commands; every one sees what those before it did.
#[pyclass(frozen, module = "tiree._native")]
pub struct HalCommandBuffer(pub Arc<CommandBuffer>);

impl HalCommandBuffer {
    /// Records one command and orders it after those before.
    fn record(&self, py: Python<'_>, command: impl FnOnce(&CommandBuffer) -> Result<()>, end: bool) -> PyResult<()> {
        let recorded = self
            .0
            .execution_barrier()
            .and_then(|()| command(&self.0))
            .and_then(|()| if end { self.0.finalize() } else { Ok(()) });
        recorded.or_raise(py, "recording into a command buffer")
    }
}

/// `length` bytes of `buffer` at `offset`; None: the rest.
pub fn range_of(buffer: &HalBuffer, offset: u64, length: Option<u64>) -> Binding {
    Binding { offset, length: length.unwrap_or(WHOLE_BUFFER), ..Binding::whole(buffer.0.clone()) }
}

/// The fill pattern in `object`, anything with 1, 2 or 4 bytes.
fn pattern_of(object: &Bound<'_, PyAny>) -> PyResult<Pattern> {
    let memory = ForeignBuffer::contiguous(object, false)?;
    // SAFETY: read at once, with the GIL held.
    let bytes = unsafe { memory.bytes() };
    let mut word = [0; 8];
    if bytes.len() > word.len() {
        return Err(PyValueError::new_err(format!("fill pattern of {} bytes; needs 1, 2 or 4", bytes.len())));
    }
    word[..bytes.len()].copy_from_slice(bytes);
    Pattern::new(u64::from_le_bytes(word), bytes.len() as u64).or_raise(object.py(), "")
}

#[pymethods]
impl HalCommandBuffer {
    /// A command buffer for `device`, already recording unless `begin` is False. `binding_capacity` is the size of the
    /// table of buffers that executions bring; from Python commands name their buffers themselves.
    #[new]
    #[pyo3(signature = (device, binding_capacity = 0, begin = true))]
    fn new(py: Python<'_>, device: &HalDevice, binding_capacity: usize, begin: bool) -> PyResult<HalCommandBuffer> {
        let _ = (device, begin);
        let commands = CommandBuffer::new(0, ALL_CATEGORIES, binding_capacity).or_raise(py, "HalCommandBuffer")?;
        Ok(HalCommandBuffer(Arc::new(commands)))
    }

    /// Starts recording. A new command buffer records already, so this only refuses one that has ended.
    fn begin(&self, py: Python<'_>) -> PyResult<()> {
        self.0.note("begin").or_raise(py, "command buffer begin")
    }

    /// Ends recording; then it can be executed any number of times.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        self.0.finalize().or_raise(py, "command buffer end")
    }

    /// Copies `length` bytes (None: as many as the shorter rest). Ends recording too when `end`.
    #[pyo3(signature = (source_buffer, target_buffer, source_offset = 0, target_offset = 0, length = None, end = false))]
    #[expect(clippy::too_many_arguments, reason = "IREE's signature")]
    fn copy(
        &self,
        py: Python<'_>,
        source_buffer: &HalBuffer,
        target_buffer: &HalBuffer,
        source_offset: u64,
        target_offset: u64,
        length: Option<u64>,
        end: bool,
    ) -> PyResult<()> {
        let rest = |buffer: &HalBuffer, offset: u64| (buffer.0.byte_length() as u64).saturating_sub(offset);
        let shorter = rest(source_buffer, source_offset).min(rest(target_buffer, target_offset));
        let length = Some(length.unwrap_or(shorter));
        let source = range_of(source_buffer, source_offset, length);
        let target = range_of(target_buffer, target_offset, length);
        self.record(py, |commands| commands.copy(source, target), end)
    }

    /// Fills `length` bytes (None: the rest) with `pattern`: 1, 2 or 4 bytes of anything with a buffer, such as
    /// `np.int16(7)`. Ends recording too when `end`.
    #[pyo3(signature = (target_buffer, pattern, target_offset = 0, length = None, end = false))]
    fn fill(
        &self,
        py: Python<'_>,
        target_buffer: &HalBuffer,
        pattern: &Bound<'_, PyAny>,
        target_offset: u64,
        length: Option<u64>,
        end: bool,
    ) -> PyResult<()> {
        let pattern = pattern_of(pattern)?;
        let target = range_of(target_buffer, target_offset, length);
        self.record(py, |commands| commands.fill(target, pattern), end)
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
}

/// The error for a copy that does not fit.
pub fn too_small(source: u64, target: u64) -> Status {
    Status::invalid_argument(format!("the source has {source} bytes, the target only {target}"))
}
