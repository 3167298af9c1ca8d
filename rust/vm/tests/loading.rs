//! A file of 100 MB of constants is used where it lies. Alone in its file: other tests would use memory meanwhile.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;

use tiree_vm::{BytecodeModule, Context};

const BIG: u64 = 100_000_000;

/// The module of `external.vmfb`, its 5000 bytes of constants grown to that many zeros.
fn write_module() -> PathBuf {
    let mut bytes = std::fs::read(format!("{}/tests/data/external.vmfb", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let end = 4 + u32::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    let constants = end.next_multiple_of(64);
    let place = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|window| window == what).unwrap();
    let length = place(&bytes, &5000u64.to_le_bytes());
    bytes[length..length + 8].copy_from_slice(&BIG.to_le_bytes());
    let zeros = vec![0; 1 << 20];
    let mut crc = crc32fast::Hasher::new();
    for start in (0..BIG).step_by(zeros.len()) {
        crc.update(&zeros[..(BIG - start).min(zeros.len() as u64) as usize]);
    }
    let digits = format!("{:08x}", crc.finalize());
    let at = place(&bytes, b"c0:") + 3;
    bytes[at..at + 8].copy_from_slice(digits.as_bytes());
    let at = place(&bytes, b"fb:") + 3;
    bytes[at..at + 8].copy_from_slice(b"00000000");
    let digits = format!("{:08x}", crc32fast::hash(&bytes[4..end]));
    bytes[at..at + 8].copy_from_slice(digits.as_bytes());
    let path = std::env::temp_dir().join(format!("tiree_loading_{}.vmfb", std::process::id()));
    let mut file = File::create(&path).unwrap();
    file.write_all(&bytes[..constants]).unwrap();
    file.set_len(constants as u64 + BIG).unwrap();
    path
}

/// Bytes of this process that are in memory.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
#[cfg(target_os = "linux")]
fn big_constants_are_read_when_they_are_asked_for() {
    let path = write_module();
    let before = resident();
    let module = BytecodeModule::open(&path).unwrap();
    let context = Context::new([module.clone().into()]).unwrap();
    assert!(resident() < before + 2_000_000, "{} bytes", resident() - before);
    let constants = module.archive().rodata(0).unwrap();
    assert_eq!((constants.len() as u64, constants[constants.len() / 2]), (BIG, 0));
    assert_eq!(module.archive().verify_constants().unwrap(), 1);
    drop((context, module));
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::End(-(BIG as i64) / 2)).unwrap();
    file.write_all(&[1]).unwrap();
    let module = BytecodeModule::open(&path).unwrap();
    let said = module.archive().verify_constants().unwrap_err().to_string();
    assert!(said.contains("is damaged: checksum of rodata segment 0 is "), "{said}");
    std::fs::remove_file(&path).unwrap();
}
