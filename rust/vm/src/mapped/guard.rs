//! What happens when pages of a mapped file are gone when they are read: zeros take their place, and the file is marked.
//!
//! The system answers a read of a page that the file no longer has with SIGBUS, which ends the process. The handler here
//! looks for the address among the ranges that were registered. When it is in one, the rest of that range becomes
//! anonymous memory, so that the read goes on; whoever used the file finds the mark and reports it. Any other SIGBUS is
//! for whoever handled it before: Python's `faulthandler`, another runtime, or the system.
//!
//! The handler reads atomics and calls `mmap`, `sigaction` and `raise`: nothing that could wait for a lock.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};

/// Times that pages were replaced in this process.
static LOSSES: AtomicU64 = AtomicU64::new(0);
/// Registered ranges that have lost pages.
static LOST_NOW: AtomicUsize = AtomicUsize::new(0);

/// How often pages were lost so far.
#[inline]
pub(super) fn losses() -> u64 {
    LOSSES.load(Acquire)
}

/// Whether a range that is mapped now has lost pages.
#[inline]
pub(super) fn any_lost() -> bool {
    LOST_NOW.load(Acquire) != 0
}

/// Sees to it that the handler is the first, as others may have come in front since something was mapped.
#[inline]
pub(super) fn ensure() {
    signal::install();
}

/// One range. It is free while `end` is 0 and nobody has claimed it.
struct Slot {
    claimed: AtomicBool,
    start: AtomicUsize,
    end: AtomicUsize,
    writable: AtomicBool,
    lost: AtomicBool,
}

impl Slot {
    const fn free() -> Slot {
        Slot {
            claimed: AtomicBool::new(false),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            writable: AtomicBool::new(false),
            lost: AtomicBool::new(false),
        }
    }
}

const SLOTS: usize = 64;

/// Slots that never move, and the next ones.
struct Chunk {
    slots: [Slot; SLOTS],
    next: AtomicPtr<Chunk>,
}

impl Chunk {
    const fn empty() -> Chunk {
        Chunk { slots: [const { Slot::free() }; SLOTS], next: AtomicPtr::new(std::ptr::null_mut()) }
    }

    fn next(&self) -> Option<&'static Chunk> {
        // SAFETY: null, or a chunk that was leaked when it was linked.
        unsafe { self.next.load(Acquire).as_ref() }
    }
}

static FIRST: Chunk = Chunk::empty();

fn claim() -> &'static Slot {
    let mut chunk: &'static Chunk = &FIRST;
    loop {
        let free = |slot: &&Slot| slot.claimed.compare_exchange(false, true, AcqRel, Relaxed).is_ok();
        if let Some(slot) = chunk.slots.iter().find(free) {
            return slot;
        }
        chunk = match chunk.next() {
            Some(next) => next,
            None => {
                let new = Box::into_raw(Box::new(Chunk::empty()));
                if chunk.next.compare_exchange(std::ptr::null_mut(), new, AcqRel, Acquire).is_err() {
                    // SAFETY: another thread linked its own; nobody has seen this one.
                    drop(unsafe { Box::from_raw(new) });
                }
                continue;
            }
        };
    }
}

/// A range that is guarded until this is dropped, which must be before it is unmapped.
pub(super) struct Guarded(&'static Slot);

impl Guarded {
    /// Guards `length` bytes that are mapped at `start`.
    pub(super) fn new(start: usize, length: usize, writable: bool) -> Guarded {
        signal::install();
        let slot = claim();
        slot.lost.store(false, Relaxed);
        slot.writable.store(writable, Relaxed);
        slot.start.store(start, Relaxed);
        slot.end.store(start + length, Release);
        Guarded(slot)
    }

    /// Whether pages of it are gone.
    pub(super) fn lost(&self) -> bool {
        self.0.lost.load(Acquire)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.0.end.store(0, Release);
        if self.0.lost.swap(false, AcqRel) {
            LOST_NOW.fetch_sub(1, AcqRel);
        }
        self.0.claimed.store(false, Release);
    }
}

/// Puts zeros where `address` and what is behind it should be; false when it is in no range.
#[cfg(unix)]
fn replace(address: usize) -> bool {
    let mut chunk: Option<&'static Chunk> = Some(&FIRST);
    while let Some(here) = chunk {
        for slot in &here.slots {
            let (end, start) = (slot.end.load(Acquire), slot.start.load(Relaxed));
            if !(start..end).contains(&address) {
                continue;
            }
            // The mark first: whoever sees a zero finds it.
            if !slot.lost.swap(true, AcqRel) {
                LOST_NOW.fetch_add(1, AcqRel);
                signal::tell();
            }
            LOSSES.fetch_add(1, AcqRel);
            return signal::zeros(address, end, slot.writable.load(Relaxed));
        }
        chunk = here.next();
    }
    false
}

#[cfg(unix)]
mod signal {
    use super::{AcqRel, Acquire, AtomicPtr, AtomicUsize, Release, replace};
    use libc::{SA_ONSTACK, SA_SIGINFO, SIG_DFL, SIG_IGN, SIGBUS, c_int, c_void, sigaction, siginfo_t};
    use std::mem::MaybeUninit;
    use std::ptr;

    type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

    /// One for each handler that has been found: so what is installed tells what is behind it. Who takes itself out, as
    /// `faulthandler.disable()` does, puts back the one that it had found, which knows nothing of what came later.
    const HANDLERS: [Handler; 8] = [
        handler::<0>,
        handler::<1>,
        handler::<2>,
        handler::<3>,
        handler::<4>,
        handler::<5>,
        handler::<6>,
        handler::<7>,
    ];
    /// What each of them has found. Never freed: a handler may be reading it.
    static FOUND: [AtomicPtr<sigaction>; HANDLERS.len()] = [const { AtomicPtr::new(ptr::null_mut()) }; HANDLERS.len()];
    /// The thread that is inside of what one of them has found.
    static INSIDE: AtomicUsize = AtomicUsize::new(0);
    /// The last fault that was not ours, and how often it came again: whoever was told does nothing about it.
    static ADDRESS: AtomicUsize = AtomicUsize::new(0);
    static AGAIN: AtomicUsize = AtomicUsize::new(0);
    const MAX_AGAIN: usize = 100;
    static PAGE: AtomicUsize = AtomicUsize::new(4096);

    fn is_ours(address: usize) -> bool {
        HANDLERS.iter().any(|ours| *ours as usize == address)
    }

    /// What is installed now.
    fn current() -> Option<sigaction> {
        let mut now = MaybeUninit::<sigaction>::zeroed();
        // SAFETY: asks what is installed; a zeroed action is a valid one.
        unsafe { (libc::sigaction(SIGBUS, ptr::null(), now.as_mut_ptr()) == 0).then(|| now.assume_init()) }
    }

    fn put(ours: Handler) {
        // SAFETY: the handler is async-signal-safe, keeps errno, and the action is complete.
        unsafe {
            let mut action: sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = ours as usize;
            action.sa_flags = SA_SIGINFO | SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(SIGBUS, &action, ptr::null_mut());
        }
    }

    /// Makes one of `HANDLERS` the first to hear of the signal, unless so many others came in front. Some may have since
    /// the last time.
    pub(super) fn install() {
        let Some(action) = current().filter(|now| !is_ours(now.sa_sigaction)) else { return };
        // SAFETY: no pointers.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        PAGE.store(usize::try_from(page).unwrap_or(4096), Release);
        let new = Box::into_raw(Box::new(action));
        for (ours, found) in HANDLERS.iter().zip(&FOUND) {
            let before = match found.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
                Ok(_) => return put(*ours),
                Err(before) => before,
            };
            // SAFETY: not null, and never freed.
            if unsafe { (*before).sa_sigaction } == action.sa_sigaction {
                put(*ours);
                break;
            }
        }
        // SAFETY: nobody else has seen it.
        drop(unsafe { Box::from_raw(new) });
    }

    fn errno() -> *mut c_int {
        #[cfg(target_os = "linux")]
        // SAFETY: the thread's own.
        unsafe {
            libc::__errno_location()
        }
        #[cfg(not(target_os = "linux"))]
        // SAFETY: the thread's own.
        unsafe {
            libc::__error()
        }
    }

    extern "C" fn handler<const N: usize>(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the system gives a valid info; errno is the thread's own.
        unsafe {
            let before = *errno();
            // Sent by a program, it has no address.
            let is_fault = (*info).si_code > 0;
            if !(is_fault && replace((*info).si_addr().addr())) {
                pass_on(N, signal, info, context, is_fault);
            }
            *errno() = before;
        }
    }

    /// Anonymous memory from the page of `address` to `end`.
    pub(super) fn zeros(address: usize, end: usize, writable: bool) -> bool {
        let start = address & !(PAGE.load(Acquire) - 1);
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        // SAFETY: a part of a mapping that its owner keeps: it is unmapped after the range is registered no longer, and
        // nobody reads it then.
        let mapped =
            unsafe { libc::mmap(ptr::with_exposed_provenance_mut(start), end - start, protection, flags, -1, 0) };
        mapped != libc::MAP_FAILED
    }

    /// Code that reads a file through a view of its own has nobody else to tell it.
    pub(super) fn tell() {
        const TEXT: &[u8] = b"tiree: a mapped file was cut short while it was in use; zeros were read instead\n";
        // SAFETY: writes a constant.
        unsafe { libc::write(libc::STDERR_FILENO, TEXT.as_ptr().cast(), TEXT.len()) };
    }

    /// Ends the process: the instruction that faulted is executed again, or the signal is sent again.
    fn end(signal: c_int, is_fault: bool) {
        // SAFETY: the default action.
        unsafe {
            libc::signal(signal, SIG_DFL);
            if !is_fault {
                libc::raise(signal);
            }
        }
    }

    /// Whether the fault came so often in a row that nobody will do anything about it.
    fn is_stuck(address: usize) -> bool {
        if ADDRESS.swap(address, AcqRel) != address {
            AGAIN.store(0, Release);
        }
        AGAIN.fetch_add(1, AcqRel) >= MAX_AGAIN
    }

    /// # Safety
    /// The arguments are those of handler `number`.
    unsafe fn pass_on(number: usize, signal: c_int, info: *mut siginfo_t, context: *mut c_void, is_fault: bool) {
        // SAFETY: asks for a number.
        let me = unsafe { libc::pthread_self() } as usize;
        // SAFETY: null or never freed.
        let found = unsafe { FOUND[number].load(Acquire).as_ref() };
        let target = found.map_or(SIG_DFL, |found| found.sa_sigaction);
        // Who calls back what it had replaced would go round in circles.
        let again = INSIDE.swap(me, AcqRel) == me;
        // SAFETY: a fault has an address.
        let stuck = is_fault && is_stuck(unsafe { (*info).si_addr().addr() });
        match found {
            Some(found) if !again && !stuck && target != SIG_DFL && target != SIG_IGN => {
                // What is installed is what would be without us: `faulthandler` takes itself out and leaves the end of the
                // process to what it had found, which may have been one of ours.
                // SAFETY: what was installed once; it is a function of the kind that its flags say.
                unsafe {
                    libc::sigaction(signal, found, ptr::null_mut());
                    if found.sa_flags & SA_SIGINFO != 0 {
                        std::mem::transmute::<usize, Handler>(target)(signal, info, context);
                    } else {
                        std::mem::transmute::<usize, extern "C" fn(c_int)>(target)(signal);
                    }
                }
                if current().is_some_and(|now| now.sa_sigaction == target) {
                    put(HANDLERS[number]);
                }
            }
            _ if target == SIG_IGN && !is_fault => {}
            _ => end(signal, is_fault),
        }
        INSIDE.store(0, Release);
    }
}

#[cfg(not(unix))]
mod signal {
    /// Files that are mapped cannot be cut short there.
    pub(super) fn install() {}
}
