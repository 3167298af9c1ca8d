//! Mapped files that are cut short or rewritten while they are mapped.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tiree_vm::StatusCode;
use tiree_vm::mapped::{MappedFile, Watch};

static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A file of `pages` pages of ones, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(pages: usize) -> Scratch {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("tiree-mapped-{}-{number}", std::process::id()));
        fs::write(&path, vec![1; pages * 4096]).unwrap();
        Scratch(path)
    }

    fn cut(&self, length: u64) {
        File::options().write(true).open(&self.0).unwrap().set_len(length).unwrap();
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.0);
    }
}

fn map(path: &Path, writable: bool) -> Arc<MappedFile> {
    let file = File::options().read(true).write(writable).open(path).unwrap();
    MappedFile::new(&file, "the file", writable).unwrap()
}

fn byte(file: &MappedFile, at: usize) -> u8 {
    assert!(at < file.len());
    // SAFETY: inside the map; what others do to the file is what is tested.
    unsafe { file.data().add(at).read_volatile() }
}

#[test]
fn pages_that_are_gone_read_as_zeros_and_are_told() {
    for writable in [false, true] {
        let scratch = Scratch::new(4);
        let (file, watch) = (map(&scratch.0, writable), Watch::start());
        assert!(file.check().is_ok() && watch.check().is_ok());
        scratch.cut(4096);
        let error = file.check().unwrap_err();
        assert_eq!(error.code(), StatusCode::DataLoss);
        assert!(
            error.message().contains("the file was cut short while it was in use: it had 16384 bytes and has 4096")
        );
        assert!(file.check_pages().is_ok(), "nothing was read yet");
        assert_eq!((byte(&file, 0), byte(&file, 4095), byte(&file, 8192), byte(&file, 16383)), (1, 1, 0, 0));
        assert!(watch.check().is_err() && file.check_pages().is_err());
        if writable {
            // SAFETY: as for reading.
            unsafe { file.data().add(9000).write_volatile(7) };
            assert_eq!(byte(&file, 9000), 7);
        }
    }
}

#[test]
fn writing_is_told_unless_this_process_writes() {
    let scratch = Scratch::new(2);
    let file = map(&scratch.0, false);
    std::thread::sleep(std::time::Duration::from_millis(20));
    File::options().write(true).open(&scratch.0).unwrap().write_all(&[5; 10]).unwrap();
    assert!(file.check().unwrap_err().message().contains("the file was changed while it was in use"));
    let _ours = map(&scratch.0, true);
    assert!(file.check().is_ok());
}

#[test]
fn many_files_and_threads() {
    let scratches: Vec<Scratch> = (0..150).map(|_| Scratch::new(3)).collect();
    let files: Vec<Arc<MappedFile>> = scratches.iter().map(|scratch| map(&scratch.0, false)).collect();
    std::thread::scope(|scope| {
        for part in files.chunks(50) {
            for _ in 0..2 {
                scope.spawn(move || {
                    for _ in 0..20 {
                        for file in part {
                            assert!((0..3).all(|page| byte(file, page * 4096) <= 1));
                        }
                    }
                });
            }
        }
        scope.spawn(|| scratches.iter().step_by(3).for_each(|scratch| scratch.cut(0)));
    });
    for (index, file) in files.iter().enumerate() {
        let gone = index % 3 == 0;
        assert_eq!((byte(file, 0), file.check_pages().is_err()), (u8::from(!gone), gone), "{index}");
    }
}
