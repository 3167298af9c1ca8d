//! Reading the structure of archives: little-endian numbers and ranges, checked against what there is.

use tiree_vm::{Result, Status};

pub(super) fn bad(message: impl Into<String>) -> Status {
    Status::invalid_argument(message)
}

/// `length` bytes at `offset` of `bytes`.
pub(super) fn range<'a>(bytes: &'a [u8], offset: u64, length: u64, what: &str) -> Result<&'a [u8]> {
    let end = offset.checked_add(length).filter(|&end| end <= bytes.len() as u64);
    match end {
        Some(end) => Ok(&bytes[offset as usize..end as usize]),
        None => Err(bad(format!(
            "the file is cut short or damaged: {what} of {length} bytes at offset {offset} of {} bytes",
            bytes.len()
        ))),
    }
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Bytes read one after the other.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, at: 0 }
    }

    /// Offset of the next byte.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The next `length` bytes.
    pub(super) fn take(&mut self, length: u64, what: &str) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        if length > rest.len() as u64 {
            return Err(bad(format!(
                "the file is cut short or damaged: {what} of {length} bytes at offset {} of {} bytes",
                self.at,
                self.bytes.len()
            )));
        }
        self.at += length as usize;
        Ok(&rest[..length as usize])
    }

    pub(super) fn u32(&mut self, what: &str) -> Result<u32> {
        Ok(u32_at(self.take(4, what)?, 0))
    }

    pub(super) fn u64(&mut self, what: &str) -> Result<u64> {
        Ok(u64_at(self.take(8, what)?, 0))
    }

    /// Bytes after their length.
    pub(super) fn string(&mut self, what: &str) -> Result<&'a [u8]> {
        let length = self.u64(what)?;
        self.take(length, what)
    }
}
