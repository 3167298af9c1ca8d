//! Two threads against one, on one loaded module: `cargo bench -p tiree-benches --bench scaling`.
//!
//! Each thread has a fork of the context. For calls of several lengths the time of N calls on one thread is compared with
//! that of N calls on each of two; 2.0 is twice the work in the same time. Prints a verdict for each length. CPU time per
//! call says what contention costs even on a busy machine.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use tiree_vm::{Context, Value};

/// The least that two threads should do compared with one.
const BAR: f64 = 1.8;
/// Rounds of which the best counts.
const ROUNDS: usize = 7;

/// Wall time and CPU time of `calls` calls on each of `threads` threads.
fn time(context: &Context, argument: i32, calls: usize, threads: usize) -> (f64, f64) {
    let forks: Vec<Context> = (0..threads).map(|_| context.fork().unwrap()).collect();
    let barrier = Barrier::new(threads);
    std::thread::scope(|scope| {
        let workers: Vec<_> = forks
            .iter()
            .map(|fork| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let function = fork.function("programs", "count").unwrap();
                    function.invoke(vec![Value::I32(argument)]).unwrap();
                    barrier.wait();
                    let (start, cpu) = (Instant::now(), thread_cpu());
                    for _ in 0..calls {
                        function.invoke(vec![Value::I32(argument)]).unwrap();
                    }
                    (start, Instant::now(), thread_cpu() - cpu)
                })
            })
            .collect();
        // From the first start to the last end, whenever this thread comes to run.
        let times: Vec<_> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        let start = times.iter().map(|time| time.0).min().unwrap();
        let end = times.iter().map(|time| time.1).max().unwrap();
        ((end - start).as_secs_f64(), times.iter().map(|time| time.2.as_secs_f64()).sum())
    })
}

/// CPU time of this thread.
fn thread_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

fn main() {
    let context = tiree_benches::programs().unwrap();
    // Cargo says `--bench`; under `cargo test` each length runs once.
    let measure = std::env::args().any(|argument| argument == "--bench");
    for (argument, calls) in [(1, 1_000_000), (100, 500_000), (10_000, 20_000), (1_000_000, 200)] {
        let calls = if measure { calls } else { 1 };
        let (mut one, mut two) = ((f64::MAX, f64::MAX), (f64::MAX, f64::MAX));
        for _ in 0..if measure { ROUNDS } else { 1 } {
            for (best, threads) in [(&mut one, 1), (&mut two, 2)] {
                let (wall, cpu) = time(&context, argument, calls, threads);
                *best = (best.0.min(wall), best.1.min(cpu / threads as f64));
            }
        }
        if !measure {
            continue;
        }
        let (speedup, cost) = (2.0 * one.0 / two.0, two.1 / one.1);
        println!(
            "{}: calls of {:.2} us: two threads do {speedup:.2}x of one (at least {BAR}), {cost:.2}x CPU time a call",
            if speedup >= BAR { "PASS" } else { "FAIL" },
            one.0 / calls as f64 * 1e6
        );
    }
}
