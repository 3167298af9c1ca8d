//! `hal.fence.await`, suspending and blocking.

use std::sync::Arc;
use std::time::{Duration, Instant};
use tiree_hal::drivers::create_device;
use tiree_hal::fence::Fence;
use tiree_hal::module::HalModule;
use tiree_task::TopologyOptions;
use tiree_vm::{BytecodeModule, Context, Function, Status, StatusCode, Step, Value};

fn wait_function(synchronous: bool) -> Function {
    let device = create_device("local-task", &TopologyOptions::default()).unwrap();
    let context = Context::growable();
    context.register(Arc::new(HalModule::new(vec![device], synchronous))).unwrap();
    let path = format!("{}/tests/fixtures/await.vmfb", env!("CARGO_MANIFEST_DIR"));
    context.register(BytecodeModule::open(path).unwrap()).unwrap();
    context.lookup_function("await.wait").unwrap()
}

fn args(fence: &Arc<Fence>, timeout: i32) -> Vec<Value> {
    vec![Value::from_object(fence.clone()), Value::I32(timeout)]
}

/// Two invocations on one thread, each suspended on a fence that the host signals, finished in the other order.
#[test]
fn invocations_interleave_on_one_thread() {
    let function = wait_function(false);
    let fences = [Arc::new(Fence::unsignalled()), Arc::new(Fence::unsignalled())];
    let mut calls: Vec<_> = fences.iter().map(|fence| function.start(args(fence, -1)).unwrap()).collect();
    let mut waits = Vec::new();
    for call in &mut calls {
        let Step::Pending(Some(wait)) = call.step().unwrap() else { panic!("did not suspend") };
        assert!(!wait.is_ready());
        waits.push(wait);
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    for (number, wait) in waits.iter().enumerate() {
        let sender = sender.clone();
        wait.on_ready(Box::new(move || sender.send(number).unwrap()));
    }
    for number in [1, 0] {
        assert!(receiver.try_recv().is_err());
        fences[number].signal().unwrap();
        assert_eq!(receiver.recv().unwrap(), number);
        let Step::Done(results) = calls[number].step().unwrap() else { panic!("still waits") };
        assert!(matches!(results[..], [Value::I32(0)]));
    }
}

#[test]
fn timeouts_and_failures_in_both_modes() {
    for synchronous in [false, true] {
        let function = wait_function(synchronous);
        let fence = Arc::new(Fence::unsignalled());
        for timeout in [0, 5] {
            let start = Instant::now();
            let results = function.invoke(args(&fence, timeout)).unwrap();
            assert!(matches!(results[..], [Value::I32(4)]), "{results:?}");
            assert!(start.elapsed() >= Duration::from_millis(timeout as u64));
        }
        let other = fence.clone();
        let helper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(2));
            other.signal().unwrap();
        });
        assert!(matches!(function.invoke(args(&fence, -1)).unwrap()[..], [Value::I32(0)]));
        helper.join().unwrap();
        let failed = Arc::new(Fence::unsignalled());
        failed.fail(&Status::data_loss("the disk is gone"));
        let status = function.invoke(args(&failed, -1)).unwrap_err();
        assert_eq!((status.code(), status.message()), (StatusCode::DataLoss, "the disk is gone"));
        assert!(matches!(function.invoke(vec![Value::NULL, Value::I32(-1)]).unwrap()[..], [Value::I32(0)]));
    }
}

/// The callback of a wait with a deadline comes even when nobody ever signals.
#[test]
fn deadlines_call_back() {
    let function = wait_function(false);
    let fence = Arc::new(Fence::unsignalled());
    let mut call = function.start(args(&fence, 5)).unwrap();
    let Step::Pending(Some(wait)) = call.step().unwrap() else { panic!("did not suspend") };
    let (sender, receiver) = std::sync::mpsc::channel();
    wait.on_ready(Box::new(move || sender.send(()).unwrap()));
    receiver.recv().unwrap();
    let Step::Done(results) = call.step().unwrap() else { panic!("still waits") };
    assert!(matches!(results[..], [Value::I32(4)]));
}
