//! Sets of registers.

/// A set for each block.
pub(super) struct Bits {
    words: usize,
    bits: Vec<u64>,
}

impl Bits {
    /// Empty sets; None when they would take more than `limit` words.
    pub fn new(blocks: usize, registers: usize, limit: usize) -> Option<Bits> {
        let words = registers.div_ceil(64).max(1);
        (blocks.saturating_mul(words) <= limit).then(|| Bits { words, bits: vec![0; blocks * words] })
    }

    /// An empty set.
    pub fn scratch(&self) -> Vec<u64> {
        vec![0; self.words]
    }

    /// The set of a block.
    pub fn row(&self, block: usize) -> &[u64] {
        &self.bits[block * self.words..(block + 1) * self.words]
    }

    /// Whether a register is in the set of a block.
    pub fn has(&self, block: usize, register: usize) -> bool {
        has(self.row(block), register)
    }

    /// Makes `row` the set of a block; whether it changed.
    pub fn replace(&mut self, block: usize, row: &[u64]) -> bool {
        let changed = self.row(block) != row;
        self.bits[block * self.words..(block + 1) * self.words].copy_from_slice(row);
        changed
    }

    /// Adds `row` to the set of a block; whether it changed.
    pub fn join(&mut self, block: usize, row: &[u64]) -> bool {
        let mut changed = false;
        for (have, more) in self.bits[block * self.words..(block + 1) * self.words].iter_mut().zip(row) {
            changed |= more & !*have != 0;
            *have |= more;
        }
        changed
    }
}

pub(super) fn has(row: &[u64], register: usize) -> bool {
    row[register / 64] >> (register % 64) & 1 != 0
}

pub(super) fn set(row: &mut [u64], register: usize) {
    row[register / 64] |= 1 << (register % 64);
}

/// Removes a register; whether it was there.
pub(super) fn take(row: &mut [u64], register: usize) -> bool {
    let had = has(row, register);
    row[register / 64] &= !(1 << (register % 64));
    had
}

pub(super) fn assign(row: &mut [u64], register: usize, value: bool) {
    if value {
        set(row, register);
    } else {
        take(row, register);
    }
}

pub(super) fn add(row: &mut [u64], more: &[u64]) {
    for (have, more) in row.iter_mut().zip(more) {
        *have |= more;
    }
}

/// How many registers are in a set.
pub(super) fn count(row: &[u64]) -> usize {
    row.iter().map(|word| word.count_ones() as usize).sum()
}

/// The registers in a set, ascending.
pub(super) fn members(row: &[u64]) -> impl Iterator<Item = usize> {
    row.iter().enumerate().flat_map(|(index, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(64 * index + bit)
        })
    })
}
