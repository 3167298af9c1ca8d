//! Files that hold values: read whole, as pipes can be read once only.

use super::input::invalid;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::time::{Duration, Instant};
use tiree_vm::{Result, Status, interrupt};

/// How long a pipe is waited for before it is said, and at a time.
const SILENCE: Duration = Duration::from_secs(2);
const SLICE_MILLISECONDS: i32 = 50;

/// The whole file. A device may have no end; a pipe (`@/dev/fd/3`, `@<(command)`, a FIFO) has one, and may have to be waited
/// for, which Ctrl-C ends.
pub(super) fn read_file(path: &str) -> Result<Vec<u8>> {
    let failed = |error: io::Error| Status::not_found(format!("cannot read {path}: {error}"));
    // Otherwise opening a pipe would wait until another program opens it to write.
    let mut file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(failed)?;
    let kind = file.metadata().map_err(failed)?.file_type();
    if kind.is_char_device() {
        return Err(invalid(format!("{path} is a device, not a file")));
    }
    let mut bytes = Vec::new();
    if !kind.is_fifo() {
        file.read_to_end(&mut bytes).map_err(failed)?;
        return Ok(bytes);
    }
    let begin = Instant::now();
    let mut silent = true;
    loop {
        // Ready when there is something to read, or all writers have gone; not before the first has come.
        if is_ready(&file).map_err(failed)? {
            silent = false;
            match file.read_to_end(&mut bytes) {
                Ok(_) => return Ok(bytes),
                // What there is now was read.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(failed(error)),
            }
        } else if silent && begin.elapsed() >= SILENCE {
            silent = false;
            eprintln!("waiting for a program that writes to the pipe {path}");
        }
        interrupt::poll()?;
    }
}

fn is_ready(file: &File) -> io::Result<bool> {
    let mut polled = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid entry.
    match unsafe { libc::poll(&raw mut polled, 1, SLICE_MILLISECONDS) } {
        -1 => Err(io::Error::last_os_error()).or_else(|error| match error.kind() {
            io::ErrorKind::Interrupted => Ok(false),
            _ => Err(error),
        }),
        ready => Ok(ready > 0),
    }
}
