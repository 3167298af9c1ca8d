//! How the process that embeds the VM stops calls that would go on: a hook that long calls look at.
//!
//! The interpreter looks when a call has run for a while (see [`Watch`]), blocking waits look between slices of sleep.
//! Python's bindings install a hook that runs signal handlers, so that Ctrl-C ends a loop that never waits.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::module::Wait;
use crate::status::{Result, Status};

/// Asks whether the call on this thread shall go on; its error ends the call.
pub type Hook = fn() -> Result<()>;

static HOOK: OnceLock<Hook> = OnceLock::new();

/// How long a thread runs or sleeps before it asks the hook.
const PERIOD: Duration = Duration::from_millis(50);

/// Installs the hook of this process; false when there is one already.
pub fn set_hook(hook: Hook) -> bool {
    HOOK.set(hook).is_ok()
}

/// Calls that this thread is inside of and that others may cancel, the innermost first.
struct Cancellable {
    cancelled: Arc<AtomicBool>,
    outer: Option<Arc<Cancellable>>,
}

thread_local! {
    static CANCELLABLE: RefCell<Option<Arc<Cancellable>>> = const { RefCell::new(None) };
}

/// Puts back what was there before.
struct Restore(Option<Arc<Cancellable>>);

impl Drop for Restore {
    fn drop(&mut self) {
        CANCELLABLE.set(self.0.take());
    }
}

/// Does `work`, which calls and the calls that they make end, with CANCELLED, when they look after `cancelled` was set.
pub fn unless<T>(cancelled: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let outer = CANCELLABLE.take();
    let _restore = Restore(outer.clone());
    CANCELLABLE.set(Some(Arc::new(Cancellable { cancelled: cancelled.clone(), outer })));
    work()
}

/// CANCELLED when a call that this thread is inside of was.
fn check_cancelled() -> Result<()> {
    CANCELLABLE.with_borrow(|innermost| {
        let mut next = innermost.as_ref();
        while let Some(call) = next {
            if call.cancelled.load(Ordering::Acquire) {
                return Err(Status::cancelled("the call was cancelled"));
            }
            next = call.outer.as_ref();
        }
        Ok(())
    })
}

/// Looks whether the call on this thread was cancelled, and asks the hook, now.
pub fn poll() -> Result<()> {
    check_cancelled()?;
    HOOK.get().map_or(Ok(()), |hook| hook())
}

/// Remembers when a call asked last.
#[derive(Default)]
pub struct Watch(Option<Instant>);

impl Watch {
    /// Asks the hook when the period is over. The first look only starts the clock.
    pub fn look(&mut self) -> Result<()> {
        self.look_at(Instant::now())
    }

    /// As `look`, at the time that it is.
    pub fn look_at(&mut self, now: Instant) -> Result<()> {
        match self.0 {
            Some(last) if now - last >= PERIOD => {
                self.0 = Some(now);
                poll()
            }
            Some(_) => Ok(()),
            None => {
                self.0 = Some(now);
                Ok(())
            }
        }
    }
}

/// Sleeps until `wait` is over (true), `deadline` has passed (false), or the hook says no.
pub fn wait(wait: &dyn Wait, deadline: Option<Instant>) -> Result<bool> {
    if HOOK.get().is_none() && CANCELLABLE.with_borrow(Option::is_none) {
        return Ok(wait.wait(deadline));
    }
    loop {
        let end = Instant::now() + PERIOD;
        if wait.wait(Some(deadline.map_or(end, |deadline| deadline.min(end)))) {
            return Ok(true);
        }
        poll()?;
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok(false);
        }
    }
}
