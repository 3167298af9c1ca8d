//! Kernels on tiles: packing, unpacking, and multiplication of packed matrices.

use super::Matrix;
use tiree_vm::{CallFrame, Result, Status, VmBuffer};

/// The element type, in the low byte of the flags.
const TYPE: u32 = 0xFF;
/// mmt4d adds to what is there.
const ACCUMULATE: u32 = 0x100;
/// mmt4d may use any kernel; there is one, so this changes nothing.
const GENERIC: u32 = 0x200;
/// pack and unpack: what is in a tile is transposed; the tiles are.
const TRANSPOSE_INNER: u32 = 0x100;
const TRANSPOSE_OUTER: u32 = 0x200;

fn unhandled(function: &str, flags: u32) -> Status {
    Status::invalid_argument(format!("vmvx.{function}: flags {flags:#x} name no known kernel"))
}

/// A matrix of tiles: buffer, offset, elements from one row of tiles to the next.
struct Tiles<'a> {
    buffer: &'a VmBuffer,
    offset: i64,
    stride: i64,
}

impl<'a> Tiles<'a> {
    fn read(frame: &mut CallFrame<'a>) -> Result<Tiles<'a>> {
        Ok(Tiles { buffer: frame.borrow_ref()?, offset: frame.i64()?, stride: frame.i64()? })
    }

    /// Index of the element `inner` of tile (`row`, `column`), whose tiles have `size` elements.
    fn at(&self, row: i64, column: i64, size: i64, inner: i64) -> i64 {
        let tile = row.wrapping_mul(self.stride).wrapping_add(column.wrapping_mul(size));
        self.offset.wrapping_add(tile).wrapping_add(inner)
    }
}

/// `out[m][n][m0][n0] (+)= sum over k, k0 of lhs[m][k][m0][k0] * rhs[n][k][n0][k0]`
pub(super) fn mmt4d(frame: &mut CallFrame<'_>) -> Result<()> {
    let (lhs, rhs, out) = (Tiles::read(frame)?, Tiles::read(frame)?, Tiles::read(frame)?);
    let sizes = [frame.i64()?, frame.i64()?, frame.i64()?];
    let tile = [i64::from(frame.i32()?), i64::from(frame.i32()?), i64::from(frame.i32()?)];
    let flags = frame.i32()? as u32;
    if flags & !(TYPE | ACCUMULATE | GENERIC) != 0 {
        return Err(unhandled("mmt4d", flags));
    }
    let accumulate = flags & ACCUMULATE != 0;
    let shape = Mmt4d { lhs, rhs, out, sizes, tile };
    match flags & TYPE {
        1 => shape.run(|out, pairs| {
            let mut sum = if accumulate { f32::from_bits(shape.out.buffer.load_u32(out)?) } else { 0.0 };
            for (a, b) in pairs {
                let (a, b) = (shape.lhs.buffer.load_u32(a)?, shape.rhs.buffer.load_u32(b)?);
                sum += f32::from_bits(a) * f32::from_bits(b);
            }
            shape.out.buffer.store_u32(out, sum.to_bits())
        }),
        2 => shape.run(|out, pairs| {
            let mut sum = if accumulate { shape.out.buffer.load_u32(out)? as i32 } else { 0 };
            for (a, b) in pairs {
                let (a, b) = (shape.lhs.buffer.load_u8(a)? as i8, shape.rhs.buffer.load_u8(b)? as i8);
                sum = sum.wrapping_add(i32::from(a) * i32::from(b));
            }
            shape.out.buffer.store_u32(out, sum as u32)
        }),
        _ => Err(unhandled("mmt4d", flags)),
    }
}

struct Mmt4d<'a> {
    lhs: Tiles<'a>,
    rhs: Tiles<'a>,
    out: Tiles<'a>,
    /// m, n, k
    sizes: [i64; 3],
    /// m0, n0, k0
    tile: [i64; 3],
}

impl Mmt4d<'_> {
    /// Calls `body` for every element of the output with its index and the indices of the pairs to multiply.
    fn run(&self, body: impl Fn(i64, &mut dyn Iterator<Item = (i64, i64)>) -> Result<()>) -> Result<()> {
        let ([m, n, k], [m0, n0, k0]) = (self.sizes, self.tile);
        for (row, column) in product(m, n) {
            for (i, j) in product(m0, n0) {
                let out = self.out.at(row, column, m0 * n0, i * n0 + j);
                let mut pairs = product(k, k0).map(|(step, l)| {
                    let lhs = self.lhs.at(row, step, m0 * k0, i * k0 + l);
                    (lhs, self.rhs.at(column, step, n0 * k0, j * k0 + l))
                });
                body(out, &mut pairs)?;
            }
        }
        Ok(())
    }
}

fn product(a: i64, b: i64) -> impl Iterator<Item = (i64, i64)> {
    (0..a).flat_map(move |x| (0..b).map(move |y| (x, y)))
}

/// A packed matrix: tiles of tiles, and how they map to a plain one.
struct Packed<'a> {
    matrix: Matrix<'a>,
    sizes: [i64; 4],
    flags: u32,
}

impl Packed<'_> {
    /// Calls `body` with the index in the packed matrix and the row and column in the plain one, for all that is packed.
    fn each(&self, mut body: impl FnMut(i64, i64, i64) -> Result<()>) -> Result<()> {
        let [outer0, outer1, inner0, inner1] = self.sizes;
        let swap = |swapped: bool, (a, b): (i64, i64)| if swapped { (b, a) } else { (a, b) };
        let transposed = self.flags & TRANSPOSE_INNER != 0;
        let (height, width) = swap(transposed, (inner0, inner1));
        for (i, j) in product(outer0, outer1) {
            let (tile_row, tile_column) = swap(self.flags & TRANSPOSE_OUTER != 0, (i, j));
            let tile = self.matrix.at(i, j);
            for (k, l) in product(inner0, inner1) {
                let (row, column) = swap(transposed, (k, l));
                let row = tile_row.wrapping_mul(height).wrapping_add(row);
                let column = tile_column.wrapping_mul(width).wrapping_add(column);
                body(tile.wrapping_add(k.wrapping_mul(inner1)).wrapping_add(l), row, column)?;
            }
        }
        Ok(())
    }
}

fn sizes<const N: usize>(frame: &mut CallFrame<'_>) -> Result<[i64; N]> {
    let mut sizes = [0; N];
    for size in &mut sizes {
        *size = frame.i64()?;
    }
    Ok(sizes)
}

/// Packs a matrix into tiles; what has no source is padding.
pub(super) fn pack(frame: &mut CallFrame<'_>) -> Result<()> {
    let (input, matrix) = (Matrix::read(frame)?, Matrix::read(frame)?);
    let [rows, columns] = sizes(frame)?;
    let (sizes, padding, flags) = (sizes(frame)?, frame.i64()?, frame.i32()? as u32);
    let packed = Packed { matrix, sizes, flags };
    let out = packed.matrix.buffer;
    check_flags("pack", flags)?;
    match flags & TYPE {
        1 | 3 => packed.each(|target, row, column| {
            let inside = row < rows && column < columns;
            out.store_u32(target, if inside { input.buffer.load_u32(input.at(row, column))? } else { padding as u32 })
        }),
        2 => packed.each(|target, row, column| {
            let inside = row < rows && column < columns;
            out.store_u8(target, if inside { input.buffer.load_u8(input.at(row, column))? } else { padding as u8 })
        }),
        _ => Err(unhandled("pack", flags)),
    }
}

/// Unpacks tiles into a matrix; what lies outside of it is left out.
pub(super) fn unpack(frame: &mut CallFrame<'_>) -> Result<()> {
    let (matrix, out) = (Matrix::read(frame)?, Matrix::read(frame)?);
    let packed_sizes = sizes(frame)?;
    let ([rows, columns], flags) = (sizes(frame)?, frame.i32()? as u32);
    let packed = Packed { matrix, sizes: packed_sizes, flags };
    check_flags("unpack", flags)?;
    if !matches!(flags & TYPE, 1 | 3) {
        return Err(unhandled("unpack", flags));
    }
    packed.each(|source, row, column| {
        if row < rows && column < columns {
            out.buffer.store_u32(out.at(row, column), packed.matrix.buffer.load_u32(source)?)?;
        }
        Ok(())
    })
}

fn check_flags(function: &str, flags: u32) -> Result<()> {
    if flags & !(TYPE | TRANSPOSE_INNER | TRANSPOSE_OUTER) == 0 { Ok(()) } else { Err(unhandled(function, flags)) }
}

/// Tile sizes for an operand of a multiplication: what IREE's reference kernels choose. The low byte of the flags is the
/// operand (1 left, 2 right, 3 result), the next one the element types.
pub(super) fn query_tile_sizes(frame: &mut CallFrame<'_>) -> Result<()> {
    let [_, _] = sizes(frame)?;
    let flags = frame.i32()? as u32;
    let (m, n, k) = match flags >> 8 & 0xFF {
        1 => (8, 4, 1),
        2 => (8, 4, 2),
        3..=6 => (8, 8, 4),
        _ => (0, 0, 0),
    };
    let (rows, columns) = match flags & TYPE {
        1 => (m, k),
        2 => (n, k),
        3 => (m, n),
        _ => (0, 0),
    };
    frame.push_i64(rows);
    frame.push_i64(columns);
    Ok(())
}
