//! Operations over many bytes or elements. None begins without the fuel that it costs. They are done in slices: between two
//! of them the limits are looked at, as between instructions. What fits into one slice is done at once. In a prompt step,
//! none begins that costs more than a slice of instructions.
//!
//! An operation on buffers that is given up leaves done what it has done. A list grows as a whole or not at all, also for
//! other threads; when one becomes shorter, what it held goes as a whole, which is no longer to be given up.

use std::time::Instant;

use super::ops;
use crate::buffer::VmBuffer;
use crate::limits::Budget;
use crate::list::{MAX_LENGTH, Pause, VmList};
use crate::status::Result;

/// Bytes of a slice.
const BYTES: usize = 1 << 20;
/// Elements of a list that come or go at once.
const AT_ONCE: usize = 1 << 16;

/// Does `work` on the start and the length of each slice, until it says that the rest does not matter.
fn slices(
    budget: &mut Budget,
    length: usize,
    size: usize,
    mut work: impl FnMut(usize, usize) -> Result<bool>,
) -> Result<()> {
    let mut done = 0;
    loop {
        let step = (length - done).min(size);
        let goes_on = work(done, step)?;
        done += step;
        if !goes_on || done == length {
            return Ok(());
        }
        budget.look(Instant::now())?;
    }
}

/// SipHash of a range.
pub fn hash(budget: &mut Budget, source: &VmBuffer, offset: i64, length: i64) -> Result<u64> {
    use crate::siphash::SipHash;

    let start = source.check_range(offset as u64, length as u64)?;
    budget.afford(ops::bulk(length as usize))?;
    let (mut hash, mut scratch) = (SipHash::new(), [0; 1024]);
    slices(budget, length as usize, BYTES, |at, size| {
        let from = start + at;
        if let Some(bytes) = source.as_slice() {
            hash.write(&bytes[from..from + size]);
            return Ok(true);
        }
        for done in (0..size).step_by(scratch.len()) {
            let part = (size - done).min(scratch.len());
            source.read((from + done) as u64, &mut scratch[..part])?;
            hash.write(&scratch[..part]);
        }
        Ok(true)
    })?;
    Ok(hash.finish())
}

/// See [`VmBuffer::compare`].
pub fn compare(
    budget: &mut Budget,
    (left, left_at): (&VmBuffer, u64),
    (right, right_at): (&VmBuffer, u64),
    length: u64,
) -> Result<bool> {
    left.check_range(left_at, length)?;
    right.check_range(right_at, length)?;
    budget.afford(ops::bulk(length as usize))?;
    let mut equal = true;
    slices(budget, length as usize, BYTES, |at, size| {
        equal = left.compare(left_at + at as u64, right, right_at + at as u64, size as u64)?;
        Ok(equal)
    })?;
    Ok(equal)
}

/// See [`VmBuffer::copy_from`].
pub fn copy(
    budget: &mut Budget,
    (target, to): (&VmBuffer, u64),
    (source, from): (&VmBuffer, u64),
    length: u64,
) -> Result<()> {
    let first = source.check_range(from, length)?;
    target.check_mutable()?;
    let second = target.check_range(to, length)?;
    budget.afford(ops::bulk(length as usize))?;
    if length <= BYTES as u64 {
        return target.copy_from(to, source, from, length);
    }
    let (start, end) = (source.as_ptr().addr().get() + first, target.as_ptr().addr().get() + second);
    let backwards = end > start && end - start < length as usize;
    slices(budget, length as usize, BYTES, |at, size| {
        let at = if backwards { length - (at + size) as u64 } else { at as u64 };
        target.copy_from(to + at, source, from + at, size as u64)?;
        Ok(true)
    })
}

/// See [`VmBuffer::clone_range`].
pub fn clone(budget: &mut Budget, source: &VmBuffer, offset: u64, length: u64, alignment: usize) -> Result<VmBuffer> {
    source.check_range(offset, length)?;
    budget.afford(ops::bulk(length as usize))?;
    if length <= BYTES as u64 {
        return source.clone_range(offset, length, alignment);
    }
    let copy = VmBuffer::allocate(length as usize, alignment)?;
    slices(budget, length as usize, BYTES, |at, size| {
        // SAFETY: inside the copy, which is private, so a plain slice of it may be filled.
        let out = unsafe { std::slice::from_raw_parts_mut(copy.as_ptr().as_ptr().add(at), size) };
        source.read(offset + at as u64, out)?;
        Ok(true)
    })?;
    Ok(copy)
}

/// Fills `length` elements of `size` bytes from element `index` on, with `fill` from where and how many.
pub fn fill(
    budget: &mut Budget,
    buffer: &VmBuffer,
    (index, length): (i64, i64),
    size: usize,
    fill: impl Fn(i64, i64) -> Result<()>,
) -> Result<()> {
    let capacity = (buffer.len() / size) as u64;
    let fits = (index as u64).checked_add(length as u64).is_some_and(|end| end <= capacity);
    if fits {
        budget.afford(ops::bulk(length as usize * size))?;
    }
    if !fits || length as usize * size <= BYTES {
        // At once, or an error.
        return fill(index, length);
    }
    slices(budget, length as usize, BYTES / size, |at, count| {
        fill(index + at as i64, count as i64)?;
        Ok(true)
    })
}

/// See [`VmList::resize`]; the number of elements that came or went.
pub fn resize(budget: &mut Budget, list: &VmList, length: usize) -> Result<usize> {
    let change = length.abs_diff(list.len());
    if length <= MAX_LENGTH {
        budget.afford(ops::bulk(change))?;
    }
    budget.long(change > AT_ONCE)?;
    list.resize_until(length, &|pause| goes_on(budget, pause))?;
    Ok(change)
}

/// See [`VmList::reserve`].
pub fn reserve(budget: &mut Budget, list: &VmList, capacity: usize) -> Result<()> {
    if capacity <= MAX_LENGTH {
        budget.afford(ops::bulk(capacity))?;
    }
    budget.long(capacity > AT_ONCE)?;
    list.reserve_until(capacity, &|pause| goes_on(budget, pause))
}

/// Whether an operation on a list goes on.
fn goes_on(budget: &Budget, pause: Pause) -> Result<()> {
    match pause {
        Pause::Wait => budget.long(true),
        Pause::Slice => budget.check_deadline_now(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::types::{TypeDef, ValueType};

    fn budget() -> Budget {
        Budget::new(&Limits::default())
    }

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i * 7 + i / 256 + i / 70_000) as u8).collect()
    }

    #[test]
    fn overlapping_copies_of_all_lengths() {
        for length in [0, 1, 7, 8, 9, 4095, 4096, 4097, 10000, BYTES, BYTES + 1, 2 * BYTES + 5] {
            for (from, to) in [(0usize, 3usize), (3, 0), (0, 0), (1, 4099)] {
                let mut expected = bytes(length + 4200);
                let buffer = VmBuffer::copy_of(&expected, true).unwrap();
                copy(&mut budget(), (&buffer, to as u64), (&buffer, from as u64), length as u64).unwrap();
                expected.copy_within(from..from + length, to);
                assert!(buffer.to_vec() == expected, "{length} {from} {to}");
            }
        }
    }

    #[test]
    fn slices_are_the_whole() {
        let data = bytes(2 * BYTES + 100);
        let length = data.len() as u64 - 3;
        let [fixed, mutable] = [false, true].map(|mutable| VmBuffer::copy_of(&data, mutable).unwrap());
        let hashes = [&fixed, &mutable].map(|buffer| hash(&mut budget(), buffer, 3, length as i64).unwrap());
        let mut whole = crate::siphash::SipHash::new();
        whole.write(&data[3..]);
        assert_eq!(hashes, [whole.finish(); 2]);
        for source in [&fixed, &mutable] {
            let copy = clone(&mut budget(), source, 3, length, 64).unwrap();
            assert!(copy.to_vec() == data[3..]);
            assert!(compare(&mut budget(), (&copy, 0), (source, 3), length).unwrap());
            for at in [0, BYTES, length as usize - 1] {
                copy.store_u8(at as i64, !data[at + 3]).unwrap();
                assert!(!compare(&mut budget(), (source, 3), (&copy, 0), length).unwrap(), "{at}");
                copy.store_u8(at as i64, data[at + 3]).unwrap();
            }
        }
        let store = |at, count| mutable.fill_u32(at, count, 0x0403_0201);
        fill(&mut budget(), &mutable, (1, data.len() as i64 / 4 - 2), 4, store).unwrap();
        let filled = mutable.to_vec();
        assert!(filled[..4] == data[..4] && filled[data.len() - 4..] == data[data.len() - 4..]);
        assert!(filled[4..data.len() - 4].chunks(4).all(|element| element == [1, 2, 3, 4]));
        assert!(fill(&mut budget(), &mutable, (2, data.len() as i64 / 4), 4, store).is_err());
        assert!(fill(&mut budget(), &mutable, (-1, i64::MAX), 4, store).is_err());
    }

    #[test]
    fn lists_come_to_their_length() {
        const ELEMENTS: usize = 1 << 16;
        for element in [TypeDef::Any, TypeDef::Ref("vm.list"), TypeDef::Value(ValueType::I32)] {
            let list = VmList::new(element);
            for (length, change) in [(3 * ELEMENTS + 1, 3 * ELEMENTS + 1), (5, 3 * ELEMENTS - 4), (5, 0), (0, 5)] {
                assert_eq!(resize(&mut budget(), &list, length).unwrap(), change);
                assert_eq!(list.len(), length);
            }
            assert!(resize(&mut budget(), &list, 1 << 30).is_err());
            assert!(list.is_empty());
        }
    }

    /// Nothing happens without fuel, and a list that is given up is as it was.
    #[test]
    fn what_is_refused_or_given_up_changes_nothing() {
        let poor = || {
            let mut budget = Budget::new(&Limits { fuel: Some(999), ..Limits::default() });
            let fuel = budget.first();
            budget.set_at_hand(fuel);
            budget
        };
        let late = || Budget::new(&Limits { deadline: Some(Instant::now()), ..Limits::default() });
        let [source, target] = [1u8, 2].map(|byte| VmBuffer::copy_of(&vec![byte; 32_000], true).unwrap());
        assert!(copy(&mut poor(), (&target, 0), (&source, 0), 32_000).is_err());
        assert!(fill(&mut poor(), &target, (0, 8000), 4, |at, count| target.fill_u32(at, count, 7)).is_err());
        assert!(hash(&mut poor(), &target, 0, 32_000).is_err());
        assert!(compare(&mut poor(), (&source, 0), (&target, 0), 32_000).is_err());
        assert!(clone(&mut poor(), &source, 0, 32_000, 1).is_err());
        assert_eq!(target.to_vec(), [2; 32_000]);
        assert!(copy(&mut poor(), (&target, 0), (&source, 0), 31_999).is_ok());
        for element in [TypeDef::Any, TypeDef::Value(ValueType::I32), TypeDef::Value(ValueType::I64)] {
            let list = VmList::new(element);
            list.resize(100_000).unwrap();
            for at in [0, 99_999] {
                list.set_i32(at, 7).unwrap();
            }
            assert!(resize(&mut poor(), &list, 0).is_err());
            assert!(resize(&mut poor(), &list, 132_000).is_err());
            assert!(reserve(&mut poor(), &list, 1 << 20).is_err());
            assert!(resize(&mut late(), &list, 1 << 22).is_err());
            // Zeros that it would have got do not stay either.
            list.resize(99_999).unwrap();
            assert!(resize(&mut late(), &list, 1 << 22).is_err());
            assert_eq!((list.len(), list.get_i32(0).unwrap()), (99_999, 7));
            list.resize(100_000).unwrap();
            assert_ne!(list.get_i32(99_999).ok(), Some(7));
        }
    }

    /// In a prompt step, what takes long does not begin, and that is no error of the call.
    #[test]
    fn what_is_long_is_postponed() {
        let mut budget = budget();
        let long = BYTES / 2;
        let buffer = VmBuffer::copy_of(&vec![1; long], true).unwrap();
        for element in [TypeDef::Any, TypeDef::Value(ValueType::I32)] {
            let list = VmList::new(element);
            for prompt in [true, false] {
                budget.set_prompt(prompt);
                assert!(resize(&mut budget, &list, AT_ONCE / 8).is_ok());
                assert!(copy(&mut budget, (&buffer, 0), (&buffer, 8), 1000).is_ok());
                assert!(!budget.take_postponed());
                let outcomes = [
                    resize(&mut budget, &list, 3 * AT_ONCE).is_ok(),
                    reserve(&mut budget, &list, 3 * AT_ONCE).is_ok(),
                    copy(&mut budget, (&buffer, 0), (&buffer, 1), long as u64 - 1).is_ok(),
                    hash(&mut budget, &buffer, 0, long as i64).is_ok(),
                    fill(&mut budget, &buffer, (0, long as i64), 1, |at, count| buffer.fill_u8(at, count, 1)).is_ok(),
                    compare(&mut budget, (&buffer, 0), (&buffer, 0), long as u64).is_ok(),
                    clone(&mut budget, &buffer, 0, long as u64, 1).is_ok(),
                ];
                assert_eq!(outcomes, [!prompt; 7]);
                assert_eq!(budget.take_postponed(), prompt);
                assert_eq!(list.len(), if prompt { AT_ONCE / 8 } else { 3 * AT_ONCE });
            }
        }
    }
}
