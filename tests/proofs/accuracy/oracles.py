"""What the ops should give: f64 for narrower types, 80-bit extended precision for f64.

numpy's functions on long doubles and the C library's are 2^11 times finer than f64. What they lack is here: sums and
series in long double whose terms have one sign.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from functools import cache

import numpy as np

LONG = np.longdouble
Function = Callable[..., np.ndarray]

# B(2k) / (2k)! and B(2k) / 2k of the series of Euler and Maclaurin and of Stirling.
_BERNOULLI = [
    (1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798),
    (-174611, 330), (854513, 138), (-236364091, 2730),
]  # fmt: skip


class _Long(ctypes.c_longdouble):
    """A subclass, since ctypes would turn the plain type into a Python float, which is shorter."""


@cache
def _of_libm(name: str) -> Callable[[_Long], _Long]:
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    function.argtypes, function.restype = [_Long], _Long
    return function


def libm(name: str) -> Function:
    """A function of the C library on an array of long doubles."""

    def apply(x: np.ndarray) -> np.ndarray:
        function = _of_libm(name)
        values = np.ascontiguousarray(x, LONG)
        arguments = (_Long * values.size).from_buffer(values.copy())
        results = np.empty(values.size, LONG)
        memory = results.view(np.uint8).reshape(values.size, results.itemsize)
        for index in range(values.size):
            memory[index] = np.frombuffer(function(arguments[index]), np.uint8)
        return results.reshape(values.shape)

    return apply


def logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def rsqrt(x: np.ndarray) -> np.ndarray:
    return 1 / np.sqrt(x)


def erf_inv(x: np.ndarray) -> np.ndarray:
    """Two steps of Newton's method from scipy's value; near 1 on the complement, whose digits are all there."""
    from scipy import special

    y = special.erfinv(x.astype(np.float64)).astype(LONG)
    inside = np.isfinite(y)
    slope = LONG(1) / np.sqrt(np.arctan(LONG(1)))
    for _ in range(2):
        point, wanted = y[inside], x[inside]
        size = np.abs(point)
        near = libm("erfcl")(size) - (1 - np.abs(wanted))
        far = np.abs(wanted) - libm("erfl")(size)
        off = np.where(size > 0.5, near, far)
        y[inside] = np.copysign(size + off / (slope * np.exp(-size * size)), point)
    return np.where(x == 0, x, y)


def lgamma(x: np.ndarray) -> np.ndarray:
    """The C library's; at poles infinite."""
    return np.where(np.isneginf(x), np.inf, libm("lgammal")(x))


def narrow_lgamma(x: np.ndarray) -> np.ndarray:
    """scipy's; at -inf the C library's."""
    from scipy import special

    return np.where(np.isneginf(x), np.inf, special.gammaln(x))


def odd(name: str) -> Function:
    """scipy's function of this name, which loses the sign of -0."""

    def apply(x: np.ndarray) -> np.ndarray:
        from scipy import special

        return np.where(x == 0, x, getattr(special, name)(x))

    return apply


def zeta(s: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Hurwitz's function for s > 1 and q > 0, by the series of Euler and Maclaurin after 24 terms."""
    s, q = s.astype(LONG), q.astype(LONG)
    total = np.zeros(np.broadcast_shapes(s.shape, q.shape), LONG)
    for k in range(24):
        total += (q + k) ** -s
    a = q + 24
    total += a ** (1 - s) / (s - 1) + a**-s / 2
    factor, power = s.copy(), a ** (-s - 1)
    factorial = LONG(2)
    for k, (numerator, denominator) in enumerate(_BERNOULLI, 1):
        total += LONG(numerator) / LONG(denominator) / factorial * factor * power
        factor = factor * (s + 2 * k - 1) * (s + 2 * k)
        power = power / (a * a)
        factorial *= (2 * k + 1) * (2 * k + 2)
    return np.where(np.isposinf(s), np.where(q < 1, np.inf, np.where(q == 1, 1, 0)), total)


def digamma(x: np.ndarray) -> np.ndarray:
    """Stirling's series after 24 steps of the recurrence; reflected below 0, NaN at poles."""
    x = x.astype(LONG)
    positive = np.where(x > 0, x, 1 - x)
    a = positive + 24
    total = np.log(a) - 1 / (2 * a)
    for k, (numerator, denominator) in enumerate(_BERNOULLI, 1):
        total -= LONG(numerator) / LONG(denominator) / (2 * k) / a ** (2 * k)
    for k in range(23, -1, -1):
        total -= 1 / (positive + k)
    pi = LONG(4) * np.arctan(LONG(1))
    near = x - np.rint(x)
    reflected = total - pi / np.tan(pi * near)
    return np.where(x > 0, total, np.where(near == 0, np.nan, reflected))


def polygamma(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    """For whole n >= 1 and x > 0."""
    n = n.astype(LONG)
    sign = np.where(n % 2 == 0, LONG(-1), LONG(1))
    return sign * np.round(libm("tgammal")(n + 1)) * zeta(n + 1, x)


def bessel_i1e(x: np.ndarray) -> np.ndarray:
    """exp(-|x|) I1(x): its power series to 40, the asymptotic one beyond."""
    x = x.astype(LONG)
    size = np.minimum(np.abs(x), 1e4)
    small = np.minimum(size, 40)
    term = small / 2
    total = term.copy()
    for k in range(1, 120):
        term = term * (small / 2) ** 2 / (k * (k + 1))
        total += term
    total *= np.exp(-small)
    large = np.maximum(np.abs(x), 40)
    term = np.ones_like(large)
    series = term.copy()
    for k in range(1, 40):
        term = -term * (4 - (2 * k - 1) ** 2) / (k * 8 * large)
        series += term
    series /= np.sqrt(2 * LONG(4) * np.arctan(LONG(1)) * large)
    return np.copysign(np.where(np.abs(x) <= 40, total, series), x)


def round_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)
