//! Times calls of a compiled module: `time_vmfb MODULE.vmfb FUNCTION DEVICE COUNT [VALUE...]`, values as for `--input=`.
//!
//! The inputs are placed on the device once, so what is measured is the call itself. Instruction counts of a single call
//! are the difference of two runs under `valgrind --tool=callgrind`, divided by the difference of their counts.

use std::time::{Duration, Instant};
use tiree_hal::values::{InputReader, Parsed};
use tiree_runtime::{Instance, Session};
use tiree_vm::cconv::Kind;
use tiree_vm::{AnyModule, Module, Result, Status, Value};

/// Rounds of which the fastest and the middle one are printed.
const ROUNDS: usize = 15;

fn run(arguments: &[String]) -> Result<()> {
    let usage = || Status::invalid_argument("usage: time_vmfb MODULE.vmfb FUNCTION DEVICE COUNT [VALUE...]");
    let [path, function, device, count, texts @ ..] = arguments else { return Err(usage()) };
    let count: u32 = count.parse().ok().filter(|count| *count > 0).ok_or_else(usage)?;
    let instance = Instance::new();
    let session = Session::new(&instance, instance.create_device(device)?)?;
    session.append_module_from_file(path)?;
    let modules = session.context().modules();
    let module = modules.iter().rfind(|module| matches!(module, AnyModule::Bytecode(_)));
    let function = session.context().function(module.map_or("module", |module| module.name()), function)?;
    let kinds: Vec<Kind> = function.cconv().scalar_args().unwrap_or_default();
    let mut reader = InputReader::new(session.device().allocator().clone(), "--input");
    let inputs: Vec<Value> = reader
        .read_all(texts, &kinds)?
        .into_iter()
        .map(|parsed| match parsed {
            Parsed::Value(value) => value,
            Parsed::Ignored => Value::NULL,
        })
        .collect();
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..count {
            function.invoke(inputs.clone())?;
        }
        times.push(start.elapsed() / count);
    }
    times.sort_unstable();
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    println!("min {:.3} us, median {:.3} us", micros(times[0]), micros(times[ROUNDS / 2]));
    Ok(())
}

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(status) => {
            eprintln!("{status}");
            std::process::ExitCode::FAILURE
        }
    }
}
