//! Parameters against an archive that iree-create-parameters wrote and a module that iree-compile made.

use std::sync::Arc;
use tiree_hal::drivers::executing;
use tiree_hal::parameters::{ArchiveBuilder, Format, Index, ParametersModule, Provider, Source};
use tiree_runtime::{Instance, Session};
use tiree_vm::StatusCode;

fn fixture(name: &str) -> String {
    format!("{}/../hal/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn model() -> Arc<Index> {
    let index = Index::new();
    index.load(fixture("model.irpa")).unwrap();
    index
}

fn session(driver: &str, providers: Vec<Provider>) -> tiree_vm::Result<Session> {
    let instance = Instance::new();
    let session = Session::new(&instance, instance.create_device(driver)?)?;
    session.append_module(Arc::new(ParametersModule::new(providers)))?;
    session.append_module_from_file(fixture("parameters.vmfb"))?;
    Ok(session)
}

#[test]
fn reads_the_archive() {
    let index = model();
    let entries = index.entries();
    let names: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!((names, entries[0].len(), entries[1].len()), (vec!["w", "s"], 16, 64));
    let mut bytes = [0; 4];
    entries[0].read(4, &mut bytes).unwrap();
    assert_eq!(f32::from_le_bytes(bytes), 2.0);
    entries[1].read(60, &mut bytes).unwrap();
    assert_eq!(f32::from_le_bytes(bytes), 1.5);
    assert_eq!(entries[1].read(61, &mut bytes).unwrap_err().code(), StatusCode::OutOfRange);
}

#[test]
fn writes_the_same_bytes_as_iree() {
    let mut builder = ArchiveBuilder::default();
    model().entries().into_iter().for_each(|entry| builder.add(entry));
    let mut ours = Vec::new();
    builder.write(&mut ours).unwrap();
    let theirs = std::fs::read(fixture("model.irpa")).unwrap();
    assert_eq!(builder.len(), ours.len() as u64);
    assert_eq!(ours.iter().zip(&theirs).position(|(a, b)| a != b), None);
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn modules_get_their_parameters() {
    for driver in executing() {
        let session = session(driver, vec![Provider { scope: "model".into(), index: model() }]).unwrap();
        let mut call = session.call("module.scaled").unwrap();
        call.push_array(&[4], &[10f32; 4]).unwrap();
        call.invoke().unwrap();
        assert_eq!(call.pop_array::<f32>().unwrap().1, [10.0, 20.0, 30.0, 40.0]);
        let mut call = session.call("module.splat").unwrap();
        call.invoke().unwrap();
        assert_eq!(call.pop_array::<f32>().unwrap().1, [3.0; 16]);
    }
}

#[test]
fn missing_scopes_and_names_are_named() {
    let text = session("local-sync", vec![]).err().unwrap().to_string();
    assert!(text.contains("no provider registered that handles scopes like 'model'"), "{text}");
    assert!(text.contains("--parameters=model=FILE"), "{text}");
    let text = session("local-sync", vec![Provider { scope: "model".into(), index: Index::new() }]).err().unwrap();
    assert_eq!(text.code(), StatusCode::NotFound);
    assert!(text.to_string().contains("key 'w'"), "{text}");
}

#[test]
fn wrong_sizes_are_found() {
    for length in [8, 24] {
        let index = Index::new();
        index.add_data("w".into(), Vec::new(), &Source::copy(&[0; 24]), 0, length).unwrap();
        let status = session("local-sync", vec![Provider { scope: "model".into(), index }]).err().unwrap();
        assert_eq!(status.code(), StatusCode::OutOfRange);
        let want = format!("parameter 'w' of memory (scope 'model') has {length} bytes, the program needs 16");
        assert!(status.to_string().contains(&want), "{status}");
    }
}

#[test]
fn preloaded_and_writable_files() {
    let preloaded = Source::read(fixture("model.irpa")).unwrap();
    let index = Index::new();
    index.load_source(&preloaded, Format::Irpa).unwrap();
    let entry = index.get("w").unwrap();
    assert!(entry.write(0, &[0]).unwrap_err().to_string().contains("it was opened for reading"));
    let path = std::env::temp_dir().join(format!("tiree-parameters-{}.irpa", std::process::id()));
    std::fs::copy(fixture("model.irpa"), &path).unwrap();
    let index = Index::new();
    index.load_source(&Source::map(&path, true).unwrap(), Format::Irpa).unwrap();
    let entry = index.get("w").unwrap();
    entry.write(4, &9f32.to_le_bytes()).unwrap();
    assert_eq!(entry.write(13, &[0; 4]).unwrap_err().code(), StatusCode::OutOfRange);
    assert!(index.get("s").unwrap().write(0, &[1]).is_err());
    entry.source().unwrap().flush().unwrap();
    let again = Index::new();
    again.load(&path).unwrap();
    let mut bytes = [0; 8];
    again.get("w").unwrap().read(0, &mut bytes).unwrap();
    assert_eq!((&bytes[..4], &bytes[4..]), (&1f32.to_le_bytes()[..], &9f32.to_le_bytes()[..]));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn reads_the_other_formats() {
    for (file, other, length) in [("model.safetensors", "b", 3), ("model.gguf", "q", 68)] {
        let index = Index::new();
        index.load(fixture(file)).unwrap();
        assert_eq!(index.len(), 2, "{file}");
        assert_eq!(index.get(other).unwrap().len(), length, "{file}");
        let mut bytes = [0; 16];
        index.get("w").unwrap().read(0, &mut bytes).unwrap();
        let numbers: Vec<f32> = bytes.chunks(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect();
        assert_eq!(numbers, [1.0, 2.0, 3.0, 4.0], "{file}");
    }
}

/// Every byte of the structure changed, and every cut: an error or entries that can be read, and errors name the file.
#[test]
fn damaged_archives_are_errors() {
    for (file, format) in
        [("model.irpa", Format::Irpa), ("model.safetensors", Format::Safetensors), ("model.gguf", Format::Gguf)]
    {
        let original = std::fs::read(fixture(file)).unwrap();
        let entries = |bytes: &[u8]| {
            let index = Index::new();
            index.load_source(&Source::copy(bytes), format).map(|()| index.entries())
        };
        let structure = if format == Format::Irpa { 0x150 } else { original.len() };
        // The last 28 bytes of the GGUF file fill it up.
        let cuts = if format == Format::Gguf { structure - 28 } else { structure };
        for end in 0..cuts {
            let status = entries(&original[..end]).err().unwrap_or_else(|| panic!("{file} cut at {end}"));
            assert!(status.to_string().contains("cannot load memory: "), "{status}");
        }
        for at in 0..structure {
            for value in [0u8, 1, 0x7F, 0xFF, original[at] ^ 0x10] {
                let mut bytes = original.clone();
                bytes[at] = value;
                for entry in entries(&bytes).unwrap_or_default().iter().filter(|entry| entry.len() < 1 << 20) {
                    entry.read(0, &mut vec![0; entry.len() as usize]).unwrap();
                }
            }
        }
    }
}

#[test]
fn damage_is_described() {
    let safetensors = |header: &str, data: usize| {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.resize(bytes.len() + data, 0);
        Index::new().load_source(&Source::copy(&bytes), Format::Safetensors).unwrap_err().to_string()
    };
    let tensor = |offsets: &str| format!(r#"{{"w":{{"dtype":"F32","shape":[2,2],"data_offsets":{offsets}}}}}"#);
    for (text, want) in [
        (safetensors(&tensor("[0,16]"), 12), "tensor \"w\" lies at [0, 16) of 12 bytes of data"),
        (safetensors(&tensor("[0,12]"), 16), "F32 of shape [2x2] takes 16 bytes, its data has 12 (tensor \"w\")"),
        (safetensors(&tensor("[9,3]"), 16), "data_offsets [9, 3] are not a range"),
        (safetensors(&tensor("[0]"), 16), "data_offsets are not two numbers"),
        (safetensors("[1]", 0), "the header is not a JSON object"),
        (safetensors("{", 0), "the header is not JSON"),
    ] {
        assert!(text.contains(want), "{text}");
    }
    let gguf = |change: fn(&mut Vec<u8>)| {
        let mut bytes = std::fs::read(fixture("model.gguf")).unwrap();
        change(&mut bytes);
        Index::new().load_source(&Source::copy(&bytes), Format::Gguf).unwrap_err().to_string()
    };
    for (text, want) in [
        (gguf(|bytes| bytes[4] = 1), "GGUF version 1 is not supported"),
        (gguf(|bytes| bytes[4..8].reverse()), "the file is big-endian"),
        (gguf(|bytes| bytes[0] = 0), "not a GGUF file"),
        (gguf(|bytes| bytes.truncate(bytes.len() - 64)), "tensor \"q\" of 68 bytes at offset 32 of the data"),
    ] {
        assert!(text.contains(want), "{text}");
    }
}

#[test]
fn other_formats_are_refused_by_name() {
    let status = Index::new().load("x.bin").unwrap_err();
    assert!(status.code() == StatusCode::Unimplemented && status.message().contains("x.bin"), "{status}");
    let status = Index::new().load("/nowhere/x.gguf").unwrap_err();
    assert!(status.code() == StatusCode::NotFound && status.message().contains("/nowhere/x.gguf"), "{status}");
}
