//! Modules, contexts and values for Python; a file a class.

pub mod buffer;
pub mod context;
pub mod driving;
pub mod function;
pub mod invocation;
pub mod list;
pub mod module;
pub mod python_module;
pub mod refs;
