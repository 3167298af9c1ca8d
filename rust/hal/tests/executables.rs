//! The ELF loader on the file inside add.vmfb, whole and damaged. Damaged headers must be refused; what is not a header
//! (code, names) may load, but is never run here.

use std::sync::Arc;
use tiree_hal::executable::{Executable, LoadOptions, cpu};
use tiree_vm::{Archive, StatusCode};

/// The kernel file: the read-only segment that begins with the ELF magic.
fn elf() -> Vec<u8> {
    let path = format!("{}/tests/fixtures/add.vmfb", env!("CARGO_MANIFEST_DIR"));
    let archive: Arc<Archive> = Archive::open(path).unwrap();
    let count = archive.def().rodata.len();
    (0..count).filter_map(|index| archive.rodata(index)).find(|bytes| bytes.starts_with(b"\x7fELF")).unwrap().to_vec()
}

/// What no loader of a system takes is an error with its words.
#[test]
#[cfg(target_os = "linux")]
fn damaged_system_libraries_are_errors() {
    let format = format!("system-elf-{}", cpu::arch_name());
    let options = LoadOptions { system_libraries: true };
    let load = |bytes: &[u8]| Executable::load(&format, bytes, &[], options).err().unwrap().to_string();
    assert!(load(b"hello").contains("not an ELF file"));
    let cut = load(&elf()[..70]);
    assert!(cut.starts_with("UNAVAILABLE; cannot load a system executable: "), "{cut}");
}

/// The kernels of an embedded file need nothing of a system, so its loader takes them, too.
#[test]
#[cfg(target_os = "linux")]
fn system_libraries_are_loaded() {
    let format = format!("system-elf-{}", cpu::arch_name());
    let executable = Executable::load(&format, &elf(), &[], LoadOptions { system_libraries: true }).unwrap();
    assert!(executable.entry_name(0).starts_with("add_dispatch_0"));
    assert!(!executable.name().is_empty());
}

const FORMAT: &str = "embedded-elf-x86_64";

fn load(bytes: &[u8]) -> (StatusCode, String) {
    match Executable::load(FORMAT, bytes, &[], LoadOptions::default()) {
        Ok(_) => (StatusCode::Ok, String::new()),
        Err(status) => (status.code(), status.message().to_owned()),
    }
}

#[test]
fn loads_and_finds_entry_points() {
    let executable = Executable::load(FORMAT, &elf(), &[], LoadOptions::default()).unwrap();
    assert_eq!(executable.entry_count(), 1);
    let name = executable.entry_name(0).to_owned();
    assert!(name.starts_with("add_dispatch_0"), "{name}");
    assert_eq!(executable.lookup(&name).unwrap(), 0);
    let text = executable.lookup("nothing").unwrap_err().to_string();
    assert!(text.starts_with("NOT_FOUND") && text.contains(&name), "{text}");
}

#[test]
fn constants_must_be_as_many_as_the_file_wants() {
    let status = Executable::load(FORMAT, &elf(), &[1], LoadOptions::default()).err().unwrap();
    assert_eq!(status.message(), "executable requires 0 constants but caller provided 1");
}

#[test]
fn formats() {
    let options = LoadOptions::default();
    assert!(options.supports(&format!("embedded-elf-{}", cpu::arch_name())) && options.supports("vmvx-bytecode-fb"));
    assert!(LoadOptions { system_libraries: true }.supports(&format!("system-elf-{}", cpu::arch_name())));
    for format in ["embedded-elf-riscv_32", "system-elf-x86_64", "static", "cuda-nvptx-fb", ""] {
        assert!(!options.supports(format), "{format}");
        let text = Executable::load(format, &elf(), &[], options).err().unwrap().to_string();
        let core = format!("no executable loader registered for the given executable format '{format}'");
        assert!(text.starts_with("NOT_FOUND") && text.contains(&core), "{text}");
    }
}

#[test]
fn header_fields_are_checked() {
    let original = elf();
    for (offset, value, field) in [
        (0, 0u8, "magic"),
        (4, 1, "class"),
        (5, 2, "byte order"),
        (16, 2, "e_type"),
        (18, 3, "e_machine"),
        (20, 2, "e_version"),
        (52, 52, "e_ehsize"),
        (54, 32, "e_phentsize"),
        (58, 40, "e_shentsize"),
        (56, 0, "program headers"),
        (60, 0, "section headers"),
    ] {
        let mut bytes = original.clone();
        bytes[offset] = value;
        let (code, message) = load(&bytes);
        assert_eq!(code, StatusCode::FailedPrecondition, "{field}");
        assert!(message.contains(field), "{field}: {message}");
    }
    let mut bytes = original.clone();
    bytes[40..48].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(load(&bytes).1.contains("section headers"));
}

/// Every prefix, and every single damaged byte of what the loader reads before it calls anything.
#[test]
fn damage_is_an_error_not_a_crash() {
    let original = elf();
    for end in (0..original.len()).step_by(7) {
        assert_ne!(load(&original[..end]).0, StatusCode::Ok, "cut at {end}");
    }
    let word = |at: usize| u64::from_le_bytes(original[at..at + 8].try_into().unwrap()) as usize;
    let headers = word(32);
    // Program headers: flags, offsets, addresses, sizes, alignment.
    for at in headers..headers + usize::from(original[56]) * 56 {
        for value in [0u8, 0x7F, 0xFF] {
            let mut bytes = original.clone();
            bytes[at] = value;
            let _ = parse_only(&bytes);
        }
    }
}

/// Loads a file whose query function is made to be missing, so that no damaged code is ever called.
fn parse_only(bytes: &[u8]) -> StatusCode {
    let mut bytes = bytes.to_vec();
    let symbol = b"iree_hal_executable_library_query";
    while let Some(at) = bytes.windows(symbol.len()).position(|window| window == symbol) {
        bytes[at] = b'X';
    }
    load(&bytes).0
}

#[test]
fn every_damaged_byte_of_the_dynamic_part_is_survived() {
    let original = elf();
    let code = parse_only(&original);
    assert_eq!(code, StatusCode::NotFound);
    // Dynamic section and relocations included; code and debug data do no harm unexecuted.
    for at in (0..original.len()).step_by(3) {
        for flip in [0x01u8, 0x80, 0xFF] {
            let mut bytes = original.clone();
            bytes[at] ^= flip;
            assert_ne!(parse_only(&bytes), StatusCode::Ok, "byte {at}");
        }
    }
}

#[test]
fn imports_are_named() {
    let mut bytes = elf();
    // Make the exported symbol undefined: its section index becomes 0.
    let word = |bytes: &[u8], at: usize, size: usize| {
        bytes[at..at + size].iter().rev().fold(0usize, |word, &byte| word << 8 | usize::from(byte))
    };
    let (table, count) = (word(&bytes, 40, 8), word(&bytes, 60, 2));
    let dynsym = (0..count).map(|index| table + index * 64).find(|&at| word(&bytes, at + 4, 4) == 11).unwrap();
    let symbols = word(&bytes, dynsym + 24, 8);
    bytes[symbols + 24 + 6..symbols + 24 + 8].fill(0);
    let (code, message) = load(&bytes);
    assert_eq!(code, StatusCode::Unavailable);
    assert!(message.contains("imports one or more symbols: iree_hal_executable_library_query"), "{message}");
}

#[test]
fn fat_files_hold_several_machines() {
    let one = elf();
    let record = |machine: u16, offset: u64, size: u64| {
        let mut bytes = machine.to_le_bytes().to_vec();
        bytes.extend([0, 0, 2, 1, 0, 0]);
        bytes.extend(offset.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes
    };
    let fat = |records: &[Vec<u8>]| {
        let mut bytes = 0x1F0E_70FAu32.to_le_bytes().to_vec();
        bytes.extend([1, 0, records.len() as u8, 0]);
        bytes.extend(records.concat());
        bytes.resize(4096, 0);
        bytes.extend(&one);
        bytes
    };
    let size = one.len() as u64;
    assert_eq!(load(&fat(&[record(0xB7, 0, 10), record(0x3E, 4096, size)])).0, StatusCode::Ok);
    let (code, message) = load(&fat(&[record(0xB7, 4096, size)]));
    assert_eq!(code, StatusCode::FailedPrecondition);
    assert!(message.contains("no record for this machine") && message.contains("0xb7"), "{message}");
    assert!(load(&fat(&[record(0x3E, 4096, size + 1)])).1.contains("outside the file"));
    assert!(load(&fat(&[record(0x3E, u64::MAX, 2)])).1.contains("outside the file"));
}
