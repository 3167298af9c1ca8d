//! Prompt steps come back instead of running for long, and call only what promises to be prompt.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use tiree_vm::asm::assemble;
use tiree_vm::{
    Archive, BytecodeModule, CallFrame, Context, Flow, Function, NativeExport, NativeModule, Result, Step,
    TypeRegistry, Value,
};

const TEXT: &str = r#"
vm.module @prompt version 0
vm.type i32
vm.import @host.twice cconv "0i_i"
vm.export @sum
vm.func @sum(%i0: i32) -> (i32) {
^bb0:
  %i1 = vm.const.i32.zero
  %i2 = vm.const.i32 1
  vm.br ^bb1()
^bb1:
  %i1 = vm.add.i32 %i1, %i0
  %i0 = vm.sub.i32 %i0, %i2
  vm.cond_br %i0, ^bb1(), ^bb2()
^bb2:
  vm.return %i1
}
vm.export @twice
vm.func @twice(%i0: i32) -> (i32) {
^bb0:
  %i0 = vm.call @host.twice(%i0)
  vm.return %i0
}
"#;

/// Doubles numbers: in prompt calls only those below a hundred, if at all.
struct Host {
    prompt: bool,
    calls: AtomicUsize,
}

const EXPORTS: [NativeExport; 1] = [NativeExport { name: "twice", cconv: "0i_i" }];

impl NativeModule for Host {
    fn name(&self) -> &str {
        "host"
    }

    fn exports(&self) -> &[NativeExport] {
        &EXPORTS
    }

    fn is_prompt(&self) -> bool {
        self.prompt
    }

    fn call(&self, _: &(dyn Any + Send + Sync), _: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        self.calls.fetch_add(1, SeqCst);
        assert!(self.prompt || !frame.is_prompt());
        let number = frame.i32()?;
        if frame.is_prompt() && number >= 100 {
            return Ok(Flow::NotPrompt);
        }
        frame.push_i32(2 * number);
        Ok(Flow::Done)
    }
}

fn host(prompt: bool) -> (Arc<Host>, Context) {
    let module = assemble(TEXT, "prompt.vmasm").unwrap();
    let archive = Archive::copy(&module.bytes, "prompt").unwrap();
    let module = BytecodeModule::load(archive, &TypeRegistry::default()).unwrap();
    let host = Arc::new(Host { prompt, calls: AtomicUsize::new(0) });
    (host.clone(), Context::new([host.into(), module.into()]).unwrap())
}

/// What a prompt step gives; when that is nothing, what an ordinary one gives then.
fn call(function: &Function, argument: i32) -> (bool, String) {
    let mut call = function.start(vec![argument.into()]).unwrap();
    let shown = |values: Vec<Value>| format!("{values:?}");
    match call.step_promptly().unwrap() {
        Step::Done(values) => (true, shown(values)),
        Step::Pending(Some(_)) => panic!("nothing to wait for"),
        Step::Pending(None) => match call.step().unwrap() {
            Step::Done(values) => (false, shown(values)),
            Step::Pending(_) => panic!("an ordinary step goes to the end"),
        },
    }
}

#[test]
fn long_code_comes_back_after_a_slice() {
    let (_, context) = host(false);
    let sum = context.function("prompt", "sum").unwrap();
    assert_eq!(call(&sum, 10), (true, "[i32=55]".into()));
    assert_eq!(call(&sum, 20_000), (false, "[i32=200010000]".into()));
    let mut long = sum.start(vec![i32::MAX.into()]).unwrap();
    for _ in 0..3 {
        assert!(matches!(long.step_promptly().unwrap(), Step::Pending(None)));
        assert!(long.fuel_used() < 20_000, "{}", long.fuel_used());
    }
}

#[test]
fn native_functions_are_called_as_far_as_they_are_prompt() {
    for (prompt, argument, whole, calls) in
        [(true, 7, true, 1), (true, 100, false, 2), (false, 7, false, 1), (false, 100, false, 1)]
    {
        let (host, context) = host(prompt);
        let twice = context.function("prompt", "twice").unwrap();
        assert_eq!(call(&twice, argument), (whole, format!("[i32={}]", 2 * argument)));
        assert_eq!(host.calls.load(SeqCst), calls);
    }
}

#[test]
fn ended_and_native_calls() {
    let (_, context) = host(true);
    let mut done = context.function("prompt", "sum").unwrap().start(vec![1.into()]).unwrap();
    assert!(matches!(done.step_promptly().unwrap(), Step::Done(_)));
    assert!(done.step().is_err());
    let native = context.function("host", "twice").unwrap();
    assert_eq!(call(&native, 7), (false, "[i32=14]".into()));
}
