//! Calls inside calls: native code that a call executes may call the VM again, on the same thread. Such a call takes its
//! fuel out of what its caller has left, ends by the caller's deadline, and counts among the calls that the caller may
//! have active. Each also needs some of the thread's stack, which is looked at before it begins.

use std::cell::Cell;
use std::ptr;
use std::time::Instant;

use super::{Limit, Limits};
use crate::status::{Result, Status};

/// What a call that executes on a thread leaves for the calls that its native code makes. It is kept up to date when
/// native code gets control; between native calls it may be behind by a slice of fuel.
#[derive(Default)]
pub(crate) struct Account {
    /// Fuel that is left beside `fuel`, when it is limited.
    pub beyond: Cell<Option<u64>>,
    /// What is left of the current slice.
    pub fuel: Cell<isize>,
    /// Fuel that nested calls have used and this one has not been charged for.
    pub nested: Cell<u64>,
    /// Native calls until the next look at the limits, and at what nested calls have used.
    pub calls_to_look: Cell<u32>,
    /// Calls below the innermost one, in this account.
    pub depth: Cell<u32>,
    /// Most that `depth` may be; the largest number is no limit.
    pub max_depth: Cell<u32>,
    deadline: Cell<Option<Instant>>,
    /// Calls that are active in the accounts below this one.
    below: Cell<u32>,
    /// Accounts on this thread, with this one.
    level: Cell<u32>,
}

/// The stack of a thread.
#[derive(Clone, Copy)]
enum Stack {
    Unknown,
    /// Not to be found out.
    None,
    /// From its lowest address to its highest.
    Range(usize, usize),
}

/// What executes on a thread.
struct Current {
    limits: Cell<Limits>,
    account: Cell<*const Account>,
    stack: Cell<Stack>,
}

thread_local! {
    static CURRENT: Current = const {
        Current {
            limits: Cell::new(Limits { fuel: None, timeout: None, deadline: None, max_stack_depth: None }),
            account: Cell::new(ptr::null()),
            stack: Cell::new(Stack::Unknown),
        }
    };
}

/// The limits of the innermost limited call that executes on this thread, for native code that waits, or has bytecode
/// executed, on its behalf; none outside of calls. A timeout has become a deadline.
pub fn current() -> Limits {
    CURRENT.with(|current| current.limits.get())
}

/// When the innermost call of this thread must be done.
pub(crate) fn current_deadline() -> Option<Instant> {
    let here = Caller::here();
    // SAFETY: see `Caller::here`.
    unsafe { here.account.as_ref() }.and_then(|account| account.deadline.get())
}

/// Makes `limits` the current ones of this thread until it is dropped: those of work that belongs to a call that does not
/// execute here. Calls made meanwhile have nothing to do with the call that does.
pub struct Scope(Limits, *const Account);

impl Scope {
    /// Enters the scope.
    #[must_use]
    pub fn enter(limits: Limits) -> Scope {
        CURRENT.with(|current| Scope(current.limits.replace(limits), current.account.replace(ptr::null())))
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        CURRENT.with(|current| {
            current.limits.set(self.0);
            current.account.set(self.1);
        });
    }
}

/// The innermost call of a thread, as one sees it that begins now.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    /// Null when there is none.
    pub(super) account: *const Account,
    /// Fuel that is left, when it is limited.
    pub fuel: Option<u64>,
    /// When it must be done.
    pub deadline: Option<Instant>,
    /// How many more calls may be active; the largest number is no limit.
    pub calls: u32,
    /// Calls that are active.
    pub active: u32,
    /// Accounts on this thread.
    pub level: u32,
}

impl Caller {
    /// The innermost call of this thread.
    #[inline]
    pub fn here() -> Caller {
        let account = CURRENT.with(|current| current.account.get());
        // SAFETY: an account that has been entered is there until it is left.
        let Some(at) = (unsafe { account.as_ref() }) else {
            return Caller { account, fuel: None, deadline: None, calls: u32::MAX, active: 0, level: 0 };
        };
        let (depth, max_depth) = (at.depth.get(), at.max_depth.get());
        Caller {
            account,
            fuel: at.left(),
            deadline: at.deadline.get(),
            calls: if max_depth == u32::MAX { u32::MAX } else { max_depth.saturating_sub(depth) },
            active: at.below.get().saturating_add(depth).saturating_add(1),
            level: at.level.get(),
        }
    }

    /// Whether another call may begin: how deep it may go. `own` is how deep it may go by itself.
    #[inline]
    pub fn admit(&self, own: u32) -> Result<u32> {
        check_stack(self.level)?;
        match self.calls {
            u32::MAX => Ok(own),
            0 => Err(too_many_calls(self.active)),
            calls => Ok(own.min(calls - 1)),
        }
    }

    /// The same, to be looked at when the call may be gone.
    pub fn detached(self) -> Caller {
        Caller { account: ptr::null(), ..self }
    }

    /// Takes `fuel` that a nested call has used.
    pub fn charge(&self, fuel: u64) {
        // SAFETY: the caller goes on when the nested call has ended, so its account is still there.
        if let Some(account) = unsafe { self.account.as_ref() } {
            account.nested.set(account.nested.get().saturating_add(fuel));
            account.calls_to_look.set(1);
        }
    }
}

/// What a call fails with that would be one too many.
#[cold]
pub(crate) fn too_many_calls(active: u32) -> Status {
    let text = match active {
        0 => "stack overflow: no calls may be active, the limit".to_owned(),
        active => format!("stack overflow: {active} calls are active, the limit"),
    };
    Status::resource_exhausted(text).with_limit(Limit::Stack)
}

impl Account {
    /// Fuel that is left, when it is limited.
    fn left(&self) -> Option<u64> {
        self.beyond.get().map(|beyond| {
            let fuel = self.fuel.get();
            let left = beyond.saturating_add(fuel.max(0) as u64).saturating_sub(fuel.min(0).unsigned_abs() as u64);
            left.saturating_sub(self.nested.get())
        })
    }

    /// Calls that are active in the accounts below this one.
    pub fn below(&self) -> u32 {
        self.below.get()
    }

    /// Makes this the innermost account of the thread, above `caller`, until what is returned is dropped. With `limits`,
    /// those are current.
    #[inline]
    pub fn enter(&self, caller: &Caller, deadline: Option<Instant>, limits: Option<Limits>) -> Entered {
        self.deadline.set(deadline);
        self.below.set(caller.active);
        self.level.set(caller.level + 1);
        CURRENT.with(|current| Entered {
            limits: limits.map(|limits| current.limits.replace(limits.within(&current.limits.get()))),
            account: current.account.replace(self),
        })
    }
}

/// Leaves an account when dropped, which must be before the account is gone.
pub(crate) struct Entered {
    limits: Option<Limits>,
    account: *const Account,
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| {
            current.account.set(self.account);
            if let Some(limits) = self.limits {
                current.limits.set(limits);
            }
        });
    }
}

/// Bytes of a thread's stack that calls leave for native code: a quarter of it, within these bounds.
const STACK_LEFT: (usize, usize) = (32 << 10, 256 << 10);

/// RESOURCE_EXHAUSTED when little is left of the thread's stack. Native code may call the VM, and the VM native code, any
/// number of times; every time takes some.
#[inline]
fn check_stack(level: u32) -> Result<()> {
    let marker = 0u8;
    let at = (&raw const marker).addr();
    match CURRENT.with(|current| current.stack.get()) {
        Stack::Range(low, high) if at < high && at >= low => {
            let keep = ((high - low) / 4).clamp(STACK_LEFT.0, STACK_LEFT.1);
            if at - low >= keep { Ok(()) } else { Err(no_stack(level, at - low)) }
        }
        // On a stack that is not the thread's own, as some coroutines are.
        Stack::Range(..) | Stack::None => Ok(()),
        Stack::Unknown => {
            CURRENT.with(|current| current.stack.set(own_stack()));
            check_stack(level)
        }
    }
}

#[cold]
fn no_stack(level: u32, left: usize) -> Status {
    let text = format!(
        "stack overflow: calls are nested {level} deep through native code, and {} KiB are left of the thread's stack",
        left >> 10
    );
    Status::resource_exhausted(text).with_limit(Limit::Stack)
}

/// The stack of this thread.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[cold]
fn own_stack() -> Stack {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut low, mut size) = (ptr::null_mut(), 0);
    // SAFETY: the attributes are initialised by the first call when it succeeds, and destroyed once.
    let found = unsafe {
        libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) == 0 && {
            let found = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut low, &raw mut size) == 0;
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            found
        }
    };
    if found { Stack::Range(low.addr(), low.addr() + size) } else { Stack::None }
}

/// The stack of this thread.
#[cfg(target_vendor = "apple")]
#[cold]
fn own_stack() -> Stack {
    // SAFETY: both only read what the thread was made with.
    let (high, size) = unsafe {
        let this = libc::pthread_self();
        (libc::pthread_get_stackaddr_np(this).addr(), libc::pthread_get_stacksize_np(this))
    };
    Stack::Range(high - size, high)
}

/// The stack of this thread.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
#[cold]
fn own_stack() -> Stack {
    Stack::None
}
