//! Limits end calls with an error that says which; nothing is left alive, and the context serves the next call.

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use tiree_vm::asm::assemble;
use tiree_vm::{
    Archive, BytecodeModule, CallFrame, Context, ContextOptions, Flow, Limit, Limits, NativeExport, NativeModule,
    RefObject, Result, Status, StatusCode, Step, TypeRegistry, Value, Wait, interrupt,
};

const TEXT: &str = r#"
vm.module @limits version 0
vm.type i32
vm.type i64
vm.type !vm.opaque
vm.type !vm.buffer
vm.type !vm.list<!vm.opaque>
vm.import @host.object cconv "0v_r"
vm.import @host.fails cconv "0r_v"
vm.import @host.gate cconv "0r_v"

// Objects in registers, in a list, lent to two more frames; then what is asked for.
vm.export @enter
vm.func @enter(%i0: i32, %i1: i32) -> (i32) {
^bb0:
  %r0 = vm.call @host.object()
  %r1 = vm.call @host.object()
  %i2 = vm.const.i32 4
  %r2 = vm.list.alloc %i2 : !vm.list<!vm.opaque>
  vm.list.resize %r2, %i2
  %i3 = vm.const.i32 1
  vm.list.set.ref %r2, %i3, %R1
  %i0 = vm.call @limits:1(%i0, %i1, %r0, %R2)
  %r1 = vm.call @host.object()
  vm.return %i0
}

// Lends its first argument on, keeps the second; what is left when it returns is released though nothing says so.
vm.func @middle(%i0: i32, %i1: i32, %r0: !vm.opaque, %r1: !vm.list<!vm.opaque>) -> (i32) {
^bb0:
  %r2 = vm.assign.ref %r0
  %r3 = vm.assign.ref %r1
  %i0 = vm.call @limits:2(%i0, %i1, %r0, %r1)
  vm.return %i0
}

vm.func @inner(%i0: i32, %i1: i32, %r0: !vm.opaque, %r1: !vm.list<!vm.opaque>) -> (i32) {
^bb0:
  %r2 = vm.call @host.object()
  vm.br_table %i0 { default: ^bb1(), 0: ^bb1(), 1: ^bb2(), 2: ^bb4(), 3: ^bb5(), 4: ^bb7(), 5: ^bb8(), 6: ^bb9() }
^bb1:
  vm.discard.refs %r0, %r1, %r2
  vm.return %i1
^bb2:
  vm.br ^bb3()
^bb3:
  %i2 = vm.const.i32 1
  %i1 = vm.add.i32 %i1, %i2
  vm.br ^bb3()
^bb4:
  %i1 = vm.call @limits:2(%i0, %i1, %r0, %r2)
  vm.return %i1
^bb5:
  %i4:5 = vm.const.i64 100000
  %i6 = vm.const.i32 16
  %i7 = vm.const.i32 1
  %r3 = vm.list.alloc %i7 : !vm.list<!vm.opaque>
  vm.br ^bb6()
^bb6:
  %i8 = vm.list.size %r3
  %i8 = vm.add.i32 %i8, %i7
  vm.list.resize %r3, %i8
  %i8 = vm.sub.i32 %i8, %i7
  %r4 = vm.buffer.alloc %i4:5, %i6
  vm.list.set.ref %r3, %i8, %R4
  vm.br ^bb6()
^bb7:
  %i2 = vm.const.i32.zero
  %i2 = vm.div.i32.s %i1, %i2
  vm.return %i2
^bb8:
  vm.call @host.fails(%r2)
  vm.return %i1
^bb9:
  vm.call @host.gate(%r2)
  vm.return %i1
}

// Four instructions a turn, and three around them.
vm.export @count
vm.func @count(%i0: i32) -> (i32) {
^bb0:
  %i1 = vm.const.i32 1
  vm.br ^bb1()
^bb1:
  %i3 = vm.add.i32 %i3, %i2
  %i2 = vm.add.i32 %i2, %i1
  %i4 = vm.cmp.lt.i32.s %i2, %i0
  vm.cond_br %i4, ^bb1(), ^bb2()
^bb2:
  vm.return %i3
}
"#;

const DONE: i32 = 0;
const SPIN: i32 = 1;
const RECURSE: i32 = 2;
const ALLOCATE: i32 = 3;
const DIVIDE: i32 = 4;
const FAIL: i32 = 5;
const WAIT: i32 = 6;

/// Counts how many of it are alive.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

impl RefObject for Counted {
    fn type_name(&self) -> &'static str {
        "host.object"
    }
}

/// Never over.
struct Never;

impl Wait for Never {
    fn is_ready(&self) -> bool {
        false
    }

    fn wait(&self, deadline: Option<Instant>) -> bool {
        std::thread::sleep(deadline.unwrap().saturating_duration_since(Instant::now()));
        false
    }

    fn on_ready(&self, _: Box<dyn FnOnce() + Send>) {}
}

struct Host(Arc<AtomicUsize>);

const EXPORTS: [NativeExport; 3] = [
    NativeExport { name: "object", cconv: "0v_r" },
    NativeExport { name: "fails", cconv: "0r_v" },
    NativeExport { name: "gate", cconv: "0r_v" },
];

impl NativeModule for Host {
    fn name(&self) -> &str {
        "host"
    }

    fn exports(&self) -> &[NativeExport] {
        &EXPORTS
    }

    fn call(&self, _: &(dyn Any + Send + Sync), ordinal: usize, frame: &mut CallFrame<'_>) -> Result<Flow> {
        match ordinal {
            0 => {
                self.0.fetch_add(1, SeqCst);
                frame.push_ref(Arc::new(Counted(self.0.clone())));
            }
            1 => return Err(Status::unavailable("the host has no time")),
            _ => {
                *frame.resume_slot() = Some(Box::new(Counted(self.0.clone())));
                self.0.fetch_add(1, SeqCst);
                return Ok(Flow::Suspend(Arc::new(Never)));
            }
        }
        Ok(Flow::Done)
    }
}

/// A context and the number of objects alive in it.
fn context(options: &ContextOptions) -> (Context, Arc<AtomicUsize>) {
    let module = assemble(TEXT, "limits.vmasm").unwrap();
    let archive = Archive::copy(&module.bytes, "limits").unwrap();
    let module = BytecodeModule::load(archive, &TypeRegistry::default()).unwrap();
    let alive = Arc::new(AtomicUsize::new(0));
    let host: Arc<Host> = Arc::new(Host(alive.clone()));
    (Context::with_options([host.into(), module.into()], options).unwrap(), alive)
}

fn enter(context: &Context, what: i32, limits: &Limits) -> Result<Vec<Value>> {
    context.function("limits", "enter").unwrap().invoke_limited(vec![what.into(), 7.into()], limits)
}

fn count(context: &Context, turns: i32, limits: &Limits) -> Result<Vec<Value>> {
    context.function("limits", "count").unwrap().invoke_limited(vec![turns.into()], limits)
}

/// A call that reaches a limit; afterwards nothing is alive and the context works.
fn ends(context: &Context, alive: &AtomicUsize, what: i32, limits: &Limits) -> Status {
    let status = enter(context, what, limits).unwrap_err();
    assert_eq!(alive.load(SeqCst), 0, "{status}");
    assert_eq!(format!("{:?}", enter(context, DONE, &Limits::default()).unwrap()), "[i32=7]");
    assert_eq!(alive.load(SeqCst), 0);
    status
}

#[test]
fn every_limit_ends_the_call_and_leaves_nothing() {
    let (context, alive) = context(&ContextOptions { memory: Some(3 << 20), ..ContextOptions::default() });
    let quota = context.quota().unwrap();
    let idle = quota.used();
    let fuel = Limits { fuel: Some(100_000), ..Limits::default() };
    let timeout = Limits { timeout: Some(Duration::from_millis(30)), ..Limits::default() };
    let deadline = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    let depth = Limits { max_stack_depth: Some(20), ..Limits::default() };
    for (what, limits, code, limit, text) in [
        (SPIN, &fuel, StatusCode::ResourceExhausted, Limit::Fuel, "more than 100000 instructions"),
        (RECURSE, &fuel, StatusCode::ResourceExhausted, Limit::Fuel, "out of fuel"),
        (SPIN, &timeout, StatusCode::DeadlineExceeded, Limit::Time, "before its deadline"),
        (WAIT, &timeout, StatusCode::DeadlineExceeded, Limit::Time, "before its deadline"),
        (DONE, &deadline, StatusCode::DeadlineExceeded, Limit::Time, "before its deadline"),
        (RECURSE, &depth, StatusCode::ResourceExhausted, Limit::Stack, "20 calls are active"),
        (RECURSE, &Limits::default(), StatusCode::ResourceExhausted, Limit::Stack, "1048576 bytes"),
        (ALLOCATE, &Limits::default(), StatusCode::ResourceExhausted, Limit::Memory, "limit of 3145728 bytes"),
    ] {
        let status = ends(&context, &alive, what, limits);
        assert_eq!((status.code(), status.limit()), (code, Some(limit)), "{status}");
        assert!(status.message().contains(text), "{status}");
        let trace = status.to_string();
        assert!(trace.contains("bytecode limits@0:") && trace.lines().count() < 40, "{status}");
        assert_eq!(quota.used(), idle, "{status}");
    }
}

#[test]
fn other_errors_leave_nothing_either() {
    let (context, alive) = context(&ContextOptions::default());
    for (what, text) in [(DIVIDE, "division by zero"), (FAIL, "no time")] {
        let status = ends(&context, &alive, what, &Limits::default());
        assert!(status.message().contains(text) && status.limit().is_none(), "{status}");
    }
    // Dropped in the middle, suspended.
    let mut invocation = context.function("limits", "enter").unwrap().start(vec![WAIT.into(), 7.into()]).unwrap();
    assert!(matches!(invocation.step().unwrap(), Step::Pending(Some(_))));
    assert!(alive.load(SeqCst) > 3);
    drop(invocation);
    assert_eq!(alive.load(SeqCst), 0);
}

#[test]
fn fuel_is_what_is_executed_at_least_and_always_the_same() {
    let (context, _) = context(&ContextOptions::default());
    let function = context.function("limits", "count").unwrap();
    for turns in [1, 2, 1000, 100_000] {
        let mut invocation = function.start(vec![turns.into()]).unwrap();
        let Step::Done(results) = invocation.step().unwrap() else { panic!("nothing to wait for") };
        let sum = (0..i64::from(turns)).sum::<i64>() as i32;
        assert_eq!(format!("{results:?}"), format!("[i32={sum}]"));
        // The function has 7 instructions; each further turn goes back over 4.
        let used = invocation.fuel_used();
        assert_eq!(used, 7 + 4 * (turns as u64 - 1));
        let limit = |fuel| Limits { fuel: Some(fuel), ..Limits::default() };
        assert!(count(&context, turns, &limit(used)).is_ok());
        assert!(count(&context, turns, &limit(used - 1)).is_err());
    }
}

/// One function for each operation whose work grows with a length; they take the length and something to keep alive.
fn bulk_context() -> Context {
    let mut text = String::from(
        "vm.module @bulk version 0\nvm.type i32\nvm.type i64\nvm.type !vm.buffer\nvm.type !vm.opaque\n\
         vm.type !vm.list<!vm.opaque>\nvm.type !vm.list<i32>\n",
    );
    for (name, operation) in BULK {
        text += &format!(
            "vm.export @{name}\nvm.func @{name}(%i0:1: i64, %r0: !vm.opaque) -> (i32) {{\n^bb0:\n  \
             %i4 = vm.const.i32 64\n  %i6:7 = vm.const.i64.zero\n  %i5 = vm.trunc.i64.i32 %i0:1\n  \
             %r1 = vm.buffer.alloc %i0:1, %i4\n  %r2 = vm.buffer.alloc %i0:1, %i4\n  \
             %r3 = vm.list.alloc %i4 : !vm.list<!vm.opaque>\n  {operation}\n  vm.return %i4\n}}\n"
        );
    }
    let module = assemble(&text, "bulk.vmasm").unwrap();
    let module = BytecodeModule::load(Archive::copy(&module.bytes, "b").unwrap(), &TypeRegistry::default()).unwrap();
    Context::with_options([module.into()], &ContextOptions { memory: Some(8 << 30), ..ContextOptions::default() })
        .unwrap()
}

const BULK: [(&str, &str); 9] = [
    ("hash", "%i8:9 = vm.buffer.hash %r1, %i6:7, %i0:1"),
    ("compare", "%i8 = vm.buffer.compare %r1, %i6:7, %r2, %i6:7, %i0:1"),
    ("clone", "%r4 = vm.buffer.clone %r1, %i6:7, %i0:1, %i4"),
    ("copy", "vm.buffer.copy %r1, %i6:7, %r2, %i6:7, %i0:1"),
    ("fill8", "vm.buffer.fill.i8 %r1, %i6:7, %i0:1, %i4"),
    (
        "fill32",
        "%i12:13 = vm.const.i64 8\n  %i10:11 = vm.div.i64.s %i0:1, %i12:13\n  vm.buffer.fill.i32 %r1, %i6:7, %i10:11, %i4",
    ),
    (
        "fill64",
        "%i12:13 = vm.const.i64 8\n  %i10:11 = vm.div.i64.s %i0:1, %i12:13\n  vm.buffer.fill.i64 %r1, %i6:7, %i10:11, %i0:1",
    ),
    ("resize", "vm.list.resize %r3, %i5"),
    ("regrow", "vm.list.resize %r3, %i4\n  vm.list.resize %r3, %i5"),
];

/// One instruction may have as much to do as a loop; it ends like one.
#[test]
fn one_long_instruction_has_a_deadline_too() {
    let context = bulk_context();
    let quota = context.quota().unwrap();
    let idle = quota.used();
    let alive = Arc::new(AtomicUsize::new(1));
    for (name, _) in BULK {
        let function = context.function("bulk", name).unwrap();
        let limits = Limits { timeout: Some(Duration::from_millis(1)), ..Limits::default() };
        let length = if name.starts_with("re") { 1_i64 << 24 } else { 1 << 28 };
        let counted = Value::Ref(Some(Arc::new(Counted(alive.clone()))));
        alive.store(1, SeqCst);
        let status = function.invoke_limited(vec![length.into(), counted], &limits).unwrap_err();
        assert_eq!(
            (status.code(), status.limit()),
            (StatusCode::DeadlineExceeded, Some(Limit::Time)),
            "{name} {status}"
        );
        assert_eq!((alive.load(SeqCst), quota.used()), (0, idle), "{name}");
        assert!(function.invoke_limited(vec![4096_i64.into(), Value::NULL], &Limits::default()).is_ok(), "{name}");
        assert_eq!(quota.used(), idle, "{name}");
    }
}

/// Nor does it begin without the fuel that it costs.
#[test]
fn one_long_instruction_needs_fuel_first() {
    let context = bulk_context();
    for (name, _) in BULK {
        let function = context.function("bulk", name).unwrap();
        let length = if name.starts_with("re") { 1_i64 << 20 } else { 1 << 24 };
        let run = |fuel| {
            let mut call = function.start_limited(vec![length.into(), Value::NULL], &fuel).unwrap();
            (call.step().map(|_| ()), call.fuel_used())
        };
        let (outcome, used) = run(Limits::default());
        assert!(outcome.is_ok() && used > length as u64 / 32 / 8, "{name} {used}");
        let limit = |fuel| Limits { fuel: Some(fuel), ..Limits::default() };
        assert!(run(limit(used)).0.is_ok(), "{name}");
        for fuel in [used - 1, 20] {
            let (outcome, used) = run(limit(fuel));
            assert_eq!(outcome.unwrap_err().limit(), Some(Limit::Fuel), "{name}");
            assert!(used <= fuel, "{name}: {used} of {fuel}");
        }
    }
}

thread_local! {
    static STOP: Cell<bool> = const { Cell::new(false) };
}

/// What Ctrl-C does: the embedding process says no to a call that goes on.
#[test]
fn an_interrupt_leaves_nothing() {
    let hook = || if STOP.get() { Err(Status::cancelled("stop")) } else { Ok(()) };
    assert!(interrupt::set_hook(hook));
    assert!(!interrupt::set_hook(hook));
    let (context, alive) = context(&ContextOptions::default());
    for what in [SPIN, WAIT] {
        STOP.set(true);
        let status = enter(&context, what, &Limits::default()).unwrap_err();
        STOP.set(false);
        assert_eq!((status.code(), status.message()), (StatusCode::Cancelled, "stop"));
        assert_eq!(alive.load(SeqCst), 0);
        assert_eq!(format!("{:?}", enter(&context, DONE, &Limits::default()).unwrap()), "[i32=7]");
    }
    let context = bulk_context();
    STOP.set(true);
    let status = context.function("bulk", "hash").unwrap().invoke(vec![(1_i64 << 30).into(), Value::NULL]).unwrap_err();
    STOP.set(false);
    assert_eq!((status.code(), status.message()), (StatusCode::Cancelled, "stop"));
}

/// Limits of the context hold for calls without their own.
#[test]
fn calls_inherit_the_limits_of_their_context() {
    let limits = Limits { fuel: Some(50_000), max_stack_depth: Some(10), ..Limits::default() };
    let (context, alive) = context(&ContextOptions { limits, ..ContextOptions::default() });
    let function = context.function("limits", "enter").unwrap();
    let status = function.invoke(vec![SPIN.into(), 1.into()]).unwrap_err();
    assert_eq!(status.limit(), Some(Limit::Fuel));
    let more = Limits { fuel: Some(u64::MAX), timeout: Some(Duration::from_millis(20)), ..Limits::default() };
    let status = function.invoke_limited(vec![SPIN.into(), 1.into()], &more).unwrap_err();
    assert_eq!(status.limit(), Some(Limit::Time));
    // Without a time, which a thread that is put aside may reach first.
    let more = Limits { timeout: None, ..more };
    let status = function.invoke_limited(vec![RECURSE.into(), 1.into()], &more).unwrap_err();
    assert_eq!(status.limit(), Some(Limit::Stack));
    assert_eq!(alive.load(SeqCst), 0);
}

/// A module cannot hang the creation or the end of its context.
#[test]
fn initializers_and_deinitializers_have_the_limits_of_the_context() {
    let load = |name: &str| {
        let text = format!(
            "vm.module @m version 0\nvm.export @{name}\nvm.func @{name}() -> () {{\n^bb0:\n  vm.br ^bb0()\n^bb1:\n  vm.return\n}}\n"
        );
        let module = assemble(&text, "m.vmasm").unwrap();
        BytecodeModule::load(Archive::copy(&module.bytes, "m").unwrap(), &TypeRegistry::default()).unwrap()
    };
    let limits = Limits { fuel: Some(10_000), ..Limits::default() };
    let options = ContextOptions { limits, ..ContextOptions::default() };
    let status = Context::with_options([load("__init").into()], &options).unwrap_err();
    assert_eq!(status.limit(), Some(Limit::Fuel));
    drop(Context::with_options([load("__deinit").into()], &options).unwrap());
}

/// Straight code is charged on its way, so that it is never long before somebody looks.
#[test]
fn long_functions_are_charged_in_parts() {
    let mut text = String::from("vm.module @m version 0\nvm.export @f\nvm.func @f(%i0: i32) -> (i32) {\n^bb0:\n");
    for _ in 0..20_000 {
        text += "  %i0 = vm.add.i32 %i0, %i0\n";
    }
    text += "  vm.return %i0\n}\n";
    let module = assemble(&text, "m.vmasm").unwrap();
    let module = BytecodeModule::load(Archive::copy(&module.bytes, "m").unwrap(), &TypeRegistry::default()).unwrap();
    let context = Context::new([module.into()]).unwrap();
    let function = context.function("m", "f").unwrap();
    let mut invocation = function.start(vec![1.into()]).unwrap();
    assert!(matches!(invocation.step().unwrap(), Step::Done(_)));
    assert!((20_001..22_000).contains(&invocation.fuel_used()), "{}", invocation.fuel_used());
    let limits = Limits { fuel: Some(10_000), ..Limits::default() };
    assert!(function.invoke_limited(vec![1.into()], &limits).is_err());
}
