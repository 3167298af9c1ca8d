//! An allocator that counts what is alive, to see what a run leaves behind.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

struct Counting;

static ALIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: everything is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALIVE.fetch_add(1, Relaxed);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALIVE.fetch_add(1, Relaxed);
        // SAFETY: the caller's.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        ALIVE.fetch_sub(1, Relaxed);
        // SAFETY: the caller's.
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations that are alive.
pub fn alive() -> isize {
    ALIVE.load(Relaxed)
}

/// How many allocations `run` leaves behind each time. What is made once and kept, such as pools, does not count.
pub fn left_behind(mut run: impl FnMut()) -> isize {
    let mut fewest = isize::MAX;
    for _ in 0..4 {
        let before = alive();
        run();
        fewest = fewest.min(alive() - before);
        if fewest <= 0 {
            return 0;
        }
    }
    fewest
}
