//! Values against what iree-run-module 3.13.0 printed for the same flags (fixtures/values.json).

use std::sync::Arc;
use tiree_hal::allocator::Allocator;
use tiree_hal::types::ElementType;
use tiree_hal::values::{DEFAULT_MAX_ELEMENTS, Equality, InputReader, Parsed, compare, format_result, npy};
use tiree_vm::cconv::Kind;
use tiree_vm::{Result, StatusCode, Value};

fn reader(flag: &'static str) -> InputReader {
    InputReader::new(Arc::new(Allocator::new()), flag)
}

/// What run-module does for an identity function: read, print or compare.
fn run(kinds: &[Kind], flags: &[String]) -> Result<(bool, String)> {
    let take = |name: &str| -> Vec<&str> { flags.iter().filter_map(|flag| flag.strip_prefix(name)).collect() };
    let inputs = reader("--input").read_all(&take("--input="), kinds)?;
    let values: Vec<Value> = inputs
        .into_iter()
        .map(|parsed| match parsed {
            Parsed::Value(value) => value,
            Parsed::Ignored => Value::NULL,
        })
        .collect();
    let limit = take("--output_max_element_count=").first().map_or(DEFAULT_MAX_ELEMENTS, |text| text.parse().unwrap());
    let expected = take("--expected_output=");
    if expected.is_empty() {
        let mut text = String::new();
        for (index, value) in values.iter().enumerate() {
            text += &format_result("result", index, value, limit)?;
        }
        return Ok((true, text));
    }
    let kinds: Vec<Kind> =
        expected.iter().enumerate().map(|(at, _)| kinds.get(at).copied().unwrap_or(Kind::Ref)).collect();
    let expected = reader("--expected_output").read_all(&expected, &kinds)?;
    let equality = Equality { exact: flags.iter().any(|flag| flag == "--equality_mode=exact"), ..Default::default() };
    compare(&expected, &values, &equality)
}

/// Where Tiree departs on purpose, with the reason.
fn departs(flags: &[String]) -> Option<&'static str> {
    let text = flags.join(" ");
    let has = |part: &str| text.contains(part);
    if has("--expected_output=(null)") && has("4xf32") && !has("--expected_output=4xf32") {
        return Some("IREE takes an expected null for any result");
    }
    if has("--expected_output=&4xi8") && has("--input=&4xi8") {
        return Some("IREE cannot compare buffers");
    }
    if has("xx8") || has("xx32") {
        return Some("IREE documents xN but does not read it");
    }
    if has("f8E4M3FN=1 4") {
        return Some("IREE aborts when it prints a difference of f8 values");
    }
    if has("0.001") && has("f8") || has("1e-5 7e-6") {
        return Some("IREE flushes subnormal f8 values to zero");
    }
    if has("=+1") {
        return Some("IREE takes +1 for a file name");
    }
    if flags.iter().filter(|flag| flag.starts_with("--expected_output")).count() > 1 && !has("--input=2xi8") {
        return Some("the count is reported in the same words for both directions");
    }
    None
}

#[test]
fn prints_and_compares_as_iree_does() {
    let path = format!("{}/tests/fixtures/values.json", env!("CARGO_MANIFEST_DIR"));
    let records: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let (mut compared, mut departures, mut failures) = (0, 0, Vec::new());
    for record in records.as_array().unwrap() {
        let flags: Vec<String> =
            record["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap().to_owned()).collect();
        if departs(&flags).is_some() {
            departures += 1;
            continue;
        }
        let kinds = match record["function"].as_str().unwrap() {
            "i32" => vec![Kind::I32],
            "i64" => vec![Kind::I64],
            "f32" => vec![Kind::F32],
            "f64" => vec![Kind::F64],
            "id2" => vec![Kind::Ref, Kind::Ref],
            _ => vec![Kind::Ref],
        };
        compared += 1;
        let stdout = record["stdout"].as_str().unwrap();
        let want = stdout.split_once('\n').map_or("", |(_, rest)| rest);
        let status = record["status"].as_i64().unwrap();
        match run(&kinds, &flags) {
            Ok((ok, text)) if ok == (status == 0) && text == want => {}
            Err(_) if status != 0 && want.is_empty() => {}
            other => failures.push(format!("{flags:?}\n  have {other:?}\n  want {status} {want:?}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!((compared, departures), (records.as_array().unwrap().len() - 12, 12));
}

fn fails(kind: Kind, text: &str) -> (StatusCode, String) {
    let status = reader("--input").read_all(&[text], &[kind]).unwrap_err();
    (status.code(), status.message().to_owned())
}

#[test]
fn bad_values_say_what_is_wrong() {
    for (text, message) in [
        ("4xf32=1 2 3", "--input 1: 3 values given, 4xf32 needs 4 (or 1, to fill)."),
        ("4xf32=1 2 3 4 5", "--input 1: 5 values given, 4xf32 needs 4 (or 1, to fill)."),
        ("f32=1 2", "--input 1: 2 values given, f32 needs 1."),
        ("2xi32=1.5 2", "--input 1: \"1.5\" is not an i32."),
        ("2xi32=3000000000 2", "--input 1: 3000000000 is out of range for i32 (max 2147483647)."),
        ("4xfloat32=1", "--input 1: unknown element type \"float32\"; did you mean f32?"),
        ("2xi1=2 0", "--input 1: \"2\" is not an i1; i1 values are 0/1 or false/true."),
        ("-1xf32=1", "--input 1: dimension \"-1\" of \"-1xf32\" must be a number of elements"),
        ("4x=1", "--input 1: \"4x\" has no element type; write for example 2x3xf32=..."),
        ("", "--input 1: no value given"),
        ("2xf32=1.5.5 2", "--input 1: \"1.5.5\" is not an f32."),
        (
            "99999999999999999999xf32",
            "--input 1: dimension 99999999999999999999 of \"99999999999999999999xf32\" is too large",
        ),
        ("2xi33=1", "--input 1: i33 has no layout in memory; widths are 1, 2, 4 or whole bytes"),
        ("2xi7=1", "--input 1: i7 has no layout in memory; widths are 1, 2, 4 or whole bytes"),
        ("f8E8M0FNU=0", "--input 1: 0 is out of range for f8E8M0FNU (min 5.87747E-39, max 1.70141E+38)."),
        ("(ignored)", "--input 1: (ignored) is for --expected_output; a null reference is (null)"),
        ("@/dev/zero", "--input 1: /dev/zero is a device, not a file"),
        ("4294967296x4294967296x4xf32", "--input 1: the shape of 4294967296x4294967296x4xf32 is too large"),
    ] {
        assert_eq!(fails(Kind::Ref, text).1, message, "{text}");
    }
    assert_eq!(fails(Kind::I32, "1.5").1, "--input 1: \"1.5\" is not an i32.");
    assert_eq!(fails(Kind::I32, "3000000000").1, "--input 1: 3000000000 is out of range for i32 (max 2147483647).");
    assert_eq!(fails(Kind::F32, "abc").1, "--input 1: \"abc\" is not an f32.");
    assert_eq!(fails(Kind::Ref, "1000000000000000xf32=1").0, StatusCode::ResourceExhausted);
    assert_eq!(fails(Kind::Ref, "@/nonexistent.npy").0, StatusCode::NotFound);
    let none: [&str; 0] = [];
    let text = reader("--input").read_all(&none, &[Kind::Ref, Kind::I32]).unwrap_err().to_string();
    assert_eq!(text, "INVALID_ARGUMENT; the function takes 2 values, 0 given with --input");
}

#[test]
fn scalars_narrower_than_their_register_fit_their_type() {
    let read = |name: &str, text: &str| {
        let narrow = vec![Some(ElementType::parse(name).unwrap())];
        reader("--input").narrow(narrow).read_all(&[text], &[Kind::I32]).map(|mut values| values.remove(0))
    };
    for (name, text, value) in [
        ("i1", "true", 1),
        ("i1", "0", 0),
        ("i8", "-128", -128),
        ("i8", "255", 255),
        ("i8", "0xFF", 255),
        ("si8", "0xFF", -1),
        ("ui16", "65535", 65535),
        ("i16", "-1", -1),
    ] {
        let found = read(name, text).unwrap();
        assert!(matches!(found, Parsed::Value(Value::I32(v)) if v == value), "{name} {text}: {found:?}");
    }
    for (name, text, message) in [
        ("i1", "2", "--input 1: \"2\" is not an i1; i1 values are 0/1 or false/true."),
        ("i8", "256", "--input 1: 256 is out of range for i8 (max 255)."),
        ("i8", "-129", "--input 1: -129 is out of range for i8 (min -128)."),
        ("si8", "128", "--input 1: 128 is out of range for si8 (max 127)."),
        ("ui8", "-1", "--input 1: -1 is out of range for ui8 (min 0)."),
        ("i16", "1.5", "--input 1: \"1.5\" is not an i16."),
    ] {
        assert_eq!(read(name, text).unwrap_err().message(), message, "{name} {text}");
    }
}

#[test]
fn the_sign_of_nan_is_printed_as_iree_prints_it() {
    for (text, printed) in
        [("f32=-nan", "f32=-NAN"), ("f64=-nan", "f64=-NAN"), ("f16=-nan", "f16=NAN"), ("bf16=-nan", "bf16=NAN")]
    {
        let values = run(&[Kind::Ref], &[format!("--input={text}")]).unwrap();
        assert_eq!(values.1, format!("result[0]: hal.buffer_view\n{printed}\n"));
    }
}

#[test]
fn friendlier_than_iree() {
    for (text, printed) in [
        ("2xi1=1 0", "2xi1=01 00"),
        ("2xi1=true false", "2xi1=01 00"),
        ("2xf32=+1 +2.5", "2xf32=1 2.5"),
        ("3xx8=01 02 ff", "3x*8=01 02 FF"),
        ("3xi4=1 -8 7", "3xi4=1 -8 7"),
        ("5xi4=-3", "5xi4=-3 -3 -3 -3 -3"),
        ("4xui2=0 1 2 3", "4xui2=0 1 2 3"),
    ] {
        let values = run(&[Kind::Ref], &[format!("--input={text}")]).unwrap();
        assert_eq!(values.1, format!("result[0]: hal.buffer_view\n{printed}\n"));
    }
}

#[test]
fn scalars_and_buffers_compare() {
    let same = |kind, input: &str, expected: &str| {
        run(&[kind], &[format!("--input={input}"), format!("--expected_output={expected}")]).unwrap().0
    };
    assert!(same(Kind::I32, "3", "3") && !same(Kind::I32, "3", "4"));
    assert!(same(Kind::F32, "1", "1.00001") && !same(Kind::F32, "1", "1.1"));
    assert!(same(Kind::Ref, "&4xi8=1", "&4xi8=1") && !same(Kind::Ref, "&4xi8=1", "&4xi8=2"));
    assert!(!same(Kind::Ref, "4xf32=1", "(null)"));
    assert!(same(Kind::Ref, "2xi32=1 2", "2xsi32=1 2") && !same(Kind::Ref, "2xi32=1 2", "2xsi32=1 3"));
}

#[test]
fn npy_arrays_one_after_the_other() {
    let folder = std::env::temp_dir().join(format!("tiree-npy-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("x.npy").to_str().unwrap().to_owned();
    let mut file = Vec::new();
    for text in ["2x2xf32=1 2 3 4", "3xi1=1 0 1", "si64=-5", "2xui16=1 2", "2xcf64=0000803f00000040"] {
        let parsed = reader("--input").read_all(&[text], &[Kind::Ref]).unwrap().remove(0);
        let Parsed::Value(Value::Ref(view)) = parsed else { panic!("not a view") };
        file.extend(npy::write(tiree_vm::refs::downcast_ref(&view).unwrap()).unwrap());
    }
    std::fs::write(&path, file).unwrap();
    let printed = |texts: &[&str], count: usize| {
        let texts: Vec<String> = texts.iter().map(|text| format!("--input={}", text.replace('$', &path))).collect();
        run(&vec![Kind::Ref; count], &texts).unwrap().1
    };
    let all = printed(&["*$"], 5);
    for line in
        ["2x2xf32=[1 2][3 4]", "3xi1=01 00 01", "si64=-5", "2xui16=1 2", "2xcf64=0000803F00000040 0000803F00000040"]
    {
        assert!(all.contains(&format!("\n{line}\n")), "{line} in {all}");
    }
    let two = printed(&["@$", "+$", "@$"], 3);
    assert_eq!(two.matches("2x2xf32").count(), 2);
    assert!(two.contains("result[1]: hal.buffer_view\n3xi1"));
    // With a type in front, the array must be of that type; its header is never taken for numbers.
    assert!(printed(&["2x2xf32=@$"], 1).contains("2x2xf32=[1 2][3 4]"));
    let other = format!("4xf32=@{path}");
    assert!(fails(Kind::Ref, &other).1.ends_with("x.npy is a .npy file of 2x2xf32, not of 4xf32"));
    let archive = folder.join("v.npz");
    std::fs::write(&archive, b"PK\x03\x04....").unwrap();
    assert!(fails(Kind::Ref, &format!("@{}", archive.display())).1.contains("this is a .npz archive"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Files that numpy itself wrote: big-endian, Fortran order, version 2 header.
#[test]
fn npy_of_numpy() {
    let header = |descr: &str, fortran: &str, shape: &str| {
        let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes
    };
    let mut file = header(">i2", "True", "(2, 3)");
    // Column by column: [[1, 2, 3], [4, 5, 6]].
    for value in [1u16, 4, 2, 5, 3, 6] {
        file.extend(value.to_be_bytes());
    }
    let (array, length) = npy::read(&file).unwrap();
    assert_eq!(length, file.len());
    let values: Vec<u16> = array.bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    assert_eq!((array.shape.as_slice(), values), (&[2u64, 3][..], vec![1, 2, 3, 4, 5, 6]));
    for end in 0..file.len() {
        assert!(npy::read(&file[..end]).is_err(), "cut at {end}");
    }
    assert_eq!(npy::read(&header("<U4", "False", "()")).unwrap_err().code(), StatusCode::Unimplemented);
}
