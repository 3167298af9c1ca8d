//! The `vmvx` module: reference kernels that VMVX executables call. Plain loops over checked elements: correct on any
//! machine, not fast.
//!
//! A matrix argument is a buffer, an offset and strides, all in elements; every access is checked against its buffer.

mod blocks;
mod elements;

use crate::import_table::{VMVX, VMVX_VERSION, native_export};
use blocks::{mmt4d, pack, query_tile_sizes, unpack};
use elements::{binary_f32, binary_i32, copy, fill, unary_f32, unary_i32};
use std::any::Any;
use tiree_vm::{CallFrame, Flow, NativeExport, NativeModule, Result, Status, VmBuffer};

/// The module; it has no state.
pub struct VmvxModule;

type Handler = fn(&mut CallFrame<'_>) -> Result<()>;

macro_rules! exports {
    ($($name:literal $handler:expr;)*) => {
        static EXPORTS: [NativeExport; VMVX.len()] = [$(native_export(&VMVX, $name),)*];
        static HANDLERS: [Handler; VMVX.len()] = [$($handler,)*];
    };
}

fn division_by_zero(operation: &str) -> Status {
    Status::invalid_argument(format!("vmvx.{operation}.2d.i32: division by zero"))
}

exports! {
    "add.2d.f32" |frame| binary_f32(frame, |a, b| a + b);
    "add.2d.i32" |frame| binary_i32(frame, |a, b| Ok(a.wrapping_add(b)));
    "and.2d.i32" |frame| binary_i32(frame, |a, b| Ok(a & b));
    "div.2d.f32" |frame| binary_f32(frame, |a, b| a / b);
    "divs.2d.i32" |frame| binary_i32(frame, |a, b| match b {
        0 => Err(division_by_zero("divs")),
        _ => Ok((a as i32).wrapping_div(b as i32) as u32),
    });
    "divu.2d.i32" |frame| binary_i32(frame, |a, b| {
        a.checked_div(b).ok_or_else(|| division_by_zero("divu"))
    });
    "mul.2d.f32" |frame| binary_f32(frame, |a, b| a * b);
    "mul.2d.i32" |frame| binary_i32(frame, |a, b| Ok(a.wrapping_mul(b)));
    "or.2d.i32" |frame| binary_i32(frame, |a, b| Ok(a | b));
    "shl.2d.i32" |frame| binary_i32(frame, |a, b| Ok(a.wrapping_shl(b)));
    "shrs.2d.i32" |frame| binary_i32(frame, |a, b| Ok((a as i32).wrapping_shr(b) as u32));
    "shru.2d.i32" |frame| binary_i32(frame, |a, b| Ok(a.wrapping_shr(b)));
    "sub.2d.f32" |frame| binary_f32(frame, |a, b| a - b);
    "sub.2d.i32" |frame| binary_i32(frame, |a, b| Ok(a.wrapping_sub(b)));
    "xor.2d.i32" |frame| binary_i32(frame, |a, b| Ok(a ^ b));
    "abs.2d.f32" |frame| unary_f32(frame, f32::abs);
    "ceil.2d.f32" |frame| unary_f32(frame, f32::ceil);
    "ctlz.2d.i32" |frame| unary_i32(frame, u32::leading_zeros);
    "exp.2d.f32" |frame| unary_f32(frame, f32::exp);
    "floor.2d.f32" |frame| unary_f32(frame, f32::floor);
    "log.2d.f32" |frame| unary_f32(frame, f32::ln);
    "neg.2d.f32" |frame| unary_f32(frame, |a| -a);
    "rsqrt.2d.f32" |frame| unary_f32(frame, |a| 1.0 / a.sqrt());
    "copy.2d.x8" |frame| copy(frame, VmBuffer::load_u8, VmBuffer::store_u8);
    "copy.2d.x16" |frame| copy(frame, VmBuffer::load_u16, VmBuffer::store_u16);
    "copy.2d.x32" |frame| copy(frame, VmBuffer::load_u32, VmBuffer::store_u32);
    "copy.2d.x64" |frame| copy(frame, VmBuffer::load_u64, VmBuffer::store_u64);
    "fill.2d.x32" fill;
    "mmt4d" mmt4d;
    "pack" pack;
    "query_tile_sizes.2d" query_tile_sizes;
    "unpack" unpack;
}

impl NativeModule for VmvxModule {
    fn name(&self) -> &str {
        "vmvx"
    }

    fn version(&self) -> u32 {
        VMVX_VERSION
    }

    fn exports(&self) -> &[NativeExport] {
        &EXPORTS
    }

    fn call(&self, _state: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match HANDLERS.get(ordinal) {
            Some(handler) => handler(frame).map(|()| Flow::Done),
            None => Err(Status::out_of_range(format!("vmvx has no function {ordinal}"))),
        }
    }
}

/// A matrix in a buffer.
struct Matrix<'a> {
    buffer: &'a VmBuffer,
    offset: i64,
    strides: [i64; 2],
}

impl<'a> Matrix<'a> {
    /// Reads buffer, offset and both strides.
    fn read(frame: &mut CallFrame<'a>) -> Result<Matrix<'a>> {
        Ok(Matrix { buffer: frame.borrow_ref()?, offset: frame.i64()?, strides: [frame.i64()?, frame.i64()?] })
    }

    /// Index of an element. What overflows lies outside of every buffer, so wrapping is as good as an error; the access
    /// itself is checked.
    fn at(&self, row: i64, column: i64) -> i64 {
        let [outer, inner] = self.strides;
        self.offset.wrapping_add(row.wrapping_mul(outer)).wrapping_add(column.wrapping_mul(inner))
    }
}

/// Reads the last two arguments, the sizes, and calls `body` for every row and column.
fn each(frame: &mut CallFrame<'_>, mut body: impl FnMut(i64, i64) -> Result<()>) -> Result<()> {
    let (rows, columns) = (frame.i64()?, frame.i64()?);
    for row in 0..rows {
        for column in 0..columns {
            body(row, column)?;
        }
    }
    Ok(())
}
