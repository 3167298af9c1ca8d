//! Files that are written whole or not at all, as programs may have mapped what they replace.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Has `write` write what `path` is to hold, into a new file beside it that takes its place once complete; after an error
/// `path` is as it was. With `keep` the new file begins as a copy of the old one. Pipes, devices and `/dev/stdout` are
/// written directly.
pub fn replace(path: &Path, keep: bool, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let direct = ["/dev/std", "/dev/fd/", "/proc/"].iter().any(|known| path.to_string_lossy().starts_with(known));
    let old = match fs::metadata(path) {
        Ok(old) if direct || !old.is_file() => {
            return write(&File::options().write(true).create(true).truncate(!keep).open(path)?);
        }
        Ok(old) => Some(old.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if old.is_some() {
        // A file that may not be written stays, although its folder would let it be replaced.
        File::options().write(true).open(path)?;
    }
    // What a link leads to is replaced, not the link.
    let target = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let temporary = beside(&target);
    let written = (|| {
        let file = File::options().write(true).create_new(true).open(&temporary)?;
        if let Some(permissions) = old {
            if keep {
                io::copy(&mut File::open(&target)?, &mut &file)?;
            }
            file.set_permissions(permissions)?;
        }
        write(&file)?;
        fs::rename(&temporary, &target)
    })();
    written.inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// A name in the folder of `path` that no other process or thread uses.
fn beside(path: &Path) -> PathBuf {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".tiree-{}-{number}.part", std::process::id()))
}
