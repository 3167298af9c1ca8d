//! The timeline being written: one at a time.

use crate::file::TraceFile;
use crate::json::{self, Text};
use crate::lane;
use crate::{MODE, TIMELINE};
use parking_lot::Mutex;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

struct Session {
    path: PathBuf,
    file: TraceFile,
    process: u32,
}

static SESSION: Mutex<Option<Session>> = Mutex::new(None);
/// Number of the timeline; lanes forget what they recorded for another one.
static GENERATION: AtomicU64 = AtomicU64::new(0);
/// When the timeline began, on the clock of [`crate::now`].
static ZERO: AtomicU64 = AtomicU64::new(0);

/// Why no timeline was begun.
#[derive(Debug)]
pub enum BeginError {
    /// One is being written already, to this file.
    Busy(PathBuf),
    /// The file cannot be written.
    File(PathBuf, io::Error),
}

impl fmt::Display for BeginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BeginError::Busy(path) => write!(
                f,
                "a trace is being written to {} already, and one is possible at a time; end it first",
                path.display()
            ),
            BeginError::File(path, error) => write!(f, "cannot write the trace to {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for BeginError {}

/// Begins a timeline in the file at `path`, which is made or emptied.
///
/// # Errors
/// [`BeginError`]; then nothing has begun.
pub fn begin(path: impl AsRef<Path>) -> Result<(), BeginError> {
    install_fork_handlers();
    let path = path.as_ref();
    let mut session = SESSION.lock();
    let process = std::process::id();
    if let Some(running) = session.as_ref().filter(|running| running.process == process) {
        return Err(BeginError::Busy(running.path.clone()));
    }
    let mut first = Text::new();
    let program = std::env::args().next().unwrap_or_default();
    let program = Path::new(&program).file_name().map_or_else(|| "tiree".into(), |name| name.to_string_lossy());
    json::metadata(&mut first, "process_name", lane::thread_id(), &program);
    let file = TraceFile::create(path, first.get(1..).unwrap_or_default())
        .map_err(|error| BeginError::File(path.to_owned(), error))?;
    *session = Some(Session { path: path.to_owned(), file, process });
    ZERO.store(crate::now(), Ordering::Relaxed);
    GENERATION.fetch_add(1, Ordering::Release);
    MODE.fetch_or(TIMELINE, Ordering::SeqCst);
    Ok(())
}

/// Ends the timeline: writes what the lanes hold and closes the file. Nothing happens when there is none, or when it is
/// the one of the process that this one was forked from.
///
/// # Errors
/// The first failure to write; the file has what came before it.
pub fn end() -> io::Result<()> {
    let mut session = SESSION.lock();
    let Some(mut ended) = session.take() else { return Ok(()) };
    if ended.process != std::process::id() {
        return Ok(());
    }
    MODE.fetch_and(!TIMELINE, Ordering::SeqCst);
    lane::drain_all(|text| ended.file.add(text));
    ended.file.finish().map_err(|error| {
        io::Error::new(error.kind(), format!("the trace in {} is not complete: {error}", ended.path.display()))
    })
}

/// Number and start of the current timeline.
pub(crate) fn current() -> (u64, u64) {
    (GENERATION.load(Ordering::Acquire), ZERO.load(Ordering::Relaxed))
}

/// Adds the events that `take` takes out of a lane, with the timeline that they belong to; they are dropped when it has
/// ended. `end` comes before or after all of this: between the lane and the file it would miss them.
pub(crate) fn add(take: impl FnOnce() -> (u64, Text)) {
    let mut session = SESSION.lock();
    let (generation, text) = take();
    if let Some(session) = session.as_mut().filter(|_| GENERATION.load(Ordering::Acquire) == generation) {
        session.file.add(&text);
    }
}

#[cfg(unix)]
extern "C" fn before_fork() {
    // Held over the fork, so that the child finds no lock taken by a thread that it does not have.
    std::mem::forget(SESSION.lock());
    lane::lock_for_fork();
}

#[cfg(unix)]
extern "C" fn in_parent() {
    lane::unlock_after_fork();
    // SAFETY: this very thread locked it in `before_fork`.
    unsafe { SESSION.force_unlock() };
}

#[cfg(unix)]
extern "C" fn in_child() {
    MODE.store(0, Ordering::SeqCst);
    in_parent();
}

fn install_fork_handlers() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        #[cfg(unix)]
        // SAFETY: registers handlers that lock, unlock and store.
        unsafe {
            libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child));
        }
    });
}
