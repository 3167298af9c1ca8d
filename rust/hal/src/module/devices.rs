//! `hal.device.*`, `hal.devices.*`, `hal.executable.*`, `hal.ex.file.*`.

use super::{HalModule, text};
use crate::buffer::Buffer;
use crate::charge::{push_new, push_new_with};
use crate::command_buffer::Pattern;
use crate::device::{Between, Device, Operation};
use crate::executable::Executable;
use crate::file::File;
use crate::queue::{Dealloca, Execute, QueueOp};
use crate::types::access;
use std::borrow::Cow;
use std::sync::Arc;
use tiree_vm::{CallFrame, Flow, Manner, Result, Shared, Status, VmBuffer};

/// Operations estimated to take longer have no place in prompt calls.
const PROMPT_NANOSECONDS: f64 = 10_000.0;
/// Operations estimated to take longer have no place in brief steps, where the calling thread does them.
const BRIEF_NANOSECONDS: f64 = 500_000.0;

/// What every queue function begins with: device, affinity, wait fence, signal fence.
struct Queue<'a> {
    device: &'a Device,
    between: Between<'a>,
}

impl<'a> Queue<'a> {
    #[inline]
    fn read(frame: &mut CallFrame<'a>) -> Result<Queue<'a>> {
        let device: &Device = frame.borrow_ref()?;
        let affinity = frame.i64()?;
        let between = Between { waits: frame.opt_shared_ref()?, signals: frame.opt_shared_ref()?, affinity };
        Ok(Queue { device, between })
    }

    /// Whether an operation must be left to another step: in a prompt one it must neither take long nor end the wait of
    /// others, whose work would begin on this thread.
    #[inline]
    fn is_not_prompt(&self, frame: &CallFrame<'_>, estimate: impl FnOnce() -> f64) -> bool {
        let heard = || self.between.signals.is_some_and(|fence| fence.object().may_have_listeners());
        match frame.manner() {
            Manner::Ordinary | Manner::Away => false,
            Manner::Prompt => heard() || estimate() >= PROMPT_NANOSECONDS,
            Manner::Brief => self.device.blocks() && estimate() >= BRIEF_NANOSECONDS,
        }
    }

    fn submit(self, frame: &CallFrame<'_>, operation: QueueOp) -> Result<Flow> {
        if self.is_not_prompt(frame, || operation.estimate()) {
            return Ok(Flow::NotPrompt);
        }
        let Between { waits, signals, affinity } = self.between;
        let operation = operation.on(affinity).within(frame.quota())?;
        let (waits, signals) = (waits.map(Shared::to_arc), signals.map(Shared::to_arc));
        self.device.submit(waits, signals, operation)?;
        Ok(Flow::Done)
    }

    fn perform(self, frame: &CallFrame<'_>, operation: &impl Operation) -> Result<Flow> {
        if self.is_not_prompt(frame, || operation.cautious_estimate()) {
            return Ok(Flow::NotPrompt);
        }
        self.device.perform(self.between, operation, frame.quota(), frame.is_prompt())?;
        Ok(Flow::Done)
    }
}

/// Bytes of a VM buffer as they are now.
pub(super) fn capture(source: &VmBuffer, offset: u64, length: u64) -> Result<Cow<'_, [u8]>> {
    let length = if length == u64::MAX { (source.len() as u64).saturating_sub(offset) } else { length };
    let start = source.check_range(offset, length)?;
    match source.as_slice() {
        Some(bytes) => Ok(Cow::Borrowed(&bytes[start..start + length as usize])),
        None => {
            let mut bytes = vec![0; length as usize];
            source.read(offset, &mut bytes)?;
            Ok(Cow::Owned(bytes))
        }
    }
}

pub(super) fn count(module: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.push_i32(module.devices.len() as i32);
    Ok(Flow::Done)
}

pub(super) fn get(module: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let index = frame.i32()?;
    match usize::try_from(index).ok().and_then(|index| module.devices.get(index)) {
        Some(device) => frame.push_ref(device.clone()),
        None => frame.push_any_ref(None),
    }
    Ok(Flow::Done)
}

pub(super) fn allocator(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let allocator = frame.borrow_ref::<Device>()?.allocator().clone();
    frame.push_ref(allocator);
    Ok(Flow::Done)
}

pub(super) fn query_i64(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let device: &Device = frame.borrow_ref()?;
    let (category, key): (&VmBuffer, &VmBuffer) = (frame.borrow_ref()?, frame.borrow_ref()?);
    let answer = device.query_i64(&text(category), &text(key));
    frame.push_i32(i32::from(answer.is_some()));
    frame.push_i64(answer.unwrap_or(0));
    Ok(Flow::Done)
}

pub(super) fn queue_alloca(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let queue = Queue::read(frame)?;
    if queue.is_not_prompt(frame, || 0.0) {
        return Ok(Flow::NotPrompt);
    }
    let pool = frame.i64()?;
    if pool != 0 {
        return Err(Status::unimplemented(format!(
            "allocation pool {pool} does not exist; only the default pool 0 does"
        )));
    }
    let (types, usages) = (frame.i32()? as u32, frame.i32()? as u32);
    let size = frame.i64()?;
    let length =
        usize::try_from(size).map_err(|_| Status::invalid_argument(format!("allocation size {size} is negative")))?;
    let Queue { device, between } = queue;
    let buffer = device.perform_alloca(between, (types, usages, length), frame.quota())?;
    push_new(frame, buffer)
}

pub(super) fn queue_dealloca(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let queue = Queue::read(frame)?;
    let operation = Dealloca { buffer: frame.shared_ref()? };
    queue.perform(frame, &operation)
}

pub(super) fn queue_barrier(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    Queue::read(frame)?.submit(frame, QueueOp::barrier())
}

pub(super) fn queue_flush(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<Device>()?;
    frame.i64()?;
    Ok(Flow::Done)
}

pub(super) fn queue_fill(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let queue = Queue::read(frame)?;
    let target: Arc<Buffer> = frame.get_ref()?;
    let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    let pattern = Pattern::new(frame.i64()? as u64, frame.i32()? as u64)?;
    queue.submit(frame, QueueOp::fill(target, offset, length, pattern)?)
}

pub(super) fn queue_copy(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let queue = Queue::read(frame)?;
    let source: Arc<Buffer> = frame.get_ref()?;
    let source_offset = frame.i64()? as u64;
    let target: Arc<Buffer> = frame.get_ref()?;
    let (target_offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    queue.submit(frame, QueueOp::copy(source, source_offset, target, target_offset, length)?)
}

pub(super) fn queue_update(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let queue = Queue::read(frame)?;
    let source: &VmBuffer = frame.borrow_ref()?;
    let source_offset = frame.i64()? as u64;
    let target: Arc<Buffer> = frame.get_ref()?;
    let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    queue.submit(frame, QueueOp::update(&capture(source, source_offset, length)?, target, offset)?)
}

pub(super) fn queue_read(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let queue = Queue::read(frame)?;
    let file: Arc<File> = frame.get_ref()?;
    let file_offset = frame.i64()? as u64;
    let target: Arc<Buffer> = frame.get_ref()?;
    let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    queue.submit(frame, QueueOp::read(file, file_offset, target, offset, length)?)
}

pub(super) fn queue_write(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let queue = Queue::read(frame)?;
    let source: Arc<Buffer> = frame.get_ref()?;
    let offset = frame.i64()? as u64;
    let file: Arc<File> = frame.get_ref()?;
    let (file_offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    queue.submit(frame, QueueOp::write(source, offset, file, file_offset, length)?)
}

pub(super) fn queue_execute(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let queue = Queue::read(frame)?;
    let execute = Execute::new(frame.shared_ref()?);
    execute.check()?;
    queue.perform(frame, &execute)
}

pub(super) fn queue_execute_indirect(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let queue = Queue::read(frame)?;
    let mut execute = Execute::new(frame.shared_ref()?);
    frame.i64()?;
    for _ in 0..frame.span()? {
        // Ranges are checked when they are used.
        execute.push(frame.opt_shared_ref()?, frame.i64()? as u64, frame.i64()? as u64);
    }
    execute.check()?;
    queue.perform(frame, &execute)
}

pub(super) fn file_from_memory(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<Device>()?;
    frame.i64()?;
    let accesses = frame.i32()? as u32;
    if accesses != access::READ {
        return Err(Status::permission_denied(format!(
            "only read access is supported for files over host memory, {accesses:#x} was asked for"
        )));
    }
    let buffer: Arc<VmBuffer> = frame.get_ref()?;
    let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    push_new(frame, File::from_memory(buffer, offset, length)?)
}

pub(super) fn executable_create(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    if frame.is_prompt() {
        return Ok(Flow::NotPrompt);
    }
    let device: &Device = frame.borrow_ref()?;
    frame.i64()?;
    let format: &VmBuffer = frame.borrow_ref()?;
    let data: &VmBuffer = frame.borrow_ref()?;
    let constants: Option<Arc<VmBuffer>> = frame.opt_ref()?;
    let words = words(constants.as_deref())?;
    let bytes = capture(data, 0, u64::MAX)?;
    let executable = Executable::load_within(&text(format), &bytes, &words, device.load_options(), frame.quota())?;
    push_new_with(frame, executable, bytes.len())
}

/// Executable constants.
pub(super) fn words(constants: Option<&VmBuffer>) -> Result<Vec<u32>> {
    let constants = constants.map(VmBuffer::to_vec).unwrap_or_default();
    let words = constants.chunks_exact(4);
    if !words.remainder().is_empty() {
        return Err(Status::invalid_argument(format!(
            "executable constants are 32-bit words but {} bytes were given",
            constants.len()
        )));
    }
    Ok(words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
}

pub(super) fn executable_lookup(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    lookup(frame).map(|()| Flow::Done)
}

/// Executable and name to an entry point.
pub(super) fn lookup(frame: &mut CallFrame<'_>) -> Result<()> {
    let executable: &Executable = frame.borrow_ref()?;
    let name: &VmBuffer = frame.borrow_ref()?;
    let entry = match name.as_slice() {
        Some(bytes) => executable.lookup_bytes(bytes)?,
        None => executable.lookup(&text(name))?,
    };
    frame.push_i64(entry as i64);
    Ok(())
}
