//! The memory of frames.
//!
//! Frames lie behind each other in one block, each a header, its cells, and its references:
//!
//! ```text
//! | Header | cells ... | references ... | Header | cells ...
//!          ^ frame pointer                       ^ frame pointer of the callee
//! ```
//!
//! Operands count from the frame pointer. A header says how far back the caller's is, so nothing in the block is an
//! address in it, and it can grow by moving.

use std::alloc::{self, Layout};
use std::ptr::NonNull;

use crate::bytecode::{Function, Inst};
use crate::context::BytecodeInstance;
use crate::limits::Limit;
use crate::slot::Slot;
use crate::status::{Result, Status};

/// What a frame is about; lies before its cells.
#[repr(C)]
pub(super) struct Header {
    /// In the instance's module, hence as alive.
    pub function: *const Function,
    /// Alive because the machine's root refers to it, directly or through imports.
    pub instance: *const BytecodeInstance,
    /// Where the frame goes on; while a callee is active, the call itself.
    pub ip: *const Inst,
    /// Units from this frame pointer back to the caller's; 0 in the outermost frame.
    pub back: u32,
    /// Calls below this one.
    pub depth: u32,
    /// Bit n: reference n, an argument, is lent by the caller, whose frame keeps the count.
    pub lent: u64,
}

/// Bytes that operands of references and `back` count in.
pub(super) const UNIT: usize = 8;
const HEADER: usize = size_of::<Header>();
/// Bytes of the first block.
const FIRST: usize = 8 << 10;

/// Units from one frame pointer to the next: what the frame holds, and the header of its callee.
pub(crate) const fn frame_units(cells: usize, refs: usize) -> usize {
    slots_unit(cells) + refs * (size_of::<Slot>() / UNIT) + HEADER / UNIT
}

/// The operand of the first reference of a frame with so many cells.
pub(crate) const fn slots_unit(cells: usize) -> usize {
    (cells * size_of::<u32>()).div_ceil(UNIT)
}

/// The operand of reference `ordinal`.
pub(crate) const fn slot_unit(cells: usize, ordinal: usize) -> usize {
    slots_unit(cells) + ordinal * (size_of::<Slot>() / UNIT)
}

/// A block of memory for frames. It is zero at first, and never uninitialised.
pub(super) struct Stack {
    base: NonNull<u8>,
    size: usize,
}

// SAFETY: plain memory; what lies in it may go to other threads like the machine that owns it.
unsafe impl Send for Stack {}

impl Drop for Stack {
    fn drop(&mut self) {
        if self.size > 0 {
            // SAFETY: allocated with this layout.
            unsafe { alloc::dealloc(self.base.as_ptr(), layout(self.size)) }
        }
    }
}

impl Default for Stack {
    fn default() -> Stack {
        Stack { base: NonNull::<Header>::dangling().cast(), size: 0 }
    }
}

fn layout(size: usize) -> Layout {
    // SAFETY: sizes are below `isize::MAX`: they are limited before they are asked for.
    unsafe { Layout::from_size_align_unchecked(size, align_of::<Header>()) }
}

impl Stack {
    /// Bytes of the block.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The frame pointer of the outermost frame.
    pub fn first(&self) -> *mut u32 {
        self.base.as_ptr().wrapping_add(HEADER).cast()
    }

    /// Behind the last byte.
    pub fn end(&self) -> *mut u8 {
        self.base.as_ptr().wrapping_add(self.size)
    }

    /// Bytes before `fp`.
    pub fn offset(&self, fp: *mut u32) -> usize {
        fp.addr() - self.base.as_ptr().addr()
    }

    /// The frame pointer at `offset`.
    pub fn at(&self, offset: usize) -> *mut u32 {
        self.base.as_ptr().wrapping_add(offset).cast()
    }

    /// Makes the block at least `need` bytes; at most `limit`. RESOURCE_EXHAUSTED beyond it or without memory.
    pub fn grow(&mut self, need: usize, limit: usize) -> Result<()> {
        if need > limit {
            let text = format!("stack overflow: frames may take {limit} bytes");
            return Err(Status::resource_exhausted(text).with_limit(Limit::Stack));
        }
        let size = need.max(self.size * 2).max(FIRST).min(limit.max(need)).next_multiple_of(align_of::<Header>());
        // SAFETY: the layout has a non-zero size.
        let fresh = NonNull::new(unsafe { alloc::alloc_zeroed(layout(size)) })
            .ok_or_else(|| Status::resource_exhausted(format!("no memory for {size} bytes of frames")))?;
        // SAFETY: both blocks have as many bytes, and nothing in them is an address in the old one.
        unsafe { std::ptr::copy_nonoverlapping(self.base.as_ptr(), fresh.as_ptr(), self.size) };
        *self = Stack { base: fresh, size };
        Ok(())
    }
}

/// The header of the frame at `fp`.
///
/// # Safety
/// `fp` is the frame pointer of a frame.
#[inline(always)]
pub(super) unsafe fn header<'a>(fp: *mut u32) -> &'a mut Header {
    // SAFETY: the header lies before the cells, aligned.
    unsafe { &mut *fp.cast::<Header>().sub(1) }
}

/// Reference `unit` of the frame at `fp`.
///
/// # Safety
/// `fp` is the frame pointer of a frame, `unit` is one of its references.
#[inline(always)]
pub(super) unsafe fn slot<'a>(fp: *mut u32, unit: usize) -> &'a mut Slot {
    // SAFETY: the caller's.
    unsafe { &mut *fp.cast::<u64>().add(unit).cast::<Slot>() }
}

/// The frame pointer of the caller of the frame at `fp`.
///
/// # Safety
/// `fp` is the frame pointer of a frame that is not the outermost.
#[inline(always)]
pub(super) unsafe fn caller(fp: *mut u32, back: u32) -> *mut u32 {
    // SAFETY: the caller's.
    unsafe { fp.cast::<u64>().sub(back as usize).cast() }
}
