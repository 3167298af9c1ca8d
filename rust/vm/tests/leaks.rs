//! Instructions that take references fail, or the call ends behind them: nothing that they held is left alive.
//!
//! Every case is a line of assembly in the inner of two functions. Its registers hold counted objects, a list of one, and
//! buffers and lists whose memory is counted; one argument was moved into it, one is lent. The rows of
//! `isa/instructions.txt` say which instructions must have a case.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Instant;

use tiree_vm::asm::assemble;
use tiree_vm::{
    Archive, BytecodeModule, CallFrame, Context, ContextOptions, Flow, NativeExport, NativeModule, RefObject, Result,
    Status, Step, TypeRegistry, Wait,
};

const ROWS: &str = include_str!("../../../isa/instructions.txt");

/// Registers of the inner function: numbers 1, -1, 100, 0, then as i64 1000, 0, -1, 4; references: `r0` moved in, `r1` lent
/// (both counted), `r2` a list with a counted object, `r3` a buffer of 4 bytes, `r4` a read-only one, `r5` a list of one
/// i32, `r6` a list with an element that is not set, `r7` null, `r8` a list of one buffer (null).
const HEAD: &str = r#"
vm.module @leaks version 0
vm.type i32
vm.type !vm.opaque
vm.type !vm.buffer
vm.type !vm.list<i32>
vm.type !vm.list<!vm.opaque>
vm.type !vm.list<!vm.buffer>
vm.import @host.object cconv "0v_r"
vm.import @host.fails cconv "0rri_r"
vm.import @host.span cconv "0iCrD_r"
vm.import @host.gate cconv "0rri_r"
vm.import @host.later cconv "0rri_r"
vm.import optional @host.missing cconv "0rri_r"
vm.import optional @host.none cconv "0iCrD_r"
vm.rodata[0] = 0102030405060708
vm.global.ref mutable @slot : !vm.buffer

vm.export @outer
vm.func @outer() -> () {
^bb0:
  %i0 = vm.const.i32 1
  %r0 = vm.call @host.object()
  %r1 = vm.call @host.object()
  %r2 = vm.call @host.object()
  %r3 = vm.call @leaks:1(%R0, %r1)
  vm.fail %i0, "the end"
}

vm.func @failing(%r0: !vm.opaque, %r1: !vm.opaque, %i0: i32) -> (!vm.opaque) {
^bb0:
  %r2 = vm.call @host.object()
  %i1 = vm.const.i32.zero
  %i0 = vm.div.i32.s %i0, %i1
  vm.return %R2
}
"#;

const INNER: &str = r#"
vm.func @inner(%r0: !vm.opaque, %r1: !vm.opaque) -> (!vm.opaque) {
^bb0:
  %i0 = vm.const.i32 1
  %i1 = vm.const.i32 -1
  %i2 = vm.const.i32 100
  %i3 = vm.const.i32.zero
  %i4:5 = vm.const.i64 1000
  %i6:7 = vm.const.i64.zero
  %i8:9 = vm.const.i64 -1
  %i10:11 = vm.const.i64 4
  %r2 = vm.list.alloc %i0 : !vm.list<!vm.opaque>
  vm.list.resize %r2, %i0
  %r9 = vm.call @host.object()
  vm.list.set.ref %r2, %i3, %R9
  %r3 = vm.buffer.alloc %i10:11, %i0
  %r4 = vm.const.ref.rodata 0
  %r5 = vm.list.alloc %i0 : !vm.list<i32>
  vm.list.resize %r5, %i0
  %r6 = vm.list.alloc %i0 : !vm.list<!vm.opaque>
  vm.list.resize %r6, %i0
  %r8 = vm.list.alloc %i0 : !vm.list<!vm.buffer>
  vm.list.resize %r8, %i0
"#;

/// Counts how many of it are alive.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(alive: &Arc<AtomicUsize>) -> Counted {
        alive.fetch_add(1, SeqCst);
        Counted(alive.clone())
    }
}

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

/// A wait that is over when asked for, or never.
struct Over(bool);

impl Wait for Over {
    fn is_ready(&self) -> bool {
        self.0
    }

    fn wait(&self, _: Option<Instant>) -> bool {
        self.0
    }

    fn on_ready(&self, _: Box<dyn FnOnce() + Send>) {}
}

struct Host(Arc<AtomicUsize>);

const EXPORTS: [NativeExport; 5] = [
    NativeExport { name: "object", cconv: "0v_r" },
    NativeExport { name: "fails", cconv: "0rri_r" },
    NativeExport { name: "span", cconv: "0iCrD_r" },
    NativeExport { name: "gate", cconv: "0rri_r" },
    NativeExport { name: "later", cconv: "0rri_r" },
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
            0 => frame.push_ref(Arc::new(Counted::new(&self.0))),
            // Fails with an argument taken and a result given.
            1 => {
                let first = frame.any_ref()?;
                frame.push_any_ref(first);
                return Err(Status::unavailable("the host has no time"));
            }
            2 => {
                frame.i32()?;
                frame.span()?;
                let _taken = frame.any_ref()?;
                return Err(Status::unavailable("the host has no time"));
            }
            _ if frame.resume_slot().take().is_some() => return Err(Status::unavailable("the host has no time")),
            // Waits, with an object of its own.
            _ => {
                *frame.resume_slot() = Some(Box::new(Counted::new(&self.0)));
                return Ok(Flow::Suspend(Arc::new(Over(ordinal == 4))));
            }
        }
        Ok(Flow::Done)
    }
}

/// A context whose inner function has `lines`, and the number of counted objects alive.
fn context(lines: &str) -> (Context, Arc<AtomicUsize>) {
    let text = format!("{INNER}  {lines}\n  vm.fail %i0, \"the end\"\n}}\n");
    // `inner` is function 1: the text of `failing` comes last.
    let at = HEAD.find("vm.func @failing").unwrap();
    let text = format!("{}{text}\n{}", &HEAD[..at], &HEAD[at..]);
    let module = assemble(&text, "leaks.vmasm").unwrap_or_else(|status| panic!("{lines}: {status}"));
    let archive = Archive::copy(&module.bytes, "leaks").unwrap();
    let module = BytecodeModule::load(archive, &TypeRegistry::default());
    let module = module.unwrap_or_else(|status| panic!("{lines}: {status}"));
    let alive = Arc::new(AtomicUsize::new(0));
    let options = ContextOptions { memory: Some(1 << 20), ..ContextOptions::default() };
    let host = Arc::new(Host(alive.clone()));
    (Context::with_options([(host as Arc<dyn NativeModule>).into(), module.into()], &options).unwrap(), alive)
}

/// How a call with `lines` fails; nothing of it is left, not even in a second call or when the context ends.
fn failure(lines: &str) -> Status {
    let (context, alive) = context(lines);
    let quota = context.quota().unwrap().clone();
    let function = context.function("leaks", "outer").unwrap();
    let status = function.invoke(vec![]).unwrap_err();
    assert_eq!(alive.load(SeqCst), 0, "{lines}: {status}");
    let used = quota.used();
    let again = function.invoke(vec![]).unwrap_err();
    assert_eq!((alive.load(SeqCst), quota.used()), (0, used), "{lines}: {status}");
    assert_eq!(again.to_string(), status.to_string(), "{lines}");
    drop((function, context));
    assert_eq!(quota.used(), 0, "{lines}: {status}");
    status
}

/// What each type of number is in registers: a result, and a value.
const NUMBERS: [(&str, &str, &str); 4] =
    [("i32", "%i12", "%i0"), ("i64", "%i12:13", "%i4:5"), ("f32", "%i12", "%i0"), ("f64", "%i12:13", "%i4:5")];

fn list_cases(cases: &mut Vec<String>) {
    // Null, an object of another kind, a buffer.
    for list in ["%r7", "%r0", "%r3"] {
        cases.push(format!("vm.list.reserve {list}, %i0"));
        cases.push(format!("%i12 = vm.list.size {list}"));
        cases.push(format!("vm.list.resize {list}, %i0"));
        for (number, result, value) in NUMBERS {
            cases.push(format!("{result} = vm.list.get.{number} {list}, %i3"));
            cases.push(format!("vm.list.set.{number} {list}, %i3, {value}"));
        }
        cases.push(format!("%r9 = vm.list.get.ref {list}, %i3 : !vm.buffer"));
        cases.push(format!("%R9 = vm.list.get.ref {list}, %i3 : !vm.buffer"));
        for value in ["%r0", "%R0", "%R2", "%R3", "%R8"] {
            cases.push(format!("vm.list.set.ref {list}, %i3, {value}"));
        }
    }
    cases.push("vm.list.reserve %r2, %i1".into());
    cases.push("vm.list.resize %r2, %i1".into());
    for index in ["%i1", "%i2"] {
        for (number, result, value) in NUMBERS {
            cases.push(format!("{result} = vm.list.get.{number} %r5, {index}"));
            cases.push(format!("vm.list.set.{number} %r2, {index}, {value}"));
        }
        cases.push(format!("%r9 = vm.list.get.ref %r2, {index} : !vm.opaque"));
        cases.push(format!("%R2 = vm.list.get.ref %r2, {index} : !vm.opaque"));
        // An object, the list itself, a list of lists.
        for value in ["%r0", "%R0", "%R2", "%R6"] {
            cases.push(format!("vm.list.set.ref %r2, {index}, {value}"));
        }
    }
    for (number, result, value) in NUMBERS {
        cases.push(format!("{result} = vm.list.get.{number} %r2, %i3"));
        cases.push(format!("{result} = vm.list.get.{number} %r6, %i3"));
        cases.push(format!("vm.list.set.{number} %r8, %i3, {value}"));
    }
    for value in ["%r0", "%R0", "%R1", "%R5"] {
        cases.push(format!("vm.list.set.ref %r5, %i3, {value}"));
        cases.push(format!("vm.list.set.ref %r8, %i3, {value}"));
    }
}

fn buffer_cases(cases: &mut Vec<String>) {
    let elements = [("i8", "%i0"), ("i16", "%i0"), ("i32", "%i0"), ("i64", "%i4:5"), ("f32", "%i0"), ("f64", "%i4:5")];
    let loads =
        [("i8.u", "%i12"), ("i8.s", "%i12"), ("i16.u", "%i12"), ("i16.s", "%i12"), ("i32", "%i12"), ("f32", "%i12")];
    let wide = [("i64", "%i12:13"), ("f64", "%i12:13")];
    for (buffer, offset) in [("%r7", "%i6:7"), ("%r0", "%i6:7"), ("%r2", "%i6:7"), ("%r3", "%i4:5"), ("%r3", "%i8:9")] {
        for (element, result) in loads.iter().chain(&wide) {
            cases.push(format!("{result} = vm.buffer.load.{element} {buffer}, {offset}"));
        }
        for (element, value) in elements {
            cases.push(format!("vm.buffer.store.{element} {value}, {buffer}, {offset}"));
            cases.push(format!("vm.buffer.fill.{element} {buffer}, {offset}, %i10:11, {value}"));
        }
        // The results replace what an operand was, too.
        for result in ["%r9", "%r3", "%r2"] {
            cases.push(format!("{result} = vm.buffer.clone {buffer}, {offset}, %i10:11, %i0"));
        }
        cases.push(format!("vm.buffer.copy {buffer}, {offset}, %r3, %i6:7, %i10:11"));
        cases.push(format!("vm.buffer.copy %r4, %i6:7, {buffer}, {offset}, %i10:11"));
        cases.push(format!("%i12 = vm.buffer.compare {buffer}, {offset}, %r3, %i6:7, %i10:11"));
        cases.push(format!("%i12 = vm.buffer.compare %r3, %i6:7, {buffer}, {offset}, %i10:11"));
        cases.push(format!("%i12:13 = vm.buffer.hash {buffer}, {offset}, %i10:11"));
        if buffer != "%r3" {
            cases.push(format!("%i12:13 = vm.buffer.length {buffer}"));
        }
    }
    for (element, value) in elements {
        cases.push(format!("vm.buffer.store.{element} {value}, %r4, %i6:7"));
        cases.push(format!("vm.buffer.fill.{element} %r4, %i6:7, %i6:7, {value}"));
    }
    // No alignment, and more than the context may have.
    cases.push("%r3 = vm.buffer.alloc %i8:9, %i0".into());
    cases.push("%r9 = vm.buffer.clone %r3, %i6:7, %i10:11, %i2".into());
}

fn typed_cases(cases: &mut Vec<String>) {
    for value in ["%r0", "%R0", "%r2", "%R2"] {
        cases.push(format!("vm.global.store.ref {value}, .refs[0] : !vm.buffer"));
        cases.push(format!("vm.global.store.indirect.ref {value}, .refs[%i3] : !vm.buffer"));
        cases.push(format!("vm.global.store.indirect.ref {value}, .refs[%i1] : !vm.opaque"));
        cases.push(format!("vm.global.store.indirect.ref {value}, .refs[%i2] : !vm.opaque"));
        cases.push(format!("%r9 = vm.cast.any.ref {value} : !vm.ref<?> -> !vm.buffer"));
        cases.push(format!("%r0 = vm.cast.any.ref {value} : !vm.ref<?> -> !vm.buffer"));
        for other in ["%r3", "%R3", "%R7"] {
            cases.push(format!("%r9 = vm.select.ref %i0 ? {value} : {other} -> !vm.buffer"));
            cases.push(format!("%r3 = vm.select.ref %i3 ? {other} : {value} -> !vm.buffer"));
        }
        cases.push(format!("%r9 = vm.switch.ref %i1[%r3, %r7] else {value} -> !vm.buffer"));
        cases.push(format!("%r9 = vm.switch.ref %i3[%r0, %r3] else {value} -> !vm.buffer"));
        cases.push(format!("%r3 = vm.switch.ref %i0[%r3, %r1] else {value} -> !vm.buffer"));
    }
    for slot in [".refs[0]", ".refs[%i3]", ".refs[%i2]"] {
        let indirect = if slot == ".refs[0]" { "" } else { ".indirect" };
        for result in ["%r9", "%R9", "%r0"] {
            cases.push(format!(
                "vm.global.store.ref %r3, .refs[0] : !vm.buffer\n  \
                 {result} = vm.global.load{indirect}.ref {slot} : !vm.list<i32>"
            ));
        }
    }
}

/// Calls that fail, in another function and in the host, with operands moved, lent, named twice and null.
fn call_cases(cases: &mut Vec<String>) {
    for arguments in ["%r0, %r2", "%R0, %R2", "%R0, %r0", "%R2, %R2", "%r7, %R8", "%R1, %r3"] {
        for callee in ["@leaks:2", "@host.fails", "@host.missing"] {
            for result in ["%r9", "%r0", "%r2"] {
                cases.push(format!("{result} = vm.call {callee}({arguments}, %i0)"));
                cases.push(format!("vm.call.yieldable {callee}({arguments}, %i0) -> ^bb1({result})\n^bb1:"));
            }
        }
        cases.push(format!("vm.call.yieldable @host.later({arguments}, %i0) -> ^bb1(%r9)\n^bb1:"));
        for callee in ["@host.span", "@host.none"] {
            let operands = format!("segments[65535, 2](%i0, {arguments})");
            cases.push(format!("%r9 = vm.call.variadic {callee} {operands}"));
            cases.push(format!("vm.call.variadic.yieldable {callee} {operands} -> ^bb1(%r9)\n^bb1:"));
        }
    }
}

/// Instructions that take references and cannot fail: the call fails behind them.
const INFALLIBLE: [&str; 26] = [
    "%i12 = vm.cmp.eq.ref %r0, %r7",
    "%i12 = vm.cmp.ne.ref %r0, %r2",
    "%i12 = vm.cmp.nz.ref %r0",
    "vm.br ^bb1(%R0->%r9, %r2->%r0)\n^bb1:",
    "vm.br ^bb1(%R0->%r2, %R2->%r0)\n^bb1:",
    "vm.cond_br %i0, ^bb1(%R0->%r9, %R2->%r3), ^bb1(%r1->%r2)\n^bb1:",
    "vm.cond_br %i3, ^bb1(%R0->%r9, %R2->%r3), ^bb1(%r1->%r2)\n^bb1:",
    "vm.br_table %i3 { default: ^bb1(%R0->%r9), 0: ^bb1(%R2->%r0) }\n^bb1:",
    "vm.br_table %i1 { default: ^bb1(%R0->%r9), 0: ^bb1(%R2->%r0) }\n^bb1:",
    "vm.yield ^bb1(%R0->%r9, %r2->%r0)\n^bb1:",
    "vm.cond_break %i0, ^bb1(%R0->%r9)\n^bb1:",
    "vm.break ^bb1(%R0->%r9, %R2->%r0)\n^bb1:",
    "vm.trace \"t\", %R0, %r2, %i0",
    "vm.print \"t\", %R2, %r2",
    "vm.discard.refs %r0, %r2, %r7, %r0",
    "vm.discard.refs",
    "%r9 = vm.assign.ref %R0",
    "%r0 = vm.assign.ref %R0",
    "%r0 = vm.assign.ref %r0",
    "%r2 = vm.assign.ref %r3",
    "%r9 = vm.list.get.ref %r2, %i3 : !vm.buffer",
    "%R9 = vm.list.get.ref %r2, %i3 : !vm.opaque",
    "vm.return %R0\n^bb1:",
    "vm.return %r1\n^bb1:",
    "vm.return %R2\n^bb1:",
    "vm.return %r7\n^bb1:",
];

fn failing_cases() -> Vec<String> {
    let mut cases = Vec::new();
    list_cases(&mut cases);
    buffer_cases(&mut cases);
    typed_cases(&mut cases);
    call_cases(&mut cases);
    cases
}

#[test]
fn instructions_that_fail_midway_leave_nothing() {
    for lines in failing_cases() {
        let status = failure(&lines);
        assert!(!status.message().contains("the end"), "{lines} did not fail");
    }
}

#[test]
fn calls_that_fail_afterwards_leave_nothing() {
    for lines in INFALLIBLE {
        let status = failure(lines);
        assert!(status.message().contains("the end"), "{lines}: {status}");
    }
}

/// Every instruction with an operand that can be a reference has a case.
#[test]
fn no_instruction_is_left_out() {
    let mut wanted = BTreeSet::new();
    for row in ROWS.lines().filter(|row| row.starts_with("core ") || row.starts_with("ext_")) {
        let cells: Vec<&str> = row.split(" | ").map(str::trim).collect();
        let takes = |operand: &str| {
            let kind = operand.split_once(':').map_or("", |(_, kind)| kind);
            !operand.starts_with('>') && ["r", "m", "[r]", "[*]", "remap", "cases"].contains(&kind)
        };
        if cells[4].split_whitespace().any(takes) {
            wanted.insert(cells[2].to_owned());
        }
    }
    assert!(wanted.len() > 55, "{wanted:?}");
    let cases = failing_cases().into_iter().chain(INFALLIBLE.map(str::to_owned));
    let covered: BTreeSet<String> = cases
        .flat_map(|lines| lines.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|word| word.strip_prefix("vm.").map(str::to_owned))
        .collect();
    let missing: Vec<_> = wanted.difference(&covered).collect();
    assert!(missing.is_empty(), "without a case: {missing:?}");
}

#[test]
fn suspended_calls_that_are_dropped_leave_nothing() {
    for arguments in ["%r0, %r2", "%R0, %R2", "%R0, %r0", "%r7, %R8", "%R1, %r3"] {
        let lines = format!("vm.call.yieldable @host.gate({arguments}, %i0) -> ^bb1(%r9)\n^bb1:");
        let (context, alive) = context(&lines);
        let quota = context.quota().unwrap().clone();
        let idle = quota.used();
        let function = context.function("leaks", "outer").unwrap();
        drop(function.start(vec![]).unwrap());
        assert_eq!((alive.load(SeqCst), quota.used()), (0, idle), "{lines}");
        let mut calls = [function.start(vec![]).unwrap(), function.start(vec![]).unwrap()];
        for call in &mut calls {
            assert!(matches!(call.step().unwrap(), Step::Pending(Some(_))), "{lines}");
        }
        // In each: what outer holds, what the list holds, and what the host waits with.
        assert!(alive.load(SeqCst) >= 2 * 4, "{lines}");
        let [first, second] = calls;
        drop(first);
        assert!(alive.load(SeqCst) >= 4, "{lines}");
        // The last user of the context is a call that waits.
        drop((function, context));
        drop(second);
        assert_eq!((alive.load(SeqCst), quota.used()), (0, 0), "{lines}");
    }
}

/// A bare yield hands over with all registers full; the call is not taken up again.
#[test]
fn calls_that_yielded_and_are_dropped_leave_nothing() {
    let (context, alive) = context("vm.yield ^bb1(%R0->%r9, %r2->%r0)\n^bb1:");
    let mut call = context.function("leaks", "outer").unwrap().start(vec![]).unwrap();
    assert!(matches!(call.step().unwrap(), Step::Pending(None)));
    assert!(alive.load(SeqCst) >= 4);
    drop(call);
    assert_eq!(alive.load(SeqCst), 0);
}
