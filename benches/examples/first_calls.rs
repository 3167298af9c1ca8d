//! What functions cost before they are fast: `first_calls ROUNDS BIG.vmfb MODULE.vmfb...`; `vm_bench.py` runs it.
//!
//! Every exported function that takes nothing or one i32 (which is 10) is called twice in a new context, with all modules
//! loaded anew, in each round; the best of the rounds counts. The first call translates what it reaches, which is why the
//! bytes of code are those of all functions that ran, set against the bytes of their bytecode. The last line is for `BIG`:
//! seconds to load it and to make a context, and the bytes by which resident memory grew.

use std::any::Any;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tiree_vm::{
    BytecodeModule, CallFrame, Context, Flow, Module, NativeExport, NativeModule, Result, Status, StatusCode, Value,
};

/// Stands for the HAL, of which the programs use one function.
struct Hal;

impl NativeModule for Hal {
    fn name(&self) -> &str {
        "hal"
    }

    fn version(&self) -> u32 {
        7
    }

    fn exports(&self) -> &[NativeExport] {
        &[NativeExport { name: "devices.count", cconv: "0v_i" }]
    }

    fn call(&self, _: &(dyn Any + Send + Sync), _: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        frame.push_i32(1);
        Ok(Flow::Done)
    }
}

/// Modules and a context of them; how long that took.
fn load(paths: &[PathBuf]) -> Result<(Vec<Arc<BytecodeModule>>, Context, Duration)> {
    let start = Instant::now();
    let modules = paths.iter().map(BytecodeModule::open).collect::<Result<Vec<_>>>()?;
    let all = modules.iter().map(|module| module.clone().into());
    let context = Context::new(std::iter::once(Arc::new(Hal).into()).chain(all))?;
    Ok((modules, context, start.elapsed()))
}

/// One function: the best times, and bytes of code and bytecode of all that ran.
struct Row {
    load: Duration,
    first: Duration,
    second: Duration,
    code: usize,
    bytecode: usize,
}

fn measure(paths: &[PathBuf], module: &str, name: &str, rounds: usize) -> Result<Row> {
    let most = Duration::MAX;
    let mut row = Row { load: most, first: most, second: most, code: 0, bytecode: 0 };
    for _ in 0..rounds {
        let (modules, context, load) = load(paths)?;
        let function = context.function(module, name)?;
        let arguments = || function.cconv().args.iter().map(|_| Value::I32(10)).collect::<Vec<_>>();
        let time = |arguments| -> Result<Duration> {
            let start = Instant::now();
            function.invoke(arguments)?;
            Ok(start.elapsed())
        };
        row.load = row.load.min(load);
        row.first = row.first.min(time(arguments())?);
        row.second = row.second.min(time(arguments())?);
        let ran = modules.iter().flat_map(|module| {
            let functions = module.archive().def().functions.iter().enumerate();
            functions.map(|(ordinal, function)| (module.translated_size_of(ordinal), function.length as usize))
        });
        (row.code, row.bytecode) = ran.filter(|(code, _)| *code > 0).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    }
    Ok(row)
}

fn print(name: &str, row: &Row) {
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    let (load, first, second) = (us(row.load), us(row.first), us(row.second));
    let ratio = row.code as f64 / row.bytecode as f64;
    println!("| {name} | {load:.1} | {first:.2} | {second:.2} | {} | {} | {ratio:.1} |", row.bytecode, row.code);
}

/// Bytes of this process that are in memory; 0 where the system does not say.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).map_or(0, |pages| pages * 4096)
}

fn report(rounds: usize, big: &PathBuf, paths: &[PathBuf]) -> Result<()> {
    println!("| function | load, us | first call, us | second, us | bytecode, B | code, B | code per byte |");
    println!("|---|---|---|---|---|---|---|");
    for module in &load(paths)?.0 {
        for (name, _) in module.exports() {
            let function = format!("{}.{name}", module.name());
            match measure(paths, module.name(), name, rounds) {
                Ok(row) => print(&function, &row),
                Err(status) => eprintln!("{function}: {status}"),
            }
        }
    }
    let (mut seconds, mut grown) = (f64::INFINITY, 0);
    for round in 0..rounds {
        let before = resident();
        let (_modules, _context, time) = load(std::slice::from_ref(big))?;
        if round == 0 {
            grown = resident().saturating_sub(before);
        }
        seconds = seconds.min(time.as_secs_f64());
    }
    println!("{seconds:.6} {grown}");
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().and_then(|text| text.parse().ok());
    let paths: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let result = match (rounds, paths.split_first()) {
        (Some(rounds), Some((big, paths))) => report(rounds, big, paths),
        _ => Err(Status::new(StatusCode::InvalidArgument, "usage: first_calls ROUNDS BIG.vmfb MODULE.vmfb...")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(status) => {
            eprintln!("{status}");
            ExitCode::FAILURE
        }
    }
}
