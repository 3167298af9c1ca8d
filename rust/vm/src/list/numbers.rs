//! Numbers of one width in memory that may be read and written while it grows, without a lock.
//!
//! A list grows into a new block and keeps the old ones until it is dropped, so a pointer that another thread has just
//! loaded stays good; blocks double, so the old ones together are no larger than the new one. A program that races with
//! itself may lose numbers that it stores while the list grows; it never reaches foreign memory, because the length is
//! published after the block that has room for it and no block is smaller than the one before.

use std::alloc::{self, Layout};
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::{GoOn, Pause, SLICE, no_memory};
use crate::quota::Charge;
use crate::status::Result;
use crate::types::ValueType;

/// Memory for a number of elements.
struct Block {
    data: NonNull<u8>,
    layout: Layout,
    capacity: usize,
}

// SAFETY: plain memory, only accessed atomically.
unsafe impl Send for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout and released once.
        unsafe { alloc::dealloc(self.data.as_ptr(), self.layout) }
    }
}

/// The numbers of a list; none and never any when the list holds references.
pub(crate) struct Numbers {
    kind: Option<ValueType>,
    length: AtomicUsize,
    data: AtomicPtr<u8>,
    memory: Mutex<Memory>,
}

/// Where the numbers have been.
#[derive(Default)]
struct Memory {
    /// The last one is in use.
    blocks: Vec<Block>,
    /// Elements that may not be zero: those of the longest that the list was.
    written: usize,
    /// What the blocks take from the quota of the context that made the list.
    charge: Option<Charge>,
}

/// Bytes of an element.
fn size(kind: ValueType) -> usize {
    match kind {
        ValueType::I8 => 1,
        ValueType::I16 => 2,
        ValueType::I32 | ValueType::F32 => 4,
        ValueType::I64 | ValueType::F64 => 8,
    }
}

macro_rules! elements {
    ($($at:ident: $atomic:ty;)*) => {
        $(
            /// Element `index` of a list whose numbers have this width. Callers compare the kind.
            ///
            /// # Safety
            /// The kind's width must be that of the atomic.
            #[inline(always)]
            unsafe fn $at(&self, index: usize) -> Option<&$atomic> {
                // The length first: whatever block is read after it has room for so many.
                if index >= self.length.load(Acquire) {
                    return None;
                }
                let data = self.data.load(Acquire).cast::<$atomic>();
                // SAFETY: there is a block, as the length says; inside it, aligned like every block, alive as long as the
                // list.
                unsafe {
                    std::hint::assert_unchecked(!data.is_null());
                    Some(&*data.add(index))
                }
            }
        )*
    };
}

impl Numbers {
    pub fn new(kind: Option<ValueType>) -> Numbers {
        Numbers { kind, length: AtomicUsize::new(0), data: AtomicPtr::new(ptr::null_mut()), memory: Mutex::default() }
    }

    /// Takes what memory there will be from the quota of `charge`.
    pub fn set_charge(&mut self, charge: Option<Charge>) {
        self.memory.get_mut().unwrap_or_else(PoisonError::into_inner).charge = charge;
    }

    #[inline(always)]
    pub fn kind(&self) -> Option<ValueType> {
        self.kind
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.length.load(Acquire)
    }

    elements! {
        at8: AtomicU8;
        at16: AtomicU16;
        at32: AtomicU32;
        at64: AtomicU64;
    }

    /// The bits of element `index`, when elements are of `kind` and there is such an element.
    #[inline(always)]
    pub fn narrow(&self, kind: ValueType, index: usize) -> Option<&AtomicU32> {
        debug_assert_eq!(size(kind), 4);
        // SAFETY: the kind has 4 bytes.
        if self.kind == Some(kind) { unsafe { self.at32(index) } } else { None }
    }

    /// As `narrow`, for kinds of 8 bytes.
    #[inline(always)]
    pub fn wide(&self, kind: ValueType, index: usize) -> Option<&AtomicU64> {
        debug_assert_eq!(size(kind), 8);
        // SAFETY: the kind has 8 bytes.
        if self.kind == Some(kind) { unsafe { self.at64(index) } } else { None }
    }

    /// The bits of element `index`, zero-extended.
    pub fn load(&self, index: usize) -> Option<u64> {
        // SAFETY: each width is that of the kind.
        unsafe {
            match size(self.kind?) {
                1 => self.at8(index).map(|at| at.load(Relaxed).into()),
                2 => self.at16(index).map(|at| at.load(Relaxed).into()),
                4 => self.at32(index).map(|at| at.load(Relaxed).into()),
                _ => self.at64(index).map(|at| at.load(Relaxed)),
            }
        }
    }

    /// Sets the bits of element `index`; None when there is none.
    pub fn store(&self, index: usize, bits: u64) -> Option<()> {
        // SAFETY: each width is that of the kind.
        unsafe {
            match size(self.kind?) {
                1 => self.at8(index)?.store(bits as u8, Relaxed),
                2 => self.at16(index)?.store(bits as u16, Relaxed),
                4 => self.at32(index)?.store(bits as u32, Relaxed),
                _ => self.at64(index)?.store(bits, Relaxed),
            }
        }
        Some(())
    }

    /// Begins to change length or room; `go_on` is asked when another thread has to be waited for.
    fn begin(&self, go_on: GoOn<'_>) -> Result<MutexGuard<'_, Memory>> {
        match self.memory.try_lock() {
            Ok(memory) => Ok(memory),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                go_on(Pause::Wait)?;
                Ok(self.memory.lock().unwrap_or_else(PoisonError::into_inner))
            }
        }
    }

    /// Makes room for `capacity` elements, unless `go_on` says no.
    pub fn reserve(&self, capacity: usize, go_on: GoOn<'_>) -> Result<()> {
        self.grow(&mut *self.begin(go_on)?, capacity, go_on)
    }

    /// Sets the number of elements; new ones are zero. When `go_on` says no, nothing changes.
    pub fn resize(&self, length: usize, go_on: GoOn<'_>) -> Result<()> {
        if self.kind.is_none() {
            return Ok(());
        }
        let mut memory = self.begin(go_on)?;
        self.grow(&mut memory, length, go_on)?;
        // What has been behind the end of the list becomes zero before it is inside.
        let (mut at, end) = (self.len(), length.min(memory.written));
        let whole = self.view(self.data.load(Relaxed), end);
        while at < end {
            let next = (at + SLICE).min(end);
            for index in at..next {
                whole.store(index, 0);
            }
            at = next;
            if at < end {
                go_on(Pause::Slice)?;
            }
        }
        self.length.store(length, Release);
        memory.written = memory.written.max(length);
        Ok(())
    }

    /// The first `length` elements of a block, of the kind of these numbers. It must not outlive the block.
    fn view(&self, data: *mut u8, length: usize) -> Numbers {
        Numbers { length: AtomicUsize::new(length), data: AtomicPtr::new(data), ..Numbers::new(self.kind) }
    }

    fn grow(&self, memory: &mut Memory, capacity: usize, go_on: GoOn<'_>) -> Result<()> {
        let have = memory.blocks.last().map_or(0, |block| block.capacity);
        let Some(kind) = self.kind else { return Ok(()) };
        if capacity <= have {
            return Ok(());
        }
        let capacity = capacity.max(have * 2).max(4);
        let layout = Layout::from_size_align(capacity * size(kind), 8).map_err(|_| no_memory(capacity))?;
        let more = memory.charge.as_ref().map(|charge| charge.more(layout.size())).transpose()?;
        // SAFETY: the layout has a non-zero size.
        let data = NonNull::new(unsafe { alloc::alloc_zeroed(layout) }).ok_or_else(|| no_memory(capacity))?;
        let block = Block { data, layout, capacity };
        let fresh = self.view(data.as_ptr(), self.len());
        for index in 0..self.len() {
            if index > 0 && index % SLICE == 0 {
                go_on(Pause::Slice)?;
            }
            fresh.store(index, self.load(index).unwrap_or(0));
        }
        if let (Some(charge), Some(more)) = (&mut memory.charge, more) {
            charge.join(more);
        }
        memory.blocks.push(block);
        memory.written = self.len();
        self.data.store(data.as_ptr(), Release);
        Ok(())
    }
}
