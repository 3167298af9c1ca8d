//! What translating a function takes: counted, bounded, and interrupted where the call is.

use std::cell::Cell;

use crate::status::Result;

/// Asks whether the call that needs the code shall go on.
pub(in crate::bytecode) type Look<'a> = &'a dyn Fn() -> Result<()>;

/// Work between two looks: some hundred microseconds.
const PERIOD: usize = 1 << 16;

/// Counts work: a unit for each byte of instructions looked at, and for eight words of sets.
pub(in crate::bytecode) struct Meter<'a> {
    look: Look<'a>,
    left: Cell<usize>,
    total: Cell<usize>,
}

impl<'a> Meter<'a> {
    /// Nothing done yet.
    pub fn new(look: Look<'a>) -> Meter<'a> {
        Meter { look, left: Cell::new(PERIOD), total: Cell::new(0) }
    }

    /// Counts work about to be done. The error of the look, when it is time for one.
    #[inline]
    pub fn spend(&self, work: usize) -> Result<()> {
        self.total.set(self.total.get() + work);
        if let Some(left) = self.left.get().checked_sub(work) {
            self.left.set(left);
            return Ok(());
        }
        self.left.set(PERIOD);
        (self.look)()
    }

    /// All work so far.
    #[cfg(test)]
    pub fn total(&self) -> usize {
        self.total.get()
    }
}

/// Work that visiting `sets` sets of `words` words is.
pub(in crate::bytecode) fn of_sets(sets: usize, words: usize) -> usize {
    sets * words.div_ceil(8)
}
