//! Fork detection: a counter that the child of every `fork` finds raised by one.
//!
//! Worker threads do not exist in a forked child, and locks may be held for ever by threads that are gone. Executors
//! remember the generation they were made in and refuse work in any other. Comparing two integers is cheap enough for
//! every submission; asking for the process id is a system call.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

static GENERATION: AtomicU64 = AtomicU64::new(0);
static INSTALL: Once = Once::new();

#[cfg(unix)]
extern "C" fn in_child() {
    // Only an atomic store: everything else is forbidden between fork and exec in a threaded process.
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// How many forks lie between the first executor's process and this one. Installs the handler on first use.
pub fn generation() -> u64 {
    #[cfg(unix)]
    INSTALL.call_once(|| {
        // SAFETY: registers a handler that performs one atomic operation, which is async-signal-safe.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    #[cfg(not(unix))]
    let _ = &INSTALL;
    GENERATION.load(Ordering::Relaxed)
}
