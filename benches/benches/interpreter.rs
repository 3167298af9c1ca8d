//! The interpreter: a counted loop, calls, lists, references. Rates are VM instructions per second.

use criterion::{Criterion, Throughput};
use std::hint::black_box;
use tiree_vm::Value;

/// Instructions of `fibonacci(n)`: four at a leaf, ten at every other call.
fn fibonacci_instructions(n: u64) -> u64 {
    let (mut leaves, mut next) = (1, 1);
    for _ in 0..n {
        (leaves, next) = (next, leaves + next);
    }
    leaves * 4 + (leaves - 1) * 10
}

fn interpreter(criterion: &mut Criterion) {
    let context = tiree_benches::programs().unwrap();
    let mut group = criterion.benchmark_group("interpreter");
    for (name, argument, instructions) in [
        ("count", 100_000, 4 * 100_000),
        ("fibonacci", 20, fibonacci_instructions(20)),
        ("list_update", 50_000, 7 * 50_000),
        ("pass_reference", 20_000, 9 * 20_000),
    ] {
        let function = context.function("programs", name).unwrap();
        group.throughput(Throughput::Elements(instructions));
        group.bench_function(name, |bencher| {
            bencher.iter(|| function.invoke(vec![Value::I32(black_box(argument))]).unwrap());
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    interpreter(&mut criterion);
    criterion.final_summary();
}
