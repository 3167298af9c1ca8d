//! Writing IRPA archives, byte for byte as IREE's tools do: planned first, then written from front to back, so that no
//! archive has to fit the memory.

use super::irpa::{ENTRY_ALIGNMENT, HEADER_SIZE, MAGIC, kind};
use super::{Entry, Storage};
use std::io::{Result, Write};
use std::sync::Arc;

const HEADER_ALIGNMENT: u64 = 16;
/// What the storage of each entry is aligned to unless the builder is told otherwise.
pub const DATA_ALIGNMENT: u64 = 64;
const FILE_ALIGNMENT: u64 = 4096;
/// Bytes copied at once.
const CHUNK: usize = 1 << 20;

/// An entry and where its bytes go in the storage segment; None for a splat, which has none there.
struct Planned {
    entry: Arc<Entry>,
    offset: Option<u64>,
}

/// Collects entries and writes them.
pub struct ArchiveBuilder {
    alignment: u64,
    entries: Vec<Planned>,
    storage_length: u64,
}

impl Default for ArchiveBuilder {
    fn default() -> Self {
        ArchiveBuilder::new(DATA_ALIGNMENT)
    }
}

impl ArchiveBuilder {
    /// An archive without entries, whose data will be aligned to `alignment` bytes, a power of two.
    pub fn new(alignment: u64) -> ArchiveBuilder {
        ArchiveBuilder { alignment: alignment.max(1), entries: Vec::new(), storage_length: 0 }
    }

    /// Adds an entry as it is.
    pub fn add(&mut self, entry: Arc<Entry>) {
        match entry.storage {
            Storage::Data { .. } => self.add_data(entry),
            Storage::Splat { .. } => self.entries.push(Planned { entry, offset: None }),
        }
    }

    /// Adds an entry with all its bytes, also those of a splat.
    pub fn add_data(&mut self, entry: Arc<Entry>) {
        let offset = self.storage_length.next_multiple_of(self.alignment);
        self.storage_length = offset.saturating_add(entry.len());
        self.entries.push(Planned { entry, offset: Some(offset) });
    }

    /// Offset and length of the table, and of the names and metadata, and offset of the storage.
    fn segments(&self) -> [u64; 5] {
        let table = HEADER_SIZE.next_multiple_of(HEADER_ALIGNMENT);
        let mut length = 0u64;
        for planned in &self.entries {
            length = length.next_multiple_of(ENTRY_ALIGNMENT) + planned.size();
        }
        let names = table + length;
        let sizes = self.entries.iter().map(|planned| planned.entry.key.len() + planned.entry.metadata.len());
        let names_length: usize = sizes.sum();
        let end = names + names_length as u64;
        let has_data = self.entries.iter().any(|planned| planned.offset.is_some());
        let storage = if has_data { end.next_multiple_of(self.alignment) } else { end };
        [table, length, names, names_length as u64, storage]
    }

    /// Bytes of the archive.
    pub fn len(&self) -> u64 {
        (self.segments()[4] + self.storage_length).next_multiple_of(FILE_ALIGNMENT)
    }

    /// Whether no entry was added. (The archive has bytes all the same.)
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Writes the archive.
    ///
    /// # Errors
    /// Those of `target`.
    pub fn write(&self, target: &mut impl Write) -> Result<()> {
        let [table, table_length, names, names_length, storage] = self.segments();
        let mut out = Counted { target, at: 0 };
        out.write(MAGIC)?;
        out.write(&[0; 4])?;
        let count = self.entries.len() as u64;
        for word in [HEADER_SIZE, 0, 0, count, table, table_length, names, names_length, storage, self.storage_length] {
            out.word(word)?;
        }
        let mut name_at = 0;
        for planned in &self.entries {
            out.align(ENTRY_ALIGNMENT)?;
            planned.write(name_at, self.alignment, &mut out)?;
            name_at += (planned.entry.key.len() + planned.entry.metadata.len()) as u64;
        }
        // Without entries the table is empty, but it has a place.
        out.pad_to(names)?;
        for planned in &self.entries {
            out.write(planned.entry.key.as_bytes())?;
            out.write(&planned.entry.metadata)?;
        }
        out.pad_to(storage)?;
        let mut chunk = Vec::new();
        for planned in &self.entries {
            let Some(offset) = planned.offset else { continue };
            out.pad_to(storage + offset)?;
            out.entry(&planned.entry, &mut chunk)?;
        }
        out.align(FILE_ALIGNMENT)
    }
}

impl Planned {
    /// Bytes in the table.
    fn size(&self) -> u64 {
        if self.offset.is_some() { 76 } else { 85 }
    }

    fn write(&self, name_at: u64, alignment: u64, out: &mut Counted<impl Write>) -> Result<()> {
        out.word(self.size())?;
        out.write(&if self.offset.is_some() { kind::DATA } else { kind::SPLAT }.to_le_bytes())?;
        let (name, metadata) = (self.entry.key.len() as u64, self.entry.metadata.len() as u64);
        // An entry without metadata has no offset of it either.
        let metadata_at = if metadata == 0 { 0 } else { name_at + name };
        let alignment = if self.offset.is_some() { alignment } else { 0 };
        for word in [0, name_at, name, metadata_at, metadata, alignment] {
            out.word(word)?;
        }
        match (&self.entry.storage, self.offset) {
            (Storage::Splat { pattern, length }, None) => {
                out.word(*length)?;
                let mut padded = [0; 16];
                padded[..pattern.len()].copy_from_slice(pattern);
                out.write(&padded)?;
                out.write(&[pattern.len() as u8])
            }
            (_, offset) => {
                out.word(offset.unwrap_or(0))?;
                out.word(self.entry.len())
            }
        }
    }
}

/// A writer that knows where it is.
struct Counted<'a, W> {
    target: &'a mut W,
    at: u64,
}

impl<W: Write> Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.at += bytes.len() as u64;
        self.target.write_all(bytes)
    }

    fn word(&mut self, word: u64) -> Result<()> {
        self.write(&word.to_le_bytes())
    }

    fn pad_to(&mut self, offset: u64) -> Result<()> {
        let zeros = [0; 4096];
        while self.at < offset {
            let part = (offset - self.at).min(4096) as usize;
            self.write(&zeros[..part])?;
        }
        Ok(())
    }

    fn align(&mut self, alignment: u64) -> Result<()> {
        self.pad_to(self.at.next_multiple_of(alignment))
    }

    fn entry(&mut self, entry: &Entry, chunk: &mut Vec<u8>) -> Result<()> {
        let mut done = 0;
        while done < entry.len() {
            let part = (entry.len() - done).min(CHUNK as u64) as usize;
            chunk.resize(part, 0);
            entry.read(done, chunk).map_err(std::io::Error::other)?;
            self.write(chunk)?;
            done += part as u64;
        }
        Ok(())
    }
}
