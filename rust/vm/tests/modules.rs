//! Modules that call each other, native modules, suspension, and what is left alive afterwards.

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use tiree_vm::{
    AnyModule, BytecodeModule, CallFrame, Context, Flow, NativeExport, NativeModule, RefObject, Result, Status, Step,
    Value, VmBuffer, Wait,
};

fn bytecode(name: &str) -> AnyModule {
    BytecodeModule::open(format!("{}/tests/data/{name}.vmfb", env!("CARGO_MANIFEST_DIR"))).unwrap().into()
}

/// Something to wait for: open or not.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

impl Wait for Gate {
    fn is_ready(&self) -> bool {
        *self.open.lock().unwrap()
    }

    fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut open = self.open.lock().unwrap();
        while !*open {
            match deadline.map(|d| d.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return false,
                Some(left) => open = self.changed.wait_timeout(open, left).unwrap().0,
                None => open = self.changed.wait(open).unwrap(),
            }
        }
        true
    }

    fn on_ready(&self, callback: Box<dyn FnOnce() + Send>) {
        self.wait(None);
        callback();
    }
}

/// The module `host` that imports.vmasm needs. Its gates are numbered.
struct Host {
    gates: Vec<Arc<Gate>>,
    gate_calls: AtomicUsize,
}

const EXPORTS: [NativeExport; 5] = [
    NativeExport { name: "add", cconv: "0ii_i" },
    NativeExport { name: "span", cconv: "0iCiIDr_I" },
    NativeExport { name: "gate", cconv: "0i_i" },
    NativeExport { name: "same", cconv: "0r_r" },
    NativeExport { name: "hold", cconv: "0rri_i" },
];

impl Host {
    fn new(gates: usize) -> Arc<Host> {
        Arc::new(Host { gates: (0..gates).map(|_| Arc::default()).collect(), gate_calls: AtomicUsize::new(0) })
    }
}

impl NativeModule for Host {
    fn name(&self) -> &str {
        "host"
    }

    fn version(&self) -> u32 {
        1
    }

    fn exports(&self) -> &[NativeExport] {
        &EXPORTS
    }

    fn call(&self, _: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match ordinal {
            0 => {
                let (a, b) = (frame.i32()?, frame.i32()?);
                if a == 13 {
                    return Err(Status::unavailable("thirteen is not served"));
                }
                frame.push_i32(a + b);
            }
            1 => {
                let mut sum = i64::from(frame.i32()?);
                for _ in 0..frame.span()? {
                    sum += i64::from(frame.i32()?) * frame.i64()?;
                }
                sum += frame.borrow_ref::<VmBuffer>()?.len() as i64;
                frame.push_i64(sum);
            }
            2 => {
                let number = frame.i32()?;
                let gate = &self.gates[number as usize];
                self.gate_calls.fetch_add(1, SeqCst);
                if !gate.is_ready() {
                    *frame.resume_slot() = Some(Box::new(100));
                    return Ok(Flow::Suspend(gate.clone()));
                }
                let waited = frame.resume_slot().take().and_then(|s| s.downcast::<i32>().ok()).map_or(0, |v| *v);
                frame.push_i32(number + waited);
            }
            3 => {
                let value = frame.any_ref()?;
                frame.push_any_ref(value);
            }
            _ => {
                assert_eq!(frame.args().len(), 3);
                let bits = i32::from(frame.any_ref()?.is_some()) + 2 * i32::from(frame.any_ref()?.is_some());
                let gate = &self.gates[frame.i32()? as usize];
                if !gate.is_ready() {
                    return Ok(Flow::Suspend(gate.clone()));
                }
                frame.push_i32(bits);
            }
        }
        Ok(Flow::Done)
    }
}

fn context(host: &Arc<Host>) -> Context {
    Context::new([host.clone().into(), bytecode("lib"), bytecode("imports")]).unwrap()
}

fn call(context: &Context, name: &str, args: Vec<Value>) -> Result<Vec<Value>> {
    context.function("imports", name)?.invoke(args)
}

#[test]
fn native_calls_and_spans() {
    let context = context(&Host::new(0));
    let say = |name: &str, args: Vec<Value>| format!("{:?}", call(&context, name, args).unwrap());
    assert_eq!(say("call_add", vec![2.into(), 3.into()]), "[i32=5]");
    assert_eq!(say("call_span", vec![1.into()]), "[i64=7709]");
    assert_eq!(say("call_empty_span", vec![1.into()]), "[i64=9]");
    assert_eq!(say("call_lib", vec![21.into(), (-4).into()]), "[i64=-8, i32=42]");
}

#[test]
fn errors_say_where() {
    let context = context(&Host::new(0));
    let status = call(&context, "call_add", vec![13.into(), 3.into()]).unwrap_err().to_string();
    assert_eq!(
        status,
        "UNAVAILABLE; thirteen is not served; while invoking native function host.add; while calling import; \n\
         [ 0] bytecode imports@0:1 call_add; invoking function 'call_add'"
    );
    let status = call(&context, "call_add", vec![1.into()]).unwrap_err();
    assert_eq!(status.message(), "input list and function mismatch; expected 2 arguments but passed 1");
    let status = context.function("imports", "nope").unwrap_err();
    assert!(
        status.message().starts_with("no function `nope` exported by module `imports`; it has: call_add"),
        "{status}"
    );
}

#[test]
fn optional_imports() {
    let context = context(&Host::new(0));
    assert_eq!(format!("{:?}", call(&context, "optional", vec![0.into()]).unwrap()), "[i32=0]");
    let status = call(&context, "optional", vec![1.into()]).unwrap_err();
    assert_eq!(status.message(), "optional import `host.missing` (ordinal 4) not resolved");
}

#[test]
fn state_belongs_to_the_context_and_init_runs_first() {
    let lib = bytecode("lib");
    let (a, b) = (Context::new([lib.clone()]).unwrap(), Context::new([lib]).unwrap());
    let count =
        |context: &Context| format!("{:?}", context.lookup_function("lib.count").unwrap().invoke(vec![]).unwrap());
    assert_eq!(count(&a), "[i32=42]");
    assert_eq!(count(&a), "[i32=43]");
    assert_eq!(count(&b), "[i32=42]");
}

#[test]
fn linking_errors() {
    let missing = Context::new([bytecode("lib"), bytecode("imports")]).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "NOT_FOUND; module 'host' required for import 'host.add' not registered with the context; creating VM context"
    );
    let context = Context::growable();
    context.register(bytecode("lib")).unwrap();
    assert!(context.register(bytecode("imports")).is_err());
    context.register(Host::new(0)).unwrap();
    context.register(bytecode("imports")).unwrap();
    assert_eq!(context.modules().len(), 3);
    let frozen = Context::new([bytecode("lib")]).unwrap();
    assert!(frozen.register(bytecode("lib")).unwrap_err().message().contains("cannot grow"));
}

#[test]
fn a_moved_argument_is_null_to_later_ones() {
    let host = Host::new(1);
    let context = context(&host);
    let mut invocation = context.function("imports", "moved_and_named").unwrap().start(vec![0.into()]).unwrap();
    assert!(matches!(invocation.step().unwrap(), Step::Pending(Some(_))));
    host.gates[0].open();
    let Step::Done(results) = invocation.step().unwrap() else { panic!("the gate is open") };
    assert_eq!(format!("{results:?}"), "[i32=1, i32=0]");
    assert_eq!(format!("{:?}", call(&context, "moved_and_named_lib", vec![]).unwrap()), "[i32=1]");
}

/// Two calls on one thread, each waiting at its own gate, finish in the order in which the gates open.
#[test]
fn two_waiting_calls_interleave_on_one_thread() {
    let host = Host::new(2);
    let context = context(&host);
    let function = context.function("imports", "wait_twice").unwrap();
    let mut first = function.start(vec![0.into()]).unwrap();
    let mut second = function.start(vec![1.into()]).unwrap();
    let waits = |step: Step| match step {
        Step::Pending(Some(wait)) => wait,
        _ => panic!("should wait"),
    };
    let (wait, other) = (waits(first.step().unwrap()), waits(second.step().unwrap()));
    assert!(!wait.is_ready() && !other.is_ready());
    waits(first.step().unwrap());
    host.gates[1].open();
    assert!(other.is_ready());
    match second.step().unwrap() {
        // 1 + 100 for having waited, then 1 at the open gate.
        Step::Done(results) => assert_eq!(format!("{results:?}"), "[i32=102]"),
        Step::Pending(_) => panic!("the gate is open"),
    }
    host.gates[0].open();
    match first.step().unwrap() {
        Step::Done(results) => assert_eq!(format!("{results:?}"), "[i32=100]"),
        Step::Pending(_) => panic!("the gate is open"),
    }
    assert!(first.step().is_err(), "nothing is left to run");
    assert_eq!(host.gate_calls.load(SeqCst), 7);
}

#[test]
fn blocking_calls_wait_for_other_threads() {
    let host = Host::new(1);
    let context = context(&host);
    let gate = host.gates[0].clone();
    let opener = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        gate.open();
    });
    let results = call(&context, "wait_twice", vec![0.into()]).unwrap();
    assert_eq!(format!("{results:?}"), "[i32=100]");
    opener.join().unwrap();
}

#[test]
fn deadlines() {
    let host = Host::new(1);
    let mut invocation = context(&host).function("imports", "wait_twice").unwrap().start(vec![0.into()]).unwrap();
    let status = invocation.finish_by(Instant::now()).unwrap_err();
    assert_eq!(status.code().name(), "DEADLINE_EXCEEDED");
    host.gates[0].open();
    assert!(invocation.finish_by(Instant::now()).is_ok(), "the call goes on where it was");
}

#[test]
fn bare_yields_hand_over() {
    let context = Context::new([bytecode("flow")]).unwrap();
    let function = context.function("flow", "yields").unwrap();
    let mut invocation = function.start(vec![4.into()]).unwrap();
    let mut yields = 0;
    let results = loop {
        match invocation.step().unwrap() {
            Step::Done(results) => break results,
            Step::Pending(None) => yields += 1,
            Step::Pending(Some(_)) => panic!("nothing to wait for"),
        }
    };
    assert_eq!((yields, format!("{results:?}").as_str()), (4, "[i32=10]"));
    assert_eq!(format!("{:?}", function.invoke(vec![4.into()]).unwrap()), "[i32=10]");
}

/// Counts how many of it are alive.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn value(alive: &Arc<AtomicUsize>) -> Value {
        alive.fetch_add(1, SeqCst);
        Value::from_object(Arc::new(Counted(alive.clone())))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl RefObject for Counted {
    fn type_name(&self) -> &'static str {
        "vm.buffer"
    }
}

#[test]
fn references_are_released_on_every_path() {
    let alive = Arc::new(AtomicUsize::new(0));
    let host = Host::new(1);
    let context = context(&host);
    // Through two calls and back.
    let results = call(&context, "same", vec![Counted::value(&alive)]).unwrap();
    assert_eq!(alive.load(SeqCst), 1);
    drop(results);
    assert_eq!(alive.load(SeqCst), 0);
    // Wrong number of arguments, wrong kind.
    assert!(call(&context, "same", vec![Counted::value(&alive), Counted::value(&alive)]).is_err());
    assert!(call(&context, "call_add", vec![Counted::value(&alive), 1.into()]).is_err());
    assert_eq!(alive.load(SeqCst), 0);
    // Started but never run.
    drop(context.function("imports", "same").unwrap().start(vec![Counted::value(&alive)]).unwrap());
    assert_eq!(alive.load(SeqCst), 0);
    // A failure two frames deep, with references in registers, lists and arguments.
    let objects = Context::new([bytecode("objects")]).unwrap();
    let function = objects.function("objects", "fail_with_ref_arg").unwrap();
    let status = function.invoke(vec![7.into(), Counted::value(&alive)]).unwrap_err();
    assert_eq!(status.message(), "left with references");
    assert_eq!(alive.load(SeqCst), 0);
    // The archive lives as long as a buffer of it.
    let module = BytecodeModule::open(format!("{}/tests/data/objects.vmfb", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let archive = Arc::downgrade(module.archive());
    drop(module);
    assert!(archive.upgrade().is_none());
}

#[test]
fn suspended_calls_can_be_dropped() {
    let host = Host::new(1);
    let context = context(&host);
    let mut invocation = context.function("imports", "wait_twice").unwrap().start(vec![0.into()]).unwrap();
    assert!(matches!(invocation.step().unwrap(), Step::Pending(Some(_))));
    drop(context);
    drop(invocation);
    assert_eq!(Arc::strong_count(&host), 1);
}

#[test]
fn contexts_serve_threads_at_once() {
    let context = context(&Host::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let context = &context;
            scope.spawn(move || {
                for i in 0..200 {
                    let results = call(context, "call_lib", vec![i.into(), thread.into()]).unwrap();
                    assert_eq!(format!("{results:?}"), format!("[i64={}, i32={}]", 2 * thread, 2 * i));
                }
            });
        }
    });
}

#[test]
fn everything_can_go_to_another_thread() {
    fn check<T: Send>() {}
    fn share<T: Send + Sync>() {}
    share::<Context>();
    share::<tiree_vm::Function>();
    share::<BytecodeModule>();
    share::<VmBuffer>();
    check::<tiree_vm::Invocation>();
}

#[test]
fn forks_have_states_of_their_own() {
    let context = context(&Host::new(0));
    let count =
        |context: &Context| format!("{:?}", context.lookup_function("lib.count").unwrap().invoke(vec![]).unwrap());
    assert_eq!(count(&context), "[i32=42]");
    let fork = context.fork().unwrap();
    // What is copied is the state at that time, without another `__init`.
    assert_eq!(
        (count(&fork), count(&fork), count(&context)),
        ("[i32=43]".into(), "[i32=44]".into(), "[i32=43]".into())
    );
    // Imports of a fork lead to its own modules, which outlive the context that it came from.
    drop(context);
    assert_eq!(format!("{:?}", call(&fork, "call_lib", vec![21.into(), (-4).into()]).unwrap()), "[i64=-8, i32=42]");
}

#[test]
fn eight_threads_run_one_module_at_once() {
    let module = bytecode("flow");
    let context = Context::new([module]).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8i32 {
            let fork = context.fork().unwrap();
            let shared = &context;
            scope.spawn(move || {
                for i in 0..100 {
                    let n = i64::from(thread * 7 + i % 50);
                    for context in [shared, &fork] {
                        let function = context.function("flow", "recurse").unwrap();
                        let results = function.invoke(vec![Value::I32(n as i32)]).unwrap();
                        assert_eq!(format!("{results:?}"), format!("[i64={}]", n * (n + 1) / 2));
                    }
                }
            });
        }
    });
}
