//! Lists that hold each other, or themselves: counts alone would keep them for ever.
//!
//! Lists that were ever given a list are remembered. When a context ends, and when twice as many are remembered as after
//! the last time, those that are referred to by nothing but each other are emptied.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};

use super::{Items, VmList};
use crate::refs::{self, Ref};
use crate::value::Value;

/// Lists to remember before they are looked through.
const FEW: usize = 1024;

struct Holders {
    lists: Vec<Weak<VmList>>,
    /// How many may come before the next look.
    limit: usize,
}

static HOLDERS: Mutex<Holders> = Mutex::new(Holders { lists: Vec::new(), limit: FEW });

/// Remembers `list` if `value`, which is going to be an element, is a list.
pub fn note(list: &Arc<VmList>, value: &Ref) {
    let is_list = value.as_deref().is_some_and(|object| refs::borrow::<VmList>(object).is_some());
    // The flag only saves time: a list may be remembered twice.
    if !is_list || list.is_holder.swap(true, Relaxed) {
        return;
    }
    let mut holders = HOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    holders.lists.push(Arc::downgrade(list));
    if holders.lists.len() > holders.limit {
        let garbage = holders.look_through();
        drop(holders);
        drop(garbage);
    }
}

/// Empties lists that nothing but each other refers to. Lists that are in use on any thread stay as they are.
pub fn collect() {
    let mut holders = match HOLDERS.try_lock() {
        Ok(holders) => holders,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        // Another thread is at it, or is remembering a list: the next time is early enough.
        Err(TryLockError::WouldBlock) => return,
    };
    if !holders.lists.is_empty() {
        let garbage = holders.look_through();
        // Dropping may run any code.
        drop(holders);
        drop(garbage);
    }
}

impl Holders {
    /// Forgets lists that are gone. What those that only refer to each other held is returned, for the caller to drop,
    /// with the other lists, which may be dropped elsewhere meanwhile.
    fn look_through(&mut self) -> (Vec<Items>, Vec<Arc<VmList>>) {
        let lists: Vec<Arc<VmList>> = mem::take(&mut self.lists).iter().filter_map(Weak::upgrade).collect();
        let numbers: HashMap<*const VmList, usize> = lists.iter().map(Arc::as_ptr).zip(0..).collect();
        // Counts first: a reference that another thread moves from its registers into a list after that is counted as
        // both, and the list that it moved it to as well, so that both stay.
        let mut outside: Vec<usize> = lists.iter().map(|list| Arc::strong_count(list) - 1).collect();
        let inside: Vec<Vec<usize>> = lists.iter().map(|list| list.elements_among(&numbers)).collect();
        for element in inside.iter().flatten() {
            outside[*element] = outside[*element].saturating_sub(1);
        }
        let mut reached = vec![false; lists.len()];
        let mut waiting: Vec<usize> = (0..lists.len()).filter(|at| outside[*at] > 0).collect();
        while let Some(at) = waiting.pop() {
            if !mem::replace(&mut reached[at], true) {
                waiting.extend(&inside[at]);
            }
        }
        let mut garbage = Vec::new();
        for (list, reached) in lists.iter().zip(reached) {
            if reached {
                self.lists.push(Arc::downgrade(list));
            } else {
                garbage.push(list.take_items());
            }
        }
        self.limit = FEW.max(2 * self.lists.len());
        (garbage, lists)
    }
}

impl VmList {
    /// The elements that are in `numbers`.
    fn elements_among(&self, numbers: &HashMap<*const VmList, usize>) -> Vec<usize> {
        let number = |object: &Ref| {
            let list = refs::borrow::<VmList>(object.as_deref()?)?;
            numbers.get(&std::ptr::from_ref(list)).copied()
        };
        match &*self.lock() {
            Items::None => Vec::new(),
            Items::Ref(items) => items.iter().filter_map(number).collect(),
            Items::Any(items) => {
                let value =
                    |item: &Option<Value>| if let Some(Value::Ref(object)) = item { number(object) } else { None };
                items.iter().filter_map(value).collect()
            }
        }
    }

    /// Everything that is held; the list has no elements any more.
    fn take_items(&self) -> Items {
        let mut items = self.lock();
        let empty = match &*items {
            Items::None => Items::None,
            Items::Ref(_) => Items::Ref(Vec::new()),
            Items::Any(_) => Items::Any(Vec::new()),
        };
        mem::replace(&mut *items, empty)
    }
}
