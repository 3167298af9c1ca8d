//! A reference as frames hold it: a pointer to the object itself, with the VM's own types marked in its low bits.
//!
//! Buffers and lists are recognised by two bits instead of a call, and their fields are at constant distances. A slot
//! owns a count like an `Arc`, but it is plain memory: who drops it says so.

use std::any::{Any, TypeId};
use std::ptr;
use std::sync::Arc;

use crate::buffer::VmBuffer;
use crate::list::VmList;
use crate::refs::{Ref, RefObject};

/// Bits of an address that say what it points to. Counted objects lie behind two counters, so these bits are zero.
const KIND: usize = BUFFER | LIST;
const BUFFER: usize = 1;
const LIST: usize = 2;

/// A counted reference or null.
#[repr(transparent)]
pub(crate) struct Slot(*const dyn RefObject);

impl Slot {
    /// The null reference.
    pub const NULL: Slot = Slot(ptr::null::<VmList>());

    /// Takes over the count of `value`.
    #[inline]
    pub fn new(value: Ref) -> Slot {
        let Some(object) = value else { return Slot::NULL };
        let id = (object.as_ref() as &dyn Any).type_id();
        let mark = match id {
            _ if id == TypeId::of::<VmBuffer>() => BUFFER,
            _ if id == TypeId::of::<VmList>() => LIST,
            _ => 0,
        };
        let object = Arc::into_raw(object);
        assert_eq!(object.addr() & KIND, 0, "counted objects are aligned like their counters");
        Slot(object.wrapping_byte_add(mark))
    }

    /// Whether there is no object.
    #[inline(always)]
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    #[inline(always)]
    fn object(&self) -> *const dyn RefObject {
        self.0.wrapping_byte_sub(self.0.addr() & KIND)
    }

    /// The object.
    #[inline]
    pub fn get(&self) -> Option<&dyn RefObject> {
        // SAFETY: the slot owns a count, or is lent by one that does; so the object is alive.
        (!self.is_null()).then(|| unsafe { &*self.object() })
    }

    /// The object as a `T`, by pointer so that a count can be taken from it.
    #[inline]
    pub fn downcast<T: RefObject>(&self) -> Option<*const T> {
        let object = self.get()?;
        (object as &dyn Any).is::<T>().then(|| self.object().cast())
    }

    /// The buffer, when it is one.
    #[inline(always)]
    pub fn buffer(&self) -> Option<&VmBuffer> {
        let marked = self.0.cast::<VmBuffer>();
        // SAFETY: only buffers are marked so; the object is alive.
        (marked.addr() & BUFFER != 0).then(|| unsafe { &*marked.wrapping_byte_sub(BUFFER) })
    }

    /// The list, when it is one.
    #[inline(always)]
    pub fn list(&self) -> Option<&VmList> {
        let marked = self.0.cast::<VmList>();
        // SAFETY: only lists are marked so; the object is alive.
        (marked.addr() & LIST != 0).then(|| unsafe { &*marked.wrapping_byte_sub(LIST) })
    }

    /// Whether both refer to one object (or both are null).
    #[inline(always)]
    pub fn same(&self, other: &Slot) -> bool {
        self.0.addr() == other.0.addr()
    }

    /// The reference; the slot is null afterwards.
    #[inline]
    pub fn take(&mut self) -> Ref {
        std::mem::replace(self, Slot::NULL).into_ref()
    }

    /// The reference with its count.
    #[inline]
    pub fn into_ref(self) -> Ref {
        // SAFETY: made by `Arc::into_raw` in `new`; the count goes over to the `Arc`.
        (!self.is_null()).then(|| unsafe { Arc::from_raw(self.object()) })
    }

    /// Counts one more.
    #[inline]
    pub fn retain(&self) {
        if !self.is_null() {
            // SAFETY: made by `Arc::into_raw`; the object is alive.
            unsafe { Arc::increment_strong_count(self.object()) }
        }
    }

    /// Another reference to the same object.
    #[inline]
    pub fn duplicate(&self) -> Slot {
        self.retain();
        Slot(self.0)
    }

    /// The same pointer without a count, for as long as this slot stays as it is.
    #[inline(always)]
    pub fn lend(&self) -> Slot {
        Slot(self.0)
    }

    /// A counted reference of the kind that everything else uses.
    #[inline]
    pub fn to_ref(&self) -> Ref {
        self.duplicate().into_ref()
    }

    /// Releases the count.
    #[inline]
    pub fn clear(&mut self) {
        if !self.is_null() {
            drop(self.take());
        }
    }

    /// Replaces the reference and releases the old one.
    #[inline]
    pub fn set(&mut self, value: Slot) {
        let old = std::mem::replace(self, value);
        if !old.is_null() {
            drop(old.into_ref());
        }
    }
}
