//! Status codes and the one error type of the runtime.
//!
//! Codes carry IREE's numbers and names, so that text and numbers mean the same in both runtimes.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::limits::Limit;

/// Why an operation failed; numbers and names are IREE's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum StatusCode {
    /// No error.
    Ok = 0,
    /// The caller gave up.
    Cancelled = 1,
    /// No better code applies.
    Unknown = 2,
    /// The request is malformed.
    InvalidArgument = 3,
    /// Time ran out.
    DeadlineExceeded = 4,
    /// A named thing does not exist.
    NotFound = 5,
    /// A thing to be created exists.
    AlreadyExists = 6,
    /// The thing may not be used this way.
    PermissionDenied = 7,
    /// Memory, stack or a quota is used up.
    ResourceExhausted = 8,
    /// The object is in the wrong state.
    FailedPrecondition = 9,
    /// The operation was aborted by another one.
    Aborted = 10,
    /// An index or range lies outside.
    OutOfRange = 11,
    /// Not implemented here.
    Unimplemented = 12,
    /// An invariant is broken.
    Internal = 13,
    /// Not available now.
    Unavailable = 14,
    /// Data is damaged.
    DataLoss = 15,
    /// Not authenticated.
    Unauthenticated = 16,
    /// The result comes later.
    Deferred = 17,
    /// The parts do not fit together.
    Incompatible = 18,
}

impl StatusCode {
    const ALL: [(StatusCode, &'static str); 19] = [
        (StatusCode::Ok, "OK"),
        (StatusCode::Cancelled, "CANCELLED"),
        (StatusCode::Unknown, "UNKNOWN"),
        (StatusCode::InvalidArgument, "INVALID_ARGUMENT"),
        (StatusCode::DeadlineExceeded, "DEADLINE_EXCEEDED"),
        (StatusCode::NotFound, "NOT_FOUND"),
        (StatusCode::AlreadyExists, "ALREADY_EXISTS"),
        (StatusCode::PermissionDenied, "PERMISSION_DENIED"),
        (StatusCode::ResourceExhausted, "RESOURCE_EXHAUSTED"),
        (StatusCode::FailedPrecondition, "FAILED_PRECONDITION"),
        (StatusCode::Aborted, "ABORTED"),
        (StatusCode::OutOfRange, "OUT_OF_RANGE"),
        (StatusCode::Unimplemented, "UNIMPLEMENTED"),
        (StatusCode::Internal, "INTERNAL"),
        (StatusCode::Unavailable, "UNAVAILABLE"),
        (StatusCode::DataLoss, "DATA_LOSS"),
        (StatusCode::Unauthenticated, "UNAUTHENTICATED"),
        (StatusCode::Deferred, "DEFERRED"),
        (StatusCode::Incompatible, "INCOMPATIBLE"),
    ];

    /// The code with IREE's number `code`; numbers without a name become `Unknown`.
    pub fn from_u32(code: u32) -> StatusCode {
        Self::ALL.get(code as usize).map_or(StatusCode::Unknown, |entry| entry.0)
    }

    /// IREE's name, such as `INVALID_ARGUMENT`.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl fmt::Display for StatusCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Debug)]
struct Inner {
    code: StatusCode,
    message: String,
    annotations: Vec<String>,
    limit: Option<Limit>,
    cause: Option<Cause>,
}

/// An error of another language or library that became a [`Status`]: whoever made it knows its type.
pub type Cause = Arc<dyn Any + Send + Sync>;

/// An error: a code, a message and what the layers above added to it. One pointer wide.
#[derive(Clone)]
pub struct Status(Box<Inner>);

/// Result of every fallible operation of the runtime.
pub type Result<T> = std::result::Result<T, Status>;

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $code:ident;)*) => {
        impl Status {
            $($(#[$doc])* pub fn $name(message: impl Into<String>) -> Status {
                Status::new(StatusCode::$code, message)
            })*
        }
    };
}

constructors! {
    /// CANCELLED.
    cancelled => Cancelled;
    /// UNKNOWN.
    unknown => Unknown;
    /// INVALID_ARGUMENT.
    invalid_argument => InvalidArgument;
    /// DEADLINE_EXCEEDED.
    deadline_exceeded => DeadlineExceeded;
    /// NOT_FOUND.
    not_found => NotFound;
    /// ALREADY_EXISTS.
    already_exists => AlreadyExists;
    /// PERMISSION_DENIED.
    permission_denied => PermissionDenied;
    /// RESOURCE_EXHAUSTED.
    resource_exhausted => ResourceExhausted;
    /// FAILED_PRECONDITION.
    failed_precondition => FailedPrecondition;
    /// ABORTED.
    aborted => Aborted;
    /// OUT_OF_RANGE.
    out_of_range => OutOfRange;
    /// UNIMPLEMENTED.
    unimplemented => Unimplemented;
    /// INTERNAL.
    internal => Internal;
    /// UNAVAILABLE.
    unavailable => Unavailable;
    /// DATA_LOSS.
    data_loss => DataLoss;
    /// INCOMPATIBLE.
    incompatible => Incompatible;
}

impl Status {
    /// An error of `code`. `code` should not be `Ok`.
    pub fn new(code: StatusCode, message: impl Into<String>) -> Status {
        Status(Box::new(Inner { code, message: message.into(), annotations: Vec::new(), limit: None, cause: None }))
    }

    /// The code.
    pub fn code(&self) -> StatusCode {
        self.0.code
    }

    /// The first message, as raised.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What the layers above added, innermost first.
    pub fn annotations(&self) -> &[String] {
        &self.0.annotations
    }

    /// The limit that was reached, when that is what it is about.
    pub fn limit(&self) -> Option<Limit> {
        self.0.limit
    }

    /// Says which limit was reached.
    #[must_use]
    pub fn with_limit(mut self, limit: Limit) -> Status {
        self.0.limit = Some(limit);
        self
    }

    /// The error that it was made of, if a native module attached it.
    pub fn cause(&self) -> Option<&Cause> {
        self.0.cause.as_ref()
    }

    /// Attaches the error that it was made of.
    #[must_use]
    pub fn with_cause(mut self, cause: Cause) -> Status {
        self.0.cause = Some(cause);
        self
    }

    /// Adds where or while doing what it happened.
    #[must_use]
    pub fn annotate(mut self, text: impl Into<String>) -> Status {
        self.0.annotations.push(text.into());
        self
    }
}

impl fmt::Display for Status {
    /// `NOT_FOUND; message; annotation; annotation`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code().name())?;
        if !self.0.message.is_empty() {
            write!(f, "; {}", self.0.message)?;
        }
        for annotation in &self.0.annotations {
            write!(f, "; {annotation}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Status {}

/// Adds an annotation to the error of a `Result`.
pub trait Annotate {
    /// Adds `text()` to the error, if there is one.
    #[must_use]
    fn annotate(self, text: impl FnOnce() -> String) -> Self;
}

impl<T> Annotate for Result<T> {
    #[inline(always)]
    fn annotate(self, text: impl FnOnce() -> String) -> Self {
        match self {
            Ok(value) => Ok(value),
            Err(status) => Err(annotated(status, text)),
        }
    }
}

#[cold]
fn annotated(status: Status, text: impl FnOnce() -> String) -> Status {
    status.annotate(text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_agree() {
        for (number, (code, name)) in StatusCode::ALL.iter().enumerate() {
            assert_eq!(*code as usize, number);
            assert_eq!(StatusCode::from_u32(number as u32).name(), *name);
        }
        assert_eq!(StatusCode::from_u32(31), StatusCode::Unknown);
    }

    #[test]
    fn status_is_one_pointer_and_prints_its_annotations() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
        let status = Status::not_found("no x").annotate("loading y");
        assert_eq!(status.to_string(), "NOT_FOUND; no x; loading y");
    }
}
