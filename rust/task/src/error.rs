//! Errors of the executor.

use std::any::Any;
use std::fmt;

/// What can go wrong in the executor itself; errors of the work are the caller's own type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A tile or task panicked; holds the panic's message.
    Panicked(String),
    /// The process was forked after the executor was made: its threads do not exist here.
    Forked,
    /// The executor is shutting down and takes no more work.
    ShutDown,
    /// An option is out of range; holds the explanation.
    InvalidOption(String),
    /// The operating system refused to start a thread; holds its explanation.
    Thread(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Panicked(message) => write!(f, "a task panicked: {message}"),
            Error::Forked => f.write_str(
                "this process was forked after the worker threads were started, and threads do not survive a fork; \
                 create the device after forking (Python: multiprocessing.set_start_method(\"spawn\"))",
            ),
            Error::ShutDown => f.write_str("the executor is shutting down and takes no more work"),
            Error::InvalidOption(text) => f.write_str(text),
            Error::Thread(text) => write!(f, "cannot start a worker thread: {text}"),
        }
    }
}

impl std::error::Error for Error {}

/// Turns what `catch_unwind` caught into the error that reports it.
pub(crate) fn from_panic(payload: Box<dyn Any + Send>) -> Error {
    let text = if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "(no message)".to_owned()
    };
    // The payload's own destructor may panic: that must not escape into a worker's loop.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(payload)));
    Error::Panicked(text)
}
