// Executables of the hal dialect: variants, exports, interfaces, images.
"builtin.module"() ({
  "hal.executable"() <{sym_name = "source", sym_visibility = "private"}> ({
    "hal.executable.variant"() <{sym_name = "elf", target = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64">}> ({
      "hal.executable.condition"() <{function_type = (!hal.device) -> i1}> ({
      ^bb0(%d: !hal.device):
        %ok, %value = "hal.device.query"(%d) <{category = "hal.cpu", default_value = false, key = "avx2"}> : (!hal.device) -> (i1, i1)
        "hal.return"(%value) : (i1) -> ()
      }) : () -> ()
      "hal.executable.export"() <{layout = #hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">, #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>], flags = Indirect>, ordinal = 0 : index, sym_name = "kernel", workgroup_size = [1 : index, 1 : index, 1 : index]}> ({
      ^bb0(%d: !hal.device):
        %c1 = "arith.constant"() <{value = 1 : index}> : () -> index
        "hal.return"(%c1, %c1, %c1) : (index, index, index) -> ()
      }, {
      }) : () -> ()
      "hal.executable.constant.block"() <{function_type = (!hal.device) -> i32, keys = ["key"]}> ({
      ^bb0(%d: !hal.device):
        %k = "arith.constant"() <{value = 7 : i32}> : () -> i32
        "hal.return"(%k) : (i32) -> ()
      }) : () -> ()
      "builtin.module"() ({
        "func.func"() <{function_type = () -> (), sym_name = "kernel"}> ({
          %0 = "hal.interface.workgroup.id"() <{dimension = 0 : index}> : () -> index
          %1 = "hal.interface.workgroup.count"() <{dimension = 1 : index, upper_bound = 64 : index}> : () -> index
          %2 = "hal.interface.workgroup.size"() <{dimension = 2 : index}> : () -> index
          %3 = "hal.interface.constant.load"() <{layout = #hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer>]>, ordinal = 1 : index}> : () -> i32
          %4 = "hal.interface.binding.subspan"(%0) <{alignment = 64 : index, binding = 0 : index, descriptor_flags = 3 : i32, layout = #hal.pipeline.layout<constants = 2, bindings = [#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">]>, operandSegmentSizes = array<i32: 1, 0>}> : (index) -> memref<4xf32>
          "func.return"() : () -> ()
        }) : () -> ()
      }) : () -> ()
      "hal.executable.variant_end"() : () -> ()
    }) : () -> ()
    "hal.executable_end"() : () -> ()
  }) : () -> ()
  "hal.executable"() <{sym_name = "compiled", sym_visibility = "private"}> ({
    "hal.executable.binary"() <{data = dense<[127, 69, 76, 70]> : vector<4xi8>, format = "embedded-elf-x86_64", mime_type = "application/x-elf", sym_name = "elf"}> : () -> ()
    "hal.executable_end"() : () -> ()
  }) : () -> ()
  "util.func"() <{function_type = (!hal.device, i64) -> (), sym_name = "load"}> ({
  ^bb0(%d: !hal.device, %a: i64):
    %e = "hal.executable.create"(%d, %a) <{executable_target = @compiled::@elf}> : (!hal.device, i64) -> !hal.executable
    %f = "hal.executable.lookup.function"(%e) <{entry_point = @compiled::@elf::@kernel}> : (!hal.executable) -> i64
    "util.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
