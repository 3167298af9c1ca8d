//! The executor under stress: nothing lost, nothing run twice, panics and errors reported, shutdown clean.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use tiree_task::{Error, Executor, Scope, TopologyOptions, with_local_memory};

fn pool(workers: usize) -> Executor {
    Executor::new(&TopologyOptions { group_count: workers, ..Default::default() }).unwrap()
}

#[test]
fn every_tile_runs_exactly_once() {
    for workers in [1, 2, 4] {
        let executor = pool(workers);
        for count in [0_u64, 1, 2, 3, 7, 64, 1000, 10_000] {
            for small in [false, true] {
                let seen: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
                let body = |_: &tiree_task::Participant, tiles: std::ops::Range<u64>| {
                    tiles.for_each(|tile| {
                        seen[tile as usize].fetch_add(1, Ordering::Relaxed);
                    });
                    Ok::<(), Error>(())
                };
                if small { executor.run_small_grid(count, body) } else { executor.run_grid(count, body) }.unwrap();
                assert!(seen.iter().all(|n| n.load(Ordering::Relaxed) == 1), "{workers} workers, {count} tiles");
            }
        }
    }
}

#[test]
fn short_grids_start_no_thread_and_stay_on_the_caller() {
    let executor = pool(2);
    let caller = std::thread::current().id();
    let body = |_: &tiree_task::Participant, _| {
        assert_eq!(std::thread::current().id(), caller);
        Ok::<(), Error>(())
    };
    executor.run_small_grid(1, body).unwrap();
    executor.run_grid(1, body).unwrap();
}

#[test]
fn long_grids_are_shared_even_when_begun_inline() {
    let executor = pool(2);
    // Two tiles that wait for each other finish only when two threads run them; the first tile is the slow probe.
    let barrier = Barrier::new(2);
    executor
        .run_small_grid(3, |_, tiles| {
            for tile in tiles {
                if tile == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(2));
                } else {
                    barrier.wait();
                }
            }
            Ok::<(), Error>(())
        })
        .unwrap();
}

#[test]
fn panics_and_errors_come_back() {
    let executor = pool(2);
    let result = executor.run_grid(100, |_, tiles| {
        if tiles.contains(&57) {
            panic!("tile 57 is bad");
        }
        Ok::<(), Error>(())
    });
    assert_eq!(result, Err(Error::Panicked("tile 57 is bad".into())));
    let result = executor.run_grid(100, |_, _| Err(Error::InvalidOption("mine".into())));
    assert_eq!(result, Err(Error::InvalidOption("mine".into())));
    // The pool still works.
    executor.run_grid(100, |_, _| Ok::<(), Error>(())).unwrap();
}

#[test]
fn scopes_count_tasks_and_keep_the_first_failure() {
    let executor = pool(2);
    let scope = Scope::new();
    let runs = Arc::new(AtomicU64::new(0));
    for index in 0..200 {
        let runs = runs.clone();
        let task = move || {
            runs.fetch_add(1, Ordering::Relaxed);
            assert!(index != 100, "task 100");
        };
        executor.spawn(Some(&scope), Box::new(task)).unwrap();
    }
    assert!(scope.wait_idle(None));
    assert_eq!(runs.load(Ordering::Relaxed), 200);
    assert_eq!(scope.failure(), Some(Error::Panicked("task 100".into())));
}

#[test]
fn dropping_the_executor_finishes_queued_tasks() {
    let runs = Arc::new(AtomicU64::new(0));
    for _ in 0..20 {
        let executor = pool(2);
        for _ in 0..50 {
            let runs = runs.clone();
            executor.spawn(None, Box::new(move || _ = runs.fetch_add(1, Ordering::Relaxed))).unwrap();
        }
        drop(executor);
    }
    assert_eq!(runs.load(Ordering::Relaxed), 1000);
}

#[test]
fn the_last_handle_may_be_dropped_by_a_worker() {
    let executor = Arc::new(pool(2));
    let (sender, receiver) = std::sync::mpsc::channel();
    let held = executor.clone();
    executor
        .spawn(
            None,
            Box::new(move || {
                receiver.recv().unwrap();
                drop(held);
            }),
        )
        .unwrap();
    drop(executor);
    sender.send(()).unwrap();
}

#[test]
fn grids_nest_and_run_from_many_threads() {
    let executor = pool(2);
    let total = AtomicU64::new(0);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..50 {
                    executor
                        .run_grid(8, |_, tiles| {
                            for _ in tiles {
                                executor.run_grid(4, |_, inner| {
                                    total.fetch_add(inner.end - inner.start, Ordering::Relaxed);
                                    Ok::<(), Error>(())
                                })?;
                            }
                            Ok::<(), Error>(())
                        })
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(total.into_inner(), 4 * 50 * 8 * 4);
}

#[test]
fn sleeping_workers_wake_for_every_burst() {
    let executor = pool(2);
    for round in 0..200 {
        let scope = Scope::new();
        for _ in 0..3 {
            executor.spawn(Some(&scope), Box::new(|| {})).unwrap();
        }
        assert!(scope.wait_idle(Some(std::time::Instant::now() + std::time::Duration::from_secs(20))), "{round}");
        if round % 20 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

#[test]
fn local_memory_is_exclusive_and_limited() {
    with_local_memory(100, 4096, |outer| {
        outer.fill(1);
        with_local_memory(100, 4096, |inner| inner.fill(2)).unwrap();
        assert!(outer[..100].iter().all(|&byte| byte == 1));
        assert_eq!(outer.as_ptr() as usize % 64, 0);
    })
    .unwrap();
    let error = with_local_memory(8192, 4096, |_| ()).unwrap_err();
    assert!(error.to_string().contains("8192"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_forked_child_gets_an_error() {
    let executor = pool(2);
    let scope = Scope::new();
    executor.spawn(Some(&scope), Box::new(|| {})).unwrap();
    scope.wait_idle(None);
    // SAFETY: the child only compares integers and leaves through _exit.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let forked = matches!(executor.check_fork(), Err(Error::Forked));
        // SAFETY: ends the child at once, without destructors.
        unsafe { libc::_exit(i32::from(!forked)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    unsafe { libc::waitpid(pid, &mut status, 0) };
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    executor.run_grid(10, |_, _| Ok::<(), Error>(())).unwrap();
}
