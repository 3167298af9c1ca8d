"""Fits the polynomials of `coefficients.py`: `python tests/codegen/math/fit.py` prints that file anew.

Each entry of `TABLE` is a function, an interval, a number of terms and the weight that turns its error into the error
that matters (relative to the final result). The fit is Remez's exchange in high precision; needs mpmath, which only
this script uses.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fit:
    """`function` over [low, high] by `terms` coefficients, lowest power first, rounded to `width` bits."""

    name: str
    function: Callable[[Any, Any], Any]
    low: str
    high: str
    terms: int
    weight: Callable[[Any, Any], Any]
    width: int = 64
    note: str = ""


def _remez(mp: Any, fit: Fit) -> tuple[list[Any], Any]:
    """Coefficients and the largest weighted error."""
    tiny = mp.mpf("1e-9")

    def weight(x: Any) -> Any:
        # A weight of zero would leave the equations singular.
        return max(fit.weight(mp, x), tiny)

    low, high = mp.mpf(eval(fit.low, {"mp": mp})), mp.mpf(eval(fit.high, {"mp": mp}))
    count = fit.terms + 1
    nodes = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / (count - 1)) for i in range(count)]
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / 600) for i in range(601)]
    values = [(x, fit.function(mp, x), weight(x)) for x in grid]
    coefficients: list[Any] = []
    worst = mp.mpf(0)
    for _ in range(12):
        rows = mp.matrix(count, count)
        right = mp.matrix(count, 1)
        for i, x in enumerate(nodes):
            for power in range(fit.terms):
                rows[i, power] = x**power
            rows[i, count - 1] = (-1) ** i / weight(x)
            right[i] = fit.function(mp, x)
        solution = mp.lu_solve(rows, right)
        coefficients = [solution[i] for i in range(fit.terms)]
        errors = [(mp.polyval(coefficients[::-1], x) - f) * w for x, f, w in values]
        worst = max(abs(error) for error in errors)
        nodes = _extremes(grid, errors, count, nodes)
        if worst < abs(solution[count - 1]) * mp.mpf("1.01"):
            break
    return coefficients, worst


def _extremes(grid: list[Any], errors: list[Any], count: int, nodes: list[Any]) -> list[Any]:
    """The largest error of every run of one sign; the old nodes when there are too few runs."""
    found: list[int] = []
    for i, error in enumerate(errors):
        if found and (error > 0) == (errors[found[-1]] > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = i
        else:
            found.append(i)
    while len(found) > count:
        found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
    return [grid[i] for i in found] if len(found) == count else nodes


def _series(limit: str, closed: Callable[[Any, Any], Any], terms: Callable[[Any, Any], Any]) -> Callable:
    """`terms` (a Taylor series) near 0, where `closed` divides by nothing."""

    def function(mp: Any, x: Any) -> Any:
        return terms(mp, x) if abs(x) < mp.mpf(limit) else closed(mp, x)

    return function


def _taylor(count: int, coefficient: Callable[[Any, int], Any]) -> Callable[[Any, Any], Any]:
    return lambda mp, x: mp.fsum(coefficient(mp, i) * x**i for i in range(count))


def _linear(mp: Any, z: Any) -> Any:
    del mp
    return z


def _squared(mp: Any, z: Any) -> Any:
    del mp
    return z * z


def _one(mp: Any, x: Any) -> Any:
    del x
    return mp.mpf(1)


_EXP = _series("1e-3", lambda mp, r: (mp.exp(r) - 1 - r) / r**2, _taylor(14, lambda mp, i: 1 / mp.factorial(i + 2)))
_LOG = _series(
    "1e-3", lambda mp, f: (mp.log1p(f) - f + f**2 / 2) / f**3, _taylor(16, lambda mp, i: mp.mpf(-1) ** i / (i + 3))
)
# log(1+f) = 2 atanh(s) with s = f / (2 + f); with z = s^2 this is 2 s + s z L(z).
_ATANH = _series(
    "1e-6",
    lambda mp, z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z,
    _taylor(9, lambda mp, i: mp.mpf(2) / (2 * i + 3)),
)
_ATANH2 = _series(
    "1e-6",
    lambda mp, z: (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1 - z / 3) / z**2,
    _taylor(9, lambda mp, i: mp.mpf(1) / (2 * i + 5)),
)
_SIN = _series(
    "1e-3",
    lambda mp, z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z,
    _taylor(12, lambda mp, i: mp.mpf(-1) ** (i + 1) / mp.factorial(2 * i + 3)),
)
_COS = _series(
    "1e-3",
    lambda mp, z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
    _taylor(12, lambda mp, i: mp.mpf(-1) ** i / mp.factorial(2 * i + 4)),
)


def _odd_tail(mp: Any, function: Callable[[Any], Any], z: Any) -> Any:
    """(function(x)/x - 1) / x^2 at z = x^2 near 0, from the Taylor series of an odd function."""
    series = mp.taylor(function, 0, 17)
    return mp.fsum(series[2 * i + 3] * z**i for i in range(7))


def _odd(function: Callable[[Any, Any], Any], limit: str = "1e-4") -> Callable[[Any, Any], Any]:
    def closed(mp: Any, z: Any) -> Any:
        x = mp.sqrt(z)
        return (function(mp, x) / x - 1) / z

    return _series(limit, closed, lambda mp, z: _odd_tail(mp, lambda x: function(mp, x), z))


def _erf_over_x(mp: Any, z: Any) -> Any:
    x = mp.sqrt(z)
    return (2 / mp.sqrt(mp.pi) if z < mp.mpf("1e-30") else mp.erf(x) / x) - 1


def _erfcx(mp: Any, t: Any) -> Any:
    """(1 + 2x) exp(x^2) erfc(x) at t = (x - 4) / (x + 4)."""
    if t > mp.mpf("0.9999999"):
        return 2 / mp.sqrt(mp.pi)
    x = 4 * (1 + t) / (1 - t)
    if x > 40:
        # exp and erfc leave the range of doubles, not of mpmath, but the asymptotic series is cheaper.
        tail = mp.fsum((-1) ** k * mp.fac2(2 * k - 1) / (2 * x * x) ** k for k in range(1, 14))
        return (1 + 2 * x) / (x * mp.sqrt(mp.pi)) * (1 + tail)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def _erf_exponent(mp: Any, x: Any) -> Any:
    """-log(erfc(x)) / x, for erf = -(exp(-x p(x)) - 1)."""
    if x < mp.mpf("1e-6"):
        return 2 / mp.sqrt(mp.pi) + 2 * x / mp.pi
    return -mp.log(mp.erfc(x)) / x


def _erf_exponent_weight(mp: Any, x: Any) -> Any:
    """What an error of `_erf_exponent` does to erf(x), relative to it."""
    return x * mp.erfc(x) / mp.erf(x) if x > mp.mpf("1e-6") else mp.mpf(1)


def _relative(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda mp, x: 1 / function(mp, x)


def _exp(mp: Any, r: Any) -> Any:
    return mp.exp(r)


TABLE = [
    Fit("EXP_F32", _EXP, "-0.3467", "0.3467", 5, lambda mp, r: r**2 / mp.exp(r), 32, "(exp(r) - 1 - r) / r^2"),
    Fit("EXP_F64", _EXP, "-0.3467", "0.3467", 10, lambda mp, r: r**2 / mp.exp(r), 64, "(exp(r) - 1 - r) / r^2"),
    Fit("EXP_SINGLE", _EXP, "-0.3467", "0.3467", 6, lambda mp, r: r**2 / mp.exp(r), 64, "the same for f32 results"),
    Fit("EXP_SHORT", _exp, "-0.3467", "0.3467", 5, _relative(_exp), 32, "exp(r) for f16 and bf16"),
    Fit("EXPM1_SHORT", _EXP, "-0.3467", "0.3467", 3, lambda mp, r: r**2 / mp.exp(r), 32, "EXP_F32 for f16 and bf16"),
    Fit(
        "LOG_SHORT",
        _LOG,
        "mp.sqrt(0.5) - 1",
        "mp.sqrt(2) - 1",
        5,
        lambda mp, f: abs(f**3 / (mp.log1p(f) if abs(f) > 1e-9 else mp.mpf("1e-9"))),
        32,
        "LOG_F32 for f16 and bf16",
    ),
    Fit(
        "LOG_F32",
        _LOG,
        "mp.sqrt(0.5) - 1",
        "mp.sqrt(2) - 1",
        9,
        lambda mp, f: abs(f**3 / (mp.log1p(f) if abs(f) > 1e-9 else mp.mpf("1e-9"))),
        32,
        "(log(1+f) - f + f^2/2) / f^3",
    ),
    Fit("LOG_F64", _ATANH, "0", "0.02945", 7, _linear, 64, "(2 atanh(s) / s - 2) / s^2 at z = s^2"),
    Fit("LOG_SINGLE", _ATANH, "0", "0.02945", 5, _linear, 64, "the same for f32 results"),
    Fit("LOG_TAIL", _ATANH2, "0", "0.02945", 7, _linear, 64, "(atanh(s) / s - 1 - z/3) / z^2 at z = s^2"),
    Fit("SIN_F32", _SIN, "0", "0.6169", 3, _linear, 32, "(sin(x) / x - 1) / x^2 at z = x^2"),
    Fit("COS_F32", _COS, "0", "0.6169", 3, _squared, 32, "(cos(x) - 1 + x^2/2) / x^4 at z = x^2"),
    Fit("SIN_F64", _SIN, "0", "0.6169", 6, _linear, 64, "(sin(x) / x - 1) / x^2 at z = x^2"),
    Fit("COS_F64", _COS, "0", "0.6169", 6, _squared, 64, "(cos(x) - 1 + x^2/2) / x^4 at z = x^2"),
    Fit("TANH_F64", _odd(lambda mp, x: mp.tanh(x)), "0", "0.391", 12, _linear, 64, "(tanh(x) / x - 1) / x^2"),
    Fit("SINH_F64", _odd(lambda mp, x: mp.sinh(x)), "0", "1", 7, _linear, 64, "(sinh(x) / x - 1) / x^2"),
    Fit("ATAN_F64", _odd(lambda mp, x: mp.atan(x)), "0", "0.1717", 11, _linear, 64, "(atan(x) / x - 1) / x^2"),
    Fit("ATAN_SINGLE", _odd(lambda mp, x: mp.atan(x)), "0", "0.1717", 6, _linear, 64, "the same for f32 results"),
    Fit("ASIN_F64", _odd(lambda mp, x: mp.asin(x)), "0", "0.25", 13, _linear, 64, "(asin(x) / x - 1) / x^2"),
    Fit("ASIN_SINGLE", _odd(lambda mp, x: mp.asin(x)), "0", "0.25", 7, _linear, 64, "the same for f32 results"),
    Fit(
        "ERF_F32",
        lambda mp, x: _erf_exponent(mp, x) - 1,
        "0",
        "3.95",
        9,
        _erf_exponent_weight,
        32,
        "-log(erfc(x)) / x - 1",
    ),
    Fit("ERF_SHORT", _erf_exponent, "0", "3.2", 5, _erf_exponent_weight, 32, "-log(erfc(x)) / x for f16 and bf16"),
    Fit("ERF_F64", _erf_over_x, "0", "1", 13, _one, 64, "erf(x) / x - 1 at z = x^2, x < 1"),
    Fit("ERFC_F64", _erfcx, "-1", "0.75001", 26, _one, 64, "(1 + 2x) exp(x^2) erfc(x) at t = (x - 4) / (x + 4)"),
    Fit("ERFC_SINGLE", _erfcx, "-1", "0.75001", 13, _one, 64, "the same for f32 results"),
]


def _rounded(value: Any, width: int) -> float:
    number = float(value)
    return struct.unpack("<f", struct.pack("<f", number))[0] if width == 32 else number


def main() -> None:
    """Prints `coefficients.py`."""
    import mpmath as mp

    mp.mp.dps = 45
    print('"""Polynomial coefficients, lowest power first. Written by `python tests/codegen/math/fit.py`.\n')
    print("Comments give the fitted function and the largest weighted error of the exact polynomial.")
    print('"""\n\nfrom __future__ import annotations\n')
    for fit in TABLE:
        coefficients, worst = _remez(mp, fit)
        print(f"# {fit.note}; on [{fit.low}, {fit.high}]; error 2^{float(mp.log(worst, 2)):.1f}")
        print(f"{fit.name} = (")
        for value in coefficients:
            print(f"    {_rounded(value, fit.width)!r},")
        print(")\n")


if __name__ == "__main__":
    main()
