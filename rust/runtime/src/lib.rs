//! Tiree for Rust programs: load a `.vmfb`, call its functions, read the results. No Python is involved.
//!
//! The shape is that of IREE's runtime API:
//!
//! | here | IREE | what it is |
//! |---|---|---|
//! | [`Instance`] | `iree_runtime_instance_t` | once per process: registered types, worker threads, devices opened so far |
//! | [`Session`] | `iree_runtime_session_t` | modules linked with each other, with the state of their globals, on one device |
//! | [`Call`] | `iree_runtime_call_t` | inputs pushed, a function invoked, outputs popped; can be used again |
//!
//! ```
//! use tiree_runtime::{Instance, Session};
//!
//! # fn main() -> tiree_runtime::Result<()> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../hal/tests/fixtures/add.vmfb");
//! # if !cfg!(target_arch = "x86_64") { return Ok(()); } // What the file was compiled for.
//! let instance = Instance::new();
//! let session = Session::new(&instance, instance.create_default_device()?)?;
//! session.append_module_from_file(path)?;
//!
//! let mut call = session.call("module.add")?;
//! call.push_array(&[4], &[1.0f32, 2.0, 3.0, 4.0])?;
//! call.push_array(&[4], &[5.0f32, 6.0, 7.0, 8.0])?;
//! call.invoke()?;
//! let (shape, elements) = call.pop_array::<f32>()?;
//! assert_eq!((&shape[..], &elements[..]), (&[4][..], &[6.0, 8.0, 10.0, 12.0][..]));
//! # Ok(())
//! # }
//! ```
//!
//! Everything is `Send` and `Sync` but [`Call`], which is for one thread at a time; sessions can be called from many. A
//! session keeps its instance, a call keeps its session's context. Errors are [`Status`] values with a code and the chain of
//! causes. What is needed beyond this crate is in [`tiree_hal`] (devices, buffers, fences, parameters) and [`tiree_vm`]
//! (contexts, native modules, limits).
//!
//! Loading a module with native code means trusting it, as with a shared library; the bytecode is verified.

mod call;
mod instance;
mod session;
mod tensor;

pub use call::Call;
pub use instance::Instance;
pub use session::Session;
pub use tensor::{Element, array_to_view, view_to_array};

pub use tiree_hal::buffer_view::{BufferView, Shape};
pub use tiree_hal::device::Device;
pub use tiree_task::{Priority, TopologyOptions};
pub use tiree_vm::{ContextOptions, Limits, Result, Status, StatusCode, Value};
