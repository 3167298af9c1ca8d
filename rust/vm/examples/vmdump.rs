//! Prints a module: `vmdump FILE [--output=...] [--function=...] [--bytecode_offsets] [--pretty]`.

use tiree_vm::disasm::{self, Options, Output};
use tiree_vm::{Archive, Result, Status};

fn run(args: &[String]) -> Result<String> {
    let mut options = Options::default();
    let mut file = None;
    for arg in args {
        match arg.split_once('=').unwrap_or((arg, "true")) {
            ("--output", value) => options.output = Output::parse(value)?,
            ("--function", value) => options.function = value.to_owned(),
            ("--bytecode_offsets", value) => options.bytecode_offsets = value == "true",
            ("--pretty", value) => options.pretty = value == "true",
            _ => file = Some(arg),
        }
    }
    let file = file.ok_or_else(|| Status::invalid_argument("usage: vmdump FILE [flags of iree-dump-module]"))?;
    disasm::dump(&*Archive::open(file)?, &options)
}

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(text) => {
            print!("{text}");
            std::process::ExitCode::SUCCESS
        }
        Err(status) => {
            eprintln!("{status}");
            std::process::ExitCode::FAILURE
        }
    }
}
