//! `tiree._native`: the runtime for Python. One small file per exposed class; nothing here computes.

mod arguments;
mod assembly;
mod attaching;
mod calls;
mod coroutines;
mod errors;
mod float_mode;
mod foreign;
mod hal;
mod invoker;
mod limits;
mod outputs;
mod signature;
mod teardown;
mod testing;
mod tools;
mod tracing;
mod vm;
mod waiting;

use pyo3::prelude::*;

/// The native half of Tiree.
///
/// It needs no GIL: every class is frozen, what changes in one lies behind a mutex or an atomic, and no lock is held while
/// Python code runs.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // A second import finds the hook in place.
    tiree_vm::interrupt::set_hook(errors::handle_signals);
    teardown::install(module.py())?;
    attaching::install(module)?;
    module.add_class::<vm::module::VmInstance>()?;
    module.add_class::<vm::module::VmModule>()?;
    module.add_class::<vm::function::VmFunction>()?;
    module.add_class::<vm::context::VmContext>()?;
    module.add_class::<vm::invocation::Invocation>()?;
    module.add_class::<vm::list::VmVariantList>()?;
    module.add_class::<vm::buffer::VmBuffer>()?;
    module.add_class::<vm::refs::VmRef>()?;
    module.add_class::<hal::allocator::HalAllocator>()?;
    module.add_class::<hal::buffer::HalBuffer>()?;
    module.add_class::<hal::buffer::MappedMemory>()?;
    module.add_class::<hal::buffer_view::HalBufferView>()?;
    module.add_class::<hal::device::HalDevice>()?;
    module.add_class::<hal::fence::HalFence>()?;
    module.add_class::<hal::semaphore::HalSemaphore>()?;
    module.add_class::<hal::peak::MemoryPeak>()?;
    module.add_class::<hal::array::DeviceArrayBase>()?;
    module.add_class::<hal::command_buffer::HalCommandBuffer>()?;
    module.add_class::<hal::module::HalModuleDebugSink>()?;
    module.add_class::<hal::file_handle::FileHandle>()?;
    module.add_class::<hal::parameters::ParameterIndex>()?;
    module.add_class::<hal::parameters::ParameterIndexEntry>()?;
    module.add_class::<hal::parameters::ParameterProvider>()?;
    module.add_class::<vm::python_module::PyModuleInterface>()?;
    module.add_class::<invoker::FunctionInvoker>()?;
    module.add_function(wrap_pyfunction!(hal::array::set_array_class, module)?)?;
    module.add_function(wrap_pyfunction!(hal::dlpack::import_array, module)?)?;
    module.add_function(wrap_pyfunction!(hal::parameters::create_io_parameters_module, module)?)?;
    module.add_function(wrap_pyfunction!(hal::module::create_hal_module, module)?)?;
    module.add_function(wrap_pyfunction!(hal::module::create_native_module, module)?)?;
    module.add_function(wrap_pyfunction!(hal::device::driver_names, module)?)?;
    module.add_function(wrap_pyfunction!(hal::topology::describe_topology, module)?)?;
    module.add_function(wrap_pyfunction!(hal::device::device_uris, module)?)?;
    module.add_function(wrap_pyfunction!(assembly::assemble, module)?)?;
    module.add_function(wrap_pyfunction!(assembly::disassemble, module)?)?;
    module.add_function(wrap_pyfunction!(float_mode::in_standard_float_mode, module)?)?;
    module.add_function(wrap_pyfunction!(tracing::begin_trace, module)?)?;
    module.add_function(wrap_pyfunction!(tracing::end_trace, module)?)?;
    module.add_function(wrap_pyfunction!(tracing::collect_dispatches, module)?)?;
    module.add_function(wrap_pyfunction!(tracing::collected_dispatches, module)?)?;
    module.add_function(wrap_pyfunction!(testing::native_test_module, module)?)?;
    module.add_function(wrap_pyfunction!(tools::dump_module, module)?)?;
    module.add_function(wrap_pyfunction!(tools::time_invocations, module)?)?;
    module.add_function(wrap_pyfunction!(tools::module_flatbuffer, module)?)?;
    module.add_function(wrap_pyfunction!(tools::read_inputs, module)?)?;
    module.add_function(wrap_pyfunction!(tools::parse_pattern, module)?)?;
    module.add_function(wrap_pyfunction!(hal::parameters::write_parameter_archive, module)?)?;
    module.add_function(wrap_pyfunction!(tools::format_results, module)?)?;
    module.add_function(wrap_pyfunction!(tools::format_result_at, module)?)?;
    module.add_function(wrap_pyfunction!(tools::result_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(tools::compare_results, module)?)?;
    Ok(())
}
