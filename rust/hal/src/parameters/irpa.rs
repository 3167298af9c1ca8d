//! The IRPA archive format, version 0: reading entries in place. [`super::ArchiveBuilder`] writes them.

use super::bytes::{bad, range, u16_at, u32_at, u64_at};
use super::{Entry, Index, Source, Storage};
use std::sync::Arc;
use tiree_vm::{Annotate, Result, Status};

pub(super) const MAGIC: &[u8; 4] = b"IRPA";
pub(super) const HEADER_SIZE: u64 = 88;
pub(super) const ENTRY_ALIGNMENT: u64 = 16;

pub(super) mod kind {
    pub(in super::super) const SKIP: u32 = 0;
    pub(in super::super) const SPLAT: u32 = 1;
    pub(in super::super) const DATA: u32 = 2;
}

/// Adds all entries of an archive (and of the archives linked to it) to `index`.
///
/// # Errors
/// INVALID_ARGUMENT for damage, with the place; UNIMPLEMENTED for newer versions and unknown entry types.
pub fn read(source: &Arc<Source>, index: &Index) -> Result<()> {
    let mut base = 0u64;
    loop {
        let next = read_one(source, base, index).annotate(|| format!("archive header at offset {base}"))?;
        if next == 0 {
            return Ok(());
        }
        // Headers only lead forwards, so that damaged links end.
        base = base.checked_add(next).ok_or_else(|| bad("link to the next header overflows"))?;
    }
}

/// Reads the header at `base`; returns the relative offset of the next one, or 0.
fn read_one(source: &Arc<Source>, base: u64, index: &Index) -> Result<u64> {
    let file = source.bytes();
    let rest = range(file, base, (file.len() as u64).saturating_sub(base), "archive")?;
    if rest.len() < 4 || &rest[..4] != MAGIC {
        return Err(bad("not an IRPA archive (magic is missing)"));
    }
    let header = range(rest, 0, HEADER_SIZE, "header")?;
    let (major, minor) = (u16_at(header, 4), u16_at(header, 6));
    if major != 0 || minor != 0 {
        return Err(Status::unimplemented(format!("IRPA version {major}.{minor} is not supported; this reads 0.0")));
    }
    if u64_at(header, 8) != HEADER_SIZE {
        return Err(bad(format!("header size is {}, expected {HEADER_SIZE}", u64_at(header, 8))));
    }
    let segment = |at: usize, what: &str| range(rest, u64_at(header, at), u64_at(header, at + 8), what);
    let entries = segment(40, "entry segment")?;
    let metadata = segment(56, "metadata segment")?;
    segment(72, "storage segment")?;
    let storage = (base + u64_at(header, 72), u64_at(header, 80));
    let mut at = 0u64;
    for number in 0..u64_at(header, 32) {
        let size = read_entry(entries, at, metadata, source, storage, index).annotate(|| format!("entry {number}"))?;
        at = at.saturating_add(size).next_multiple_of(ENTRY_ALIGNMENT);
    }
    Ok(u64_at(header, 16))
}

fn read_entry(
    entries: &[u8],
    at: u64,
    metadata: &[u8],
    source: &Arc<Source>,
    storage: (u64, u64),
    index: &Index,
) -> Result<u64> {
    let size = u64_at(range(entries, at, 60, "entry header")?, 0);
    let entry = range(entries, at, size, "entry")?;
    let kind = u32_at(range(entry, 0, 60, "entry header")?, 8);
    if kind == kind::SKIP {
        return Ok(size);
    }
    let name = range(metadata, u64_at(entry, 20), u64_at(entry, 28), "name")?;
    let key = std::str::from_utf8(name).map_err(|_| bad("name is not UTF-8"))?.to_owned();
    let metadata = range(metadata, u64_at(entry, 36), u64_at(entry, 44), "metadata")?.to_vec();
    let storage = match kind {
        kind::DATA => {
            let tail = range(entry, 60, 16, "data entry")?;
            let (offset, length) = (u64_at(tail, 0), u64_at(tail, 8));
            if offset.checked_add(length).is_none_or(|end| end > storage.1) {
                return Err(bad(format!("data of \"{key}\" lies outside the storage segment of {} bytes", storage.1)));
            }
            // Where nothing is, it is at the beginning, for the tables of tools.
            let offset = if length == 0 { 0 } else { storage.0 + offset };
            Storage::Data { source: source.clone(), offset: offset as usize, length: length as usize }
        }
        kind::SPLAT => {
            let tail = range(entry, 60, 25, "splat entry")?;
            let length = usize::from(tail[24]);
            if !matches!(length, 1 | 2 | 4 | 8 | 16) {
                return Err(bad(format!("splat pattern of \"{key}\" has {length} bytes; must be 1, 2, 4, 8 or 16")));
            }
            Storage::Splat { pattern: tail[8..8 + length].into(), length: u64_at(tail, 0) }
        }
        _ => return Err(Status::unimplemented(format!("parser does not support entry type {kind} (\"{key}\")"))),
    };
    index.add(Entry { key, metadata, storage });
    Ok(size)
}
