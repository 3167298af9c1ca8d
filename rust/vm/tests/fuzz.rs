//! Thousands of damaged modules: each gives an error or works, none panics.
//!
//! The damage is seeded, so a failure repeats. What still loads is also called, unless it may loop. The environment
//! variable TIREE_FUZZ_SCALE multiplies the counts.

use tiree_vm::disasm::{self, Options, Output};
use tiree_vm::isa::{self, Arg, OperandKind};
use tiree_vm::{AnyModule, Archive, BytecodeModule, Context, Module, TypeRegistry, Value};

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

/// Whether no function can run for long: branches only lead forwards, and calls only to later functions.
fn ends_soon(archive: &Archive) -> bool {
    let def = archive.def();
    def.functions.iter().enumerate().all(|(ordinal, f)| {
        let Some(code) = archive.bytecode().get(f.offset as usize..(f.offset + f.length) as usize) else {
            return false;
        };
        let mut pc = 0;
        while pc < code.len() {
            let Ok(decoded) = isa::decode(code, pc) else { return false };
            for (operand, arg) in decoded.row.operands.iter().zip(decoded.args.iter()) {
                let forward = match (operand.kind, arg) {
                    (OperandKind::Pc, Arg::Pc(target)) => target as usize > pc,
                    (OperandKind::Cases, Arg::Cases(cases)) => cases.iter().all(|(target, _)| target as usize > pc),
                    (OperandKind::Func, Arg::Ordinal(callee)) => callee as usize > ordinal,
                    _ => true,
                };
                if !forward {
                    return false;
                }
            }
            pc = decoded.next;
        }
        true
    })
}

/// How far a module got: not read, not verified, called.
fn exercise(bytes: &[u8]) -> usize {
    let Ok(archive) = Archive::copy(bytes, "fuzz") else { return 0 };
    for output in [Output::All, Output::FlatbufferJson] {
        let _ = disasm::dump(&archive, &Options { output, ..Options::default() });
    }
    let Ok(module) = BytecodeModule::load(archive.clone(), &TypeRegistry::default()) else { return 1 };
    let name = module.name().to_owned();
    let Ok(context) = Context::new([AnyModule::from(module.clone())]) else { return 1 };
    if !ends_soon(&archive) {
        return 1;
    }
    for export in module.export_names() {
        let Ok(function) = context.function(&name, export) else { continue };
        let kinds = function.cconv().scalar_args().unwrap_or_default();
        let args = kinds.iter().map(|kind| match kind.name() {
            "i32" => Value::I32(3),
            "i64" => Value::I64(3),
            "f32" => Value::F32(1.5),
            "f64" => Value::F64(1.5),
            _ => Value::NULL,
        });
        let _ = function.invoke(args.collect());
    }
    2
}

fn fuzz(name: &str, count: usize) {
    let path = format!("{}/tests/data/{name}.vmfb", env!("CARGO_MANIFEST_DIR"));
    let good = std::fs::read(path).unwrap();
    let scale = std::env::var("TIREE_FUZZ_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let count = count * scale;
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ good.len() as u64);
    let mut reached = [0; 3];
    for _ in 0..count {
        let mut bytes = good.clone();
        damage(&mut bytes, &mut random);
        reached[exercise(&bytes)] += 1;
    }
    // The damage must reach every stage, or the test tests little.
    assert!(reached[0] > 0 && reached[1] + reached[2] > 0, "{name}: {reached:?}");
}

#[test]
fn flow() {
    fuzz("flow", 3000);
}

#[test]
fn objects() {
    fuzz("objects", 2000);
}

#[test]
fn ops() {
    fuzz("ops", 400);
}

#[test]
fn every_instruction() {
    fuzz("every_instruction", 60);
}
