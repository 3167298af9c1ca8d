//! Binding tables: what the slots of a command buffer stand for in one execution.

use crate::buffer::Buffer;
use std::sync::Arc;

/// An entry of a binding table.
#[derive(Clone)]
pub struct TableEntry {
    /// The buffer; None leaves the slot empty.
    pub buffer: Option<Arc<Buffer>>,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes; [`crate::buffer::WHOLE_BUFFER`] for the rest.
    pub length: u64,
}

/// An entry of a binding table, borrowed for an execution.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'a> {
    pub(crate) buffer: Option<&'a Buffer>,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

/// A binding table of either form.
pub(crate) trait Table {
    /// Number of entries.
    fn len(&self) -> usize;
    /// Entry `index`.
    fn slot(&self, index: usize) -> Option<Slot<'_>>;
}

impl Table for [TableEntry] {
    fn len(&self) -> usize {
        <[TableEntry]>::len(self)
    }

    fn slot(&self, index: usize) -> Option<Slot<'_>> {
        let entry = self.get(index)?;
        Some(Slot { buffer: entry.buffer.as_deref(), offset: entry.offset, length: entry.length })
    }
}
