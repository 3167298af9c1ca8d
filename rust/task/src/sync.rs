//! The one place where std's primitives are swapped for loom's.
//!
//! Only the sleep protocol is modelled, so only what it uses is listed. Run the model with
//! `RUSTFLAGS="--cfg loom" cargo test -p tiree-task --lib sleep`.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex};

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex};
