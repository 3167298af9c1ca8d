//! Calls of functions written in Rust: from bytecode, and of bytecode from Rust. Rates are calls per second.

use criterion::{Criterion, Throughput};
use std::hint::black_box;
use tiree_vm::Value;

const CALLS: i32 = 10_000;

fn imports(criterion: &mut Criterion) {
    let context = tiree_benches::programs().unwrap();
    let mut group = criterion.benchmark_group("imports");
    group.throughput(Throughput::Elements(CALLS as u64));
    for name in ["import_numbers", "import_borrows", "import_moves"] {
        let function = context.function("programs", name).unwrap();
        group.bench_function(name, |bencher| {
            bencher.iter(|| function.invoke(vec![Value::I32(black_box(CALLS))]).unwrap());
        });
    }
    // One turn of the loop: what is left is the way in and out.
    let function = context.function("programs", "count").unwrap();
    group.throughput(Throughput::Elements(1));
    group.bench_function("invoke", |bencher| {
        bencher.iter(|| function.invoke(vec![Value::I32(black_box(1))]).unwrap());
    });
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    imports(&mut criterion);
    criterion.final_summary();
}
