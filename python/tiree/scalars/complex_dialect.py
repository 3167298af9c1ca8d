"""MLIR's `complex` dialect on pairs of floats: what each of its ops on complex numbers computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import math
from xdsl.ir import SSAValue

from tiree.scalars import complex_functions as functions
from tiree.scalars import complex_transcendental as transcendental
from tiree.scalars.builder import ScalarBuilder
from tiree.scalars.complex_functions import Pair

OnPairs: TypeAlias = Callable[[ScalarBuilder, Sequence[Pair]], tuple[SSAValue, ...]]
"""From the parts of the operands to those of the result: one value for a real result."""


def _unary(make: Callable[[ScalarBuilder, Pair], Pair]) -> OnPairs:
    return lambda s, args: make(s, args[0])


def _binary(make: Callable[[ScalarBuilder, Pair, Pair], Pair]) -> OnPairs:
    return lambda s, args: make(s, args[0], args[1])


def _abs(s: ScalarBuilder, args: Sequence[Pair]) -> tuple[SSAValue, ...]:
    return (functions.absolute(s, args[0]),)


def _angle(s: ScalarBuilder, args: Sequence[Pair]) -> tuple[SSAValue, ...]:
    real, imaginary = args[0]
    return (s.binary(math.Atan2Op, imaginary, real),)


def equal(s: ScalarBuilder, x: Pair, y: Pair) -> SSAValue:
    """Whether both parts are equal."""
    return s.and_(s.cmpf("oeq", x[0], y[0]), s.cmpf("oeq", x[1], y[1]))


def _eq(s: ScalarBuilder, args: Sequence[Pair]) -> tuple[SSAValue, ...]:
    return (equal(s, args[0], args[1]),)


def _neq(s: ScalarBuilder, args: Sequence[Pair]) -> tuple[SSAValue, ...]:
    return (s.not_(equal(s, args[0], args[1])),)


ON_PAIRS: dict[str, OnPairs] = {
    "complex.abs": _abs,
    "complex.add": _binary(functions.add),
    "complex.angle": _angle,
    "complex.atan2": _binary(transcendental.atan2),
    "complex.conj": _unary(functions.conjugate),
    "complex.cos": _unary(transcendental.cosine),
    "complex.div": _binary(functions.divide),
    "complex.eq": _eq,
    "complex.exp": _unary(transcendental.exp),
    "complex.expm1": _unary(transcendental.expm1),
    "complex.log": _unary(functions.log),
    "complex.log1p": _unary(functions.log1p),
    "complex.mul": _binary(functions.multiply),
    "complex.neg": _unary(functions.negate),
    "complex.neq": _neq,
    "complex.pow": _binary(transcendental.power),
    "complex.rsqrt": _unary(functions.rsqrt),
    "complex.sign": _unary(functions.sign),
    "complex.sin": _unary(transcendental.sine),
    "complex.sqrt": _unary(functions.sqrt),
    "complex.sub": _binary(functions.subtract),
    "complex.tan": _unary(transcendental.tan),
    "complex.tanh": _unary(transcendental.tanh),
}
"""By op name. `create`, `re`, `im` and `constant` are what pairs are made of."""
