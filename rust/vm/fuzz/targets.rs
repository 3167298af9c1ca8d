//! What the fuzz targets do with bytes; also run, on fewer of them, by `tests/fuzz.rs`.
//!
//! Each returns how far it got. None may panic, and none may take long: calls have fuel and a limit of depth.

use tiree_vm::asm::assemble;
use tiree_vm::disasm::{self, Options, Output};
use tiree_vm::isa::{self, Arg, OperandKind};
use tiree_vm::{AnyModule, Archive, BytecodeModule, Context, Limits, Module, TypeRegistry, Value};

/// Instructions that one call may execute.
const FUEL: u64 = 100_000;

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

/// Reads, verifies and calls every export of a file.
pub fn run(bytes: &[u8]) -> usize {
    let Ok(archive) = Archive::copy(bytes, "fuzz") else { return 0 };
    let Ok(module) = BytecodeModule::load(archive.clone(), &TypeRegistry::default()) else { return 1 };
    // An initializer runs without fuel.
    if module.lookup_export("__init").is_some() && !ends_soon(&archive) {
        return 1;
    }
    let name = module.name().to_owned();
    let Ok(context) = Context::new([AnyModule::from(module.clone())]) else { return 1 };
    let limits = Limits { fuel: Some(FUEL), max_stack_depth: Some(200), ..Limits::default() };
    for export in module.export_names() {
        if matches!(export, "__init" | "__deinit") {
            continue;
        }
        let Ok(function) = context.function(&name, export) else { continue };
        let kinds = function.cconv().scalar_args().unwrap_or_default();
        let args = kinds.iter().map(|kind| match kind.name() {
            "i32" => Value::I32(3),
            "i64" => Value::I64(3),
            "f32" => Value::F32(1.5),
            "f64" => Value::F64(1.5),
            _ => Value::NULL,
        });
        let _ = function.invoke_limited(args.collect(), &limits);
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

/// Takes bytes as assembly. What assembles must print as text that assembles to the same bytes.
pub fn assembler(bytes: &[u8]) -> usize {
    let Ok(text) = std::str::from_utf8(bytes) else { return 0 };
    let Ok(module) = assemble(text, "fuzz") else { return 0 };
    let _ = module.verify(text, "fuzz", &TypeRegistry::default());
    let Ok(archive) = Archive::copy(&module.bytes, "fuzz") else { return 1 };
    // Bodies that were given as bytes need not be instructions.
    let Some(printed) = print(&archive, Output::Assembly) else { return 1 };
    let again = assemble(&printed, "printed");
    assert!(again.is_ok_and(|again| again.bytes == module.bytes), "does not read back:\n{printed}");
    2
}

/// Whether no function can run for long: branches only lead forwards, and calls only to later functions.
fn ends_soon(archive: &Archive) -> bool {
    let def = archive.def();
    def.functions.iter().enumerate().all(|(ordinal, f)| {
        let Some(code) = archive.bytecode().get(f.offset as usize..(f.offset + f.length) as usize) else {
            return false;
        };
        let mut pc = 0;
        while pc < code.len() {
            let Ok(decoded) = isa::decode(code, pc) else { return false };
            for (operand, arg) in decoded.row.operands.iter().zip(decoded.args.iter()) {
                let forward = match (operand.kind, arg) {
                    (OperandKind::Pc, Arg::Pc(target)) => target as usize > pc,
                    (OperandKind::Cases, Arg::Cases(cases)) => cases.iter().all(|(target, _)| target as usize > pc),
                    (OperandKind::Func, Arg::Ordinal(callee)) => callee as usize > ordinal,
                    _ => true,
                };
                if !forward {
                    return false;
                }
            }
            pc = decoded.next;
        }
        true
    })
}
