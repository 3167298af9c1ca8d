//! SipHash-2-4, the hash of `vm.buffer.hash`.

const K0: u64 = 0x0706_0504_0302_0100;
const K1: u64 = 0x0F0E_0D0C_0B0A_0908;

/// A hash in the making, under the key bytes 00, 01, ... 0f.
pub struct SipHash {
    v: [u64; 4],
    length: usize,
    /// The last bytes, less than a word.
    tail: [u8; 8],
}

impl SipHash {
    /// The hash of nothing yet.
    pub fn new() -> SipHash {
        let v = [
            K0 ^ 0x736F_6D65_7073_6575,
            K1 ^ 0x646F_7261_6E64_6F6D,
            K0 ^ 0x6C79_6765_6E65_7261,
            K1 ^ 0x7465_6462_7974_6573,
        ];
        SipHash { v, length: 0, tail: [0; 8] }
    }

    fn round(&mut self) {
        let v = &mut self.v;
        v[0] = v[0].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[2] = v[2].rotate_left(32);
    }

    fn word(&mut self, word: u64) {
        self.v[3] ^= word;
        self.round();
        self.round();
        self.v[0] ^= word;
    }

    /// Takes more bytes in.
    pub fn write(&mut self, mut bytes: &[u8]) {
        let have = self.length % 8;
        self.length += bytes.len();
        if have > 0 {
            let (first, rest) = bytes.split_at(bytes.len().min(8 - have));
            self.tail[have..have + first.len()].copy_from_slice(first);
            if have + first.len() < 8 {
                return;
            }
            self.word(u64::from_le_bytes(self.tail));
            bytes = rest;
        }
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        self.tail[..tail.len()].copy_from_slice(tail);
    }

    /// The hash of all bytes.
    pub fn finish(mut self) -> u64 {
        let mut last = [0; 8];
        let have = self.length % 8;
        last[..have].copy_from_slice(&self.tail[..have]);
        last[7] = self.length as u8;
        self.word(u64::from_le_bytes(last));
        self.v[2] ^= 0xFF;
        for _ in 0..4 {
            self.round();
        }
        self.v.iter().fold(0, |a, b| a ^ b)
    }
}

#[cfg(test)]
mod tests {
    use super::SipHash;

    fn siphash24(bytes: &[u8]) -> u64 {
        let mut hash = SipHash::new();
        hash.write(bytes);
        hash.finish()
    }

    #[test]
    fn parts_do_not_matter() {
        let bytes: Vec<u8> = (0..100).collect();
        for size in 1..40 {
            let mut hash = SipHash::new();
            bytes.chunks(size).for_each(|part| hash.write(part));
            assert_eq!(hash.finish(), siphash24(&bytes), "{size}");
        }
    }

    #[test]
    fn published_and_measured_vectors() {
        let bytes: Vec<u8> = (0..16).collect();
        // Appendix A of the SipHash paper, and what IREE 3.13 answers for 00..0f.
        assert_eq!(siphash24(&bytes[..15]), 0xA129_CA61_49BE_45E5);
        assert_eq!(siphash24(&bytes) as i64, 4_551_675_220_716_592_091);
        assert_eq!(siphash24(&[]), 0x726F_DB47_DD0E_0E31);
    }
}
