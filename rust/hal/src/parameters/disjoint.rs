//! What no archive may have: two parameters of one name, or in the same bytes. Which of them was meant nobody can say, and
//! a program that writes one would change the other.

use super::bytes::bad;
use super::{Entry, Storage};
use std::collections::HashMap;
use std::sync::Arc;
use tiree_vm::Result;

/// Where the bytes of an entry are in its file; None for splats and where there are none.
fn range(entry: &Entry) -> Option<(usize, usize)> {
    match entry.storage {
        Storage::Data { offset, length, .. } if length > 0 => Some((offset, offset + length)),
        _ => None,
    }
}

fn described(entry: &Entry) -> String {
    match range(entry) {
        Some((start, end)) => format!("bytes [{start}, {end})"),
        None if entry.is_empty() => "no bytes".to_owned(),
        None => format!("a splat of {} bytes", entry.len()),
    }
}

/// INVALID_ARGUMENT, with names and ranges, unless all names and bytes of `entries`, which one file has, are apart.
pub(super) fn check(entries: &[Arc<Entry>]) -> Result<()> {
    let mut names: HashMap<&str, &Entry> = HashMap::with_capacity(entries.len());
    for entry in entries {
        if let Some(first) = names.insert(&entry.key, entry) {
            let (first, second) = (described(first), described(entry));
            return Err(bad(format!("two parameters are called \"{}\": {first} and {second}", entry.key)));
        }
    }
    let mut ranges: Vec<(usize, usize, &str)> =
        entries.iter().filter_map(|entry| range(entry).map(|(start, end)| (start, end, entry.key.as_str()))).collect();
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        let [(start, end, key), (next, last, other)] = pair else { continue };
        if next < end {
            return Err(bad(format!(
                "parameters \"{key}\" and \"{other}\" overlap: bytes [{start}, {end}) and [{next}, {last}) of the file"
            )));
        }
    }
    Ok(())
}
