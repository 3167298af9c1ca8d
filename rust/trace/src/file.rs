//! The file: valid JSON after every write, or at the end where it is a pipe.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// What a whole file ends with.
const TAIL: &[u8] = b"\n]}\n";

/// A file that always ends with [`TAIL`]; what is added goes before it. A pipe ends so when all is written.
pub(crate) struct TraceFile {
    file: File,
    /// Where the next event goes; None for pipes and devices, which get everything in order and [`TAIL`] at the end.
    end: Option<u64>,
    /// Why events are missing.
    failure: Option<io::Error>,
}

impl TraceFile {
    /// Makes or empties the file at `path`; `events` (without a comma before them) come first.
    pub(crate) fn create(path: &Path, events: &[u8]) -> io::Result<TraceFile> {
        let file = File::create(path)?;
        let end = file.metadata()?.is_file().then_some(0);
        let mut file = TraceFile { file, end, failure: None };
        let mut head = b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[".to_vec();
        head.extend_from_slice(events);
        file.write(&head)?;
        Ok(file)
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        let Some(end) = &mut self.end else { return self.file.write_all(text) };
        write_at(&self.file, &[text, TAIL].concat(), *end)?;
        *end += text.len() as u64;
        Ok(())
    }

    /// Adds events, each with a comma before it. After a failure nothing more is added.
    pub(crate) fn add(&mut self, events: &[u8]) {
        if events.is_empty() || self.failure.is_some() {
            return;
        }
        if let Err(error) = self.write(events) {
            // What is there stays readable, if the system still allows that.
            if let Some(end) = self.end {
                let _ = self.file.set_len(end).and_then(|()| write_at(&self.file, TAIL, end));
            }
            self.failure = Some(error);
        }
    }

    /// The first failure to write, if any.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        if self.end.is_none() && self.failure.is_none() {
            self.file.write_all(TAIL)?;
        }
        self.failure.map_or(Ok(()), Err)
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}
