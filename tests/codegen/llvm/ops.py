"""Runs one op on arrays, as scalars in a loop or as vectors: the helper of the op tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.codegen.harness import bindings, compile_kernel


def op_kernel(op: str, operands: Sequence[str], result: str, count: int, lanes: int, properties: str = "") -> str:
    """A kernel of `count` elements that stores `op` of its operands; `lanes` 0 means scalars."""
    types = [*operands, result]
    value = [f"vector<{lanes}x{t}>" if lanes else t for t in types]
    memory = [f"memref<{count}x{t}>" for t in types]
    loads, names = [], []
    for i, _ in enumerate(operands):
        if lanes:
            loads.append(f"%x{i} = vector.load %b{i}[%i] : {memory[i]}, {value[i]}")
        else:
            loads.append(f"%x{i} = memref.load %b{i}[%i] : {memory[i]}")
        names.append(f"%x{i}")
    call = f'%y = "{op}"({", ".join(names)}) {properties}: ({", ".join(value[:-1])}) -> {value[-1]}'
    out = f"%b{len(operands)}"
    store = (
        f"vector.store %y, {out}[%i] : {memory[-1]}, {value[-1]}"
        if lanes
        else f"memref.store %y, {out}[%i] : {memory[-1]}"
    )
    body = "\n".join([*loads, call, store])
    return f"""
func.func @kernel() {{
  {bindings(*(f"{count}x{t}" for t in types), readonly=range(len(operands)))}
  %n = arith.constant {count} : index
  %step = arith.constant {max(1, lanes)} : index
  scf.for %i = %c0 to %n step %step {{
    {body}
  }}
  func.return
}}"""


def run_op(
    op: str,
    arrays: Sequence[np.ndarray],
    operands: Sequence[str],
    result: str,
    dtype: np.dtype | type,
    lanes: int = 8,
    properties: str = "",
    cpu: str = "host",
    optimise: bool | None = None,
) -> np.ndarray:
    """`op` applied elementwise; array lengths are a multiple of `lanes`."""
    out = np.zeros(len(arrays[0]), dtype)
    text = op_kernel(op, operands, result, len(out), lanes, properties)
    compile_kernel(text, cpu=cpu, optimise=optimise).run(*arrays, out)
    return out


FAST_NONE = "<{fastmath = #arith.fastmath<none>}> "
NO_OVERFLOW = "<{overflowFlags = #arith.overflow<none>}> "
