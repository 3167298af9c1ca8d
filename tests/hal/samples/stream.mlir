// Operations of the stream dialect, one of each.
"builtin.module"() ({
  "util.global"() <{initial_value = #stream.timepoint<immediate> : !stream.timepoint, is_mutable, sym_name = "start", sym_visibility = "private", type = !stream.timepoint}> : () -> ()
  "util.global"() <{sym_name = "device", sym_visibility = "private", type = !hal.device}> : () -> ()
  "stream.executable"() <{sym_name = "ex", sym_visibility = "private"}> ({
    "stream.executable.export"() <{function_ref = @kernel, sym_name = "kernel"}> ({
      %c1 = "arith.constant"() <{value = 1 : index}> : () -> index
      "stream.return"(%c1, %c1, %c1) : (index, index, index) -> ()
    }) : () -> ()
    "builtin.module"() ({
      "func.func"() <{arg_attrs = [{}, {stream.alignment = 64 : index}], function_type = (i32, !stream.binding) -> (), sym_name = "kernel"}> ({
      ^bb0(%w: i32, %b: !stream.binding):
        %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
        %s = "stream.binding.subspan"(%b, %c0) : (!stream.binding, index) -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xf32>>
        %i = "stream.dispatch.workgroup.id"() <{dimension = 0 : index}> : () -> index
        %n = "stream.dispatch.workgroup.count"() <{dimension = 0 : index}> : () -> index
        %z = "stream.dispatch.workgroup.size"() <{dimension = 0 : index}> : () -> index
        "func.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
    "stream.executable.end"() : () -> ()
  }) : () -> ()
  "util.func"() <{function_type = (!hal.buffer_view, !util.buffer, !hal.fence, i32, i64) -> !hal.buffer_view, sym_name = "host"}> ({
  ^bb0(%v: !hal.buffer_view, %host: !util.buffer, %f: !hal.fence, %w: i32, %o: i64):
    %c0 = "arith.constant"() <{value = 0 : index}> : () -> index
    %c16 = "arith.constant"() <{value = 16 : index}> : () -> index
    %now = "stream.timepoint.immediate"() : () -> !stream.timepoint
    %t0 = "stream.timepoint.import"(%f) <{affinity = #hal.device.affinity<@device>}> : (!hal.fence) -> !stream.timepoint
    %in = "stream.tensor.import"(%v, %c16) <{affinity = #hal.device.affinity<@device>, result_encoding = tensor<4xf32>}> : (!hal.buffer_view, index) -> !stream.resource<external>
    %size = "stream.resource.size"(%in) : (!stream.resource<external>) -> index
    %map:2 = "stream.resource.try_map"(%host, %c0, %c16) <{affinity = #hal.device.affinity<@device>}> : (!util.buffer, index, index) -> (i1, !stream.resource<constant>)
    %mem = "stream.resource.alloc"(%c16) <{affinity = #hal.device.affinity<@device>, uninitialized}> : (index) -> !stream.resource<constant>
    %file = "stream.file.constant"(%host, %c16, %c0, %c16) <{affinity = #hal.device.affinity<@device>}> : (!util.buffer, index, index, index) -> !stream.file
    %t1 = "stream.file.read"(%file, %o, %mem, %c16, %c0, %c16, %now) <{affinity = #hal.device.affinity<@device>}> : (!stream.file, i64, !stream.resource<constant>, index, index, index, !stream.timepoint) -> !stream.timepoint
    %slab:2 = "stream.resource.alloca"(%c16, %t1) <{affinity = #hal.device.affinity<@device>}> : (index, !stream.timepoint) -> (!stream.resource<transient>, !stream.timepoint)
    %stage:2 = "stream.resource.alloca"(%c16, %t1) <{affinity = #hal.device.affinity<@device>}> : (index, !stream.timepoint) -> (!stream.resource<staging>, !stream.timepoint)
    %ready = "stream.timepoint.join"(%slab#1, %stage#1, %t0) : (!stream.timepoint, !stream.timepoint, !stream.timepoint) -> !stream.timepoint
    %done = "stream.cmd.execute"(%in, %slab#0, %stage#0, %c16, %c16, %c16, %ready) <{affinity = #hal.device.affinity<@device>, operandSegmentSizes = array<i32: 3, 3, 1>}> ({
    ^bb0(%a: !stream.resource<external>, %b: !stream.resource<transient>, %c: !stream.resource<staging>):
      "stream.cmd.concurrent"() ({
        "stream.cmd.fill"(%b, %c16, %c0, %c16, %w) : (!stream.resource<transient>, index, index, index, i32) -> ()
        "stream.cmd.copy"(%a, %c16, %c0, %c, %c16, %c0, %c16) : (!stream.resource<external>, index, index, !stream.resource<staging>, index, index, index) -> ()
        "stream.yield"() : () -> ()
      }) : () -> ()
      "stream.cmd.serial"() ({
        "stream.cmd.dispatch"(%w, %b, %c16, %c0, %c16) <{entry_points = [@ex::@kernel], operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1>, resource_accesses = [3 : i32]}> : (i32, !stream.resource<transient>, index, index, index) -> ()
        "stream.cmd.flush"(%c, %c16, %c0, %c16) : (!stream.resource<staging>, index, index, index) -> ()
        "stream.cmd.invalidate"(%c, %c16, %c0, %c16) : (!stream.resource<staging>, index, index, index) -> ()
        "stream.cmd.flush"(%c, %c16, %c0, %c16) <{source_affinity = #hal.device.affinity<@d, [0, 2]>}> : (!stream.resource<staging>, index, index, index) -> ()
        "stream.cmd.invalidate"(%c, %c16, %c0, %c16) <{source_affinity = #hal.device.optimal<[#hal.device.affinity<@d>, #hal.device.affinity<@e, [1]>]>}> : (!stream.resource<staging>, index, index, index) -> ()
        "stream.cmd.discard"(%b, %c16, %c0, %c16) : (!stream.resource<transient>, index, index, index) -> ()
        "stream.yield"() : () -> ()
      }) : () -> ()
      "stream.yield"() : () -> ()
    }) : (!stream.resource<external>, !stream.resource<transient>, !stream.resource<staging>, index, index, index, !stream.timepoint) -> !stream.timepoint
    %t2 = "stream.resource.dealloca"(%slab#0, %c16, %done) <{affinity = #hal.device.affinity<@device>}> : (!stream.resource<transient>, index, !stream.timepoint) -> !stream.timepoint
    "stream.timepoint.chain_external"(%t2, %f) <{affinity = #hal.device.affinity<@device>}> : (!stream.timepoint, !hal.fence) -> ()
    %got = "stream.timepoint.await"(%stage#0, %c16, %t2) <{operandSegmentSizes = array<i32: 1, 1, 1>, sync}> : (!stream.resource<staging>, index, !stream.timepoint) -> !stream.resource<staging>
    %x = "stream.resource.load"(%got, %c16, %c0) : (!stream.resource<staging>, index, index) -> i32
    %part = "stream.resource.subview"(%in, %c16, %c0, %c16) : (!stream.resource<external>, index, index, index) -> !stream.resource<external>
    %r = "stream.tensor.export"(%part, %c16) <{affinity = #hal.device.affinity<@device>, source_encoding = tensor<4xf32>}> : (!stream.resource<external>, index) -> !hal.buffer_view
    %loaded:3 = "stream.cmd.parameter.load"(%host, %host, %host, %o, %o, %c16, %c16, %done) <{affinity = #hal.device.affinity<@device>, operandSegmentSizes = array<i32: 1, 2, 2, 2, 1>}> : (!util.buffer, !util.buffer, !util.buffer, i64, i64, index, index, !stream.timepoint) -> (!stream.resource<constant>, !stream.resource<constant>, !stream.timepoint)
    %bare:2 = "stream.cmd.parameter.load"(%host, %o, %c16) <{operandSegmentSizes = array<i32: 0, 1, 1, 1, 0>}> : (!util.buffer, i64, index) -> (!stream.resource<constant>, !stream.timepoint)
    "util.return"(%r) : (!hal.buffer_view) -> ()
  }) : () -> ()
}) : () -> ()
