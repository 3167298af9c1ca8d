// Host operations of the hal dialect, one of each.
"builtin.module"() ({
  "util.global"() <{initial_value = #hal.device.target<"local", {note = 1 : i64}, [#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "generic"}>]> : !hal.device, sym_name = "device", sym_visibility = "private", type = !hal.device}> : () -> ()
  "util.func"() <{function_type = (!hal.buffer_view, !hal.fence, !hal.fence) -> !hal.buffer_view, sym_name = "tensors"}> ({
  ^bb0(%v: !hal.buffer_view, %w: !hal.fence, %s: !hal.fence):
    %t = "hal.tensor.import"(%v, %w) <{name = "input0", operandSegmentSizes = array<i32: 1, 0, 1, 0>, target_encoding = tensor<4xf32>}> : (!hal.buffer_view, !hal.fence) -> tensor<4xf32>
    %u = "hal.tensor.barrier"(%t, %s) : (tensor<4xf32>, !hal.fence) -> tensor<4xf32>
    %kept = "hal.tensor.alias"(%u, %v, %w) <{operandSegmentSizes = array<i32: 1, 0, 1, 1>}> : (tensor<4xf32>, !hal.buffer_view, !hal.fence) -> tensor<4xf32>
    %r = "hal.tensor.export"(%u) <{name = "output0", source_encoding = tensor<4xf32>}> : (tensor<4xf32>) -> !hal.buffer_view
    "util.return"(%r) : (!hal.buffer_view) -> ()
  }) : () -> ()
  "util.func"() <{function_type = (!hal.device, !hal.buffer, !hal.buffer_view, !hal.command_buffer, !hal.executable, !util.buffer, !hal.fence, index, i64) -> (), sym_name = "host"}> ({
  ^bb0(%d: !hal.device, %b: !hal.buffer, %v: !hal.buffer_view, %cb: !hal.command_buffer, %exe: !hal.executable, %host: !util.buffer, %f: !hal.fence, %n: index, %a: i64):
    %et = "hal.element_type"() <{type = f32}> : () -> i32
    %enc = "hal.encoding_type"() : () -> i32
    %mt = "hal.memory_type"() <{type = 48 : i32}> : () -> i32
    %us = "hal.buffer_usage"() <{usage = 3075 : i32}> : () -> i32
    "hal.buffer_view.assert"(%v, %et, %enc, %n) <{message = "input0"}> : (!hal.buffer_view, i32, i32, index) -> ()
    %vb = "hal.buffer_view.buffer"(%v) : (!hal.buffer_view) -> !hal.buffer
    %vc = "hal.buffer_view.create"(%vb, %n, %n, %et, %enc, %n) : (!hal.buffer, index, index, i32, i32, index) -> !hal.buffer_view
    %v0 = "hal.buffer_view.element_type"(%vc) : (!hal.buffer_view) -> i32
    %v1 = "hal.buffer_view.encoding_type"(%vc) : (!hal.buffer_view) -> i32
    %v2 = "hal.buffer_view.rank"(%vc) : (!hal.buffer_view) -> index
    %v3 = "hal.buffer_view.dim"(%vc) <{index = 0 : index}> : (!hal.buffer_view) -> index
    %al = "hal.device.allocator"(%d) : (!hal.device) -> !hal.allocator
    "hal.buffer.assert"(%b, %al, %n) <{buffer_usage = 3075 : i32, memory_types = 16 : i32, message = "tensor"}> : (!hal.buffer, !hal.allocator, index) -> ()
    %sub = "hal.buffer.subspan"(%b, %n, %n) : (!hal.buffer, index, index) -> !hal.buffer
    %len = "hal.buffer.length"(%sub) : (!hal.buffer) -> index
    %x = "hal.buffer.load"(%b, %len) : (!hal.buffer, index) -> i32
    "hal.buffer.store"(%x, %b, %n) : (i32, !hal.buffer, index) -> ()
    %ab = "hal.allocator.allocate"(%al, %a, %mt, %us, %n) : (!hal.allocator, i64, i32, i32, index) -> !hal.buffer
    %im:2 = "hal.allocator.import"(%al, %a, %mt, %us, %host, %n, %n) : (!hal.allocator, i64, i32, i32, !util.buffer, index, index) -> (i1, !hal.buffer)
    %sel:2 = "hal.allocator.select"(%d, %d, %a, %a, %mt, %us) : (!hal.device, !hal.device, i64, i64, i32, i32) -> (!hal.device, i64)
    %file = "hal.ex.file.from_memory"(%d, %a, %host, %n, %n, %x) <{access = 1 : i32}> : (!hal.device, i64, !util.buffer, index, index, i32) -> !hal.file
    %cnt = "hal.devices.count"() : () -> index
    %dev = "hal.devices.get"(%cnt) : (index) -> !hal.device
    %q:2 = "hal.device.query"(%dev) <{category = "hal.cpu", default_value = false, key = "avx2"}> : (!hal.device) -> (i1, i1)
    %f1 = "hal.fence.create"(%d) <{flags = 0 : i64}> : (!hal.device) -> !hal.fence
    %f2 = "hal.fence.join"(%f, %f1) <{flags = 0 : i64}> : (!hal.fence, !hal.fence) -> !hal.fence
    %st = "hal.fence.query"(%f2) : (!hal.fence) -> i32
    "hal.fence.signal"(%f1) : (!hal.fence) -> ()
    "hal.fence.fail"(%f1, %st) : (!hal.fence, i32) -> ()
    %st2 = "hal.fence.await"(%st, %f2) <{flags = 0 : i64}> : (i32, !hal.fence) -> i32
    %ta = "hal.device.queue.alloca"(%d, %a, %f, %f1, %a, %mt, %us, %n) <{flags = 0 : i64}> : (!hal.device, i64, !hal.fence, !hal.fence, i64, i32, i32, index) -> !hal.buffer
    "hal.device.queue.dealloca"(%d, %a, %f, %f1, %ta) <{flags = 0 : i64}> : (!hal.device, i64, !hal.fence, !hal.fence, !hal.buffer) -> ()
    "hal.device.queue.fill"(%d, %a, %f, %f1, %b, %n, %n, %x) <{flags = 0 : i64}> : (!hal.device, i64, !hal.fence, !hal.fence, !hal.buffer, index, index, i32) -> ()
    "hal.device.queue.update"(%d, %a, %f, %f1, %host, %n, %b, %n, %n) <{flags = 0 : i64}> : (!hal.device, i64, !hal.fence, !hal.fence, !util.buffer, index, !hal.buffer, index, index) -> ()
    "hal.device.queue.copy"(%d, %a, %f, %f1, %b, %n, %sub, %n, %n) <{flags = 0 : i64}> : (!hal.device, i64, !hal.fence, !hal.fence, !hal.buffer, index, !hal.buffer, index, index) -> ()
    "hal.device.queue.read"(%d, %a, %f, %f1, %file, %a, %b, %n, %n) <{flags = 0 : i64}> : (!hal.device, i64, !hal.fence, !hal.fence, !hal.file, i64, !hal.buffer, index, index) -> ()
    "hal.device.queue.barrier"(%d, %a, %f, %f1) <{flags = 0 : i64}> : (!hal.device, i64, !hal.fence, !hal.fence) -> ()
    "hal.device.queue.execute"(%d, %a, %f, %f1, %cb) <{flags = 0 : i64}> : (!hal.device, i64, !hal.fence, !hal.fence, !hal.command_buffer) -> ()
    "hal.device.queue.execute.indirect"(%d, %a, %f, %f1, %cb, %b, %n, %n) <{flags = 0 : i64}> : (!hal.device, i64, !hal.fence, !hal.fence, !hal.command_buffer, !hal.buffer, index, index) -> ()
    %cb1 = "hal.command_buffer.create"(%d, %a, %n) <{command_categories = 3 : i32, modes = 0 : i32}> : (!hal.device, i64, index) -> !hal.command_buffer
    "hal.command_buffer.begin_debug_group"(%cb1) <{label = "group"}> : (!hal.command_buffer) -> ()
    "hal.command_buffer.fill_buffer"(%cb1, %n, %n, %n, %x) <{flags = 0 : i64}> : (!hal.command_buffer, index, index, index, i32) -> ()
    "hal.command_buffer.update_buffer"(%cb1, %host, %n, %n, %b, %n, %n) <{flags = 0 : i64}> : (!hal.command_buffer, !util.buffer, index, index, !hal.buffer, index, index) -> ()
    "hal.command_buffer.copy_buffer"(%cb1, %b, %n, %n, %n, %n) <{flags = 0 : i64}> : (!hal.command_buffer, !hal.buffer, index, index, index, index) -> ()
    "hal.command_buffer.execution_barrier"(%cb1) <{flags = 0 : i64, source_stage_mask = 28 : i32, target_stage_mask = 13 : i32}> : (!hal.command_buffer) -> ()
    "hal.command_buffer.dispatch"(%cb1, %exe, %a, %n, %n, %n, %x, %b, %n, %n) <{flags = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1>}> : (!hal.command_buffer, !hal.executable, i64, index, index, index, i32, !hal.buffer, index, index) -> ()
    "hal.command_buffer.end_debug_group"(%cb1) : (!hal.command_buffer) -> ()
    "hal.command_buffer.finalize"(%cb1) : (!hal.command_buffer) -> ()
    "util.return"() : () -> ()
  }) : () -> ()
}) {stream.affinity.default = #hal.device.affinity<@device>} : () -> ()
