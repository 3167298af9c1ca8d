//! Blocks of host memory and the cache that transient allocations live from.
//!
//! A block is 64-byte aligned and fully initialised: fresh blocks are zero, reused ones hold what their last user left.
//! Large blocks come from the system directly, so that they are zero without being touched. The cache never holds more
//! than the difference between the peak of live bytes and the live bytes: the process uses no more memory than its peak.

use parking_lot::Mutex;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tiree_vm::{Result, Status};

/// Alignment of every block.
pub const ALIGNMENT: usize = 64;
const MAP_THRESHOLD: usize = 256 * 1024;
const HUGE_PAGE: usize = 2 * 1024 * 1024;

/// Counters of one kind of memory, in the manner of IREE's allocator statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Highest number of bytes that were live at once.
    pub peak: u64,
    /// Bytes allocated since the start.
    pub allocated: u64,
    /// Bytes freed since the start.
    pub freed: u64,
}

/// What an allocator has handed out, by requested lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Buffers asked for as host memory.
    pub host: Counters,
    /// Buffers asked for as device memory.
    pub device: Counters,
    /// Bytes kept for reuse.
    pub cached: u64,
}

/// Which counters a block belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Host memory.
    Host,
    /// Device memory.
    Device,
}

#[derive(Default)]
struct AtomicCounters {
    live: AtomicU64,
    peak: AtomicU64,
    allocated: AtomicU64,
    freed: AtomicU64,
}

impl AtomicCounters {
    fn add(&self, bytes: u64) {
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(live, Ordering::Relaxed);
        self.allocated.fetch_add(bytes, Ordering::Relaxed);
    }

    fn sub(&self, bytes: u64) -> u64 {
        self.freed.fetch_add(bytes, Ordering::Relaxed);
        self.live.fetch_sub(bytes, Ordering::Relaxed) - bytes
    }

    fn get(&self) -> Counters {
        Counters {
            peak: self.peak.load(Ordering::Relaxed),
            allocated: self.allocated.load(Ordering::Relaxed),
            freed: self.freed.load(Ordering::Relaxed),
        }
    }
}

/// Makes blocks, counts them and keeps some for reuse.
pub struct Pool {
    /// Whole blocks, as obtained from the system: what bounds the cache.
    blocks: AtomicCounters,
    host: AtomicCounters,
    device: AtomicCounters,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    bytes: u64,
    free: BTreeMap<usize, Vec<Raw>>,
}

impl Cache {
    /// Takes out a block, of another size than `keep` if there is one.
    fn evict(&mut self, keep: usize) -> Option<Raw> {
        let size = self.free.keys().copied().find(|&size| size != keep).or(self.free.keys().next().copied())?;
        let blocks = self.free.get_mut(&size)?;
        let raw = blocks.pop();
        if blocks.is_empty() {
            self.free.remove(&size);
        }
        self.bytes -= size as u64;
        raw
    }
}

/// Memory without an owner record; `size` decides how it was obtained.
struct Raw {
    data: NonNull<u8>,
    size: usize,
}

// SAFETY: plain memory, reachable through one value only.
unsafe impl Send for Raw {}

/// Owned memory of a pool; goes back to the pool when dropped.
pub struct Block {
    raw: Option<Raw>,
    data: NonNull<u8>,
    length: usize,
    kind: Kind,
    pool: Arc<Pool>,
}

// SAFETY: the block only hands out a pointer; what is done through it is up to the HAL's ordering rules (fences).
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

/// Sizes are rounded up so that freed blocks fit later requests: to 64 bytes, then to an eighth of the power of two below.
fn size_class(length: usize) -> Option<usize> {
    if length <= 4096 {
        return Some(length.max(1).next_multiple_of(ALIGNMENT));
    }
    let step = (length.checked_next_power_of_two()? / 16).max(ALIGNMENT);
    length.checked_next_multiple_of(step)
}

impl Raw {
    fn new(size: usize) -> Option<Raw> {
        #[cfg(unix)]
        if size >= MAP_THRESHOLD {
            // SAFETY: an anonymous private mapping at an address the system chooses.
            let data = unsafe {
                libc::mmap(
                    std::ptr::null_mut(),
                    size,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if data == libc::MAP_FAILED {
                return None;
            }
            #[cfg(target_os = "linux")]
            if size >= 2 * HUGE_PAGE {
                // SAFETY: advice about the mapping just made; failure is harmless.
                unsafe { libc::madvise(data, size, libc::MADV_HUGEPAGE) };
            }
            return NonNull::new(data.cast()).map(|data| Raw { data, size });
        }
        let layout = Layout::from_size_align(size, ALIGNMENT).ok()?;
        // SAFETY: the size is above zero (size_class).
        NonNull::new(unsafe { alloc_zeroed(layout) }).map(|data| Raw { data, size })
    }

    fn free(self) {
        #[cfg(unix)]
        if self.size >= MAP_THRESHOLD {
            // SAFETY: the mapping was made by `new` with this size and nothing refers to it any more.
            unsafe { libc::munmap(self.data.as_ptr().cast(), self.size) };
            return;
        }
        // SAFETY: allocated by `new` with this layout.
        unsafe { dealloc(self.data.as_ptr(), Layout::from_size_align_unchecked(self.size, ALIGNMENT)) };
    }
}

impl Pool {
    /// An empty pool.
    pub fn new() -> Arc<Pool> {
        Arc::new(Pool {
            blocks: AtomicCounters::default(),
            host: AtomicCounters::default(),
            device: AtomicCounters::default(),
            cache: Mutex::new(Cache::default()),
        })
    }

    /// A block of at least `length` bytes.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED when the system has no such memory.
    pub fn allocate(self: &Arc<Pool>, length: usize, kind: Kind) -> Result<Block> {
        let exhausted = || {
            let live = self.blocks.live.load(Ordering::Relaxed);
            Status::resource_exhausted(format!(
                "out of memory: {length} bytes asked, {live} bytes in use by this device"
            ))
        };
        let size = size_class(length).filter(|&size| size <= isize::MAX as usize - 4096).ok_or_else(exhausted)?;
        let reused = {
            let mut cache = self.cache.lock();
            let raw = cache.free.get_mut(&size).and_then(Vec::pop);
            if raw.is_some() {
                cache.bytes -= size as u64;
            }
            if cache.free.get(&size).is_some_and(Vec::is_empty) {
                cache.free.remove(&size);
            }
            raw
        };
        let raw = match reused {
            Some(raw) => raw,
            None => match Raw::new(size) {
                Some(raw) => raw,
                None => {
                    self.trim();
                    Raw::new(size).ok_or_else(exhausted)?
                }
            },
        };
        self.blocks.add(size as u64);
        self.counters(kind).add(length as u64);
        Ok(Block { data: raw.data, length, kind, raw: Some(raw), pool: self.clone() })
    }

    fn counters(&self, kind: Kind) -> &AtomicCounters {
        match kind {
            Kind::Host => &self.host,
            Kind::Device => &self.device,
        }
    }

    fn give_back(&self, raw: Raw, length: usize, kind: Kind) {
        self.counters(kind).sub(length as u64);
        let size = raw.size as u64;
        let live = self.blocks.sub(size);
        let limit = self.blocks.peak.load(Ordering::Relaxed).saturating_sub(live);
        let mut evicted = Vec::new();
        {
            let mut cache = self.cache.lock();
            cache.bytes += size;
            cache.free.entry(raw.size).or_default().push(raw);
            // What was just freed is the likeliest to be asked for again: other sizes go first.
            while cache.bytes > limit {
                let Some(old) = cache.evict(size as usize) else { break };
                evicted.push(old);
            }
        }
        evicted.into_iter().for_each(Raw::free);
    }

    /// Gives all unused memory back to the system.
    pub fn trim(&self) {
        let free = {
            let mut cache = self.cache.lock();
            cache.bytes = 0;
            std::mem::take(&mut cache.free)
        };
        free.into_values().flatten().for_each(Raw::free);
    }

    /// The counters.
    pub fn statistics(&self) -> Statistics {
        Statistics { host: self.host.get(), device: self.device.get(), cached: self.cache.lock().bytes }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.trim();
    }
}

impl Block {
    /// First byte.
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.data
    }

    /// Bytes asked for.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether no byte was asked for.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take() {
            self.pool.give_back(raw, self.length, self.kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_reused_and_counted() {
        let pool = Pool::new();
        for length in [0, 1, 64, 65, 5000, 300_000, 9_000_000] {
            let block = pool.allocate(length, Kind::Device).unwrap();
            let address = block.as_ptr();
            assert_eq!(address.as_ptr() as usize % ALIGNMENT, 0);
            drop(block);
            let again = pool.allocate(length, Kind::Device).unwrap();
            assert_eq!(again.as_ptr(), address, "{length}");
        }
        let statistics = pool.statistics();
        assert_eq!(statistics.device.allocated, statistics.device.freed);
        assert_eq!(statistics.device.peak, 9_000_000);
        assert!(statistics.cached > 9_000_000 && statistics.host == Counters::default());
        pool.trim();
        assert_eq!(pool.statistics().cached, 0);
    }

    #[test]
    fn impossible_sizes_are_an_error() {
        let pool = Pool::new();
        for length in [usize::MAX, isize::MAX as usize, 1 << 62] {
            let Err(error) = pool.allocate(length, Kind::Device) else { panic!("{length} accepted") };
            assert!(error.to_string().starts_with("RESOURCE_EXHAUSTED; out of memory"), "{error}");
        }
    }

    #[test]
    fn rounding_wastes_at_most_an_eighth() {
        for length in (4097..3_000_000).step_by(1009) {
            let size = size_class(length).unwrap();
            assert!(size >= length && size - length <= length / 8, "{length} -> {size}");
        }
    }
}
