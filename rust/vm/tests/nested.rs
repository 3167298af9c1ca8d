//! Native functions that call the VM again: their calls stay inside the limits of the call that they are part of.

use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tiree_vm::asm::assemble;
use tiree_vm::{
    Archive, BytecodeModule, CallFrame, Context, Flow, Function, Limit, Limits, NativeExport, NativeModule, Result,
    Status, StatusCode, TypeRegistry, Value,
};

const TEXT: &str = r#"
vm.module @inner version 0
vm.import @host.again cconv "0ii_i"

// Calls the host, which calls this again, %i0 times.
vm.export @deep
vm.func @deep(%i0: i32) -> (i32) {
^bb0:
  %i1 = vm.const.i32 0
  %i1 = vm.call @host.again(%i1, %i0)
  vm.return %i1
}

// So many rounds.
vm.export @spin
vm.func @spin(%i0: i32) -> (i32) {
^bb0:
  %i1 = vm.const.i32 1
  vm.br ^bb1()
^bb1:
  %i0 = vm.sub.i32 %i0, %i1
  vm.cond_br %i0, ^bb1(), ^bb2()
^bb2:
  vm.return %i0
}

// Calls of `spin` through the host, %i0 of them with %i1 rounds each.
vm.export @spins
vm.func @spins(%i0: i32, %i1: i32) -> (i32) {
^bb0:
  %i2 = vm.const.i32 1
  %i3 = vm.const.i32 1
  vm.br ^bb1()
^bb1:
  %i4 = vm.call @host.again(%i3, %i1)
  %i0 = vm.sub.i32 %i0, %i2
  vm.cond_br %i0, ^bb1(), ^bb2()
^bb2:
  vm.return %i0
}

vm.export @recurse
vm.func @recurse(%i0: i32) -> (i32) {
^bb0:
  vm.cond_br %i0, ^bb1(), ^bb2()
^bb1:
  %i1 = vm.const.i32 1
  %i0 = vm.sub.i32 %i0, %i1
  %i0 = vm.call @inner:3(%i0)
  vm.return %i0
^bb2:
  %i1 = vm.const.i32 0
  %i0 = vm.call @host.again(%i1, %i0)
  vm.return %i0
}
"#;

/// What `again` calls: by its first argument, with its second.
type Calls = Arc<Mutex<Vec<Function>>>;

struct Host {
    calls: Calls,
    limits: Limits,
}

static EXPORTS: [NativeExport; 1] = [NativeExport { name: "again", cconv: "0ii_i" }];

impl NativeModule for Host {
    fn name(&self) -> &str {
        "host"
    }

    fn exports(&self) -> &[NativeExport] {
        &EXPORTS
    }

    fn call(&self, _state: &(dyn Any + Send + Sync), _ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        let (which, argument) = (frame.i32()?, frame.i32()?);
        let function = self.calls.lock().unwrap()[which as usize].clone();
        if which == 0 && argument == 0 {
            frame.push_i32(0);
            return Ok(Flow::Done);
        }
        let argument = if which == 0 { argument - 1 } else { argument };
        frame.push(function.invoke_limited(vec![Value::I32(argument)], &self.limits)?.remove(0));
        Ok(Flow::Done)
    }
}

/// A context whose host calls its own functions `deep` and `spin`, with `limits`.
fn context(limits: Limits) -> Context {
    let archive = Archive::copy(&assemble(TEXT, "nested").unwrap().bytes, "nested").unwrap();
    let module = BytecodeModule::load(archive, &TypeRegistry::default()).unwrap();
    let calls = Calls::default();
    let context = Context::new([Arc::new(Host { calls: calls.clone(), limits }).into(), module.into()]).unwrap();
    for name in ["deep", "spin"] {
        calls.lock().unwrap().push(context.function("inner", name).unwrap());
    }
    context
}

fn call(context: &Context, module: &str, name: &str, args: &[i32], limits: &Limits) -> Result<i32> {
    let args = args.iter().map(|arg| Value::I32(*arg)).collect();
    match context.function(module, name)?.invoke_limited(args, limits)?[..] {
        [Value::I32(result)] => Ok(result),
        _ => Err(Status::internal("one result")),
    }
}

#[test]
fn depth_counts_through_native_code() {
    let limits = Limits { max_stack_depth: Some(20), ..Limits::default() };
    for own in [Limits::default(), Limits { max_stack_depth: Some(100), ..Limits::default() }] {
        let context = context(own);
        assert_eq!(call(&context, "inner", "deep", &[19], &limits).unwrap(), 0);
        let error = call(&context, "inner", "deep", &[20], &limits).unwrap_err();
        assert_eq!((error.code(), error.limit()), (StatusCode::ResourceExhausted, Some(Limit::Stack)));
        assert!(error.to_string().contains("20 calls are active, the limit"), "{error}");
        // The native function is the first call.
        assert_eq!(call(&context, "host", "again", &[0, 19], &limits).unwrap(), 0);
        assert_eq!(call(&context, "host", "again", &[0, 20], &limits).unwrap_err().limit(), Some(Limit::Stack));
        assert_eq!(call(&context, "inner", "deep", &[100], &Limits::default()).unwrap(), 0);
    }
    let context = context(Limits { max_stack_depth: Some(1), ..Limits::default() });
    // Its own limit is the lower one.
    assert_eq!(call(&context, "inner", "deep", &[2], &limits).unwrap_err().limit(), Some(Limit::Stack));
}

#[test]
fn nested_calls_draw_from_the_fuel_of_their_caller() {
    let context = context(Limits::default());
    let used = |name: &str, args: &[i32]| {
        let args = args.iter().map(|arg| Value::I32(*arg)).collect();
        let mut invocation = context.function("inner", name).unwrap().start(args).unwrap();
        while !matches!(invocation.step().unwrap(), tiree_vm::Step::Done(_)) {}
        invocation.fuel_used()
    };
    for (calls, rounds) in [(1, 10), (7, 3000), (3, 40_000)] {
        let (one, all) = (used("spin", &[rounds]), used("spins", &[calls, rounds]));
        let rest = all - calls as u64 * one;
        assert!(rest > 0 && rest <= 20 * calls as u64, "{all} of {calls} times {one}");
        // To the instruction.
        for (fuel, ends) in [(all, true), (all - 1, false), (one / 2, false), (all + 1, true), (5, false), (0, false)] {
            let limits = Limits { fuel: Some(fuel), ..Limits::default() };
            let outcome = call(&context, "inner", "spins", &[calls, rounds], &limits);
            assert_eq!(outcome.is_ok(), ends, "{calls} {rounds} with {fuel} of {all}");
            if let Err(error) = outcome {
                assert_eq!((error.code(), error.limit()), (StatusCode::ResourceExhausted, Some(Limit::Fuel)));
            }
        }
        // Called by native code that is called with limits itself.
        for (fuel, ends) in [(one, true), (one - 1, false)] {
            let limits = Limits { fuel: Some(fuel), ..Limits::default() };
            assert_eq!(call(&context, "host", "again", &[1, rounds], &limits).is_ok(), ends);
        }
    }
}

#[test]
fn a_limit_of_its_own_holds_inside_of_the_callers() {
    let own = Limits { fuel: Some(10_000), ..Limits::default() };
    let context = context(own);
    let limits = |fuel| Limits { fuel: Some(fuel), ..Limits::default() };
    assert!(call(&context, "inner", "spins", &[3, 1000], &limits(100_000)).is_ok());
    let error = call(&context, "inner", "spins", &[3, 20_000], &limits(1_000_000)).unwrap_err();
    assert!(error.to_string().contains("more than 10000 instructions"), "{error}");
    let error = call(&context, "inner", "spins", &[30, 1000], &limits(20_000)).unwrap_err();
    assert_eq!(error.limit(), Some(Limit::Fuel));
    // The call goes on where a nested one gave up, with what is left.
    assert!(call(&context, "inner", "spins", &[3, 1000], &limits(100_000)).is_ok());
}

#[test]
fn nested_calls_end_by_the_deadline_of_their_caller() {
    for own in [None, Some(Duration::from_secs(100))] {
        let context = context(Limits { timeout: own, ..Limits::default() });
        let limits = Limits { timeout: Some(Duration::from_millis(30)), ..Limits::default() };
        for (module, name, args) in [("inner", "spins", [1, i32::MAX]), ("host", "again", [1, i32::MAX])] {
            let start = Instant::now();
            let error = call(&context, module, name, &args, &limits).unwrap_err();
            assert_eq!((error.code(), error.limit()), (StatusCode::DeadlineExceeded, Some(Limit::Time)));
            assert!(start.elapsed() < Duration::from_secs(1));
        }
    }
}

#[test]
fn a_small_native_stack_gives_an_error() {
    for size in [96 << 10, 256 << 10, 2 << 20] {
        let error = std::thread::Builder::new()
            .stack_size(size)
            .spawn(|| {
                let context = context(Limits::default());
                let error = call(&context, "inner", "deep", &[i32::MAX], &Limits::default()).unwrap_err();
                // There is room again.
                assert_eq!(call(&context, "inner", "deep", &[2], &Limits::default()).unwrap(), 0);
                error
            })
            .unwrap()
            .join()
            .unwrap();
        assert_eq!((error.code(), error.limit()), (StatusCode::ResourceExhausted, Some(Limit::Stack)));
        let text = error.to_string();
        assert!(text.contains("deep through native code") && text.contains("KiB are left"), "{text}");
    }
}
