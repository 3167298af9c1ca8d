//! In which order blocks are visited, so that few are visited more often than their loops are deep.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// For each block, others: those that its branches lead to, or those that lead to it.
#[derive(Default)]
pub(super) struct Links {
    /// Where those of each block begin, and where the last ones end.
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl Links {
    /// Begins the links of the next block.
    pub fn begin(&mut self) {
        self.starts.push(self.others.len() as u32);
    }

    /// Adds a link to the block begun last.
    pub fn push(&mut self, other: u32) {
        self.others.push(other);
    }

    /// Ends them all, and replaces each `other` by the block that it stands for.
    pub fn end(&mut self, block: impl Fn(u32) -> Option<usize>) {
        self.begin();
        for other in &mut self.others {
            // Verified, so there is one.
            *other = block(*other).unwrap_or_default() as u32;
        }
    }

    fn range(&self, block: usize) -> std::ops::Range<usize> {
        self.starts[block] as usize..self.starts[block + 1] as usize
    }

    /// Those of a block.
    pub fn of(&self, block: usize) -> &[u32] {
        &self.others[self.range(block)]
    }

    /// How many all blocks have together.
    pub fn len(&self) -> usize {
        self.others.len()
    }

    /// The same links the other way.
    fn turned(&self) -> Links {
        let blocks = self.starts.len() - 1;
        let mut starts = vec![0; blocks + 1];
        for other in &self.others {
            starts[*other as usize + 1] += 1;
        }
        for block in 0..blocks {
            starts[block + 1] += starts[block];
        }
        let mut next = starts.clone();
        let mut others = vec![0; self.others.len()];
        for block in 0..blocks {
            for other in self.of(block) {
                let at = &mut next[*other as usize];
                others[*at as usize] = block as u32;
                *at += 1;
            }
        }
        Links { starts, others }
    }
}

/// Blocks in reverse postorder: each before those that it leads to, but for the ways back of loops.
pub(super) struct Order {
    blocks: Vec<u32>,
    places: Vec<u32>,
    /// Those that lead to each block; empty when no branch leads backwards.
    before: Links,
}

impl Order {
    /// The order for the blocks with these links. Without loops, the order of the code is one.
    pub fn new(count: usize, links: &Links, loops: bool) -> Order {
        if !loops {
            let blocks: Vec<u32> = (0..count as u32).collect();
            return Order { places: blocks.clone(), blocks, before: Links::default() };
        }
        let mut blocks = postorder(count, links);
        blocks.reverse();
        let mut places = vec![0; count];
        for (place, block) in blocks.iter().enumerate() {
            places[*block as usize] = place as u32;
        }
        Order { blocks, places, before: links.turned() }
    }

    /// Those that lead to a block.
    pub fn before(&self, block: usize) -> &[u32] {
        if self.before.starts.is_empty() { &[] } else { self.before.of(block) }
    }

    /// All blocks, for facts that flow with the branches.
    pub fn forwards(&self) -> Queue<'_> {
        Queue {
            order: self,
            backwards: false,
            next: 0,
            waits: vec![false; self.blocks.len()],
            again: BinaryHeap::new(),
        }
    }

    /// All blocks, for facts that flow against the branches.
    pub fn backwards(&self) -> Queue<'_> {
        Queue { backwards: true, ..self.forwards() }
    }
}

/// From every block that none before it leads to, the first one above all.
fn postorder(count: usize, links: &Links) -> Vec<u32> {
    let mut seen = vec![false; count];
    let mut blocks = Vec::with_capacity(count);
    let mut path: Vec<(u32, u32)> = Vec::new();
    for root in 0..count as u32 {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        path.push((root, 0));
        while let Some((block, next)) = path.last_mut() {
            match links.of(*block as usize).get(*next as usize) {
                Some(to) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[*to as usize], true) {
                        path.push((*to, 0));
                    }
                }
                None => {
                    blocks.push(*block);
                    path.pop();
                }
            }
        }
    }
    blocks
}

/// Blocks still to be visited: each once, then those that were added, the first in the order first.
pub(super) struct Queue<'o> {
    order: &'o Order,
    backwards: bool,
    next: usize,
    waits: Vec<bool>,
    again: BinaryHeap<Reverse<u32>>,
}

impl Queue<'_> {
    fn turned(&self, place: usize) -> usize {
        if self.backwards { self.order.blocks.len() - 1 - place } else { place }
    }

    /// Has a block visited again, unless it will be anyway.
    pub fn add(&mut self, block: usize) {
        let place = self.turned(self.order.places[block] as usize);
        if place < self.next && !std::mem::replace(&mut self.waits[place], true) {
            self.again.push(Reverse(place as u32));
        }
    }

    /// The next one.
    pub fn pop(&mut self) -> Option<usize> {
        let place = if self.next < self.order.blocks.len() {
            self.next += 1;
            self.next - 1
        } else {
            let place = self.again.pop()?.0 as usize;
            self.waits[place] = false;
            place
        };
        Some(self.order.blocks[self.turned(place)] as usize)
    }
}
