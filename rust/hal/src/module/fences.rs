//! `hal.fence.*`.

use super::HalModule;
use crate::device::Device;
use crate::fence::{DeadlineWait, Fence, FenceWait};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tiree_vm::{CallFrame, Flow, Result, Status, StatusCode};

/// Reads a span of fences; nulls count as reached and are left out.
fn fences(frame: &mut CallFrame<'_>) -> Result<SmallVec<[Arc<Fence>; 2]>> {
    let mut fences = SmallVec::new();
    for _ in 0..frame.span()? {
        fences.extend(frame.opt_ref::<Fence>()?);
    }
    Ok(fences)
}

pub(super) fn create(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<Device>()?;
    frame.push_ref(Arc::new(Fence::unsignalled()));
    Ok(Flow::Done)
}

pub(super) fn fail(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let fence: Option<Arc<Fence>> = frame.opt_ref()?;
    let code = StatusCode::from_u32(frame.i32()? as u32);
    // Failing with "no error" would be a fence that says it failed and why not.
    let code = if code == StatusCode::Ok { StatusCode::Unknown } else { code };
    if let Some(fence) = fence {
        fence.fail(&Status::new(code, "the fence was failed by the program"));
    }
    Ok(Flow::Done)
}

pub(super) fn signal(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    if let Some(fence) = frame.opt_ref::<Fence>()? {
        fence.signal()?;
    }
    Ok(Flow::Done)
}

pub(super) fn query(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let answer = frame.opt_ref::<Fence>()?.map_or(Some(Ok(())), |fence| fence.poll());
    let code = match answer {
        Some(Ok(())) => StatusCode::Ok,
        Some(Err(status)) => status.code(),
        None => StatusCode::Deferred,
    };
    frame.push_i32(code as i32);
    Ok(Flow::Done)
}

pub(super) fn join(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.i64()?;
    let mut fences = fences(frame)?;
    match fences.len() {
        0 => frame.push_any_ref(None),
        1 => frame.push_any_ref(fences.pop().map(|fence| fence as Arc<dyn tiree_vm::RefObject>)),
        _ => frame.push_ref(Arc::new(Fence::join(fences.iter().map(Arc::as_ref)))),
    }
    Ok(Flow::Done)
}

/// The deadline of a suspended await, kept in the frame's resume slot.
struct AwaitDeadline(Instant);

pub(super) fn wait(module: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let timeout = frame.i32()?;
    frame.i64()?;
    let mut fences = fences(frame)?;
    let joined = match fences.len() {
        0 => return reached(frame),
        1 => fences.remove(0),
        _ => Arc::new(Fence::join(fences.iter().map(Arc::as_ref))),
    };
    if let Some(result) = joined.poll() {
        result?;
        return reached(frame);
    }
    let resumed = frame.resume_slot().as_ref().and_then(|slot| slot.downcast_ref::<AwaitDeadline>());
    let deadline = match (resumed, u64::try_from(timeout)) {
        (Some(deadline), _) => Some(deadline.0),
        (None, Ok(milliseconds)) => Some(Instant::now() + Duration::from_millis(milliseconds)),
        (None, Err(_)) => None,
    };
    let timed_out = deadline.is_some_and(|deadline| deadline <= Instant::now());
    if !timed_out && !module.synchronous {
        let Some(deadline) = deadline else { return Ok(Flow::Suspend(Arc::new(FenceWait(joined)))) };
        *frame.resume_slot() = Some(Box::new(AwaitDeadline(deadline)));
        return Ok(Flow::Suspend(Arc::new(DeadlineWait { fence: joined, deadline })));
    }
    match joined.wait(deadline) {
        Ok(()) => reached(frame),
        Err(status) if status.code() == StatusCode::DeadlineExceeded && joined.poll().is_none() => {
            frame.push_i32(StatusCode::DeadlineExceeded as i32);
            Ok(Flow::Done)
        }
        Err(status) => Err(status),
    }
}

fn reached(frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.push_i32(0);
    Ok(Flow::Done)
}
