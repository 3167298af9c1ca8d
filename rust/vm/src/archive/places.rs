//! Places in the source that instructions come from: the debug database of a module.
//!
//! It is read when an error is described and not before, so it costs nothing while nothing fails; what is damaged in it
//! names no place. Location tables may refer to each other in any way, so how far they are followed is limited.

use super::Archive;
use super::flatbuffer::{Budget, Buffer, Table, Vector};
use crate::status::Result;

/// Field numbers of the tables.
const DEBUG_DATABASE: usize = 15;
const LOCATION_TYPES: usize = 0;
const LOCATIONS: usize = 1;
const FUNCTIONS: usize = 2;

/// Tags of the location union.
const CALL_SITE: u8 = 1;
const FILE_LINE_COLUMN: u8 = 2;
const FUSED: u8 = 3;
const NAME: u8 = 4;

/// References between locations that are followed.
const STEPS: usize = 64;

/// Name and place of one instruction, as far as the module says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Of the function, exported or not.
    pub function: Option<String>,
    /// `file:line:column`
    pub location: Option<String>,
}

/// Where the instruction at `pc` of function `ordinal` comes from.
pub fn find(archive: &Archive, ordinal: usize, pc: u32) -> Place {
    look_up(archive, ordinal, pc).ok().flatten().unwrap_or_default()
}

fn look_up(archive: &Archive, ordinal: usize, pc: u32) -> Result<Option<Place>> {
    let budget = Budget::new(archive.flatbuffer().len());
    let root = Buffer::new(archive.flatbuffer(), &budget).root()?;
    let Some(debug) = root.table(DEBUG_DATABASE, "debug_database")? else { return Ok(None) };
    let Some(functions) = debug.vector(FUNCTIONS, 4, "debug functions")? else { return Ok(None) };
    let Some(function) = entry(archive, functions, ordinal)? else { return Ok(None) };
    let name = function.text(0, "local_name")?.filter(|name| !name.is_empty()).map(str::to_owned);
    let mut place = Place { function: name, location: None };
    let Some(entries) = function.vector(1, 8, "debug locations")? else { return Ok(Some(place)) };
    if let (Some(index), Some(locations)) = (last_before(entries, pc)?, Locations::new(debug)?) {
        let mut steps = STEPS;
        place.location = locations.text(index, &mut steps)?;
    }
    Ok(Some(place))
}

/// The entry of function `ordinal`.
///
/// IREE keeps only the entry of its last function when there are several. Whose the entries of such a database are can be
/// said by the names of exported functions only.
fn entry<'a>(archive: &Archive, functions: Vector<'a>, ordinal: usize) -> Result<Option<Table<'a>>> {
    let def = archive.def();
    if functions.len() == def.functions.len() {
        return if ordinal < functions.len() { functions.opt_table(ordinal, "debug function") } else { Ok(None) };
    }
    for index in 0..functions.len().min(STEPS) {
        let Some(function) = functions.opt_table(index, "debug function")? else { continue };
        let name = function.text(0, "local_name")?.unwrap_or_default();
        if def.exports.iter().any(|export| export.ordinal as usize == ordinal && export.name == name) {
            return Ok(Some(function));
        }
    }
    Ok(None)
}

/// The location of the last entry that is not behind `pc`; entries are sorted.
fn last_before(entries: Vector<'_>, pc: u32) -> Result<Option<usize>> {
    let entry = |index: usize| -> Result<(u32, u32)> {
        let [a, b, c, d, e, f, g, h] = entries.array::<8>(index)?;
        Ok((u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])))
    };
    let (mut low, mut high) = (0, entries.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if entry(middle)?.0 <= pc { low = middle + 1 } else { high = middle }
    }
    match low.checked_sub(1) {
        Some(index) => Ok(usize::try_from(entry(index)?.1).ok()),
        None => Ok(None),
    }
}

struct Locations<'a> {
    types: Vector<'a>,
    tables: Vector<'a>,
}

impl<'a> Locations<'a> {
    fn new(debug: Table<'a>) -> Result<Option<Locations<'a>>> {
        let types = debug.vector(LOCATION_TYPES, 1, "location types")?;
        let tables = debug.vector(LOCATIONS, 4, "location_table")?;
        Ok(types.zip(tables).map(|(types, tables)| Locations { types, tables }))
    }

    /// The first place in a file that location `index` leads to.
    fn text(&self, index: usize, steps: &mut usize) -> Result<Option<String>> {
        if *steps == 0 || index >= self.types.len().min(self.tables.len()) {
            return Ok(None);
        }
        *steps -= 1;
        let [tag] = self.types.array::<1>(index)?;
        let Some(table) = self.tables.opt_table(index, "location")? else { return Ok(None) };
        let reference =
            |slot: usize| Ok::<_, crate::status::Status>(table.u32(slot, "location")?.unwrap_or(0) as usize);
        match tag {
            FILE_LINE_COLUMN => {
                let Some(file) = table.text(0, "filename")?.filter(|file| !file.is_empty()) else { return Ok(None) };
                Ok(Some(format!("{file}:{}:{}", reference(1)?, reference(2)?)))
            }
            // What was called, or else where from.
            CALL_SITE => match self.text(reference(0)?, steps)? {
                None => self.text(reference(1)?, steps),
                found => Ok(found),
            },
            FUSED => {
                let Some(parts) = table.vector(1, 4, "fused locations")? else { return Ok(None) };
                for part in 0..parts.len().min(STEPS) {
                    let found = self.text(u32::from_le_bytes(parts.array::<4>(part)?) as usize, steps)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
                Ok(None)
            }
            NAME => self.text(reference(1)?, steps),
            _ => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// Any damage of the database names another place or none.
    #[test]
    fn damage_names_no_place() {
        let path = format!("{}/tests/data/flow.vmfb", env!("CARGO_MANIFEST_DIR"));
        let good = std::fs::read(path).unwrap();
        for at in (0..good.len()).step_by(3) {
            let mut bytes = good.clone();
            bytes[at] ^= 0xFF;
            let Ok(archive) = Archive::copy(&bytes, "x") else { continue };
            for ordinal in [0, 1, 1000] {
                for pc in [0, 5, u32::MAX] {
                    find(&archive, ordinal, pc);
                }
            }
        }
    }
}
