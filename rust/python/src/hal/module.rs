//! Native modules that Python can put into a context, and the sink for traced tensors.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyList;
use tiree_hal::buffer_view::BufferView;
use tiree_hal::device::Device;
use tiree_hal::module::{HalModule, native_module, print_trace};
use tiree_task::TopologyOptions;
use tiree_vm::context::AnyModule;

use crate::attaching::try_attach;
use crate::calls::Invoke;
use crate::errors::{IntoPython, from_python};
use crate::hal::buffer_view::HalBufferView;
use crate::hal::device::HalDevice;
use crate::vm::module::{VmInstance, VmModule};

/// Receives what `flow.tensor.trace` shows: `callback(key, [HalBufferView, ...])`. What it raises, the call raises.
#[pyclass(frozen, module = "tiree._native")]
pub struct HalModuleDebugSink(Option<Py<PyAny>>);

#[pymethods]
impl HalModuleDebugSink {
    /// A sink that calls `buffer_view_trace_callback`; without one, traces go nowhere.
    #[new]
    #[pyo3(signature = (buffer_view_trace_callback))]
    fn new(buffer_view_trace_callback: Option<Py<PyAny>>) -> HalModuleDebugSink {
        HalModuleDebugSink(buffer_view_trace_callback)
    }

    /// The callback.
    #[getter]
    fn buffer_view_trace_callback(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.0.as_ref().map(|callback| callback.clone_ref(py))
    }
}

/// The `hal` module over one device or several. Calls that wait suspend their invocation. Traced tensors go to
/// `debug_sink`, or to stderr without one.
#[pyfunction]
#[pyo3(signature = (instance, device = None, devices = None, debug_sink = None))]
pub fn create_hal_module(
    py: Python<'_>,
    instance: &VmInstance,
    device: Option<PyRef<'_, HalDevice>>,
    devices: Option<Vec<PyRef<'_, HalDevice>>>,
    debug_sink: Option<&HalModuleDebugSink>,
) -> PyResult<VmModule> {
    let _ = instance;
    let devices: Vec<Arc<Device>> = match (device, devices) {
        (Some(device), None) => vec![device.0.clone()],
        (None, Some(devices)) if !devices.is_empty() => devices.iter().map(|d| d.0.clone()).collect(),
        _ => return Err(pyo3::exceptions::PyValueError::new_err("give `device`, or a list of `devices`, not both")),
    };
    let module = HalModule::new(devices, false);
    let module = match debug_sink.map(|sink| sink.buffer_view_trace_callback(py)) {
        None => module.with_debug_sink(Box::new(print_trace)),
        Some(None) => module,
        Some(Some(callback)) => module.with_debug_sink(Box::new(move |key, views| call_sink(&callback, key, views))),
    };
    Ok(VmModule::native(AnyModule::from(Arc::new(module))))
}

/// The native module `name` that a program depends on: `hal_inline`, `hal_loader`, `vmvx` or `check`; None for other
/// names. The loader loads what `device` does.
#[pyfunction]
pub fn create_native_module(
    py: Python<'_>,
    instance: &VmInstance,
    name: &str,
    device: PyRef<'_, HalDevice>,
) -> PyResult<Option<VmModule>> {
    let _ = instance;
    let module = native_module(name, &TopologyOptions::default(), device.0.load_options()).or_raise(py, "")?;
    Ok(module.map(VmModule::native))
}

fn call_sink(callback: &Py<PyAny>, key: &str, views: &[Arc<BufferView>]) -> tiree_vm::Result<()> {
    let called = try_attach(|py| {
        let views = views.iter().map(|view| Bound::new(py, HalBufferView(view.clone())));
        let list = views.collect::<PyResult<Vec<_>>>().and_then(|views| PyList::new(py, views));
        let called = list.and_then(|list| callback.bind(py).invoke((key, list)));
        called.map(drop).map_err(|error| from_python(py, error))
    });
    // When the interpreter is gone there is nobody left to call.
    called.unwrap_or(Ok(()))
}
