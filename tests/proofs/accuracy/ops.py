"""The ops of the table: how each is written, what it should give, and where its arguments lie.

`narrow` is the oracle for types below f64, evaluated in f64; `wide` for f64, in long double. Arguments are half of them
patterns of bits drawn at will, so every exponent, subnormals and infinities are there, and half from `within`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.proofs.accuracy import oracles

Interval = tuple[float, float]


@dataclass(frozen=True)
class Op:
    """`text` has the type for `T`. `roots`: errors where |f| < 1 are counted in units of 1, for f has roots."""

    name: str
    text: str
    narrow: oracles.Function
    wide: oracles.Function
    within: Interval
    arity: int = 1
    roots: bool = False
    bits: bool = True


def _special(name: str) -> oracles.Function:
    """scipy's function, imported when it is called."""

    def apply(*arguments: np.ndarray) -> Any:
        from scipy import special

        return getattr(special, name)(*arguments)

    return apply


def _unary(dialect: str, name: str) -> str:
    return f"%r = {dialect}.{name} %a : T" + (" -> T" if dialect == "chlo" else "")


def _plain(function: Callable[..., Any]) -> tuple[oracles.Function, oracles.Function]:
    return function, function


def _math(name: str) -> str:
    """A function that only linalg programs can name."""
    return (
        "%e = tensor.empty() : T\n  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, "
        'affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : T) outs(%e : T) {\n'
        f"  ^bb0(%x: E, %o: E):\n    %y = math.{name} %x : E\n    linalg.yield %y : E\n  }} -> T"
    )


OPS = (
    Op("exponential", _unary("stablehlo", "exponential"), *_plain(np.exp), (-104, 89)),
    Op("exponential_minus_one", _unary("stablehlo", "exponential_minus_one"), *_plain(np.expm1), (-20, 89)),
    Op("math.exp2", _math("exp2"), *_plain(np.exp2), (-150, 128)),
    Op("log", _unary("stablehlo", "log"), *_plain(np.log), (0.3, 3)),
    Op("log_plus_one", _unary("stablehlo", "log_plus_one"), *_plain(np.log1p), (-0.99, 3)),
    Op("math.log2", _math("log2"), *_plain(np.log2), (0.3, 3)),
    Op("math.log10", _math("log10"), *_plain(np.log10), (0.3, 3)),
    Op("logistic", _unary("stablehlo", "logistic"), *_plain(oracles.logistic), (-90, 30)),
    Op("sine", _unary("stablehlo", "sine"), *_plain(np.sin), (-10, 10)),
    Op("cosine", _unary("stablehlo", "cosine"), *_plain(np.cos), (-10, 10)),
    Op("tan", _unary("stablehlo", "tan"), *_plain(np.tan), (-10, 10)),
    Op("tanh", _unary("stablehlo", "tanh"), *_plain(np.tanh), (-12, 12)),
    Op("sqrt", _unary("stablehlo", "sqrt"), *_plain(np.sqrt), (0, 9)),
    Op("rsqrt", _unary("stablehlo", "rsqrt"), *_plain(oracles.rsqrt), (0, 9)),
    Op("cbrt", _unary("stablehlo", "cbrt"), *_plain(np.cbrt), (-9, 9)),
    Op("power", "%r = stablehlo.power %a, %b : T", *_plain(np.power), (0.1, 40), arity=2),
    Op("atan2", "%r = stablehlo.atan2 %a, %b : T", *_plain(np.arctan2), (-4, 4), arity=2),
    Op("remainder", "%r = stablehlo.remainder %a, %b : T", *_plain(np.fmod), (-99, 99), arity=2),
    Op("chlo.sinh", _unary("chlo", "sinh"), *_plain(np.sinh), (-90, 90)),
    Op("chlo.cosh", _unary("chlo", "cosh"), *_plain(np.cosh), (-90, 90)),
    Op("chlo.asinh", _unary("chlo", "asinh"), *_plain(np.arcsinh), (-9, 9)),
    Op("chlo.acosh", _unary("chlo", "acosh"), *_plain(np.arccosh), (1, 9)),
    Op("chlo.atanh", _unary("chlo", "atanh"), *_plain(np.arctanh), (-1, 1)),
    Op("chlo.asin", _unary("chlo", "asin"), *_plain(np.arcsin), (-1, 1)),
    Op("chlo.acos", _unary("chlo", "acos"), *_plain(np.arccos), (-1, 1)),
    Op("chlo.atan", _unary("chlo", "atan"), *_plain(np.arctan), (-4, 4)),
    Op("chlo.erf", _unary("chlo", "erf"), _special("erf"), oracles.libm("erfl"), (-6, 6)),
    Op("chlo.erfc", _unary("chlo", "erfc"), _special("erfc"), oracles.libm("erfcl"), (-6, 11)),
    Op("chlo.erf_inv", _unary("chlo", "erf_inv"), oracles.odd("erfinv"), oracles.erf_inv, (-1, 1)),
    Op("chlo.lgamma", _unary("chlo", "lgamma"), oracles.narrow_lgamma, oracles.lgamma, (-5, 30), roots=True),
    Op("chlo.digamma", _unary("chlo", "digamma"), oracles.digamma, oracles.digamma, (-5, 30), roots=True),
    Op("chlo.bessel_i1e", _unary("chlo", "bessel_i1e"), oracles.odd("i1e"), oracles.bessel_i1e, (-60, 60)),
    Op("chlo.polygamma", "%r = chlo.polygamma %a, %b : T, T -> T", _special("polygamma"), oracles.polygamma, (0.2, 40),
       arity=2, bits=False),
    Op("chlo.zeta", "%r = chlo.zeta %a, %b : T, T -> T", _special("zeta"), oracles.zeta, (1.1, 20), arity=2,
       bits=False),
)  # fmt: skip
