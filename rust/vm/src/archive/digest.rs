//! Checksums: which bytes of an archive are not what its maker wrote.
//!
//! Modules made by Tiree carry module attributes, all CRC-32 (polynomial of ZIP) as 8 lower-case hex digits:
//!
//! - `tiree.digest.bytecode`: of `bytecode_data`;
//! - `tiree.digest.rodata.N`: of rodata segment N, for executables and other segments that the maker chose;
//! - `tiree.digest.archive`: of all bytes of the FlatBuffer behind its size prefix, as they are when the 8 digits of this
//!   very value are `0`.
//!
//! ZIP members of up to 4 MiB are compared with the CRC in the central directory, whoever made the file.

use super::schema::ARCHIVE_DIGEST;
use super::{Archive, zip};
use crate::status::{Result, Status};

/// Bigger members are constants: reading all of them would cost more than it finds.
const LARGEST_CHECKED_MEMBER: usize = 4 << 20;

const PREFIX: &str = "tiree.digest.";

fn crc(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

fn damaged(archive: &Archive, what: &str, have: u32, want: &str) -> Status {
    Status::data_loss(format!(
        "{} is damaged: checksum of {what} is {have:08x}, the file says {want}. Copy it again or recompile.",
        archive.source()
    ))
}

/// CRC of the FlatBuffer with the 8 digits at `hole` taken as zeros.
fn crc_with_hole(bytes: &[u8], hole: std::ops::Range<usize>) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..hole.start]);
    hasher.update(&[b'0'; 8][..hole.len().min(8)]);
    hasher.update(&bytes[hole.end..]);
    hasher.finalize()
}

/// Compares all checksums that the archive has; DATA_LOSS names the part that is damaged.
pub fn verify(archive: &Archive) -> Result<()> {
    zip_members(archive)?;
    let flatbuffer = archive.flatbuffer();
    let def = archive.def();
    // The parts come first, for they tell more than the whole.
    for attr in &def.attrs {
        let Some(part) = attr.key.strip_prefix(PREFIX) else { continue };
        let (have, what) = if part == "bytecode" {
            (crc(&flatbuffer[def.bytecode.clone()]), "the bytecode".to_owned())
        } else if let Some(index) = part.strip_prefix("rodata.").and_then(|n| n.parse::<usize>().ok()) {
            match archive.rodata(index) {
                Some(bytes) => (crc(bytes), format!("rodata segment {index}")),
                None => continue,
            }
        } else {
            continue;
        };
        if !attr.value.eq_ignore_ascii_case(&format!("{have:08x}")) {
            return Err(damaged(archive, &what, have, &attr.value));
        }
    }
    if let Some(hole) = def.archive_digest.clone() {
        let have = crc_with_hole(flatbuffer, hole.clone());
        let want = String::from_utf8_lossy(&flatbuffer[hole]).into_owned();
        if !want.eq_ignore_ascii_case(&format!("{have:08x}")) {
            return Err(damaged(archive, &format!("the module tables ({ARCHIVE_DIGEST})"), have, &want));
        }
    }
    Ok(())
}

fn zip_members(archive: &Archive) -> Result<()> {
    let bytes = archive.bytes();
    if !zip::is_zip(bytes) {
        return Ok(());
    }
    let Some(members) = zip::members(bytes) else {
        return Err(Status::data_loss(format!(
            "{} is cut short: the ZIP directory at the end of the file is missing ({} bytes are there). Copy it again.",
            archive.source(),
            bytes.len()
        )));
    };
    for member in members.iter().filter(|m| m.data.len() <= LARGEST_CHECKED_MEMBER) {
        let have = crc(&bytes[member.data.clone()]);
        if have != member.crc {
            return Err(damaged(archive, &member.name, have, &format!("{:08x}", member.crc)));
        }
    }
    Ok(())
}
