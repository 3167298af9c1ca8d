//! `vm.list`: a growable list of numbers, of references, or of anything.

mod cycles;
mod items;
mod numbers;
mod objects;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(crate) use self::cycles::Holders;
pub(crate) use self::items::{GoOn, Pause};
use self::items::{Items, SLICE};
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
    items: Items,
    /// Whether it was ever given a list, and is remembered for that.
    is_holder: AtomicBool,
}

thread_local! {
    /// References of lists being dropped on this thread, while one of them is; else none.
    static DROPPING: RefCell<Option<Vec<Ref>>> = const { RefCell::new(None) };
}

impl Drop for VmList {
    /// Lists in lists in lists can be deeper than the stack, so those inside wait until this one is gone.
    fn drop(&mut self) {
        let mut inside = std::mem::replace(&mut self.items, Items::None).into_references();
        if inside.is_empty() {
            return;
        }
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
        let kind = if let TypeDef::Value(kind) = element { Some(kind) } else { None };
        let (numbers, items) = (Numbers::new(kind), Items::new(element));
        VmList { element, numbers, items, is_holder: AtomicBool::new(false) }
    }

    /// As `new`; its memory is taken from `quota`.
    pub fn charged(element: TypeDef, quota: Option<&Arc<Quota>>) -> Result<VmList> {
        let mut list = VmList::new(element);
        if let Some(quota) = quota {
            let charge = Some(Charge::new(quota, size_of::<VmList>())?);
            match list.numbers.kind() {
                Some(_) => list.numbers.set_charge(charge),
                None => list.items.set_charge(charge),
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

    /// Number of elements.
    pub fn len(&self) -> usize {
        if self.numbers.kind().is_some() { self.numbers.len() } else { self.items.len() }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for `capacity` elements. RESOURCE_EXHAUSTED without memory or beyond 2^26.
    pub fn reserve(&self, capacity: usize) -> Result<()> {
        self.reserve_until(capacity, &|_| Ok(()))
    }

    /// As `reserve`; with an error of `go_on` there is no more room than before.
    pub(crate) fn reserve_until(&self, capacity: usize, go_on: GoOn<'_>) -> Result<()> {
        if capacity > MAX_LENGTH {
            return Err(no_memory(capacity));
        }
        self.numbers.reserve(capacity, go_on)?;
        self.items.reserve(capacity, go_on)
    }

    /// Sets the number of elements; new ones are zero, null or unset. Threads that do so at once do it one after the other.
    /// Nobody else waits for them: other threads go on with the elements that there were.
    pub fn resize(&self, length: usize) -> Result<()> {
        self.resize_until(length, &|_| Ok(()))
    }

    /// As `resize`; with an error of `go_on` the list is as it was.
    pub(crate) fn resize_until(&self, length: usize, go_on: GoOn<'_>) -> Result<()> {
        if length > MAX_LENGTH {
            return Err(no_memory(length));
        }
        self.numbers.resize(length, go_on)?;
        self.items.resize(length, go_on)
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
        Ok(match &self.items {
            Items::None => Value::NULL,
            Items::Ref(items) => {
                let items = items.lock();
                Value::Ref(items.get(check(index as i64, items.len())?).clone())
            }
            Items::Any(items) => {
                let items = items.lock();
                items.get(check(index as i64, items.len())?).clone().unwrap_or(Value::NULL)
            }
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
        self.push_unless(value, &|_| Ok(()))
    }

    /// As `push`, but None, and nothing is done, while another thread changes the number of elements: that may take long.
    pub fn push_promptly(&self, value: Value) -> Option<Result<()>> {
        let waits = Cell::new(false);
        let pushed = self.push_unless(value, &|pause| {
            waits.set(pause == Pause::Wait);
            if waits.get() { Err(Status::unavailable("another thread changes the list")) } else { Ok(()) }
        });
        if waits.get() { None } else { Some(pushed) }
    }

    fn push_unless(&self, value: Value, go_on: GoOn<'_>) -> Result<()> {
        match (&self.items, value) {
            (Items::None, value) => {
                let index = self.len();
                self.resize_until(index + 1, go_on)?;
                self.set(index, value)
            }
            (Items::Any(items), value) => items.push(Some(value), go_on),
            (Items::Ref(items), Value::Ref(value)) if self.element.accepts(&value) => items.push(value, go_on),
            (Items::Ref(_), Value::Ref(_)) => Err(type_mismatch()),
            (Items::Ref(_), _) => Err(not_for_numbers()),
        }
    }

    /// To be told before `value`, which may be a list, is pushed outside of any context: lists that come to hold each other
    /// do not stay for ever then.
    pub fn note_shared(self: &Arc<Self>, value: &Value) {
        if let Value::Ref(reference) = value {
            cycles::note_orphan(self, reference);
        }
    }

    fn number(&self, index: i64) -> Result<Number> {
        if let Some(kind) = self.numbers.kind() {
            let bits = usize::try_from(index).ok().and_then(|at| self.numbers.load(at));
            return bits.map(|bits| Number::read(kind, bits)).ok_or_else(|| outside(index, self.numbers.len()));
        }
        let Items::Any(items) = &self.items else {
            check(index, self.len())?;
            return Err(not_a_value("the list holds references"));
        };
        let items = items.lock();
        Ok(match items.get(check(index, items.len())?) {
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
        let Items::Any(items) = &self.items else {
            check(index, self.len())?;
            return Err(not_for_numbers());
        };
        let mut items = items.lock();
        let at = check(index, items.len())?;
        let replaced = items.get_mut(at).replace(value);
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
        match &self.items {
            Items::Ref(items) => {
                let mut items = items.lock();
                let at = check(index, items.len())?;
                Ok(if take { items.get_mut(at).take() } else { items.get(at).clone() })
            }
            Items::Any(items) => {
                let mut items = items.lock();
                let at = check(index, items.len())?;
                match items.get_mut(at) {
                    None => Ok(None),
                    Some(Value::Ref(object)) => Ok(if take { object.take() } else { object.clone() }),
                    Some(_) => Err(Status::failed_precondition("list element is not a reference")),
                }
            }
            Items::None => {
                check(index, self.numbers.len())?;
                Err(Status::failed_precondition("list does not hold references"))
            }
        }
    }

    /// Stores a reference. FAILED_PRECONDITION when the list holds numbers, INVALID_ARGUMENT when the type does not fit.
    pub fn set_ref(&self, index: i64, value: Ref) -> Result<()> {
        // What is replaced is dropped when the lock is not held any more.
        match &self.items {
            Items::Ref(items) => {
                let mut items = items.lock();
                let at = check(index, items.len())?;
                if !self.element.accepts(&value) {
                    return Err(type_mismatch());
                }
                let replaced = std::mem::replace(items.get_mut(at), value);
                drop(items);
                drop(replaced);
            }
            Items::Any(items) => {
                let mut items = items.lock();
                let at = check(index, items.len())?;
                let replaced = items.get_mut(at).replace(Value::Ref(value));
                drop(items);
                drop(replaced);
            }
            Items::None => {
                check(index, self.numbers.len())?;
                return Err(Status::failed_precondition("list does not hold references"));
            }
        }
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
fn type_mismatch() -> Status {
    Status::invalid_argument("source ref type mismatch")
}

#[cold]
fn not_for_numbers() -> Status {
    Status::failed_precondition("list holds references, a number cannot be stored")
}

#[cold]
fn no_memory(capacity: usize) -> Status {
    Status::resource_exhausted(format!("no memory for a list of {capacity} elements (at most {MAX_LENGTH})"))
}
