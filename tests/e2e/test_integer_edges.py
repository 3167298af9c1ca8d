"""Integers at their edges, as docs/reference/integer_edges.md has it: the same wherever they are computed.

Every pair of edge values goes through a kernel for each target CPU, through bytecode, through both devices and IREE's
runtime, through tensors of one element and through the compiler's folding of constants.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree

ALL = os.environ.get("TIREE_ALL_TYPES") == "1"
VMVX = "vmvx"
CPUS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "host", VMVX) if ALL else ("x86-64", "host", VMVX)
INTEGERS = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
FLOATS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
BINARY = ("divide", "remainder", "shift_left", "shift_right_logical", "shift_right_arithmetic", "power", "mulhi")


def numpy_type(name: str) -> Any:
    return np.dtype(name.replace("ui", "uint") if name.startswith("ui") else name.replace("i", "int"))


def edges(name: str) -> list[int]:
    limits, bits = np.iinfo(numpy_type(name)), numpy_type(name).itemsize * 8
    found = [0, 1, 2, 3, 7, bits - 1, bits, bits + 1, limits.max, limits.max - 1, limits.min, limits.min + 1]
    return list(dict.fromkeys(found + ([] if limits.min == 0 else [-1, -2, -7])))


def wrapped(value: int, name: str) -> int:
    """The value's low bits."""
    bits = numpy_type(name).itemsize * 8
    value &= (1 << bits) - 1
    return value - (1 << bits) if name.startswith("i") and value >> (bits - 1) else value


def computed(op: str, a: int, b: int, name: str) -> int:
    """What the page says."""
    bits, signed = numpy_type(name).itemsize * 8, name.startswith("i")
    if op == "divide":
        return wrapped(-1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1), name)
    if op == "remainder":
        return a if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1)
    if op == "power":
        if b >= 0:
            return wrapped(pow(a, b, 1 << bits), name)
        return {1: 1, -1: 1 if b % 2 == 0 else -1}.get(a, 0)
    if op == "mulhi":
        return (a * b) >> bits
    amount = b & ((1 << bits) - 1)
    if op == "shift_left":
        return wrapped(a << amount, name) if amount < bits else 0
    if op == "shift_right_logical":
        return wrapped((a & ((1 << bits) - 1)) >> amount, name) if amount < bits else 0
    negative = wrapped(a, name if signed else name[1:]) < 0
    return wrapped(wrapped(a, name if signed else name[1:]) >> amount if amount < bits else -int(negative), name)


@cache
def pairs(name: str) -> tuple[np.ndarray, np.ndarray]:
    first, second = zip(*((a, b) for a in edges(name) for b in edges(name)), strict=True)
    return np.array(first, numpy_type(name)), np.array(second, numpy_type(name))


def floats(name: str) -> np.ndarray:
    """Values around the ends of all integer types, fractions, infinities and NaN."""
    found = [0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1.5, -1.5, 1e9, -1e9, 1e30, -1e30, np.inf, -np.inf, np.nan]
    found += [
        sign * 2.0**power + step for power in (7, 8, 15, 16, 31, 32, 63, 64) for sign in (1, -1) for step in (-1, 0, 1)
    ]
    with np.errstate(over="ignore"):
        return np.array(found).astype(FLOATS[name])


def saturated(value: float, name: str) -> int:
    limits = np.iinfo(numpy_type(name))
    if np.isnan(value):
        return 0
    if np.isinf(value):
        return int(limits.max if value > 0 else limits.min)
    return min(max(int(value), int(limits.min)), int(limits.max))


def function(name: str, shape: str, constants: bool) -> str:
    """All ops on a type: binary ones, negation, absolute value and sign."""
    type = f"tensor<{shape}{name}>"
    first, second = pairs(name)
    given = "" if constants else f"%a: {type}, %b: {type}"
    lines = [
        f"  %{letter} = stablehlo.constant dense<{values.tolist()}> : {type}"
        for letter, values in (("a", first), ("b", second))
        if constants
    ]
    lines += [f"  %{op} = stablehlo.{op} %a, %b : {type}" for op in BINARY if op != "mulhi"]
    lines += [f"  %mulhi = chlo.mulhi %a, %b : {type}, {type} -> {type}"]
    results = list(BINARY)
    if name.startswith("i"):
        lines += [f"  %{op} = stablehlo.{op} %a : {type}" for op in ("negate", "abs", "sign")]
        results += ["negate", "abs", "sign"]
    returned, types = ", ".join(f"%{op}" for op in results), ", ".join([type] * len(results))
    label = f"{name}_{'folded' if constants else 'scalar' if not shape else 'wide'}"
    body = "\n".join(lines)
    return f"func.func @{label}({given}) -> ({types}) {{\n{body}\n  return {returned} : {types}\n}}"


def conversion(source: str) -> str:
    """From a float to all integer types."""
    count = len(floats(source))
    types = ", ".join(f"tensor<{count}x{name}>" for name in INTEGERS)
    lines = "\n".join(
        f"  %{name} = stablehlo.convert %a : (tensor<{count}x{source}>) -> tensor<{count}x{name}>" for name in INTEGERS
    )
    returned = ", ".join(f"%{name}" for name in INTEGERS)
    head = f"func.func @from_{source}(%a: tensor<{count}x{source}>) -> ({types})"
    return f"{head} {{\n{lines}\n  return {returned} : {types}\n}}"


@cache
def compiled(cpu: str) -> bytes:
    parts = []
    for name in INTEGERS:
        count = len(pairs(name)[0])
        parts += [function(name, f"{count}x", False), function(name, "", False), function(name, f"{count}x", True)]
    text = "\n".join([*parts, *(conversion(name) for name in FLOATS)])
    flags = [f"--iree-llvmcpu-target-cpu={cpu}"]
    if cpu == VMVX:
        flags = ["--iree-hal-local-target-device-backends=vmvx"]
    return bytes(tiree.compile(text, flags=flags))


def wanted(name: str) -> list[list[int]]:
    first, second = (values.tolist() for values in pairs(name))
    found = [[computed(op, a, b, name) for a, b in zip(first, second, strict=True)] for op in BINARY]
    if name.startswith("i"):
        found += [[wrapped(-a, name) for a in first], [wrapped(abs(a), name) for a in first]]
        found += [[(a > 0) - (a < 0) for a in first]]
    return found


def compare(results: Any, name: str, where: str) -> None:
    ops = [*BINARY, "negate", "abs", "sign"]
    for op, got, want in zip(ops, results, wanted(name), strict=False):
        values = np.asarray(got).ravel().tolist()
        wrong = [
            f"{op}({a}, {b}) = {g}, needed {w}"
            for a, b, g, w in zip(*(v.tolist() for v in pairs(name)), values, want, strict=True)
            if g != w
        ]
        assert not wrong, f"{name} {where}: {wrong[:5]}"


@pytest.mark.parametrize("cpu", CPUS)
def test_kernels_and_folding(cpu: str) -> None:
    for device in ("local-sync", "local-task"):
        module = rt.load(compiled(cpu), device=device)
        for name in INTEGERS:
            compare(getattr(module, f"{name}_wide")(*pairs(name)), name, f"{cpu} {device}")
            compare(getattr(module, f"{name}_folded")(), name, f"{cpu} folded")


@pytest.mark.parametrize("cpu", CPUS)
def test_one_element(cpu: str) -> None:
    module = rt.load(compiled(cpu), device="local-sync")
    for name in INTEGERS:
        call = getattr(module, f"{name}_scalar")
        rows = [[np.asarray(r) for r in call(a, b)] for a, b in zip(*pairs(name), strict=True)]
        compare([np.array(column) for column in zip(*rows, strict=True)], name, f"{cpu}, one element")


@pytest.mark.parametrize("cpu", CPUS)
def test_conversions(cpu: str) -> None:
    module = rt.load(compiled(cpu), device="local-sync")
    for source in FLOATS:
        values = floats(source)
        for name, got in zip(INTEGERS, getattr(module, f"from_{source}")(values), strict=True):
            want = [saturated(float(value), name) for value in values]
            wrong = [(float(v), g, w) for v, g, w in zip(values, np.asarray(got).tolist(), want, strict=True) if g != w]
            assert not wrong, f"{source} to {name} on {cpu}: {wrong[:5]}"


@iree.needs_iree
def test_in_the_other_runtime() -> None:
    for name in INTEGERS:
        results = iree.call(compiled("host"), f"{name}_wide", pairs(name), "local-sync")
        compare([np.asarray(r).view(numpy_type(name)) for r in results], name, "in IREE's runtime")
