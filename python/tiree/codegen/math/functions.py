"""The table of elementary functions, and how each is evaluated for each float type.

`NATIVE` functions have an f32 form of their own; the others are evaluated in f64 for f32 operands, with the short
polynomials. f16 and bf16 go through f32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from tiree.codegen.llvm.emitter import Emitter
from tiree.codegen.llvm.types import LType, ltype
from tiree.codegen.math.builder import Value

Function = Callable[..., Value]

NATIVE = frozenset(
    {"exp", "exp2", "expm1", "tanh", "log", "sin", "cos", "erf", "rsqrt", "sqrt"}
    | {"floor", "ceil", "round", "roundeven", "trunc"}
)


def _sqrt(x: Value, single: bool = False) -> Value:
    del single
    return x.sqrt()


@cache
def functions() -> dict[str, Function]:
    """Function by the name of its `math` op."""
    from tiree.codegen.math import (
        error_function,
        exponential,
        inverse_trigonometric,
        logarithm,
        power,
        rounding,
        trigonometric,
    )

    return {
        "exp": exponential.exp,
        "exp2": exponential.exp2,
        "expm1": exponential.expm1,
        "tanh": exponential.tanh,
        "sinh": exponential.sinh,
        "cosh": exponential.cosh,
        "log": logarithm.log,
        "log1p": logarithm.log1p,
        "log2": logarithm.log2,
        "log10": logarithm.log10,
        "asinh": logarithm.asinh,
        "acosh": logarithm.acosh,
        "atanh": logarithm.atanh,
        "sin": trigonometric.sin,
        "cos": trigonometric.cos,
        "tan": trigonometric.tan,
        "atan": inverse_trigonometric.atan,
        "atan2": inverse_trigonometric.atan2,
        "asin": inverse_trigonometric.asin,
        "acos": inverse_trigonometric.acos,
        "erf": error_function.erf,
        "erfc": error_function.erfc,
        "powf": power.pow,
        "cbrt": power.cbrt,
        "rsqrt": power.rsqrt,
        "sqrt": _sqrt,
        "floor": rounding.floor,
        "ceil": rounding.ceil,
        "round": rounding.round,
        "roundeven": rounding.roundeven,
        "trunc": rounding.trunc,
    }


@cache
def short_functions() -> dict[str, Function]:
    """As `functions`, for results that are rounded to f16 or bf16: those that gain from it."""
    from tiree.codegen.math import short

    return {"exp": short.exp, "tanh": short.tanh, "erf": short.erf, "log": short.log}


def evaluate(e: Emitter, name: str, type: LType, *operands: str, short: bool = False) -> str:
    """`name` of f32 or f64 operands; `short`: the f32 result will be rounded to f16 or bf16."""
    function = functions()[name]
    values = [Value(e, type, operand) for operand in operands]
    if short and name in short_functions():
        return short_functions()[name](*values).text
    if type.bits == 64:
        return function(*values).text
    if name in NATIVE:
        return function(*values, single=True).text
    wide = ltype("f", 64, type.lanes)
    return function(*(value.to(wide) for value in values), single=True).to(type).text
