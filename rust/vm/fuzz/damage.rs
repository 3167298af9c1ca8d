//! Seeded damage to files: the same for the same number, so that a failure repeats.

/// xorshift64*
pub struct Random(u64);

impl Random {
    /// Numbers that follow from `seed`; neighbours share nothing.
    pub fn new(seed: u64) -> Random {
        // splitmix64, which has no bad seeds.
        let mut mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        Random((mixed ^ mixed >> 31) | 1)
    }

    /// A number from 0 to `limit` - 1.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    fn pick<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())]
    }
}

const BYTES: [u8; 5] = [0, 1, 0x7F, 0x80, 0xFF];
const SHORTS: [u16; 8] = [0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xC000, 0xFFFF];
const WORDS: [u32; 9] = [0, 1, 4, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0, u32::MAX];

/// One to four changes: bits, bytes, words, runs copied, put in or cut out. A quarter goes to the tables in front.
pub fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    // Mostly one: a module that is refused for one change hides what another would do.
    for _ in 0..1 + random.below(2) * random.below(4) {
        let range = if random.below(4) == 0 { bytes.len().min(512) } else { bytes.len() };
        let at = random.below(range);
        change(bytes, at, random);
    }
}

fn change(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let length = bytes.len();
    match random.below(10) {
        0 | 1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes[at] = random.pick(&BYTES),
        3 if length >= 4 => {
            let at = (at & !3).min(length - 4);
            bytes[at..at + 4].copy_from_slice(&random.pick(&WORDS).to_le_bytes());
        }
        4 if length >= 4 => {
            let at = (at & !3).min(length - 4);
            let old = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            let near = old.wrapping_add(random.pick(&[1, u32::MAX, 4, 8, 256, 4_294_967_292]));
            bytes[at..at + 4].copy_from_slice(&near.to_le_bytes());
        }
        5 if length >= 2 => {
            let at = at.min(length - 2);
            bytes[at..at + 2].copy_from_slice(&random.pick(&SHORTS).to_le_bytes());
        }
        6 => {
            let from = random.below(length);
            let count = (1 + random.below(16)).min(length - from).min(length - at);
            bytes.copy_within(from..from + count, at);
        }
        7 if random.below(4) == 0 => bytes.truncate(1 + random.below(length)),
        8 if random.below(4) == 0 => {
            let count = 1 + random.below(8);
            bytes.splice(at..at, (0..count).map(|_| random.below(256) as u8));
        }
        _ => bytes[at] = random.below(256) as u8,
    }
}
