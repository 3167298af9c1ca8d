"""`math.fma` rounds once wherever it runs: with the instruction, without it, and as bytecode."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

COUNT = 1024
TYPES = {"f32": np.float32, "f64": np.float64}
PLACES = {
    "host": "--iree-llvmcpu-target-cpu=host",
    "x86-64": "--iree-llvmcpu-target-cpu=x86-64",
    "bytecode": "--iree-hal-local-target-device-backends=vmvx",
}


def program(element: str) -> str:
    type, same = f"tensor<{COUNT}x{element}>", "affine_map<(d0) -> (d0)>"
    return f"""func.func @f(%a: {type}, %b: {type}, %c: {type}) -> {type} {{
  %e = tensor.empty() : {type}
  %r = linalg.generic {{indexing_maps = [{", ".join([same] * 4)}], iterator_types = ["parallel"]}}
      ins(%a, %b, %c : {type}, {type}, {type}) outs(%e : {type}) {{
  ^bb0(%x: {element}, %y: {element}, %z: {element}, %o: {element}):
    %q = math.fma %x, %y, %z : {element}
    linalg.yield %q : {element}
  }} -> {type}
  return %r : {type}
}}"""


def rounded(value: Fraction, element: str) -> float:
    """To nearest, ties to even, of numbers far from the ends of the type."""
    if value == 0:
        return 0.0
    digits = 24 if element == "f32" else 53
    exponent = digits - value.__abs__().numerator.bit_length() + value.denominator.bit_length()
    scaled = value * Fraction(2) ** exponent
    while abs(scaled) >= 2**digits:
        exponent, scaled = exponent - 1, scaled / 2
    while abs(scaled) < 2 ** (digits - 1):
        exponent, scaled = exponent + 1, scaled * 2
    return float(Fraction(round(scaled)) / Fraction(2) ** exponent)


def arguments(element: str) -> list[np.ndarray]:
    """Half of the sums cancel all but what a product of two roundings would lose."""
    stream, dtype = np.random.default_rng(5), TYPES[element]
    a, b = (stream.standard_normal(COUNT).astype(dtype) for _ in range(2))
    c = -(a * b) * (1 + stream.integers(0, 2, COUNT) * stream.standard_normal(COUNT))
    return [a, b, c.astype(dtype)]


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("place", PLACES)
def test_rounded_once(place: str, element: str) -> None:
    values = arguments(element)
    got = np.asarray(rt.load(tiree.compile(program(element), flags=[PLACES[place]]), device="local-sync").f(*values))
    wanted = [
        rounded(Fraction(x) * Fraction(y) + Fraction(z), element)
        for x, y, z in zip(*(v.astype(float).tolist() for v in values), strict=True)
    ]
    np.testing.assert_array_equal(got, np.array(wanted, TYPES[element]))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("place", PLACES)
def test_ends(place: str, element: str) -> None:
    dtype = TYPES[element]
    largest, nan, inf = float(np.finfo(dtype).max), np.nan, np.inf
    rows = [
        (inf, 2, 1, inf), (inf, 0, 1, nan), (inf, 1, -inf, nan), (nan, 1, 1, nan), (1, 1, nan, nan), (2, 3, inf, inf),
        (largest, 2, 0, inf), (largest, 1, 0, largest), (largest, -2, 1, -inf), (1, 2, -2, 0),
        (largest, 0.5, 1, largest / 2),
    ]  # fmt: skip
    padded = np.resize(np.array(rows, dtype), (COUNT, 4)).T
    module = rt.load(tiree.compile(program(element), flags=[PLACES[place]]), device="local-sync")
    got = np.asarray(module.f(*(np.ascontiguousarray(column) for column in padded[:3])))
    np.testing.assert_array_equal(got, padded[3])
