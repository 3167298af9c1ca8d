//! Kernels on single elements.

use super::{Matrix, each};
use tiree_vm::{CallFrame, Result, VmBuffer};

/// `out = operation(lhs, rhs)` of 32-bit integers, as bits.
pub(super) fn binary_i32(frame: &mut CallFrame<'_>, operation: impl Fn(u32, u32) -> Result<u32>) -> Result<()> {
    let (lhs, rhs, out) = (Matrix::read(frame)?, Matrix::read(frame)?, Matrix::read(frame)?);
    each(frame, |row, column| {
        let (a, b) = (lhs.buffer.load_u32(lhs.at(row, column))?, rhs.buffer.load_u32(rhs.at(row, column))?);
        out.buffer.store_u32(out.at(row, column), operation(a, b)?)
    })
}

/// `out = operation(lhs, rhs)` of 32-bit floats.
pub(super) fn binary_f32(frame: &mut CallFrame<'_>, operation: impl Fn(f32, f32) -> f32) -> Result<()> {
    binary_i32(frame, |a, b| Ok(operation(f32::from_bits(a), f32::from_bits(b)).to_bits()))
}

/// `out = operation(in)` of 32-bit integers, as bits.
pub(super) fn unary_i32(frame: &mut CallFrame<'_>, operation: impl Fn(u32) -> u32) -> Result<()> {
    let (input, out) = (Matrix::read(frame)?, Matrix::read(frame)?);
    each(frame, |row, column| {
        let value = input.buffer.load_u32(input.at(row, column))?;
        out.buffer.store_u32(out.at(row, column), operation(value))
    })
}

/// `out = operation(in)` of 32-bit floats.
pub(super) fn unary_f32(frame: &mut CallFrame<'_>, operation: impl Fn(f32) -> f32) -> Result<()> {
    unary_i32(frame, |value| operation(f32::from_bits(value)).to_bits())
}

/// `out = in`.
pub(super) fn copy<T>(
    frame: &mut CallFrame<'_>,
    load: impl Fn(&VmBuffer, i64) -> Result<T>,
    store: impl Fn(&VmBuffer, i64, T) -> Result<()>,
) -> Result<()> {
    let (input, out) = (Matrix::read(frame)?, Matrix::read(frame)?);
    each(frame, |row, column| store(out.buffer, out.at(row, column), load(input.buffer, input.at(row, column))?))
}

/// `out = value`; rows are contiguous.
pub(super) fn fill(frame: &mut CallFrame<'_>) -> Result<()> {
    let value = frame.i32()? as u32;
    let (buffer, offset, stride): (&VmBuffer, i64, i64) = (frame.borrow_ref()?, frame.i64()?, frame.i64()?);
    let out = Matrix { buffer, offset, strides: [stride, 1] };
    each(frame, |row, column| out.buffer.store_u32(out.at(row, column), value))
}
