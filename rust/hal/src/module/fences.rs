//! `hal.fence.*`.

use super::HalModule;
use crate::charge::{push_new, push_new_with};
use crate::device::Device;
use crate::fence::{DeadlineWait, Fence, FenceWait, TimePoint};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tiree_vm::{CallFrame, Flow, Result, Shared, Status, StatusCode, interrupt, limits};

/// Reads a span of fences. Nulls count as reached; they and what is reached are left out.
#[inline]
fn unreached<'a>(frame: &mut CallFrame<'a>) -> Result<SmallVec<[Shared<'a, Fence>; 4]>> {
    let mut fences = SmallVec::new();
    for _ in 0..frame.span()? {
        if let Some(fence) = frame.opt_shared_ref::<Fence>()?
            && !fence.is_reached()
        {
            fences.push(fence);
        }
    }
    Ok(fences)
}

/// One fence for all of them.
fn join_all(fences: &[Shared<'_, Fence>]) -> Arc<Fence> {
    match fences {
        [fence] => fence.to_arc(),
        _ => Arc::new(Fence::join(fences.iter().map(|fence| fence.object()))),
    }
}

pub(super) fn create(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<Device>()?;
    push_new(frame, Fence::unsignalled())
}

pub(super) fn fail(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let fence: Option<Arc<Fence>> = frame.opt_ref()?;
    let code = StatusCode::from_u32(frame.i32()? as u32);
    // Failing with "no error" would be a fence that says it failed and why not.
    let code = if code == StatusCode::Ok { StatusCode::Unknown } else { code };
    if frame.is_prompt() && fence.as_ref().is_some_and(|fence| fence.may_have_listeners()) {
        return Ok(Flow::NotPrompt);
    }
    if let Some(fence) = fence {
        fence.fail(&Status::new(code, "the fence was failed by the program"));
    }
    Ok(Flow::Done)
}

pub(super) fn signal(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    if let Some(fence) = frame.opt_shared_ref::<Fence>()? {
        if frame.is_prompt() && fence.may_have_listeners() {
            return Ok(Flow::NotPrompt);
        }
        fence.signal()?;
    }
    Ok(Flow::Done)
}

pub(super) fn query(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let answer = frame.opt_shared_ref::<Fence>()?.map_or(Some(Ok(())), |fence| fence.poll());
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
    match &unreached(frame)?[..] {
        [] => frame.push_any_ref(None),
        [fence] => frame.push_any_ref(fence.to_ref()),
        fences => {
            let joined = Fence::join(fences.iter().map(|fence| fence.object()));
            let points = joined.timepoint_count() * size_of::<TimePoint>();
            return push_new_with(frame, joined, points);
        }
    }
    Ok(Flow::Done)
}

/// The deadline of a suspended await, kept in the frame's resume slot.
struct AwaitDeadline(Instant);

pub(super) fn wait(module: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let timeout = frame.i32()?;
    frame.i64()?;
    let fences = unreached(frame)?;
    if fences.is_empty() {
        return reached(frame);
    }
    suspend_or_wait(module, frame, timeout, join_all(&fences))
}

/// Goes on with an await whose fence was not reached a moment ago.
#[inline(never)]
fn suspend_or_wait(module: &HalModule, frame: &mut CallFrame<'_>, timeout: i32, joined: Arc<Fence>) -> Result<Flow> {
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
    if !timed_out && (!module.synchronous || frame.is_prompt()) {
        let Some(deadline) = deadline else { return Ok(Flow::Suspend(Arc::new(FenceWait(joined)))) };
        *frame.resume_slot() = Some(Box::new(AwaitDeadline(deadline)));
        return Ok(Flow::Suspend(Arc::new(DeadlineWait { fence: joined, deadline })));
    }
    let limit = limits::current().deadline;
    let ends = [deadline, limit].into_iter().flatten().min();
    interrupt::wait(&FenceWait(joined.clone()), ends)?;
    match joined.poll() {
        Some(Ok(())) => reached(frame),
        Some(Err(status)) => Err(status),
        None if limit.is_some_and(|limit| limit <= Instant::now()) => Err(limits::past_deadline()),
        None => {
            frame.push_i32(StatusCode::DeadlineExceeded as i32);
            Ok(Flow::Done)
        }
    }
}

fn reached(frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.push_i32(0);
    Ok(Flow::Done)
}
