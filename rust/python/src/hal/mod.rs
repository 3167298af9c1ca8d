//! Devices, memory and fences for Python; a file a class.

pub mod allocator;
pub mod array;
pub mod buffer;
pub mod buffer_view;
pub mod command_buffer;
pub mod device;
pub mod dlpack;
pub mod fence;
pub mod file_handle;
mod in_place;
pub mod module;
pub mod parameters;
pub mod peak;
pub mod replacing;
pub mod semaphore;
pub mod topology;
