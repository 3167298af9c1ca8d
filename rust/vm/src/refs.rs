//! Counted references: what ref registers, lists and arguments hold.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use crate::status::{Result, Status};

/// An object that VM code can refer to.
pub trait RefObject: Any + Send + Sync {
    /// The registered name without `!`, such as `hal.buffer`.
    fn type_name(&self) -> &'static str;
}

impl fmt::Debug for dyn RefObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.type_name())
    }
}

/// A reference, or null.
pub type Ref = Option<Arc<dyn RefObject>>;

/// A borrowed object of which a counted reference can be made.
pub struct Shared<'a, T> {
    /// Points into an `Arc` that is alive during `'a`.
    object: *const T,
    borrowed: PhantomData<&'a T>,
}

impl<T> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<'_, T> {}

impl<T> Deref for Shared<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.object()
    }
}

impl<'a, T> Shared<'a, T> {
    /// # Safety
    /// `object` must come from `Arc::into_raw`, and the count that it stands for must stay during `'a`.
    #[inline]
    pub(crate) unsafe fn new(object: *const T) -> Shared<'a, T> {
        Shared { object, borrowed: PhantomData }
    }

    /// The object, for as long as the reference is borrowed.
    #[inline]
    pub fn object(self) -> &'a T {
        // SAFETY: alive during 'a, as promised to `new`.
        unsafe { &*self.object }
    }
}

impl<T: RefObject> Shared<'_, T> {
    /// A counted reference.
    #[inline]
    pub fn to_arc(self) -> Arc<T> {
        // SAFETY: the pointer is that of an `Arc<T>` which is alive, as promised to `new`.
        unsafe {
            Arc::increment_strong_count(self.object);
            Arc::from_raw(self.object)
        }
    }

    /// A counted reference of any type.
    pub fn to_ref(self) -> Ref {
        Some(self.to_arc())
    }
}

/// Borrows the object behind `value` as a `T`; INVALID_ARGUMENT when null or of another type.
pub fn downcast_ref<T: RefObject>(value: &Ref) -> Result<&T> {
    match value {
        None => Err(Status::invalid_argument("ref is null")),
        Some(object) => borrow::<T>(object.as_ref()).ok_or_else(|| mismatch(object.as_ref())),
    }
}

/// A new reference to the object behind `value` as a `T`; INVALID_ARGUMENT when null or of another type.
pub fn downcast<T: RefObject>(value: &Ref) -> Result<Arc<T>> {
    opt_downcast(value)?.ok_or_else(|| Status::invalid_argument("ref is null"))
}

/// As [`downcast`], null gives `None`.
pub fn opt_downcast<T: RefObject>(value: &Ref) -> Result<Option<Arc<T>>> {
    let Some(object) = value else { return Ok(None) };
    if borrow::<T>(object.as_ref()).is_none() {
        return Err(mismatch(object.as_ref()));
    }
    // SAFETY: the pointer to a counted `T`, which is the pointer that an `Arc<T>` has.
    Ok(Some(unsafe { Arc::from_raw(Arc::into_raw(object.clone()).cast::<T>()) }))
}

#[inline]
pub(crate) fn borrow<T: RefObject>(object: &dyn RefObject) -> Option<&T> {
    (object as &dyn Any).downcast_ref::<T>()
}

/// Whether both refer to one object (or both are null).
#[inline]
pub fn same(a: &Ref, b: &Ref) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => std::ptr::addr_eq(Arc::as_ptr(a), Arc::as_ptr(b)),
        _ => false,
    }
}

#[cold]
pub(crate) fn mismatch(object: &dyn RefObject) -> Status {
    Status::invalid_argument(format!("ref type mismatch; have {}", object.type_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct A;
    impl RefObject for A {
        fn type_name(&self) -> &'static str {
            "test.a"
        }
    }
    struct B;
    impl RefObject for B {
        fn type_name(&self) -> &'static str {
            "test.b"
        }
    }

    #[test]
    fn downcasts() {
        let a: Ref = Some(Arc::new(A));
        assert!(downcast::<A>(&a).is_ok());
        assert!(downcast_ref::<A>(&a).is_ok());
        assert_eq!(
            downcast::<B>(&a).err().map(|e| e.to_string()).as_deref(),
            Some("INVALID_ARGUMENT; ref type mismatch; have test.a")
        );
        assert!(downcast::<A>(&None).is_err());
        assert!(matches!(opt_downcast::<A>(&None), Ok(None)));
        assert!(same(&a, &a.clone()));
        assert!(!same(&a, &None));
    }
}
