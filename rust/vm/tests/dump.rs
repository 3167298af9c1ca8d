//! The text of every module in data/ is what iree-dump-module printed for it.

use std::path::PathBuf;

use tiree_vm::Archive;
use tiree_vm::disasm::{self, Options, Output};

#[test]
fn text_and_json_agree_with_the_reference() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut compared = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "vmfb") || !path.with_extension("txt").exists() {
            continue;
        }
        let archive = Archive::open(&path).unwrap();
        for (extension, output) in [("txt", Output::All), ("json", Output::FlatbufferJson)] {
            let expected = std::fs::read_to_string(path.with_extension(extension)).unwrap();
            let text = disasm::dump(&archive, &Options { output, ..Options::default() }).unwrap();
            for (number, (have, want)) in text.lines().zip(expected.lines()).enumerate() {
                assert_eq!(have, want, "{} line {}", path.display(), number + 1);
            }
            assert!(text == expected, "{}: lengths differ", path.display());
            compared += 1;
        }
    }
    assert!(compared >= 6);
}
