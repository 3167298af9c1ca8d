//! Local memory: one scratch block per thread that runs tiles, made when first asked for.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::fmt;

const ALIGNMENT: usize = 64;

/// More local memory was asked for than a worker owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryError {
    /// Bytes asked for.
    pub requested: usize,
    /// Bytes allowed per worker.
    pub limit: usize,
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} bytes of local memory needed but a worker has {}; raise --task_worker_local_memory",
            self.requested, self.limit
        )
    }
}

impl std::error::Error for MemoryError {}

struct Block {
    data: *mut u8,
    size: usize,
}

impl Block {
    const EMPTY: Block = Block { data: std::ptr::null_mut(), size: 0 };

    fn with_size(size: usize) -> Option<Block> {
        let layout = Layout::from_size_align(size, ALIGNMENT).ok()?;
        // SAFETY: the layout has a size above zero (the caller asks only for sizes > 0).
        let data = unsafe { alloc_zeroed(layout) };
        (!data.is_null()).then_some(Block { data, size })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if !self.data.is_null() {
            // SAFETY: `data` came from alloc_zeroed with this very layout.
            unsafe { dealloc(self.data, Layout::from_size_align_unchecked(self.size, ALIGNMENT)) };
        }
    }
}

thread_local! {
    // Taken out while in use, so that a nested use gets a block of its own instead of an alias.
    static LOCAL: Cell<Block> = const { Cell::new(Block::EMPTY) };
}

/// Calls `body` with at least `size` bytes (64-byte aligned, content arbitrary) that no other running tile uses.
///
/// # Errors
/// [`MemoryError`] when `size` exceeds `limit` or the allocation fails.
pub fn with_local_memory<R>(size: usize, limit: usize, body: impl FnOnce(&mut [u8]) -> R) -> Result<R, MemoryError> {
    if size == 0 {
        return Ok(body(&mut []));
    }
    if size > limit {
        return Err(MemoryError { requested: size, limit });
    }
    let mut block = LOCAL.replace(Block::EMPTY);
    if block.size < size {
        block = Block::with_size(size).ok_or(MemoryError { requested: size, limit })?;
    }
    // SAFETY: the block owns `size` initialised (zeroed) bytes and is out of the cell, so nobody else reaches it.
    let result = body(unsafe { std::slice::from_raw_parts_mut(block.data, block.size) });
    LOCAL.set(block);
    Ok(result)
}
