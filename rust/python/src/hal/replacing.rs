//! Files that are written whole or not at all, as programs may have mapped what they replace.
//!
//! Where the file system can do it, the new file has no name before it is complete, so that nothing is left of it when the
//! process is ended.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::hal::in_place;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Folders whose names stand for devices, streams and settings.
const SPECIAL: [&str; 3] = ["/dev", "/proc", "/sys"];
/// A folder like any other in one of them.
const ORDINARY: &str = "/dev/shm";
/// Links that follow each other; the system's own limit.
const MAX_LINKS: usize = 40;

/// Where what a path leads to is.
enum Place {
    /// A file, or nothing yet, that another file may replace.
    File(PathBuf),
    /// A pipe, a device or the like, which is opened.
    Other,
    /// Any name in a folder of the system: neither replaced nor made.
    Special,
}

/// Has `write` write what `path` is to hold, into a new file beside it that takes its place once complete; after an error
/// `path` is as it was. With `keep` the new file begins as a copy of the old one. What a link leads to is replaced, not the
/// link. Pipes, devices and whatever is in `/dev` or `/proc` are written directly, and so are files that have other names or
/// whose folder may not be written (`in_place.rs`).
pub fn replace(path: &Path, keep: bool, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let target = match place(path)? {
        Place::File(target) => target,
        other => {
            let create = matches!(other, Place::Other);
            return write(&File::options().write(true).create(create).truncate(!keep).open(path)?);
        }
    };
    let old = found(fs::metadata(&target))?;
    if let Some(old) = &old {
        // A file that may not be written stays, although its folder would let it be replaced.
        File::options().write(true).open(&target)?;
        if in_place::has_other_names(old) && !in_place::is_mapped(&target)? {
            return in_place::write(&target, keep, write);
        }
    }
    let temporary = beside(&target);
    let unnamed = unnamed::open(&target);
    let has_name = unnamed.is_none();
    let new = match unnamed {
        Some(file) => Ok(file),
        None => File::options().read(true).write(true).create_new(true).open(&temporary),
    };
    let file = match new {
        Ok(file) => file,
        Err(error) => {
            refuse(error, &target, old.is_some())?;
            return in_place::write(&target, keep, write);
        }
    };
    let written = (|| {
        if let Some(old) = &old {
            if keep {
                io::copy(&mut File::open(&target)?, &mut &file)?;
            }
            in_place::keep_owner(&file, old)?;
        }
        write(&file)?;
        let named = if has_name { Ok(()) } else { unnamed::name(&file, &temporary) };
        named.and_then(|()| fs::rename(&temporary, &target)).or_else(|error| {
            refuse(error, &target, old.is_some())?;
            in_place::copy(&file, &target)?;
            drop(fs::remove_file(&temporary));
            Ok(())
        })
    })();
    written.inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// Unless the file itself, which `exists`, may be written when `error` kept the folder from getting another.
fn refuse(error: io::Error, target: &Path, exists: bool) -> io::Result<()> {
    if !in_place::is_of_folder(&error) {
        return Err(error);
    }
    if !exists || in_place::is_mapped(target)? {
        return Err(in_place::refusal(&error, target, exists));
    }
    Ok(())
}

fn found(answer: io::Result<Metadata>) -> io::Result<Option<Metadata>> {
    match answer {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Follows the links of `path`, also those that lead to nothing; `tiree.support.replacing` has the same rule.
fn place(path: &Path) -> io::Result<Place> {
    let exists = found(fs::metadata(path))?;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Some(name) = path.file_name().filter(|_| !path.as_os_str().as_encoded_bytes().ends_with(b"/")) else {
            return Ok(Place::Other);
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = fs::canonicalize(folder)?;
        if SPECIAL.iter().any(|special| folder.starts_with(special)) && !folder.starts_with(ORDINARY) {
            return Ok(Place::Special);
        }
        let here = folder.join(name);
        if found(fs::symlink_metadata(&here))?.is_some_and(|here| here.is_symlink()) {
            path = folder.join(fs::read_link(&here)?);
            continue;
        }
        return Ok(if exists.is_none_or(|target| target.is_file()) { Place::File(here) } else { Place::Other });
    }
    Err(io::Error::other("too many links"))
}

/// A name in the folder of `path` that no other process or thread uses.
fn beside(path: &Path) -> PathBuf {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".tiree-{}-{number}.part", std::process::id()))
}

#[cfg(target_os = "linux")]
mod unnamed {
    use std::ffi::CString;
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    /// A file without a name on the file system of `path`; None where there is no such thing.
    pub fn open(path: &Path) -> Option<File> {
        let file = File::options().read(true).write(true).custom_flags(libc::O_TMPFILE).open(path.parent()?).ok()?;
        Path::new("/proc/self/fd").exists().then_some(file)
    }

    /// Gives it its name.
    pub fn name(file: &File, path: &Path) -> io::Result<()> {
        let here = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        let path = CString::new(path.as_os_str().as_bytes())?;
        let (none, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
        // SAFETY: both are texts that end with a zero.
        match unsafe { libc::linkat(none, here.as_ptr(), none, path.as_ptr(), follow) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub fn open(_: &Path) -> Option<File> {
        None
    }

    pub fn name(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
