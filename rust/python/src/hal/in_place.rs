//! Files that are written where they are, as their folder or their other names do not let another file replace them.
//!
//! `tiree.support.replacing` has the same rules; docs/reference/outputs.md says what they are.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek};
use std::path::Path;

/// Whether a system says by `error` that a folder, and not the file in it, is at fault.
pub fn is_of_folder(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| [libc::EACCES, libc::EPERM, libc::EBUSY, libc::EROFS].contains(&code))
}

/// `error`, which also says that it is of the folder of `target`, which `exists` but is mapped.
pub fn refusal(error: &io::Error, target: &Path, exists: bool) -> io::Error {
    let folder = target.parent().unwrap_or(target).display();
    let reason = if exists { ", and the file is not written in place, as this process has mapped it" } else { "" };
    io::Error::new(error.kind(), format!("{error} (by the folder {folder}{reason})"))
}

/// Has `write` write into `target` itself, which keeps what it had when nothing is written. Unless `keep` it ends with what
/// is written.
pub fn write(target: &Path, keep: bool, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let mut file = &File::options().write(true).open(target)?;
    let written = write(file);
    let end = file.stream_position()?;
    if !keep && (written.is_ok() || end > 0) {
        file.set_len(end)?;
    }
    written
}

/// Copies a complete file into `target`.
pub fn copy(mut from: &File, target: &Path) -> io::Result<()> {
    from.rewind()?;
    write(target, false, |mut file| io::copy(&mut from, &mut file).map(drop))
}

#[cfg(unix)]
pub use unix::{has_other_names, is_mapped, keep_owner};

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    pub fn has_other_names(file: &Metadata) -> bool {
        file.nlink() > 1
    }

    /// Gives a new file what belongs to the old one, as far as this process may; never the right to run as its owner.
    pub fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
        // Who may not give a file away may still give it a group.
        let _ = fchown(file, None, Some(old.gid()));
        let _ = fchown(file, Some(old.uid()), None);
        file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
    }

    /// Whether this process has mapped a file, also under another name; true where that cannot be told.
    pub fn is_mapped(path: &Path) -> io::Result<bool> {
        let status = fs::metadata(path)?;
        let device = format!("{:02x}:{:02x}", libc::major(status.dev()), libc::minor(status.dev()));
        let inode = status.ino().to_string();
        let Ok(maps) = fs::read("/proc/self/maps") else { return Ok(true) };
        Ok(maps.split(|&byte| byte == b'\n').any(|line| {
            let mut fields = line.split(|&byte| byte == b' ').skip(3);
            let same = fields.next() == Some(device.as_bytes()) && fields.next() == Some(inode.as_bytes());
            // Layered file systems give maps other devices than files.
            same || line.ends_with(&[b" ", path.as_os_str().as_bytes()].concat())
        }))
    }
}

#[cfg(not(unix))]
pub fn has_other_names(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
pub fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    file.set_permissions(old.permissions())
}

#[cfg(not(unix))]
pub fn is_mapped(_: &Path) -> io::Result<bool> {
    Ok(true)
}
