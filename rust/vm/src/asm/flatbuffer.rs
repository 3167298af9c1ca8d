//! Writes FlatBuffers from the back to the front, with each vtable stored once behind everything.
//!
//! The order of parts, their padding and the sharing of vtables are those of iree-as-module's output, so that modules
//! can be compared byte for byte.

use std::collections::HashMap;

/// An object in the buffer: its distance from the end of the part that grows to the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object(u32);

/// A field of a table.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    U32(u32),
    Object(Object),
}

/// A buffer in the making. All offsets in it are below 2^31: the caller bounds the sum of what it adds.
#[derive(Default)]
pub struct Builder {
    /// The part that grows to the front, in reverse.
    front: Vec<u8>,
    /// Vtables, behind it.
    vtables: Vec<u8>,
    /// Where each vtable is.
    known: HashMap<Vec<u8>, u32>,
}

impl Builder {
    /// Appends (in front) `bytes`, padded behind so that they begin at a multiple of 4.
    fn emit(&mut self, bytes: &[u8]) -> Object {
        let end = (self.front.len() + bytes.len()).next_multiple_of(4);
        self.front.resize(end - bytes.len(), 0);
        self.front.extend(bytes.iter().rev());
        Object(end as u32)
    }

    /// A vector of bytes.
    pub fn bytes(&mut self, data: &[u8]) -> Object {
        let mut bytes = (data.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(data);
        self.emit(&bytes)
    }

    /// A string.
    pub fn text(&mut self, text: &str) -> Object {
        let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
        self.emit(&bytes)
    }

    /// A vector of structs of `count` entries.
    pub fn structs(&mut self, count: u32, data: &[u8]) -> Object {
        let mut bytes = count.to_le_bytes().to_vec();
        bytes.extend_from_slice(data);
        self.emit(&bytes)
    }

    /// A vector of tables or strings.
    pub fn objects(&mut self, objects: &[Object]) -> Object {
        let start = (self.front.len() + 4 + 4 * objects.len()).next_multiple_of(4) as u32;
        let mut bytes = (objects.len() as u32).to_le_bytes().to_vec();
        for (index, object) in objects.iter().enumerate() {
            let here = start - 4 - 4 * index as u32;
            bytes.extend_from_slice(&(here - object.0).to_le_bytes());
        }
        self.emit(&bytes)
    }

    /// A table; `fields` are (slot, value) in order of slots.
    pub fn table(&mut self, fields: &[(usize, Field)]) -> Object {
        let size = 4 + 4 * fields.len();
        let slots = fields.last().map_or(0, |(slot, _)| slot + 1);
        let mut vtable = vec![0u16; 2 + slots];
        vtable[0] = 2 * vtable.len() as u16;
        vtable[1] = size as u16;
        for (index, (slot, _)) in fields.iter().enumerate() {
            vtable[2 + slot] = 4 + 4 * index as u16;
        }
        let vtable = self.vtable(vtable.iter().flat_map(|entry| entry.to_le_bytes()).collect());
        let start = (self.front.len() + size).next_multiple_of(4) as u32;
        // A vtable is found at its table's position minus this number.
        let mut bytes = (-((start + vtable) as i32)).to_le_bytes().to_vec();
        for (index, (_, field)) in fields.iter().enumerate() {
            let here = start - 4 - 4 * index as u32;
            let value = match field {
                Field::U32(value) => *value,
                Field::Object(object) => here - object.0,
            };
            bytes.extend_from_slice(&value.to_le_bytes());
        }
        self.emit(&bytes)
    }

    fn vtable(&mut self, bytes: Vec<u8>) -> u32 {
        let (next, vtables) = (self.vtables.len() as u32, &mut self.vtables);
        *self.known.entry(bytes).or_insert_with_key(|bytes| {
            vtables.extend_from_slice(bytes);
            next
        })
    }

    /// The whole buffer with a size prefix in front.
    pub fn finish(mut self, root: Object, identifier: &[u8; 4]) -> Vec<u8> {
        let start = self.front.len() as u32;
        // The root offset and the identifier come in front of it all.
        let mut bytes = (start + 8 - root.0).to_le_bytes().to_vec();
        bytes.extend_from_slice(identifier);
        self.emit(&bytes);
        let length = (self.front.len() + self.vtables.len()).next_multiple_of(4);
        let mut out = (length as u32).to_le_bytes().to_vec();
        out.extend(self.front.iter().rev());
        out.extend_from_slice(&self.vtables);
        out.resize(4 + length, 0);
        out
    }
}
