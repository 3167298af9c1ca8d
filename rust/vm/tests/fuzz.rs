//! Thousands of damaged modules: each gives an error or works, none panics.
//!
//! The damage is seeded, so a failure repeats. What still loads is also called. The environment variable
//! TIREE_FUZZ_SCALE multiplies the counts.

#[path = "../fuzz/damage.rs"]
mod damage;
#[path = "../fuzz/targets.rs"]
mod targets;

use damage::{Random, damage};

/// Damages the seed `count` times, more with TIREE_FUZZ_SCALE, and counts how far the target got.
fn fuzz(good: &[u8], count: usize, target: impl Fn(&[u8]) -> usize) -> [usize; 3] {
    let scale = std::env::var("TIREE_FUZZ_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = Random::new(good.len() as u64);
    let mut reached = [0; 3];
    for _ in 0..count * scale {
        let mut bytes = good.to_vec();
        damage(&mut bytes, &mut random);
        reached[target(&bytes)] += 1;
    }
    reached
}

fn data(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn modules() {
    for (name, count) in [("flow", 3000), ("objects", 2000), ("ops", 400), ("every_instruction", 60)] {
        let good = data(&format!("data/{name}.vmfb"));
        let reached = fuzz(&good, count, targets::run);
        // The damage must reach every stage, or the test tests little.
        assert!(reached[0] > 0 && reached[1] + reached[2] > 0, "{name}: {reached:?}");
        assert!(fuzz(&good, count / 4, targets::archive)[1] > 0, "{name}");
    }
}

/// What was found once, and what leads to rare paths.
#[test]
fn seeds() {
    type Target = fn(&[u8]) -> usize;
    let targets: [(&str, Target); 4] = [
        ("archive", targets::archive),
        ("verifier", targets::verifier),
        ("run", targets::run),
        ("assembler", targets::assembler),
    ];
    for (name, target) in targets {
        let folder = format!("{}/fuzz/seeds/{name}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(folder).unwrap() {
            target(&std::fs::read(entry.unwrap().path()).unwrap());
        }
    }
}

#[test]
fn bytecode() {
    // (i32) -> (i32), one block: a constant, a sum, a return.
    let seed = [5, 1, 4, 2, 0x79, 0x0D, 7, 0, 0, 0, 1, 0, 0x22, 0, 0, 1, 0, 0, 0, 0x5A, 1, 0, 0, 0];
    let reached = fuzz(&seed, 5000, targets::verifier);
    assert!(reached[1] > 0 && reached[2] > 0, "{reached:?}");
}

#[test]
fn assembly() {
    for name in ["flow", "objects", "forms"] {
        let reached = fuzz(&data(&format!("asm/{name}.vmasm")), 500, targets::assembler);
        assert!(reached[0] > 0 && reached[1] + reached[2] > 0, "{name}: {reached:?}");
    }
}
