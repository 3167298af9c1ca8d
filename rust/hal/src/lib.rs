//! The hardware abstraction layer of Tiree: devices, memory, fences, command buffers, native kernels, and the `hal`
//! module through which compiled code uses them.
//!
//! Where things are:
//!
//! | subject | module |
//! |---|---|
//! | devices and drivers (`local-sync`, `local-task`) | [`device`], [`drivers`] |
//! | memory | [`allocator`], [`buffer`], [`buffer_view`], [`memory`], [`peak`] |
//! | ordering | [`semaphore`], [`fence`], [`queue`] |
//! | work | [`command_buffer`], [`executable`], [`channel`] |
//! | files and parameters | [`mod@file`], [`parameters`] |
//! | native modules for the VM | [`module`] (`hal`), [`parameters`] (`io_parameters`), [`check`] |
//! | reference kernels | [`vmvx`] |
//! | values of the tools | [`values`] |
//!
//! The API for Rust programs (instances, sessions, calls) is the crate `tiree-runtime` above this one.
//!
//! The crate knows no Python. Kernels are native code and are trusted as such; everything else that a module or a
//! caller passes in is checked and answered with a [`tiree_vm::Status`].

pub mod allocator;
mod binding_table;
pub mod buffer;
pub mod buffer_view;
mod callbacks;
pub mod channel;
mod charge;
pub mod check;
pub mod command_buffer;
pub mod device;
pub mod drivers;
pub mod executable;
mod execute;
pub mod fence;
pub mod file;
mod fork_lock;
mod import_table;
pub mod memory;
#[cfg(all(test, loom))]
mod models;
pub mod module;
mod nested;
pub mod parameters;
mod pattern;
pub mod peak;
mod program;
pub mod queue;
pub mod semaphore;
mod sync;
mod timeline;
mod transient;
pub mod types;
pub mod values;
pub mod vmvx;

pub use binding_table::TableEntry;
