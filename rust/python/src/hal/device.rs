//! `HalDevice` and how devices are opened.

use std::sync::Arc;

use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tiree_hal::command_buffer::CommandBuffer;
use tiree_hal::device::Device;
use tiree_hal::drivers;
use tiree_hal::fence::Fence;
use tiree_hal::queue::QueueOp;
use tiree_hal::semaphore::Semaphore;
use tiree_hal::types::{memory_type, usage};
use tiree_task::Priority;
use tiree_vm::Result;

use crate::arguments::ALIGNMENT_OF_OTHERS;
use crate::errors::IntoPython;
use crate::hal::allocator::HalAllocator;
use crate::hal::buffer::HalBuffer;
use crate::hal::buffer_view::HalBufferView;
use crate::hal::command_buffer::{HalCommandBuffer, too_small};
use crate::hal::dlpack;
use crate::hal::fence::HalFence;
use crate::hal::semaphore::HalSemaphore;
use crate::hal::topology::topology_options;
use crate::vm::refs::VmRef;

/// An open device.
#[pyclass(frozen, module = "tiree._native")]
pub struct HalDevice(pub Arc<Device>);

/// A fence, or a list of `(semaphore, value)`; None when there is nothing in it.
fn fence_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Arc<Fence>>> {
    let fence = match object.cast::<HalFence>() {
        Ok(fence) => fence.get().0.clone(),
        Err(_) => {
            let points: Vec<(PyRef<'_, HalSemaphore>, u64)> = object
                .extract()
                .map_err(|_| PyTypeError::new_err("needs a HalFence or a list of (HalSemaphore, value) pairs"))?;
            let fence = Fence::new();
            for (semaphore, value) in points {
                fence.insert(semaphore.0.clone(), value);
            }
            Arc::new(fence)
        }
    };
    Ok((fence.timepoint_count() > 0).then_some(fence))
}

impl HalDevice {
    /// Queues what `operation` makes, without the GIL: work on the calling thread may take its time.
    fn submit(
        &self,
        context: &str,
        waits: &Bound<'_, PyAny>,
        signals: &Bound<'_, PyAny>,
        operation: impl FnOnce() -> Result<QueueOp> + Send,
    ) -> PyResult<()> {
        let py = waits.py();
        let (waits, signals) = (fence_of(waits)?, fence_of(signals)?);
        py.detach(|| self.0.submit(waits, signals, operation()?)).or_raise(py, context)
    }

    fn execute(
        &self,
        commands: Arc<CommandBuffer>,
        waits: &Bound<'_, PyAny>,
        signals: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.submit("queue_execute", waits, signals, move || QueueOp::execute(commands, std::iter::empty().collect()))
    }
}

#[pymethods]
impl HalDevice {
    /// Opens the device that `uri` names; zeros in the topology mean the default.
    #[staticmethod]
    #[pyo3(signature = (uri, group_count = 0, max_group_count = 0, cpu_ids = vec![], worker_spin_us = None,
                        worker_local_memory = 0, worker_stack_size = 0, nodes = "", distribution = ""))]
    #[expect(clippy::too_many_arguments, reason = "one per flag, keywords in Python")]
    fn open(
        py: Python<'_>,
        uri: &str,
        group_count: usize,
        max_group_count: usize,
        cpu_ids: Vec<usize>,
        worker_spin_us: Option<u32>,
        worker_local_memory: usize,
        worker_stack_size: usize,
        nodes: &str,
        distribution: &str,
    ) -> PyResult<HalDevice> {
        let workers = (worker_spin_us, worker_local_memory, worker_stack_size);
        let options = topology_options((group_count, max_group_count, cpu_ids), workers, nodes, distribution)?;
        py.detach(|| drivers::create_device(uri, &options)).map(HalDevice).or_raise(py, "")
    }

    /// Lets this device load executables of the operating system (`system-elf-*`), which run code of their own while
    /// they are loaded and may do all that the process may.
    fn allow_system_executables(&self, allow: bool) {
        self.0.allow_system_libraries(allow);
    }

    /// `local-sync` or `local-task`.
    #[getter]
    fn id(&self) -> &'static str {
        self.0.id()
    }

    /// What the device was asked for since it was opened, by name; None for devices that do not count it (all but null).
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(counts) = self.0.counts() else { return Ok(None) };
        let found = PyDict::new(py);
        for (name, number) in counts.named() {
            found.set_item(name, number)?;
        }
        Ok(Some(found))
    }

    /// The same device for submissions of another priority: `urgent` work is begun before all other, also between the
    /// tiles of a dispatch that keeps all workers busy; `normal` work in its turn. ValueError for other words, and for
    /// devices without workers.
    fn with_priority(&self, priority: &str) -> PyResult<HalDevice> {
        let wanted = match priority {
            "normal" => Priority::Normal,
            "urgent" => Priority::Urgent,
            _ => return Err(PyValueError::new_err(format!("priority \"{priority}\": write \"normal\" or \"urgent\""))),
        };
        self.0.with_priority(wanted).map(HalDevice).ok_or_else(|| {
            PyValueError::new_err(format!("{} has no workers that could be urgent; use local-task", self.0.id()))
        })
    }

    /// Threads that run dispatches.
    #[getter]
    fn worker_count(&self) -> usize {
        self.0.worker_count()
    }

    /// Its allocator.
    #[getter]
    fn allocator(&self) -> HalAllocator {
        HalAllocator(self.0.allocator().clone())
    }

    /// A semaphore that starts at `initial_value`.
    fn create_semaphore(&self, initial_value: u64) -> HalSemaphore {
        HalSemaphore(Arc::new(Semaphore::new(initial_value)))
    }

    /// Queues an allocation after `wait_semaphores` (a HalFence or a list of `(semaphore, value)`): the buffer is there
    /// at once, its memory when `signal_semaphores` are signalled.
    fn queue_alloca(
        &self,
        py: Python<'_>,
        allocation_size: usize,
        wait_semaphores: &Bound<'_, PyAny>,
        signal_semaphores: &Bound<'_, PyAny>,
    ) -> PyResult<HalBuffer> {
        let (waits, signals) = (fence_of(wait_semaphores)?, fence_of(signal_semaphores)?);
        let usages = usage::DEFAULT | usage::MAPPING;
        let buffer = py.detach(|| self.0.alloca(waits, signals, memory_type::DEVICE_LOCAL, usages, allocation_size));
        buffer.map(HalBuffer).or_raise(py, "queue_alloca")
    }

    /// Queues giving the memory of a buffer of `queue_alloca` back.
    fn queue_dealloca(
        &self,
        buffer: &HalBuffer,
        wait_semaphores: &Bound<'_, PyAny>,
        signal_semaphores: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let buffer = buffer.0.clone();
        self.submit("queue_dealloca", wait_semaphores, signal_semaphores, || Ok(QueueOp::dealloca(buffer)))
    }

    /// Queues a copy of all of `source_buffer` to the start of `target_buffer`. ValueError when it does not fit.
    fn queue_copy(
        &self,
        source_buffer: &HalBuffer,
        target_buffer: &HalBuffer,
        wait_semaphores: &Bound<'_, PyAny>,
        signal_semaphores: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (source, target) = (source_buffer.0.clone(), target_buffer.0.clone());
        self.submit("queue_copy", wait_semaphores, signal_semaphores, move || {
            let (have, room) = (source.byte_length() as u64, target.byte_length() as u64);
            if have > room {
                return Err(too_small(have, room));
            }
            QueueOp::copy(source, 0, target, 0, have)
        })
    }

    /// Queues the execution of a command buffer that has ended recording, or of a list of them in order.
    fn queue_execute(
        &self,
        command_buffers: &Bound<'_, PyAny>,
        wait_semaphores: &Bound<'_, PyAny>,
        signal_semaphores: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let commands = match command_buffers.cast::<HalCommandBuffer>() {
            Ok(one) => vec![one.get().0.clone()],
            Err(_) => {
                let several: Vec<PyRef<'_, HalCommandBuffer>> = command_buffers.extract()?;
                several.iter().map(|commands| commands.0.clone()).collect()
            }
        };
        let Some((last, first)) = commands.split_last() else {
            return self.submit("queue_execute", wait_semaphores, signal_semaphores, || Ok(QueueOp::barrier()));
        };
        // Each but the last signals a fence of its own that the next waits for.
        let mut waits = wait_semaphores.clone();
        for commands in first {
            let between = Bound::new(waits.py(), HalFence(Arc::new(Fence::unsignalled())))?.into_any();
            self.execute(commands.clone(), &waits, &between)?;
            waits = between;
        }
        self.execute(last.clone(), &waits, signal_semaphores)
    }

    /// A DLPack capsule that shares the memory of `buffer_view` and says that it is on that device (1, 0 is the CPU).
    /// ValueError for element types that DLPack has not.
    fn create_dlpack_capsule(
        &self,
        py: Python<'_>,
        buffer_view: &HalBufferView,
        device_type_code: i32,
        device_id: i32,
    ) -> PyResult<Py<PyAny>> {
        dlpack::create_capsule(py, &buffer_view.0, (device_type_code, device_id))
    }

    /// The tensor of a DLPack capsule, which is used up. ValueError for other devices than the CPU, strides, and element
    /// types that the HAL has not.
    #[allow(clippy::wrong_self_convention)] // The name is IREE's.
    fn from_dlpack_capsule(&self, capsule: &Bound<'_, PyAny>) -> PyResult<HalBufferView> {
        Ok(HalBufferView(Arc::new(dlpack::from_capsule(capsule, self.0.allocator(), ALIGNMENT_OF_OTHERS)?)))
    }

    /// Pickles as its name: the shared device of that name where it arrives.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let get_device = py.import("tiree.runtime.system_setup")?.getattr("get_device")?;
        Ok((get_device, (self.0.id().to_owned(),)))
    }

    /// Without a mode nothing is profiled. ValueError for a mode: there is no profile format.
    #[pyo3(signature = (mode = None))]
    fn begin_profiling(&self, mode: Option<&str>) -> PyResult<()> {
        match mode {
            None => Ok(()),
            Some(mode) => Err(PyValueError::new_err(format!(
                "profiling mode \"{mode}\" is not available: there is no profile format; tiree-benchmark-module times functions"
            ))),
        }
    }

    /// Nothing is profiled, so there is nothing to flush.
    fn flush_profiling(&self) {}

    /// Nothing is profiled, so there is nothing to end.
    fn end_profiling(&self) {}

    /// NotImplementedError: CPU devices have no capture tools.
    #[pyo3(signature = (provider, file_path = None, label = None))]
    fn begin_external_capture(&self, provider: &str, file_path: Option<&str>, label: Option<&str>) -> PyResult<()> {
        let _ = (file_path, label);
        let id = self.0.id();
        Err(PyNotImplementedError::new_err(format!("{id} has no external capture, so none by \"{provider}\"")))
    }

    /// NotImplementedError, as `begin_external_capture`.
    fn end_external_capture(&self) -> PyResult<()> {
        Err(PyNotImplementedError::new_err(format!("{} has no external capture", self.0.id())))
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

    /// What it is called on timelines: `local-task#1`, with the number of devices that this process had opened before.
    #[getter]
    fn trace_name(&self) -> String {
        self.0.trace_name()
    }

    fn __repr__(&self) -> &'static str {
        self.0.id()
    }
}

/// Names of the drivers of this build.
#[pyfunction]
pub fn driver_names() -> Vec<&'static str> {
    drivers::names()
}

/// URIs of the devices of this build.
#[pyfunction]
pub fn device_uris() -> Vec<String> {
    drivers::device_uris()
}
