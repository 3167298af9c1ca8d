"""Runs the ops of a type on many arguments and counts how far they are from the oracle.

An error is counted in units of the last place of the rounded result, as a distance from the unrounded one: 0.5
is correctly rounded. Infinities, NaN and zeros with their signs are to be the oracle's: each that is not is reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import tiree
import tiree.runtime as rt

from tests.proofs.accuracy.ops import OPS, Op

TYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
CHUNK = 1 << 16
VMVX = "vmvx"
CPUS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "host", VMVX)


@dataclass
class Found:
    """The largest error and its arguments, and what is not of the oracle's class."""

    worst: float = 0.0
    at: tuple[float, ...] = ()
    other: list[str] = field(default_factory=list)


def module_text(ops: Sequence[Op], element: str) -> str:
    """A function for each op, named by it."""
    type = f"tensor<{CHUNK}x{element}>"
    functions = []
    for op in ops:
        arguments = ", ".join(f"%{letter}: {type}" for letter in "ab"[: op.arity])
        body = op.text.replace("T", type).replace("E", element)
        functions.append(f"func.func @{name_of(op)}({arguments}) -> {type} {{\n  {body}\n  return %r : {type}\n}}")
    return "\n".join(functions)


def name_of(op: Op) -> str:
    return op.name.replace(".", "_")


@cache
def loaded(element: str, cpu: str, ops: tuple[Op, ...] = OPS) -> Any:
    """The module of a type for a CPU, or as bytecode."""
    flags = [f"--iree-llvmcpu-target-cpu={cpu}"]
    if cpu == VMVX:
        flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=vmvx"]
    return rt.load(tiree.compile(module_text(ops, element), flags=flags), device="local-sync")


def arguments(op: Op, element: str, part: int) -> list[np.ndarray]:
    """`CHUNK` values an argument. For unary ops of 16-bit types, `part` 0 is every value there is."""
    dtype = np.dtype(TYPES[element])
    stream = np.random.default_rng([part, len(op.name)])
    unsigned = f"u{dtype.itemsize}"
    if dtype.itemsize == 2:
        every = np.arange(CHUNK, dtype=np.uint16)
        values = [every if position == 0 else stream.permutation(every) for position in range(op.arity)]
        values = [value.view(dtype) for value in values]
        if op.bits:
            return values
    count = CHUNK // 2 if op.bits else 0
    inside = [stream.uniform(*op.within, CHUNK - count) for _ in range(op.arity)]
    if op.name == "chlo.polygamma":
        inside[0] = np.floor(stream.uniform(1, 5, CHUNK - count))
    drawn = [np.frombuffer(stream.bytes(count * dtype.itemsize), unsigned).view(dtype) for _ in range(op.arity)]
    return [np.concatenate([bits, value.astype(dtype)]) for bits, value in zip(drawn, inside, strict=True)]


def units(size: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """The distance of floats at |x| rounded to `dtype`."""
    limits = ml_dtypes.finfo(dtype)
    smallest = int(np.log2(float(limits.smallest_normal)))
    exponent = np.frexp(np.where(np.isfinite(size) & (size > 0), size, 1))[1] - 1
    exponent = np.where(size > 0, np.maximum(exponent, smallest), smallest)
    return np.ldexp(np.longdouble(1), exponent - limits.nmant)


def exact_values(op: Op, values: Sequence[np.ndarray]) -> np.ndarray:
    """What the oracle gives, wider than the type."""
    double = values[0].dtype == np.float64
    wide, oracle = (np.longdouble, op.wide) if double else (np.float64, op.narrow)
    with np.errstate(all="ignore"):
        return np.asarray(oracle(*(value.astype(wide) for value in values))).astype(wide)


def compare(op: Op, values: Sequence[np.ndarray], got: np.ndarray, exact: np.ndarray, found: Found) -> None:
    """Takes one chunk's errors into `found`."""
    dtype, wide = got.dtype, exact.dtype
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype).astype(wide)
        mine = got.astype(wide)
        known = np.isfinite(exact) & np.isfinite(mine) & np.isfinite(rounded)
        size = np.maximum(np.abs(rounded), 1) if op.roots else np.abs(rounded)
        error = np.where(known, np.abs(mine - exact) / units(size, dtype), 0)
        same = (mine == rounded) | (np.isnan(mine) & np.isnan(rounded))
        # An overflow is right where the exact value is within the error of the largest number.
        limit = np.longdouble(float(ml_dtypes.finfo(dtype).max))
        edge = np.abs(exact) >= limit * (1 - 4 * np.longdouble(float(ml_dtypes.finfo(dtype).eps)))
        wrong = ~known & ~same & ~(edge & (np.signbit(mine) == np.signbit(exact)) & ~np.isnan(mine) & ~np.isnan(exact))
        wrong |= (rounded == 0) & (exact == 0) & (np.signbit(mine) != np.signbit(rounded)) & ~np.isnan(exact)
    worst = int(np.argmax(error))
    if float(error[worst]) > found.worst:
        found.worst, found.at = float(error[worst]), tuple(float(value[worst]) for value in values)
    for index in np.flatnonzero(wrong)[:3]:
        at = ", ".join(repr(float(value[index])) for value in values)
        found.other.append(f"{op.name}({at}) = {mine[index]!r}, needed {rounded[index]!r}")


def measure(op: Op, element: str, cpus: Sequence[str], parts: int, ops: tuple[Op, ...] = OPS) -> dict[str, Found]:
    """The op on `parts` chunks of arguments under each CPU; one is all there are for a unary op of 16 bits."""
    found = {cpu: Found() for cpu in cpus}
    if np.dtype(TYPES[element]).itemsize == 2 and op.arity == 1:
        parts = 1
    for part in range(parts):
        values = arguments(op, element, part)
        exact = exact_values(op, values)
        for cpu in cpus:
            results = getattr(loaded(element, cpu, ops), name_of(op))(*values)
            compare(op, values, np.asarray(results).astype(TYPES[element]), exact, found[cpu])
    return found
