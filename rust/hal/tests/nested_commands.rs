//! Command buffers that are recorded into other ones.

use smallvec::smallvec;
use std::sync::Arc;
use tiree_hal::TableEntry;
use tiree_hal::buffer::{Buffer, WHOLE_BUFFER};
use tiree_hal::command_buffer::{Binding, CommandBuffer, Pattern};
use tiree_hal::device::Device;
use tiree_hal::drivers::{create_device, executing};
use tiree_hal::fence::Fence;
use tiree_hal::queue::QueueOp;
use tiree_hal::types::{memory_type, usage};
use tiree_task::TopologyOptions;

fn buffer(device: &Device, bytes: &[u8]) -> Arc<Buffer> {
    Arc::new(device.allocator().allocate_copy(memory_type::DEVICE_LOCAL, usage::DEFAULT, bytes).unwrap())
}

fn slot(slot: u32, offset: u64, length: u64) -> Binding {
    Binding { buffer: None, slot, offset, length }
}

/// Fills slot 0 with `byte`, then copies its first two bytes to slot 1 and updates the byte behind.
fn inner(byte: u64, mode: u32) -> CommandBuffer {
    let inner = CommandBuffer::new(mode, 3, 2).unwrap();
    inner.fill(slot(0, 0, WHOLE_BUFFER), Pattern::new(byte, 1).unwrap()).unwrap();
    inner.execution_barrier().unwrap();
    inner.copy(slot(0, 0, 2), slot(1, 0, 2)).unwrap();
    inner.update(&[9], slot(1, 2, 1)).unwrap();
    inner.finalize().unwrap();
    inner
}

#[test]
fn commands_run_in_their_place_with_the_bindings_of_the_table() {
    for driver in executing() {
        let device = create_device(driver, &TopologyOptions::default()).unwrap();
        let (middle, again) = (CommandBuffer::new(0, 3, 2).unwrap(), inner(7, 0));
        middle.execute_commands(&again, &[slot(0, 1, 3), slot(1, 0, 4)]).unwrap();
        middle.finalize().unwrap();
        let outer = Arc::new(CommandBuffer::new(0, 3, 1).unwrap());
        let (a, b) = (buffer(&device, &[0; 6]), buffer(&device, &[0; 10]));
        let whole = |buffer: &Arc<Buffer>| Binding::whole(buffer.clone());
        outer.execute_commands(&middle, &[whole(&a), slot(0, 0, WHOLE_BUFFER)]).unwrap();
        outer.execution_barrier().unwrap();
        outer.execute_commands(&inner(5, 1), &[slot(0, 4, 2), slot(0, 6, 4)]).unwrap();
        outer.finalize().unwrap();
        for _ in 0..2 {
            let done = Arc::new(Fence::unsignalled());
            let table = smallvec![TableEntry { buffer: Some(b.clone()), offset: 0, length: WHOLE_BUFFER }];
            device.submit(None, Some(done.clone()), QueueOp::execute(outer.clone(), table).unwrap()).unwrap();
            done.wait(None).unwrap();
            assert_eq!(a.to_vec().unwrap(), [0, 7, 7, 7, 0, 0]);
            assert_eq!(b.to_vec().unwrap(), [7, 7, 9, 0, 5, 5, 5, 5, 9, 0]);
        }
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let device = create_device("local-sync", &TopologyOptions::default()).unwrap();
    let small = Binding::whole(buffer(&device, &[0; 2]));
    let outer = CommandBuffer::new(0, 3, 1).unwrap();
    let fails =
        |inner: &CommandBuffer, table: &[Binding]| outer.execute_commands(inner, table).unwrap_err().to_string();
    let text = fails(&inner(1, 0), std::slice::from_ref(&small));
    assert!(text.contains("command 1 of a nested command buffer"), "{text}");
    assert!(text.contains("slot 1 of a binding table with 1 entries"), "{text}");
    let text = fails(&inner(1, 0), &[small.clone(), small.clone()]);
    assert!(text.starts_with("OUT_OF_RANGE") && text.contains("command 2 of a nested"), "{text}");
    let text = fails(&inner(1, 0), &[small.clone(), Binding { length: 1, ..small.clone() }]);
    assert!(text.contains("offset 0 and length 2 in an entry of 1 bytes in slot 1"), "{text}");
    let text = fails(&inner(1, 0), &[small.clone(), slot(3, 0, 8)]);
    assert!(text.contains("slot 3 of a binding table of capacity 1"), "{text}");
    let recording = CommandBuffer::new(0, 3, 0).unwrap();
    assert!(fails(&recording, &[]).contains("still being recorded"));
    assert!(fails(&outer, &[]).contains("still being recorded"));
    let once = inner(1, 1);
    let large = Binding::whole(buffer(&device, &[0; 8]));
    outer.execute_commands(&once, &[large.clone(), large.clone()]).unwrap();
    assert!(fails(&once, &[large.clone(), large.clone()]).contains("only once"));
    let transfers = CommandBuffer::new(0, 2, 0).unwrap();
    let text = transfers.execute_commands(&inner(1, 0), &[large.clone(), large]).unwrap_err().to_string();
    assert!(text.contains("requires a command buffer of category"), "{text}");
    outer.finalize().unwrap();
    assert!(fails(&inner(1, 0), &[]).contains("has been finalized"));
}
