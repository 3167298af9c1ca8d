//! The queue rules that programs rely on, on both devices: order by fences only, failure along fences, lifetimes.

use smallvec::smallvec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tiree_hal::TableEntry;
use tiree_hal::buffer::{Buffer, WHOLE_BUFFER};
use tiree_hal::command_buffer::{Binding, CommandBuffer, Pattern};
use tiree_hal::device::Device;
use tiree_hal::drivers::{create_device, executing};
use tiree_hal::fence::Fence;
use tiree_hal::file::File;
use tiree_hal::queue::QueueOp;
use tiree_hal::semaphore::Semaphore;
use tiree_hal::types::{memory_type, usage};
use tiree_task::TopologyOptions;
use tiree_vm::{Status, StatusCode, VmBuffer};

fn device(driver: &str) -> Arc<Device> {
    create_device(driver, &TopologyOptions { group_count: 2, ..Default::default() }).unwrap()
}

fn buffer(device: &Device, bytes: &[u8]) -> Arc<Buffer> {
    Arc::new(device.allocator().allocate_copy(memory_type::DEVICE_LOCAL, usage::DEFAULT, bytes).unwrap())
}

fn run(device: &Device, operation: QueueOp) {
    let done = Arc::new(Fence::unsignalled());
    device.submit(None, Some(done.clone()), operation).unwrap();
    done.wait(None).unwrap();
}

#[test]
fn fill_copy_update_read_write() {
    for driver in executing() {
        let device = device(driver);
        let target = buffer(&device, &[0; 16]);
        run(&device, QueueOp::fill(target.clone(), 4, 8, Pattern::new(0x0403_0201, 4).unwrap()).unwrap());
        run(&device, QueueOp::fill(target.clone(), 0, 2, Pattern::new(0xBBAA, 2).unwrap()).unwrap());
        run(&device, QueueOp::fill(target.clone(), 15, WHOLE_BUFFER, Pattern::new(0xFF, 1).unwrap()).unwrap());
        assert_eq!(target.to_vec().unwrap(), [0xAA, 0xBB, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4, 0, 0, 0, 0xFF]);
        let source = buffer(&device, &[9, 8, 7, 6]);
        run(&device, QueueOp::copy(source, 1, target.clone(), 0, 3).unwrap());
        run(&device, QueueOp::update(&[5, 5], target.clone(), 12).unwrap());
        let file = VmBuffer::copy_of(&[40, 41, 42], false).unwrap();
        let file = Arc::new(File::from_memory(Arc::new(file), 0, 3).unwrap());
        run(&device, QueueOp::read(file.clone(), 1, target.clone(), 14, 2).unwrap());
        assert_eq!(target.to_vec().unwrap(), [8, 7, 6, 0, 1, 2, 3, 4, 1, 2, 3, 4, 5, 5, 41, 42]);
        let done = Arc::new(Fence::unsignalled());
        device.submit(None, Some(done.clone()), QueueOp::write(target, 0, file, 0, 1).unwrap()).unwrap();
        assert_eq!(done.wait(None).unwrap_err().code(), StatusCode::PermissionDenied);
    }
}

#[test]
fn ranges_and_rights_are_checked_at_the_call() {
    let device = device("local-sync");
    let target = buffer(&device, &[0; 16]);
    let pattern = |length| Pattern::new(0, length).unwrap();
    let code = |result: tiree_vm::Result<QueueOp>| result.err().map(|status| status.code());
    assert_eq!(code(QueueOp::fill(target.clone(), 10, 8, pattern(1))), Some(StatusCode::OutOfRange));
    assert_eq!(code(QueueOp::fill(target.clone(), u64::MAX, 8, pattern(1))), Some(StatusCode::OutOfRange));
    assert_eq!(code(QueueOp::fill(target.clone(), 2, 4, pattern(4))), Some(StatusCode::InvalidArgument));
    assert!(Pattern::new(0, 3).is_err());
    let overlap = QueueOp::copy(target.clone(), 0, target.clone(), 4, 8);
    assert_eq!(code(overlap), Some(StatusCode::InvalidArgument));
    assert_eq!(code(QueueOp::copy(target.clone(), 0, target.clone(), 8, 8)), None);
    assert_eq!(code(QueueOp::update(&[0; 70_000], target.clone(), 0)), Some(StatusCode::InvalidArgument));
    // Memory may be copied and filled whatever was asked for, as in IREE; but not if it is read-only.
    let storage_only = device.allocator().allocate(memory_type::DEVICE_LOCAL, usage::DISPATCH_STORAGE, 16).unwrap();
    assert_eq!(code(QueueOp::fill(Arc::new(storage_only), 0, 4, pattern(1))), None);
    let owner: Arc<Buffer> = buffer(&device, &[0; 16]);
    let data = owner.map().unwrap().as_ptr();
    // SAFETY: the buffer is the owner; nobody writes.
    let read_only =
        unsafe { device.allocator().import(memory_type::DEVICE_LOCAL, usage::DEFAULT, data, 16, false, owner) };
    let refused = QueueOp::fill(Arc::new(read_only.unwrap()), 0, 4, pattern(1));
    assert_eq!(code(refused), Some(StatusCode::PermissionDenied));
}

#[test]
fn operations_wait_for_their_fence_and_signal_another() {
    let device = device("local-task");
    let target = buffer(&device, &[0]);
    let (go, done) = (Arc::new(Fence::unsignalled()), Arc::new(Fence::unsignalled()));
    let fill = QueueOp::fill(target.clone(), 0, 1, Pattern::new(7, 1).unwrap()).unwrap();
    device.submit(Some(go.clone()), Some(done.clone()), fill).unwrap();
    assert!(done.poll().is_none());
    let soon = Some(Instant::now() + Duration::from_millis(2));
    assert_eq!(done.wait(soon).unwrap_err().code(), StatusCode::DeadlineExceeded);
    go.signal().unwrap();
    done.wait(None).unwrap();
    assert_eq!(target.to_vec().unwrap(), [7]);
}

/// A long chain of operations submitted before its first wait is reached, in reverse order.
#[test]
fn chains_run_in_fence_order_whatever_the_order_of_submission() {
    let device = device("local-task");
    let semaphore = Arc::new(Semaphore::new(0));
    let order = Arc::new(AtomicU32::new(0));
    let count = 2000u64;
    for step in (1..=count).rev() {
        let order = order.clone();
        let check = QueueOp::host(move || {
            let seen = order.fetch_add(1, Ordering::SeqCst);
            if u64::from(seen) + 1 == step { Ok(()) } else { Err(Status::internal(format!("{seen} at step {step}"))) }
        });
        let (wait, signal) = (Fence::at(semaphore.clone(), step), Fence::at(semaphore.clone(), step + 1));
        device.submit(Some(Arc::new(wait)), Some(Arc::new(signal)), check).unwrap();
    }
    semaphore.signal(1).unwrap();
    semaphore.wait(count + 1, None).unwrap();
}

#[test]
fn failure_travels_along_fences() {
    for driver in executing() {
        let device = device(driver);
        let (first, second) = (Arc::new(Fence::unsignalled()), Arc::new(Fence::unsignalled()));
        let broken = QueueOp::host(|| Err(Status::data_loss("the disk is gone")));
        device.submit(None, Some(first.clone()), broken).unwrap();
        let ran = Arc::new(AtomicU32::new(0));
        let seen = ran.clone();
        let after = QueueOp::host(move || {
            seen.store(1, Ordering::SeqCst);
            Ok(())
        });
        device.submit(Some(first), Some(second.clone()), after).unwrap();
        let status = second.wait(None).unwrap_err();
        assert_eq!((status.code(), status.message()), (StatusCode::DataLoss, "the disk is gone"));
        assert_eq!(ran.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn panicking_operations_fail_their_fence() {
    let device = device("local-task");
    let done = Arc::new(Fence::unsignalled());
    device.submit(None, Some(done.clone()), QueueOp::host(|| panic!("oops"))).unwrap();
    assert_eq!(done.wait(None).unwrap_err().code(), StatusCode::Internal);
    run(&device, QueueOp::barrier());
}

#[test]
fn abandoned_waits_fail_instead_of_hanging() {
    let device = device("local-task");
    let (wait, signal) = (Arc::new(Fence::unsignalled()), Arc::new(Fence::unsignalled()));
    device.submit(Some(wait.clone()), Some(signal.clone()), QueueOp::barrier()).unwrap();
    drop(wait);
    assert_eq!(signal.wait(None).unwrap_err().code(), StatusCode::Aborted);
}

#[test]
fn transient_buffers_live_from_alloca_to_dealloca() {
    for driver in executing() {
        let device = device(driver);
        let ready = Arc::new(Fence::unsignalled());
        let transient =
            device.alloca(None, Some(ready.clone()), memory_type::DEVICE_LOCAL, usage::DEFAULT, 100).unwrap();
        ready.wait(None).unwrap();
        transient.write(0, &[1; 100]).unwrap();
        run(&device, QueueOp::dealloca(transient.clone()));
        assert_eq!(transient.to_vec().unwrap_err().code(), StatusCode::FailedPrecondition);
        let statistics = device.allocator().statistics().device;
        assert_eq!((statistics.allocated, statistics.freed), (100, 100));
        let fixed = buffer(&device, &[1]);
        run(&device, QueueOp::dealloca(fixed.clone()));
        assert_eq!(fixed.to_vec().unwrap(), [1]);
    }
}

#[test]
fn impossible_allocations_fail_the_fence() {
    let device = device("local-task");
    let ready = Arc::new(Fence::unsignalled());
    device.alloca(None, Some(ready.clone()), memory_type::DEVICE_LOCAL, usage::DEFAULT, usize::MAX / 2).unwrap();
    assert_eq!(ready.wait(None).unwrap_err().code(), StatusCode::ResourceExhausted);
}

fn slot(slot: u32, offset: u64, length: u64) -> Binding {
    Binding { buffer: None, slot, offset, length }
}

#[test]
fn command_buffers_replay_with_other_bindings() {
    for driver in executing() {
        let device = device(driver);
        let commands = Arc::new(CommandBuffer::new(0, 3, 2).unwrap());
        commands.fill(slot(0, 0, WHOLE_BUFFER), Pattern::new(3, 1).unwrap()).unwrap();
        commands.execution_barrier().unwrap();
        commands.execution_barrier().unwrap();
        commands.copy(slot(0, 1, 2), slot(1, 0, 2)).unwrap();
        commands.update(&[9], slot(1, 3, WHOLE_BUFFER)).unwrap();
        assert!(QueueOp::execute(commands.clone(), smallvec![]).is_err());
        commands.finalize().unwrap();
        assert!(commands.finalize().is_err() && commands.execution_barrier().is_err());
        for size in [4usize, 300_000] {
            let (a, b) = (buffer(&device, &vec![0; size]), buffer(&device, &[0; 6]));
            let table = smallvec![
                TableEntry { buffer: Some(a.clone()), offset: 0, length: WHOLE_BUFFER },
                TableEntry { buffer: Some(b.clone()), offset: 1, length: 4 },
            ];
            run(&device, QueueOp::execute(commands.clone(), table).unwrap());
            assert!(a.to_vec().unwrap().iter().all(|&byte| byte == 3));
            assert_eq!(b.to_vec().unwrap(), [0, 3, 3, 0, 9, 0]);
        }
    }
}

#[test]
fn errors_of_execution_name_command_binding_and_sizes() {
    for driver in executing() {
        let device = device(driver);
        let commands = Arc::new(CommandBuffer::new(0, 3, 2).unwrap());
        commands.fill(slot(0, 0, 4), Pattern::new(3, 1).unwrap()).unwrap();
        commands.copy(slot(0, 0, 4), slot(1, 0, 4)).unwrap();
        commands.finalize().unwrap();
        let a = buffer(&device, &[0; 8]);
        let fails = |table| {
            let done = Arc::new(Fence::unsignalled());
            let operation = QueueOp::execute(commands.clone(), table).unwrap();
            device.submit(None, Some(done.clone()), operation).unwrap();
            done.wait(None).unwrap_err().to_string()
        };
        let entry = |buffer: &Arc<Buffer>, offset, length| TableEntry { buffer: Some(buffer.clone()), offset, length };
        let text = fails(smallvec![entry(&a, 0, 8)]);
        assert!(text.contains("slot 1") && text.contains("target of command 1 (copy_buffer)"), "{text}");
        let empty = TableEntry { buffer: None, offset: 0, length: WHOLE_BUFFER };
        let text = fails(smallvec![entry(&a, 0, 8), empty]);
        assert!(text.contains("slot 1, which is empty"), "{text}");
        let text = fails(smallvec![entry(&a, 0, 2), entry(&a, 0, 8)]);
        assert!(text.contains("[0, 0 + 4) is outside slot 0 of 2 bytes"), "{text}");
        let text = fails(smallvec![entry(&a, 0, 8), entry(&a, 2, 6)]);
        assert!(text.contains("overlap") && text.contains("command 1 (copy_buffer)"), "{text}");
    }
}

#[test]
fn one_shot_command_buffers_run_once() {
    let device = device("local-sync");
    let commands = Arc::new(CommandBuffer::new(1, 3, 0).unwrap());
    commands.finalize().unwrap();
    run(&device, QueueOp::execute(commands.clone(), smallvec![]).unwrap());
    let done = Arc::new(Fence::unsignalled());
    device.submit(None, Some(done.clone()), QueueOp::execute(commands, smallvec![]).unwrap()).unwrap();
    assert_eq!(done.wait(None).unwrap_err().code(), StatusCode::FailedPrecondition);
}

#[test]
fn recording_refuses_what_cannot_be() {
    let device = device("local-sync");
    let commands = CommandBuffer::new(0, 3, 1).unwrap();
    let small = buffer(&device, &[0; 4]);
    let text = commands.fill(slot(1, 0, 4), Pattern::new(0, 1).unwrap()).unwrap_err().to_string();
    assert!(text.contains("slot 1 of a binding table of capacity 1") && text.contains("command 0"), "{text}");
    let outside = Binding { buffer: Some(small.clone()), slot: 0, offset: 2, length: 4 };
    let text = commands.fill(outside, Pattern::new(0, 1).unwrap()).unwrap_err().to_string();
    assert!(text.starts_with("OUT_OF_RANGE") && text.contains("target"), "{text}");
    assert!(commands.update(&[0; 70_000], Binding::whole(small)).is_err());
    assert!(commands.debug_group(false).is_err());
    commands.debug_group(true).unwrap();
    assert!(commands.finalize().is_err());
    commands.debug_group(false).unwrap();
    commands.finalize().unwrap();
    assert!(CommandBuffer::new(0x4000, 3, 0).is_err() && CommandBuffer::new(16, 3, 1).is_err());
}

#[test]
fn unknown_devices_are_named() {
    let text = create_device("cpu", &TopologyOptions::default()).err().unwrap().to_string();
    assert_eq!(
        text,
        "NOT_FOUND; no device \"cpu\"; this build has local-sync, local-task, null. For the CPU use local-task."
    );
    assert!(create_device("local-task://7", &TopologyOptions::default()).is_err());
    for uri in ["local-task", "local-task://", "local-sync://0", "local-sync://default"] {
        assert!(create_device(uri, &TopologyOptions::default()).is_ok(), "{uri}");
    }
}

/// Everything is checked, counted and signalled, and nothing is done.
#[test]
fn a_null_device_counts() {
    let device = device("null");
    let source = buffer(&device, &[1; 16]);
    let done = |name: &str| device.counts().unwrap().named().iter().find(|pair| pair.0 == name).unwrap().1;
    let waits = Arc::new(Fence::unsignalled());
    let target = device.alloca(None, Some(waits.clone()), memory_type::DEVICE_LOCAL, usage::DEFAULT, 100).unwrap();
    assert!(waits.poll().is_some_and(|result| result.is_ok()));
    let copy = QueueOp::copy(source.clone(), 0, target.clone(), 8, 16).unwrap();
    device.submit(None, Some(Arc::new(Fence::unsignalled())), copy).unwrap();
    let fill = QueueOp::fill(source.clone(), 0, 12, Pattern::new(9, 1).unwrap()).unwrap();
    device.submit(None, None, fill).unwrap();
    assert_eq!(source.to_vec().unwrap(), [1; 16]);
    assert!(QueueOp::copy(source.clone(), 0, target.clone(), 90, 16).is_err());
    let commands = Arc::new(CommandBuffer::new(0, 3, 1).unwrap());
    commands.update(&[1, 2, 3], Binding { buffer: None, slot: 0, offset: 0, length: 3 }).unwrap();
    commands.finalize().unwrap();
    let entry = |buffer: &Arc<Buffer>| TableEntry { buffer: Some(buffer.clone()), offset: 0, length: WHOLE_BUFFER };
    let execute = || QueueOp::execute(commands.clone(), smallvec![entry(&target)]).unwrap();
    device.submit(None, None, execute()).unwrap();
    let ran = Arc::new(AtomicU32::new(0));
    let counted = ran.clone();
    device
        .submit(
            None,
            None,
            QueueOp::host(move || {
                counted.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }),
        )
        .unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    device.submit(None, None, QueueOp::dealloca(target.clone())).unwrap();
    // What is gone cannot be executed on, here as elsewhere.
    assert_eq!(device.submit(None, None, execute()).unwrap_err().code(), StatusCode::FailedPrecondition);
    for (name, number) in [
        ("allocas", 1),
        ("alloca_bytes", 100),
        ("deallocas", 1),
        ("copies", 1),
        ("fills", 1),
        ("updates", 1),
        ("transfer_bytes", 31),
        ("executions", 1),
        ("host_calls", 1),
        ("dispatches", 0),
        ("barriers", 0),
    ] {
        assert_eq!(done(name), number, "{name}");
    }
    assert_eq!(device.query_i64("hal.device.id", "local*"), Some(1));
    assert!(create_device("local-sync", &TopologyOptions::default()).unwrap().counts().is_none());
}

/// Every queue that is named exists, also one that is named by no bit.
#[test]
fn queues_by_affinity() {
    for driver in executing() {
        let device = device(driver);
        for affinity in [-1, 0, 1, 2, 3, i64::MIN] {
            let target = buffer(&device, &[0; 2]);
            let fill = QueueOp::fill(target.clone(), 0, 2, Pattern::new(7, 1).unwrap()).unwrap();
            run(&device, fill.on(affinity));
            let mut bytes = [0; 2];
            target.read(0, &mut bytes).unwrap();
            assert_eq!(bytes, [7, 7]);
        }
    }
    let names: Vec<String> = executing().iter().map(|driver| device(driver).trace_name()).collect();
    assert!(names[0].starts_with("local-sync#") && names[1].starts_with("local-task#"), "{names:?}");
}

#[test]
fn queries() {
    let device = device("local-task");
    let arch = tiree_hal::executable::cpu::arch_name();
    for (category, key, answer) in [
        ("hal.device.id", "local*", Some(1)),
        ("hal.device.id", "cuda*", Some(0)),
        ("hal.executable.format", &*format!("embedded-elf-{arch}"), Some(1)),
        ("hal.executable.format", "vmvx-bytecode-fb", Some(1)),
        ("hal.executable.format", "system-elf-x86_64", Some(0)),
        ("hal.dispatch", "concurrency", Some(2)),
        ("hal.device", "concurrency", Some(1)),
        ("hal.cpu", "no-such-feature", None),
        ("nonsense", "x", None),
    ] {
        assert_eq!(device.query_i64(category, key), answer, "{category} {key}");
    }
    let system = format!("system-elf-{arch}");
    device.allow_system_libraries(true);
    assert_eq!(device.query_i64("hal.executable.format", &system), Some(i64::from(cfg!(target_os = "linux"))));
    device.allow_system_libraries(false);
    assert_eq!(device.query_i64("hal.executable.format", &system), Some(0));
}
