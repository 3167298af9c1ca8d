//! `vm.buffer`: a run of bytes that VM code reads and perhaps writes.
//!
//! Immutable buffers (rodata) lend plain slices. A mutable buffer may be reached by several invocations at once, so its
//! bytes are only ever read and written with relaxed atomic accesses: a program that races with itself gets unspecified
//! values, never undefined behaviour in the runtime.

use std::alloc::{self, Layout};
use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::quota::Charge;
use crate::refs::RefObject;
use crate::status::{Result, Status};

enum Memory {
    /// Allocated here, from there on with this layout.
    Heap(NonNull<u8>, Layout),
    /// Somebody else's; kept alive by holding this.
    Foreign { _owner: Arc<dyn Any + Send + Sync> },
}

/// Bytes with a fixed length.
pub struct VmBuffer {
    data: NonNull<u8>,
    length: usize,
    mutable: bool,
    memory: Memory,
    /// Given back with the buffer.
    _charge: Option<Charge>,
}

// SAFETY: the bytes are either never written (immutable) or only accessed atomically (mutable), see the module text.
unsafe impl Send for VmBuffer {}
// SAFETY: as for Send.
unsafe impl Sync for VmBuffer {}

impl RefObject for VmBuffer {
    fn type_name(&self) -> &'static str {
        "vm.buffer"
    }
}

impl Drop for VmBuffer {
    fn drop(&mut self) {
        if let Memory::Heap(base, layout) = self.memory {
            // SAFETY: `base` came from `alloc_zeroed` with this layout and is released once.
            unsafe { alloc::dealloc(base.as_ptr(), layout) }
        }
    }
}

/// Smallest alignment of allocated buffers, so that every element access is aligned.
const MIN_ALIGNMENT: usize = 16;

/// Largest alignment that can be asked for.
const MAX_ALIGNMENT: usize = 1 << 20;

impl VmBuffer {
    /// A mutable buffer of `length` zero bytes.
    ///
    /// INVALID_ARGUMENT when `alignment` is neither 0 nor a power of two (up to 1 MiB), RESOURCE_EXHAUSTED without memory.
    pub fn allocate(length: usize, alignment: usize) -> Result<VmBuffer> {
        if alignment != 0 && !alignment.is_power_of_two() || alignment > MAX_ALIGNMENT {
            return Err(Status::invalid_argument(format!(
                "buffer alignment {alignment} is not a power of two up to {MAX_ALIGNMENT}"
            )));
        }
        let exhausted = || Status::resource_exhausted(format!("cannot allocate a buffer of {length} bytes"));
        let align = alignment.max(MIN_ALIGNMENT);
        // Much memory is zero without being written only if no more than the usual alignment is asked for.
        let margin = if length > MAX_ALIGNMENT { align - MIN_ALIGNMENT } else { 0 };
        let layout = Layout::from_size_align(length.max(1).saturating_add(margin), align - margin);
        let layout = layout.map_err(|_| exhausted())?;
        // SAFETY: the layout has a non-zero size.
        let base = NonNull::new(unsafe { alloc::alloc_zeroed(layout) }).ok_or_else(exhausted)?;
        // SAFETY: the base has the layout's alignment, so the margin is enough.
        let data = unsafe { base.add(base.align_offset(align)) };
        Ok(VmBuffer { data, length, mutable: true, memory: Memory::Heap(base, layout), _charge: None })
    }

    /// A copy of `bytes`.
    pub fn copy_of(bytes: &[u8], mutable: bool) -> Result<VmBuffer> {
        let mut buffer = VmBuffer::allocate(bytes.len(), 0)?;
        // SAFETY: the fresh allocation has at least `bytes.len()` bytes and nobody else knows it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.data.as_ptr(), bytes.len()) };
        buffer.mutable = mutable;
        Ok(buffer)
    }

    /// Wraps memory that `owner` keeps alive.
    ///
    /// # Safety
    /// `data..data+length` must stay valid for as long as `owner` lives. An immutable buffer must never change; a mutable
    /// one must only be changed by others while no VM code can reach it, or atomically.
    pub unsafe fn from_raw(
        data: NonNull<u8>,
        length: usize,
        mutable: bool,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> VmBuffer {
        VmBuffer { data, length, mutable, memory: Memory::Foreign { _owner: owner }, _charge: None }
    }

    /// The same buffer, which holds `charge` as long as it lives.
    #[must_use]
    pub fn charged(mut self, charge: Option<Charge>) -> VmBuffer {
        self._charge = charge;
        self
    }

    /// The same buffer, from now on immutable.
    pub fn freeze(mut self) -> VmBuffer {
        self.mutable = false;
        self
    }

    /// Length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether VM code may write to it.
    #[inline]
    pub fn is_mutable(&self) -> bool {
        self.mutable
    }

    /// Address of the first byte.
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.data
    }

    /// The bytes of an immutable buffer; `None` for a mutable one (use [`VmBuffer::to_vec`] or [`VmBuffer::read`]).
    pub fn as_slice(&self) -> Option<&[u8]> {
        // SAFETY: valid for `length` bytes by construction, and never written.
        (!self.mutable).then(|| unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.length) })
    }

    /// A copy of all bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.length];
        self.copy_out(0, &mut bytes);
        bytes
    }

    /// Checks that `[offset, offset + length)` lies inside. OUT_OF_RANGE otherwise.
    #[inline]
    pub fn check_range(&self, offset: u64, length: u64) -> Result<usize> {
        match offset.checked_add(length) {
            Some(end) if end <= self.length as u64 => Ok(offset as usize),
            _ => Err(self.range_error(offset, length, 1)),
        }
    }

    /// PERMISSION_DENIED when the buffer is immutable.
    #[inline]
    pub fn check_mutable(&self) -> Result<()> {
        if self.mutable { Ok(()) } else { Err(Status::permission_denied("buffer is read-only and cannot be written")) }
    }

    #[cold]
    fn range_error(&self, offset: u64, length: u64, size: u64) -> Status {
        Status::out_of_range(format!(
            "out-of-bounds access detected (offset={}, length={}, alignment={size}, buffer length={})",
            u128::from(offset) * u128::from(size),
            u128::from(length) * u128::from(size),
            self.length
        ))
    }

    /// Byte offset of element `index` of `size` bytes, checked.
    #[inline]
    fn element(&self, index: i64, size: usize) -> Result<usize> {
        // Negative indices become huge; division instead of multiplication cannot wrap.
        let index = index as u64;
        if index < (self.length / size) as u64 {
            Ok(index as usize * size)
        } else {
            Err(self.range_error(index, 1, size as u64))
        }
    }

    /// Element `index` when it is inside and aligned.
    ///
    /// # Safety
    /// `T` is an atomic integer; it may only be written when the buffer is mutable.
    #[inline(always)]
    pub(crate) unsafe fn aligned<T>(&self, index: i64) -> Option<&T> {
        if index as u64 >= (self.length / size_of::<T>()) as u64 {
            return None;
        }
        // SAFETY: in range.
        let at = unsafe { self.data.cast::<T>().add(index as usize) };
        if !at.is_aligned() {
            return None;
        }
        // SAFETY: aligned, too; atomic as the module text says.
        Some(unsafe { at.as_ref() })
    }

    /// Reads `out.len()` bytes at `offset`.
    pub fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let offset = self.check_range(offset, out.len() as u64)?;
        self.copy_out(offset, out);
        Ok(())
    }

    /// Writes `bytes` at `offset`.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check_mutable()?;
        let offset = self.check_range(offset, bytes.len() as u64)?;
        self.copy_in(offset, bytes);
        Ok(())
    }

    /// A new mutable buffer with a copy of `[offset, offset + length)`.
    pub fn clone_range(&self, offset: u64, length: u64, alignment: usize) -> Result<VmBuffer> {
        let offset = self.check_range(offset, length)?;
        let copy = VmBuffer::allocate(length as usize, alignment)?;
        // SAFETY: the copy is private, so a plain slice of it may be filled.
        let out = unsafe { std::slice::from_raw_parts_mut(copy.data.as_ptr(), copy.length) };
        self.copy_out(offset, out);
        Ok(copy)
    }

    /// Copies bytes from `source`; overlapping ranges behave as if copied through a third place.
    pub fn copy_from(&self, offset: u64, source: &VmBuffer, source_offset: u64, length: u64) -> Result<()> {
        let from = source.check_range(source_offset, length)?;
        self.check_mutable()?;
        let to = self.check_range(offset, length)?;
        if let Some(bytes) = source.as_slice() {
            self.copy_in(to, &bytes[from..from + length as usize]);
            return Ok(());
        }
        let mut scratch = [0u8; 4096];
        let (start, end) = (source.data.as_ptr() as usize + from, self.data.as_ptr() as usize + to);
        let backwards = end > start && end - start < length as usize;
        let mut done = 0usize;
        let length = length as usize;
        while done < length {
            let step = (length - done).min(scratch.len());
            let at = if backwards { length - done - step } else { done };
            source.copy_out(from + at, &mut scratch[..step]);
            self.copy_in(to + at, &scratch[..step]);
            done += step;
        }
        Ok(())
    }

    /// Whether two byte ranges are equal.
    pub fn compare(&self, offset: u64, other: &VmBuffer, other_offset: u64, length: u64) -> Result<bool> {
        let a = self.check_range(offset, length)?;
        let b = other.check_range(other_offset, length)?;
        let length = length as usize;
        if let (Some(x), Some(y)) = (self.as_slice(), other.as_slice()) {
            return Ok(x[a..a + length] == y[b..b + length]);
        }
        let (mut x, mut y) = ([0u8; 1024], [0u8; 1024]);
        let mut done = 0;
        while done < length {
            let step = (length - done).min(x.len());
            self.copy_out(a + done, &mut x[..step]);
            other.copy_out(b + done, &mut y[..step]);
            if x[..step] != y[..step] {
                return Ok(false);
            }
            done += step;
        }
        Ok(true)
    }

    fn copy_out(&self, offset: usize, out: &mut [u8]) {
        debug_assert!(offset + out.len() <= self.length);
        // SAFETY: callers checked the range.
        let source = unsafe { self.data.as_ptr().add(offset) };
        if !self.mutable {
            // SAFETY: in range; immutable bytes are never written, and `out` is a distinct borrow.
            unsafe { std::ptr::copy_nonoverlapping(source, out.as_mut_ptr(), out.len()) };
            return;
        }
        let head = source.align_offset(8).min(out.len());
        let (first, rest) = out.split_at_mut(head);
        let (words, last) = rest.as_chunks_mut::<8>();
        // SAFETY: in range by the check of the caller; atomics as the module text says; words are aligned.
        unsafe {
            for (i, byte) in first.iter_mut().enumerate() {
                *byte = AtomicU8::from_ptr(source.add(i)).load(Relaxed);
            }
            let middle = source.add(head);
            for (i, word) in words.iter_mut().enumerate() {
                *word = AtomicU64::from_ptr(middle.add(i * 8).cast()).load(Relaxed).to_ne_bytes();
            }
            let tail = middle.add(words.len() * 8);
            for (i, byte) in last.iter_mut().enumerate() {
                *byte = AtomicU8::from_ptr(tail.add(i)).load(Relaxed);
            }
        }
    }

    /// Only for mutable buffers and checked ranges.
    fn copy_in(&self, offset: usize, bytes: &[u8]) {
        debug_assert!(self.mutable && offset + bytes.len() <= self.length);
        // SAFETY: callers checked the range.
        let target = unsafe { self.data.as_ptr().add(offset) };
        let head = target.align_offset(8).min(bytes.len());
        let (first, rest) = bytes.split_at(head);
        let (words, last) = rest.as_chunks::<8>();
        // SAFETY: in range and mutable by the check of the caller; atomics as above; words are aligned.
        unsafe {
            for (i, byte) in first.iter().enumerate() {
                AtomicU8::from_ptr(target.add(i)).store(*byte, Relaxed);
            }
            let middle = target.add(head);
            for (i, word) in words.iter().enumerate() {
                AtomicU64::from_ptr(middle.add(i * 8).cast()).store(u64::from_ne_bytes(*word), Relaxed);
            }
            let tail = middle.add(words.len() * 8);
            for (i, byte) in last.iter().enumerate() {
                AtomicU8::from_ptr(tail.add(i)).store(*byte, Relaxed);
            }
        }
    }
}

/// Unaligned access at byte offsets, for module state. Out of range reads give 0 and writes nothing: callers checked.
macro_rules! at_offset {
    ($($get:ident, $set:ident: $ty:ty, $atomic:ty;)*) => {
        impl VmBuffer {
            $(
                #[inline]
                pub(crate) fn $get(&self, offset: usize) -> $ty {
                    let mut bytes = [0; size_of::<$ty>()];
                    if offset.checked_add(bytes.len()).is_some_and(|end| end <= self.length) {
                        // SAFETY: in range.
                        let at = unsafe { self.data.as_ptr().add(offset) };
                        if at.cast::<$ty>().is_aligned() {
                            // SAFETY: in range and aligned; atomic as the module text says.
                            return <$ty>::from_le(unsafe { <$atomic>::from_ptr(at.cast()) }.load(Relaxed));
                        }
                        self.copy_out(offset, &mut bytes);
                    }
                    <$ty>::from_le_bytes(bytes)
                }

                #[inline]
                pub(crate) fn $set(&self, offset: usize, value: $ty) {
                    let bytes = value.to_le_bytes();
                    if !offset.checked_add(bytes.len()).is_some_and(|end| end <= self.length) {
                        return;
                    }
                    // SAFETY: in range.
                    let at = unsafe { self.data.as_ptr().add(offset) };
                    if at.cast::<$ty>().is_aligned() {
                        // SAFETY: in range and aligned; atomic as the module text says.
                        unsafe { <$atomic>::from_ptr(at.cast()) }.store(value.to_le(), Relaxed);
                    } else {
                        self.copy_in(offset, &bytes);
                    }
                }
            )*
        }
    };
}

at_offset! {
    u32_at, set_u32_at: u32, AtomicU32;
    u64_at, set_u64_at: u64, AtomicU64;
}

macro_rules! elements {
    ($($load:ident, $store:ident, $fill:ident: $ty:ty, $atomic:ty;)*) => {
        impl VmBuffer {
            $(
                /// Reads the little-endian element `index`; the index counts elements, not bytes.
                #[inline]
                pub fn $load(&self, index: i64) -> Result<$ty> {
                    const SIZE: usize = size_of::<$ty>();
                    let offset = self.element(index, SIZE)?;
                    // SAFETY: `element` checked the range.
                    let at = unsafe { self.data.as_ptr().add(offset) };
                    if at.cast::<$ty>().is_aligned() {
                        // SAFETY: in range and aligned; atomic as the module text says.
                        return Ok(<$ty>::from_le(unsafe { <$atomic>::from_ptr(at.cast()) }.load(Relaxed)));
                    }
                    let mut bytes = [0; SIZE];
                    self.copy_out(offset, &mut bytes);
                    Ok(<$ty>::from_le_bytes(bytes))
                }

                /// Writes the little-endian element `index`; the index counts elements, not bytes.
                #[inline]
                pub fn $store(&self, index: i64, value: $ty) -> Result<()> {
                    const SIZE: usize = size_of::<$ty>();
                    self.check_mutable()?;
                    let offset = self.element(index, SIZE)?;
                    // SAFETY: `element` checked the range.
                    let at = unsafe { self.data.as_ptr().add(offset) };
                    if at.cast::<$ty>().is_aligned() {
                        // SAFETY: in range, aligned and mutable; atomic as the module text says.
                        unsafe { <$atomic>::from_ptr(at.cast()) }.store(value.to_le(), Relaxed);
                    } else {
                        self.copy_in(offset, &value.to_le_bytes());
                    }
                    Ok(())
                }

                /// Sets `length` elements from element `index` on.
                pub fn $fill(&self, index: i64, length: i64, value: $ty) -> Result<()> {
                    const SIZE: usize = size_of::<$ty>();
                    self.check_mutable()?;
                    let capacity = (self.length / SIZE) as u64;
                    let (index, length) = (index as u64, length as u64);
                    if index > capacity || length > capacity - index {
                        return Err(self.range_error(index, length, SIZE as u64));
                    }
                    let mut pattern = [0; 512];
                    for chunk in pattern.chunks_exact_mut(SIZE) {
                        chunk.copy_from_slice(&value.to_le_bytes());
                    }
                    let (mut at, mut left) = (index as usize * SIZE, length as usize * SIZE);
                    while left > 0 {
                        let step = left.min(pattern.len());
                        self.copy_in(at, &pattern[..step]);
                        at += step;
                        left -= step;
                    }
                    Ok(())
                }
            )*
        }
    };
}

elements! {
    load_u8, store_u8, fill_u8: u8, AtomicU8;
    load_u16, store_u16, fill_u16: u16, AtomicU16;
    load_u32, store_u32, fill_u32: u32, AtomicU32;
    load_u64, store_u64, fill_u64: u64, AtomicU64;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::StatusCode;

    #[test]
    fn elements_and_bounds() {
        let buffer = VmBuffer::allocate(10, 0).unwrap();
        buffer.store_u32(1, 0x01020304).unwrap();
        assert_eq!(buffer.to_vec(), [0, 0, 0, 0, 4, 3, 2, 1, 0, 0]);
        assert_eq!(buffer.load_u16(2).unwrap(), 0x0304);
        for index in [2, -1, i64::MIN, 1 << 62, i64::MAX] {
            assert_eq!(buffer.load_u32(index).unwrap_err().code(), StatusCode::OutOfRange, "{index}");
        }
        buffer.fill_u16(1, 4, 0xBEEF).unwrap();
        assert_eq!(buffer.to_vec(), [0, 0, 0xEF, 0xBE, 0xEF, 0xBE, 0xEF, 0xBE, 0xEF, 0xBE]);
        assert!(buffer.fill_u16(2, -1, 0).is_err());
        assert!(buffer.fill_u16(6, 0, 0).is_err());
        assert!(buffer.fill_u16(5, 0, 0).is_ok());
    }

    #[test]
    fn read_only_and_unaligned() {
        static BYTES: [u8; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
        let data = NonNull::from(&BYTES[1..]).cast();
        // SAFETY: static memory.
        let buffer = unsafe { VmBuffer::from_raw(data, 11, false, Arc::new(())) };
        assert_eq!(buffer.load_u32(0).unwrap(), 0x04030201);
        assert_eq!(buffer.load_u64(0).unwrap(), 0x0807060504030201);
        assert_eq!(buffer.store_u8(0, 1).unwrap_err().code(), StatusCode::PermissionDenied);
        assert_eq!(buffer.as_slice().unwrap(), &BYTES[1..]);
    }

    #[test]
    fn alignment() {
        assert!(VmBuffer::allocate(8, 3).is_err());
        for alignment in [0usize, 1, 64, 4096, MAX_ALIGNMENT] {
            for length in [8, 3 << 20] {
                let buffer = VmBuffer::allocate(length, alignment).unwrap();
                assert_eq!(buffer.as_ptr().as_ptr() as usize % alignment.max(1), 0);
                assert_eq!(buffer.store_u8(length as i64 - 1, 1).and_then(|()| buffer.load_u64(0)).unwrap() << 8, 0);
            }
        }
        assert_eq!(VmBuffer::allocate(usize::MAX, 0).err().unwrap().code(), StatusCode::ResourceExhausted);
    }
}
