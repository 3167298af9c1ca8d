//! `hal.channel.*` and the collective command.

use super::HalModule;
use crate::buffer::Buffer;
use crate::channel::{Channel, Collective};
use crate::charge::push_new;
use crate::command_buffer::{Binding, CommandBuffer};
use crate::device::Device;
use std::sync::Arc;
use tiree_vm::{CallFrame, Flow, Result, VmBuffer};

/// Id and group name others; alone there is nobody to find.
pub(super) fn create(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<Device>()?;
    frame.i64()?;
    frame.i64()?;
    frame.opt_ref::<VmBuffer>()?;
    frame.opt_ref::<VmBuffer>()?;
    let (rank, count) = (frame.i32()?, frame.i32()?);
    push_new(frame, Channel::new(rank, count)?)
}

pub(super) fn rank_and_count(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let (rank, count) = frame.borrow_ref::<Channel>()?.rank_and_count();
    frame.push_i32(rank);
    frame.push_i32(count);
    Ok(Flow::Done)
}

pub(super) fn split(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let channel: &Channel = frame.borrow_ref()?;
    let color = frame.i32()?;
    match channel.split(color) {
        Some(channel) => push_new(frame, channel),
        None => {
            frame.push_any_ref(None);
            Ok(Flow::Done)
        }
    }
}

pub(super) fn collective(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let commands: &CommandBuffer = frame.borrow_ref()?;
    frame.borrow_ref::<Channel>()?;
    let operation = Collective::unpack(frame.i32()? as u32, frame.i32()? as u32)?;
    let (send_slot, receive_slot) = (frame.i32()? as u32, frame.i32()? as u32);
    let (send, receive): (Option<Arc<Buffer>>, Option<Arc<Buffer>>) = (frame.opt_ref()?, frame.opt_ref()?);
    let (send_offset, send_length) = (frame.i64()? as u64, frame.i64()? as u64);
    let (receive_offset, receive_length) = (frame.i64()? as u64, frame.i64()? as u64);
    let send = Binding { buffer: send, slot: send_slot, offset: send_offset, length: send_length };
    let receive = Binding { buffer: receive, slot: receive_slot, offset: receive_offset, length: receive_length };
    operation.record(commands, send, receive, frame.i64()? as u64)?;
    Ok(Flow::Done)
}
