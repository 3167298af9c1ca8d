//! The API for Rust programs: what is shared, what can be used again, and what mistakes are answered with.
#![cfg(target_arch = "x86_64")] // What the fixtures were compiled for.

use std::sync::Arc;
use std::time::Duration;
use tiree_runtime::{ContextOptions, Instance, Limits, Session, StatusCode, TopologyOptions, Value};

fn path(name: &str) -> String {
    format!("{}/../hal/tests/fixtures/{name}.vmfb", env!("CARGO_MANIFEST_DIR"))
}

fn session(device: &str) -> Session {
    let instance = Instance::with_topology(TopologyOptions { group_count: 2, ..Default::default() });
    let session = Session::new(&instance, instance.create_device(device).unwrap()).unwrap();
    session.append_module_from_file(path("add")).unwrap();
    session
}

#[test]
fn a_call_can_be_used_again() {
    for device in ["local-sync", "local-task"] {
        let session = session(device);
        assert_eq!(session.function_names(), ["module.add"]);
        let mut call = session.call("module.add").unwrap();
        for round in 0..3u8 {
            let value = f32::from(round);
            call.push_array(&[4], &[value; 4]).unwrap();
            call.push_array(&[4], &[1.0f32; 4]).unwrap();
            call.invoke().unwrap();
            assert_eq!(call.output_count(), 1);
            let view = call.pop_view().unwrap();
            assert_eq!((view.shape(), view.type_text()), (&[4][..], "4xf32".to_owned()));
            assert_eq!(tiree_runtime::view_to_array::<f32>(&view).unwrap().1, [value + 1.0; 4]);
            assert_eq!(call.pop().unwrap_err().code(), StatusCode::OutOfRange);
            // A result can be an input.
            call.push_view(view.clone());
            call.push_view(view);
            call.invoke().unwrap();
            call.reset();
            assert_eq!(call.output_count(), 0);
        }
    }
}

#[test]
fn sessions_of_many_threads_share_a_device() {
    let instance = Instance::with_topology(TopologyOptions { group_count: 2, ..Default::default() });
    let device = instance.create_default_device().unwrap();
    std::thread::scope(|threads| {
        for thread in 0..8u8 {
            let (instance, device) = (instance.clone(), device.clone());
            threads.spawn(move || {
                let session = Session::new(&instance, device).unwrap();
                session.append_module_from_bytes(&std::fs::read(path("add")).unwrap()).unwrap();
                let mut call = session.call("module.add").unwrap();
                for _ in 0..50 {
                    call.push_array(&[4], &[f32::from(thread); 4]).unwrap();
                    call.push_array(&[4], &[1.0f32; 4]).unwrap();
                    call.invoke().unwrap();
                    assert_eq!(call.pop_array::<f32>().unwrap().1, [f32::from(thread) + 1.0; 4]);
                }
            });
        }
    });
    assert_eq!(Arc::strong_count(&device), 2);
}

#[test]
fn mistakes_are_answered_with_what_to_do() {
    let session = session("local-sync");
    let error = session.call("module.sub").map(|_| ()).unwrap_err();
    assert_eq!(error.code(), StatusCode::NotFound);
    assert!(error.to_string().contains("it has: add"), "{error}");
    let mut call = session.call("module.add").unwrap();
    let error = call.push_array(&[5], &[1.0f32; 4]).unwrap_err();
    assert!(error.to_string().contains("4 elements do not make a tensor of shape [5]"), "{error}");
    call.push_array(&[4], &[1.0f32; 4]).unwrap();
    let error = call.invoke().unwrap_err();
    assert!(error.to_string().contains("expected 2 arguments but passed 1"), "{error}");
    // The inputs of a failed call are gone.
    call.push_array(&[4], &[1.0f32; 4]).unwrap();
    call.push_array(&[4], &[1.0f32; 4]).unwrap();
    call.invoke().unwrap();
    let error = call.pop_array::<i32>().unwrap_err();
    assert!(error.to_string().contains("the tensor is 4xf32, not of i32"), "{error}");
    let instance = session.instance();
    assert!(instance.create_device("gpu").map(|_| ()).unwrap_err().to_string().contains("use local-task"));
    let error = session.append_module_from_file("nowhere.vmfb").unwrap_err();
    assert!(error.to_string().contains("nowhere.vmfb"), "{error}");
}

#[test]
fn limits_end_calls() {
    let instance = Instance::new();
    let options = ContextOptions { limits: Limits { fuel: Some(1), ..Limits::default() }, ..Default::default() };
    let device = instance.create_device("local-sync").unwrap();
    let narrow = Session::with_options(&instance, device, &options).unwrap();
    // The initializer is a call, too.
    let error = narrow.append_module_from_file(path("add")).unwrap_err();
    assert_eq!(error.code(), StatusCode::ResourceExhausted);
    let session = session("local-sync");
    let mut call = session.call("module.add").unwrap();
    call.push_array(&[4], &[1.0f32; 4]).unwrap();
    call.push(Value::NULL);
    let limits = Limits { timeout: Some(Duration::ZERO), ..Limits::default() };
    assert_eq!(call.invoke_limited(&limits).unwrap_err().code(), StatusCode::DeadlineExceeded);
}
