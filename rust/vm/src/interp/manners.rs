//! How one run of a machine behaves toward the thread that drives it, see [`Manner`].

use super::Machine;
use crate::manner::Manner;

/// Bytes of functions that a prompt step translates: about ten microseconds.
const PROMPT_BYTES: usize = 256;

impl Machine {
    /// What native calls must observe, and whether the run stops at the end of the slice and before what may take longer.
    pub fn set_manner(&mut self, manner: Manner) {
        self.outside.manner = manner;
        self.budget.set_prompt(manner == Manner::Prompt);
        self.outside.called_home = false;
        self.promptly = PROMPT_BYTES;
    }

    /// Notes what the last run came to.
    pub fn set_called_home(&mut self, called_home: bool) {
        self.outside.called_home = called_home;
    }

    /// Whether the run since then came to a function that needs the driving thread.
    pub fn called_home(&self) -> bool {
        self.outside.called_home
    }

    /// Whether a function of `bytes` bytes may be translated now: in a prompt step, a few short ones.
    pub(super) fn may_translate(&mut self, bytes: usize) -> bool {
        if self.outside.manner != Manner::Prompt {
            return true;
        }
        let left = self.promptly.checked_sub(bytes);
        self.promptly = left.unwrap_or(self.promptly);
        left.is_some()
    }
}
