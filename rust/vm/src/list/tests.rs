//! Tests of lists.

use std::sync::Barrier;

use super::*;
use crate::limits::Limit;
use crate::status::StatusCode;

#[test]
fn numbers_take_the_element_type() {
    let list = VmList::new(TypeDef::Value(ValueType::I8));
    list.resize(2).unwrap();
    list.set_i32(1, 200).unwrap();
    assert_eq!(list.get_i32(1).unwrap(), -56);
    assert_eq!(list.get_i32(2).unwrap_err().to_string(), "OUT_OF_RANGE; index 2 out of bounds (2)");
    assert!(list.get_i32(-1).is_err());
    assert_eq!(list.set_ref(0, None).unwrap_err().code(), StatusCode::FailedPrecondition);
}

#[test]
fn references_are_released() {
    let object = Arc::new(VmList::new(TypeDef::Any));
    let list = VmList::new(TypeDef::Ref("vm.list"));
    list.resize(3).unwrap();
    list.set_ref(0, Some(object.clone())).unwrap();
    list.set_ref(1, Some(object.clone())).unwrap();
    assert_eq!(Arc::strong_count(&object), 3);
    assert!(list.get_ref(1, true).unwrap().is_some());
    assert!(list.get_ref(1, false).unwrap().is_none());
    assert_eq!(Arc::strong_count(&object), 2);
    list.resize(0).unwrap();
    assert_eq!(Arc::strong_count(&object), 1);
    assert_eq!(list.get_ref(0, false).unwrap_err().code(), StatusCode::OutOfRange);
}

#[test]
fn deep_lists_are_dropped_without_recursion() {
    for element in [TypeDef::Ref("vm.list"), TypeDef::Any] {
        let innermost = Arc::new(VmList::new(TypeDef::Any));
        let mut list = innermost.clone();
        for _ in 0..200_000 {
            let outer = VmList::new(element);
            outer.push(Value::Ref(Some(list))).unwrap();
            list = Arc::new(outer);
        }
        drop(list);
        assert_eq!(Arc::strong_count(&innermost), 1);
    }
}

#[test]
fn lists_of_anything() {
    let list = VmList::new(TypeDef::Any);
    list.resize(1).unwrap();
    assert_eq!(list.get_i32(0).unwrap_err().code(), StatusCode::FailedPrecondition);
    list.set_f64(0, 2.5).unwrap();
    assert_eq!(list.get_f32(0).unwrap(), 2.5);
    assert_eq!(list.get_ref(0, false).unwrap_err().code(), StatusCode::FailedPrecondition);
    list.push(Value::I64(7)).unwrap();
    assert_eq!(list.get_i64(1).unwrap(), 7);
}

/// Lengths in between are seen by nobody, so none is lost.
#[test]
fn threads_that_resize_at_once() {
    for element in [TypeDef::Any, TypeDef::Ref("vm.list"), TypeDef::Value(ValueType::I64)] {
        let (list, lengths) = (VmList::new(element), [100_000, 170_000, 240_000, 310_000]);
        list.resize(lengths[0]).unwrap();
        std::thread::scope(|scope| {
            for start in 0..2 {
                let list = &list;
                scope.spawn(move || {
                    for turn in 0..20 {
                        list.resize(lengths[(start + turn) % lengths.len()]).unwrap();
                        assert!(lengths.contains(&list.len()));
                    }
                });
            }
        });
    }
}

#[test]
fn absurd_sizes_are_refused() {
    let list = VmList::new(TypeDef::Value(ValueType::I64));
    assert_eq!(list.resize(usize::MAX).unwrap_err().code(), StatusCode::ResourceExhausted);
}

/// One thread makes the list longer, and is stopped in the middle; the others go on.
#[test]
fn nobody_waits_for_a_list_that_grows() {
    const LENGTH: usize = 5 * SLICE + 3;
    for element in [TypeDef::Any, TypeDef::Ref("vm.list"), TypeDef::Value(ValueType::I64)] {
        let list = VmList::new(element);
        list.resize(SLICE + 7).unwrap();
        let value = |number: i64| match element {
            TypeDef::Ref(_) => Value::Ref(Some(Arc::new(VmList::new(TypeDef::Any)))),
            _ => Value::I64(number),
        };
        list.set(SLICE, value(1)).unwrap();
        let (asked, go) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            let grown = scope.spawn(|| {
                let first = Cell::new(true);
                list.resize_until(LENGTH, &|pause| {
                    if pause == Pause::Slice && first.replace(false) {
                        asked.wait();
                        go.wait();
                    }
                    Ok(())
                })
            });
            asked.wait();
            assert_eq!(list.len(), SLICE + 7);
            assert_ne!(shown(&list.get(SLICE).unwrap()), shown(&Value::NULL));
            // What would have to wait says so.
            assert!(list.push_promptly(value(5)).is_none());
            for change in [VmList::resize_until, VmList::reserve_until] {
                let refused = change(&list, 1, &|pause| match pause {
                    Pause::Wait => Err(Status::unavailable("waits")),
                    Pause::Slice => Ok(()),
                });
                assert_eq!(refused.unwrap_err().message(), "waits");
            }
            // Numbers that are stored while the list grows may be lost.
            if !matches!(element, TypeDef::Value(_)) {
                list.set(3, value(4)).unwrap();
            }
            go.wait();
            grown.join().unwrap().unwrap();
        });
        assert_eq!(list.len(), LENGTH);
        assert!(list.push_promptly(value(5)).unwrap().is_ok());
        let seen: Vec<usize> =
            (0..list.len()).filter(|at| shown(&list.get(*at).unwrap()) != shown(&list.get(0).unwrap())).collect();
        let expected = if matches!(element, TypeDef::Value(_)) { vec![SLICE, LENGTH] } else { vec![3, SLICE, LENGTH] };
        assert_eq!(seen, expected);
    }
}

fn shown(value: &Value) -> String {
    format!("{value:?}")
}

#[test]
fn memory_is_taken_with_the_room_and_given_back_with_it() {
    for (element, size) in [(TypeDef::Any, size_of::<Option<Value>>()), (TypeDef::Ref("vm.list"), size_of::<Ref>())] {
        let quota = Quota::new(size_of::<VmList>() + (3 * SLICE) * size);
        let list = VmList::charged(element, Some(&quota)).unwrap();
        let room = || (quota.used() - size_of::<VmList>()) / size;
        list.resize(1).unwrap();
        assert_eq!(room(), 4);
        list.push(Value::NULL).unwrap();
        list.reserve(5).unwrap();
        assert_eq!(room(), 8);
        list.resize(SLICE + 1).unwrap();
        assert_eq!(room(), 2 * SLICE);
        // All or nothing.
        let refused = list.resize(3 * SLICE + 1).unwrap_err();
        assert_eq!(refused.limit(), Some(Limit::Memory));
        assert!(list.reserve(4 * SLICE).is_err());
        assert_eq!((list.len(), room()), (SLICE + 1, 2 * SLICE));
        list.reserve(2 * SLICE + 1).unwrap();
        assert!(list.resize_until(3 * SLICE, &|_| Err(Status::cancelled("enough"))).is_err());
        assert_eq!((list.len(), room()), (SLICE + 1, 3 * SLICE));
        list.resize(3 * SLICE).unwrap();
        // Room stays.
        for length in [SLICE, SLICE - 1, 0, 2 * SLICE, 0, 1, 3 * SLICE] {
            list.resize(length).unwrap();
            assert_eq!(room(), 3 * SLICE);
        }
        drop(list);
        assert_eq!(quota.used(), 0);
    }
}

/// Against a vector, around the borders of parts.
#[test]
fn parts_are_one_list() {
    let (list, mut expected) = (VmList::new(TypeDef::Any), Vec::new());
    let lengths =
        [1, 3, SLICE - 1, SLICE, SLICE + 1, 2 * SLICE, 2 * SLICE + 1, SLICE, SLICE - 1, 3 * SLICE, 5, 0, 2 * SLICE];
    for (turn, length) in (1..).zip(lengths) {
        list.resize(length).unwrap();
        expected.resize(length, shown(&Value::NULL));
        for _ in 0..2 {
            list.push(Value::I64(turn)).unwrap();
            expected.push(shown(&Value::I64(turn)));
        }
        list.set(length / 2, Value::I64(-turn)).unwrap();
        expected[length / 2] = shown(&Value::I64(-turn));
        assert_eq!(list.len(), expected.len());
        assert!((0..list.len()).map(|at| shown(&list.get(at).unwrap())).eq(expected.iter().cloned()));
    }
}
