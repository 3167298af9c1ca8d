//! The virtual machine of Tiree: it reads `.vmfb` archives, verifies them once and executes their bytecode.
//!
//! The VM knows no HAL and no Python; both reach it through [`module::NativeModule`].

pub mod buffer;
pub mod cconv;
pub mod list;
pub mod module;
pub mod refs;
pub mod status;
pub mod types;
pub mod value;

pub use buffer::VmBuffer;
pub use list::VmList;
pub use module::{CallFrame, Flow, Module, NativeExport, NativeModule, Wait};
pub use refs::{Ref, RefObject};
pub use status::{Annotate, Result, Status, StatusCode};
pub use value::Value;
