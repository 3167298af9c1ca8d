//! The executor under load. Every size is divided by `TIREE_STRESS_DIVISOR` (1 for `make stress`, 50 otherwise).

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use tiree_task::{Error, Executor, GridOptions, Priority, Scope, TopologyOptions};

/// `full`, or what a quick run makes of it.
fn size(full: usize) -> usize {
    let divisor = std::env::var("TIREE_STRESS_DIVISOR").ok().and_then(|text| text.parse().ok()).unwrap_or(50);
    (full / divisor).max(4)
}

fn pool(workers: usize) -> Arc<Executor> {
    Arc::new(Executor::new(&TopologyOptions { group_count: workers, ..Default::default() }).unwrap())
}

#[test]
fn a_million_empty_dispatches() {
    let executor = pool(2);
    let (grids, runs) = (size(1_000_000), AtomicU64::new(0));
    for index in 0..grids {
        // Every way to run a grid, of one tile, of two, and of more.
        let options = GridOptions {
            begin_inline: index % 4 != 0,
            priority: if index % 3 == 0 { Priority::Urgent } else { Priority::Normal },
        };
        let body = |_: &tiree_task::Participant, tiles: std::ops::Range<u64>| {
            runs.fetch_add(tiles.end - tiles.start, Ordering::Relaxed);
            Ok::<(), Error>(())
        };
        executor.run_grid_with(options, 1 + index as u64 % 7, body).unwrap();
    }
    let expected: u64 = (0..grids as u64).map(|index| 1 + index % 7).sum();
    assert_eq!(runs.into_inner(), expected);
}

#[test]
fn a_million_detached_tasks() {
    let executor = pool(2);
    let (tasks, scope, runs) = (size(1_000_000), Scope::new(), Arc::new(AtomicUsize::new(0)));
    for index in 0..tasks {
        let runs = runs.clone();
        let priority = if index % 5 == 0 { Priority::Urgent } else { Priority::Normal };
        let task = Box::new(move || _ = runs.fetch_add(1, Ordering::Relaxed));
        executor.spawn_at(priority, Some(&scope), task).unwrap();
    }
    assert!(scope.wait_idle(None));
    assert_eq!((runs.load(Ordering::Relaxed), scope.failure()), (tasks, None));
}

/// A node of a dependency graph: runs when the last of what it needs has run.
struct Node {
    missing: AtomicU32,
    runs: AtomicU32,
    next: Vec<u32>,
}

fn complete(graph: &Arc<Vec<Node>>, executor: &Arc<Executor>, scope: &Scope, index: u32) {
    let node = &graph[index as usize];
    assert_eq!(node.missing.load(Ordering::Acquire), 0);
    node.runs.fetch_add(1, Ordering::Relaxed);
    for &next in &node.next {
        if graph[next as usize].missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            let (graph, executor, scope) = (graph.clone(), executor.clone(), scope.clone());
            let inner = scope.clone();
            let held = executor.clone();
            let task = Box::new(move || complete(&graph, &executor, &inner, next));
            held.spawn(Some(&scope), task).unwrap();
        }
    }
}

#[test]
fn a_graph_of_a_hundred_thousand_nodes() {
    let (executor, count) = (pool(2), size(100_000) as u32);
    let mut random = 12345_u64;
    let mut next = |limit: u32| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as u32 % limit
    };
    let mut nodes: Vec<Node> =
        (0..count).map(|_| Node { missing: AtomicU32::new(0), runs: AtomicU32::new(0), next: Vec::new() }).collect();
    for index in 1..count {
        // Up to three dependencies among the fifty nodes before it: long chains and wide fans.
        for _ in 0..=next(3) {
            let before = index - 1 - next(index.min(50));
            nodes[before as usize].next.push(index);
            *nodes[index as usize].missing.get_mut() += 1;
        }
    }
    let (graph, scope) = (Arc::new(nodes), Scope::new());
    complete(&graph, &executor, &scope, 0);
    assert!(scope.wait_idle(None));
    assert_eq!(scope.failure(), None);
    assert!(graph.iter().all(|node| node.runs.load(Ordering::Relaxed) == 1));
}

#[test]
fn sixty_four_callers_at_once() {
    let (executor, rounds, total) = (pool(2), size(5_000), AtomicU64::new(0));
    let start = Barrier::new(64);
    std::thread::scope(|threads| {
        for caller in 0..64_u64 {
            let (executor, start, total) = (&executor, &start, &total);
            threads.spawn(move || {
                start.wait();
                for round in 0..rounds as u64 {
                    let tiles = 1 + (caller + round) % 9;
                    let sum = AtomicU64::new(0);
                    let body = |_: &tiree_task::Participant, range: std::ops::Range<u64>| {
                        range.for_each(|tile| _ = sum.fetch_add(tile + 1, Ordering::Relaxed));
                        Ok::<(), Error>(())
                    };
                    let options = GridOptions { begin_inline: round % 2 == 0, ..Default::default() };
                    executor.run_grid_with(options, tiles, body).unwrap();
                    assert_eq!(sum.into_inner(), tiles * (tiles + 1) / 2);
                    total.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(total.into_inner(), 64 * rounds as u64);
}

#[test]
fn pools_come_and_go() {
    let runs = Arc::new(AtomicUsize::new(0));
    let pools = size(2_000);
    for index in 0..pools {
        let executor = pool(1 + index % 4);
        for _ in 0..10 {
            let runs = runs.clone();
            executor.spawn(None, Box::new(move || _ = runs.fetch_add(1, Ordering::Relaxed))).unwrap();
        }
        executor.run_grid(5, |_, _| Ok::<(), Error>(())).unwrap();
        // What is queued runs before the destructor returns.
        drop(executor);
        assert_eq!(runs.load(Ordering::Relaxed), 10 * (index + 1));
    }
}

#[test]
fn panics_are_counted_and_leave_the_pool_usable() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let (executor, scope, rounds) = (pool(2), Scope::new(), size(20_000));
    let mut failed = 0;
    for round in 0..rounds as u64 {
        let result = executor.run_grid(4, |_, tiles| {
            assert!(round % 5 != 0 || !tiles.contains(&3), "tile 3 of {round}");
            Ok::<(), Error>(())
        });
        failed += usize::from(matches!(result, Err(Error::Panicked(text)) if text.starts_with("tile 3")));
        executor.spawn(Some(&scope), Box::new(move || assert!(round % 7 != 0, "task"))).unwrap();
    }
    assert!(scope.wait_idle(None));
    std::panic::set_hook(hook);
    assert_eq!((failed, scope.failure()), (rounds.div_ceil(5), Some(Error::Panicked("task".into()))));
}

/// Children of a process whose workers run get an error, at once, whatever the workers do; the parent goes on.
#[cfg(unix)]
#[test]
fn forks_of_a_busy_process() {
    let executor = pool(2);
    let scope = Scope::new();
    for _ in 0..size(500) {
        for _ in 0..20 {
            executor
                .spawn(Some(&scope), Box::new(|| std::thread::sleep(std::time::Duration::from_micros(20))))
                .unwrap();
        }
        // SAFETY: the child asks for work that it cannot have, and leaves.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let grid = executor.run_grid(100, |_, _| Ok::<(), Error>(())) == Err(Error::Forked);
            let task = executor.spawn(None, Box::new(|| ())) == Err(Error::Forked);
            // SAFETY: ends the child without destructors.
            unsafe { libc::_exit(i32::from(!(grid && task))) };
        }
        let mut status = 0;
        // SAFETY: waits for the child made above.
        unsafe { libc::waitpid(child, &mut status, 0) };
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0);
    }
    assert!(scope.wait_idle(None));
}

/// Urgent tasks do not wait for the end of a long grid that keeps all workers busy.
#[test]
fn urgent_tasks_pass_a_long_grid() {
    let executor = pool(2);
    let tiles_run = AtomicU64::new(0);
    const TILES: u64 = 4000;
    let seen = Arc::new(AtomicU64::new(u64::MAX));
    std::thread::scope(|threads| {
        let grid = threads.spawn(|| {
            executor
                .run_grid(TILES, |_, range| {
                    for _ in range {
                        std::thread::sleep(std::time::Duration::from_micros(50));
                        tiles_run.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok::<(), Error>(())
                })
                .unwrap();
        });
        while tiles_run.load(Ordering::Relaxed) < 20 {
            std::hint::spin_loop();
        }
        let scope = Scope::new();
        executor.spawn_at(Priority::Urgent, Some(&scope), Box::new(|| ())).unwrap();
        assert!(scope.wait_idle(None));
        seen.store(tiles_run.load(Ordering::Relaxed), Ordering::Relaxed);
        grid.join().unwrap();
    });
    assert_eq!(tiles_run.into_inner(), TILES);
    // A share of it, not all: how soon a thread gets a core is up to a busy machine.
    assert!(seen.load(Ordering::Relaxed) < TILES, "{seen:?}");
}
