"""The greatest elements of lines: selected where they are few, bit for bit what JAX gives, the order of equals too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

jax = pytest.importorskip("jax", reason="its text is what is compiled")
lax, jnp = jax.lax, jax.numpy

RNG = np.random.default_rng(5)
SHAPES: list[tuple[tuple[int, ...], int]] = [
    ((7, 1000), 17),
    ((40_001,), 33),
    ((2, 3, 30_000), 5),
    ((5, 64), 16),
    ((2, 4), 1),
    ((2048,), 512),
    ((100,), 99),
]
"""The last one is sorted."""


def lines(shape: tuple[int, ...], element: str) -> np.ndarray:
    """Many equal elements, and the extremes of the type."""
    dtype = jnp.dtype(element)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        x = RNG.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        chosen = RNG.random(shape)
        x[chosen < 0.3], x[chosen > 0.9] = limits.min, limits.max
        return x
    x = np.round(RNG.standard_normal(shape) * 8).astype(dtype)
    chosen = RNG.random(shape)
    for number, value in enumerate((np.nan, -np.nan, np.inf, -np.inf)):
        x[(chosen > number / 50) & (chosen < (number + 0.5) / 50)] = value
    x[(chosen > 0.1) & (chosen < 0.3)] = -0.0
    return x


def check(xs: list[np.ndarray], counts: list[int]) -> None:
    program = jax.jit(lambda *xs: [lax.top_k(x, k) for x, k in zip(xs, counts, strict=True)])
    got: Any = rt.load(tiree.compile(program.lower(*xs).as_text())).main(*xs)
    wanted = [part for pair in program(*xs) for part in pair]
    for mine, theirs in zip(got, wanted, strict=True):
        assert np.asarray(mine).tobytes() == np.asarray(theirs).tobytes()


@pytest.mark.parametrize("element", ["float32", "bfloat16", "float16", "float64", "int8", "uint16", "uint32", "int64"])
def test_types(element: str) -> None:
    with jax.enable_x64(element.endswith("64")):
        check([lines(shape, element) for shape, _ in SHAPES], [k for _, k in SHAPES])


def test_orders() -> None:
    """Of lines in which every element belongs to the greatest so far, none does, and all are equal or the least."""
    line = np.arange(50_000, dtype=np.float32)
    least = np.full(50_000, np.array(0xFFFFFFFF, np.uint32).view(np.float32))
    check([line, line[::-1].copy(), np.zeros_like(line), least, np.full(9000, -(2**31), np.int32)], [40, 40, 9, 9, 9])


def test_how_it_is_split(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    x = jax.ShapeDtypeStruct((1_000_000,), np.dtype("float32"))
    text = jax.jit(lambda x: lax.top_k(x, 10)).lower(x).as_text()
    tiree.compile(text, flags=[f"--tiree-report={report}"])
    dispatches = json.loads(report.read_text())["dispatches"]
    assert [d["workgroups"][0] for d in dispatches] == [62, 1]
