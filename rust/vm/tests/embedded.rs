//! Constants inside of the tables, as `tiree-as-module` writes them, are not read either. Alone in its file: other tests
//! would use memory meanwhile.
#![cfg(target_os = "linux")]

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};

use tiree_vm::asm::assemble;
use tiree_vm::{BytecodeModule, Context};

const BIG: u64 = 100_000_000;

/// Bytes of this process that are in memory.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn big_constants_in_the_tables_are_not_read() {
    let text = "vm.module @m\nvm.rodata[0] = \"MARK\"\nvm.export @f\nvm.func @f() -> () {\n^bb0:\n  vm.return\n}\n";
    let mut bytes = assemble(text, "m").unwrap().bytes;
    let mark = bytes.windows(4).position(|window| window == b"MARK").unwrap();
    // The last thing of the tables may be as long as one likes.
    let segment = bytes.len() as u64 - mark as u64 + BIG;
    bytes[mark - 4..mark].copy_from_slice(&(segment as u32).to_le_bytes());
    let whole = bytes.len() as u64 + BIG;
    bytes[..4].copy_from_slice(&(whole as u32 - 4).to_le_bytes());
    let path = std::env::temp_dir().join(format!("tiree_embedded_{}.vmfb", std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&path).unwrap();
    file.write_all(&bytes).unwrap();
    file.set_len(whole).unwrap();
    file.seek(SeekFrom::End(-1)).unwrap();
    file.write_all(&[7]).unwrap();
    let before = resident();
    let module = BytecodeModule::open(&path).unwrap();
    let context = Context::new([module.clone().into()]).unwrap();
    assert!(resident() < before + 2_000_000, "{} bytes", resident() - before);
    assert_eq!(module.archive().rodata(0).unwrap().last(), Some(&7));
    drop((context, module));
    std::fs::remove_file(&path).unwrap();
}
