//! Blocks of host memory and the cache that transient allocations live from.
//!
//! A block is 64-byte aligned and fully initialised: fresh blocks are zero, reused ones hold what their last user left.
//! Large blocks come from the system directly, so that they are zero without being touched. The cache never holds more
//! than the difference between the peak of live bytes and the live bytes: the process uses no more memory than its peak.
//! Both can be bounded further ([`Pool::set_limits`]).

use crate::fork_lock::{ForkLock, Renew};
use crate::peak::{Usage, Watches};
use crate::timeline;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;
use tiree_vm::{Charge, Result, Status};

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

impl Counters {
    fn live(&self) -> u64 {
        self.allocated.saturating_sub(self.freed) // In a forked child they may be of different moments.
    }

    fn add(&mut self, bytes: u64) {
        self.allocated += bytes;
        self.peak = self.peak.max(self.live());
    }
}

/// Makes blocks, counts them and keeps some for reuse.
pub struct Pool {
    state: ForkLock<State>,
}

/// Bounds of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolLimits {
    /// Bytes of buffers that may be live at once, by requested lengths.
    pub memory: u64,
    /// Bytes that are kept for reuse.
    pub cached: u64,
}

impl Default for PoolLimits {
    /// No bounds.
    fn default() -> Self {
        PoolLimits { memory: u64::MAX, cached: u64::MAX }
    }
}

/// Everything that changes, behind one lock that is held for a few instructions.
#[derive(Default)]
struct State {
    /// Whole blocks, as obtained from the system: what bounds the cache.
    blocks: Counters,
    host: Counters,
    device: Counters,
    cache: Cache,
    limits: PoolLimits,
    /// Requested lengths of blocks that the system is being asked for.
    asked: u64,
    watches: Watches,
}

impl Renew for State {
    fn renewed(&self) -> State {
        let State { blocks, host, device, limits, .. } = *self;
        State { blocks, host, device, limits, ..State::default() }
    }
}

impl State {
    fn add(&mut self, size: usize, length: usize, kind: Kind) {
        self.blocks.add(size as u64);
        self.counters(kind).add(length as u64);
        if !self.watches.is_empty() {
            let live = self.live();
            self.watches.added(length as u64, live);
        }
    }

    /// Requested bytes of live buffers.
    fn live(&self) -> u64 {
        self.host.live() + self.device.live()
    }

    /// Whether `length` more bytes are within the limit.
    fn allows(&self, length: usize) -> bool {
        let used = self.live().saturating_add(self.asked);
        used.checked_add(length as u64).is_some_and(|wanted| wanted <= self.limits.memory)
    }

    /// Takes out of the cache what is above its bounds, of other sizes than `keep` first: what was just freed is the
    /// likeliest to be asked for again.
    fn evict(&mut self, keep: usize) -> Vec<Raw> {
        let limit = self.blocks.peak.saturating_sub(self.blocks.live()).min(self.limits.cached);
        let mut evicted = Vec::new();
        while self.cache.bytes > limit {
            let Some(old) = self.cache.evict(keep) else { break };
            evicted.push(old);
        }
        evicted
    }

    fn counters(&mut self, kind: Kind) -> &mut Counters {
        match kind {
            Kind::Host => &mut self.host,
            Kind::Device => &mut self.device,
        }
    }
}

/// Sizes up to this have a list each; it is found by division.
const SMALL: usize = 4096;

#[derive(Default)]
struct Cache {
    bytes: u64,
    /// Lists of sizes up to [`SMALL`], made when the first small block comes back.
    small: Box<[Vec<Raw>]>,
    /// One entry for each of the few hundred sizes that blocks can have; empty lists stay.
    large: BTreeMap<usize, Vec<Raw>>,
}

impl Cache {
    fn list(&mut self, size: usize) -> Option<&mut Vec<Raw>> {
        if size <= SMALL { self.small.get_mut(size / ALIGNMENT) } else { self.large.get_mut(&size) }
    }

    fn take(&mut self, size: usize) -> Option<Raw> {
        let raw = self.list(size)?.pop()?;
        self.bytes -= size as u64;
        Some(raw)
    }

    fn put(&mut self, raw: Raw) {
        self.bytes += raw.size as u64;
        let size = raw.size;
        if size > SMALL {
            self.large.entry(size).or_default().push(raw);
            return;
        }
        if self.small.is_empty() {
            self.small = (0..=SMALL / ALIGNMENT).map(|_| Vec::new()).collect();
        }
        self.small[size / ALIGNMENT].push(raw);
    }

    /// Takes out a block, of another size than `keep` if there is one.
    fn evict(&mut self, keep: usize) -> Option<Raw> {
        let small = self.small.iter().filter_map(|list| list.first());
        let mut sizes = small.chain(self.large.values().filter_map(|list| list.first())).map(|raw| raw.size);
        let size = sizes.find(|&size| size != keep).unwrap_or(keep);
        self.take(size)
    }

    fn take_all(&mut self) -> Vec<Raw> {
        self.bytes = 0;
        let small = self.small.iter_mut().flat_map(|list| list.drain(..));
        small.chain(std::mem::take(&mut self.large).into_values().flatten()).collect()
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
    /// Taken out when the block is dropped.
    raw: ManuallyDrop<Raw>,
    length: usize,
    kind: Kind,
    pool: Arc<Pool>,
    /// What it takes from the limit of the context that asked for it.
    _charge: Option<Charge>,
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
        Arc::new(Pool { state: ForkLock::new(State::default()) })
    }

    /// A block of at least `length` bytes.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED when the system has no such memory, or the limit of the pool forbids it.
    pub fn allocate(self: Arc<Pool>, length: usize, kind: Kind) -> Result<Block> {
        let Some(size) = size_class(length).filter(|&size| size <= isize::MAX as usize - 4096) else {
            return Err(self.exhausted(length));
        };
        let mut state = self.state.lock();
        if !state.allows(length) {
            drop(state);
            return Err(self.exhausted(length));
        }
        let reused = state.cache.take(size);
        match reused {
            Some(_) => state.add(size, length, kind),
            None => state.asked += length as u64,
        }
        drop(state);
        let raw = match reused {
            Some(raw) => raw,
            None => self.fresh(size, length, kind)?,
        };
        if tiree_trace::timeline() {
            self.note("allocate", length, kind);
        }
        Ok(Block { raw: ManuallyDrop::new(raw), length, kind, pool: self, _charge: None })
    }

    /// A block from the system.
    fn fresh(&self, size: usize, length: usize, kind: Kind) -> Result<Raw> {
        let raw = Raw::new(size).or_else(|| {
            self.trim();
            Raw::new(size)
        });
        let mut state = self.state.lock();
        state.asked -= length as u64;
        if raw.is_some() {
            state.add(size, length, kind);
        }
        drop(state);
        raw.ok_or_else(|| self.exhausted(length))
    }

    #[cold]
    fn exhausted(&self, length: usize) -> Status {
        let (live, limit) = {
            let state = self.state.lock();
            (state.live(), state.limits.memory)
        };
        let limit = if limit == u64::MAX { String::new() } else { format!(", which may use {limit} bytes") };
        Status::resource_exhausted(format!(
            "out of memory: {length} bytes asked, {live} bytes in use by this device{limit}"
        ))
    }

    fn give_back(&self, raw: Raw, length: usize, kind: Kind) {
        let keep = raw.size;
        let evicted = {
            let mut state = self.state.lock();
            state.counters(kind).freed += length as u64;
            state.blocks.freed += keep as u64;
            state.cache.put(raw);
            state.evict(keep)
        };
        evicted.into_iter().for_each(Raw::free);
        if tiree_trace::timeline() {
            self.note("deallocate", length, kind);
        }
    }

    #[cold]
    fn note(&self, what: &str, length: usize, kind: Kind) {
        timeline::memory(what, length, kind, std::ptr::from_ref(self) as usize, &self.statistics());
    }

    /// The bounds that hold.
    pub fn limits(&self) -> PoolLimits {
        self.state.lock().limits
    }

    /// Sets bounds. What is live stays, though above them; what is kept for reuse is cut down at once.
    pub fn set_limits(&self, limits: PoolLimits) {
        let evicted = {
            let mut state = self.state.lock();
            state.limits = limits;
            state.evict(0)
        };
        evicted.into_iter().for_each(Raw::free);
    }

    /// Begins to watch how much memory is in use; see [`crate::peak`].
    pub(crate) fn watch(&self) -> u64 {
        let mut state = self.state.lock();
        let live = state.live();
        state.watches.begin(live)
    }

    /// What a watch has seen so far.
    pub(crate) fn watched(&self, watch: u64) -> Usage {
        let state = self.state.lock();
        state.watches.seen(watch, state.live())
    }

    /// Ends a watch.
    pub(crate) fn unwatch(&self, watch: u64) {
        self.state.lock().watches.end(watch);
    }

    /// Gives all unused memory back to the system.
    pub fn trim(&self) {
        let free = self.state.lock().cache.take_all();
        free.into_iter().for_each(Raw::free);
    }

    /// The counters.
    pub fn statistics(&self) -> Statistics {
        let state = self.state.lock();
        Statistics { host: state.host, device: state.device, cached: state.cache.bytes }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.trim();
    }
}

impl Block {
    /// The same block, which holds `charge` as long as it lives.
    #[must_use]
    pub fn charged(mut self, charge: Option<Charge>) -> Block {
        self._charge = charge;
        self
    }

    /// First byte.
    pub fn as_ptr(&self) -> NonNull<u8> {
        self.raw.data
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
        // SAFETY: taken once, here, and not used afterwards.
        let raw = unsafe { ManuallyDrop::take(&mut self.raw) };
        self.pool.give_back(raw, self.length, self.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_reused_and_counted() {
        let pool = Pool::new();
        for length in [0, 1, 64, 65, 5000, 300_000, 9_000_000] {
            let block = pool.clone().allocate(length, Kind::Device).unwrap();
            let address = block.as_ptr();
            assert_eq!(address.as_ptr() as usize % ALIGNMENT, 0);
            drop(block);
            let again = pool.clone().allocate(length, Kind::Device).unwrap();
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
    fn limits_bound_what_is_live_and_what_is_kept() {
        let pool = Pool::new();
        pool.set_limits(PoolLimits { memory: 1000, cached: 512 });
        let first = pool.clone().allocate(600, Kind::Device).unwrap();
        let second = pool.clone().allocate(400, Kind::Host).unwrap();
        let Err(error) = pool.clone().allocate(1, Kind::Device) else { panic!("above the limit") };
        let text = "RESOURCE_EXHAUSTED; out of memory: 1 bytes asked, 1000 bytes in use by this device, which may use 1000 bytes";
        assert_eq!(error.to_string(), text);
        assert!(pool.clone().allocate(0, Kind::Device).is_ok());
        drop((first, second));
        assert!(pool.statistics().cached <= 512);
        assert!(pool.clone().allocate(1001, Kind::Host).is_err());
        assert!(pool.clone().allocate(1000, Kind::Host).is_ok());
        pool.set_limits(PoolLimits { cached: 0, ..PoolLimits::default() });
        assert_eq!(pool.statistics().cached, 0);
        drop(pool.clone().allocate(5000, Kind::Host).unwrap());
        assert_eq!((pool.statistics().cached, pool.statistics().host.peak), (0, 5000));
    }

    #[test]
    fn impossible_sizes_are_an_error() {
        let pool = Pool::new();
        for length in [usize::MAX, isize::MAX as usize, 1 << 62] {
            let Err(error) = pool.clone().allocate(length, Kind::Device) else { panic!("{length} accepted") };
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
