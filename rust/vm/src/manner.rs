//! What the steps of a call may ask of the native functions that it calls.

/// What the native calls of a step must observe, as the driver of the invocation has asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// Nothing.
    #[default]
    Ordinary,
    /// They must not block, wait for a lock that is held while something else is waited for, or run for more than
    /// microseconds: part of a [prompt step](crate::Invocation::step_promptly).
    Prompt,
    /// What is known to take about a millisecond is left to another thread: part of a
    /// [brief step](crate::Invocation::step_briefly).
    Brief,
    /// The thread is not the one that drives the call: part of a [step away](crate::Invocation::step_away).
    Away,
}
