//! Semaphores and fences under loom: every interleaving of two or three threads. A signal that is lost shows as a deadlock.

use crate::fence::Fence;
use crate::semaphore::Semaphore;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::sync::Arc;
use tiree_vm::{Status, StatusCode};

/// At most three switches that no thread asked for: the whole space would take hours.
fn model(body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(builder.preemption_bound.unwrap_or(3));
    builder.check(body);
}

/// How often it was called, and with how many failures.
#[derive(Default)]
struct Calls {
    all: AtomicUsize,
    failures: AtomicUsize,
}

impl Calls {
    fn callback(self: &Arc<Calls>) -> impl FnOnce(tiree_vm::Result<()>) + Send + 'static {
        let calls = self.clone();
        move |result| {
            calls.all.fetch_add(1, Ordering::Relaxed);
            calls.failures.fetch_add(usize::from(result.is_err()), Ordering::Relaxed);
        }
    }

    fn seen(&self) -> (usize, usize) {
        (self.all.load(Ordering::Relaxed), self.failures.load(Ordering::Relaxed))
    }
}

#[test]
fn a_blocked_thread_wakes_for_the_signal() {
    model(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let signaller = {
            let semaphore = semaphore.clone();
            thread::spawn(move || semaphore.signal(1).unwrap())
        };
        semaphore.wait(1, None).unwrap();
        signaller.join().unwrap();
    });
}

#[test]
fn a_blocked_thread_wakes_for_the_failure() {
    model(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let failing = {
            let semaphore = semaphore.clone();
            thread::spawn(move || semaphore.fail(Status::data_loss("x")))
        };
        assert_eq!(semaphore.wait(1, None).unwrap_err().code(), StatusCode::DataLoss);
        failing.join().unwrap();
    });
}

/// A callback that is registered while the signal comes is called once, whoever is first.
#[test]
fn a_callback_is_called_once() {
    model(|| {
        let (semaphore, calls) = (Arc::new(Semaphore::new(0)), Arc::new(Calls::default()));
        let signaller = {
            let semaphore = semaphore.clone();
            thread::spawn(move || semaphore.signal(1).unwrap())
        };
        semaphore.on_reached(1, calls.callback());
        signaller.join().unwrap();
        assert_eq!(calls.seen(), (1, 0));
    });
}

/// A fence that has no semaphore yet gets one while it is being signalled.
#[test]
fn a_signal_meets_the_making_of_the_semaphore() {
    model(|| {
        let fence = Arc::new(Fence::unsignalled());
        let signaller = {
            let fence = fence.clone();
            thread::spawn(move || fence.signal().unwrap())
        };
        fence.wait(None).unwrap();
        signaller.join().unwrap();
        assert!(fence.is_reached());
    });
}

/// The same with two that ask for the semaphore at once.
#[test]
fn a_signal_meets_a_callback_and_a_wait() {
    model(|| {
        let (fence, calls) = (Arc::new(Fence::unsignalled()), Arc::new(Calls::default()));
        let signaller = {
            let fence = fence.clone();
            thread::spawn(move || fence.signal().unwrap())
        };
        let waiter = {
            let fence = fence.clone();
            thread::spawn(move || fence.wait(None).unwrap())
        };
        fence.on_reached(calls.callback());
        signaller.join().unwrap();
        waiter.join().unwrap();
        assert_eq!(calls.seen(), (1, 0));
    });
}

/// A join of two time points, one of which fails while the other is reached: one call, with the failure.
#[test]
fn a_join_is_told_once() {
    model(|| {
        let (a, b) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let joined = Fence::join([&Fence::at(a.clone(), 1), &Fence::at(b.clone(), 1)]);
        let calls = Arc::new(Calls::default());
        joined.on_reached(calls.callback());
        let signaller = thread::spawn(move || a.signal(1).unwrap());
        b.fail(Status::aborted("x"));
        signaller.join().unwrap();
        assert_eq!(calls.seen(), (1, 1));
    });
}
