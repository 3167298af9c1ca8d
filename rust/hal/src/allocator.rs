//! `hal.allocator`: makes buffers and counts what they take.

use crate::buffer::{Buffer, BufferParams, Storage};
use crate::memory::{ALIGNMENT, Pool, PoolLimits, Statistics};
use crate::peak::Peak;
use crate::types::access;
use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use tiree_vm::{Charge, RefObject, Result, Status};

/// The allocator of one device.
pub struct Allocator {
    pool: Arc<Pool>,
}

impl RefObject for Allocator {
    fn type_name(&self) -> &'static str {
        "hal.allocator"
    }
}

impl Default for Allocator {
    fn default() -> Self {
        Self::new()
    }
}

impl Allocator {
    /// An allocator with an empty pool.
    pub fn new() -> Allocator {
        Allocator { pool: Pool::new() }
    }

    /// A buffer of `length` bytes; its contents are arbitrary.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED.
    pub fn allocate(&self, memory_type: u32, usage: u32, length: usize) -> Result<Buffer> {
        self.allocate_charged(memory_type, usage, length, None)
    }

    /// As [`allocate`](Self::allocate); the memory keeps `charge`.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED.
    pub fn allocate_charged(
        &self,
        memory_type: u32,
        usage: u32,
        length: usize,
        charge: Option<Charge>,
    ) -> Result<Buffer> {
        let params = BufferParams::local(memory_type, usage);
        let block = self.pool.clone().allocate(length, params.kind())?.charged(charge);
        Ok(Buffer::from_block(block, params))
    }

    /// A buffer with a copy of `bytes`.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED.
    pub fn allocate_copy(&self, memory_type: u32, usage: u32, bytes: &[u8]) -> Result<Buffer> {
        let buffer = self.allocate(memory_type, usage, bytes.len())?;
        buffer.write(0, bytes)?;
        Ok(buffer)
    }

    /// A buffer that gets its memory when the alloca of its storage runs.
    pub(crate) fn transient(&self, memory_type: u32, usage: u32, length: usize, charge: Option<Charge>) -> Buffer {
        let params = BufferParams::local(memory_type, usage);
        Buffer::transient(Storage::pending(length, self.pool.clone(), params.kind(), charge), params)
    }

    /// Wraps host memory without copying it. `writable` says whether the HAL may write to it.
    ///
    /// # Errors
    /// UNAVAILABLE when the memory is not 64-byte aligned, which kernels may rely on.
    ///
    /// # Safety
    /// The memory must stay valid (and not be written by others against the fences) while `owner` lives.
    pub unsafe fn import(
        &self,
        memory_type: u32,
        usage: u32,
        data: NonNull<u8>,
        length: usize,
        writable: bool,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Result<Buffer> {
        if !(data.as_ptr() as usize).is_multiple_of(ALIGNMENT) {
            return Err(Status::unavailable(format!(
                "host memory at {data:?} cannot be imported: it must be {ALIGNMENT}-byte aligned; copy it instead"
            )));
        }
        let mut params = BufferParams::local(memory_type, usage);
        if !writable {
            params.access = access::READ;
        }
        // SAFETY: the caller's promise is the one that from_foreign asks for.
        Ok(unsafe { Buffer::from_foreign(data, length, params, owner) })
    }

    /// The counters.
    pub fn statistics(&self) -> Statistics {
        self.pool.statistics()
    }

    /// Watches how much memory is in use, from now until the result is dropped.
    pub fn peak(&self) -> Peak {
        Peak::begin(self.pool.clone())
    }

    /// The bounds of its memory.
    pub fn limits(&self) -> PoolLimits {
        self.pool.limits()
    }

    /// Sets the bounds of its memory.
    pub fn set_limits(&self, limits: PoolLimits) {
        self.pool.set_limits(limits);
    }

    /// Gives unused memory back to the system.
    pub fn trim(&self) {
        self.pool.trim();
    }
}
