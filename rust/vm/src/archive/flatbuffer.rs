//! Reads FlatBuffers without trusting them and without copying.
//!
//! Every access checks its range, so there is no separate verification pass and no unsafe code. Generated readers do not
//! know unions in vectors with null entries, which the debug database has.

use std::cell::Cell;

use crate::status::{Result, Status};

/// How much may still be read from a buffer.
///
/// A small file can refer to one table or string from a million places; reading it would take forever. No writer shares
/// that much, so what is read altogether is limited to a multiple of the file.
pub struct Budget(Cell<usize>);

impl Budget {
    /// For a buffer of `length` bytes.
    pub fn new(length: usize) -> Budget {
        Budget(Cell::new(length.saturating_mul(16).saturating_add(1 << 16)))
    }

    fn spend(&self, bytes: usize) -> Result<()> {
        let left = self.0.get().checked_sub(bytes.saturating_add(8)).ok_or_else(|| {
            Status::invalid_argument("FlatBuffer verification failed: the same data is referred to too often")
        })?;
        self.0.set(left);
        Ok(())
    }
}

/// A FlatBuffer. Offsets count from its first byte.
#[derive(Clone, Copy)]
pub struct Buffer<'a> {
    bytes: &'a [u8],
    budget: &'a Budget,
}

/// A table in a buffer.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    buffer: Buffer<'a>,
    position: usize,
    vtable: usize,
    vtable_length: usize,
    length: usize,
}

/// A vector in a buffer: position of the first element and count.
#[derive(Clone, Copy)]
pub struct Vector<'a> {
    buffer: Buffer<'a>,
    position: usize,
    length: usize,
}

#[cold]
fn bad(what: &str, at: usize) -> Status {
    Status::invalid_argument(format!("FlatBuffer verification failed: {what} out of bounds at offset {at}"))
}

impl<'a> Buffer<'a> {
    /// Wraps `bytes`.
    pub fn new(bytes: &'a [u8], budget: &'a Budget) -> Buffer<'a> {
        Buffer { bytes, budget }
    }

    #[inline]
    fn slice(self, at: usize, length: usize, what: &str) -> Result<&'a [u8]> {
        let end = at.checked_add(length).ok_or_else(|| bad(what, at))?;
        self.bytes.get(at..end).ok_or_else(|| bad(what, at))
    }

    fn array<const N: usize>(self, at: usize, what: &str) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.slice(at, N, what)?);
        Ok(out)
    }

    fn u16(self, at: usize, what: &str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(at, what)?))
    }

    /// The u32 at `at`.
    pub fn u32(self, at: usize, what: &str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(at, what)?))
    }

    /// Follows the offset at `at`, which is never 0.
    fn follow(self, at: usize, what: &str) -> Result<usize> {
        let to = at.checked_add(self.u32(at, what)? as usize);
        to.filter(|to| (at + 1..self.bytes.len()).contains(to)).ok_or_else(|| bad(what, at))
    }

    /// The root table.
    pub fn root(self) -> Result<Table<'a>> {
        self.table(self.follow(0, "root")?, "root")
    }

    /// The table at `position`.
    fn table(self, position: usize, what: &str) -> Result<Table<'a>> {
        self.budget.spend(0)?;
        let distance = i64::from(self.u32(position, what)? as i32);
        let vtable = usize::try_from(position as i64 - distance).map_err(|_| bad(what, position))?;
        let vtable_length = usize::from(self.u16(vtable, what)?);
        let length = usize::from(self.u16(vtable.saturating_add(2), what)?);
        if vtable_length < 4 || vtable_length % 2 != 0 || length < 4 {
            return Err(bad(what, vtable));
        }
        self.slice(vtable, vtable_length, what)?;
        self.slice(position, length, what)?;
        Ok(Table { buffer: self, position, vtable, vtable_length, length })
    }

    /// The vector that the offset at `at` leads to; elements take `width` bytes.
    fn vector(self, at: usize, width: usize, what: &str) -> Result<Vector<'a>> {
        let head = self.follow(at, what)?;
        let length = self.u32(head, what)? as usize;
        let position = head + 4;
        let bytes = self.slice(position, length.checked_mul(width).ok_or_else(|| bad(what, head))?, what)?;
        self.budget.spend(bytes.len())?;
        Ok(Vector { buffer: self, position, length })
    }

    fn text(self, at: usize, what: &str) -> Result<&'a str> {
        let vector = self.vector(at, 1, what)?;
        let bytes = self.slice(vector.position, vector.length, what)?;
        if self.bytes.get(vector.position + vector.length) != Some(&0) {
            return Err(bad(what, vector.position));
        }
        std::str::from_utf8(bytes).map_err(|_| {
            Status::invalid_argument(format!(
                "FlatBuffer verification failed: {what} is not UTF-8 at offset {}",
                vector.position
            ))
        })
    }
}

impl<'a> Table<'a> {
    /// Position of field `slot` of `width` bytes, when present.
    pub fn field(self, slot: usize, width: usize, what: &str) -> Result<Option<usize>> {
        let entry = 4 + 2 * slot;
        if entry + 2 > self.vtable_length {
            return Ok(None);
        }
        let offset = usize::from(self.buffer.u16(self.vtable + entry, what)?);
        if offset == 0 {
            return Ok(None);
        }
        if offset < 4 || offset + width > self.length {
            return Err(bad(what, self.position));
        }
        Ok(Some(self.position + offset))
    }

    /// u8 field, when present.
    pub fn u8(self, slot: usize, what: &str) -> Result<Option<u8>> {
        self.field(slot, 1, what)?.map(|at| Ok(self.buffer.array::<1>(at, what)?[0])).transpose()
    }

    /// u32 field, when present.
    pub fn u32(self, slot: usize, what: &str) -> Result<Option<u32>> {
        self.field(slot, 4, what)?.map(|at| self.buffer.u32(at, what)).transpose()
    }

    /// u64 field, when present.
    pub fn u64(self, slot: usize, what: &str) -> Result<Option<u64>> {
        self.field(slot, 8, what)?.map(|at| Ok(u64::from_le_bytes(self.buffer.array(at, what)?))).transpose()
    }

    /// String field, when present.
    pub fn text(self, slot: usize, what: &str) -> Result<Option<&'a str>> {
        self.field(slot, 4, what)?.map(|at| self.buffer.text(at, what)).transpose()
    }

    /// Table field, when present.
    pub fn table(self, slot: usize, what: &str) -> Result<Option<Table<'a>>> {
        let Some(at) = self.field(slot, 4, what)? else { return Ok(None) };
        self.buffer.table(self.buffer.follow(at, what)?, what).map(Some)
    }

    /// Vectors of tables at offsets that no field but `slot` has: what damage to the vtable may have hidden. They are read
    /// with the elements behind their end, as their length may be damaged, too.
    pub fn unnamed_vectors(self, slot: usize) -> impl Iterator<Item = Vector<'a>> {
        let named = move |offset: usize| {
            let mut slots = 0..(self.vtable_length - 4) / 2;
            slots.any(|other| other != slot && matches!(self.field(other, 1, ""), Ok(Some(at)) if at == offset))
        };
        let words = (self.position + 4..self.position + self.length).step_by(4);
        words.filter(move |at| !named(*at)).filter_map(move |at| self.buffer.vector(at, 0, "").ok())
    }

    /// Vector field with elements of `width` bytes, when present.
    pub fn vector(self, slot: usize, width: usize, what: &str) -> Result<Option<Vector<'a>>> {
        self.field(slot, 4, what)?.map(|at| self.buffer.vector(at, width, what)).transpose()
    }
}

impl<'a> Vector<'a> {
    /// Number of elements.
    pub fn len(self) -> usize {
        self.length
    }

    /// Whether there are no elements.
    pub fn is_empty(self) -> bool {
        self.length == 0
    }

    /// Position of the first element in the buffer.
    pub fn position(self) -> usize {
        self.position
    }

    /// The bytes of element `index` of `N` bytes; the vector was made with that width.
    pub fn array<const N: usize>(self, index: usize) -> Result<[u8; N]> {
        self.buffer.array(self.position + index * N, "vector element")
    }

    /// Table element `index`.
    pub fn table(self, index: usize, what: &str) -> Result<Table<'a>> {
        self.buffer.table(self.buffer.follow(self.position + index * 4, what)?, what)
    }

    /// Table element `index` of a vector that may hold null entries.
    pub fn opt_table(self, index: usize, what: &str) -> Result<Option<Table<'a>>> {
        if self.buffer.u32(self.position + index * 4, what)? == 0 {
            return Ok(None);
        }
        self.table(index, what).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root table with one u32 field (7) and one string field ("hi").
    fn sample() -> Vec<u8> {
        let mut b = vec![];
        b.extend(12u32.to_le_bytes()); // root
        b.extend([8, 0, 12, 0, 4, 0, 8, 0]); // vtable at 4: length 8, table 12, fields at 4 and 8
        b.extend(8i32.to_le_bytes()); // table at 12
        b.extend(7u32.to_le_bytes());
        b.extend(4u32.to_le_bytes()); // string at 20 + 4
        b.extend(2u32.to_le_bytes());
        b.extend(b"hi\0\0");
        b
    }

    #[test]
    fn reads_fields() {
        let bytes = sample();
        let budget = Budget::new(bytes.len());
        let root = Buffer::new(&bytes, &budget).root().unwrap();
        assert_eq!(root.u32(0, "a").unwrap(), Some(7));
        assert_eq!(root.text(1, "b").unwrap(), Some("hi"));
        assert_eq!(root.u32(2, "c").unwrap(), None);
        assert!(root.field(0, 9, "too wide").is_err());
    }

    #[test]
    fn reading_one_string_without_end_is_refused() {
        let bytes = sample();
        let budget = Budget::new(bytes.len());
        let root = Buffer::new(&bytes, &budget).root().unwrap();
        let status = (0..100_000).map(|_| root.text(1, "b")).find_map(Result::err).unwrap();
        assert!(status.message().ends_with("referred to too often"));
    }

    #[test]
    fn no_cut_or_changed_byte_panics() {
        let bytes = sample();
        let read = |bytes: &[u8]| {
            let budget = Budget::new(bytes.len());
            let root = Buffer::new(bytes, &budget).root()?;
            root.u32(0, "a")?;
            root.text(1, "b")?;
            root.table(1, "b")?;
            root.vector(1, 8, "b").map(|_| ())
        };
        for length in 0..bytes.len() {
            let _ = read(&bytes[..length]);
        }
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = read(&changed);
            }
        }
    }
}
