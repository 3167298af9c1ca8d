//! `vm.list`: a growable list of numbers, of references, or of anything.

mod cycles;
mod items;
mod numbers;

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use self::cycles::Holders;
use self::items::{GoOn, Items, SLICE, resize_items};
pub(crate) use self::numbers::Numbers;
use crate::quota::{Charge, Quota};
use crate::refs::{Ref, RefObject};
use crate::status::{Result, Status};
use crate::types::{TypeDef, ValueType};
use crate::value::Value;

/// A number on its way into or out of a list.
#[derive(Clone, Copy)]
enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    fn int(self) -> i64 {
        match self {
            Number::Int(v) => v,
            Number::Float(v) => v as i64,
        }
    }

    fn float(self) -> f64 {
        match self {
            Number::Int(v) => v as f64,
            Number::Float(v) => v,
        }
    }

    /// From the bits of an element.
    fn read(kind: ValueType, bits: u64) -> Number {
        match kind {
            ValueType::I8 => Number::Int((bits as i8).into()),
            ValueType::I16 => Number::Int((bits as i16).into()),
            ValueType::I32 => Number::Int((bits as i32).into()),
            ValueType::I64 => Number::Int(bits as i64),
            ValueType::F32 => Number::Float(f32::from_bits(bits as u32).into()),
            ValueType::F64 => Number::Float(f64::from_bits(bits)),
        }
    }

    /// To the bits of an element; narrow integers keep their low bits.
    fn bits(self, kind: ValueType) -> u64 {
        match kind {
            ValueType::I8 | ValueType::I16 | ValueType::I32 | ValueType::I64 => self.int() as u64,
            ValueType::F32 => (self.float() as f32).to_bits().into(),
            ValueType::F64 => self.float().to_bits(),
        }
    }
}

/// Longest list. A module can ask for more with one instruction, and every element is written when a list grows.
pub(crate) const MAX_LENGTH: usize = 1 << 26;

/// A list with a fixed element type. Every operation on one element is atomic.
pub struct VmList {
    element: TypeDef,
    numbers: Numbers,
    items: Mutex<Items>,
    /// Whether it was ever given a list, and is remembered for that.
    is_holder: AtomicBool,
    /// What the items take from the quota of the context that made the list.
    charge: Mutex<Option<Charge>>,
}

thread_local! {
    /// References of lists being dropped on this thread, while one of them is; else none.
    static DROPPING: RefCell<Option<Vec<Ref>>> = const { RefCell::new(None) };
}

impl Drop for VmList {
    /// Lists in lists in lists can be deeper than the stack, so those inside wait until this one is gone.
    fn drop(&mut self) {
        let mut inside: Vec<Ref> =
            match std::mem::replace(self.items.get_mut().unwrap_or_else(PoisonError::into_inner), Items::None) {
                Items::None => return,
                Items::Ref(items) => items,
                Items::Any(items) => items
                    .into_iter()
                    .filter_map(|item| if let Some(Value::Ref(item)) = item { Some(item) } else { None })
                    .collect(),
            };
        let outermost = DROPPING.try_with(|dropping| match &mut *dropping.borrow_mut() {
            Some(waiting) => {
                waiting.append(&mut inside);
                false
            }
            none => {
                *none = Some(std::mem::take(&mut inside));
                true
            }
        });
        // A thread that is ending has no such list any more; then what is inside is dropped here and now.
        if outermost == Ok(true) {
            let _ended = Ended;
            let next = || DROPPING.with_borrow_mut(|dropping| dropping.as_mut().and_then(Vec::pop));
            while let Some(item) = next() {
                drop(item);
            }
        }
    }
}

/// Marks the end of a list's drop, also when something in it panics.
struct Ended;

impl Drop for Ended {
    fn drop(&mut self) {
        DROPPING.set(None);
    }
}

impl RefObject for VmList {
    fn type_name(&self) -> &'static str {
        "vm.list"
    }
}

macro_rules! elements {
    ($($get:ident, $set:ident: $ty:ty, $kind:ident, $at:ident, |$bits:ident| $from:expr, |$value:ident| $to:expr,
       $number:ident as $carried:ty, $take:ident;)*) => {
        $(
            #[doc = concat!("Element `index` as an ", stringify!($ty), ".")]
            #[inline]
            pub fn $get(&self, index: i64) -> Result<$ty> {
                match self.numbers.$at(ValueType::$kind, index as usize) {
                    Some(at) => {
                        let $bits = at.load(Relaxed);
                        Ok($from)
                    }
                    None => self.number(index).map(|number| number.$take() as $ty),
                }
            }

            #[doc = concat!("Stores an ", stringify!($ty), ", converted to the element type.")]
            #[inline]
            pub fn $set(&self, index: i64, $value: $ty) -> Result<()> {
                match self.numbers.$at(ValueType::$kind, index as usize) {
                    Some(at) => {
                        at.store($to, Relaxed);
                        Ok(())
                    }
                    None => self.set_number(index, Number::$number($value as $carried), Value::$kind($value)),
                }
            }
        )*
    };
}

impl VmList {
    /// An empty list of `element`s.
    pub fn new(element: TypeDef) -> VmList {
        let (kind, items) = match element {
            TypeDef::Any => (None, Items::Any(Vec::new())),
            TypeDef::Ref(_) => (None, Items::Ref(Vec::new())),
            TypeDef::Value(kind) => (Some(kind), Items::None),
        };
        VmList {
            element,
            numbers: Numbers::new(kind),
            items: Mutex::new(items),
            is_holder: AtomicBool::new(false),
            charge: Mutex::default(),
        }
    }

    /// As `new`; its memory is taken from `quota`.
    pub fn charged(element: TypeDef, quota: Option<&Arc<Quota>>) -> Result<VmList> {
        let mut list = VmList::new(element);
        if let Some(quota) = quota {
            let charge = Some(Charge::new(quota, size_of::<VmList>())?);
            match list.numbers.kind() {
                Some(_) => list.numbers.set_charge(charge),
                None => list.charge = Mutex::new(charge),
            }
        }
        Ok(list)
    }

    /// The element type.
    pub fn element(&self) -> TypeDef {
        self.element
    }

    /// The numbers, without conversion.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    fn lock(&self) -> MutexGuard<'_, Items> {
        // No operation leaves the items half-changed, so a poisoned lock is as good as any.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        if self.numbers.kind().is_some() { self.numbers.len() } else { self.lock().len() }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for `capacity` elements. RESOURCE_EXHAUSTED without memory or beyond 2^26.
    pub fn reserve(&self, capacity: usize) -> Result<()> {
        self.reserve_until(capacity, &|| Ok(()))
    }

    /// As `reserve`; with an error of `go_on` there is no more room than before.
    pub(crate) fn reserve_until(&self, capacity: usize, go_on: GoOn<'_>) -> Result<()> {
        self.make_room_in(&mut self.lock(), capacity, go_on)
    }

    fn make_room_in(&self, items: &mut Items, capacity: usize, go_on: GoOn<'_>) -> Result<()> {
        if capacity > MAX_LENGTH {
            return Err(no_memory(capacity));
        }
        match items {
            Items::None => self.numbers.reserve(capacity, go_on),
            Items::Ref(items) => self.make_room(items, capacity),
            Items::Any(items) => self.make_room(items, capacity),
        }
    }

    fn make_room<T>(&self, items: &mut Vec<T>, capacity: usize) -> Result<()> {
        if capacity <= items.capacity() {
            return Ok(());
        }
        let capacity = capacity.max(items.capacity() * 2).max(4);
        let mut charge = self.charge.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = (capacity - items.capacity()) * size_of::<T>();
        let more = charge.as_ref().map(|charge| charge.more(bytes)).transpose()?;
        items.try_reserve_exact(capacity - items.len()).map_err(|_| no_memory(capacity))?;
        if let (Some(charge), Some(more)) = (&mut *charge, more) {
            charge.join(more);
        }
        Ok(())
    }

    /// Sets the number of elements; new ones are zero, null or unset. Threads that do so at once do it one after the other.
    pub fn resize(&self, length: usize) -> Result<()> {
        self.resize_until(length, &|| Ok(()))
    }

    /// As `resize`; with an error of `go_on` the list is as it was.
    pub(crate) fn resize_until(&self, length: usize, go_on: GoOn<'_>) -> Result<()> {
        let mut guard = self.lock();
        self.make_room_in(&mut guard, length, go_on)?;
        // Dropped references may run any code when released, so they leave the lock first.
        let (mut dropped, mut dropped_any) = (Vec::new(), Vec::new());
        match &mut *guard {
            Items::None => self.numbers.resize(length, go_on)?,
            Items::Ref(items) => dropped = resize_items(items, length, go_on)?,
            Items::Any(items) => dropped_any = resize_items(items, length, go_on)?,
        }
        drop(guard);
        drop((dropped, dropped_any));
        Ok(())
    }

    /// Element `index` as it is; an unset element of a list of anything gives the null reference.
    pub fn get(&self, index: usize) -> Result<Value> {
        if let Some(kind) = self.numbers.kind() {
            return Ok(match (kind, self.number(index as i64)?) {
                (ValueType::I64, number) => Value::I64(number.int()),
                (ValueType::F32, number) => Value::F32(number.float() as f32),
                (ValueType::F64, number) => Value::F64(number.float()),
                (_, number) => Value::I32(number.int() as i32),
            });
        }
        let items = self.lock();
        let at = check(index as i64, items.len())?;
        Ok(match &*items {
            Items::None => Value::NULL,
            Items::Ref(v) => Value::Ref(v[at].clone()),
            Items::Any(v) => v[at].clone().unwrap_or(Value::NULL),
        })
    }

    /// Sets element `index`; numbers are converted to the element type.
    pub fn set(&self, index: usize, value: Value) -> Result<()> {
        let index = index as i64;
        match value {
            Value::I32(v) => self.set_i32(index, v),
            Value::I64(v) => self.set_i64(index, v),
            Value::F32(v) => self.set_f32(index, v),
            Value::F64(v) => self.set_f64(index, v),
            Value::Ref(v) => self.set_ref(index, v),
        }
    }

    /// Appends `value`.
    pub fn push(&self, value: Value) -> Result<()> {
        let index = self.len();
        self.resize(index + 1)?;
        self.set(index, value)
    }

    /// As `push`, for values that may be lists: those that come to hold each other do not stay for ever.
    pub fn push_shared(self: &Arc<Self>, value: Value) -> Result<()> {
        if let Value::Ref(reference) = &value {
            cycles::note_orphan(self, reference);
        }
        self.push(value)
    }

    fn number(&self, index: i64) -> Result<Number> {
        if let Some(kind) = self.numbers.kind() {
            let bits = usize::try_from(index).ok().and_then(|at| self.numbers.load(at));
            return bits.map(|bits| Number::read(kind, bits)).ok_or_else(|| outside(index, self.numbers.len()));
        }
        let items = self.lock();
        let at = check(index, items.len())?;
        let Items::Any(v) = &*items else { return Err(not_a_value("the list holds references")) };
        Ok(match &v[at] {
            Some(Value::I32(v)) => Number::Int((*v).into()),
            Some(Value::I64(v)) => Number::Int(*v),
            Some(Value::F32(v)) => Number::Float((*v).into()),
            Some(Value::F64(v)) => Number::Float(*v),
            Some(Value::Ref(_)) => return Err(not_a_value("the element is a reference")),
            None => return Err(not_a_value("the element was never set")),
        })
    }

    fn set_number(&self, index: i64, number: Number, value: Value) -> Result<()> {
        if let Some(kind) = self.numbers.kind() {
            let stored = usize::try_from(index).ok().and_then(|at| self.numbers.store(at, number.bits(kind)));
            return stored.ok_or_else(|| outside(index, self.numbers.len()));
        }
        let mut items = self.lock();
        let at = check(index, items.len())?;
        let Items::Any(v) = &mut *items else {
            return Err(Status::failed_precondition("list holds references, a number cannot be stored"));
        };
        let replaced = v[at].replace(value);
        drop(items);
        drop(replaced);
        Ok(())
    }

    elements! {
        get_i32, set_i32: i32, I32, narrow, |bits| bits as i32, |value| value as u32, Int as i64, int;
        get_i64, set_i64: i64, I64, wide, |bits| bits as i64, |value| value as u64, Int as i64, int;
        get_f32, set_f32: f32, F32, narrow, |bits| f32::from_bits(bits), |value| value.to_bits(), Float as f64, float;
        get_f64, set_f64: f64, F64, wide, |bits| f64::from_bits(bits), |value| value.to_bits(), Float as f64, float;
    }

    /// Element `index` as a reference; with `take` the element becomes null.
    pub fn get_ref(&self, index: i64, take: bool) -> Result<Ref> {
        let mut items = self.lock();
        let length = if self.numbers.kind().is_some() { self.numbers.len() } else { items.len() };
        let at = check(index, length)?;
        match &mut *items {
            Items::Ref(v) => Ok(if take { v[at].take() } else { v[at].clone() }),
            Items::Any(v) => match &mut v[at] {
                None => Ok(None),
                Some(Value::Ref(object)) => Ok(if take { object.take() } else { object.clone() }),
                Some(_) => Err(Status::failed_precondition("list element is not a reference")),
            },
            Items::None => Err(Status::failed_precondition("list does not hold references")),
        }
    }

    /// Stores a reference. FAILED_PRECONDITION when the list holds numbers, INVALID_ARGUMENT when the type does not fit.
    pub fn set_ref(&self, index: i64, value: Ref) -> Result<()> {
        let mut items = self.lock();
        let length = if self.numbers.kind().is_some() { self.numbers.len() } else { items.len() };
        let at = check(index, length)?;
        let replaced = match &mut *items {
            Items::Ref(v) if self.element.accepts(&value) => Some(Value::Ref(std::mem::replace(&mut v[at], value))),
            Items::Ref(_) => return Err(Status::invalid_argument("source ref type mismatch")),
            Items::Any(v) => v[at].replace(Value::Ref(value)),
            Items::None => return Err(Status::failed_precondition("list does not hold references")),
        };
        drop(items);
        drop(replaced);
        Ok(())
    }
}

#[inline]
fn check(index: i64, length: usize) -> Result<usize> {
    if (index as u64) < length as u64 { Ok(index as usize) } else { Err(outside(index, length)) }
}

#[cold]
fn outside(index: i64, length: usize) -> Status {
    Status::out_of_range(format!("index {index} out of bounds ({length})"))
}

#[cold]
fn not_a_value(why: &str) -> Status {
    Status::failed_precondition(format!("list element is not a number: {why}"))
}

#[cold]
fn no_memory(capacity: usize) -> Status {
    Status::resource_exhausted(format!("no memory for a list of {capacity} elements (at most {MAX_LENGTH})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::StatusCode;

    #[test]
    fn numbers_take_the_element_type() {
        let list = VmList::new(TypeDef::Value(ValueType::I8));
        list.resize(2).unwrap();
        list.set_i32(1, 200).unwrap();
        assert_eq!(list.get_i32(1).unwrap(), -56);
        assert_eq!(list.get_i32(2).unwrap_err().to_string(), "OUT_OF_RANGE; index 2 out of bounds (2)");
        assert!(list.get_i32(-1).is_err());
        assert_eq!(list.set_ref(0, None).unwrap_err().code(), StatusCode::FailedPrecondition);
    }

    #[test]
    fn references_are_released() {
        let object = Arc::new(VmList::new(TypeDef::Any));
        let list = VmList::new(TypeDef::Ref("vm.list"));
        list.resize(3).unwrap();
        list.set_ref(0, Some(object.clone())).unwrap();
        list.set_ref(1, Some(object.clone())).unwrap();
        assert_eq!(Arc::strong_count(&object), 3);
        assert!(list.get_ref(1, true).unwrap().is_some());
        assert!(list.get_ref(1, false).unwrap().is_none());
        assert_eq!(Arc::strong_count(&object), 2);
        list.resize(0).unwrap();
        assert_eq!(Arc::strong_count(&object), 1);
        assert_eq!(list.get_ref(0, false).unwrap_err().code(), StatusCode::OutOfRange);
    }

    #[test]
    fn deep_lists_are_dropped_without_recursion() {
        for element in [TypeDef::Ref("vm.list"), TypeDef::Any] {
            let innermost = Arc::new(VmList::new(TypeDef::Any));
            let mut list = innermost.clone();
            for _ in 0..200_000 {
                let outer = VmList::new(element);
                outer.push(Value::Ref(Some(list))).unwrap();
                list = Arc::new(outer);
            }
            drop(list);
            assert_eq!(Arc::strong_count(&innermost), 1);
        }
    }

    #[test]
    fn lists_of_anything() {
        let list = VmList::new(TypeDef::Any);
        list.resize(1).unwrap();
        assert_eq!(list.get_i32(0).unwrap_err().code(), StatusCode::FailedPrecondition);
        list.set_f64(0, 2.5).unwrap();
        assert_eq!(list.get_f32(0).unwrap(), 2.5);
        assert_eq!(list.get_ref(0, false).unwrap_err().code(), StatusCode::FailedPrecondition);
        list.push(Value::I64(7)).unwrap();
        assert_eq!(list.get_i64(1).unwrap(), 7);
    }

    /// Lengths in between are seen by nobody, so none is lost.
    #[test]
    fn threads_that_resize_at_once() {
        for element in [TypeDef::Any, TypeDef::Ref("vm.list"), TypeDef::Value(ValueType::I64)] {
            let (list, lengths) = (VmList::new(element), [100_000, 170_000, 240_000, 310_000]);
            list.resize(lengths[0]).unwrap();
            std::thread::scope(|scope| {
                for start in 0..2 {
                    let list = &list;
                    scope.spawn(move || {
                        for turn in 0..20 {
                            list.resize(lengths[(start + turn) % lengths.len()]).unwrap();
                            assert!(lengths.contains(&list.len()));
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn absurd_sizes_are_refused() {
        let list = VmList::new(TypeDef::Value(ValueType::I64));
        assert_eq!(list.resize(usize::MAX).unwrap_err().code(), StatusCode::ResourceExhausted);
    }
}
