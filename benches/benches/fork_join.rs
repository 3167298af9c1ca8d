//! Fork and join of empty tiles on the executor and on rayon, with the same number of threads.

use criterion::{BenchmarkId, Criterion, Throughput};
use rayon::prelude::*;
use std::hint::black_box;
use tiree_task::Error;

fn fork_join(criterion: &mut Criterion) {
    let executor = tiree_benches::executor(&tiree_benches::workers());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(tiree_benches::WORKERS).build().unwrap();
    let mut group = criterion.benchmark_group("fork_join");
    for tiles in [2u64, 16, 256, 4096] {
        group.throughput(Throughput::Elements(tiles));
        let body = |_: &tiree_task::Participant, range: std::ops::Range<u64>| {
            range.for_each(|tile| _ = black_box(tile));
            Ok::<(), Error>(())
        };
        // Shared out from the start, like a grid that is known to be long.
        group.bench_with_input(BenchmarkId::new("tiree", tiles), &tiles, |bencher, &tiles| {
            bencher.iter(|| executor.run_grid(tiles, body).unwrap());
        });
        // Begun on the calling thread, like a grid that is thought to be short.
        group.bench_with_input(BenchmarkId::new("tiree_small", tiles), &tiles, |bencher, &tiles| {
            bencher.iter(|| executor.run_small_grid(tiles, body).unwrap());
        });
        group.bench_with_input(BenchmarkId::new("rayon", tiles), &tiles, |bencher, &tiles| {
            bencher.iter(|| pool.install(|| (0..tiles).into_par_iter().for_each(|tile| _ = black_box(tile))));
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    fork_join(&mut criterion);
    criterion.final_summary();
}
