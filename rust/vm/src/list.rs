//! `vm.list`: a growable list of numbers, of references, or of anything.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::refs::{Ref, RefObject};
use crate::status::{Result, Status};
use crate::types::{TypeDef, ValueType};
use crate::value::Value;

enum Items {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Ref(Vec<Ref>),
    /// `None` is a slot that was never set.
    Any(Vec<Option<Value>>),
}

macro_rules! each {
    ($items:expr, $vec:ident => $body:expr) => {
        match $items {
            Items::I8($vec) => $body,
            Items::I16($vec) => $body,
            Items::I32($vec) => $body,
            Items::I64($vec) => $body,
            Items::F32($vec) => $body,
            Items::F64($vec) => $body,
            Items::Ref($vec) => $body,
            Items::Any($vec) => $body,
        }
    };
}

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
}

/// Longest list. A module can ask for more with one instruction, and every element is written when a list grows.
const MAX_LENGTH: usize = 1 << 26;

/// A list with a fixed element type. Every operation is atomic.
pub struct VmList {
    element: TypeDef,
    items: Mutex<Items>,
}

impl RefObject for VmList {
    fn type_name(&self) -> &'static str {
        "vm.list"
    }

    #[inline]
    fn as_vm_list(&self) -> Option<&VmList> {
        Some(self)
    }
}

impl VmList {
    /// An empty list of `element`s.
    pub fn new(element: TypeDef) -> VmList {
        let items = match element {
            TypeDef::Any => Items::Any(Vec::new()),
            TypeDef::Ref(_) => Items::Ref(Vec::new()),
            TypeDef::Value(ValueType::I8) => Items::I8(Vec::new()),
            TypeDef::Value(ValueType::I16) => Items::I16(Vec::new()),
            TypeDef::Value(ValueType::I32) => Items::I32(Vec::new()),
            TypeDef::Value(ValueType::I64) => Items::I64(Vec::new()),
            TypeDef::Value(ValueType::F32) => Items::F32(Vec::new()),
            TypeDef::Value(ValueType::F64) => Items::F64(Vec::new()),
        };
        VmList { element, items: Mutex::new(items) }
    }

    /// The element type.
    pub fn element(&self) -> TypeDef {
        self.element
    }

    fn lock(&self) -> MutexGuard<'_, Items> {
        // No operation leaves the items half-changed, so a poisoned lock is as good as any.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        each!(&*self.lock(), items => items.len())
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for `capacity` elements. RESOURCE_EXHAUSTED without memory or beyond 2^26.
    pub fn reserve(&self, capacity: usize) -> Result<()> {
        if capacity > MAX_LENGTH {
            return Err(no_memory(capacity));
        }
        each!(&mut *self.lock(), items => {
            items.try_reserve(capacity.saturating_sub(items.len())).map_err(|_| no_memory(capacity))
        })
    }

    /// Sets the number of elements; new ones are zero, null or unset.
    pub fn resize(&self, length: usize) -> Result<()> {
        // Dropped references may run any code when released, so they leave the lock first.
        let (mut dropped, mut dropped_any) = (Vec::new(), Vec::new());
        self.reserve(length)?;
        match &mut *self.lock() {
            Items::I8(items) => items.resize(length, 0),
            Items::I16(items) => items.resize(length, 0),
            Items::I32(items) => items.resize(length, 0),
            Items::I64(items) => items.resize(length, 0),
            Items::F32(items) => items.resize(length, 0.0),
            Items::F64(items) => items.resize(length, 0.0),
            Items::Ref(items) => {
                dropped = items.split_off(length.min(items.len()));
                items.resize(length, None);
            }
            Items::Any(items) => {
                dropped_any = items.split_off(length.min(items.len()));
                items.resize(length, None);
            }
        }
        drop((dropped, dropped_any));
        Ok(())
    }

    /// Element `index` as it is; an unset element of a list of anything gives the null reference.
    pub fn get(&self, index: usize) -> Result<Value> {
        let items = self.lock();
        let at = check(index as i64, each!(&*items, v => v.len()))?;
        Ok(match &*items {
            Items::I8(v) => Value::I32(v[at].into()),
            Items::I16(v) => Value::I32(v[at].into()),
            Items::I32(v) => Value::I32(v[at]),
            Items::I64(v) => Value::I64(v[at]),
            Items::F32(v) => Value::F32(v[at]),
            Items::F64(v) => Value::F64(v[at]),
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

    fn number(&self, index: i64) -> Result<Number> {
        let items = self.lock();
        let at = check(index, each!(&*items, v => v.len()))?;
        Ok(match &*items {
            Items::I8(v) => Number::Int(v[at].into()),
            Items::I16(v) => Number::Int(v[at].into()),
            Items::I32(v) => Number::Int(v[at].into()),
            Items::I64(v) => Number::Int(v[at]),
            Items::F32(v) => Number::Float(v[at].into()),
            Items::F64(v) => Number::Float(v[at]),
            Items::Ref(_) => return Err(not_a_value("the list holds references")),
            Items::Any(v) => match &v[at] {
                Some(Value::I32(v)) => Number::Int((*v).into()),
                Some(Value::I64(v)) => Number::Int(*v),
                Some(Value::F32(v)) => Number::Float((*v).into()),
                Some(Value::F64(v)) => Number::Float(*v),
                Some(Value::Ref(_)) => return Err(not_a_value("the element is a reference")),
                None => return Err(not_a_value("the element was never set")),
            },
        })
    }

    fn set_number(&self, index: i64, number: Number, value: Value) -> Result<()> {
        let mut replaced = None;
        let mut items = self.lock();
        let at = check(index, each!(&*items, v => v.len()))?;
        match &mut *items {
            Items::I8(v) => v[at] = number.int() as i8,
            Items::I16(v) => v[at] = number.int() as i16,
            Items::I32(v) => v[at] = number.int() as i32,
            Items::I64(v) => v[at] = number.int(),
            Items::F32(v) => v[at] = number.float() as f32,
            Items::F64(v) => v[at] = number.float(),
            Items::Ref(_) => {
                return Err(Status::failed_precondition("list holds references, a number cannot be stored"));
            }
            Items::Any(v) => replaced = v[at].replace(value),
        }
        drop(items);
        drop(replaced);
        Ok(())
    }

    /// Element `index` as an i32.
    #[inline]
    pub fn get_i32(&self, index: i64) -> Result<i32> {
        if let Items::I32(items) = &*self.lock()
            && let Ok(at) = usize::try_from(index)
            && let Some(value) = items.get(at)
        {
            return Ok(*value);
        }
        Ok(self.number(index)?.int() as i32)
    }

    /// Element `index` as an i64.
    #[inline]
    pub fn get_i64(&self, index: i64) -> Result<i64> {
        if let Items::I64(items) = &*self.lock()
            && let Ok(at) = usize::try_from(index)
            && let Some(value) = items.get(at)
        {
            return Ok(*value);
        }
        Ok(self.number(index)?.int())
    }

    /// Element `index` as an f32.
    #[inline]
    pub fn get_f32(&self, index: i64) -> Result<f32> {
        if let Items::F32(items) = &*self.lock()
            && let Ok(at) = usize::try_from(index)
            && let Some(value) = items.get(at)
        {
            return Ok(*value);
        }
        Ok(self.number(index)?.float() as f32)
    }

    /// Element `index` as an f64.
    #[inline]
    pub fn get_f64(&self, index: i64) -> Result<f64> {
        if let Items::F64(items) = &*self.lock()
            && let Ok(at) = usize::try_from(index)
            && let Some(value) = items.get(at)
        {
            return Ok(*value);
        }
        Ok(self.number(index)?.float())
    }

    /// Stores an i32, converted to the element type.
    #[inline]
    pub fn set_i32(&self, index: i64, value: i32) -> Result<()> {
        if let Items::I32(items) = &mut *self.lock()
            && let Ok(at) = usize::try_from(index)
            && let Some(slot) = items.get_mut(at)
        {
            *slot = value;
            return Ok(());
        }
        self.set_number(index, Number::Int(value.into()), Value::I32(value))
    }

    /// Stores an i64, converted to the element type.
    #[inline]
    pub fn set_i64(&self, index: i64, value: i64) -> Result<()> {
        if let Items::I64(items) = &mut *self.lock()
            && let Ok(at) = usize::try_from(index)
            && let Some(slot) = items.get_mut(at)
        {
            *slot = value;
            return Ok(());
        }
        self.set_number(index, Number::Int(value), Value::I64(value))
    }

    /// Stores an f32, converted to the element type.
    #[inline]
    pub fn set_f32(&self, index: i64, value: f32) -> Result<()> {
        if let Items::F32(items) = &mut *self.lock()
            && let Ok(at) = usize::try_from(index)
            && let Some(slot) = items.get_mut(at)
        {
            *slot = value;
            return Ok(());
        }
        self.set_number(index, Number::Float(value.into()), Value::F32(value))
    }

    /// Stores an f64, converted to the element type.
    #[inline]
    pub fn set_f64(&self, index: i64, value: f64) -> Result<()> {
        if let Items::F64(items) = &mut *self.lock()
            && let Ok(at) = usize::try_from(index)
            && let Some(slot) = items.get_mut(at)
        {
            *slot = value;
            return Ok(());
        }
        self.set_number(index, Number::Float(value), Value::F64(value))
    }

    /// Element `index` as a reference; with `take` the element becomes null.
    pub fn get_ref(&self, index: i64, take: bool) -> Result<Ref> {
        let mut items = self.lock();
        let at = check(index, each!(&*items, v => v.len()))?;
        match &mut *items {
            Items::Ref(v) => Ok(if take { v[at].take() } else { v[at].clone() }),
            Items::Any(v) => match &mut v[at] {
                None => Ok(None),
                Some(Value::Ref(object)) => Ok(if take { object.take() } else { object.clone() }),
                Some(_) => Err(Status::failed_precondition("list element is not a reference")),
            },
            _ => Err(Status::failed_precondition("list does not hold references")),
        }
    }

    /// Stores a reference. FAILED_PRECONDITION when the list holds numbers, INVALID_ARGUMENT when the type does not fit.
    pub fn set_ref(&self, index: i64, value: Ref) -> Result<()> {
        let mut items = self.lock();
        let at = check(index, each!(&*items, v => v.len()))?;
        let replaced = match &mut *items {
            Items::Ref(v) if self.element.accepts(&value) => Some(Value::Ref(std::mem::replace(&mut v[at], value))),
            Items::Ref(_) => return Err(Status::invalid_argument("source ref type mismatch")),
            Items::Any(v) => v[at].replace(Value::Ref(value)),
            _ => return Err(Status::failed_precondition("list does not hold references")),
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
    use std::sync::Arc;

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

    #[test]
    fn absurd_sizes_are_refused() {
        let list = VmList::new(TypeDef::Value(ValueType::I64));
        assert_eq!(list.resize(usize::MAX).unwrap_err().code(), StatusCode::ResourceExhausted);
    }
}
