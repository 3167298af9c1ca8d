//! The virtual machine of Tiree: it reads `.vmfb` archives, verifies them once and executes their bytecode.
//!
//! The way of a file: [`archive`] finds the FlatBuffer and checks that it is whole, [`bytecode`] verifies every function
//! and translates it when it is first called, [`context`] links modules and holds their state, [`invocation`] runs a call
//! and can be resumed while it waits. [`isa`] is the instruction table, [`disasm`] prints modules and [`asm`] reads that
//! text, [`module`] is how modules written in Rust join. The VM knows no HAL and no Python; both reach it through
//! [`NativeModule`].
//!
//! ```
//! use tiree_vm::{AnyModule, BytecodeModule, Context, Value};
//!
//! # fn main() -> tiree_vm::Result<()> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/flow.vmfb");
//! let module = BytecodeModule::open(path)?;
//! let context = Context::new([AnyModule::from(module)])?;
//! let results = context.function("flow", "recurse")?.invoke(vec![Value::I32(100)])?;
//! assert!(matches!(results[..], [Value::I64(5050)]));
//! # Ok(())
//! # }
//! ```

pub mod archive;
pub mod asm;
pub mod buffer;
pub mod bytecode;
pub mod cconv;
pub mod context;
pub mod disasm;
pub mod float_mode;
mod interp;
pub mod interrupt;
pub mod invocation;
pub mod isa;
pub mod leisure;
pub mod limits;
pub mod list;
mod manner;
pub mod mapped;
pub mod module;
pub mod pace;
pub mod quota;
pub mod refs;
mod siphash;
mod slot;
pub mod status;
pub mod testing;
mod timeline;
pub mod types;
pub mod value;

pub use archive::Archive;
pub use buffer::VmBuffer;
pub use bytecode::BytecodeModule;
pub use context::{AnyModule, Context, ContextOptions, Function};
pub use invocation::{Invocation, Step};
pub use limits::{Limit, Limits};
pub use list::VmList;
pub use manner::Manner;
pub use module::{CallFrame, Flow, Module, NativeExport, NativeModule, Wait};
pub use quota::{Charge, Quota};
pub use refs::{Ref, RefObject, Shared};
pub use status::{Annotate, Cause, Result, Status, StatusCode};
pub use types::{TypeDef, TypeRegistry, ValueType};
pub use value::Value;
