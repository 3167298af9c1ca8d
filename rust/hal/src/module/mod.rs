//! The `hal` module: what compiled code calls.
//!
//! Names and calling conventions are IREE's, compared byte for byte by the importer. Each group of functions has a file;
//! each function reads its arguments in order and calls one operation of this crate.

mod buffers;
mod channels;
mod commands;
mod devices;
mod fences;

use crate::buffer_view::BufferView;
use crate::device::Device;
use std::any::Any;
use std::sync::Arc;
use tiree_vm::{CallFrame, Flow, NativeExport, NativeModule, Result, Status, VmBuffer};

/// Version of the `hal` module.
pub const VERSION: u32 = 7;

/// Receives what `buffer_view.trace` prints: a key and the views.
pub type DebugSink = Box<dyn Fn(&str, &[Arc<BufferView>]) + Send + Sync>;

/// The `hal` module over a list of devices.
pub struct HalModule {
    devices: Vec<Arc<Device>>,
    synchronous: bool,
    debug_sink: Option<DebugSink>,
}

type Handler = fn(&HalModule, &mut CallFrame<'_>) -> Result<Flow>;

macro_rules! exports {
    ($($name:literal $cconv:literal $handler:path;)*) => {
        static EXPORTS: &[NativeExport] = &[$(NativeExport { name: $name, cconv: $cconv },)*];
        static HANDLERS: &[Handler] = &[$($handler,)*];
    };
}

exports! {
    "allocator.allocate" "0rIiiI_r" buffers::allocate;
    "allocator.import" "0riIiirII_r" buffers::import;
    "allocator.select" "0iiICrID_rI" buffers::select;
    "buffer.allocation.discard" "0r_i" buffers::allocation_discard;
    "buffer.allocation.is_terminal" "0r_i" buffers::allocation_is_terminal;
    "buffer.allocation.preserve" "0r_v" buffers::allocation_preserve;
    "buffer.assert" "0rrrIii_v" buffers::buffer_assert;
    "buffer.length" "0r_I" buffers::buffer_length;
    "buffer.load" "0rIi_i" buffers::buffer_load;
    "buffer.store" "0irIi_v" buffers::buffer_store;
    "buffer.subspan" "0rII_r" buffers::buffer_subspan;
    "buffer_view.assert" "0rriiCID_v" buffers::view_assert;
    "buffer_view.buffer" "0r_r" buffers::view_buffer;
    "buffer_view.create" "0rIIiiCID_r" buffers::view_create;
    "buffer_view.dim" "0ri_I" buffers::view_dim;
    "buffer_view.element_type" "0r_i" buffers::view_element_type;
    "buffer_view.encoding_type" "0r_i" buffers::view_encoding_type;
    "buffer_view.rank" "0r_i" buffers::view_rank;
    "buffer_view.trace" "0rCrD_v" buffers::view_trace;
    "channel.create" "0rIIrrii_r" channels::create;
    "channel.rank_and_count" "0r_ii" channels::rank_and_count;
    "channel.split" "0riiI_r" channels::split;
    "command_buffer.advise_buffer" "0rrIIIi_v" commands::advise_buffer;
    "command_buffer.begin_debug_group" "0rr_v" commands::begin_debug_group;
    "command_buffer.collective" "0rriiiirrIIIII_v" channels::collective;
    "command_buffer.copy_buffer" "0riirIrIII_v" commands::copy_buffer;
    "command_buffer.create" "0riiIi_r" commands::create;
    "command_buffer.dispatch" "0rrIiiiICiDCiirIID_v" commands::dispatch;
    "command_buffer.dispatch.indirect" "0rrIirIICiDCiirIID_v" commands::dispatch_indirect;
    "command_buffer.end_debug_group" "0r_v" commands::end_debug_group;
    "command_buffer.execution_barrier" "0riiI_v" commands::execution_barrier;
    "command_buffer.fill_buffer" "0rrIIiIiI_v" commands::fill_buffer;
    "command_buffer.finalize" "0r_v" commands::finalize;
    "command_buffer.flush_buffer" "0rirII_v" commands::flush_buffer;
    "command_buffer.invalidate_buffer" "0rirII_v" commands::flush_buffer;
    "command_buffer.update_buffer" "0rrIrIIiI_v" commands::update_buffer;
    "device.allocator" "0r_r" devices::allocator;
    "device.query.i64" "0rrr_iI" devices::query_i64;
    "device.queue.alloca" "0rIrrIiiII_r" devices::queue_alloca;
    "device.queue.barrier" "0rIrrI_v" devices::queue_barrier;
    "device.queue.copy" "0rIrrrIrIII_v" devices::queue_copy;
    "device.queue.dealloca" "0rIrrrI_v" devices::queue_dealloca;
    "device.queue.execute" "0rIrrrI_v" devices::queue_execute;
    "device.queue.execute.indirect" "0rIrrrICrIID_v" devices::queue_execute_indirect;
    "device.queue.fill" "0rIrrrIIIiI_v" devices::queue_fill;
    "device.queue.flush" "0rI_v" devices::queue_flush;
    "device.queue.read" "0rIrrrIrIII_v" devices::queue_read;
    "device.queue.update" "0rIrrrIrIII_v" devices::queue_update;
    "device.queue.write" "0rIrrrIrIII_v" devices::queue_write;
    "devices.count" "0v_i" devices::count;
    "devices.get" "0i_r" devices::get;
    "ex.file.from_memory" "0rIirIIi_r" devices::file_from_memory;
    "executable.create" "0rIrrr_r" devices::executable_create;
    "executable.lookup.function" "0rr_I" devices::executable_lookup;
    "fence.await" "0iICrD_i" fences::wait;
    "fence.create" "0rI_r" fences::create;
    "fence.fail" "0ri_v" fences::fail;
    "fence.join" "0ICrD_r" fences::join;
    "fence.query" "0r_i" fences::query;
    "fence.signal" "0r_v" fences::signal;
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
        EXPORTS
    }

    fn create_state(&self) -> Result<Box<dyn Any + Send + Sync>> {
        Ok(Box::new(()))
    }

    fn call(&self, _state: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match HANDLERS.get(ordinal) {
            Some(handler) => handler(self, frame),
            None => Err(Status::out_of_range(format!("hal has no function {ordinal}"))),
        }
    }
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
