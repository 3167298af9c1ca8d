//! The assembler: the same bytes as iree-as-module, the way back from the disassembler, and what it says of errors.

use std::path::PathBuf;

use tiree_vm::asm::assemble;
use tiree_vm::disasm::{self, Options, Output};
use tiree_vm::{Archive, TypeRegistry};

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn print(bytes: &[u8], output: Output) -> String {
    let archive = Archive::copy(bytes, "module").unwrap();
    disasm::dump(&archive, &Options { output, ..Options::default() }).unwrap()
}

/// Fails with the parts that differ.
fn assert_same(have: &[u8], want: &[u8], what: &str) {
    let def = |bytes| format!("{:#?}", Archive::copy(bytes, "module").unwrap().def());
    assert_eq!(def(have), def(want), "{what}");
    assert!(have == want, "{what}: bytes differ");
}

/// (name, bytes) of the modules in data/ that iree-as-module made of asm/*.vmasm, and their text.
fn assembled_by_the_reference() -> Vec<(String, String, Vec<u8>)> {
    let mut modules = Vec::new();
    for entry in std::fs::read_dir(folder("asm")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(folder("data").join(format!("{name}.vmfb"))).unwrap();
        modules.push((name, std::fs::read_to_string(path).unwrap(), bytes));
    }
    assert!(modules.len() >= 5);
    modules
}

#[test]
fn bytes_are_those_of_the_reference() {
    for (name, text, expected) in assembled_by_the_reference() {
        let module = assemble(&text, &name).unwrap();
        assert_same(&module.bytes, &expected, &name);
    }
}

/// Disassembly does not say how many registers a function has where 64-bit registers are in lists; assembly does.
#[test]
fn disassembly_reads_back() {
    for (name, _, expected) in assembled_by_the_reference() {
        for output in [Output::Disassembly, Output::Assembly] {
            if name == "forms" && output == Output::Disassembly {
                continue;
            }
            let text = print(&expected, output);
            let module = assemble(&text, &name).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
            assert_same(&module.bytes, &expected, &format!("{name}, {output:?}"));
        }
    }
}

/// The module was written by other code than the assembler, with every instruction in it, also those that
/// iree-as-module does not read back. Its container is laid out differently, so its parts are compared.
#[test]
fn every_instruction_reads_back() {
    let bytes = std::fs::read(folder("data").join("every_instruction.vmfb")).unwrap();
    let original = Archive::copy(&bytes, "original").unwrap();
    for output in [Output::Disassembly, Output::Assembly] {
        let module = assemble(&print(&bytes, output), "every").unwrap();
        let copy = Archive::copy(&module.bytes, "copy").unwrap();
        assert!(original.bytecode() == copy.bytecode());
        let again = assemble(&print(&module.bytes, output), "again").unwrap();
        assert!(again.bytes == module.bytes);
    }
    let copy = assemble(&print(&bytes, Output::Assembly), "every").unwrap();
    let copy = Archive::copy(&copy.bytes, "copy").unwrap();
    let (mut have, mut want) = (copy.def().clone(), original.def().clone());
    for i in 0..want.rodata.len() {
        assert_eq!(copy.rodata(i), original.rodata(i));
    }
    for def in [&mut have, &mut want] {
        // Where things are in the file is the writer's choice.
        def.rodata.clear();
        def.bytecode = 0..0;
    }
    assert_eq!(format!("{have:?}"), format!("{want:?}"));
}

#[test]
fn text_that_only_the_reference_writes_reads_as_well() {
    let head = "vm.module @m version 0\nvm.type !vm.buffer\nvm.global.i32 private mutable @g = 0 : i32\n";
    let bytes = |line: &str| {
        let text = format!("{head}vm.func @f() -> () {{\n^bb0:\n  {line}\n  vm.return\n}}\n");
        assemble(&text, "m").unwrap_or_else(|e| panic!("{e}")).bytes
    };
    for (ours, theirs) in [
        ("%i0 = vm.global.load.indirect.i32 .rwdata[%i1]", "%i0 = vm.global.load.indirect.i32 %i1"),
        ("vm.global.store.indirect.i64 %i2:3, .rwdata[%i0]", "vm.global.store.indirect.i64 %i0, %i2:3"),
        (
            "%R0 = vm.global.load.indirect.ref .refs[%i1] : !vm.buffer",
            "%R0=vm.global.load.indirect.ref %i1 : !vm.buffer",
        ),
        (
            "vm.global.store.indirect.ref %R0, .refs[%i1] : !vm.buffer",
            "global.store.indirect.ref %i1 : !vm.buffer, %R0",
        ),
        ("vm.trace \"a // b\"(%i0, %r1)", "vm.trace \"a // b\", %i0, %r1  // said"),
        ("vm.print \"x\"()", "vm.print \"x\" # no operands"),
        ("%i0 = vm.global.load.i32 .rwdata[0]", "%i0 = vm.global.load.i32 @g"),
        ("%r0 = vm.cast.any.ref %R1 : !vm.ref<?> -> !vm.buffer", "%r0 = vm.cast.any.ref %R1 : !a<b> -> !vm.buffer"),
        ("vm.trace c\"say \\\"x\\\"\"(%i0)", "vm.trace \"say \"x\"\"(%i0)"),
        ("vm.print c\"a \\\"b\\\", c\"(%i0)", "vm.print \"a \"b\", c\"(%i0) // and \"d\"("),
        ("vm.br ^bb1()\n^bb1:", "vm.br ^bb1 \n^bb1: // next"),
        ("%i1 = vm.const.i32 -2", "[0000000a]  %i1 = vm.const.i32 0xFFFFFFFE"),
    ] {
        assert!(bytes(ours) == bytes(theirs), "{ours} and {theirs}");
    }
}

/// As the reference reads them; a quoted part of a type is no comment.
#[test]
fn comments_end_types_and_pairs_may_have_blanks() {
    let module = |types: &str, code: &str| {
        let text = format!("vm.module @m version 0\n{types}vm.func @f() -> () {{\n^bb0:\n{code}  vm.return\n}}\n");
        assemble(&text, "m").unwrap_or_else(|e| panic!("{text}{e}")).bytes
    };
    let plain = module("vm.type i32\n", "");
    for comment in [" // c", " # c", "#c", "//c", "\t# \"c\""] {
        assert_same(&module(&format!("vm.type i32{comment}\n"), ""), &plain, comment);
    }
    for name in ["!x<\"#\">", "!x<\"//\">"] {
        let bytes = module(&format!("vm.type {name} # c\n"), "");
        assert_eq!(Archive::copy(&bytes, "m").unwrap().def().types, [name]);
    }
    let list = "  %i0 = vm.const.i32 1\n  %r0 = vm.list.alloc %i0 : !vm.list<i32>";
    assert_same(&module("", &format!("{list}#c\n")), &module("", &format!("{list}\n")), "an operand");
    for pair in ["%i4:5", "%i4: 5", "%i4 :5", "%i4\t : 5"] {
        let have = module("", &format!("  {pair} = vm.const.i64 1\n  {pair} = vm.add.i64 {pair}, {pair}\n"));
        assert_same(&have, &module("", "  %i4:5 = vm.const.i64 1\n  %i4:5 = vm.add.i64 %i4:5, %i4:5\n"), pair);
    }
}

/// Columns are counted once: this took half a minute.
#[test]
fn long_lines_have_columns() {
    let cases: Vec<String> = (0..60_000).map(|case| format!("{case}: ^bb1()")).collect();
    let text = format!(
        "vm.module @m\nvm.func @f(%i0: i32) -> () {{\n^bb0:\n  vm.br_table %i0 {{ default: ^bb1(), {} }}\n^bb1:\n  \
         vm.return\n}}\n",
        cases.join(", ")
    );
    assemble(&text, "m").unwrap();
    let wrong = text.replace("59999: ^bb1()", "59999: bb1()");
    let error = assemble(&wrong, "m").unwrap_err().to_string();
    let column = wrong.lines().nth(3).unwrap().find("59999: bb1").unwrap() + 8;
    assert!(error.contains(&format!("m:4:{column}: expected a block label")), "{}", &error[..200]);
}

#[test]
fn numbers_keep_their_bits() {
    let text = "vm.module @m version 0\nvm.func @f() -> () {\n^bb0:\n  %i0 = vm.const.f32 -nan(0x12345)\n  \
                %i1 = vm.const.f32 snan(0x1)\n  %i2:3 = vm.const.f64 snan(0x7)\n  %i4 = vm.const.f32 1e-45\n  \
                %i5 = vm.const.f32 -0\n  %i6 = vm.const.f32 nan\n  vm.fail %i6, c\"say \\\"x\\\"\\n\\xff\"\n}\n";
    let module = assemble(text, "m").unwrap();
    for bits in [0xFFC1_2345u32, 0x7F80_0001, 1, 0x8000_0000, 0x7FC0_0000] {
        assert!(module.bytes.windows(4).any(|w| w == bits.to_le_bytes()), "{bits:#x}");
    }
    assert!(module.bytes.windows(11).any(|w| w == b"\x09\0say \"x\"\n\xFF"));
    let again = assemble(&print(&module.bytes, Output::Disassembly), "m").unwrap();
    assert!(again.bytes == module.bytes);
}

#[test]
fn positions_lead_back_to_the_text() {
    let text = "vm.module @m\nvm.func @f() -> () {\n^bb0:\n  %i0 = vm.const.i32 5\n\tvm.return\n}\n";
    let module = assemble(text, "m").unwrap();
    let at = |pc| module.position(0, pc).map(|p| (p.line, p.column));
    assert_eq!((at(0), at(1), at(7), at(8)), (Some((4, 3)), Some((4, 3)), Some((4, 3)), Some((5, 2))));
    assert_eq!(module.position(1, 0), None);
}

/// data/assembly_errors.txt: a body or module with `\n` for line breaks, `->`, and how the message begins.
#[test]
fn errors_say_where_and_what() {
    let (mut count, mut wrong) = (0, Vec::new());
    for line in include_str!("data/assembly_errors.txt").lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        let (text, expected) = line.split_once(" => ").unwrap();
        let text = text.replace("\\n", "\n");
        let whole = match text.strip_prefix("body ") {
            Some(body) => format!(
                "vm.module @m\nvm.type i32\nvm.import @other.f cconv \"0i_i\"\nvm.global.i32 @g\nvm.func @f() -> () \
                 {{\n^bb0:\n  {body}\n  vm.return\n}}\n"
            ),
            None => text,
        };
        let verified = assemble(&whole, "t").and_then(|module| module.verify(&whole, "t", &TypeRegistry::default()));
        let message = match verified {
            Ok(_) => "accepted".to_owned(),
            Err(status) => status.to_string(),
        };
        if !message.starts_with(&format!("INVALID_ARGUMENT; t:{expected}")) {
            wrong.push(format!("{line}\n  {message}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 60);
}
