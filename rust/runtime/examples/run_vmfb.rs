//! Runs a function of a compiled module: `run_vmfb MODULE.vmfb FUNCTION [DEVICE] [VALUE...]`, values as for `--input=`.
//!
//! `cargo run -p tiree-runtime --example run_vmfb -- add.vmfb add local-task "4xf32=1 2 3 4" "4xf32=5 6 7 8"`

use tiree_hal::values::{DEFAULT_MAX_ELEMENTS, InputReader, Parsed, format_result};
use tiree_runtime::{Instance, Session};
use tiree_vm::cconv::Kind;
use tiree_vm::{AnyModule, Module, Result, Status, Value};

fn run(arguments: &[String]) -> Result<()> {
    let [path, function, rest @ ..] = arguments else {
        return Err(Status::invalid_argument("usage: run_vmfb MODULE.vmfb FUNCTION [DEVICE] [VALUE...]"));
    };
    let (device, texts) = rest.split_first().map_or(("local-task", rest), |(device, texts)| (device, texts));
    let instance = Instance::new();
    let session = Session::new(&instance, instance.create_device(device)?)?;
    session.append_module_from_file(path)?;
    let modules = session.context().modules();
    let module = modules.iter().rfind(|module| matches!(module, AnyModule::Bytecode(_)));
    let module = module.map_or("module", |module| module.name());
    let function = session.context().function(module, function)?;
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
    println!("EXEC @{}", function.name());
    for (index, value) in function.invoke(inputs)?.iter().enumerate() {
        print!("{}", format_result("result", index, value, DEFAULT_MAX_ELEMENTS)?);
    }
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
