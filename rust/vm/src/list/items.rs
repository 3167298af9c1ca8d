//! What lists that are not of numbers hold, and how operations on many elements are given up.

use std::sync::Arc;

use super::objects::{Gone, Objects};
use crate::quota::Charge;
use crate::refs::{Ref, RefObject};
use crate::status::Result;
use crate::types::TypeDef;
use crate::value::Value;

/// Elements between two looks at whether to go on.
pub(super) const SLICE: usize = 1 << 16;

/// Why an operation on a list asks whether to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Another thread changes the number of elements, which is to be waited for.
    Wait,
    /// A slice of the elements has been dealt with.
    Slice,
}

/// Whether to go on with an operation on many elements. Nobody waits for the elements meanwhile, but for their number.
pub(crate) type GoOn<'a> = &'a dyn Fn(Pause) -> Result<()>;

/// What a list that is not of numbers holds.
pub(super) enum Items {
    /// Nothing: the list is of numbers.
    None,
    Ref(Objects<Arc<dyn RefObject>>),
    /// `None` is a slot that was never set.
    Any(Objects<Value>),
}

/// What a list has held.
pub(super) enum Removed {
    Nothing,
    Ref { _gone: Gone<Arc<dyn RefObject>> },
    Any { _gone: Gone<Value> },
}

impl Items {
    pub fn new(element: TypeDef) -> Items {
        match element {
            TypeDef::Any => Items::Any(Objects::new()),
            TypeDef::Ref(_) => Items::Ref(Objects::new()),
            TypeDef::Value(_) => Items::None,
        }
    }

    pub fn set_charge(&mut self, charge: Option<Charge>) {
        match self {
            Items::None => {}
            Items::Ref(items) => items.set_charge(charge),
            Items::Any(items) => items.set_charge(charge),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Items::None => 0,
            Items::Ref(items) => items.lock().len(),
            Items::Any(items) => items.lock().len(),
        }
    }

    pub fn reserve(&self, capacity: usize, go_on: GoOn<'_>) -> Result<()> {
        match self {
            Items::None => Ok(()),
            Items::Ref(items) => items.reserve(capacity, go_on),
            Items::Any(items) => items.reserve(capacity, go_on),
        }
    }

    /// Drops what is behind `length`, which may run any code.
    pub fn resize(&self, length: usize, go_on: GoOn<'_>) -> Result<()> {
        match self {
            Items::None => {}
            Items::Ref(items) => items.drop_and_keep_room(items.resize(length, go_on)?),
            Items::Any(items) => items.drop_and_keep_room(items.resize(length, go_on)?),
        }
        Ok(())
    }

    /// Everything that is held, unless another thread is changing how much that is.
    pub fn take_all(&self) -> Removed {
        match self {
            Items::None => Removed::Nothing,
            Items::Ref(items) => Removed::Ref { _gone: items.take_all() },
            Items::Any(items) => Removed::Any { _gone: items.take_all() },
        }
    }

    /// The references in a list that is gone.
    pub fn into_references(self) -> Vec<Ref> {
        match self {
            Items::None => Vec::new(),
            Items::Ref(items) => items.into_elements().map(Some).collect(),
            Items::Any(items) => items
                .into_elements()
                .filter_map(|item| if let Value::Ref(Some(item)) = item { Some(Some(item)) } else { None })
                .collect(),
        }
    }
}
