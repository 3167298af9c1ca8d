"""Sorts by merging against numpy: lengths at the borders of runs and blocks, stability, comparators of all kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

jax = pytest.importorskip("jax", reason="its text is what is compiled")
lax, jnp = jax.lax, jax.numpy

RNG = np.random.default_rng(8)
ELEMENTS = {"f32": np.float32, "i8": np.int8, "ui16": np.uint16, "i32": np.int32, "i1": np.bool_, "f16": np.float16}

LINES = [((3, 70), 1), ((70, 3), 0), ((5, 200, 3), 1), ((2, 5000), 1), ((300, 9), 1)]


BYTECODE = {
    "vmvx": ["--iree-hal-target-backends=vmvx"],
    "inline": ["--iree-execution-model=inline-static"],
}


def call(program: Callable[..., Any] | str, *values: Any, device: str = "local-task", flags: Sequence[str] = ()) -> Any:
    text = program if isinstance(program, str) else jax.jit(program).lower(*values).as_text()
    loaded: Any = rt.load(tiree.compile(text, flags=list(flags)), device=device)
    return loaded.main(*values)


def text(shapes: Sequence[str], dim: int, compare: str, stable: bool) -> str:
    """A sort whose comparator is `compare` of %a and %b, of the first operand; it gives %p."""
    types = ", ".join(f"tensor<{shape}>" for shape in shapes)
    scalars = [f"tensor<{shape.rsplit('x', 1)[-1]}>" for shape in shapes]
    arguments = [f"%x{n}: tensor<{shape}>" for n, shape in enumerate(shapes)]
    inner = [f"%{side}{n}: {s}" for n, s in enumerate(scalars) for side in "ab"]
    operands = ", ".join(f"%x{n}" for n in range(len(shapes)))
    return f"""func.func @main({", ".join(arguments)}) -> ({types}) {{
  %r:{len(shapes)} = "stablehlo.sort"({operands}) <{{dimension = {dim} : i64, is_stable = {str(stable).lower()}}}> ({{
    ^bb0({", ".join(inner)}):
      {compare.replace("$T", scalars[0])}
      stablehlo.return %p : tensor<i1>
  }}) : ({types}) -> ({types})
  return {", ".join(f"%r#{n}" for n in range(len(shapes)))} : {types}
}}"""


def by(direction: str) -> str:
    return f"%p = stablehlo.compare {direction}, %a0, %b0 : ($T, $T) -> tensor<i1>"


@pytest.mark.parametrize("size", [5, 63, 64, 65, 127, 1000, 4095, 4096, 4097, 8193, 50_000])
@pytest.mark.parametrize("direction", ["LT", "GE"])
def test_lengths(size: int, direction: str) -> None:
    """Keys with many equals, and what goes with them: in the order in which they stood."""
    keys, tags = RNG.integers(0, 50, size).astype(np.int32), np.arange(size, dtype=np.int64)
    got = call(text([f"{size}xi32", f"{size}xi64"], 0, by(direction), True), keys, tags)
    order = np.argsort(keys if direction == "LT" else -keys, kind="stable")
    np.testing.assert_array_equal(np.asarray(got[0]), keys[order])
    np.testing.assert_array_equal(np.asarray(got[1]), tags[order])


@pytest.mark.parametrize(
    ("shape", "dim"), [((3, 70), 1), ((70, 3), 0), ((5, 200, 3), 1), ((2, 5000), 1), ((300, 9), 1)]
)
@pytest.mark.parametrize("element", ELEMENTS)
def test_lines(shape: tuple[int, ...], dim: int, element: str) -> None:
    x = RNG.integers(0, 2 if element == "i1" else 100, shape).astype(ELEMENTS[element])
    source = text([f"{'x'.join(map(str, shape))}x{element}"], dim, by("LT"), False)
    np.testing.assert_array_equal(np.asarray(call(source, x)), np.sort(x, dim))


def test_total_order_and_complex() -> None:
    x = RNG.standard_normal(6000).astype(np.float32)
    x[::7], x[1::9], x[2::11], x[3::13] = np.nan, 0.0, -0.0, -np.inf
    got = np.asarray(call(jnp.sort, x))
    np.testing.assert_array_equal(got, np.sort(x))
    z = (RNG.integers(0, 9, 6000) + 1j * RNG.integers(0, 9, 6000)).astype(np.complex64)
    np.testing.assert_array_equal(np.asarray(call(jnp.sort, z)), np.sort(z))


@pytest.mark.parametrize("size", [100, 5000])
def test_top_k(size: int) -> None:
    def program(v: Any) -> Any:
        return lax.top_k(v, 17)

    x = RNG.integers(0, 40, (3, size)).astype(np.float32)
    values, places = call(program, x)
    order = np.argsort(-x, axis=1, kind="stable")[:, :17]
    np.testing.assert_array_equal(np.asarray(places), order)
    np.testing.assert_array_equal(np.asarray(values), np.take_along_axis(x, order, 1))


def test_comparators_read_from_outside() -> None:
    """Distances from a value that is an argument."""

    def program(v: Any, centre: Any) -> Any:
        return lax.sort((abs(v - centre), v), num_keys=1)[1]

    x, centre = RNG.standard_normal(5000).astype(np.float32), np.float32(0.3)
    np.testing.assert_array_equal(np.asarray(call(program, x, centre)), x[np.argsort(abs(x - centre), kind="stable")])


def test_comparators_that_contradict_themselves() -> None:
    """Elements may come in any order, and more than once; what is no element never comes."""
    x = RNG.integers(1, 5, 9000).astype(np.int32)
    for compare in (
        "%p = stablehlo.compare NE, %a0, %b0 : ($T, $T) -> tensor<i1>",
        "%p = stablehlo.constant dense<true> : tensor<i1>",
    ):
        got = np.asarray(call(text(["9000xi32"], 0, compare, True), x))
        assert set(got) <= {1, 2, 3, 4}
    y = RNG.standard_normal(9000).astype(np.float32)
    y[::2] = np.nan
    got = np.asarray(call(text(["9000xf32"], 0, by("GT"), False), y))
    assert set(got[~np.isnan(got)]) <= set(y[~np.isnan(y)])


NO_GREATER = """%q = stablehlo.compare GT, %a0, %b0 : ($T, $T) -> tensor<i1>
      %c = stablehlo.constant dense<true> : tensor<i1>
      %p = stablehlo.compare LT, %q, %c : (tensor<i1>, tensor<i1>) -> tensor<i1>"""
DIFFERENCE = """%d = stablehlo.subtract %a0, %b0 : $T
      %z = stablehlo.constant dense<0> : $T
      %p = stablehlo.compare LT, %d, %z : ($T, $T) -> tensor<i1>"""
REMAINDERS = """%c = stablehlo.constant dense<7> : $T
      %d = stablehlo.remainder %a0, %c : $T
      %e = stablehlo.remainder %b0, %c : $T
      %p = stablehlo.compare GT, %d, %e : ($T, $T) -> tensor<i1>"""


@pytest.mark.parametrize("size", [4, 5, 64, 70, 4097])
@pytest.mark.parametrize(
    ("compare", "modulus", "sign"),
    [(NO_GREATER, 100, 1), (DIFFERENCE, 100, 1), (REMAINDERS, 7, -1)],
    ids=["no greater", "difference", "remainders"],
)
def test_comparators_that_end_in_less(size: int, compare: str, modulus: int, sign: int) -> None:
    """A less of something else than one value of each element: it may hold for equal ones, both ways."""
    keys, tags = RNG.integers(0, 50, (3, size)).astype(np.int32), np.arange(3 * size, dtype=np.int64).reshape(3, size)
    got = call(text([f"3x{size}xi32", f"3x{size}xi64"], 1, compare, True), keys, tags)
    order = np.argsort(sign * (keys % modulus), axis=1, kind="stable")
    np.testing.assert_array_equal(np.asarray(got[0]), np.take_along_axis(keys, order, 1))
    np.testing.assert_array_equal(np.asarray(got[1]), np.take_along_axis(tags, order, 1))


@pytest.mark.parametrize("direction", ["LT", "GT"])
def test_comparators_that_look_at_one_element(direction: str) -> None:
    """Such one holds both ways: what it says of both is not counted, and no element is lost."""
    compare = f"""%c = stablehlo.constant dense<2> : $T
      %p = stablehlo.compare {direction}, %a0, %c : ($T, $T) -> tensor<i1>"""
    x = RNG.integers(0, 5, (30, 200)).astype(np.int32)
    got = np.asarray(call(text(["30x200xi32"], 1, compare, True), x))
    np.testing.assert_array_equal(np.sort(got, 1), np.sort(x, 1))


def test_threads_do_not_matter() -> None:
    x = RNG.integers(0, 1000, 60_000).astype(np.int32)
    want = np.argsort(x, kind="stable")
    for device in ("local-sync", "local-task"):
        np.testing.assert_array_equal(np.asarray(call(jnp.argsort, x, device=device)), want)


@pytest.mark.parametrize("flags", BYTECODE.values(), ids=BYTECODE)
@pytest.mark.parametrize("shape", [(7, 9), (2, 130), (1, 9000)], ids=str)
def test_bytecode(shape: tuple[int, ...], flags: Sequence[str]) -> None:
    """Lines of one run, of several and of several blocks, in two tensors."""
    x = RNG.integers(0, 50, shape).astype(np.int32)
    tags = np.broadcast_to(np.arange(shape[1], dtype=np.int64), shape).copy()
    size = "x".join(map(str, shape))
    got = call(text([f"{size}xi32", f"{size}xi64"], 1, by("LT"), True), x, tags, flags=flags)
    np.testing.assert_array_equal(np.asarray(got[0]), np.sort(x, 1))
    np.testing.assert_array_equal(np.asarray(got[1]), np.argsort(x, 1, kind="stable"))
