//! wip
pub mod allocator;
pub mod buffer;
pub mod buffer_view;
pub mod command_buffer;
pub mod device;
pub mod drivers;
pub mod executable;
mod execute;
pub mod fence;
pub mod file;
pub mod memory;
pub mod module;
pub mod queue;
pub mod runtime;
pub mod semaphore;
pub mod types;

pub use execute::TableEntry;
