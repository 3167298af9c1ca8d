"""Settings of iree-compile: execution models, parameters, forms of the file and of command buffers, optimisation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from interop.module_rows import programs
from interop.module_rows.row import CPU, INLINE, VMVX, Row, call, ramp, tensor

ADDS = """
module @adds {
  func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @scaled(%f: f32, %x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %d = tensor.dim %x, %c0 : tensor<?xf32>
    %e = tensor.empty(%d) : tensor<?xf32>
    %0 = linalg.generic
      {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%v: f32, %o: f32):
      %1 = arith.mulf %v, %f : f32
      linalg.yield %1 : f32
    } -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  func.func @product(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> (tensor<3x5xf32>, tensor<5x3xf32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x5xf32>) -> tensor<5x3xf32>
    return %0, %1 : tensor<3x5xf32>, tensor<5x3xf32>
  }
}
"""
ADDS_CALLS = (
    call("add", ramp("4xf32"), ramp("4xf32", 0.5)),
    call("scaled", 2.5, ramp("7xf32")),
    call("scaled", 2.5, tensor("0xf32")),
    call("product", ramp("3x4xf32"), ramp("4x5xf32", -3, 0.5)),
)

PARAMETERS = """
module @parameters {
  util.global private @w = #flow.parameter.named<"model"::"layer.w"> : tensor<3x4xf32>
  util.global private @b = #flow.parameter.named<"model"::"layer.b"> : tensor<4xi32>
  util.global private @s = #flow.parameter.named<"scale"> : tensor<4xf32>
  func.func @add_w(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
    %0 = util.global.load @w : tensor<3x4xf32>
    %1 = stablehlo.add %0, %x : tensor<3x4xf32>
    return %1 : tensor<3x4xf32>
  }
  func.func @bs() -> (tensor<4xi32>, tensor<4xf32>) {
    %0 = util.global.load @b : tensor<4xi32>
    %1 = util.global.load @s : tensor<4xf32>
    return %0, %1 : tensor<4xi32>, tensor<4xf32>
  }
}
"""
PARAMETERS_CALLS = (call("add_w", ramp("3x4xf32")), call("bs"))


def _values() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    model = {
        "layer.w": np.arange(12, dtype=np.float32).reshape(3, 4) / 8,
        "layer.b": np.array([5, -6, 7, -8], np.int32),
    }
    return model, {"scale": np.array([0.5, 2, -1, 4], np.float32)}


def _irpa(folder: Path) -> list[str]:
    """Written by IREE's own API."""
    import iree.runtime as theirs

    flags = []
    for scope, values in zip(("model=", ""), _values(), strict=True):
        path = folder / f"{scope.rstrip('=') or 'global'}.irpa"
        theirs.save_archive_file({key: np.ascontiguousarray(value) for key, value in values.items()}, str(path))
        flags.append(f"--parameters={scope}{path}")
    return flags


def _splats(folder: Path) -> list[str]:
    import iree.runtime as theirs

    path = folder / "splats.irpa"
    index = theirs.ParameterIndex()
    index.add_splat("layer.w", np.float32(1.5), 48)
    index.add_splat("layer.b", np.int32(-3), 16)
    index.create_archive_file(str(path))
    return [f"--parameters=model={path}", _irpa(folder)[1]]


def _safetensors(folder: Path) -> list[str]:
    from safetensors.numpy import save_file

    flags = []
    for scope, values in zip(("model=", ""), _values(), strict=True):
        path = folder / f"{scope.rstrip('=') or 'global'}.safetensors"
        save_file(values, path)
        flags.append(f"--parameters={scope}{path}")
    return flags


def _gguf(folder: Path) -> list[str]:
    """IREE's reader knows no integers: their bytes are given as those of floats."""
    import gguf

    flags = []
    for scope, values in zip(("model=", ""), _values(), strict=True):
        path = folder / f"{scope.rstrip('=') or 'global'}.gguf"
        writer = gguf.GGUFWriter(path, "none")
        for key, value in values.items():
            writer.add_tensor(key, value.view(np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        flags.append(f"--parameters={scope}{path}")
    return flags


def _many_files(folder: Path) -> list[str]:
    """The keys of one scope in files of several formats, preloaded."""
    import iree.runtime as theirs
    from safetensors.numpy import save_file

    model, scale = _values()
    save_file({"layer.b": model["layer.b"]}, folder / "b.safetensors")
    theirs.save_archive_file({"layer.w": model["layer.w"]}, str(folder / "w.irpa"))
    theirs.save_archive_file(scale, str(folder / "s.irpa"))
    flags = [f"--parameters=model={folder}/b.safetensors", f"--parameters=model={folder}/w.irpa"]
    return [*flags, f"--parameters={folder}/s.irpa", "--parameter_mode=preload"]


_PARAMETER_FILES = {
    "irpa": _irpa, "irpa with splats": _splats, "safetensors": _safetensors, "gguf": _gguf,
    "several files": _many_files,
}  # fmt: skip

_ASYNC = "--iree-execution-model=async-external"
_BOTH = (CPU[0], CPU[1], VMVX[1], *CPU[2:])

# Name, program, calls, flags; True when they are global to a process.
_SETTINGS = (
    ("execution models", "async-external, llvm-cpu", ADDS, ADDS_CALLS, (*CPU, _ASYNC), False),
    ("execution models", "async-external, vmvx", ADDS, ADDS_CALLS, (*VMVX, _ASYNC), False),
    ("execution models", "async-external, control flow", programs.CONTROL, programs.CONTROL_CALLS, (*CPU, _ASYNC),
     False),
    ("execution models", "inline-static, vmvx-inline (hal_inline)", ADDS, ADDS_CALLS, INLINE, False),
    ("execution models", "inline-static, control flow", programs.CONTROL, programs.CONTROL_CALLS, INLINE, False),
    ("execution models", "inline-dynamic, llvm-cpu (hal_loader)", ADDS, ADDS_CALLS,
     (*CPU, "--iree-execution-model=inline-dynamic"), False),
    ("execution models", "inline-dynamic, vmvx (hal_loader)", ADDS, ADDS_CALLS,
     (*VMVX, "--iree-execution-model=inline-dynamic"), False),
    ("command buffers", "recorded for each call", ADDS, ADDS_CALLS, (*CPU, "--iree-hal-memoization=false"), True),
    ("command buffers", "direct bindings", ADDS, ADDS_CALLS, (*CPU, "--iree-hal-indirect-command-buffers=false"), True),
    ("command buffers", "indirect bindings only", ADDS, ADDS_CALLS,
     (*CPU, "--iree-hal-force-indirect-command-buffers"), True),
    ("command buffers", "as concurrent as can be", programs.NETWORK, programs.NETWORK_CALLS,
     (*CPU, "--iree-stream-partitioning-favor=max-concurrency"), True),
    ("command buffers", "one dispatch at a time", programs.NETWORK, programs.NETWORK_CALLS,
     (*CPU, "--iree-stream-partitioning-favor=debug"), True),
    ("files", "no ZIP, no debug information", ADDS, ADDS_CALLS,
     (*CPU, "--iree-vm-emit-polyglot-zip=false", "--iree-vm-bytecode-module-strip-source-map",
      "--iree-vm-bytecode-module-strip-debug-ops", "--iree-llvmcpu-debug-symbols=false",
      "--iree-hal-executable-debug-level=0"), True),
    ("files", "all debug information", ADDS, ADDS_CALLS, (*CPU, "--iree-hal-executable-debug-level=3"), True),
    ("files", "an executable a dispatch", ADDS, ADDS_CALLS, (*CPU, "--iree-hal-link-executables=false"), True),
    ("files", "kernels for llvm-cpu and vmvx", ADDS, ADDS_CALLS, _BOTH, True),
    ("files", "32-bit indices of the VM", ADDS, ADDS_CALLS, (*CPU, "--iree-vm-target-index-bits=32"), True),
    ("optimisation", "O3", programs.NETWORK, programs.NETWORK_CALLS, (*CPU, "--iree-opt-level=O3"), True),
    ("optimisation", "data tiling", ADDS, ADDS_CALLS, (*CPU, "--iree-opt-data-tiling"), True),
    ("optimisation", "microkernels", ADDS, ADDS_CALLS,
     (*CPU, "--iree-opt-data-tiling", "--iree-llvmcpu-enable-ukernels=all"), True),
    ("optimisation", "vmvx with microkernels", ADDS, ADDS_CALLS[:3], (*VMVX, "--iree-vmvx-enable-microkernels"), True),
    ("optimisation", "constants not evaluated", programs.CONSTANTS, programs.CONSTANTS_CALLS,
     (*CPU, "--iree-opt-const-eval=false"), True),
    ("optimisation", "any x86-64", programs.NETWORK, programs.NETWORK_CALLS,
     (*CPU[:2], "--iree-llvmcpu-target-cpu=generic", CPU[3]), False),
    ("optimisation", "f64 demoted to f32", programs.HOST, programs.HOST_CALLS[:1], CPU[:3], True),
)  # fmt: skip

ROWS = (
    *(
        Row("parameters", f"{name}, {backend}", PARAMETERS, PARAMETERS_CALLS, flags, files)
        for name, files in _PARAMETER_FILES.items()
        for backend, flags in (("llvm-cpu", CPU), ("vmvx", VMVX))
        if backend == "llvm-cpu" or name == "irpa"
    ),
    *(
        Row(subject, name, text, calls, flags, whole_process=whole_process)
        for subject, name, text, calls, flags, whole_process in _SETTINGS
    ),
)
