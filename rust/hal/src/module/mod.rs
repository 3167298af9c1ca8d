//! The `hal` module: what compiled code calls.
//!
//! Names and calling conventions are IREE's, compared byte for byte by the importer. Each group of functions has a file;
//! each function reads its arguments in order and calls one operation of this crate.

mod buffers;
mod channels;
mod commands;
mod devices;
mod fences;
mod inline;
mod loader;

pub use inline::InlineModule;
pub use loader::LoaderModule;

use crate::buffer_view::BufferView;
use crate::check::CheckModule;
use crate::device::Device;
use crate::executable::LoadOptions;
use crate::fence::{Fence, FenceWait};
use crate::import_table::{self, native_export};
use crate::vmvx::VmvxModule;
use std::any::Any;
use std::sync::Arc;
use tiree_task::{Topology, TopologyOptions};
use tiree_vm::{AnyModule, CallFrame, Flow, NativeExport, NativeModule, Result, Status, VmBuffer};

/// Version of the `hal` module.
pub const VERSION: u32 = import_table::HAL_VERSION;

/// The native module called `name` that a program depends on, of those that need no more than this: `hal_inline`,
/// `hal_loader`, `vmvx` and `check`. `system_libraries` is for the loader. None for other names.
///
/// # Errors
/// INVALID_ARGUMENT for topology options that cannot be.
pub fn native_module(name: &str, topology: &TopologyOptions, options: LoadOptions) -> Result<Option<AnyModule>> {
    let inline_sink = || Some(Box::new(print_trace) as DebugSink);
    Ok(Some(match name {
        "hal_inline" => AnyModule::from(Arc::new(InlineModule::new(inline_sink()))),
        "hal_loader" => {
            let topology = Topology::resolve(topology).map_err(|error| crate::execute::task_status(&error))?;
            AnyModule::from(Arc::new(LoaderModule::new(options, topology.local_memory)))
        }
        "vmvx" => AnyModule::from(Arc::new(VmvxModule)),
        "check" => AnyModule::from(Arc::new(CheckModule::new())),
        _ => return Ok(None),
    }))
}

/// Elements of a traced tensor that are printed.
const TRACED_ELEMENTS: usize = 1024;

/// A debug sink that prints to stderr, as run-module prints tensors.
pub fn print_trace(key: &str, views: &[Arc<BufferView>]) -> Result<()> {
    eprintln!("=== {key} ===");
    for view in views {
        match crate::values::format_view(view, TRACED_ELEMENTS) {
            Ok(text) => eprintln!("{text}"),
            Err(status) => eprintln!("{status}"),
        }
    }
    eprintln!();
    Ok(())
}

/// Receives what `buffer_view.trace` prints: a key and the views. The call fails with its error.
pub type DebugSink = Box<dyn Fn(&str, &[Arc<BufferView>]) -> Result<()> + Send + Sync>;

/// The `hal` module over a list of devices.
pub struct HalModule {
    devices: Vec<Arc<Device>>,
    synchronous: bool,
    debug_sink: Option<DebugSink>,
}

type Handler = fn(&HalModule, &mut CallFrame<'_>) -> Result<Flow>;

macro_rules! exports {
    ($($name:literal $handler:expr;)*) => {
        static EXPORTS: [NativeExport; import_table::HAL.len()] = [$(native_export(&import_table::HAL, $name),)*];
        static HANDLERS: [Handler; import_table::HAL.len()] = [$($handler,)*];
    };
}

// One for each row of the table; a name that is none does not compile, nor do too few.

exports! {
    "allocator.allocate" buffers::allocate;
    "allocator.import" buffers::import;
    "allocator.select" buffers::select;
    "buffer.allocation.discard" buffers::allocation_discard;
    "buffer.allocation.is_terminal" buffers::allocation_is_terminal;
    "buffer.allocation.preserve" buffers::allocation_preserve;
    "buffer.assert" buffers::buffer_assert;
    "buffer.length" buffers::buffer_length;
    "buffer.load" buffers::buffer_load;
    "buffer.store" buffers::buffer_store;
    "buffer.subspan" buffers::buffer_subspan;
    "buffer_view.assert" buffers::view_assert;
    "buffer_view.buffer" buffers::view_buffer;
    "buffer_view.create" buffers::view_create;
    "buffer_view.dim" buffers::view_dim;
    "buffer_view.element_type" buffers::view_element_type;
    "buffer_view.encoding_type" buffers::view_encoding_type;
    "buffer_view.rank" buffers::view_rank;
    "buffer_view.trace" buffers::view_trace;
    "channel.create" channels::create;
    "channel.rank_and_count" channels::rank_and_count;
    "channel.split" channels::split;
    "command_buffer.advise_buffer" commands::advise_buffer;
    "command_buffer.begin_debug_group" commands::begin_debug_group;
    "command_buffer.collective" channels::collective;
    "command_buffer.copy_buffer" commands::copy_buffer;
    "command_buffer.create" commands::create;
    "command_buffer.dispatch" commands::dispatch;
    "command_buffer.dispatch.indirect" commands::dispatch_indirect;
    "command_buffer.end_debug_group" commands::end_debug_group;
    "command_buffer.execution_barrier" commands::execution_barrier;
    "command_buffer.fill_buffer" commands::fill_buffer;
    "command_buffer.finalize" commands::finalize;
    "command_buffer.flush_buffer" commands::flush_buffer;
    "command_buffer.invalidate_buffer" commands::flush_buffer;
    "command_buffer.update_buffer" commands::update_buffer;
    "device.allocator" devices::allocator;
    "device.query.i64" devices::query_i64;
    "device.queue.alloca" |module, frame| module.when_ready(frame, devices::queue_alloca);
    "device.queue.barrier" |module, frame| module.when_ready(frame, devices::queue_barrier);
    "device.queue.copy" |module, frame| module.when_ready(frame, devices::queue_copy);
    "device.queue.dealloca" |module, frame| module.when_ready(frame, devices::queue_dealloca);
    "device.queue.execute" |module, frame| module.when_ready(frame, devices::queue_execute);
    "device.queue.execute.indirect" |module, frame| module.when_ready(frame, devices::queue_execute_indirect);
    "device.queue.fill" |module, frame| module.when_ready(frame, devices::queue_fill);
    "device.queue.flush" devices::queue_flush;
    "device.queue.read" |module, frame| module.when_ready(frame, devices::queue_read);
    "device.queue.update" |module, frame| module.when_ready(frame, devices::queue_update);
    "device.queue.write" |module, frame| module.when_ready(frame, devices::queue_write);
    "devices.count" devices::count;
    "devices.get" devices::get;
    "ex.file.from_memory" devices::file_from_memory;
    "executable.create" devices::executable_create;
    "executable.lookup.function" devices::executable_lookup;
    "fence.await" fences::wait;
    "fence.create" fences::create;
    "fence.fail" fences::fail;
    "fence.join" fences::join;
    "fence.query" fences::query;
    "fence.signal" fences::signal;
}

impl HalModule {
    /// A module over `devices`. A synchronous one blocks in `fence.await`; otherwise the invocation is suspended.
    pub fn new(devices: Vec<Arc<Device>>, synchronous: bool) -> HalModule {
        HalModule { devices, synchronous, debug_sink: None }
    }

    /// Sends what `buffer_view.trace` prints to `sink`.
    #[must_use]
    pub fn with_debug_sink(mut self, sink: DebugSink) -> HalModule {
        self.debug_sink = Some(sink);
        self
    }

    #[inline]
    fn when_ready<'a>(
        &self,
        frame: &mut CallFrame<'a>,
        handler: fn(&HalModule, &mut CallFrame<'a>) -> Result<Flow>,
    ) -> Result<Flow> {
        if self.synchronous && !frame.is_prompt() {
            handler(self, frame)
        } else {
            when_ready(frame, |frame| handler(self, frame))
        }
    }

    /// The devices, in the order that compiled code sees.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }
}

impl NativeModule for HalModule {
    fn name(&self) -> &str {
        "hal"
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn exports(&self) -> &[NativeExport] {
        &EXPORTS
    }

    /// Waits are suspensions in prompt calls; `devices::Queue` looks at what else could take long.
    fn is_prompt(&self) -> bool {
        true
    }

    fn call(&self, _state: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match HANDLERS.get(ordinal) {
            Some(handler) => handler(self, frame),
            None => no_function(ordinal),
        }
    }
}

/// On its own so that calls of functions that there are need no room on the stack for it.
#[cold]
#[inline(never)]
fn no_function(ordinal: usize) -> Result<Flow> {
    Err(Status::out_of_range(format!("hal has no function {ordinal}")))
}

/// Calls `handler`, a queue function, once it need not wait: devices that wait on the calling thread would do so in the
/// middle of the call, where neither a deadline nor an interrupt reaches it.
#[inline]
pub(crate) fn when_ready<'a>(
    frame: &mut CallFrame<'a>,
    handler: impl FnOnce(&mut CallFrame<'a>) -> Result<Flow>,
) -> Result<Flow> {
    let start = frame.mark();
    if frame.borrow_ref::<Device>()?.blocks() {
        frame.i64()?;
        if let Some(waits) = frame.opt_shared_ref::<Fence>()?
            && waits.poll().is_none()
        {
            return Ok(Flow::Suspend(Arc::new(FenceWait(waits.to_arc()))));
        }
    }
    frame.rewind(start);
    handler(frame)
}

/// The text of a string argument.
pub(crate) fn text(buffer: &VmBuffer) -> String {
    match buffer.as_slice() {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => String::from_utf8_lossy(&buffer.to_vec()).into_owned(),
    }
}

/// Reads the tuples of a span of u64 (dims and the like).
fn dims(frame: &mut CallFrame<'_>) -> Result<crate::buffer_view::Shape> {
    let mut dims = crate::buffer_view::Shape::new();
    for _ in 0..frame.span()? {
        dims.push(frame.i64()? as u64);
    }
    Ok(dims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixty_functions_sorted_and_parseable() {
        assert_eq!((EXPORTS.len(), HANDLERS.len()), (60, 60));
        for export in EXPORTS {
            tiree_vm::cconv::CallingConvention::parse(export.cconv).unwrap();
        }
        let mut names: Vec<_> = EXPORTS.iter().map(|export| export.name).collect();
        names.dedup();
        assert_eq!(names.len(), 60);
    }
}
