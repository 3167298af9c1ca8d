//! Every module of data/broken is refused with the code and words of data/broken.txt.

use std::path::PathBuf;

use tiree_vm::BytecodeModule;

#[test]
fn broken_modules_are_refused() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/broken");
    let mut failures = Vec::new();
    for line in include_str!("data/broken.txt").lines() {
        let parts: Vec<&str> = line.split(" | ").collect();
        let said = match BytecodeModule::open(folder.join(format!("{}.vmfb", parts[0]))) {
            Ok(_) => "loaded".to_owned(),
            Err(status) => status.to_string(),
        };
        if !said.starts_with(parts[1]) || !said.contains(parts[2]) {
            failures.push(format!("{line}\n    said {said}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Every instruction, with and without moves, passes; only its imports are missing.
#[test]
fn every_instruction_is_accepted() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/every_instruction.vmfb");
    BytecodeModule::open(path).unwrap();
}
