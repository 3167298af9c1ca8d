"""Functions of complex numbers: the error against mpmath in each type, and every combination of special values.

The errors that are allowed are those of docs/reference/complex.md.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

mp: Any = pytest.importorskip("mpmath")

RNG = np.random.default_rng(17)
COUNT = 64

UNARY: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "exp": ("stablehlo.exponential", mp.exp, "exp"),
    "expm1": ("stablehlo.exponential_minus_one", mp.expm1, ""),
    "log": ("stablehlo.log", mp.log, "log"),
    "log1p": ("stablehlo.log_plus_one", lambda z: mp.log(1 + z), "log1p"),
    "sqrt": ("stablehlo.sqrt", mp.sqrt, "sqrt"),
    "rsqrt": ("stablehlo.rsqrt", lambda z: 1 / mp.sqrt(z), ""),
    "cbrt": ("stablehlo.cbrt", lambda z: mp.power(z, mp.mpf(1) / 3), ""),
    "sin": ("stablehlo.sine", mp.sin, ""),
    "cos": ("stablehlo.cosine", mp.cos, ""),
    "tan": ("stablehlo.tan", mp.tan, ""),
    "tanh": ("stablehlo.tanh", mp.tanh, ""),
    "logistic": ("stablehlo.logistic", lambda z: 1 / (1 + mp.exp(-z)), ""),
    "sign": ("stablehlo.sign", lambda z: z / abs(z), ""),
    "sinh": ("chlo.sinh", mp.sinh, ""),
    "cosh": ("chlo.cosh", mp.cosh, ""),
    "asin": ("chlo.asin", mp.asin, "arcsin"),
    "acos": ("chlo.acos", mp.acos, "arccos"),
    "atan": ("chlo.atan", mp.atan, "arctan"),
    "asinh": ("chlo.asinh", mp.asinh, "arcsinh"),
    "acosh": ("chlo.acosh", mp.acosh, "arccosh"),
    "atanh": ("chlo.atanh", mp.atanh, "arctanh"),
}
"""The op, the exact function, and numpy's name where numpy has C's special values."""
BINARY: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "divide": ("stablehlo.divide", lambda a, b: a / b),
    "multiply": ("stablehlo.multiply", lambda a, b: a * b),
    "power": ("stablehlo.power", mp.power),
    "atan2": ("stablehlo.atan2", lambda y, x: -1j * mp.log((x + 1j * y) / mp.sqrt(x * x + y * y))),
}
LIMITS = {"complex64": dict.fromkeys((*UNARY, *BINARY), 0.8), "complex128": dict.fromkeys((*UNARY, *BINARY), 4.0)}
LIMITS["complex64"].update(multiply=1.5)
LIMITS["complex128"].update(power=4.0, atan2=8.0, logistic=8.0, multiply=1.5)
"""ulp of the larger part; for power in complex128 times 1 + |b log a|."""


def program(part: str) -> str:
    type = f"tensor<{COUNT}xcomplex<{part}>>"
    made: list[str] = []
    for name, (op, _, _) in UNARY.items():
        to = f" -> {type}" if op.startswith("chlo") else ""
        made.append(f"func.func @{name}(%a: {type}) -> {type} {{\n %0 = {op} %a : {type}{to}\n return %0 : {type}\n}}")
    for name, (op, _) in BINARY.items():
        head = f"func.func @{name}(%a: {type}, %b: {type}) -> {type}"
        made.append(f"{head} {{\n %0 = {op} %a, %b : {type}\n return %0 : {type}\n}}")
    return "\n".join(made)


@pytest.fixture(scope="module", params=["complex64", "complex128"])
def loaded(request: Any) -> tuple[Any, Any]:
    part = {"complex64": "f32", "complex128": "f64"}[request.param]
    return rt.load(tiree.compile(program(part))), np.dtype(request.param)


def samples(dtype: Any) -> list[Any]:
    """Around 0, over many orders of magnitude, and close to the unit circle."""
    turn = np.exp(1j * RNG.uniform(-4, 4, COUNT))
    return [
        (RNG.uniform(-3, 3, COUNT) + 1j * RNG.uniform(-3, 3, COUNT)).astype(dtype),
        (10.0 ** RNG.uniform(-8, 2, COUNT) * turn).astype(dtype),
        ((1 + RNG.uniform(-1e-3, 1e-3, COUNT)) * turn).astype(dtype),
    ]


def error(got: Any, wanted: Any, dtype: Any) -> float:
    info = np.finfo(dtype)
    size = max(abs(wanted.real), abs(wanted.imag), mp.mpf(float(info.tiny)))
    last_place = mp.ldexp(float(info.eps), mp.frexp(size)[1] - 1)
    return float(abs(mp.mpc(float(got.real), float(got.imag)) - wanted) / last_place)


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_accuracy(loaded: tuple[Any, Any], name: str) -> None:
    module, dtype = loaded
    worst = 0.0
    with mp.workprec(250):
        for a, b in zip(samples(dtype), samples(dtype), strict=True):
            arguments = (a, b) if name in BINARY else (a,)
            got = np.asarray(getattr(module, name)(*arguments))
            exact = BINARY[name][1] if name in BINARY else UNARY[name][1]
            for n in range(0, COUNT, 3):
                wanted = mp.mpc(exact(*[mp.mpc(float(x[n].real), float(x[n].imag)) for x in arguments]))
                if abs(wanted) < float(np.finfo(dtype).max) / 4:
                    off = error(got[n], wanted, dtype)
                    if name == "power" and dtype == np.complex128:
                        off /= 1 + float(abs(arguments[1][n] * np.log(arguments[0][n])))
                    worst = max(worst, off)
    assert worst <= LIMITS[dtype.name][name]


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan]


def _same(got: Any, wanted: Any) -> Any:
    """Where parts agree: in value and sign, or both NaN."""
    found = np.isclose(got, wanted, rtol=1e-5, equal_nan=True)
    return found & ((np.signbit(got) == np.signbit(wanted)) | np.isnan(wanted))


@pytest.mark.parametrize("name", [name for name, (_, _, numpy_name) in UNARY.items() if numpy_name])
def test_special_values(loaded: tuple[Any, Any], name: str) -> None:
    """Infinities, NaN and both zeros in both parts, as C's annex G has them."""
    module, dtype = loaded
    points: Any = np.array([complex(x, y) for x in SPECIAL for y in SPECIAL], dtype)
    got = np.asarray(getattr(module, name)(points))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted: Any = getattr(np, UNARY[name][2])(points)
    alike = _same(got.real, wanted.real) & _same(got.imag, wanted.imag)
    # The real part of acos at (0, NaN) is known, but NaN here.
    unknown = np.isnan(got.real) & np.isnan(got.imag) & (np.isnan(points.real) | np.isnan(points.imag))
    assert not np.any(~alike & ~unknown), points[~alike & ~unknown]


def test_quotients_of_special_values(loaded: tuple[Any, Any]) -> None:
    module, dtype = loaded
    above: Any = np.ones(COUNT, dtype)
    below: Any = np.ones(COUNT, dtype)
    inf = np.inf
    pairs = [(1, 0), (1 + 1j, 0), (complex(inf, 1), 2), (1 + 2j, complex(inf, inf)), (complex(inf, inf), 1j), (0, 1j)]
    big, tiny = float(np.finfo(dtype).max), float(np.finfo(dtype).tiny)
    pairs += [(complex(big, big), complex(big, big)), (complex(tiny, tiny), complex(tiny, 0))]
    for n, (a, b) in enumerate(pairs):
        above[n], below[n] = a, b
    got = np.asarray(module.divide(above, below))
    assert got[0].real == inf
    assert got[1].real == got[1].imag == inf
    assert got[2].real == inf
    assert got[3] == 0
    assert np.isinf(got[4].real) or np.isinf(got[4].imag)
    assert got[5] == 0
    assert got[6] == 1
    assert got[7] == 1 + 1j


WIDE = ("log", "log1p", "sqrt", "rsqrt", "cbrt", "sign", "asin", "acos", "atan", "asinh", "acosh", "atanh")
"""Functions whose results are numbers, whatever the exponents of the parts are."""


def wide_samples(dtype: Any) -> list[Any]:
    """Parts of any exponents, of the same exponent, and points beside 0, 1, -1, i and -i."""
    part = np.finfo(np.dtype(dtype).name.replace("complex64", "float32").replace("complex128", "float64"))
    low, high = np.log2(float(part.smallest_subnormal)), np.log2(float(part.max)) - 0.01

    def parts(least: float, most: float) -> np.ndarray:
        return 2.0 ** RNG.uniform(least, most, COUNT) * RNG.choice([-1, 1], COUNT)

    same = 2.0 ** RNG.uniform(low, high - 1, COUNT)
    beside: Any = RNG.choice([0, 1, -1, 1j, -1j], COUNT)
    tiny = np.where(RNG.random(COUNT) < 0.5, 0.0, parts(low, -2)), parts(low, -2)
    straight = np.where(np.abs(beside.imag) > 0, tiny[1] + 1j * tiny[0], tiny[0] + 1j * tiny[1])
    return [
        (parts(low, high) + 1j * parts(low, high)).astype(dtype),
        (same * RNG.uniform(0.5, 2, COUNT) + 1j * same * RNG.uniform(-2, 2, COUNT)).astype(dtype),
        (beside + straight).astype(dtype),
    ]


@pytest.mark.parametrize("name", WIDE)
def test_all_exponents(loaded: tuple[Any, Any], name: str) -> None:
    module, dtype = loaded
    exact = UNARY[name][1]
    with mp.workprec(2500):
        for points in wide_samples(dtype):
            got = np.asarray(getattr(module, name)(points))
            for point, result in zip(points[::2], got[::2], strict=True):
                if point in (0, 1, -1, 1j, -1j):
                    continue
                wanted = mp.mpc(exact(mp.mpc(float(point.real), float(point.imag))))
                assert error(result, wanted, dtype) <= LIMITS[dtype.name][name], (point, result, wanted)
