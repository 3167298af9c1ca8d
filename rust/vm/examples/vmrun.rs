//! Calls a function of a module that needs no HAL: `vmrun FILE FUNCTION [i32=1 i64=2 f32=1.5 f64=2 ...]`.

use tiree_vm::{AnyModule, BytecodeModule, Context, Module, Result, Status, Value};

fn parse(text: &str) -> Result<Value> {
    let bad = || Status::invalid_argument(format!("argument '{text}' is not of the form i32=1"));
    let (kind, value) = text.split_once('=').ok_or_else(bad)?;
    match kind {
        "i32" => value.parse().map(Value::I32).map_err(|_| bad()),
        "i64" => value.parse().map(Value::I64).map_err(|_| bad()),
        "f32" => value.parse().map(Value::F32).map_err(|_| bad()),
        "f64" => value.parse().map(Value::F64).map_err(|_| bad()),
        _ => Err(bad()),
    }
}

fn run(args: &[String]) -> Result<()> {
    let [file, function, values @ ..] = args else {
        return Err(Status::invalid_argument("usage: vmrun FILE FUNCTION [KIND=VALUE...]"));
    };
    let module = BytecodeModule::open(file)?;
    let name = module.name().to_owned();
    let context = Context::new([AnyModule::from(module)])?;
    let function = context.function(&name, function)?;
    let values = values.iter().map(|v| parse(v)).collect::<Result<Vec<_>>>()?;
    let start = std::time::Instant::now();
    let results = function.invoke(values)?;
    eprintln!("{:?}", start.elapsed());
    for (i, value) in results.iter().enumerate() {
        println!("result[{i}]: {value:?}");
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(status) => {
            eprintln!("{status}");
            std::process::ExitCode::FAILURE
        }
    }
}
