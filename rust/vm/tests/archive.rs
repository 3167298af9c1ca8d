//! Files that are not modules, not whole, or changed: what is said about them.

use tiree_vm::{AnyModule, Archive, BytecodeModule, Context, StatusCode, TypeRegistry};

fn read(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/{name}.vmfb", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn refusal(bytes: &[u8], source: &str) -> String {
    Archive::copy(bytes, source).err().map_or_else(|| "accepted".into(), |status| status.to_string())
}

/// Wraps a plain module as the polyglot container does: a local header padded so that the module starts at 64, the
/// member's length taken from the size prefix, then the central directory.
fn zipped(module: &[u8]) -> Vec<u8> {
    let length = u32::from_le_bytes(*module.first_chunk().unwrap());
    let crc = crc32fast::hash(&module[..length as usize]);
    let name = b"module.fb";
    let extra = 64 - 30 - name.len();
    let mut out = vec![0x50, 0x4B, 3, 4, 45, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
    out.extend(crc.to_le_bytes());
    out.extend(length.to_le_bytes());
    out.extend(length.to_le_bytes());
    out.extend((name.len() as u16).to_le_bytes());
    out.extend((extra as u16).to_le_bytes());
    out.extend(name);
    out.extend([0xCA, 0xFE, extra as u8 - 4, 0]);
    out.resize(64, 0);
    out.extend(module);
    let directory = out.len() as u32;
    out.extend([0x50, 0x4B, 1, 2, 30, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0x21, 0]);
    out.extend(crc.to_le_bytes());
    out.extend(length.to_le_bytes());
    out.extend(length.to_le_bytes());
    out.extend((name.len() as u16).to_le_bytes());
    out.extend([0; 16]);
    out.extend(name);
    let size = out.len() as u32 - directory;
    out.extend([0x50, 0x4B, 5, 6, 0, 0, 0, 0, 1, 0, 1, 0]);
    out.extend(size.to_le_bytes());
    out.extend(directory.to_le_bytes());
    out.extend([0, 0]);
    out
}

#[test]
fn files_that_are_no_modules() {
    assert_eq!(refusal(b"", "x.vmfb"), "INVALID_ARGUMENT; x.vmfb is empty (0 bytes), not a module.");
    assert!(refusal(b"hello, this is text and no module", "x.vmfb").starts_with(
        "INVALID_ARGUMENT; x.vmfb is not a module (starts with \"hell\"; expected a ZIP or module header)."
    ));
    assert!(refusal(b"vm.module @m version 0\nvm.export @f\n", "m.vmasm").starts_with(
        "INVALID_ARGUMENT; m.vmasm is assembly text, not a module. Assemble it first: tiree-as-module \
         --output=m.vmfb m.vmasm"
    ));
    assert!(refusal(b"func.func @add(%a: tensor<4xf32>) {}", "add.vmfb").contains("add.vmfb -o add.out.vmfb"));
    assert!(refusal(b"func.func @add(%a: tensor<4xf32>) -> tensor<4xf32> {", "add.mlir").starts_with(
        "INVALID_ARGUMENT; add.mlir is MLIR text, not a compiled module. Compile it first: tiree-compile add.mlir -o add.vmfb"
    ));
    assert!(refusal(b"\xFF\xFE", "x").contains("starts with \"\\xff\\xfe\""));
    let missing = Archive::open("/no/such/file.vmfb").err().unwrap();
    assert_eq!(missing.code(), StatusCode::NotFound);
    assert_eq!(Archive::open("/").err().unwrap().message(), "/ is a directory, not a module");
}

#[test]
fn cut_files() {
    let plain = read("flow");
    let whole = plain.len();
    let said = refusal(&plain[..whole - 100], "x.vmfb");
    let need = u32::from_le_bytes(*plain.first_chunk().unwrap()) + 4;
    assert!(
        said.starts_with(&format!(
            "DATA_LOSS; x.vmfb is cut short: {} of at least {need} bytes. Copy it again.",
            whole - 100
        )),
        "{said}"
    );
    let zip = zipped(&plain);
    assert_eq!(refusal(&zip, "x.vmfb"), "accepted");
    for length in [10, 29, 40, 64, 70, 100, zip.len() - 200, zip.len() - 23, zip.len() - 1] {
        let said = refusal(&zip[..length], "x.vmfb");
        assert!(said.contains("cut short"), "{length}: {said}");
    }
}

#[test]
fn changed_bytes_in_zip_files() {
    let mut zip = zipped(&read("flow"));
    zip[500] ^= 4;
    let said = refusal(&zip, "x.vmfb");
    assert!(said.starts_with("DATA_LOSS; x.vmfb is damaged: checksum of module.fb is "), "{said}");
}

/// Every single-bit change of a module with checksums is noticed.
#[test]
fn changed_bytes_in_modules_with_checksums() {
    let good = read("digest");
    assert_eq!(refusal(&good, "x.vmfb"), "accepted");
    let end = 4 + u32::from_le_bytes(*good.first_chunk().unwrap()) as usize;
    for at in 4..end {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            let said = refusal(&bytes, "x.vmfb");
            assert_ne!(said, "accepted", "byte {at} bit {bit}");
            assert!(said.contains("x.vmfb"), "byte {at} bit {bit}: {said}");
        }
    }
    let code = good.windows(8).position(|w| w == [0x79, 0x0D, 0x2A, 0, 0, 0, 0, 0]).unwrap();
    let mut bytes = good.clone();
    bytes[code + 2] = 0x2B;
    assert!(refusal(&bytes, "x.vmfb").starts_with("DATA_LOSS; x.vmfb is damaged: checksum of the bytecode is "));
    let text = good.windows(5).position(|w| w == b"hello").unwrap();
    let mut bytes = good;
    bytes[text] = b'H';
    assert!(refusal(&bytes, "x.vmfb").contains("checksum of rodata segment 0 is "));
}

/// Modules without checksums may have the attribute's name as any name, text or constant.
#[test]
fn modules_that_mention_checksums_have_none() {
    let body = "vm.export @\"tiree.digest\" = @f\nvm.func @f() -> (i32) {\n^bb0:\n  %i0 = vm.const.i32 7\n  vm.return %i0\n}\n";
    for module in [
        format!("vm.module @\"tiree.digest\"\n{body}"),
        format!("vm.module @m\nvm.rodata[0] = \"tiree.digest\"\n{body}"),
        format!("vm.module @m\nvm.attr \"key\" = \"tiree.digest\"\n{body}"),
    ] {
        let bytes = tiree_vm::asm::assemble(&module, "m").unwrap().bytes;
        assert!(bytes.windows(12).any(|window| window == b"tiree.digest"));
        assert_eq!(refusal(&bytes, "x.vmfb"), "accepted", "{module}");
    }
}

#[test]
fn other_versions_are_named() {
    let mut bytes = read("flow");
    let at = bytes.windows(4).position(|w| w == 0x0011_0000u32.to_le_bytes()).unwrap();
    bytes[at + 2] = 16;
    let said = refusal(&bytes, "old.vmfb");
    assert!(
        said.starts_with("INVALID_ARGUMENT; bytecode version mismatch; runtime supports 17.0, module has 16.0."),
        "{said}"
    );
    assert!(said.contains("old.vmfb was compiled by another compiler; this is tiree"), "{said}");
}

#[test]
fn zip_files_run_as_plain_ones_do() {
    let archive = Archive::copy(&zipped(&read("digest")), "x").unwrap();
    let module = BytecodeModule::load(archive, &TypeRegistry::default()).unwrap();
    let context = Context::new([AnyModule::from(module)]).unwrap();
    let results = context.lookup_function("digested.answer").unwrap().invoke(vec![]).unwrap();
    assert_eq!(format!("{results:?}"), "[i32=42]");
}
