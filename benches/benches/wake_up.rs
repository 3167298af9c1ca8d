//! How long it takes a worker to begin a task: one that sleeps, and one that still spins.

use criterion::Criterion;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tiree_task::{Executor, TopologyOptions};

/// Time from the call of `spawn` to the first instruction of the task, `iterations` times, after a pause each.
fn latency(executor: &Executor, iterations: u64, pause: Duration) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..iterations {
        std::thread::sleep(pause);
        let (sender, receiver) = mpsc::channel();
        let start = Instant::now();
        executor.spawn(None, Box::new(move || _ = sender.send(start.elapsed()))).unwrap();
        total += receiver.recv().unwrap();
    }
    total
}

fn wake_up(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("wake_up");
    group.sample_size(20);
    let options = |spin| TopologyOptions { group_count: 1, worker_spin_us: spin, ..Default::default() };
    let sleeping = tiree_benches::executor(&options(0));
    group.bench_function("sleeping", |bencher| {
        bencher.iter_custom(|iterations| latency(&sleeping, iterations, Duration::from_micros(300)));
    });
    let spinning = tiree_benches::executor(&options(100_000));
    group.bench_function("spinning", |bencher| {
        bencher.iter_custom(|iterations| latency(&spinning, iterations, Duration::from_micros(10)));
    });
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    wake_up(&mut criterion);
    criterion.final_summary();
}
