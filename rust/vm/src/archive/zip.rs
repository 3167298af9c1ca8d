//! The little of ZIP that module files use: where the module starts, what members say about their bytes.

use std::ops::Range;

use crate::status::{Result, Status};

const LOCAL_HEADER: u32 = 0x0403_4B50;
const CENTRAL_HEADER: u32 = 0x0201_4B50;
const END_OF_DIRECTORY: u32 = 0x0605_4B50;
const END_OF_DIRECTORY_64: u32 = 0x0606_4B50;
const LOCATOR_64: u32 = 0x0706_4B50;
const ZIP64_EXTRA: u16 = 1;

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Offset of the module in `bytes`: behind the first local header, or 0 when this is no ZIP file.
pub fn module_start(bytes: &[u8]) -> Result<usize> {
    if bytes.len() < 30 || u32_at(bytes, 0) != Some(LOCAL_HEADER) {
        return Ok(0);
    }
    match local_data(bytes, 0) {
        Some(start) if start <= bytes.len() => Ok(start),
        _ => {
            Err(Status::invalid_argument("archive self-reports as a zip but does not have enough data for its header"))
        }
    }
}

/// Whether this is a ZIP file.
pub fn is_zip(bytes: &[u8]) -> bool {
    u32_at(bytes, 0) == Some(LOCAL_HEADER)
}

/// Where the data of the member with its local header at `at` starts.
fn local_data(bytes: &[u8], at: usize) -> Option<usize> {
    let name = usize::from(u16_at(bytes, at.checked_add(26)?)?);
    let extra = usize::from(u16_at(bytes, at + 28)?);
    at.checked_add(30 + name + extra)
}

/// A stored member.
#[derive(Debug, PartialEq, Eq)]
pub struct Member {
    /// File name.
    pub name: String,
    /// CRC-32 as recorded.
    pub crc: u32,
    /// Its bytes in the file.
    pub data: Range<usize>,
}

/// The members as the central directory lists them; `None` when the file has no directory at its end.
///
/// Members with records that do not fit are left out: whether a file can be used is not decided here.
pub fn members(bytes: &[u8]) -> Option<Vec<Member>> {
    let earliest = bytes.len().saturating_sub(22 + 0xFFFF);
    let end =
        (earliest..=bytes.len().checked_sub(22)?).rev().find(|at| u32_at(bytes, *at) == Some(END_OF_DIRECTORY))?;
    let (mut count, mut at) = (u64::from(u16_at(bytes, end + 10)?), u64::from(u32_at(bytes, end + 16)?));
    if let Some(locator) = end.checked_sub(20)
        && u32_at(bytes, locator) == Some(LOCATOR_64)
    {
        let record = usize::try_from(u64_at(bytes, locator + 8)?).ok()?;
        if u32_at(bytes, record) == Some(END_OF_DIRECTORY_64) {
            count = u64_at(bytes, record.checked_add(32)?)?;
            at = u64_at(bytes, record + 48)?;
        }
    }
    let mut at = usize::try_from(at).ok()?;
    let mut members = Vec::new();
    for _ in 0..count {
        if u32_at(bytes, at) != Some(CENTRAL_HEADER) {
            break;
        }
        let (member, next) = central(bytes, at)?;
        members.extend(member);
        at = next;
    }
    Some(members)
}

/// The member described at `at`, if its data lies in the file, and where the next record is.
fn central(bytes: &[u8], at: usize) -> Option<(Option<Member>, usize)> {
    let name_length = usize::from(u16_at(bytes, at + 28)?);
    let extra_length = usize::from(u16_at(bytes, at + 30)?);
    let comment_length = usize::from(u16_at(bytes, at + 32)?);
    let name = bytes.get(at + 46..at + 46 + name_length)?;
    let mut length = u64::from(u32_at(bytes, at + 24)?);
    let mut header = u64::from(u32_at(bytes, at + 42)?);
    let mut extra = bytes.get(at + 46 + name_length..at + 46 + name_length + extra_length)?;
    while let (Some(id), Some(size)) = (u16_at(extra, 0), u16_at(extra, 2)) {
        let body = extra.get(4..4 + usize::from(size))?;
        if id == ZIP64_EXTRA {
            // The fields present are those that do not fit the record, in this order.
            let mut fields = body.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b));
            if length == 0xFFFF_FFFF {
                length = fields.next()?;
            }
            if u32_at(bytes, at + 20)? == 0xFFFF_FFFF {
                fields.next()?;
            }
            if header == 0xFFFF_FFFF {
                header = fields.next()?;
            }
        }
        extra = &extra[4 + usize::from(size)..];
    }
    let next = at + 46 + name_length + extra_length + comment_length;
    let data = usize::try_from(header).ok().and_then(|header| {
        let start = local_data(bytes, header)?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        (end <= bytes.len()).then_some(start..end)
    });
    let stored = u16_at(bytes, at + 10)? == 0;
    let member = data.filter(|_| stored).map(|data| Member {
        name: String::from_utf8_lossy(name).into_owned(),
        crc: u32_at(bytes, at + 16).unwrap_or(0),
        data,
    });
    Some((member, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_bytes_start_at_zero() {
        assert_eq!(module_start(b"anything else, but longer than thirty bytes").unwrap(), 0);
        assert_eq!(members(b"short"), None);
    }

    #[test]
    fn header_beyond_the_end() {
        let mut bytes = vec![0; 40];
        bytes[..4].copy_from_slice(&LOCAL_HEADER.to_le_bytes());
        bytes[26] = 200;
        assert!(module_start(&bytes).unwrap_err().message().starts_with("archive self-reports as a zip"));
    }
}
