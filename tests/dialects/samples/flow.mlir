// Operations of flow, iree_tensor_ext and util as iree-opt reads them.
"builtin.module"() ({
  "util.func"() <{function_type = (tensor<?x4xf32>, tensor<4x4xf32>, index, f32) -> tensor<4xf32>, sym_name = "f"}> ({
  ^bb0(%t: tensor<?x4xf32>, %u: tensor<4x4xf32>, %n: index, %x: f32):
    %c = "flow.tensor.constant"() <{value = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
    %s = "flow.tensor.splat"(%x, %n) : (f32, index) -> tensor<?xf32>
    %e = "flow.tensor.empty"(%n) : (index) -> tensor<?xf32>
    %a = "flow.tensor.alloca"(%n) : (index) -> tensor<?xf32>
    %cl = "flow.tensor.clone"(%s, %n) : (tensor<?xf32>, index) -> tensor<?xf32>
    %r = "flow.tensor.reshape"(%t, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<?x4xf32>, index, index) -> tensor<4x?xf32>
    %b = "flow.tensor.bitcast"(%t, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<?x4xf32>, index, index) -> tensor<4x?xi32>
    %l = "flow.tensor.load"(%t, %n, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 2>}> : (tensor<?x4xf32>, index, index, index) -> f32
    %st = "flow.tensor.store"(%x, %t, %n, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 1, 2>}> : (f32, tensor<?x4xf32>, index, index, index) -> tensor<?x4xf32>
    %sl = "flow.tensor.slice"(%t, %n, %n, %n, %n, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 2, 2, 1>}> : (tensor<?x4xf32>, index, index, index, index, index, index) -> tensor<?x2xf32>
    %up = "flow.tensor.update"(%t, %n, %n, %n, %u) <{operandSegmentSizes = array<i32: 1, 1, 2, 1, 0>}> : (tensor<?x4xf32>, index, index, index, tensor<4x4xf32>) -> tensor<?x4xf32>
    %ti = "flow.tensor.tie_shape"(%t, %n) : (tensor<?x4xf32>, index) -> tensor<?x4xf32>
    %tr = "flow.tensor.transfer"(%t, %n) <{target = #hal.device.affinity<@d>}> : (tensor<?x4xf32>, index) -> tensor<?x4xf32>
    %d = "flow.dispatch"(%n, %t, %x, %n, %n) <{entry_points = [@a::@b], operandSegmentSizes = array<i32: 1, 2, 1, 1>, tied_operands = [0 : index]}> : (index, tensor<?x4xf32>, f32, index, index) -> tensor<?x4xf32>
    %d2:2 = "flow.dispatch"(%u) <{entry_points = [@a::@c, @a::@c], operandSegmentSizes = array<i32: 0, 1, 0, 0>, tied_operands = [-1 : index, -1 : index]}> : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %w = "flow.dispatch.workgroups"(%n, %t, %n, %n, %n) <{operandSegmentSizes = array<i32: 1, 2, 1, 1>, tied_operands = [0 : index]}> ({
    ^bb0(%p: !iree_tensor_ext.dispatch.tensor<readwrite:tensor<?x4xf32>>, %q: index):
      %z = "iree_tensor_ext.dispatch.workload.ordinal"(%q) <{ordinal = 0 : index}> : (index) -> index
      %id = "flow.dispatch.workgroup.id"() <{dimension = 0 : index}> : () -> index
      %count = "flow.dispatch.workgroup.count"() <{dimension = 1 : index}> : () -> index
      %tied = "flow.dispatch.tie_shape"(%p, %z) : (!iree_tensor_ext.dispatch.tensor<readwrite:tensor<?x4xf32>>, index) -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<?x4xf32>>
      %ld = "iree_tensor_ext.dispatch.tensor.load"(%p, %z, %z) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: -9223372036854775808, 4>, static_strides = array<i64: 1, 1>}> : (!iree_tensor_ext.dispatch.tensor<readwrite:tensor<?x4xf32>>, index, index) -> tensor<?x4xf32>
      "iree_tensor_ext.dispatch.tensor.store"(%ld, %p, %z, %z) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: -9223372036854775808, 4>, static_strides = array<i64: 1, 1>}> : (tensor<?x4xf32>, !iree_tensor_ext.dispatch.tensor<readwrite:tensor<?x4xf32>>, index, index) -> ()
      "flow.return"() : () -> ()
    }, {
    ^bb0(%q: index):
      %xyz:3 = "iree_tensor_ext.dispatch.workgroup_count_from_slice"(%q) : (index) -> (index, index, index)
      "flow.return"(%xyz#0, %xyz#1, %xyz#2) : (index, index, index) -> ()
    }) : (index, tensor<?x4xf32>, index, index, index) -> tensor<?x4xf32>
    %start = "iree_tensor_ext.compute_barrier.start"(%t, %n) : (tensor<?x4xf32>, index) -> tensor<?x4xf32>
    %bits = "iree_tensor_ext.bitcast"(%start, %n, %n) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<?x4xf32>, index, index) -> tensor<?x4xi32>
    %end = "iree_tensor_ext.compute_barrier.end"(%u) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %i = "util.assume.int"(%n) <{assumptions = [[#util.int.assumption<umin = 0, umax = 10, udiv = 2>]]}> : (index) -> index
    %j:2 = "util.assume.int"(%n, %n) <{assumptions = [[#util.int.assumption<umin = 0>, #util.int.assumption<umax = 3>], [#util.int.assumption<umin = 0>, #util.int.assumption<>]]}> : (index, index) -> (index, index)
    "util.return"(%c) : (tensor<4xf32>) -> ()
  }) : () -> ()
  "util.global"() <{initial_value = dense<1.0> : tensor<4xf32>, inlining_policy = #util.inline.never, sym_name = "g", sym_visibility = "private", type = tensor<4xf32>}> {note = 1 : i64} : () -> ()
  "flow.executable"() <{sym_name = "a", sym_visibility = "private"}> ({
    "flow.executable.export"() <{function_ref = @g, sym_name = "b"}> ({
    ^bb0(%q: index):
      %xyz:3 = "iree_tensor_ext.dispatch.workgroup_count_from_slice"(%q) : (index) -> (index, index, index)
      "flow.return"(%xyz#0, %xyz#1, %xyz#2) : (index, index, index) -> ()
    }) : () -> ()
    "flow.executable.export"() <{function_ref = @g, sym_name = "c", sym_visibility = "private"}> ({
    }) {note = 1 : i32} : () -> ()
    "builtin.module"() ({
      "func.func"() <{function_type = () -> (), sym_name = "g"}> ({
        "func.return"() : () -> ()
      }) : () -> ()
    }) : () -> ()
    "flow.executable_end"() : () -> ()
  }) : () -> ()
}) : () -> ()
