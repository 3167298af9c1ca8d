//! Devices, memory and fences for Python; a file a class.

pub mod allocator;
pub mod buffer;
pub mod buffer_view;
pub mod device;
pub mod fence;
pub mod module;
pub mod semaphore;
