//! `hal.allocator.*`, `hal.buffer.*`, `hal.buffer_view.*`.

use super::{HalModule, dims, text};
use crate::allocator::Allocator;
use crate::buffer::Buffer;
use crate::buffer_view::{BufferView, shape_text};
use crate::charge::{push_new, push_new_with};
use crate::device::Device;
use crate::types::{ElementType, bit_names, encoding, memory_type};
use std::sync::Arc;
use tiree_vm::{Annotate, CallFrame, Flow, Result, Status, VmBuffer};

fn size(value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| Status::invalid_argument(format!("buffer size {value} is negative")))
}

pub(super) fn allocate(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let allocator: &Allocator = frame.borrow_ref()?;
    frame.i64()?;
    let (types, usages, length) = (frame.i32()? as u32, frame.i32()? as u32, size(frame.i64()?)?);
    let buffer = allocator.allocate_charged(types, usages, length, frame.charge(length)?)?;
    push_new(frame, buffer)
}

pub(super) fn import(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let allocator: &Allocator = frame.borrow_ref()?;
    let attempt = frame.i32()? != 0;
    frame.i64()?;
    let (types, usages) = (frame.i32()? as u32, frame.i32()? as u32);
    let source: Arc<VmBuffer> = frame.get_ref()?;
    let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    let length = if length == u64::MAX { (source.len() as u64).saturating_sub(offset) } else { length };
    let offset = source.check_range(offset, length)?;
    // SAFETY: the offset was checked against the buffer.
    let data = unsafe { source.as_ptr().add(offset) };
    let writable = source.is_mutable();
    // SAFETY: the VM buffer is the owner and keeps the range valid; an immutable one is imported read-only.
    let imported = unsafe { allocator.import(types, usages, data, length as usize, writable, source.clone()) };
    match imported {
        Ok(buffer) => push_new(frame, buffer),
        Err(_) if attempt => {
            frame.push_any_ref(None);
            Ok(Flow::Done)
        }
        Err(status) => Err(status),
    }
}

pub(super) fn select(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.i32()?;
    frame.i32()?;
    frame.i64()?;
    if frame.span()? == 0 {
        return Err(Status::invalid_argument("allocator.select needs at least one device"));
    }
    let device: Arc<Device> = frame.get_ref()?;
    let affinity = frame.i64()?;
    frame.push_ref(device);
    frame.push_i64(affinity);
    Ok(Flow::Done)
}

pub(super) fn allocation_discard(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let last = frame.borrow_ref::<Buffer>()?.discard();
    frame.push_i32(i32::from(last));
    Ok(Flow::Done)
}

pub(super) fn allocation_is_terminal(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let terminal = frame.borrow_ref::<Buffer>()?.is_terminal();
    frame.push_i32(i32::from(terminal));
    Ok(Flow::Done)
}

pub(super) fn allocation_preserve(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    frame.borrow_ref::<Buffer>()?.preserve();
    Ok(Flow::Done)
}

pub(super) fn buffer_assert(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let buffer: &Buffer = frame.borrow_ref()?;
    let label: &VmBuffer = frame.borrow_ref()?;
    frame.borrow_ref::<Allocator>()?;
    let minimum = frame.i64()?;
    let (types, usages) = (frame.i32()? as u32, frame.i32()? as u32);
    if (buffer.byte_length() as i128) < i128::from(minimum) {
        return Err(Status::invalid_argument(format!(
            "`{}` buffer byte length {} less than expected minimum {minimum}",
            text(label),
            buffer.byte_length()
        )));
    }
    if buffer.memory_type() & types != types {
        return Err(Status::permission_denied(format!(
            "`{}` memory type is not compatible; buffer has {}, operation requires {}",
            text(label),
            bit_names(buffer.memory_type(), memory_type::NAMES),
            bit_names(types, memory_type::NAMES)
        )));
    }
    buffer.check_usage(usages).annotate(|| format!("`{}`", text(label)))?;
    Ok(Flow::Done)
}

pub(super) fn buffer_length(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let length = frame.borrow_ref::<Buffer>()?.byte_length();
    frame.push_i64(length as i64);
    Ok(Flow::Done)
}

fn access_size(length: i32) -> Result<usize> {
    match length {
        1 | 2 | 4 => Ok(length as usize),
        _ => Err(Status::invalid_argument(format!("buffer access of {length} bytes; must be 1, 2 or 4"))),
    }
}

pub(super) fn buffer_load(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let buffer: &Buffer = frame.borrow_ref()?;
    let (offset, length) = (frame.i64()? as u64, access_size(frame.i32()?)?);
    let mut bytes = [0; 4];
    buffer.read(offset, &mut bytes[..length])?;
    frame.push_i32(i32::from_le_bytes(bytes));
    Ok(Flow::Done)
}

pub(super) fn buffer_store(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let value = frame.i32()?;
    let buffer: &Buffer = frame.borrow_ref()?;
    let (offset, length) = (frame.i64()? as u64, access_size(frame.i32()?)?);
    buffer.write(offset, &value.to_le_bytes()[..length])?;
    Ok(Flow::Done)
}

pub(super) fn buffer_subspan(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let buffer: &Buffer = frame.borrow_ref()?;
    let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    push_new(frame, buffer.subspan(offset, length)?)
}

pub(super) fn view_assert(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let view: &BufferView = frame.borrow_ref()?;
    let label: &VmBuffer = frame.borrow_ref()?;
    let (element, expected_encoding) = (ElementType(frame.i32()? as u32), frame.i32()? as u32);
    let same_type = view.element_type().is_compatible(element) && view.encoding_type() == expected_encoding;
    let count = frame.span()?;
    let start = frame.mark();
    // The common case compares without building anything.
    let mut same = same_type && count == view.shape().len();
    for index in 0..count {
        let dim = frame.i64()? as u64;
        same = same && view.shape().get(index) == Some(&dim);
    }
    if same {
        return Ok(Flow::Done);
    }
    frame.rewind(start);
    let shape = (0..count).map(|_| frame.i64().map(|dim| dim as u64)).collect::<Result<Vec<_>>>()?;
    Err(view_mismatch(view, &text(label), element, expected_encoding, &shape))
}

#[cold]
fn view_mismatch(view: &BufferView, label: &str, element: ElementType, encoding: u32, shape: &[u64]) -> Status {
    let have = view.shape();
    if let ([want], [have], 0, 0, encoding::OPAQUE) = (shape, have, element.0, view.element_type().0, encoding) {
        // A check of two sizes, which need not be those of a tensor: Tiree's compiler makes a view of nothing for it.
        return Status::invalid_argument(format!("{label} expected {} but have {}", *want as i64, *have as i64));
    }
    let core = if !view.element_type().is_compatible(element) {
        let actual = view.element_type();
        format!("element type mismatch; expected {element} ({:08X}) but have {actual} ({:08X})", element.0, actual.0)
    } else if view.encoding_type() != encoding {
        format!("encoding mismatch; expected {encoding:08X} but have {:08X}", view.encoding_type())
    } else if have.len() != shape.len() {
        format!("shape rank mismatch; expected {} but have {}", shape.len(), have.len())
    } else {
        let index = have.iter().zip(shape).position(|(a, b)| a != b).unwrap_or(0);
        format!(
            "shape dimension {index} mismatch; expected {} but have {}; expected shape `{}`, actual shape `{}`",
            shape[index],
            have[index],
            shape_text(shape),
            shape_text(have)
        )
    };
    let prefix = if shape.is_empty() { String::new() } else { shape_text(shape) + "x" };
    // Labels of arguments are `inputN`; users count arguments from 1.
    let who = match label.strip_prefix("input").and_then(|digits| digits.parse::<u32>().ok()) {
        Some(index) => format!("argument {}", u64::from(index) + 1),
        None => format!("`{label}`"),
    };
    Status::invalid_argument(format!("`{label}` {core}"))
        .annotate(format!("{who} is {}; needs {prefix}{element}", view.type_text()))
}

pub(super) fn view_buffer(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let buffer = frame.borrow_ref::<BufferView>()?.buffer().clone();
    frame.push_ref(buffer);
    Ok(Flow::Done)
}

pub(super) fn view_create(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let mut buffer: Arc<Buffer> = frame.get_ref()?;
    let (offset, length) = (frame.i64()? as u64, frame.i64()? as u64);
    let (element, encoding) = (ElementType(frame.i32()? as u32), frame.i32()? as u32);
    let shape = dims(frame)?;
    let (start, size) = buffer.resolve_range(offset, length)?;
    if start != 0 || size != buffer.byte_length() {
        buffer = Arc::new(buffer.subspan(offset, length)?);
    }
    push_new_with(frame, BufferView::with_shape(buffer, element, encoding, shape)?, size_of::<Buffer>())
}

pub(super) fn view_dim(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let view: &BufferView = frame.borrow_ref()?;
    let index = frame.i32()?;
    let dim = usize::try_from(index).ok().and_then(|index| view.shape().get(index)).ok_or_else(|| {
        Status::out_of_range(format!("dimension {index} of a view of shape [{}]", shape_text(view.shape())))
    })?;
    frame.push_i64(*dim as i64);
    Ok(Flow::Done)
}

pub(super) fn view_element_type(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let element = frame.borrow_ref::<BufferView>()?.element_type();
    frame.push_i32(element.0 as i32);
    Ok(Flow::Done)
}

pub(super) fn view_encoding_type(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let encoding = frame.borrow_ref::<BufferView>()?.encoding_type();
    frame.push_i32(encoding as i32);
    Ok(Flow::Done)
}

pub(super) fn view_rank(_: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let rank = frame.borrow_ref::<BufferView>()?.shape().len();
    frame.push_i32(rank as i32);
    Ok(Flow::Done)
}

pub(super) fn view_trace(module: &HalModule, frame: &mut CallFrame<'_>) -> Result<Flow> {
    let key: &VmBuffer = frame.borrow_ref()?;
    let count = frame.span()?;
    let Some(sink) = &module.debug_sink else { return Ok(Flow::Done) };
    let views: Vec<Arc<BufferView>> = (0..count).map(|_| frame.get_ref()).collect::<Result<_>>()?;
    sink(&text(key), &views)?;
    Ok(Flow::Done)
}
