//! Checksums: which bytes of an archive are not what its maker wrote.
//!
//! Modules made by Tiree carry the module attribute `tiree.digest`: parts separated by commas, each a name, a colon and a
//! CRC-32 (polynomial of ZIP) as 8 lower-case hex digits.
//!
//! | part | of |
//! |---|---|
//! | `bc` | `bytecode_data` |
//! | `rN` | rodata segment N, an executable |
//! | `cN` | rodata segment N, constants behind the FlatBuffer |
//! | `fb`, always last | all bytes of the FlatBuffer behind its size prefix, these 8 digits taken as `00000000` |
//!
//! ZIP members are compared with the CRC in the central directory, whoever made the file. Constants of more than 4 MiB
//! are not read for this, neither as members nor as `cN`, unless [`verify_constants`] is asked to.

use super::schema::{self, Attr, DIGEST, PREFIX};
use super::{Archive, zip};
use crate::status::{Result, Status};

/// Bigger pieces are constants: reading all of them would cost more than it finds.
pub const LARGEST_CHECKED: usize = 4 << 20;

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
    hasher.update(b"00000000");
    hasher.update(&bytes[hole.end..]);
    hasher.finalize()
}

/// Compares all checksums that the archive has; DATA_LOSS names the part that is damaged.
pub fn verify(archive: &Archive) -> Result<()> {
    zip_members(archive, |length| length <= LARGEST_CHECKED)?;
    let def = archive.def();
    let Some(place) = def.digest.clone() else {
        // Damage can hide the attribute or change its name, but hardly also remove all other traces of it. These are looked
        // for among the attributes only: constants and names of any module may read as they like.
        let of_tiree =
            |attr: &Attr| attr.key.starts_with(PREFIX) || (attr.key.is_empty() && attr.value.contains("fb:"));
        if def.attrs.iter().any(of_tiree) || schema::hides_attrs(archive.flatbuffer()) {
            return Err(unreadable(archive, "cannot be reached"));
        }
        return Ok(());
    };
    let flatbuffer = archive.flatbuffer();
    let text = String::from_utf8_lossy(&flatbuffer[place.clone()]).into_owned();
    let mut whole = None;
    // The parts come first, for they tell more than the whole.
    for part in text.split(',') {
        let Some((name, want)) = part.split_once(':').filter(|(_, want)| want.len() == 8) else {
            return Err(unreadable(archive, &format!("reads '{text}'")));
        };
        if name == "fb" {
            whole = Some(want);
            continue;
        }
        let Some((what, bytes)) = piece(archive, name) else {
            return Err(unreadable(archive, &format!("reads '{text}'")));
        };
        if is_big_constant(name, bytes) {
            continue;
        }
        compare(archive, &what, crc(bytes), want)?;
    }
    match whole {
        Some(want) if text.ends_with(want) => {
            compare(archive, "the module's tables", crc_with_hole(flatbuffer, place.end - 8..place.end), want)
        }
        _ => Err(unreadable(archive, &format!("reads '{text}'"))),
    }
}

fn is_big_constant(name: &str, bytes: &[u8]) -> bool {
    name.starts_with('c') && bytes.len() > LARGEST_CHECKED
}

/// Compares the constants that `verify` does not read; how many checksums of such the archive has.
pub fn verify_constants(archive: &Archive) -> Result<usize> {
    let mut count = zip_members(archive, |length| length > LARGEST_CHECKED)?;
    let Some(place) = archive.def().digest.clone() else { return Ok(count) };
    let text = String::from_utf8_lossy(&archive.flatbuffer()[place]);
    for (name, want) in text.split(',').filter_map(|part| part.split_once(':')) {
        if let Some((what, bytes)) = piece(archive, name)
            && is_big_constant(name, bytes)
        {
            compare(archive, &what, crc(bytes), want)?;
            count += 1;
        }
    }
    Ok(count)
}

/// What a part's name stands for.
fn piece<'a>(archive: &'a Archive, name: &str) -> Option<(String, &'a [u8])> {
    if name == "bc" {
        return Some(("the bytecode".into(), archive.bytecode()));
    }
    let index: usize = name.strip_prefix(['r', 'c'])?.parse().ok()?;
    Some((format!("rodata segment {index}"), archive.rodata(index)?))
}

fn compare(archive: &Archive, what: &str, have: u32, want: &str) -> Result<()> {
    if format!("{have:08x}") == want { Ok(()) } else { Err(damaged(archive, what, have, want)) }
}

fn unreadable(archive: &Archive, how: &str) -> Status {
    Status::data_loss(format!(
        "{} is damaged: its attribute {DIGEST} {how}. Copy it again or recompile.",
        archive.source()
    ))
}

/// Compares the members whose length is `wanted`; how many there are.
fn zip_members(archive: &Archive, wanted: impl Fn(usize) -> bool) -> Result<usize> {
    let bytes = archive.bytes();
    if !zip::is_zip(bytes) {
        return Ok(0);
    }
    let Some(members) = zip::members(bytes) else {
        return Err(Status::data_loss(format!(
            "{} is cut short: the ZIP directory at the end of the file is missing ({} bytes are there). Copy it again.",
            archive.source(),
            bytes.len()
        )));
    };
    let mut count = 0;
    for member in members.iter().filter(|m| wanted(m.data.len())) {
        count += 1;
        let have = crc(&bytes[member.data.clone()]);
        if have != member.crc {
            return Err(damaged(archive, &member.name, have, &format!("{:08x}", member.crc)));
        }
    }
    Ok(count)
}
