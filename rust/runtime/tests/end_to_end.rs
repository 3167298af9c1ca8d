//! Modules made by iree-compile 3.13.0 (see rust/hal/tests/fixtures/make_fixtures.py) on both devices, with values computed here.

use std::sync::Arc;
use tiree_hal::drivers::executing;
use tiree_hal::fence::Fence;
use tiree_runtime::{Instance, Session, array_to_view, view_to_array};
use tiree_task::TopologyOptions;
use tiree_vm::{Step, Value, refs};

fn fixture(name: &str) -> String {
    format!("{}/../hal/tests/fixtures/{name}.vmfb", env!("CARGO_MANIFEST_DIR"))
}

/// Calls `body` with a session on each device, with one and with several workers.
fn on_every_device(name: &str, body: impl Fn(&Session)) {
    for workers in [1, 3] {
        let options = TopologyOptions { group_count: workers, ..Default::default() };
        let instance = Instance::with_topology(options);
        for driver in executing() {
            let session = Session::new(&instance, instance.create_device(driver).unwrap()).unwrap();
            session.append_module_from_file(fixture(name)).unwrap();
            body(&session);
        }
    }
}

#[test]
fn add() {
    on_every_device("add", |session| {
        let mut call = session.call("module.add").unwrap();
        for _ in 0..3 {
            call.push_array(&[4], &[1f32, 2.0, 3.0, 4.0]).unwrap();
            call.push_array(&[4], &[5f32, 6.0, 7.0, 8.0]).unwrap();
            call.invoke().unwrap();
            let (shape, values) = call.pop_array::<f32>().unwrap();
            assert_eq!((shape.as_slice(), values.as_slice()), (&[4u64][..], &[6f32, 8.0, 10.0, 12.0][..]));
            assert!(call.pop().is_err());
        }
    });
}

#[test]
fn mlp() {
    let x: Vec<f32> = (0..16).map(|i| i as f32 / 4.0 - 1.0).collect();
    let expected: Vec<f32> = (0..2)
        .flat_map(|row| {
            let sum: f32 = x[row * 8..][..8].iter().map(|v| v * 0.5).sum();
            [(sum - 1.0).max(0.0) * 0.25 * 16.0; 4]
        })
        .collect();
    on_every_device("mlp", |session| {
        let mut call = session.call("module.mlp").unwrap();
        call.push_array(&[2, 8], &x).unwrap();
        call.invoke().unwrap();
        assert_eq!(call.pop_array::<f32>().unwrap().1, expected);
    });
}

#[test]
fn a_loop_decided_by_data() {
    fn steps(mut n: i32) -> i32 {
        let mut count = 0;
        while n > 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            count += 1;
        }
        count
    }
    on_every_device("loop", |session| {
        for n in [1, 2, 7, 27] {
            let mut call = session.call("module.collatz_steps").unwrap();
            call.push_array(&[], &[n]).unwrap();
            call.invoke().unwrap();
            assert_eq!(call.pop_array::<i32>().unwrap().1, [steps(n)], "{n}");
        }
    });
}

#[test]
fn constants() {
    on_every_device("constants", |session| {
        let mut call = session.call("module.scale").unwrap();
        call.push_array(&[2, 3], &[2f32; 6]).unwrap();
        call.invoke().unwrap();
        assert_eq!(call.pop_array::<f32>().unwrap().1, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
        let mut call = session.call("module.weights").unwrap();
        call.invoke().unwrap();
        assert_eq!(call.pop_array::<i32>().unwrap().1, [7, 11, 13, 17, 19]);
    });
}

#[test]
fn several_functions_kinds_and_sizes() {
    on_every_device("several", |session| {
        let mut call = session.call("module.positive").unwrap();
        call.push_array(&[5], &[-1f32, 0.0, 1.0, f32::NAN, 2.0]).unwrap();
        call.invoke().unwrap();
        let Value::Ref(result) = call.pop().unwrap() else { panic!("not a reference") };
        let view: &tiree_hal::buffer_view::BufferView = refs::downcast_ref(&result).unwrap();
        assert_eq!((view.type_text().as_str(), view.to_vec().unwrap()), ("5xi1", vec![0, 0, 1, 0, 1]));

        let mut call = session.call("module.two").unwrap();
        call.push_array(&[3], &[1f64, 2.5, -3.0]).unwrap();
        call.push(14);
        call.invoke().unwrap();
        assert_eq!(call.pop_array::<f64>().unwrap().1, [2.0, 5.0, -6.0]);
        assert!(matches!(call.pop().unwrap(), Value::I32(42)));

        let x: Vec<f32> = (0..512 * 1024).map(|i| (i % 1000) as f32).collect();
        for _ in 0..3 {
            let mut call = session.call("module.big").unwrap();
            call.push_array(&[512, 1024], &x).unwrap();
            call.invoke().unwrap();
            assert!(call.pop_array::<f32>().unwrap().1.iter().zip(&x).all(|(y, x)| *y == x * x));
        }
    });
}

#[test]
fn dynamic_shapes() {
    on_every_device("dynamic", |session| {
        for rows in [1, 3, 100] {
            let x: Vec<f32> = (0..rows * 4).map(|i| i as f32).collect();
            let mut call = session.call("module.rows").unwrap();
            call.push_array(&[rows, 4], &x).unwrap();
            call.invoke().unwrap();
            let (shape, y) = call.pop_array::<f32>().unwrap();
            assert_eq!(shape.as_slice(), [rows, 4]);
            assert!(y.iter().zip(&x).all(|(y, x)| *y == 2.0 * x));
        }
    });
}

#[test]
fn wrong_arguments_say_what_is_needed() {
    on_every_device("add", |session| {
        let mut call = session.call("module.add").unwrap();
        call.push_array(&[4], &[1f64; 4]).unwrap();
        call.push_array(&[4], &[1f32; 4]).unwrap();
        let text = call.invoke().unwrap_err().to_string();
        assert!(
            text.contains("`input0` element type mismatch; expected f32 (21000020) but have f64 (21000040)"),
            "{text}"
        );
        assert!(text.contains("argument 1 is 4xf64; needs 4xf32"), "{text}");
        call.push_array(&[4], &[1f32; 4]).unwrap();
        call.push_array(&[2, 2], &[1f32; 4]).unwrap();
        let text = call.invoke().unwrap_err().to_string();
        assert!(text.contains("shape rank mismatch; expected 1 but have 2"), "{text}");
        call.push_array(&[4], &[1f32; 4]).unwrap();
        call.push_array(&[5], &[1f32; 5]).unwrap();
        let text = call.invoke().unwrap_err().to_string();
        assert!(
            text.contains("shape dimension 0 mismatch; expected 4 but have 5; expected shape `4`, actual shape `5`")
        );
        call.push(3);
        assert!(call.invoke().is_err());
    });
}

/// Two invocations on one thread, each waiting for a fence that the host signals, in the other order.
#[test]
fn coarse_fences_let_invocations_interleave() {
    let instance = Instance::new();
    let session = Session::new(&instance, instance.create_device("local-task").unwrap()).unwrap();
    session.append_module_from_file(fixture("fences")).unwrap();
    let function = session
        .context()
        .lookup_function("module.square$async")
        .or_else(|_| session.context().lookup_function("module.square"));
    let function = function.unwrap();
    let mut calls = Vec::new();
    for base in [1f32, 10.0] {
        let input = array_to_view(session.device(), &[4], &[base, base + 1.0, base + 2.0, base + 3.0]).unwrap();
        let (wait, signal) = (Arc::new(Fence::unsignalled()), Arc::new(Fence::unsignalled()));
        let args = vec![
            Value::from_object(Arc::new(input)),
            Value::from_object(wait.clone()),
            Value::from_object(signal.clone()),
        ];
        let mut invocation = function.start(args).unwrap();
        let Step::Done(results) = invocation.step().unwrap() else { panic!("waits for the host") };
        assert!(signal.poll().is_none());
        calls.push((base, wait, signal, results));
    }
    for (base, wait, signal, results) in calls.into_iter().rev() {
        wait.signal().unwrap();
        signal.wait(None).unwrap();
        let Value::Ref(result) = &results[0] else { panic!("not a reference") };
        let (_, values) = view_to_array::<f32>(refs::downcast_ref(result).unwrap()).unwrap();
        assert_eq!(values[0], base * base);
        assert_eq!(values[3], (base + 3.0) * (base + 3.0));
    }
}

/// After the workers have started, a forked child gets an error from the device, not a hang.
#[cfg(target_os = "linux")]
#[test]
fn forked_children_get_an_error() {
    let instance = Instance::with_topology(TopologyOptions { group_count: 2, ..Default::default() });
    let session = Session::new(&instance, instance.create_device("local-task").unwrap()).unwrap();
    session.append_module_from_file(fixture("several")).unwrap();
    let x = vec![1f32; 512 * 1024];
    let call = || -> tiree_vm::Result<()> {
        let mut call = session.call("module.big")?;
        call.push_array(&[512, 1024], &x)?;
        call.invoke()
    };
    call().unwrap();
    // SAFETY: the child uses only this thread's objects and leaves through _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let forked = call().err().is_some_and(|status| status.to_string().contains("forked"));
        // SAFETY: ends the child without running destructors.
        unsafe { libc::_exit(i32::from(!forked)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:#x}");
    call().unwrap();
}
