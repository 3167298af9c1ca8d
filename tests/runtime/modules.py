"""Programs that the tests of the runtime and of its tools call, compiled by iree-compile or by Tiree.

`iree_module(text, *flags)` compiles with IREE 3.13 inside this process and keeps the result in pytest's cache (keyed by
everything that goes in), so that a program is compiled once per machine. `ELEMENTS` has the element types.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path

import ml_dtypes
import numpy as np

HOST_FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-hal-executable-debug-level=0",
    "--iree-input-demote-f64-to-f32=false",
)
ASYNC_FLAGS = ("--iree-execution-model=async-external",)

# MLIR's name, numpy's dtype, the name that run-module takes and prints.
ELEMENTS: dict[str, np.dtype] = {
    "i1": np.dtype(bool),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "ui8": np.dtype(np.uint8),
    "ui16": np.dtype(np.uint16),
    "ui32": np.dtype(np.uint32),
    "ui64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
}

ADD = """
module {
  func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


def movements() -> str:
    """For each element type `turn_<type>`, which transposes 2x3, and `pair_<type>`, which repeats a rank-0 value."""
    parts = []
    for name in ELEMENTS:
        tensor, turned, scalar = f"tensor<2x3x{name}>", f"tensor<3x2x{name}>", f"tensor<{name}>"
        parts.append(f"""
  func.func @turn_{name}(%a: {tensor}) -> {turned} {{
    %0 = stablehlo.transpose %a, dims = [1, 0] : ({tensor}) -> {turned}
    return %0 : {turned}
  }}
  func.func @pair_{name}(%a: {scalar}) -> tensor<2x{name}> {{
    %0 = stablehlo.broadcast_in_dim %a, dims = [] : ({scalar}) -> tensor<2x{name}>
    return %0 : tensor<2x{name}>
  }}""")
    return "module {" + "".join(parts) + "\n}\n"


# Scalars in registers, several results, none, dynamic dimensions, a state that calls change, and two failures.
MIXED = """
module @mixed {
  util.global private mutable @count = dense<0> : tensor<i32>
  func.func @scalars(%a: i32, %b: i64, %c: f32, %d: f64) -> (i32, i64, f32, f64) {
    %0 = arith.addi %a, %a : i32
    %1 = arith.addi %b, %b : i64
    %2 = arith.addf %c, %c : f32
    %3 = arith.addf %d, %d : f64
    return %0, %1, %2, %3 : i32, i64, f32, f64
  }
  func.func @small(%a: i1, %b: i8, %c: i16) -> (i1, i8, i16) {
    return %a, %b, %c : i1, i8, i16
  }
  func.func @split(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
    %0 = stablehlo.add %a, %a : tensor<2x3xf32>
    %1 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return %0, %1 : tensor<2x3xf32>, tensor<3x2xf32>
  }
  func.func @double(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
    %0 = stablehlo.add %x, %x : tensor<?x3xf32>
    return %0 : tensor<?x3xf32>
  }
  func.func @square(%a: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.multiply %a, %a : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @scale(%factor: f32, %x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tensor.from_elements %factor : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.multiply %1, %x : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
  func.func @nothing() {
    return
  }
  func.func @constant() -> tensor<3xi32> {
    %0 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    return %0 : tensor<3xi32>
  }
  func.func @next() -> tensor<i32> {
    %0 = util.global.load @count : tensor<i32>
    %1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %0, %1 : tensor<i32>
    util.global.store %2, @count : tensor<i32>
    return %2 : tensor<i32>
  }
  func.func @large(%x: tensor<2000xf32>) -> tensor<2000xf32> {
    %0 = stablehlo.add %x, %x : tensor<2000xf32>
    return %0 : tensor<2000xf32>
  }
}
"""

# Host code that waits for fences of the caller, and a loop that takes as long as it is told.
WAITS = """
module @waits {
  util.func public @double_after(%fence: !hal.fence, %x: i32) -> i32 {
    %forever = arith.constant -1 : i32
    %status = hal.fence.await until([%fence]) timeout_millis(%forever) flags("None") : i32
    util.status.check_ok %status, "the fence failed"
    %0 = arith.addi %x, %x : i32
    util.return %0 : i32
  }
  util.func public @sum_after(%first: !hal.fence, %second: !hal.fence, %x: i32) -> i32 {
    %forever = arith.constant -1 : i32
    %s0 = hal.fence.await until([%first]) timeout_millis(%forever) flags("None") : i32
    util.status.check_ok %s0, "the first fence failed"
    %y = arith.addi %x, %x : i32
    %s1 = hal.fence.await until([%second]) timeout_millis(%forever) flags("None") : i32
    util.status.check_ok %s1, "the second fence failed"
    %0 = arith.addi %y, %x : i32
    util.return %0 : i32
  }
  util.func public @spin(%n: i64) -> i64 {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    cf.br ^bb1(%c0, %c1 : i64, i64)
  ^bb1(%i: i64, %a: i64):
    %more = arith.cmpi slt, %i, %n : i64
    cf.cond_br %more, ^bb2, ^bb3
  ^bb2:
    %x = arith.muli %a, %a : i64
    %b = arith.addi %x, %c1 : i64
    %j = arith.addi %i, %c1 : i64
    cf.br ^bb1(%j, %b : i64, i64)
  ^bb3:
    util.return %a : i64
  }
}
"""

TRACED = """
func.func @traced(%a: tensor<4xf32>) -> tensor<4xf32> {
  flow.tensor.trace "key" = [%a : tensor<4xf32>]
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  flow.tensor.trace "sum" = [%0 : tensor<4xf32>, %a : tensor<4xf32>]
  return %0 : tensor<4xf32>
}
"""

# Weights that come from files.
WEIGHTS = """
module @net {
  util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<4xf32>
  util.global private @b = #flow.parameter.named<"model"::"b"> : tensor<4xf32>
  func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
    %w = util.global.load @w : tensor<4xf32>
    %b = util.global.load @b : tensor<4xf32>
    %0 = stablehlo.multiply %x, %w : tensor<4xf32>
    %1 = stablehlo.add %0, %b : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
"""
# References that are no tensors, lists, and a list that holds itself.
REFERENCES = """
module @references {
  util.func public @buffer(%b: !hal.buffer) -> !hal.buffer {
    util.return %b : !hal.buffer
  }
  util.func public @view(%b: !hal.buffer_view) -> !hal.buffer_view {
    util.return %b : !hal.buffer_view
  }
  util.func public @list(%x: i32, %b: !hal.buffer_view) -> !util.list<?> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %list = util.list.create %c2 : !util.list<?>
    util.list.resize %list, %c2 : !util.list<?>
    util.list.set %list[%c0], %x : i32 -> !util.list<?>
    util.list.set %list[%c1], %b : !hal.buffer_view -> !util.list<?>
    util.return %list : !util.list<?>
  }
  util.func public @nested(%x: i32) -> !util.list<?> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %inner = util.list.create %c1 : !util.list<?>
    util.list.resize %inner, %c1 : !util.list<?>
    util.list.set %inner[%c0], %x : i32 -> !util.list<?>
    %outer = util.list.create %c1 : !util.list<?>
    util.list.resize %outer, %c1 : !util.list<?>
    util.list.set %outer[%c0], %inner : !util.list<?> -> !util.list<?>
    util.return %outer : !util.list<?>
  }
  util.func public @endless() -> !util.list<?> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %list = util.list.create %c1 : !util.list<?>
    util.list.resize %list, %c1 : !util.list<?>
    util.list.set %list[%c0], %list : !util.list<?> -> !util.list<?>
    util.return %list : !util.list<?>
  }
  util.func public @device() -> !hal.device {
    %c0 = arith.constant 0 : index
    %d = hal.devices.get %c0 : !hal.device
    util.return %d : !hal.device
  }
}
"""

_CACHE = Path(__file__).resolve().parents[2] / ".pytest_cache" / "d" / "iree-modules"


def iree_module(text: str, *flags: str) -> bytes:
    """What iree-compile 3.13 makes of `text` for this machine, with more `flags`."""
    return iree_module_with(text, (*HOST_FLAGS, *flags))


@cache
def iree_module_with(text: str, flags: tuple[str, ...], program: bool = False) -> bytes:
    """What iree-compile 3.13 makes of `text` with `flags`; the program, not the library, where flags need that."""
    import iree.compiler.version as version

    key = hashlib.sha256("\0".join([version.VERSION, text, *flags]).encode()).hexdigest()
    kept = _CACHE / f"{key}.vmfb"
    if kept.exists():
        return kept.read_bytes()
    data = _compile_with_program(text, flags) if program else _compile(text, flags)
    _CACHE.mkdir(parents=True, exist_ok=True)
    partial = kept.with_suffix(f".{os.getpid()}.part")
    partial.write_bytes(data)
    partial.replace(kept)
    return data


def _compile_with_program(text: str, flags: tuple[str, ...]) -> bytes:
    from proofs.iree_reference import run_tool

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "module.vmfb"
        run_tool("iree-compile", "-", *flags, "-o", path, stdin=text)
        return path.read_bytes()


def _compile(text: str, flags: tuple[str, ...]) -> bytes:
    from iree.compiler.api import Output, Session, Source

    session = Session()
    session.set_flags(*flags)
    invocation = session.invocation()
    invocation.enable_console_diagnostics()
    source = Source.wrap_buffer(session, text.encode() + b"\0")
    if not (invocation.parse_source(source) and invocation.execute()):
        raise RuntimeError("iree-compile failed; its messages are on stderr")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "module.vmfb"
        output = Output.open_file(str(path))
        invocation.output_vm_bytecode(output)
        output.keep()
        output.close()
        return path.read_bytes()


@cache
def tiree_module(text: str) -> bytes:
    """What Tiree makes of `text` for this machine."""
    import tiree

    return bytes(tiree.compile(text, flags=["--iree-hal-executable-debug-level=0"]))
