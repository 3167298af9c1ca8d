//! Lists that hold each other, or themselves: counts alone would keep them for ever.
//!
//! A context remembers the lists that its code gave a list to. When it ends, when its memory is used up, and when twice as
//! many are remembered as after the last time, those that are referred to by nothing but each other are emptied. Lists that
//! live longer than their context are looked at when the next one ends.
//!
//! The pause is that of looking at the lists of one context, and of at most [`MANY`] while its code runs: a context with
//! more of them alive is looked through only at its end or when its memory is used up. No lock is waited for: a thread
//! that is looking may be gone, in a forked process.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};

use super::VmList;
use super::items::{Items, Removed};
use crate::refs::{self, Ref, RefObject};
use crate::value::Value;

/// Lists to remember before they are looked through.
const FEW: usize = 1024;
/// The most lists that are looked through while code runs: about 0.1 s.
const MANY: usize = 32 * 1024;

/// What a context remembers.
#[derive(Default)]
pub(crate) struct Holders(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    lists: Vec<Weak<VmList>>,
    /// How many were left by the last look.
    left: usize,
}

/// Lists that were in use when their context ended.
static ORPHANS: Mutex<Noted> = Mutex::new(Noted { lists: Vec::new(), left: 0 });

/// None while another thread has it, and for ever in a process that was forked meanwhile.
fn try_lock(noted: &Mutex<Noted>) -> Option<MutexGuard<'_, Noted>> {
    match noted.try_lock() {
        Ok(noted) => Some(noted),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// As [`Holders::note`], of a list that no context gave anything to: looked at when the next context ends.
pub(super) fn note_orphan(list: &Arc<VmList>, value: &Ref) {
    if is_list(value)
        && !list.is_holder.swap(true, Relaxed)
        && let Some(mut orphans) = try_lock(&ORPHANS).filter(|orphans| orphans.lists.len() < MANY)
    {
        orphans.lists.push(Arc::downgrade(list));
    }
}

fn is_list(value: &Ref) -> bool {
    value.as_deref().is_some_and(|object| refs::borrow::<VmList>(object).is_some())
}

impl Holders {
    /// Remembers `list` if `value`, which is going to be an element, is a list.
    pub fn note(&self, list: &Arc<VmList>, value: &Ref) {
        // The flag only saves time: a list may be remembered twice.
        if !is_list(value) || list.is_holder.swap(true, Relaxed) {
            return;
        }
        let Some(mut noted) = try_lock(&self.0) else {
            // The next element is early enough.
            list.is_holder.store(false, Relaxed);
            return;
        };
        noted.lists.push(Arc::downgrade(list));
        let count = noted.lists.len();
        if count > FEW.max(2 * noted.left) && count <= MANY {
            let garbage = noted.look_through();
            // Dropping may run any code.
            drop(noted);
            drop(garbage);
        }
    }

    /// Empties lists that nothing but each other refers to. Lists that are in use on any thread stay as they are.
    pub fn collect(&self) {
        if let Some(mut noted) = try_lock(&self.0) {
            let garbage = noted.look_through();
            drop(noted);
            drop(garbage);
        }
    }

    /// As `collect`, when the context ends; what stays is remembered for the end of the next one.
    pub fn end(&self) {
        let Some(mut noted) = try_lock(&self.0) else { return };
        let mut orphans = try_lock(&ORPHANS);
        if let Some(orphans) = &mut orphans {
            noted.lists.append(&mut orphans.lists);
        }
        if noted.lists.is_empty() {
            return;
        }
        let garbage = noted.look_through();
        if let Some(orphans) = &mut orphans
            && noted.lists.len() <= MANY
        {
            orphans.lists = mem::take(&mut noted.lists);
        }
        drop((orphans, noted));
        drop(garbage);
    }
}

impl Noted {
    /// Forgets lists that are gone. What those that only refer to each other held is returned, for the caller to drop,
    /// with the other lists, which may be dropped elsewhere meanwhile.
    fn look_through(&mut self) -> (Vec<Removed>, Vec<Arc<VmList>>) {
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
                garbage.push(list.items.take_all());
            }
        }
        self.left = self.lists.len();
        (garbage, lists)
    }
}

impl VmList {
    /// The elements that are in `numbers`.
    fn elements_among(&self, numbers: &HashMap<*const VmList, usize>) -> Vec<usize> {
        let number = |object: &Arc<dyn RefObject>| {
            let list = refs::borrow::<VmList>(&**object)?;
            numbers.get(&std::ptr::from_ref(list)).copied()
        };
        let mut found = Vec::new();
        match &self.items {
            Items::None => {}
            Items::Ref(items) => items.each_part(|part| found.extend(part.iter().flatten().filter_map(number))),
            Items::Any(items) => items.each_part(|part| {
                let value = |item| if let &Value::Ref(Some(ref object)) = item { number(object) } else { None };
                found.extend(part.iter().flatten().filter_map(value));
            }),
        }
        found
    }
}
