//! Calls of compiled modules on both devices: what a call costs when the kernels cost nothing.
//!
//! `add` is one dispatch of four elements (13 calls into the `hal` module); `collatz_steps` is a loop decided by data, 111
//! turns with a command buffer and a wait each.

use criterion::Criterion;
use tiree_runtime::{Session, array_to_view};
use tiree_vm::{Result, Value};

fn inputs(session: &Session, name: &str) -> Result<Vec<Value>> {
    let device = session.device();
    let views = match name {
        "add" => vec![array_to_view(device, &[4], &[1f32; 4])?, array_to_view(device, &[4], &[2f32; 4])?],
        _ => vec![array_to_view(device, &[], &[27i32])?],
    };
    Ok(views.into_iter().map(|view| Value::from_object(std::sync::Arc::new(view))).collect())
}

fn dispatch(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("dispatch");
    for (fixture, name) in [("add", "add"), ("loop", "collatz_steps")] {
        for device in ["local-sync", "local-task"] {
            let session = match tiree_benches::session(device, fixture) {
                Ok(session) => session,
                Err(status) => {
                    eprintln!("{name} on {device} left out: {status}");
                    continue;
                }
            };
            let function = session.context().function("module", name).unwrap();
            let inputs = inputs(&session, name).unwrap();
            group.bench_function(format!("{name}/{device}"), |bencher| {
                bencher.iter(|| function.invoke(inputs.clone()).unwrap());
            });
        }
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    dispatch(&mut criterion);
    criterion.final_summary();
}
