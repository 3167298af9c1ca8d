//! Functions made to take long: work and code are in proportion to their bytecode, whatever they look like.

use std::cell::Cell;
use std::fmt::Write as _;
use std::sync::Arc;

use super::super::BytecodeModule;
use super::super::flow::Meter;
use super::{metered, translate};
use crate::archive::Archive;
use crate::asm::assemble;
use crate::status::Status;
use crate::types::TypeRegistry;

/// Most work for each byte of these functions; none can take more than 256, see docs/reference/safety_model.md.
const WORK: usize = 32;
/// Most bytes of code for each byte of bytecode; docs/reference/safety_model.md says so too.
const CODE: usize = 24;
/// Beside these, in any case.
const FREE: (usize, usize) = (1 << 14, 128);

fn load(text: &str) -> Arc<BytecodeModule> {
    let module = assemble(text, "adversary.vmasm").unwrap();
    let archive = Archive::copy(&module.bytes, "adversary").unwrap();
    BytecodeModule::load(archive, &TypeRegistry::default()).unwrap()
}

/// A module whose first function has `parameters`, `results`, and `body` behind its first marker.
fn function(parameters: &str, results: &str, body: &str, rest: &str) -> String {
    format!(
        "vm.module @m version 0\nvm.type !vm.buffer\n{rest}vm.func @f({parameters}) -> ({results}) {{\n^bb0:\n{body}}}\n"
    )
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(", ")
}

fn lines(range: std::ops::RangeInclusive<usize>, line: impl Fn(usize) -> String) -> String {
    range.fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "{}", line(number));
        text
    })
}

fn chain(n: usize) -> String {
    let blocks = lines(2..=n, |k| format!("^bb{k}:\n  vm.br ^bb{}()", k - 1));
    let body = format!("  vm.br ^bb{n}()\n^bb1:\n  vm.discard.refs %r0\n  vm.return %i0\n{blocks}");
    function("%r0: !vm.buffer", "i32", &body, "")
}

fn chain_of_choices(n: usize) -> String {
    let blocks = lines(2..=n, |k| format!("^bb{k}:\n  vm.cond_br %i1, ^bb{}(), ^bb{}()", k - 1, k - 1));
    function("%i0: i32", "i32", &format!("  vm.br ^bb{n}()\n^bb1:\n  vm.return %i0\n{blocks}"), "")
}

fn forwards_and_once_back(n: usize) -> String {
    let blocks =
        lines(1..=n, |k| format!("^bb{k}:\n  %i{k} = vm.add.i32 %i{}, %i{}\n  vm.br ^bb{}()", k - 1, k / 2, k + 1));
    let end = format!("^bb{}:\n  vm.cond_br %i0, ^bb1(), ^bb{}()\n^bb{}:\n  vm.return %i0\n", n + 1, n + 2, n + 2);
    function("%i0: i32", "i32", &format!("  vm.br ^bb1()\n{blocks}{end}"), "")
}

fn nested_loops(n: usize) -> String {
    let down = lines(1..=n, |k| format!("^bb{k}:\n  vm.br ^bb{}()", k + 1));
    let up = lines(n + 1..=2 * n, |k| format!("^bb{k}:\n  vm.cond_br %i0, ^bb{}(), ^bb{}()", 2 * n + 1 - k, k + 1));
    let body = format!("  vm.br ^bb1()\n{down}{up}^bb{}:\n  vm.discard.refs %r0\n  vm.return %i0\n", 2 * n + 1);
    function("%i0: i32, %r0: !vm.buffer", "i32", &body, "")
}

/// Blocks that lead to any others, with registers and references of their own.
fn tangle(n: usize) -> String {
    let registers = 2000;
    let blocks = lines(1..=n, |k| {
        let (one, other, register) = (1 + k * 7919 % n, 1 + (n - k) * 104_729 % n, k % registers);
        format!(
            "^bb{k}:\n  %i{register} = vm.add.i32 %i{}, %i{}\n  %r{register} = vm.const.ref.zero\n  \
             vm.cond_br %i{register}, ^bb{one}(), ^bb{other}()",
            k * 31 % registers,
            k * 17 % registers
        )
    });
    let end = format!("^bb{}:\n  vm.return %i0\n", n + 1);
    function("%i0: i32", "i32", &format!("  vm.cond_br %i0, ^bb1(), ^bb{}()\n{blocks}{end}", n / 2), "")
}

fn tables(n: usize) -> String {
    let tables = 10;
    let cases = list(n / tables, |k| format!("{k}: ^bb{}(%i0->%i{})", 1 + k % tables, k % 4000));
    let blocks = lines(1..=tables, |k| format!("^bb{k}:\n  vm.br_table %i0 {{ default: ^bb{}(), {cases} }}", k + 1));
    let end = format!("^bb{}:\n  vm.return %i0\n", tables + 1);
    function("%i0: i32", "i32", &format!("  vm.br ^bb1()\n{blocks}{end}"), "")
}

fn copies(n: usize) -> String {
    let one = list(n, |_| "%i0->%i1".into());
    let other = list(n, |_| "%i2->%i3".into());
    let body = format!("  vm.cond_br %i4, ^bb1({one}), ^bb1({other})\n^bb1:\n  vm.return %i0\n");
    function("%i0: i32", "i32", &body, "")
}

/// Many branches to a block that a branch could be replaced by.
fn ways_to_copies(n: usize) -> String {
    let one = list(n, |_| "%i0->%i1".into());
    let blocks = lines(3..=n, |k| format!("^bb{k}:\n  vm.br ^bb1()"));
    let body =
        format!("  vm.br ^bb1()\n^bb1:\n  vm.cond_br %i4, ^bb1({one}), ^bb2({one})\n^bb2:\n  vm.return %i0\n{blocks}");
    function("%i0: i32", "i32", &body, "")
}

/// As above, with few copies.
fn ways_to_few_copies(n: usize) -> String {
    let blocks = lines(3..=n, |k| format!("^bb{k}:\n  vm.br ^bb1()"));
    let body = format!(
        "  vm.br ^bb1()\n^bb1:\n  vm.cond_br %i4, ^bb1(%i0->%i1), ^bb2(%i2->%i0)\n^bb2:\n  vm.return %i0\n{blocks}"
    );
    function("%i0: i32", "i32", &body, "")
}

fn returns(parameters: &str, refs: usize, n: usize) -> String {
    let touch = lines(1..=refs, |k| format!("  %r{} = vm.const.ref.rodata 0", k - 1));
    let blocks = lines(1..=n, |k| {
        format!(
            "^bb{}:\n  vm.cond_br %i0, ^bb{}(), ^bb{}()\n^bb{}:\n  vm.return %i0",
            2 * k - 1,
            2 * k,
            2 * k + 1,
            2 * k
        )
    });
    let body = format!("{touch}  vm.br ^bb1()\n{blocks}^bb{}:\n  vm.return %i0\n", 2 * n + 1);
    function(parameters, "i32", &body, "vm.rodata[0] = 01\n")
}

fn returns_with_references(n: usize) -> String {
    returns("%i0: i32", n.min(8000), n)
}

fn returns_with_arguments(n: usize) -> String {
    returns(&format!("%i0: i32, {}", list(64, |k| format!("%r{k}: !vm.buffer"))), 0, n)
}

fn returned_and_passed(n: usize) -> String {
    let n = n.min(4000);
    let (types, names) = (list(n, |_| "!vm.buffer".into()), list(n, |k| format!("%R{k}")));
    let (plain, taken) = (list(n, |k| format!("%r{k}")), list(n, |k| format!("%r{k}: !vm.buffer")));
    let body = format!("  {plain} = vm.call @f({plain})\n  {plain} = vm.call @f({names})\n  vm.return {plain}\n");
    function(&taken, &types, &body, "")
}

fn constants_and_arguments(n: usize) -> String {
    let n = n.min(7000);
    let body = lines(0..=n, |k| format!("  %i{} = vm.const.i32 {k}", n + k));
    function(&list(n, |k| format!("%i{k}: i32")), "i32", &format!("{body}  vm.return %i{n}\n"), "")
}

fn one_constant_a_block(n: usize) -> String {
    let many = lines(0..=n.min(8000), |k| format!("  %i{k} = vm.const.i32 {k}"));
    let blocks = lines(1..=n, |k| format!("^bb{k}:\n  %i0 = vm.const.i32 {k}\n  vm.br ^bb{}()", k + 1));
    function("%i0: i32", "i32", &format!("{many}  vm.br ^bb1()\n{blocks}^bb{}:\n  vm.return %i0\n", n + 1), "")
}

/// A name, and the module of a size.
type Family = (&'static str, fn(usize) -> String);

/// A bit of everything, at random.
fn mixture(n: usize) -> String {
    let (registers, mut state) = (60 + n, 0x9E37_79B9_7F4A_7C15u64 ^ n as u64);
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut body = String::from("  vm.br ^bb1()\n");
    for block in 1..=n {
        let mut copies = || {
            let count = if random(8) == 0 { random(40) } else { random(3) };
            let one = |_| {
                let kind = if random(2) == 0 { 'r' } else { 'i' };
                format!("%{kind}{}->%{kind}{}", random(registers), random(registers))
            };
            (0..count).map(one).collect::<Vec<_>>().join(", ")
        };
        let (first, second, third) = (copies(), copies(), copies());
        let (one, other) = (1 + random(n), 1 + random(n));
        let next = (block + 1).min(n);
        let _ = writeln!(body, "^bb{block}:");
        for _ in 0..random(4) {
            let (one, other, result) = (random(registers), random(registers), random(registers));
            let _ = match random(4) {
                0 => writeln!(body, "  %i{result} = vm.add.i32 %i{one}, %i{other}"),
                1 => writeln!(body, "  %i{result} = vm.const.i32 {one}"),
                2 => writeln!(body, "  %r{result} = vm.const.ref.rodata 0"),
                _ => writeln!(body, "  vm.discard.refs %r{one}, %r{other}"),
            };
        }
        let _ = match random(6) {
            0 => writeln!(body, "  vm.return %i{}", random(registers)),
            1 => writeln!(body, "  vm.br ^bb{one}({first})"),
            2 => writeln!(
                body,
                "  vm.br_table %i0 {{ default: ^bb{one}({first}), 0: ^bb{other}({second}), 1: ^bb1({third}) }}"
            ),
            _ => writeln!(body, "  vm.cond_br %i{}, ^bb{next}({first}), ^bb{other}({second})", random(registers)),
        };
    }
    function("%i0: i32, %r0: !vm.buffer", "i32", &body, "vm.rodata[0] = 01\n")
}

const FAMILIES: [Family; 16] = [
    ("mixture", mixture),
    ("chain", chain),
    ("chain of choices", chain_of_choices),
    ("forwards and once back", forwards_and_once_back),
    ("nested loops", nested_loops),
    ("tangle", tangle),
    ("tables", tables),
    ("copies", copies),
    ("ways to copies", ways_to_copies),
    ("ways to few copies", ways_to_few_copies),
    ("returns with references", returns_with_references),
    ("returns with arguments", returns_with_arguments),
    ("returned and passed", returned_and_passed),
    ("constants and arguments", constants_and_arguments),
    ("one constant a block", one_constant_a_block),
    ("nothing", |_| function("%i0: i32", "i32", "  vm.return %i0\n", "")),
];

#[test]
fn work_and_code_are_in_proportion() {
    for (name, text) in FAMILIES {
        for n in [100, 1000, 3000] {
            let module = load(&text(n));
            let (bytes, look) = (module.bytecode_of(0).len(), || Ok(()));
            let meter = Meter::new(&look);
            let code = metered(&module, 0, &meter).unwrap();
            let (work, size) = (meter.total(), code.size());
            println!("{name} {n}: {bytes} bytes, work {} a byte, code {} a byte", work / bytes, size / bytes);
            assert!(work <= FREE.0 + WORK * bytes, "{name} {n}: {bytes} bytes, work {work}");
            assert!(size <= FREE.1 + CODE * bytes, "{name} {n}: {bytes} bytes, code {size}");
        }
    }
}

#[test]
fn whoever_waits_for_it_is_asked() {
    let module = load(&chain_of_choices(8000));
    let asked = Cell::new(0);
    let look = || {
        asked.set(asked.get() + 1);
        Ok(())
    };
    translate(&module, 0, &look).unwrap();
    assert!(asked.get() > 5, "{}", asked.get());
    let failed = module.code(0, &|| Err(Status::cancelled("enough")));
    assert_eq!(failed.err().map(|status| status.to_string()), Some("CANCELLED; enough".into()));
    assert_eq!(module.translated_size(), 0);
    assert!(module.code(0, &|| Ok(())).is_ok());
    // It is there now.
    assert!(module.code(0, &|| Err(Status::cancelled("enough"))).is_ok());
}
