"""Neighbours of faults that only show in MLIR text: divisions of every width, periodic maps, steps of loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from numpy.typing import NDArray

DEVICES = ("local-sync", "local-task")
WIDTHS = (8, 16, 32, 64)


def trunc_divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def test_divisions_in_tensors() -> None:
    """x / 0 is -1 (all bits), MIN / -1 is MIN, x % 0 is x, MIN % -1 is 0: in every width, signed and not."""
    functions, inputs = [], {}
    for prefix in ("i", "ui"):
        for bits in WIDTHS:
            type = f"tensor<7x{prefix}{bits}>"
            functions.append(
                f"func.func @f_{prefix}{bits}(%a: {type}, %b: {type}) -> ({type}, {type}) {{\n"
                f"  %q = stablehlo.divide %a, %b : {type}\n  %r = stablehlo.remainder %a, %b : {type}\n"
                f"  return %q, %r : {type}, {type}\n}}"
            )
            dtype = np.dtype(f"{'u' if prefix == 'ui' else ''}int{bits}")
            low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
            inputs[f"{prefix}{bits}"] = dtype, [7, low, high, 0, low, high, 100], [0, high, 3, 0, high, 0, 7]
            if prefix == "i":
                inputs[f"{prefix}{bits}"] = dtype, [7, low, -7, 0, low, high, -100], [0, -1, 2, 0, 0, -1, 7]
    module = tiree.compile("\n".join(functions))
    for device in DEVICES:
        loaded = rt.load(module, device=device)
        for name, (dtype, a, b) in inputs.items():
            bits = dtype.itemsize * 8
            quotients = [-1 if y == 0 else trunc_divide(x, y) for x, y in zip(a, b, strict=True)]
            rests = [x if y == 0 else x - y * q for x, y, q in zip(a, b, quotients, strict=True)]
            found = getattr(loaded, f"f_{name}")(np.array(a, dtype), np.array(b, dtype))
            for got, wanted in zip(found, (quotients, rests), strict=True):
                mask = (1 << bits) - 1
                assert [int(v) & mask for v in np.asarray(got).tolist()] == [v & mask for v in wanted], name


HOST = ("divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi", "ceildivui")


@pytest.mark.parametrize("op", HOST)
def test_divisions_of_the_host_fail_cleanly(op: str) -> None:
    functions = [
        f"func.func @f{bits}(%a: i{bits}, %b: i{bits}) -> i{bits} {{\n"
        f"  %0 = arith.{op} %a, %b : i{bits}\n  return %0 : i{bits}\n}}"
        for bits in WIDTHS
    ]
    module = rt.load(tiree.compile("\n".join(functions)), device="local-sync")
    for bits in WIDTHS:
        function = getattr(module, f"f{bits}")
        with pytest.raises(ValueError, match="divi"):
            function(7, 0)
        assert function(12, 4) == (0 if op.startswith("rem") else 3)
        if op in ("divsi", "remsi"):
            # The quotient has no room: an error, or the wrapped value of a narrow type; never a signal.
            least = -(2 ** (bits - 1))
            if bits >= 32:
                with pytest.raises(ValueError, match="integer overflow"):
                    function(least, -1)
            else:
                assert function(least, -1) in (0, least)


def generic(name: str, shape: str, result: str, index: str, dims: str) -> str:
    """`r[dims] = x[index]`."""
    count = len(dims.split(","))
    return f"""func.func @{name}(%x: tensor<{shape}xi32>) -> tensor<{result}xi32> {{
  %e = tensor.empty() : tensor<{result}xi32>
  %0 = linalg.generic {{indexing_maps = [affine_map<({dims}) -> ({index})>, affine_map<({dims}) -> ({dims})>],
      iterator_types = [{", ".join(['"parallel"'] * count)}]}} ins(%x : tensor<{shape}xi32>)
      outs(%e : tensor<{result}xi32>) {{
  ^bb0(%a: i32, %b: i32):
    linalg.yield %a : i32
  }} -> tensor<{result}xi32>
  return %0 : tensor<{result}xi32>
}}"""


Ints = NDArray[np.int32]
MAPS: dict[str, tuple[tuple[str, str, str, str], Callable[[Ints], Ints]]] = {
    "rotated": (("6", "6", "(d0 + 3) mod 6", "d0"), lambda x: np.roll(x, -3)),
    "repeated": (("5", "37", "d0 mod 5", "d0"), lambda x: np.resize(x, 37)),
    "stretched": (("5", "33", "d0 floordiv 7", "d0"), lambda x: np.repeat(x, 7)[:33]),
    "rounded_up": (("6", "33", "d0 ceildiv 7", "d0"), lambda x: x[-(-np.arange(33) // 7)]),
    "tiled": (("3x4", "9x8", "d0 mod 3, d1 mod 4", "d0, d1"), lambda x: np.tile(x, (3, 2))),
    "reversed": (("9", "9", "8 - d0", "d0"), lambda x: x[::-1]),
    "strided": (("20", "7", "d0 * 3 + 1", "d0"), lambda x: x[1::3]),
    "diagonal": (("4x4", "4", "d0, d0", "d0"), np.diagonal),
    "skewed": (("12", "4x3", "(d0 * 5 + d1 * 7) mod 12", "d0, d1"),
               lambda x: x[(np.arange(4)[:, None] * 5 + np.arange(3) * 7) % 12]),
    "split": (("24", "2x3x4", "d0 * 12 + d1 * 4 + d2", "d0, d1, d2"), lambda x: x.reshape(2, 3, 4)),
    "joined": (("4x6", "24", "d0 floordiv 6, d0 mod 6", "d0"), lambda x: x.reshape(-1)),
    "constant": (("7", "5", "3", "d0"), lambda x: np.full(5, x[3])),
}  # fmt: skip


def test_periodic_and_other_maps() -> None:
    module = tiree.compile("\n".join(generic(name, *parts) for name, (parts, _) in MAPS.items()))
    for device in DEVICES:
        loaded = rt.load(module, device=device)
        for name, ((shape, *_), expected) in MAPS.items():
            dims = [int(d) for d in shape.split("x")]
            x = np.arange(np.prod(dims), dtype=np.int32).reshape(dims) * 3 + 1
            np.testing.assert_array_equal(np.asarray(getattr(loaded, name)(x)), expected(x), err_msg=name)


LOOPS = """
func.func @sum(%low: index, %high: index, %step: index) -> index {
  %z = arith.constant 0 : index
  %r = scf.for %i = %low to %high step %step iter_args(%a = %z) -> (index) {
    %b = arith.addi %a, %i : index
    scf.yield %b : index
  }
  return %r : index
}
func.func @narrow(%low: i32, %high: i32, %step: i32) -> i32 {
  %z = arith.constant 0 : i32
  %r = scf.for %i = %low to %high step %step iter_args(%a = %z) -> (i32) : i32 {
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  }
  return %r : i32
}
func.func @inner(%n: index, %step: index) -> index {
  %z = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %z to %n step %one iter_args(%a = %z) -> (index) {
    %b = scf.for %j = %z to %n step %step iter_args(%c = %a) -> (index) {
      %d = arith.addi %c, %one : index
      scf.yield %d : index
    }
    scf.yield %b : index
  }
  return %r : index
}
func.func @tensors(%x: tensor<3xf32>, %n: index, %step: index) -> tensor<3xf32> {
  %z = arith.constant 0 : index
  %r = scf.for %i = %z to %n step %step iter_args(%a = %x) -> (tensor<3xf32>) {
    %b = stablehlo.add %a, %x : tensor<3xf32>
    scf.yield %b : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
"""


@pytest.mark.parametrize("device", DEVICES)
def test_steps_of_loops(device: str) -> None:
    module = rt.load(tiree.compile(LOOPS), device=device)
    ones = np.ones(3, np.float32)
    for low, high, step in [(0, 10, 3), (5, 5, 1), (7, 2, 1), (-4, 4, 2), (0, 1, 100)]:
        assert module.sum(low, high, step) == sum(range(low, high, step))
        assert module.narrow(low, high, step) == sum(range(low, high, step))
    assert module.inner(5, 2) == 15
    np.testing.assert_array_equal(np.asarray(module.tensors(ones, 5, 2)), 4 * ones)
    for step in (0, -1, -(2**31)):
        for call in (
            lambda s=step: module.sum(0, 10, s),
            lambda s=step: module.narrow(0, 10, s),
            lambda s=step: module.inner(3, s),
            lambda s=step: module.tensors(ones, 3, s),
        ):
            with pytest.raises(rt.StatusError, match="needs a positive step"):
                call()
    assert module.sum(0, 10, 5) == 5, "the module works after an error"
