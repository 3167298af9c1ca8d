//! Elements that are no numbers, in parts, so that a list may become longer without moving them.
//!
//! Two locks: one is held by whoever changes the number of elements or the room for them, for as long as that takes; the
//! other by whoever touches elements, for moments: what a list grows by is made before it is taken, and what goes is
//! dropped after it. Nobody waits for long, but for one who also changes the number.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::{GoOn, MAX_LENGTH, Pause, no_memory};
use crate::quota::Charge;
use crate::status::Result;

/// Elements of a part, all but the last of which are full. The first is smaller while it is the only one.
const PART: usize = super::SLICE;

type Part<T> = Vec<Option<T>>;

/// Elements; `None` is null, or never set.
pub(super) struct Objects<T> {
    parts: Mutex<Parts<T>>,
    growth: Mutex<Growth<T>>,
}

/// Elements, for a moment.
pub(super) struct Parts<T>(Vec<Part<T>>);

/// Who has it may change how many elements there are.
pub(super) struct Growth<T> {
    /// Room for a part each, behind those in use.
    spare: Vec<Part<T>>,
    /// What all the room takes from the quota of the context that made the list.
    charge: Option<Charge>,
}

/// Elements that a list does not have any more. To drop them may run any code, so no lock may be held then.
pub(super) struct Gone<T> {
    /// From the end of the last part that stays.
    _end: Part<T>,
    parts: Vec<Part<T>>,
    /// That of the parts; given back behind them.
    charge: Option<Charge>,
}

impl<T> Default for Gone<T> {
    fn default() -> Gone<T> {
        Gone { _end: Vec::new(), parts: Vec::new(), charge: None }
    }
}

impl<T> Parts<T> {
    pub fn len(&self) -> usize {
        self.0.last().map_or(0, |last| (self.0.len() - 1) * PART + last.len())
    }

    /// Element `at`, which there must be.
    pub fn get(&self, at: usize) -> &Option<T> {
        &self.0[at / PART][at % PART]
    }

    /// As `get`, to be changed.
    pub fn get_mut(&mut self, at: usize) -> &mut Option<T> {
        &mut self.0[at / PART][at % PART]
    }

    /// How many elements the first part has room for.
    fn first_room(&self) -> usize {
        self.0.first().map_or(0, |first| first.capacity().min(PART))
    }

    /// Takes the elements from `length` on away. The first part stays.
    fn cut(&mut self, length: usize) -> Gone<T> {
        let keep = length.div_ceil(PART).max(1);
        let parts = self.0.split_off(keep.min(self.0.len()));
        let end = self.0.last_mut().map(|last| last.split_off(length - (keep - 1) * PART));
        Gone { _end: end.unwrap_or_default(), parts, charge: None }
    }

    /// Makes the last part longer when there is room for `length` elements in it; whether there was.
    fn extend_within(&mut self, length: usize) -> bool {
        let before = self.0.len().saturating_sub(1) * PART;
        let room = if self.0.len() > 1 { PART } else { self.first_room() };
        let fits = length - before <= room;
        if fits && let Some(last) = self.0.last_mut() {
            last.resize_with(length - before, || None);
        }
        fits
    }
}

impl<T> Objects<T> {
    pub fn new() -> Objects<T> {
        Objects { parts: Mutex::new(Parts(Vec::new())), growth: Mutex::new(Growth { spare: Vec::new(), charge: None }) }
    }

    /// Takes what memory there will be from the quota of `charge`.
    pub fn set_charge(&mut self, charge: Option<Charge>) {
        self.growth.get_mut().unwrap_or_else(PoisonError::into_inner).charge = charge;
    }

    /// The elements. Nothing that may take long, and no code of others, may be executed meanwhile.
    pub fn lock(&self) -> MutexGuard<'_, Parts<T>> {
        // No operation leaves elements half-changed, so a poisoned lock is as good as any.
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to change how many elements there are; `go_on` is asked when another thread has to be waited for.
    pub fn begin(&self, go_on: GoOn<'_>) -> Result<MutexGuard<'_, Growth<T>>> {
        match self.growth.try_lock() {
            Ok(growth) => Ok(growth),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                go_on(Pause::Wait)?;
                Ok(self.growth.lock().unwrap_or_else(PoisonError::into_inner))
            }
        }
    }

    /// Makes room for `capacity` elements. All of it or nothing.
    pub fn reserve(&self, capacity: usize, go_on: GoOn<'_>) -> Result<()> {
        self.make_room(&mut *self.begin(go_on)?, capacity)
    }

    fn make_room(&self, growth: &mut Growth<T>, capacity: usize) -> Result<()> {
        if capacity > MAX_LENGTH {
            return Err(no_memory(capacity));
        }
        // Nobody else changes these.
        let (room, others) = {
            let parts = self.lock();
            (parts.first_room(), parts.0.len().saturating_sub(1) + growth.spare.len())
        };
        let first = if capacity <= room { room } else { capacity.max(room * 2).clamp(4, PART) };
        let more = capacity.div_ceil(PART).saturating_sub(1 + others);
        let bytes = (first - room + more * PART) * size_of::<Option<T>>();
        if bytes == 0 {
            return Ok(());
        }
        let charge = growth.charge.as_ref().map(|charge| charge.more(bytes)).transpose()?;
        let mut larger = with_room(if first > room { first } else { 0 }, capacity)?;
        let mut spare = Vec::new();
        for _ in 0..more {
            spare.push(with_room(PART, capacity)?);
        }
        if first > room {
            let mut parts = self.lock();
            match parts.0.first_mut() {
                Some(smaller) => {
                    larger.append(smaller);
                    std::mem::swap(smaller, &mut larger);
                }
                None => parts.0.push(std::mem::take(&mut larger)),
            }
            // The smaller one is given back behind the lock.
            drop(parts);
        }
        growth.spare.append(&mut spare);
        if let (Some(all), Some(charge)) = (&mut growth.charge, charge) {
            all.join(charge);
        }
        Ok(())
    }

    /// Sets the number of elements; new ones are `None`. With an error nothing has changed.
    pub fn resize(&self, length: usize, go_on: GoOn<'_>) -> Result<Gone<T>> {
        let mut growth = self.begin(go_on)?;
        {
            let mut parts = self.lock();
            if length < parts.len() {
                let mut gone = parts.cut(length);
                drop(parts);
                let bytes = gone.parts.len() * PART * size_of::<Option<T>>();
                gone.charge = growth.charge.as_mut().map(|charge| charge.split(bytes));
                return Ok(gone);
            }
            if parts.extend_within(length) {
                return Ok(Gone::default());
            }
        }
        self.make_room(&mut growth, length)?;
        self.grow(&mut growth, length, go_on)?;
        Ok(Gone::default())
    }

    /// Drops what is gone, and keeps the room that it had.
    pub fn drop_and_keep_room(&self, mut gone: Gone<T>) {
        if gone.parts.is_empty() {
            return;
        }
        gone.parts.iter_mut().for_each(Vec::clear);
        // Another thread that makes room meanwhile may have to make it anew.
        let Ok(mut growth) = self.growth.try_lock() else { return };
        growth.spare.append(&mut gone.parts);
        if let (Some(all), Some(charge)) = (&mut growth.charge, gone.charge.take()) {
            all.join(charge);
        }
    }

    /// Uses room that there is, so that there are `length` elements.
    fn grow(&self, growth: &mut Growth<T>, length: usize, go_on: GoOn<'_>) -> Result<()> {
        let have = self.lock().0.len();
        let wanted = length.div_ceil(PART);
        let mut fresh = growth.spare.split_off(growth.spare.len() - wanted.saturating_sub(have));
        for (number, part) in (have..).zip(&mut fresh) {
            if let Err(status) = go_on(Pause::Slice) {
                fresh.iter_mut().for_each(Vec::clear);
                growth.spare.append(&mut fresh);
                return Err(status);
            }
            part.resize_with((length - number * PART).min(PART), || None);
        }
        let mut parts = self.lock();
        parts.extend_within(length.min(have * PART));
        parts.0.append(&mut fresh);
        Ok(())
    }

    /// Appends an element.
    pub fn push(&self, value: Option<T>, go_on: GoOn<'_>) -> Result<()> {
        let mut growth = self.begin(go_on)?;
        let length = self.lock().len();
        self.make_room(&mut growth, length + 1)?;
        if length > 0 && length.is_multiple_of(PART) {
            self.grow(&mut growth, length + 1, &|_| Ok(()))?;
            *self.lock().get_mut(length) = value;
        } else if let Some(last) = self.lock().0.last_mut() {
            last.push(value);
        }
        Ok(())
    }

    /// All elements; there are none any more. Nothing while another thread changes how many there are.
    pub fn take_all(&self) -> Gone<T> {
        self.resize(0, &|_| Err(no_memory(0))).unwrap_or_default()
    }

    /// Looks at all elements, at a part at a time: others may use the list in between.
    pub fn each_part(&self, mut look: impl FnMut(&[Option<T>])) {
        for number in 0.. {
            let parts = self.lock();
            let Some(part) = parts.0.get(number) else { return };
            look(part);
        }
    }

    /// The elements of a list that is gone.
    pub fn into_elements(self) -> impl Iterator<Item = T> {
        self.parts.into_inner().unwrap_or_else(PoisonError::into_inner).0.into_iter().flatten().flatten()
    }
}

/// Room for `room` elements of a list that is to have room for `capacity`.
fn with_room<T>(room: usize, capacity: usize) -> Result<Part<T>> {
    let mut part = Vec::new();
    part.try_reserve_exact(room).map_err(|_| no_memory(capacity))?;
    Ok(part)
}
