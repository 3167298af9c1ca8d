//! A work-stealing executor for fork-join grids and detached tasks.
//!
//! The crate knows nothing of devices, modules or kernels. It offers:
//!
//! * [`Executor`]: a fixed set of worker threads, one per physical core that the process may use ([`Topology`]);
//! * [`Executor::run_grid`]: runs `count` tiles of one closure, with the calling thread taking part; a grid that turns
//!   out to be short never leaves the caller;
//! * [`Executor::spawn`]: a detached task, optionally counted by a [`Scope`];
//! * panics inside tiles and tasks are caught and come back as [`Error::Panicked`];
//! * a process forked after the executor was made gets [`Error::Forked`], never a hang.
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering};
//! let executor = tiree_task::Executor::new(&tiree_task::TopologyOptions::default()).unwrap();
//! let sum = AtomicU64::new(0);
//! executor
//!     .run_grid(1000, |_worker, tiles| {
//!         for tile in tiles {
//!             sum.fetch_add(tile, Ordering::Relaxed);
//!         }
//!         Ok::<(), tiree_task::Error>(())
//!     })
//!     .unwrap();
//! assert_eq!(sum.into_inner(), 499_500);
//! ```

mod error;
mod executor;
mod fork;
mod gate;
mod grid;
mod machine;
mod memory;
#[cfg(all(test, loom))]
mod models;
mod scope;
mod sleep;
mod sync;
mod topology;
mod worker;
mod worker_loop;

pub use error::Error;
pub use executor::{Executor, GridOptions, Priority};
pub use fork::generation as fork_generation;
pub use grid::Participant;
pub use memory::{MemoryError, with_local_memory};
pub use scope::Scope;
pub use topology::{Distribution, Nodes, Topology, TopologyOptions};
