"""What the flow programs are made of: the module around them and the kernels they dispatch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FlowProgram:
    """`host` is the body of `@main`; `kernels` the executables it dispatches; `expected` maps inputs to results."""

    name: str
    kernels: tuple[str, ...]
    host: str
    inputs: tuple[np.ndarray | int, ...]
    expected: Callable[..., tuple[np.ndarray, ...]]

    @property
    def text(self) -> str:
        target = (
            '#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "generic", cpu_features = "", '
            'data_layout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128", '
            "max_stack_allocation_size = 32768 : i64, native_vector_size = 16 : i64, "
            'target_triple = "x86_64-unknown-unknown-eabi-elf"}>'
        )
        return "\n".join(
            [
                "module @program attributes {stream.affinity.default = #hal.device.affinity<@__device_0>} {",
                f'util.global private @__device_0 = #hal.device.target<"local", [{target}]> : !hal.device',
                *self.kernels,
                self.host,
                "}",
            ]
        )


def _tensor(shape: str, element: str) -> str:
    return f"tensor<{shape}x{element}>" if shape else f"tensor<{element}>"


def _dispatch_tensor(access: str, tensor: str) -> str:
    return f"!iree_tensor_ext.dispatch.tensor<{access}:{tensor}>"


def _slice(shape: str) -> str:
    dims = shape.split("x") if shape else []
    zeros, ones = ", ".join("0" for _ in dims), ", ".join("1" for _ in dims)
    return f"offsets = [{zeros}], sizes = [{', '.join(dims)}], strides = [{ones}]"


def _executable(name: str, arguments: str, body: str) -> str:
    return f"""
flow.executable private @{name} {{
  flow.executable.export public @{name} workgroups() -> (index, index, index) {{
    %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
    flow.return %x, %y, %z : index, index, index
  }}
  builtin.module {{
    func.func @{name}({arguments}) {{
{body}
      return
    }}
  }}
}}"""


def elementwise(name: str, shape: str, inputs: int, element: str, body: str, result: str | None = None) -> str:
    """A kernel `name(inputs...) -> result` whose scalar `body` computes %r from %a0, %a1, ..."""
    result = result or element
    source, target = _tensor(shape, element), _tensor(shape, result)
    arguments = [f"%i{n}: {_dispatch_tensor('readonly', source)}" for n in range(inputs)]
    arguments.append(f"%o: {_dispatch_tensor('writeonly', target)}")
    dims = ", ".join(f"d{i}" for i in range(len(shape.split("x")) if shape else 0))
    identity = f"affine_map<({dims}) -> ({dims})>"
    iterators = ", ".join('"parallel"' for _ in (shape.split("x") if shape else []))
    loads = "\n".join(
        f"      %t{n} = iree_tensor_ext.dispatch.tensor.load %i{n}, {_slice(shape)} : "
        f"{_dispatch_tensor('readonly', source)} -> {source}"
        for n in range(inputs)
    )
    ins = ", ".join(f"%t{n}" for n in range(inputs))
    types = ", ".join([source] * inputs)
    block = ", ".join([*(f"%a{n}: {element}" for n in range(inputs)), f"%unused: {result}"])
    operands = f"ins({ins} : {types}) " if inputs else ""
    return _executable(
        name,
        ", ".join(arguments),
        f"""{loads}
      %e = tensor.empty() : {target}
      %g = linalg.generic {{indexing_maps = [{", ".join([identity] * (inputs + 1))}], iterator_types = [{iterators}]}}
          {operands}outs(%e : {target}) {{
      ^bb0({block}):
        {body}
        linalg.yield %r : {result}
      }} -> {target}
      iree_tensor_ext.dispatch.tensor.store %g, %o, {_slice(shape)} : {target} ->
          {_dispatch_tensor("writeonly", target)}""",
    )


ADD4 = elementwise("add4", "4", 2, "f32", "%r = arith.addf %a0, %a1 : f32")
DOUBLE4 = elementwise("double4", "4", 1, "f32", "%r = arith.addf %a0, %a0 : f32")
DOUBLE16 = elementwise("double16", "16", 1, "f32", "%r = arith.addf %a0, %a0 : f32")
POSITIVE4 = elementwise(
    "positive4", "4", 1, "f32", "%z = arith.constant 0.0 : f32\n        %r = arith.cmpf ogt, %a0, %z : f32", "i1"
)
CHOOSE4 = elementwise(
    "choose4",
    "4",
    1,
    "i1",
    "%p = arith.constant 1.0 : f32\n        %m = arith.constant -1.0 : f32\n"
    "        %r = arith.select %a0, %p, %m : f32",
    "f32",
)
LESS = elementwise(
    "less", "", 1, "f32", "%z = arith.constant 100.0 : f32\n        %r = arith.cmpf olt, %a0, %z : f32", "i1"
)
TRIPLE = elementwise("triple", "", 1, "f32", "%z = arith.constant 3.0 : f32\n        %r = arith.mulf %a0, %z : f32")
BUMP4 = _executable(
    "bump4",
    f"%b: {_dispatch_tensor('readwrite', 'tensor<4xf32>')}, %s: f32, %i: index",
    """      %t = iree_tensor_ext.dispatch.tensor.load %b, offsets = [0], sizes = [4], strides = [1] :
          !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xf32>> -> tensor<4xf32>
      %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          outs(%t : tensor<4xf32>) {
      ^bb0(%a: f32):
        %n = linalg.index 0 : index
        %same = arith.cmpi eq, %n, %i : index
        %sum = arith.addf %a, %s : f32
        %r = arith.select %same, %sum, %a : f32
        linalg.yield %r : f32
      } -> tensor<4xf32>
      iree_tensor_ext.dispatch.tensor.store %g, %b, offsets = [0], sizes = [4], strides = [1] :
          tensor<4xf32> -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<4xf32>>""",
)
