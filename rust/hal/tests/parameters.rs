//! Parameters against an archive that iree-create-parameters wrote and a module that iree-compile made.

use std::sync::Arc;
use tiree_hal::drivers::DRIVERS;
use tiree_hal::parameters::{Entry, Index, ParametersModule, Provider, Source, Storage, irpa};
use tiree_hal::runtime::{Instance, Session};
use tiree_vm::StatusCode;

fn fixture(name: &str) -> String {
    format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
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
    let (ours, theirs) = (irpa::write(&model()), std::fs::read(fixture("model.irpa")).unwrap());
    assert_eq!(ours.iter().zip(&theirs).position(|(a, b)| a != b), None);
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn modules_get_their_parameters() {
    for driver in DRIVERS {
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
    let index = model();
    let storage = Storage::Data { source: Source::copy(&[0; 8]), offset: 0, length: 8 };
    index.add(Entry { key: "w".into(), metadata: Vec::new(), storage });
    let status = session("local-sync", vec![Provider { scope: "model".into(), index }]).err().unwrap();
    assert_eq!(status.code(), StatusCode::OutOfRange);
    assert!(status.to_string().contains("parameter 'w' of 8 bytes"), "{status}");
}

#[test]
fn damaged_archives_are_errors() {
    let original = std::fs::read(fixture("model.irpa")).unwrap();
    for end in [0, 3, 50, 0x60, 0x100, 0x141] {
        assert!(irpa::read(&Source::copy(&original[..end]), &Index::new()).is_err(), "cut at {end}");
    }
    for at in 0..0x108 {
        for value in [0u8, 1, 0x7F, 0xFF] {
            let mut bytes = original.clone();
            bytes[at] = value;
            let index = Index::new();
            if irpa::read(&Source::copy(&bytes), &index).is_ok() {
                // What was accepted must be readable.
                for entry in index.entries().iter().filter(|entry| entry.len() < 1 << 20) {
                    entry.read(0, &mut vec![0; entry.len() as usize]).unwrap();
                }
            }
        }
    }
}

#[test]
fn other_formats_are_refused_by_name() {
    let status = Index::new().load("x.gguf").unwrap_err();
    assert!(status.code() == StatusCode::Unimplemented && status.message().contains("gguf"), "{status}");
}
