//! How the process that embeds the VM stops calls that would go on: a hook that long calls look at.
//!
//! The interpreter looks when a call has run for a while (see [`Watch`]), blocking waits look between slices of sleep.
//! Python's bindings install a hook that runs signal handlers, so that Ctrl-C ends a loop that never waits.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::module::Wait;
use crate::status::Result;

/// Asks whether the call on this thread shall go on; its error ends the call.
pub type Hook = fn() -> Result<()>;

static HOOK: OnceLock<Hook> = OnceLock::new();

/// How long a thread runs or sleeps before it asks the hook.
const PERIOD: Duration = Duration::from_millis(50);

/// Installs the hook of this process; false when there is one already.
pub fn set_hook(hook: Hook) -> bool {
    HOOK.set(hook).is_ok()
}

/// Asks the hook now.
pub fn poll() -> Result<()> {
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
    if HOOK.get().is_none() {
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
