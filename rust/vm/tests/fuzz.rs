//! Thousands of damaged modules: each gives an error or works, none panics.
//!
//! The damage is seeded, so a failure repeats. What still loads is also called, unless it may loop. The environment
//! variable TIREE_FUZZ_SCALE multiplies the counts.

#[path = "../fuzz/targets.rs"]
mod targets;

/// xorshift64*
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }
}

fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    const WORDS: [u32; 7] = [0, 1, u32::MAX, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF, 0x10000];
    for _ in 0..1 + random.below(4) {
        // Half of the damage goes to the tables in front.
        let range = if random.below(2) == 0 { bytes.len() } else { bytes.len().min(512) };
        let at = random.below(range);
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = [0, 1, 0x7F, 0x80, 0xFF][random.below(5)],
            2 if bytes.len() >= 8 => {
                let at = (at & !3).min(bytes.len() - 4);
                bytes[at..at + 4].copy_from_slice(&WORDS[random.below(WORDS.len())].to_le_bytes());
            }
            3 => {
                let from = random.below(bytes.len());
                bytes[at] = bytes[from];
            }
            4 if random.below(8) == 0 => bytes.truncate(1 + random.below(bytes.len())),
            _ => bytes[at] = random.below(256) as u8,
        }
    }
}

/// Damages the seed `count` times, more with TIREE_FUZZ_SCALE, and counts how far the target got.
fn fuzz(good: &[u8], count: usize, target: impl Fn(&[u8]) -> usize) -> [usize; 3] {
    let scale = std::env::var("TIREE_FUZZ_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ good.len() as u64);
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
