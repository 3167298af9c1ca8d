"""Measures the accuracy of the elementary functions: `python -m tests.codegen.math.measure [cpu]` prints the table of
`docs/reference/math_accuracy.md`. `test_accuracy.py` runs the same on fewer samples and holds the limits.

The oracle is numpy in 80-bit extended precision (the C library's long double functions) where it has the function,
mpmath otherwise. An ulp is the distance of floats at the correctly rounded result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache

import numpy as np

from tests.codegen.harness import Kernel, bindings, compile_kernel, mlir_element

Sampler = Callable[[np.random.Generator, int], np.ndarray]
LANES = 16


def uniform(low: float, high: float) -> Sampler:
    return lambda rng, n: rng.uniform(low, high, n)


def spread(low: int, high: int, signed: bool = True) -> Sampler:
    """Magnitudes from 2^low to 2^high, evenly in the exponent."""

    def sample(rng: np.random.Generator, n: int) -> np.ndarray:
        x = np.exp2(rng.uniform(low, high, n))
        return x * rng.choice([-1.0, 1.0], n) if signed else x

    return sample


def mixed(*samplers: Sampler) -> Sampler:
    def sample(rng: np.random.Generator, n: int) -> np.ndarray:
        return np.concatenate([s(rng, n // len(samplers) + 1) for s in samplers])[:n]

    return sample


def _mp(name: str) -> Callable[..., np.ndarray]:
    """An mpmath function on an array, as long doubles."""
    import mpmath

    def function(*arrays: np.ndarray) -> np.ndarray:
        with mpmath.workprec(120):
            f = getattr(mpmath, name)
            values = [f(*(mpmath.mpf(float(v)) for v in row)) for row in zip(*arrays, strict=True)]
            out = np.empty(len(values), np.longdouble)
            for i, value in enumerate(values):
                head = float(value)
                out[i] = np.longdouble(head) + np.longdouble(float(value - head) if np.isfinite(head) else 0.0)
            return out

    return function


_WIDE = {32: spread(-120, 120), 64: spread(-1000, 1000)}
_LOG = {b: mixed(spread(low, high, False), uniform(0.4, 2)) for b, low, high in ((32, -149, 128), (64, -1074, 1024))}
_ALL = mixed(uniform(-4, 4), spread(-30, 7))
CASES: dict[str, tuple[Callable[..., np.ndarray], dict[int, Sampler]]] = {
    "exp": (np.exp, {32: uniform(-104, 89), 64: uniform(-746, 710)}),
    "exp2": (np.exp2, {32: uniform(-150, 128), 64: uniform(-1075, 1024)}),
    "expm1": (np.expm1, {32: mixed(uniform(-20, 89), spread(-40, 2)), 64: mixed(uniform(-40, 710), spread(-60, 2))}),
    "log": (np.log, _LOG),
    "log2": (np.log2, _LOG),
    "log10": (np.log10, _LOG),
    "log1p": (np.log1p, {b: mixed(uniform(-0.99999, 3), spread(-60, 1), spread(0, 100, False)) for b in (32, 64)}),
    "sin": (np.sin, {32: mixed(uniform(-10, 10), spread(-30, 127)), 64: mixed(uniform(-10, 10), spread(-60, 1020))}),
    "cos": (np.cos, {32: mixed(uniform(-10, 10), spread(-30, 127)), 64: mixed(uniform(-10, 10), spread(-60, 1020))}),
    "tan": (np.tan, {32: mixed(uniform(-10, 10), spread(-30, 127)), 64: mixed(uniform(-10, 10), spread(-60, 1020))}),
    "tanh": (np.tanh, {32: _ALL, 64: _ALL}),
    "sinh": (np.sinh, {32: mixed(uniform(-89, 89), _ALL), 64: mixed(uniform(-710, 710), _ALL)}),
    "cosh": (np.cosh, {32: mixed(uniform(-89, 89), _ALL), 64: mixed(uniform(-710, 710), _ALL)}),
    "asinh": (np.arcsinh, _WIDE),
    "acosh": (np.arccosh, {b: mixed(uniform(1, 2), spread(0, 120, False)) for b in (32, 64)}),
    "atanh": (np.arctanh, {b: mixed(uniform(-0.999999, 0.999999), spread(-30, -1)) for b in (32, 64)}),
    "asin": (np.arcsin, {b: mixed(uniform(-1, 1), spread(-30, -1)) for b in (32, 64)}),
    "acos": (np.arccos, {b: mixed(uniform(-1, 1), spread(-30, -1)) for b in (32, 64)}),
    "atan": (np.arctan, {b: mixed(uniform(-4, 4), spread(-40, 40)) for b in (32, 64)}),
    "atan2": (np.arctan2, {b: mixed(uniform(-4, 4), spread(-40, 40)) for b in (32, 64)}),
    "erf": (_mp("erf"), {b: mixed(uniform(-6, 6), spread(-30, 1)) for b in (32, 64)}),
    "erfc": (_mp("erfc"), {32: uniform(-5, 10), 64: uniform(-5, 26.5)}),
    "powf": (np.power, {32: spread(-60, 60, False), 64: spread(-500, 500, False)}),
    "cbrt": (np.cbrt, _WIDE),
    "rsqrt": (lambda x: 1 / np.sqrt(x), {32: spread(-149, 127, False), 64: spread(-1074, 1020, False)}),
    "sqrt": (np.sqrt, {32: spread(-149, 127, False), 64: spread(-1074, 1020, False)}),
}  # fmt: skip
BINARY = ("atan2", "powf")
SLOW = ("erf", "erfc")


def kernel_text(name: str, type: str, count: int, lanes: int = LANES) -> str:
    """A kernel that applies `math.<name>` to `count` elements, `lanes` at a time."""
    arity = 2 if name in BINARY else 1
    memref, vector = f"memref<{count}x{type}>", f"vector<{lanes}x{type}>"
    loads = "\n".join(f"%x{i} = vector.load %b{i}[%i] : {memref}, {vector}" for i in range(arity))
    operands = ", ".join(f"%x{i}" for i in range(arity))
    types = ", ".join([vector] * arity)
    return f"""
func.func @{name}_{type}() {{
  {bindings(*([f"{count}x{type}"] * (arity + 1)), readonly=range(arity))}
  %n = arith.constant {count} : index
  %step = arith.constant {lanes} : index
  scf.for %i = %c0 to %n step %step {{
    {loads}
    %y = "math.{name}"({operands}) <{{fastmath = #arith.fastmath<none>}}> : ({types}) -> {vector}
    vector.store %y, %b{arity}[%i] : {memref}, {vector}
  }}
  func.return
}}"""


@cache
def compiled(name: str, type: str, count: int, cpu: str, lanes: int = LANES) -> Kernel:
    return compile_kernel(kernel_text(name, type, count, lanes), cpu=cpu)


def evaluate(name: str, arrays: list[np.ndarray], cpu: str = "host", lanes: int = LANES) -> np.ndarray:
    """`name` of arrays whose length is a multiple of `lanes`."""
    out = np.zeros_like(arrays[0])
    compiled(name, mlir_element(out.dtype), len(out), cpu, lanes).run(*arrays, out)
    return out


def ulps(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Error in units of the last place of the correctly rounded result; `expected` in long double."""
    dtype = actual.dtype
    with np.errstate(all="ignore"):
        rounded = expected.astype(dtype)
        unit = np.spacing(np.abs(np.where(np.isfinite(rounded), rounded, 1))).astype(np.longdouble)
        largest = np.longdouble(np.finfo(dtype).max)
        close = np.isfinite(rounded) & np.isfinite(actual)
        # An overflow that should be a number just below it counts as its distance from 2^emax.
        value = np.where(np.isinf(actual) & close.__invert__(), np.sign(actual) * largest, actual).astype(np.longdouble)
        target = np.where(np.isinf(rounded), np.sign(rounded) * largest, np.clip(expected, -largest, largest))
        error = np.abs(value - target) / unit
    same = (actual == rounded) | (np.isnan(actual) & np.isnan(rounded))
    return np.where(same & ~np.isfinite(rounded), 0, error)


def samples(name: str, bits: int, count: int, seed: int = 1) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    dtype = np.float32 if bits == 32 else np.float64
    sampler = CASES[name][1][bits]
    first = sampler(rng, count).astype(dtype)
    if name == "powf":
        # Exponents that keep most results in range.
        limit = 120 if bits == 32 else 1000
        with np.errstate(divide="ignore"):
            second = (rng.uniform(-limit, limit, count) / np.maximum(np.abs(np.log2(first)), 1e-3)).astype(dtype)
        return [first, second]
    return [first, sampler(rng, count).astype(dtype)] if name in BINARY else [first]


def max_ulp(name: str, bits: int, count: int, cpu: str = "host") -> tuple[float, list[float]]:
    """The largest error and the arguments that gave it."""
    if name in SLOW:
        count = min(count, 16384)
    count -= count % LANES
    arrays = samples(name, bits, count)
    actual = evaluate(name, arrays, cpu)
    reference = CASES[name][0]
    with np.errstate(all="ignore"):
        wide = arrays if name in SLOW else [a.astype(np.longdouble) for a in arrays]
        errors = ulps(actual, reference(*wide))
    worst = int(np.argmax(np.where(np.isnan(errors), np.inf, errors)))
    return float(errors[worst]), [float(a[worst]) for a in arrays]


def main() -> None:
    """Prints the table for the CPU named on the command line (default: this machine)."""
    cpu = sys.argv[1] if len(sys.argv) > 1 else "host"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 20
    print("| function | f32 max ulp | f64 max ulp |\n|---|---|---|")
    for name in CASES:
        row = [max_ulp(name, bits, count, cpu) for bits in (32, 64)]
        print(f"| {name} | {row[0][0]:.2f} | {row[1][0]:.2f} |", file=sys.stdout)
        print(name, *(r[1] for r in row), file=sys.stderr)


if __name__ == "__main__":
    main()
