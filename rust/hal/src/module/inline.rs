//! `hal_inline`: what programs use whose kernels are part of their own bytecode (or that the `hal_loader` module calls
//! in place). There are no devices, queues and fences: memory is there at once, as a HAL buffer for the caller and as a
//! `vm.buffer` for the program.

use super::buffers::{
    view_assert, view_buffer, view_create, view_dim, view_element_type, view_encoding_type, view_rank, view_trace,
};
use super::{DebugSink, HalModule, text};
use crate::allocator::Allocator;
use crate::buffer::{Buffer, BufferParams, Mapping};
use crate::charge::push_new;
use crate::executable::{LoadOptions, cpu};
use crate::import_table::{HAL_INLINE, HAL_INLINE_VERSION, native_export};
use crate::types::{access, memory_type, usage};
use std::any::Any;
use std::sync::Arc;
use tiree_vm::{CallFrame, Flow, NativeExport, NativeModule, Result, Status, VmBuffer};

/// The module.
pub struct InlineModule {
    allocator: Allocator,
    /// Whose functions on views these are, too.
    hal: HalModule,
}

type Handler = fn(&InlineModule, &mut CallFrame<'_>) -> Result<Flow>;

macro_rules! exports {
    ($($name:literal $handler:expr;)*) => {
        static EXPORTS: [NativeExport; HAL_INLINE.len()] = [$(native_export(&HAL_INLINE, $name),)*];
        static HANDLERS: [Handler; HAL_INLINE.len()] = [$($handler,)*];
    };
}

exports! {
    "buffer.allocate" allocate;
    "buffer.allocate.initialized" allocate_initialized;
    "buffer.length" |module, frame| super::buffers::buffer_length(&module.hal, frame);
    "buffer.storage" storage;
    "buffer.subspan" |module, frame| super::buffers::buffer_subspan(&module.hal, frame);
    "buffer.wrap" wrap;
    "buffer_view.assert" |module, frame| view_assert(&module.hal, frame);
    "buffer_view.buffer" |module, frame| view_buffer(&module.hal, frame);
    "buffer_view.create" |module, frame| view_create(&module.hal, frame);
    "buffer_view.dim" |module, frame| view_dim(&module.hal, frame);
    "buffer_view.element_type" |module, frame| view_element_type(&module.hal, frame);
    "buffer_view.encoding_type" |module, frame| view_encoding_type(&module.hal, frame);
    "buffer_view.rank" |module, frame| view_rank(&module.hal, frame);
    "buffer_view.trace" |module, frame| view_trace(&module.hal, frame);
    "device.query.i64" query_i64;
}

impl Default for InlineModule {
    fn default() -> Self {
        InlineModule::new(None)
    }
}

impl InlineModule {
    /// A module whose traced views go to `sink`.
    pub fn new(sink: Option<DebugSink>) -> InlineModule {
        let hal = HalModule::new(Vec::new(), true);
        let hal = match sink {
            Some(sink) => hal.with_debug_sink(sink),
            None => hal,
        };
        InlineModule { allocator: Allocator::new(), hal }
    }
}

impl NativeModule for InlineModule {
    fn name(&self) -> &str {
        "hal_inline"
    }

    fn version(&self) -> u32 {
        HAL_INLINE_VERSION
    }

    fn exports(&self) -> &[NativeExport] {
        &EXPORTS
    }

    fn call(&self, _state: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match HANDLERS.get(ordinal) {
            Some(handler) => handler(self, frame),
            None => Err(Status::out_of_range(format!("hal_inline has no function {ordinal}"))),
        }
    }
}

/// Memory types of everything here.
const TYPES: u32 = memory_type::HOST_LOCAL | memory_type::DEVICE_VISIBLE;
const USAGE: u32 = usage::DEFAULT | usage::MAPPING;

/// The bytes of a buffer as the program reaches them.
fn storage_of(buffer: &Buffer) -> Result<VmBuffer> {
    let (mapping, writable) = (buffer.map()?, buffer.allowed_access() & access::WRITE != 0);
    let (data, length) = (mapping.as_ptr(), mapping.len());
    // SAFETY: the mapping keeps the memory. Nobody writes to a read-only buffer; others are shared with the caller, who
    // does not use them during the call.
    Ok(unsafe { VmBuffer::from_raw(data, length, writable, Arc::new(mapping)) })
}

fn allocate_bytes(module: &InlineModule, frame: &CallFrame<'_>, length: i64) -> Result<Buffer> {
    let length =
        usize::try_from(length).map_err(|_| Status::invalid_argument(format!("buffer size {length} is negative")))?;
    module.allocator.allocate_charged(TYPES, USAGE, length, frame.charge(length)?)
}

fn push_storage(frame: &mut CallFrame<'_>, storage: VmBuffer) -> Result<Flow> {
    let charge = frame.charge(size_of::<VmBuffer>() + size_of::<Mapping>())?;
    frame.push_ref(Arc::new(storage.charged(charge)));
    Ok(Flow::Done)
}

fn push_both(frame: &mut CallFrame<'_>, buffer: Buffer) -> Result<Flow> {
    let storage = storage_of(&buffer)?;
    push_new(frame, buffer)?;
    push_storage(frame, storage)
}

/// All memory is aligned to 64 bytes, which is enough for every alignment that is asked for.
fn allocate(module: &InlineModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.i32()?;
    let length = frame.i64()?;
    let buffer = allocate_bytes(module, frame, length)?;
    push_both(frame, buffer)
}

fn allocate_initialized(module: &InlineModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.i32()?;
    let source: &VmBuffer = frame.borrow_ref()?;
    let (offset, length) = (frame.i64()? as u64, frame.i64()?);
    source.check_range(offset, length as u64)?;
    let buffer = allocate_bytes(module, frame, length)?;
    let mut bytes = vec![0; buffer.byte_length()];
    source.read(offset, &mut bytes)?;
    buffer.write(0, &bytes)?;
    push_both(frame, buffer)
}

/// A HAL buffer over the bytes of a `vm.buffer`, which only the program's own kernels use, so that any alignment is good.
fn wrap(_: &InlineModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let source: Arc<VmBuffer> = frame.get_ref()?;
    let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    let offset = source.check_range(offset, length)?;
    let mut params = BufferParams::local(TYPES, USAGE);
    if !source.is_mutable() {
        params.access = access::READ;
    }
    // SAFETY: the offset was checked against the buffer.
    let data = unsafe { source.as_ptr().add(offset) };
    // SAFETY: the VM buffer is the owner and keeps the range valid; an immutable one is wrapped read-only.
    let buffer = unsafe { Buffer::from_foreign(data, length as usize, params, source) };
    push_new(frame, buffer)
}

fn storage(_: &InlineModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let storage = storage_of(frame.borrow_ref()?)?;
    push_storage(frame, storage)
}

/// There is no device, but a CPU and what the `hal_loader` module loads.
fn query_i64(_: &InlineModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let (category, key): (&VmBuffer, &VmBuffer) = (frame.borrow_ref()?, frame.borrow_ref()?);
    let answer = match (text(category).as_str(), text(key).as_str()) {
        ("hal.executable.format", format) => Some(i64::from(LoadOptions::default().supports(format))),
        ("hal.cpu", feature) => cpu::has_feature(feature).map(i64::from),
        _ => None,
    };
    frame.push_i32(i32::from(answer.is_some()));
    frame.push_i64(answer.unwrap_or(0));
    Ok(Flow::Done)
}
