//! Every line of data/cases.txt, executed.

use tiree_vm::{AnyModule, BytecodeModule, Context, Value};

fn value(text: &str) -> Value {
    let (kind, number) = text.split_once('=').unwrap();
    match kind {
        "i32" => Value::I32(number.parse().unwrap()),
        "i64" => Value::I64(number.parse().unwrap()),
        "f32" => Value::F32(number.parse().unwrap()),
        "f64" => Value::F64(number.parse().unwrap()),
        _ => panic!("{text}"),
    }
}

/// Bits, with every NaN the same.
fn bits(value: &Value) -> (&'static str, u64) {
    let bits = match value {
        Value::I32(v) => *v as u32 as u64,
        Value::I64(v) => *v as u64,
        Value::F32(v) => if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() }.into(),
        Value::F64(v) => {
            if v.is_nan() {
                f64::NAN.to_bits()
            } else {
                v.to_bits()
            }
        }
        Value::Ref(_) => panic!("no references in cases"),
    };
    (value.kind_name(), bits)
}

fn context(module: &str) -> Context {
    let path = format!("{}/tests/data/{module}.vmfb", env!("CARGO_MANIFEST_DIR"));
    Context::new([AnyModule::from(BytecodeModule::open(path).unwrap())]).unwrap()
}

#[test]
fn cases() {
    let mut failures = Vec::new();
    let mut count = 0;
    for line in include_str!("data/cases.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (call, expected) = line.trim_start_matches('~').split_once("->").unwrap();
        let mut words = call.split_whitespace();
        let (module, function) = (words.next().unwrap(), words.next().unwrap());
        let result = context(module).function(module, function).unwrap().invoke(words.map(value).collect());
        let agrees = match (expected.trim().strip_prefix('!'), &result) {
            (Some(code), Err(status)) => status.code().name() == code.trim(),
            (None, Ok(results)) => {
                let wanted: Vec<_> = expected.split_whitespace().map(|text| bits(&value(text))).collect();
                results.iter().map(bits).collect::<Vec<_>>() == wanted
            }
            _ => false,
        };
        count += 1;
        if !agrees {
            failures.push(format!("{line}\n    got {result:?}"));
        }
    }
    assert!(failures.is_empty(), "{} of {count} cases:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 200);
}
