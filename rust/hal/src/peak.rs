//! How much memory a call needs: watches over a pool, each of which sees the highest number of bytes that were live.
//!
//! A watch is over a device, not over a call: what other threads allocate meanwhile is seen as well.

use crate::memory::Pool;
use std::sync::Arc;

/// What was seen between the begin of a watch and now, in bytes as they were requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The highest number of bytes that were live at once, above those that were live at the begin.
    pub peak: u64,
    /// All that was allocated.
    pub allocated: u64,
    /// Live now, above those at the begin; what was freed that was live then counts as negative.
    pub kept: i64,
}

struct Watch {
    id: u64,
    begin: u64,
    highest: u64,
    allocated: u64,
}

/// The watches of a pool.
#[derive(Default)]
pub(crate) struct Watches {
    active: Vec<Watch>,
    next: u64,
}

impl Watches {
    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Takes note of an allocation of `length` bytes, after which `live` are live.
    pub(crate) fn added(&mut self, length: u64, live: u64) {
        for watch in &mut self.active {
            watch.allocated += length;
            watch.highest = watch.highest.max(live);
        }
    }

    pub(crate) fn begin(&mut self, live: u64) -> u64 {
        let id = self.next;
        self.next += 1;
        self.active.push(Watch { id, begin: live, highest: live, allocated: 0 });
        id
    }

    pub(crate) fn seen(&self, id: u64, live: u64) -> Usage {
        let Some(watch) = self.active.iter().find(|watch| watch.id == id) else { return Usage::default() };
        Usage {
            peak: watch.highest - watch.begin,
            allocated: watch.allocated,
            kept: live.wrapping_sub(watch.begin).cast_signed(),
        }
    }

    pub(crate) fn end(&mut self, id: u64) {
        self.active.retain(|watch| watch.id != id);
    }
}

/// A watch over the memory of a device; it ends when this is dropped.
pub struct Peak {
    pool: Arc<Pool>,
    id: u64,
}

impl Peak {
    pub(crate) fn begin(pool: Arc<Pool>) -> Peak {
        let id = pool.watch();
        Peak { pool, id }
    }

    /// What was seen so far.
    pub fn usage(&self) -> Usage {
        self.pool.watched(self.id)
    }
}

impl Drop for Peak {
    fn drop(&mut self) {
        self.pool.unwatch(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Kind;

    #[test]
    fn watches_see_what_is_live_above_their_begin() {
        let pool = Pool::new();
        let before = pool.clone().allocate(100, Kind::Device).unwrap();
        let outer = Peak::begin(pool.clone());
        assert_eq!(outer.usage(), Usage::default());
        let (first, second) =
            (pool.clone().allocate(30, Kind::Device).unwrap(), pool.clone().allocate(20, Kind::Host).unwrap());
        drop(second);
        let inner = Peak::begin(pool.clone());
        let third = pool.clone().allocate(7, Kind::Device).unwrap();
        assert_eq!(outer.usage(), Usage { peak: 50, allocated: 57, kept: 37 });
        assert_eq!(inner.usage(), Usage { peak: 7, allocated: 7, kept: 7 });
        drop((before, first, third));
        assert_eq!(outer.usage(), Usage { peak: 50, allocated: 57, kept: -100 });
        drop(outer);
        assert_eq!(inner.usage(), Usage { peak: 7, allocated: 7, kept: -130 });
        let again = Peak::begin(pool);
        assert_eq!(again.usage(), Usage::default());
    }
}
