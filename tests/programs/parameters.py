"""A program whose weights are parameters: one of each element type, and a state that changes."""

from __future__ import annotations

import numpy as np

TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32, "i64": np.int64, "f64": np.float64}


def program() -> str:
    """A function a type that adds a parameter of scope `m`, and a state that begins as one of the global scope."""
    lines = ["module @parameters {"]
    for name in TYPES:
        tensor, add = f"tensor<3x5x{name}>", "arith.addf" if name[0] == "f" else "arith.addi"
        lines.append(f"""
  util.global private @{name} = #flow.parameter.named<"m"::"w.{name}"> : {tensor}
  func.func @add_{name}(%x: {tensor}) -> {tensor} {{
    %w = util.global.load @{name} : {tensor}
    %0 = {add} %x, %w : {tensor}
    return %0 : {tensor}
  }}""")
    lines.append("""
  util.global private mutable @state = #flow.parameter.named<"state"> : tensor<4xi32>
  func.func @next(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
    %old = util.global.load @state : tensor<4xi32>
    %new = arith.addi %old, %x : tensor<4xi32>
    util.global.store %new, @state : tensor<4xi32>
    return %old, %new : tensor<4xi32>, tensor<4xi32>
  }
}
""")
    return "\n".join(lines)
