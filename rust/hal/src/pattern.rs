//! Fill patterns.

use tiree_vm::{Result, Status};

/// A fill pattern of 1, 2 or 4 bytes, repeated to 4.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    bytes: [u8; 4],
    length: usize,
}

impl Pattern {
    /// The low `length` bytes of `value`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for another length than 1, 2 or 4.
    pub fn new(value: u64, length: u64) -> Result<Pattern> {
        let low = value.to_le_bytes();
        let bytes = match length {
            1 => [low[0]; 4],
            2 => [low[0], low[1], low[0], low[1]],
            4 => [low[0], low[1], low[2], low[3]],
            _ => {
                return Err(Status::invalid_argument(format!(
                    "fill pattern length {length} is not supported; must be 1, 2 or 4 bytes"
                )));
            }
        };
        Ok(Pattern { bytes, length: length as usize })
    }

    /// INVALID_ARGUMENT unless offset and length are multiples of the pattern's length.
    pub(crate) fn check_range(&self, offset: usize, length: usize) -> Result<()> {
        if offset.is_multiple_of(self.length) && length.is_multiple_of(self.length) {
            return Ok(());
        }
        Err(Status::invalid_argument(format!(
            "fill offset {offset} and length {length} must be multiples of the pattern length {}",
            self.length
        )))
    }

    /// Fills `length` bytes at `target`, which is a multiple of 4 bytes (or of the pattern) from the start of the range.
    ///
    /// # Safety
    /// The range must be valid for writes.
    pub(crate) unsafe fn fill(&self, target: *mut u8, length: usize) {
        if self.bytes.iter().all(|&byte| byte == self.bytes[0]) {
            // SAFETY: the caller's promise.
            unsafe { std::ptr::write_bytes(target, self.bytes[0], length) };
            return;
        }
        let whole = length / 4;
        for index in 0..whole {
            // SAFETY: inside the range; unaligned writes are asked for.
            unsafe { target.cast::<[u8; 4]>().add(index).write_unaligned(self.bytes) };
        }
        for index in whole * 4..length {
            // SAFETY: inside the range.
            unsafe { target.add(index).write(self.bytes[index % 4]) };
        }
    }
}
