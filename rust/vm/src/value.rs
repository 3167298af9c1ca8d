//! Values as they cross the border of the VM.

use std::fmt;
use std::sync::Arc;

use crate::cconv::Kind;
use crate::refs::{Ref, RefObject};

/// One argument or result.
#[derive(Clone)]
pub enum Value {
    /// `i` (also i1, i8, i16 and unsigned values of up to 32 bits).
    I32(i32),
    /// `I`
    I64(i64),
    /// `f`
    F32(f32),
    /// `F`
    F64(f64),
    /// `r`
    Ref(Ref),
}

impl Value {
    /// The null reference.
    pub const NULL: Value = Value::Ref(None);

    /// A reference to `object`.
    pub fn from_object<T: RefObject>(object: Arc<T>) -> Value {
        Value::Ref(Some(object))
    }

    /// Its kind in calling conventions.
    #[inline]
    pub fn kind(&self) -> Kind {
        match self {
            Value::I32(_) => Kind::I32,
            Value::I64(_) => Kind::I64,
            Value::F32(_) => Kind::F32,
            Value::F64(_) => Kind::F64,
            Value::Ref(_) => Kind::Ref,
        }
    }

    /// `i32`, `f64`, `ref`, ...
    pub fn kind_name(&self) -> &'static str {
        self.kind().name()
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::I32(v) => write!(f, "i32={v}"),
            Value::I64(v) => write!(f, "i64={v}"),
            Value::F32(v) => write!(f, "f32={v}"),
            Value::F64(v) => write!(f, "f64={v}"),
            Value::Ref(None) => write!(f, "null"),
            Value::Ref(Some(object)) => write!(f, "ref<{}>", object.type_name()),
        }
    }
}

macro_rules! from {
    ($($ty:ty => $variant:ident),*) => {
        $(impl From<$ty> for Value {
            fn from(value: $ty) -> Value {
                Value::$variant(value)
            }
        })*
    };
}
from!(i32 => I32, i64 => I64, f32 => F32, f64 => F64, Ref => Ref);
