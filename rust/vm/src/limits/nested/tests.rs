//! Tests of calls inside calls, and of such as do not end in the reverse order.

use super::*;

/// As a call does that may execute `fuel` instructions.
#[inline(never)]
fn enter(account: &Account, fuel: u64) -> Entered {
    account.beyond.set(Some(fuel));
    account.max_depth.set(u32::MAX);
    let limits = Limits { fuel: Some(fuel), ..Limits::default() };
    account.enter(&Caller::here(), None, Some(limits))
}

/// With more of the stack in use.
#[inline(never)]
fn deeper<T>(work: impl FnOnce() -> T) -> T {
    let stack = std::hint::black_box([1u8; 4096]);
    let result = work();
    std::hint::black_box(stack);
    result
}

/// The fuel of the accounts of this thread, innermost first.
fn chain() -> Vec<u64> {
    let mut account = CURRENT.with(|current| current.account.get());
    let mut fuel = Vec::new();
    // SAFETY: entered accounts are there.
    while let Some(each) = unsafe { account.as_ref() } {
        fuel.extend(each.beyond.get());
        account = each.under.get();
    }
    fuel
}

#[test]
fn calls_end_in_any_order() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for order in orders {
        let fuel = [30, 20, 10];
        let mut calls = fuel.map(|fuel| {
            let account = Box::new(Account::default());
            Some((enter(&account, fuel), account))
        });
        assert_eq!(chain(), [10, 20, 30]);
        for (ended, at) in order.into_iter().enumerate() {
            // Left first, then gone.
            calls[at] = None;
            let left: Vec<u64> = fuel
                .into_iter()
                .filter(|each| !order[..=ended].contains(&fuel.iter().position(|f| f == each).unwrap()))
                .rev()
                .collect();
            assert_eq!(chain(), left, "{order:?}");
        }
        assert!(Caller::here().account.is_null());
        assert!(current().fuel.is_none());
    }
}

#[test]
fn what_a_call_is_charged_that_is_gone() {
    let (outer, inner) = (Box::new(Account::default()), Account::default());
    let first = enter(&outer, 30);
    let caller = Caller::here();
    let second = enter(&inner, 20);
    drop((first, outer));
    drop(second);
    caller.charge(5);
    let last = Account::default();
    let _entered = enter(&last, 10);
    Caller::here().charge(5);
    assert_eq!((inner.nested.get(), last.nested.get()), (0, 5));
}

/// A coroutine on the same stack waits inside of a call; others do not pay for theirs with its fuel.
#[test]
fn calls_that_others_wait_in_are_no_callers() {
    let (waiting, other) = (Account::default(), Account::default());
    let entered = deeper(|| enter(&waiting, 30));
    // Finds out where the stack is.
    Caller::here().admit(1).unwrap();
    assert_eq!((Caller::here().fuel, current().fuel), (None, None));
    assert_eq!(deeper(|| deeper(|| Caller::here().fuel)), Some(30));
    let limited = enter(&other, 7);
    assert_eq!(deeper(|| (Caller::here().level, current().fuel)), (1, Some(7)));
    drop(limited);
    assert_eq!(deeper(|| deeper(|| current().fuel)), Some(30));
    let limited = enter(&other, 7);
    drop(entered);
    assert_eq!((chain(), deeper(|| current().fuel)), (vec![7], Some(7)));
    drop(limited);
    assert_eq!((chain(), current().fuel), (vec![], None));
}

#[test]
fn scopes_end_in_any_order() {
    let account = Account::default();
    let limits = Limits { fuel: Some(3), ..Limits::default() };
    let scope = Scope::enter(limits);
    let here = Caller::here();
    assert_eq!((here.active, here.level, here.fuel, current().fuel), (0, 0, None, Some(3)));
    let entered = enter(&account, 10);
    drop(scope);
    assert_eq!(chain(), [10]);
    drop(entered);
    assert_eq!((chain(), current().fuel), (vec![], None));
}
