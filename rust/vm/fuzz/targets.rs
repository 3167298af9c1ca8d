//! What the fuzz targets do with bytes; also run, on fewer of them, by `tests/fuzz.rs`.
//!
//! Each returns how far it got. None may panic, and none may take long: calls have fuel and a limit of depth.

use std::sync::Arc;

use tiree_vm::asm::assemble;
use tiree_vm::disasm::{self, Options, Output};
use tiree_vm::testing::native_module;
use tiree_vm::{
    AnyModule, Archive, BytecodeModule, Context, ContextOptions, Limits, Module, TypeRegistry, Value, VmBuffer,
};

/// Instructions that one call may execute.
const FUEL: u64 = 100_000;
/// Bytes that the objects of one context may take.
const MEMORY: usize = 16 << 20;

fn print(archive: &Archive, output: Output) -> Option<String> {
    disasm::dump(archive, &Options { output, ..Options::default() }).ok()
}

/// Reads and prints a file.
pub fn archive(bytes: &[u8]) -> usize {
    let Ok(archive) = Archive::copy(bytes, "fuzz") else { return 0 };
    for output in [Output::All, Output::Assembly, Output::FlatbufferJson] {
        let _ = print(&archive, output);
    }
    1
}

/// Reads, verifies and calls every export of a file, in a context with the native module of tests.
pub fn run(bytes: &[u8]) -> usize {
    let Ok(archive) = Archive::copy(bytes, "fuzz") else { return 0 };
    let Ok(module) = BytecodeModule::load(archive, &TypeRegistry::default()) else { return 1 };
    let name = module.name().to_owned();
    let limits = Limits { fuel: Some(FUEL), max_stack_depth: Some(200), ..Limits::default() };
    let options = ContextOptions { memory: Some(MEMORY), limits };
    let modules = [native_module(), AnyModule::from(module.clone())];
    let Ok(context) = Context::with_options(modules, &options) else { return 1 };
    for export in module.export_names() {
        let Ok(function) = context.function(&name, export) else { continue };
        let kinds = function.cconv().scalar_args().unwrap_or_default();
        let args = kinds.iter().map(|kind| match kind.name() {
            "i32" => Value::I32(3),
            "i64" => Value::I64(3),
            "f32" => Value::F32(1.5),
            "f64" => Value::F64(1.5),
            _ => VmBuffer::copy_of(b"0123456789abcdef", true).map_or(Value::NULL, |it| Value::Ref(Some(Arc::new(it)))),
        });
        let _ = function.invoke(args.collect());
    }
    2
}

/// Takes bytes as the bytecode of a function, in a module that has something of everything; the first four choose its
/// signature, its blocks and its registers.
pub fn verifier(bytes: &[u8]) -> usize {
    let Some((&[shape, blocks, cells, refs], code)) = bytes.split_first_chunk::<4>() else { return 0 };
    let arguments = ["", "%i0: i32", "%i0:1: i64, %r0: !vm.buffer", "%i0: f32, %i2:3: f64"][usize::from(shape & 3)];
    let results = ["", "i32", "i64", "!vm.buffer"][usize::from(shape >> 2 & 3)];
    let code: String = code.iter().take(4096).map(|byte| format!("{byte:02x}")).collect();
    let text = format!(
        "vm.module @m\nvm.requires 15\nvm.type i32\nvm.type !vm.buffer\nvm.type !vm.list<i32>\nvm.type !vm.opaque\n\
         vm.import optional @other.f cconv \"0i_i\"\nvm.rodata[0] = 0011223344556677\nvm.state bytes 32 refs 2\n\
         vm.export @f\nvm.func @f({arguments}) -> ({results}) {{\n  .requires 15\n  .registers i32 {} ref {}\n  \
         .blocks {blocks}\n  .bytecode {code}\n}}\n",
        cells & 31,
        refs & 15
    );
    match assemble(&text, "fuzz") {
        Ok(module) => run(&module.bytes),
        Err(_) => 0,
    }
}

/// Takes bytes as assembly. What assembles must print as text that assembles to the same bytes, but for bodies that are
/// given as bytes and are no functions.
pub fn assembler(bytes: &[u8]) -> usize {
    let Ok(text) = std::str::from_utf8(bytes) else { return 0 };
    let Ok(module) = assemble(text, "fuzz") else { return 0 };
    let verified = module.verify(text, "fuzz", &TypeRegistry::default());
    let Ok(archive) = Archive::copy(&module.bytes, "fuzz") else { return 1 };
    let Some(printed) = print(&archive, Output::Assembly) else { return 1 };
    let again = assemble(&printed, "printed");
    if text.contains(".bytecode") && verified.is_err() {
        return 1;
    }
    assert!(again.is_ok_and(|again| again.bytes == module.bytes), "does not read back:\n{printed}");
    2
}
