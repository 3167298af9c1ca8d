//! Prompt steps come back instead of running for long, and call only what promises to be prompt.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use tiree_vm::asm::assemble;
use tiree_vm::{
    Archive, BytecodeModule, CallFrame, Context, Flow, Function, Limits, NativeExport, NativeModule, Result, Step,
    TypeRegistry, Value,
};

const TEXT: &str = r#"
vm.module @prompt version 0
vm.type i32
vm.type !vm.list<i32>
vm.type !vm.buffer
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
vm.export @grow
vm.func @grow(%i0: i32) -> (i32) {
^bb0:
  %r0 = vm.list.alloc %i1 : !vm.list<i32>
  vm.list.resize %r0, %i0
  %i0 = vm.list.size %r0
  vm.return %i0
}
vm.export @fill
vm.func @fill(%i0: i32) -> (i32) {
^bb0:
  %i2:3 = vm.ext.i32.i64.s %i0
  %r0 = vm.buffer.alloc %i2:3, %i1
  %i4:5 = vm.const.i64 0
  vm.buffer.fill.i8 %r0, %i4:5, %i2:3, %i0
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

    fn needs_its_thread(&self) -> bool {
        true
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

/// One instruction may be long, too.
#[test]
fn long_operations_come_back_before_they_begin() {
    let (_, context) = host(true);
    for name in ["grow", "fill"] {
        let function = context.function("prompt", name).unwrap();
        assert_eq!(call(&function, 7_000), (true, "[i32=7000]".into()), "{name}");
        assert_eq!(call(&function, 3_000_000), (false, "[i32=3000000]".into()), "{name}");
        // The fuel is that of an ordinary call.
        let mut both = [true, false].map(|promptly| {
            let mut call = function.start(vec![3_000_000.into()]).unwrap();
            if promptly {
                assert!(matches!(call.step_promptly().unwrap(), Step::Pending(None)));
            }
            call.step().unwrap();
            call.fuel_used()
        });
        both.sort_unstable();
        assert_eq!(both[0], both[1]);
        // Whatever ends the call otherwise ends it in the next step.
        let limits = Limits { fuel: Some(10_000), ..Limits::default() };
        let mut poor = function.start_limited(vec![3_000_000.into()], &limits).unwrap();
        assert!(matches!(poor.step_promptly().unwrap(), Step::Pending(None)));
        assert!(poor.step().err().unwrap().message().starts_with("out of fuel"));
    }
}

#[test]
fn brief_steps_come_back_and_steps_away_do_not_do_what_needs_the_thread() {
    let (host, context) = host(true);
    let sum = context.function("prompt", "sum").unwrap();
    let mut long = sum.start(vec![i32::MAX.into()]).unwrap();
    for _ in 0..3 {
        assert!(matches!(long.step_briefly().unwrap(), Step::Pending(None)));
        assert!(!long.needs_its_thread());
        assert!(matches!(long.step_away().unwrap(), Step::Pending(None)));
        assert!(!long.needs_its_thread());
    }
    for module in ["prompt", "host"] {
        let mut call = context.function(module, "twice").unwrap().start(vec![100.into()]).unwrap();
        for _ in 0..2 {
            let before = host.calls.load(SeqCst);
            assert!(matches!(call.step_away().unwrap(), Step::Pending(None)));
            assert!(call.needs_its_thread());
            assert_eq!(host.calls.load(SeqCst), before);
        }
        assert!(matches!(call.step_briefly().unwrap(), Step::Done(_)));
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
