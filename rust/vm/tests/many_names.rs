//! Modules with very many names: whatever has to find one by another way than a table of names takes minutes here.

use std::fmt::Write as _;

use tiree_vm::asm::assemble;
use tiree_vm::disasm::{Options, Output, dump};
use tiree_vm::module::Module as _;
use tiree_vm::{AnyModule, Archive, BytecodeModule, Context, TypeRegistry, Value};

const COUNT: usize = if cfg!(debug_assertions) { 20_000 } else { 100_000 };

fn text() -> String {
    let mut text = "vm.module @many version 0\n".to_owned();
    for i in 0..COUNT {
        writeln!(text, "vm.import optional @absent.f{i} cconv \"0i_i\"").unwrap();
    }
    for i in 0..COUNT {
        writeln!(text, "vm.global.i32 mutable @g{i}").unwrap();
    }
    for i in 0..COUNT {
        let next = (i * 7919 + 1) % COUNT;
        writeln!(
            text,
            "vm.export @f{i}\nvm.func @f{i}(%i0: i32) -> (i32) {{\n^bb0:\n  vm.cond_br %i0, ^bb1(), ^bb2()\n^bb1:\n  \
             %i0 = vm.call @f{next}(%i0)\n  %i0 = vm.call @absent.f{next}(%i0)\n  vm.return %i0\n^bb2:\n  \
             %i1 = vm.const.i32 {i}\n  vm.global.store.i32 %i1, @g{next}\n  vm.return %i1\n}}"
        )
        .unwrap();
    }
    text
}

#[test]
fn names_are_found_at_once() {
    let bytes = assemble(&text(), "many").unwrap().bytes;
    let archive = Archive::copy(&bytes, "many").unwrap();
    let module = BytecodeModule::load(archive.clone(), &TypeRegistry::default()).unwrap();
    let context = Context::new([AnyModule::from(module.clone())]).unwrap();
    for i in 0..COUNT {
        assert_eq!(module.lookup_export(&format!("f{i}")), Some(i));
    }
    assert_eq!(module.lookup_export("f"), None);
    assert_eq!(module.lookup_export("g0"), None);
    let last = context.function("many", &format!("f{}", COUNT - 1)).unwrap();
    assert!(matches!(last.invoke(vec![Value::I32(0)]).unwrap()[..], [Value::I32(last)] if last as usize == COUNT - 1));
    let options = Options { output: Output::Assembly, ..Options::default() };
    let printed = dump(&archive, &options).unwrap();
    assert_eq!(assemble(&printed, "again").unwrap().bytes, bytes);
}
