//! Calls inside calls: native code that a call executes may call the VM again, on the same thread. Such a call takes its
//! fuel out of what its caller has left, ends by the caller's deadline, and counts among the calls that the caller may
//! have active. Each also needs some of the thread's stack, which is looked at before it begins.
//!
//! Calls of a thread need not end in the reverse order of their beginnings: native code may switch to another coroutine
//! that has the same thread and even, with greenlets, the same stack. So the accounts of a thread are a chain, each
//! leaves it wherever it is, and a call that began further down the stack than the next one begins is not its caller.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::ptr;
use std::rc::Rc;
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
    /// Where on the stack it was entered, or [`ANYWHERE`]. Between this and what the call calls is a frame of the stack.
    pub at: Cell<usize>,
    /// While this is entered: the one that was the innermost before, and the limits that were current, if others are now.
    under: Cell<*const Account>,
    replaces: Cell<bool>,
    replaced: Cell<Limits>,
}

// SAFETY: `under` is only looked at while the account is entered, by the thread that it is entered on.
unsafe impl Send for Account {}

/// Where an account was entered that all calls are in that begin before it is left.
pub(super) const ANYWHERE: usize = usize::MAX;

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
    /// The innermost account. It and those under it are there, as each takes itself out when it is left.
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

/// An address in the frame of the function that it is used in.
macro_rules! stack_address {
    () => {{
        let marker = 0u8;
        (&raw const marker).addr()
    }};
}

/// The limits of the innermost limited call that executes on this thread, for native code that waits, or has bytecode
/// executed, on its behalf; none outside of calls. A timeout has become a deadline.
pub fn current() -> Limits {
    let at = stack_address!();
    CURRENT.with(|current| current.caller(at).1)
}

/// When the innermost call of this thread must be done.
#[inline(always)]
pub(crate) fn current_deadline() -> Option<Instant> {
    #[inline(never)]
    fn of_call() -> Option<Instant> {
        Caller::here().deadline
    }
    if CURRENT.with(|current| current.account.get().is_null()) { None } else { of_call() }
}

/// Makes `limits` the current ones of this thread until it is dropped: those of work that belongs to a call that does not
/// execute here. Calls made meanwhile have nothing to do with the call that does.
pub struct Scope {
    _entered: Entered,
    /// That of nobody.
    _account: Rc<Account>,
}

impl Scope {
    /// Enters the scope.
    #[must_use]
    pub fn enter(limits: Limits) -> Scope {
        let account = Rc::new(Account::default());
        account.max_depth.set(u32::MAX);
        // One less than none, as the account is not one of a call.
        account.below.set(u32::MAX);
        account.at.set(ANYWHERE);
        let entered = CURRENT.with(|current| {
            account.replaces.set(true);
            account.replaced.set(current.limits.replace(limits));
            account.under.set(current.account.replace(&raw const *account));
            Entered(&raw const *account)
        });
        Scope { _entered: entered, _account: account }
    }
}

impl Current {
    /// The account and the limits of the innermost call below the address `at` of the stack. Where calls do not end in the
    /// reverse order of their beginnings, there may be others on top of it, which wait for others.
    #[inline(always)]
    fn caller(&self, at: usize) -> (*const Account, Limits) {
        self.caller_from(self.account.get(), at)
    }

    /// The same; `account` is the innermost.
    #[inline(always)]
    fn caller_from(&self, account: *const Account, at: usize) -> (*const Account, Limits) {
        // SAFETY: entered accounts are there.
        match unsafe { account.as_ref() } {
            Some(innermost) if innermost.at.get() < at => self.caller_elsewhere(account, at),
            _ => (account, self.limits.get()),
        }
    }

    #[cold]
    #[inline(never)]
    fn caller_elsewhere(&self, mut account: *const Account, at: usize) -> (*const Account, Limits) {
        let mut limits = self.limits.get();
        let Stack::Range(low, high) = self.stack.get() else { return (account, limits) };
        // Coroutines with stacks of their own may be anywhere, so they count as called.
        let own = |at: usize| at >= low && at < high;
        // SAFETY: entered accounts are there.
        while let Some(above) = unsafe { account.as_ref() }
            && own(at)
            && own(above.at.get())
            && above.at.get() < at
        {
            if above.replaces.get() {
                limits = above.replaced.get();
            }
            account = above.under.get();
        }
        (account, limits)
    }

    /// Takes an account out from under others.
    #[cold]
    #[inline(never)]
    fn leave_below(&self, left: &Account) {
        let mut above = self.account.get();
        let mut restores = None;
        // SAFETY: entered accounts are there.
        while let Some(account) = unsafe { above.as_ref() } {
            if account.replaces.get() {
                restores = Some(account);
            }
            if ptr::eq(account.under.get(), left) {
                account.under.set(left.under.get());
                break;
            }
            above = account.under.get();
        }
        // Whoever would have brought these limits back brings back what was before them.
        if left.replaces.take() {
            restores.map_or(&self.limits, |account| &account.replaced).set(left.replaced.get());
        }
    }

    /// Whether an account is entered on this thread.
    #[cold]
    fn has(&self, wanted: *const Account) -> bool {
        let mut account = self.account.get();
        // SAFETY: entered accounts are there.
        while let Some(each) = unsafe { account.as_ref() } {
            if ptr::eq(each, wanted) {
                return true;
            }
            account = each.under.get();
        }
        false
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
        let at = stack_address!();
        let account = CURRENT.with(|current| current.caller(at).0);
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
            active: at.below.get().wrapping_add(depth).wrapping_add(1),
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
        // The caller mostly waits for the nested call to end; where it does not, it may be gone.
        let there = |current: &Current| current.account.get() == self.account || current.has(self.account);
        if self.account.is_null() || !CURRENT.with(there) {
            return;
        }
        // SAFETY: an account that has been entered is there until it is left.
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
    #[inline(always)]
    pub fn enter(&self, caller: &Caller, deadline: Option<Instant>, limits: Option<Limits>) -> Entered {
        self.deadline.set(deadline);
        self.below.set(caller.active);
        self.level.set(caller.level + 1);
        let at = stack_address!();
        self.at.set(at);
        CURRENT.with(|current| {
            let innermost = current.account.replace(self);
            self.under.set(innermost);
            // Not those of calls that others have begun and not ended.
            if limits.is_some() || innermost != caller.account {
                self.replace_limits(current, limits, at);
            }
        });
        Entered(self)
    }

    #[inline(never)]
    fn replace_limits(&self, current: &Current, limits: Option<Limits>, at: usize) {
        let around = current.caller_from(self.under.get(), at).1;
        let limits = limits.map_or(around, |limits| limits.within(&around));
        self.replaces.set(true);
        self.replaced.set(current.limits.replace(limits));
    }
}

/// Leaves an account when dropped, which must be before the account is gone.
pub(crate) struct Entered(*const Account);

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        CURRENT.with(|current| {
            // SAFETY: it has been entered, and is there until it is left, here.
            let account = unsafe { &*self.0 };
            if !ptr::eq(current.account.get(), account) {
                return current.leave_below(account);
            }
            current.account.set(account.under.get());
            if account.replaces.get() {
                account.replaces.set(false);
                current.limits.set(account.replaced.get());
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
