//! Functions that take long to translate keep to the limits of the call that needs them, and take little memory.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use tiree_vm::asm::assemble;
use tiree_vm::{
    Archive, BytecodeModule, Context, ContextOptions, Function, Limits, StatusCode, Step, TypeRegistry, Value, VmBuffer,
};

/// A function that goes through `blocks` blocks from the last to the first, and one that calls it if it is to.
fn chain(blocks: usize) -> String {
    let mut text = format!(
        "vm.module @m version 0\nvm.type !vm.buffer\nvm.export @f\nvm.func @f(%i0: i32) -> (i32) {{\n^bb0:\n  \
         %r0 = vm.const.ref.zero\n  vm.cond_br %i0, ^bb1(), ^bb2()\n^bb1:\n  %i0 = vm.call @chain(%R0)\n  \
         vm.return %i0\n^bb2:\n  vm.return %i0\n}}\nvm.export @chain\nvm.func @chain(%r0: !vm.buffer) -> (i32) {{\n^bb0:\n  \
         vm.br ^bb{blocks}()\n^bb1:\n  vm.discard.refs %r0\n  %i0 = vm.const.i32 7\n  vm.return %i0\n"
    );
    for block in 2..=blocks {
        let _ = writeln!(text, "^bb{block}:\n  vm.br ^bb{}()", block - 1);
    }
    text + "}\n"
}

fn load(text: &str) -> Arc<BytecodeModule> {
    let module = assemble(text, "translation.vmasm").unwrap();
    BytecodeModule::load(Archive::copy(&module.bytes, "translation").unwrap(), &TypeRegistry::default()).unwrap()
}

fn function(module: &Arc<BytecodeModule>, name: &str) -> Function {
    Context::new([module.clone().into()]).unwrap().function("m", name).unwrap()
}

#[test]
fn a_deadline_ends_it() {
    let module = load(&chain(60_000));
    let chain = function(&module, "chain");
    let timeout = Some(Duration::from_millis(1));
    let error = chain.invoke_limited(vec![Value::Ref(None)], &Limits { timeout, ..Limits::default() }).unwrap_err();
    assert_eq!(error.code(), StatusCode::DeadlineExceeded, "{error}");
    assert!(error.to_string().contains("bytecode m@1:0 chain"), "{error}");
    assert_eq!(module.translated_size(), 0);
    assert_eq!(shown(&chain.invoke(vec![Value::Ref(None)]).unwrap()), "[i32=7]");
    assert!(module.translated_size() > 0);
}

fn shown(values: &[Value]) -> String {
    format!("{values:?}")
}

/// What a prompt step gives; None when it comes back, and the call goes on without it.
fn prompt(function: &Function, argument: i32) -> Option<String> {
    let mut call = function.start(vec![argument.into()]).unwrap();
    match call.step_promptly().unwrap() {
        Step::Done(values) => Some(shown(&values)),
        Step::Pending(_) => {
            // It goes on where it was.
            assert!(matches!(call.step().unwrap(), Step::Done(values) if shown(&values) == "[i32=7]"));
            None
        }
    }
}

#[test]
fn prompt_steps_come_back_rather_than_translate_much() {
    for (blocks, at_once) in [(4, true), (60, false)] {
        let module = load(&chain(blocks));
        let f = function(&module, "f");
        assert_eq!(prompt(&f, 0), Some("[i32=0]".into()));
        assert_eq!(prompt(&f, 1).is_some(), at_once);
        assert_eq!(prompt(&f, 1), Some("[i32=7]".into()));
    }
}

#[test]
fn returns_release_what_they_do_not_name() {
    // So many that only the first returns name them.
    let references = 3000;
    let mut body = String::new();
    for register in 2..references {
        let _ = writeln!(body, "  %r{register} = vm.buffer.alloc %i2:3, %i1");
    }
    body += "  vm.br ^bb1()\n";
    for block in (1..400).step_by(2) {
        let (exit, next) = (block + 1, block + 2);
        let _ = writeln!(
            body,
            "^bb{block}:\n  %i0 = vm.sub.i32 %i0, %i1\n  vm.cond_br %i0, ^bb{next}(), ^bb{exit}()\n\
             ^bb{exit}:\n  vm.return %r0, %r{block}, %r2999"
        );
    }
    body += "^bb401:\n";
    let text = format!(
        "vm.module @m version 0\nvm.type !vm.buffer\nvm.export @f\nvm.func @f(%i0: i32, %r0: !vm.buffer, %r1: !vm.buffer) \
         -> (!vm.buffer, !vm.buffer, !vm.buffer) {{\n^bb0:\n  %i1 = vm.const.i32 1\n  %i2:3 = vm.const.i64 8\n{body}  vm.return %r0, %r1, %r2\n}}\n\
         vm.export @g\nvm.func @g(%i0: i32, %r0: !vm.buffer, %r1: !vm.buffer) -> (!vm.buffer) {{\n^bb0:\n  \
         %r0, %r1, %r2 = vm.call @f(%i0, %r0, %r1)\n  vm.return %r2\n}}\n"
    );
    let module = load(&text);
    let options = ContextOptions { memory: Some(1 << 24), ..ContextOptions::default() };
    let context = Context::with_options([module.clone().into()], &options).unwrap();
    let argument = Arc::new(VmBuffer::allocate(4, 4).unwrap());
    for name in ["f", "g"] {
        let function = context.function("m", name).unwrap();
        for exit in [1, 2, 77, 200, 1000] {
            let buffer = || Value::Ref(Some(argument.clone()));
            let values = function.invoke(vec![exit.into(), buffer(), buffer()]).unwrap();
            assert!(values.iter().all(|value| matches!(value, Value::Ref(Some(_)))));
            assert!(context.quota().unwrap().used() > 0);
            drop(values);
            assert_eq!(context.quota().unwrap().used(), 0);
            assert_eq!(Arc::strong_count(&argument), 1);
        }
    }
    let bytes: usize = module.archive().def().functions.iter().map(|function| function.length as usize).sum();
    assert!(module.translated_size() < 12 * bytes, "{} of {bytes}", module.translated_size());
}
