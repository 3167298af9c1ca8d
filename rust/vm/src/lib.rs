//! The virtual machine of Tiree: it reads `.vmfb` archives, verifies them once and executes their bytecode.
//!
//! The VM knows no HAL and no Python; both reach it through [`module::NativeModule`].

pub mod archive;
pub mod buffer;
pub mod bytecode;
pub mod cconv;
pub mod context;
pub mod disasm;
mod interp;
pub mod invocation;
pub mod isa;
pub mod list;
pub mod module;
pub mod refs;
mod siphash;
pub mod status;
pub mod types;
pub mod value;

pub use archive::Archive;
pub use buffer::VmBuffer;
pub use bytecode::BytecodeModule;
pub use context::{AnyModule, Context, Function};
pub use invocation::{Invocation, Step};
pub use list::VmList;
pub use module::{CallFrame, Flow, Module, NativeExport, NativeModule, Wait};
pub use refs::{Ref, RefObject};
pub use status::{Annotate, Result, Status, StatusCode};
pub use types::{TypeDef, TypeRegistry, ValueType};
pub use value::Value;
