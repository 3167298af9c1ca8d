//! What to say when a file has kernels for several CPUs, and none for this one.

use super::cpu::{FEATURES, PROCESSOR_DATA_WORDS, processor_data};

/// A file says no more variants than this.
const MOST: usize = 8;

/// Why a file answers nothing. `answer` is what it answers a machine with these processor data; the addresses of two
/// answers differ when they are of different variants. None if the CPU is not the reason.
pub(super) fn refusal(mut answer: impl FnMut(&[u64; PROCESSOR_DATA_WORDS]) -> usize) -> Option<String> {
    let mut machine = [0; PROCESSOR_DATA_WORDS];
    machine[0] = FEATURES.iter().fold(0, |bits, (_, bit)| bits | 1 << bit);
    let mut variants = Vec::new();
    while variants.len() < MOST {
        let found = answer(&machine);
        if found == 0 {
            break;
        }
        // What the variant needs: without it, the answer is another.
        let needed: Vec<_> = FEATURES
            .iter()
            .filter(|(_, bit)| {
                let mut less = machine;
                less[0] &= !(1 << bit);
                less != machine && answer(&less) != found
            })
            .collect();
        let names: Vec<_> = needed.iter().map(|(name, _)| *name).collect();
        variants.push(names.join(" "));
        // The newest feature of a CPU is the one that the next variant does without.
        let Some((_, bit)) = needed.last() else { break };
        machine[0] &= !(1 << bit);
    }
    if variants.is_empty() {
        return None;
    }
    let own: Vec<_> =
        FEATURES.iter().filter(|(_, bit)| processor_data()[0] >> bit & 1 == 1).map(|(name, _)| *name).collect();
    Some(format!(
        "this CPU runs none of the variants of the executable, which need {}; it has {}. Recompile with `generic` or this \
         CPU among the names in --iree-llvmcpu-target-cpu=",
        variants.join("; or "),
        if own.is_empty() { "none of the features that can be asked for".to_owned() } else { own.join(" ") }
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(names: &[&str]) -> u64 {
        FEATURES.iter().filter(|(name, _)| names.contains(name)).fold(0, |bits, (_, bit)| bits | 1 << bit)
    }

    #[test]
    fn a_file_that_answers_nobody_has_another_fault() {
        assert_eq!(refusal(|_| 0), None);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn every_variant_is_named_with_what_it_needs() {
        let (old, new) = (machine(&["sse4a", "xop"]), machine(&["avx2", "fma", "amx-bf16"]));
        let answer = |words: &[u64; PROCESSOR_DATA_WORDS]| {
            [new, old].iter().position(|need| words[0] & need == *need).map_or(0, |place| place + 1)
        };
        let said = refusal(answer).unwrap();
        assert!(said.contains("which need fma avx2 amx-bf16; or sse4a xop; it has "), "{said}");
        assert!(said.contains("--iree-llvmcpu-target-cpu="), "{said}");
    }
}
