//! What lists that are not of numbers hold, and how operations on many elements are given up.

use crate::refs::Ref;
use crate::status::Result;
use crate::value::Value;

/// Elements between two looks at whether to go on.
pub(super) const SLICE: usize = 1 << 16;

/// Whether to go on with an operation on many elements. It is asked while the list is locked.
pub(crate) type GoOn<'a> = &'a dyn Fn() -> Result<()>;

/// What a list that is not of numbers holds.
pub(super) enum Items {
    /// Nothing: the list is of numbers.
    None,
    Ref(Vec<Ref>),
    /// `None` is a slot that was never set.
    Any(Vec<Option<Value>>),
}

impl Items {
    pub fn len(&self) -> usize {
        match self {
            Items::None => 0,
            Items::Ref(items) => items.len(),
            Items::Any(items) => items.len(),
        }
    }
}

/// Gives `items`, which have the room, `length` elements: those that they had beyond.
pub(super) fn resize_items<T: Clone>(
    items: &mut Vec<Option<T>>,
    length: usize,
    go_on: GoOn<'_>,
) -> Result<Vec<Option<T>>> {
    let old = items.len();
    let dropped = items.split_off(length.min(old));
    while items.len() < length {
        items.resize((items.len() + SLICE).min(length), None);
        if items.len() < length
            && let Err(status) = go_on()
        {
            items.truncate(old);
            return Err(status);
        }
    }
    Ok(dropped)
}
