//! `hal.command_buffer.*`.

use super::HalModule;
use crate::buffer::Buffer;
use crate::charge::push_new;
use crate::command_buffer::{Binding, CommandBuffer, Pattern, WorkgroupCount};
use crate::device::Device;
use crate::executable::Executable;
use smallvec::SmallVec;
use std::sync::Arc;
use tiree_vm::{CallFrame, Flow, Result, Status, VmBuffer};

pub(super) fn create(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<Device>()?;
    let (mode, categories) = (frame.i32()? as u32, frame.i32()? as u32);
    frame.i64()?;
    let capacity = frame.i32()?;
    let capacity = usize::try_from(capacity)
        .map_err(|_| Status::invalid_argument(format!("binding capacity {capacity} is negative")))?;
    push_new(frame, CommandBuffer::new(mode, categories, capacity)?)
}

pub(super) fn finalize(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<CommandBuffer>()?.finalize()?;
    Ok(Flow::Done)
}

pub(super) fn begin_debug_group(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<CommandBuffer>()?.debug_group(true)?;
    Ok(Flow::Done)
}

pub(super) fn end_debug_group(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<CommandBuffer>()?.debug_group(false)?;
    Ok(Flow::Done)
}

pub(super) fn execution_barrier(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let commands: &CommandBuffer = frame.borrow_ref()?;
    frame.i32()?;
    frame.i32()?;
    let flags = frame.i64()?;
    if flags != 0 {
        return Err(Status::unimplemented(format!("execution barrier flags {flags:#x} are not known")));
    }
    commands.execution_barrier()?;
    Ok(Flow::Done)
}

/// Advice has no effect on memory that is always resident.
pub(super) fn advise_buffer(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<CommandBuffer>()?.note("advise_buffer")?;
    Ok(Flow::Done)
}

/// Host and device share caches: flush and invalidate have nothing to do.
pub(super) fn flush_buffer(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<CommandBuffer>()?.note("flush_buffer")?;
    Ok(Flow::Done)
}

pub(super) fn fill_buffer(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let commands: &CommandBuffer = frame.borrow_ref()?;
    let buffer: Option<Arc<Buffer>> = frame.opt_ref()?;
    let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    let slot = frame.i32()? as u32;
    let pattern = Pattern::new(frame.i64()? as u64, frame.i32()? as u64)?;
    commands.fill(Binding { buffer, slot, offset, length }, pattern)?;
    Ok(Flow::Done)
}

pub(super) fn copy_buffer(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let commands: &CommandBuffer = frame.borrow_ref()?;
    let (source_slot, target_slot) = (frame.i32()? as u32, frame.i32()? as u32);
    let source: Option<Arc<Buffer>> = frame.opt_ref()?;
    let source_offset = frame.i64()? as u64;
    let target: Option<Arc<Buffer>> = frame.opt_ref()?;
    let (target_offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    commands.copy(
        Binding { buffer: source, slot: source_slot, offset: source_offset, length },
        Binding { buffer: target, slot: target_slot, offset: target_offset, length },
    )?;
    Ok(Flow::Done)
}

pub(super) fn update_buffer(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let commands: &CommandBuffer = frame.borrow_ref()?;
    let source: &VmBuffer = frame.borrow_ref()?;
    let source_offset = frame.i64()? as u64;
    let buffer: Option<Arc<Buffer>> = frame.opt_ref()?;
    let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    let slot = frame.i32()? as u32;
    let bytes = super::devices::capture(source, source_offset, length)?;
    commands.update(&bytes, Binding { buffer, slot, offset, length })?;
    Ok(Flow::Done)
}

pub(super) fn dispatch(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let commands: &CommandBuffer = frame.borrow_ref()?;
    let executable: Arc<Executable> = frame.get_ref()?;
    let function = frame.i64()? as u64;
    let count = WorkgroupCount::Static([frame.i32()? as u32, frame.i32()? as u32, frame.i32()? as u32]);
    let flags = frame.i64()? as u64;
    record_dispatch(commands, &executable, function, count, flags, frame)
}

pub(super) fn dispatch_indirect(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let commands: &CommandBuffer = frame.borrow_ref()?;
    let executable: Arc<Executable> = frame.get_ref()?;
    let function = frame.i64()? as u64;
    let slot = frame.i32()? as u32;
    let buffer: Option<Arc<Buffer>> = frame.opt_ref()?;
    let offset = frame.i64()? as u64;
    let flags = frame.i64()? as u64;
    // Counts are read when the command runs, which is right for static parameters as well.
    let count = WorkgroupCount::Indirect(Binding { buffer, slot, offset, length: 12 });
    record_dispatch(commands, &executable, function, count, flags, frame)
}

fn record_dispatch(
    commands: &CommandBuffer,
    executable: &Arc<Executable>,
    function: u64,
    count: WorkgroupCount,
    flags: u64,
    frame: &mut CallFrame<'_>,
) -> Result<Flow> {
    let constants: SmallVec<[u32; 16]> = (0..frame.span()?).map(|_| Ok(frame.i32()? as u32)).collect::<Result<_>>()?;
    let mut bindings: SmallVec<[Binding; 8]> = SmallVec::new();
    for _ in 0..frame.span()? {
        frame.i32()?;
        let slot = frame.i32()? as u32;
        let buffer: Option<Arc<Buffer>> = frame.opt_ref()?;
        let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
        bindings.push(Binding { buffer, slot, offset, length });
    }
    commands.dispatch(executable, function, count, &constants, bindings.into_iter(), flags)?;
    Ok(Flow::Done)
}
