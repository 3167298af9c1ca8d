//! `hal.buffer`: a range of device memory, which here is host memory.
//!
//! Several buffers may share one storage (subspans). A storage is fixed (allocated or imported) or transient
//! (`queue.alloca`): a transient one has no memory before its alloca has run and none after its dealloca. Whoever reads or
//! writes the bytes holds a [`Mapping`], which keeps the memory alive even when a dealloca comes in between.
//!
//! The bytes of a buffer may be written by kernels and read by the host; the program orders that with fences. The
//! accessors here copy bytes through raw pointers and never lend references to them.

use crate::memory::{Block, Kind, Pool};
use crate::transient::Transient;
use crate::types::{access, bit_names, memory_type, usage};
use smallvec::SmallVec;
use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tiree_vm::{Charge, RefObject, Result, Status};

/// "The rest of the buffer" as a length.
pub const WHOLE_BUFFER: u64 = u64::MAX;

/// What a buffer may be used for; the fields hold the bits of [`crate::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferParams {
    /// Memory type bits.
    pub memory_type: u32,
    /// Usage bits.
    pub usage: u32,
    /// Access bits.
    pub access: u32,
}

impl BufferParams {
    /// Parameters for memory that host and device both see: what the local devices make of any request.
    pub fn local(requested_type: u32, requested_usage: u32) -> BufferParams {
        let mut bits = (requested_type & !memory_type::OPTIMAL) | memory_type::HOST_VISIBLE;
        if bits & (memory_type::DEVICE_VISIBLE | memory_type::HOST_COHERENT) == 0 {
            bits |= memory_type::DEVICE_LOCAL;
        }
        BufferParams {
            memory_type: bits,
            usage: requested_usage | usage::TRANSFER | usage::MAPPING | usage::MAPPING_PERSISTENT,
            access: access::ALL,
        }
    }

    /// Which statistics such a buffer counts in.
    pub(crate) fn kind(&self) -> Kind {
        let device = self.memory_type & memory_type::DEVICE_LOCAL == memory_type::DEVICE_LOCAL;
        if device { Kind::Device } else { Kind::Host }
    }
}

enum Memory {
    Block(Block),
    /// Somebody else's memory, valid while `owner` lives.
    Foreign {
        data: NonNull<u8>,
        owner: Arc<dyn Any + Send + Sync>,
    },
}

enum Backing {
    Fixed(Memory),
    Transient(Transient),
}

/// The memory behind one or more buffers.
pub(crate) struct Storage {
    backing: Backing,
    length: usize,
    /// Owners in the sense of `buffer.allocation.preserve` / `discard`.
    owners: AtomicU32,
    /// Mappings that others look through: see [`Buffer::lend`].
    lent: AtomicU32,
}

// SAFETY: the only non-Send member is the foreign pointer, whose memory the owner keeps valid on every thread.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

/// A range of memory with its permissions.
pub struct Buffer {
    storage: Arc<Storage>,
    offset: usize,
    length: usize,
    params: BufferParams,
    charge: Option<Charge>,
}

crate::charge::charged!(Buffer);

impl RefObject for Buffer {
    fn type_name(&self) -> &'static str {
        "hal.buffer"
    }
}

/// A pointer to a buffer's bytes that keeps them alive.
pub struct Mapping {
    data: NonNull<u8>,
    length: usize,
    /// Pinned.
    storage: Arc<Storage>,
    /// Whether others look through it.
    lent: bool,
}

// SAFETY: a mapping is a pointer plus what keeps it valid; both may travel.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.lent {
            self.storage.lent.fetch_sub(1, Ordering::AcqRel);
        }
        self.storage.unpin();
    }
}

impl Mapping {
    /// First byte. Reading or writing through it is subject to the fences of the program.
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.data
    }

    /// Bytes that may be reached through the pointer.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl Storage {
    /// Memory of `pool`, once an alloca has run; `charge` is kept until it is given back.
    pub(crate) fn pending(length: usize, pool: Arc<Pool>, kind: Kind, charge: Option<Charge>) -> Arc<Storage> {
        let backing = Backing::Transient(Transient::pending(pool, kind, charge));
        Arc::new(Storage { backing, length, owners: AtomicU32::new(1), lent: AtomicU32::new(0) })
    }

    pub(crate) fn byte_length(&self) -> usize {
        self.length
    }

    /// Gives a pending transient storage its memory.
    pub(crate) fn commit(&self) -> Result<()> {
        match &self.backing {
            Backing::Transient(transient) => transient.commit(self.length),
            Backing::Fixed(_) => Ok(()),
        }
    }

    /// Takes the memory of a transient storage away; other storage keeps it.
    pub(crate) fn release(&self) {
        if let Backing::Transient(transient) = &self.backing {
            transient.release();
        }
    }

    /// The first byte, kept until `unpin` (and while the storage is).
    #[inline]
    fn pin(&self) -> Result<NonNull<u8>> {
        match &self.backing {
            Backing::Fixed(Memory::Block(block)) => Ok(block.as_ptr()),
            Backing::Fixed(Memory::Foreign { data, .. }) => Ok(*data),
            Backing::Transient(transient) => transient.pin(),
        }
    }

    #[inline]
    fn unpin(&self) {
        if let Backing::Transient(transient) = &self.backing {
            transient.unpin();
        }
    }
}

/// Buffers in use by an execution; they are let go when this is dropped.
#[derive(Default)]
pub(crate) struct Pins<'a> {
    storages: SmallVec<[&'a Storage; 8]>,
}

impl Drop for Pins<'_> {
    fn drop(&mut self) {
        self.storages.iter().for_each(|storage| storage.unpin());
    }
}

impl Buffer {
    fn new(storage: Arc<Storage>, params: BufferParams) -> Buffer {
        let length = storage.length;
        Buffer { storage, offset: 0, length, params, charge: None }
    }

    /// A buffer over a fresh block.
    pub(crate) fn from_block(block: Block, params: BufferParams) -> Buffer {
        let length = block.len();
        let backing = Backing::Fixed(Memory::Block(block));
        Buffer::new(Arc::new(Storage { backing, length, owners: AtomicU32::new(1), lent: AtomicU32::new(0) }), params)
    }

    /// A buffer whose memory an alloca on a queue will provide.
    pub(crate) fn transient(storage: Arc<Storage>, params: BufferParams) -> Buffer {
        Buffer::new(storage, params)
    }

    /// A buffer over memory that `owner` keeps alive: zero copy. Without write access the HAL never writes to it.
    ///
    /// # Safety
    /// `data..data+length` must be valid for reads (and writes, when `params.access` has WRITE) while `owner` lives.
    pub unsafe fn from_foreign(
        data: NonNull<u8>,
        length: usize,
        params: BufferParams,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Buffer {
        let backing = Backing::Fixed(Memory::Foreign { data, owner });
        Buffer::new(Arc::new(Storage { backing, length, owners: AtomicU32::new(1), lent: AtomicU32::new(0) }), params)
    }

    /// Length in bytes.
    pub fn byte_length(&self) -> usize {
        self.length
    }

    /// Who keeps the memory alive when it is not the HAL's own: what was given to [`from_foreign`](Self::from_foreign).
    pub fn foreign_owner(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        match &self.storage.backing {
            Backing::Fixed(Memory::Foreign { owner, .. }) => Some(owner),
            _ => None,
        }
    }

    /// Offset within the allocation.
    pub fn byte_offset(&self) -> usize {
        self.offset
    }

    /// Length of the whole allocation.
    pub fn allocation_size(&self) -> usize {
        self.storage.length
    }

    /// Memory type bits.
    pub fn memory_type(&self) -> u32 {
        self.params.memory_type
    }

    /// Usage bits.
    pub fn allowed_usage(&self) -> u32 {
        self.params.usage
    }

    /// Access bits.
    pub fn allowed_access(&self) -> u32 {
        self.params.access
    }

    pub(crate) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// Whether both share an allocation.
    pub fn same_allocation(&self, other: &Buffer) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// Adds an owner of the allocation.
    pub fn preserve(&self) {
        self.storage.owners.fetch_add(1, Ordering::Relaxed);
    }

    /// Drops an owner of the allocation; true when it was the last.
    pub fn discard(&self) -> bool {
        let update = self.storage.owners.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1));
        update == Ok(1)
    }

    /// Whether the allocation has a single owner.
    pub fn is_terminal(&self) -> bool {
        self.storage.owners.load(Ordering::Acquire) == 1
    }

    /// Checks `[offset, offset + length)` against this buffer and resolves [`WHOLE_BUFFER`].
    ///
    /// # Errors
    /// OUT_OF_RANGE with the three numbers.
    #[inline]
    pub fn resolve_range(&self, offset: u64, length: u64) -> Result<(usize, usize)> {
        let size = self.length as u64;
        let wanted = if length == WHOLE_BUFFER { size.saturating_sub(offset) } else { length };
        match offset.checked_add(wanted) {
            Some(end) if end <= size => Ok((offset as usize, wanted as usize)),
            _ => Err(out_of_range(offset, wanted, size)),
        }
    }

    /// A buffer over a part of this one.
    ///
    /// # Errors
    /// OUT_OF_RANGE.
    pub fn subspan(&self, offset: u64, length: u64) -> Result<Buffer> {
        let (offset, length) = self.resolve_range(offset, length)?;
        let (storage, offset) = (self.storage.clone(), self.offset + offset);
        Ok(Buffer { storage, offset, length, params: self.params, charge: None })
    }

    /// PERMISSION_DENIED unless the buffer allows all of `wanted` accesses.
    #[inline]
    pub(crate) fn check_access(&self, wanted: u32) -> Result<()> {
        if self.params.access & wanted == wanted { Ok(()) } else { Err(read_only()) }
    }

    /// PERMISSION_DENIED unless the buffer allows all of `wanted` usages.
    #[inline]
    pub(crate) fn check_usage(&self, wanted: u32) -> Result<()> {
        if self.params.usage & wanted == wanted { Ok(()) } else { Err(unusable(self.params.usage, wanted)) }
    }

    /// Pointer to the first byte, valid as long as `pins`.
    #[inline]
    pub(crate) fn resolve<'a>(&'a self, pins: &mut Pins<'a>) -> Result<NonNull<u8>> {
        let base = self.storage.pin()?;
        if matches!(self.storage.backing, Backing::Transient(_)) {
            pins.storages.push(&self.storage);
        }
        // SAFETY: the offset lies inside the storage (checked by subspan).
        Ok(unsafe { base.add(self.offset) })
    }

    /// The bytes for the host.
    ///
    /// # Errors
    /// FAILED_PRECONDITION before the alloca or after the dealloca of a transient buffer has run.
    pub fn map(&self) -> Result<Mapping> {
        let base = self.storage.pin()?;
        // SAFETY: the offset lies inside the storage (checked by subspan).
        let data = unsafe { base.add(self.offset) };
        Ok(Mapping { data, length: self.length, storage: self.storage.clone(), lent: false })
    }

    /// As [`map`](Self::map), for somebody who will look at the memory at any time while the mapping lives, without the
    /// fences of a program.
    ///
    /// # Errors
    /// As [`map`](Self::map).
    pub fn lend(&self) -> Result<Mapping> {
        let mut mapping = self.map()?;
        self.storage.lent.fetch_add(1, Ordering::AcqRel);
        mapping.lent = true;
        Ok(mapping)
    }

    /// Whether anybody besides who asks refers to the buffer or to other parts of its memory.
    pub fn is_held_elsewhere(self: &Arc<Buffer>) -> bool {
        Arc::strong_count(self) > 1 || Arc::strong_count(&self.storage) > 1
    }

    /// Whether somebody may look at the memory, or at a part of it, at any time: it is somebody else's, or was lent.
    pub fn is_shared(&self) -> bool {
        self.foreign_owner().is_some() || self.storage.lent.load(Ordering::Acquire) != 0
    }

    /// Copies bytes from `offset` on into `target`.
    ///
    /// # Errors
    /// OUT_OF_RANGE; FAILED_PRECONDITION as [`map`](Self::map).
    pub fn read(&self, offset: u64, target: &mut [u8]) -> Result<()> {
        let (offset, length) = self.resolve_range(offset, target.len() as u64)?;
        let mapping = self.map()?;
        // SAFETY: the range is inside the mapping, and `target` is a separate exclusive borrow.
        unsafe { std::ptr::copy_nonoverlapping(mapping.data.as_ptr().add(offset), target.as_mut_ptr(), length) };
        Ok(())
    }

    /// Copies `source` to `offset` on.
    ///
    /// # Errors
    /// OUT_OF_RANGE; PERMISSION_DENIED for read-only memory; FAILED_PRECONDITION as [`map`](Self::map).
    pub fn write(&self, offset: u64, source: &[u8]) -> Result<()> {
        let (offset, length) = self.resolve_range(offset, source.len() as u64)?;
        self.check_access(access::WRITE)?;
        let mapping = self.map()?;
        // SAFETY: the range is inside the mapping; `source` cannot overlap: HAL memory is never lent as a slice.
        unsafe { std::ptr::copy(source.as_ptr(), mapping.data.as_ptr().add(offset), length) };
        Ok(())
    }

    /// All bytes, copied.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.length];
        self.read(0, &mut bytes)?;
        Ok(bytes)
    }
}

#[cold]
fn read_only() -> Status {
    Status::permission_denied("the buffer is read-only (constant or parameter data) and cannot be written")
}

#[cold]
fn unusable(allowed: u32, wanted: u32) -> Status {
    Status::permission_denied(format!(
        "requested usage was not specified when the buffer was allocated; buffer allows {}, operation requires {}",
        bit_names(allowed, usage::NAMES),
        bit_names(wanted, usage::NAMES)
    ))
}

#[cold]
fn out_of_range(offset: u64, wanted: u64, size: u64) -> Status {
    Status::out_of_range(format!("range [{offset}, {offset} + {wanted}) is outside the buffer of {size} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiree_vm::StatusCode;

    fn buffer(length: usize) -> Buffer {
        Buffer::from_block(Pool::new().allocate(length, Kind::Device).unwrap(), BufferParams::local(0, usage::DEFAULT))
    }

    #[test]
    fn subspans_share_bytes_and_stay_inside() {
        let whole = buffer(100);
        let part = whole.subspan(10, 20).unwrap().subspan(5, WHOLE_BUFFER).unwrap();
        assert_eq!((part.byte_offset(), part.byte_length()), (15, 15));
        part.write(0, &[1, 2, 3]).unwrap();
        assert_eq!(whole.to_vec().unwrap()[14..19], [0, 1, 2, 3, 0]);
        for (offset, length) in [(0, 101), (100, 1), (u64::MAX, 2), (101, WHOLE_BUFFER), (1, u64::MAX - 1)] {
            assert_eq!(whole.subspan(offset, length).err().unwrap().code(), StatusCode::OutOfRange);
        }
        assert!(whole.subspan(100, 0).is_ok());
    }

    #[test]
    fn transient_memory_exists_between_alloca_and_dealloca() {
        let storage = Storage::pending(16, Pool::new(), Kind::Device, None);
        let transient = Buffer::transient(storage.clone(), BufferParams::local(0, usage::DEFAULT));
        assert!(transient.to_vec().unwrap_err().message().contains("has not run"));
        storage.commit().unwrap();
        transient.write(0, &[7; 16]).unwrap();
        let mapping = transient.map().unwrap();
        storage.release();
        assert_eq!(transient.to_vec().unwrap_err().code(), StatusCode::FailedPrecondition);
        // SAFETY: the mapping keeps the memory; nobody writes.
        assert_eq!(unsafe { *mapping.as_ptr().as_ptr() }, 7);
    }

    #[test]
    fn read_only_memory_is_not_written() {
        let bytes = Arc::new([1u8, 2, 3]);
        let params = BufferParams { access: access::READ, ..BufferParams::local(0, usage::DEFAULT) };
        // SAFETY: the array lives as long as the Arc.
        let foreign = unsafe { Buffer::from_foreign(NonNull::from(&bytes[0]), 3, params, bytes.clone()) };
        assert_eq!(foreign.to_vec().unwrap(), [1, 2, 3]);
        assert_eq!(foreign.write(0, &[0]).unwrap_err().code(), StatusCode::PermissionDenied);
    }

    #[test]
    fn ownership_counts() {
        let buffer = buffer(1);
        assert!(buffer.is_terminal());
        buffer.preserve();
        assert!(!buffer.is_terminal() && !buffer.discard() && buffer.is_terminal());
        assert!(buffer.discard() && !buffer.discard());
    }
}
