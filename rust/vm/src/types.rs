//! The type names of a module's type table, and which reference types exist.

use std::fmt;

use crate::refs::Ref;
use crate::status::{Result, Status};

/// A value type as a list element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The names say it.
pub enum ValueType {
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

/// An entry of a type table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeDef {
    /// `!vm.opaque`: any value or reference.
    Any,
    /// A number.
    Value(ValueType),
    /// A reference type by its registered name.
    Ref(&'static str),
}

impl TypeDef {
    /// Whether `value` may stand where this type is asked for. Null always may.
    #[inline]
    pub fn accepts(self, value: &Ref) -> bool {
        value.as_ref().is_none_or(|object| self.accepts_name(object.type_name()))
    }

    /// Whether objects of the type `have` may stand where this type is asked for.
    #[inline]
    pub fn accepts_name(self, have: &'static str) -> bool {
        match self {
            TypeDef::Any => true,
            TypeDef::Ref(name) => std::ptr::eq(have, name) || have == name,
            TypeDef::Value(_) => false,
        }
    }
}

impl fmt::Display for TypeDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypeDef::Any => f.write_str("?"),
            TypeDef::Value(value) => f.write_str(match value {
                ValueType::I8 => "i8",
                ValueType::I16 => "i16",
                ValueType::I32 => "i32",
                ValueType::I64 => "i64",
                ValueType::F32 => "f32",
                ValueType::F64 => "f64",
            }),
            TypeDef::Ref(name) => write!(f, "!{name}"),
        }
    }
}

/// The reference types that modules may name.
#[derive(Clone, Debug)]
pub struct TypeRegistry {
    names: Vec<&'static str>,
}

/// Registered even where no `hal` module is loaded, so that a module may mention what it does not use.
const DEFAULT_NAMES: [&str; 13] = [
    "vm.buffer",
    "vm.list",
    "hal.allocator",
    "hal.buffer",
    "hal.buffer_view",
    "hal.channel",
    "hal.command_buffer",
    "hal.device",
    "hal.event",
    "hal.executable",
    "hal.fence",
    "hal.file",
    "hal.semaphore",
];

impl Default for TypeRegistry {
    fn default() -> TypeRegistry {
        TypeRegistry { names: DEFAULT_NAMES.to_vec() }
    }
}

impl TypeRegistry {
    /// Makes another reference type known.
    pub fn register(&mut self, name: &'static str) {
        if !self.names.contains(&name) {
            self.names.push(name);
        }
    }

    /// The type called `full_name` in a type table; NOT_FOUND when unknown.
    pub fn resolve(&self, full_name: &str) -> Result<TypeDef> {
        let value = |value| Ok(TypeDef::Value(value));
        match full_name {
            "i8" => return value(ValueType::I8),
            "i16" => return value(ValueType::I16),
            "i32" => return value(ValueType::I32),
            "i64" => return value(ValueType::I64),
            "f32" => return value(ValueType::F32),
            "f64" => return value(ValueType::F64),
            "!vm.opaque" => return Ok(TypeDef::Any),
            _ if full_name.starts_with("!vm.list") => return Ok(TypeDef::Ref("vm.list")),
            _ => {}
        }
        full_name
            .strip_prefix('!')
            .and_then(|short| self.names.iter().find(|name| **name == short))
            .map(|name| TypeDef::Ref(name))
            .ok_or_else(|| Status::not_found(format!("no type registered with name '{full_name}'")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_resolve() {
        let mut registry = TypeRegistry::default();
        assert_eq!(registry.resolve("i8").unwrap(), TypeDef::Value(ValueType::I8));
        assert_eq!(registry.resolve("!vm.list<i32>").unwrap(), TypeDef::Ref("vm.list"));
        assert_eq!(registry.resolve("!hal.fence").unwrap(), TypeDef::Ref("hal.fence"));
        for unknown in ["index", "i1", "hal.fence", "!my.type", ""] {
            assert_eq!(
                registry.resolve(unknown).unwrap_err().to_string(),
                format!("NOT_FOUND; no type registered with name '{unknown}'")
            );
        }
        registry.register("my.type");
        assert_eq!(registry.resolve("!my.type").unwrap(), TypeDef::Ref("my.type"));
    }
}
