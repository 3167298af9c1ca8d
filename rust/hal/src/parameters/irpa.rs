//! The IRPA archive format, version 0: reading entries in place, writing archives.

use super::{Entry, Index, Source, Storage};
use std::sync::Arc;
use tiree_vm::{Annotate, Result, Status};

const MAGIC: &[u8; 4] = b"IRPA";
const HEADER_SIZE: u64 = 88;
const HEADER_ALIGNMENT: u64 = 16;
const ENTRY_ALIGNMENT: u64 = 16;
const DATA_ALIGNMENT: u64 = 64;
const FILE_ALIGNMENT: usize = 4096;

mod kind {
    pub(super) const SKIP: u32 = 0;
    pub(super) const SPLAT: u32 = 1;
    pub(super) const DATA: u32 = 2;
}

fn bad(message: impl Into<String>) -> Status {
    Status::invalid_argument(message)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + 8].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// `length` bytes at `offset` of `bytes`.
fn range<'a>(bytes: &'a [u8], offset: u64, length: u64, what: &str) -> Result<&'a [u8]> {
    let end = offset.checked_add(length).filter(|&end| end <= bytes.len() as u64);
    match end {
        Some(end) => Ok(&bytes[offset as usize..end as usize]),
        None => Err(bad(format!("{what} [{offset}, {offset} + {length}) lies outside its {} bytes", bytes.len()))),
    }
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
            Storage::Data { source: source.clone(), offset: (storage.0 + offset) as usize, length: length as usize }
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

/// The bytes of an archive with all entries of `index`, as IREE's tools write it.
pub fn write(index: &Index) -> Vec<u8> {
    let entries = index.entries();
    let sizes: Vec<u64> =
        entries.iter().map(|entry| if matches!(entry.storage, Storage::Data { .. }) { 76 } else { 85 }).collect();
    let mut table_length = 0u64;
    for size in &sizes {
        table_length = table_length.next_multiple_of(ENTRY_ALIGNMENT) + size;
    }
    let table_start = HEADER_SIZE.next_multiple_of(HEADER_ALIGNMENT);
    let metadata_start = table_start + table_length;
    let metadata: Vec<u8> = entries.iter().flat_map(|entry| [entry.key.as_bytes(), &entry.metadata].concat()).collect();
    let storage_start = (metadata_start + metadata.len() as u64).next_multiple_of(DATA_ALIGNMENT);
    let mut file = vec![0; table_start as usize];
    let mut storage: Vec<u8> = Vec::new();
    let mut name_at = 0u64;
    for (entry, size) in entries.iter().zip(sizes) {
        file.resize(file.len().next_multiple_of(ENTRY_ALIGNMENT as usize), 0);
        let is_data = matches!(entry.storage, Storage::Data { .. });
        let (name, metadata) = (entry.key.len() as u64, entry.metadata.len() as u64);
        file.extend(size.to_le_bytes());
        file.extend(if is_data { kind::DATA } else { kind::SPLAT }.to_le_bytes());
        // An entry without metadata has no offset of it either.
        let metadata_at = if metadata == 0 { 0 } else { name_at + name };
        let alignment = if is_data { DATA_ALIGNMENT } else { 0 };
        for word in [0, name_at, name, metadata_at, metadata, alignment] {
            file.extend(word.to_le_bytes());
        }
        name_at += name + metadata;
        match &entry.storage {
            Storage::Data { source, offset, length } => {
                storage.resize(storage.len().next_multiple_of(DATA_ALIGNMENT as usize), 0);
                file.extend((storage.len() as u64).to_le_bytes());
                file.extend((*length as u64).to_le_bytes());
                storage.extend(&source.bytes()[*offset..offset + length]);
            }
            Storage::Splat { pattern, length } => {
                file.extend(length.to_le_bytes());
                let mut padded = [0; 16];
                padded[..pattern.len()].copy_from_slice(pattern);
                file.extend(padded);
                file.push(pattern.len() as u8);
            }
        }
    }
    file.extend(&metadata);
    file.resize(storage_start as usize, 0);
    file.extend(&storage);
    file.resize(file.len().next_multiple_of(FILE_ALIGNMENT), 0);
    let header = [
        HEADER_SIZE,
        0,
        0,
        entries.len() as u64,
        table_start,
        table_length,
        metadata_start,
        metadata.len() as u64,
        storage_start,
        storage.len() as u64,
    ];
    file[..4].copy_from_slice(MAGIC);
    for (index, word) in header.iter().enumerate() {
        file[8 + index * 8..16 + index * 8].copy_from_slice(&word.to_le_bytes());
    }
    file
}
