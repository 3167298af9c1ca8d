//! The file: valid JSON after every write.

use std::fs::File;
use std::io;
use std::path::Path;

/// What a whole file ends with.
const TAIL: &[u8] = b"\n]}\n";

/// A file that always ends with [`TAIL`]; what is added goes before it.
pub(crate) struct TraceFile {
    file: File,
    /// Where the next event goes.
    end: u64,
    /// Why events are missing.
    failure: Option<io::Error>,
}

impl TraceFile {
    /// Makes or empties the file at `path`; `events` (without a comma before them) come first.
    pub(crate) fn create(path: &Path, events: &[u8]) -> io::Result<TraceFile> {
        let mut file = TraceFile { file: File::create(path)?, end: 0, failure: None };
        let mut head = b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[".to_vec();
        head.extend_from_slice(events);
        file.write(&head)?;
        Ok(file)
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        let bytes = [text, TAIL].concat();
        write_at(&self.file, &bytes, self.end)?;
        self.end += text.len() as u64;
        Ok(())
    }

    /// Adds events, each with a comma before it. After a failure nothing more is added.
    pub(crate) fn add(&mut self, events: &[u8]) {
        if events.is_empty() || self.failure.is_some() {
            return;
        }
        if let Err(error) = self.write(events) {
            // What is there stays readable, if the system still allows that.
            let _ = self.file.set_len(self.end).and_then(|()| write_at(&self.file, TAIL, self.end));
            self.failure = Some(error);
        }
    }

    /// The first failure to write, if any.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.failure.map_or(Ok(()), Err)
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}
