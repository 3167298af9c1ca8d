//! What the host's CPU can do: the processor data of the executable ABI and the `hal.cpu` device queries.

use std::sync::OnceLock;

/// Number of 64-bit words of processor data.
pub const PROCESSOR_DATA_WORDS: usize = 8;

/// (LLVM feature name, bit in word 0) for x86-64.
#[cfg(target_arch = "x86_64")]
pub(super) const FEATURES: &[(&str, u32)] = &[
    ("sse3", 0),
    ("ssse3", 1),
    ("sse4.1", 2),
    ("sse4.2", 3),
    ("sse4a", 4),
    ("avx", 10),
    ("fma", 11),
    ("fma4", 12),
    ("xop", 13),
    ("f16c", 14),
    ("avx2", 15),
    ("avx512f", 20),
    ("avx512cd", 21),
    ("avx512vl", 22),
    ("avx512dq", 23),
    ("avx512bw", 24),
    ("avx512ifma", 25),
    ("avx512vbmi", 26),
    ("avx512vpopcntdq", 27),
    ("avx512vnni", 28),
    ("avx512vbmi2", 29),
    ("avx512bitalg", 30),
    ("avx512bf16", 31),
    ("avx512fp16", 32),
    ("amx-tile", 50),
    ("amx-int8", 51),
    ("amx-bf16", 52),
];
/// (LLVM feature name, bit in word 0) for 64-bit ARM.
#[cfg(target_arch = "aarch64")]
pub(super) const FEATURES: &[(&str, u32)] = &[
    ("fp-armv8", 0),
    ("lse", 1),
    ("lse128", 2),
    ("fullfp16", 10),
    ("fp16fml", 11),
    ("dotprod", 12),
    ("i8mm", 13),
    ("bf16", 14),
    ("sve", 20),
    ("sve2", 21),
    ("sve2p1", 22),
    ("sve2-bitperm", 23),
    ("f32mm", 24),
    ("f64mm", 25),
    ("sme", 30),
    ("sme2", 31),
];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) const FEATURES: &[(&str, u32)] = &[];

/// The processor data words; found out once.
pub fn processor_data() -> &'static [u64; PROCESSOR_DATA_WORDS] {
    static DATA: OnceLock<[u64; PROCESSOR_DATA_WORDS]> = OnceLock::new();
    DATA.get_or_init(|| {
        let mut words = [0; PROCESSOR_DATA_WORDS];
        for (name, bit) in FEATURES {
            if detect(name) {
                words[0] |= 1 << bit;
            }
        }
        words
    })
}

/// Whether the CPU has the feature with this LLVM name; None for names that have no bit.
pub fn has_feature(name: &str) -> Option<bool> {
    let bit = FEATURES.iter().find(|feature| feature.0 == name)?.1;
    Some(processor_data()[0] >> bit & 1 == 1)
}

/// The architecture as executable format strings name it.
pub fn arch_name() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x86_64",
        "x86" => "x86_32",
        "aarch64" => "arm_64",
        "arm" => "arm_32",
        "riscv64" => "riscv_64",
        "riscv32" => "riscv_32",
        other => other,
    }
}

#[cfg(target_arch = "x86_64")]
fn detect(name: &str) -> bool {
    // The library's macro also asks whether the system saves the wide registers.
    macro_rules! table {
        ($($ours:literal => $std:tt),* $(,)?) => {
            match name { $($ours => std::arch::is_x86_feature_detected!($std),)* _ => detect_by_cpuid(name) }
        };
    }
    table! {
        "sse3" => "sse3", "ssse3" => "ssse3", "sse4.1" => "sse4.1", "sse4.2" => "sse4.2", "sse4a" => "sse4a",
        "avx" => "avx", "fma" => "fma", "f16c" => "f16c", "avx2" => "avx2", "avx512f" => "avx512f",
        "avx512cd" => "avx512cd", "avx512vl" => "avx512vl", "avx512dq" => "avx512dq", "avx512bw" => "avx512bw",
        "avx512ifma" => "avx512ifma", "avx512vbmi" => "avx512vbmi", "avx512vpopcntdq" => "avx512vpopcntdq",
        "avx512vnni" => "avx512vnni", "avx512vbmi2" => "avx512vbmi2", "avx512bitalg" => "avx512bitalg",
        "avx512bf16" => "avx512bf16", "avx512fp16" => "avx512fp16",
    }
}

#[cfg(target_arch = "x86_64")]
fn detect_by_cpuid(name: &str) -> bool {
    use std::arch::x86_64::__cpuid_count;
    let leaf7 = __cpuid_count(7, 0);
    let extended = __cpuid_count(0x8000_0001, 0);
    match name {
        "xop" => extended.ecx >> 11 & 1 == 1 && std::arch::is_x86_feature_detected!("avx"),
        "fma4" => extended.ecx >> 16 & 1 == 1 && std::arch::is_x86_feature_detected!("avx"),
        "amx-bf16" => leaf7.edx >> 22 & 1 == 1 && tile_permission(),
        "amx-tile" => leaf7.edx >> 24 & 1 == 1 && tile_permission(),
        "amx-int8" => leaf7.edx >> 25 & 1 == 1 && tile_permission(),
        _ => false,
    }
}

/// Linux lets a process use the tile registers only after it asked; without permission the feature is not there.
#[cfg(target_arch = "x86_64")]
fn tile_permission() -> bool {
    #[cfg(target_os = "linux")]
    {
        static GRANTED: OnceLock<bool> = OnceLock::new();
        const ARCH_REQ_XCOMP_PERM: libc::c_ulong = 0x1023;
        const XFEATURE_XTILEDATA: libc::c_ulong = 18;
        *GRANTED.get_or_init(|| {
            // SAFETY: arch_prctl with this request touches no memory of ours.
            unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 }
        })
    }
    #[cfg(not(target_os = "linux"))]
    false
}

#[cfg(target_arch = "aarch64")]
fn detect(name: &str) -> bool {
    use std::arch::is_aarch64_feature_detected as has;
    match name {
        "fp-armv8" => has!("neon"),
        "lse" => has!("lse"),
        "fullfp16" => has!("fp16"),
        "fp16fml" => has!("fhm"),
        "dotprod" => has!("dotprod"),
        "i8mm" => has!("i8mm"),
        "bf16" => has!("bf16"),
        "sve" => has!("sve"),
        "sve2" => has!("sve2"),
        "sve2-bitperm" => has!("sve2-bitperm"),
        "f32mm" => has!("f32mm"),
        "f64mm" => has!("f64mm"),
        _ => false,
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn detect(_name: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's own list is the oracle.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn agrees_with_proc_cpuinfo() {
        let text = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let flags: Vec<&str> = text.lines().find(|l| l.starts_with("flags")).unwrap().split_whitespace().collect();
        let renamed = [
            ("sse3", "pni"),
            ("sse4.1", "sse4_1"),
            ("sse4.2", "sse4_2"),
            ("avx512vpopcntdq", "avx512_vpopcntdq"),
            ("avx512vnni", "avx512_vnni"),
            ("avx512vbmi2", "avx512_vbmi2"),
            ("avx512bitalg", "avx512_bitalg"),
            ("avx512bf16", "avx512_bf16"),
            ("avx512fp16", "avx512_fp16"),
        ];
        for (name, _) in FEATURES.iter().filter(|feature| !feature.0.starts_with("amx")) {
            let kernel = renamed.iter().find(|pair| pair.0 == *name).map_or(*name, |pair| pair.1);
            assert_eq!(has_feature(name), Some(flags.contains(&kernel)), "{name}");
        }
        assert_eq!(has_feature("no-such-feature"), None);
    }
}
