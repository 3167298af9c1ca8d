"""Handlers of `math`: integer bit counts, signs and classes here, elementary functions in `tiree.codegen.math`."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation, SSAValue

from tiree.codegen.llvm import convert
from tiree.codegen.llvm.emitter import Emitter, Handler
from tiree.codegen.llvm.types import LType, lower_type


def absf(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    value = e.values[op.operands[0]]
    if type.is_small_float:
        e.values[op.results[0]] = e.pure(f"and {type.text} {value}, {e.number(type.with_elem('i', 16), 0x7FFF)}")
    else:
        e.values[op.results[0]] = e.intrinsic("fabs", type, (type, value))


def absi(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    value = e.values[op.operands[0]]
    if type.bits == 1:
        e.values[op.results[0]] = value
    else:
        e.values[op.results[0]] = e.pure(f"call {type.text} @llvm.abs.{type.mangled}({type.text} {value}, i1 false)")


def copysign(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    a, b = (e.values[o] for o in op.operands)
    if type.is_small_float:
        bits = type.with_elem("i", 16)
        size = e.pure(f"and {type.text} {a}, {e.number(bits, 0x7FFF)}")
        sign = e.pure(f"and {type.text} {b}, {e.number(bits, 0x8000)}")
        e.values[op.results[0]] = e.pure(f"or {type.text} {size}, {sign}")
    else:
        e.values[op.results[0]] = e.intrinsic("copysign", type, (type, a), (type, b))


def _count_zeros(name: str) -> Handler:
    def handler(e: Emitter, op: Operation) -> None:
        type = lower_type(op.results[0].type)
        value = e.values[op.operands[0]]
        e.values[op.results[0]] = e.pure(f"call {type.text} @llvm.{name}.{type.mangled}({type.text} {value}, i1 false)")

    return handler


def ctpop(e: Emitter, op: Operation) -> None:
    type = lower_type(op.results[0].type)
    e.values[op.results[0]] = e.intrinsic("ctpop", type, (type, e.values[op.operands[0]]))


def _classify(compare: str, bound: float, absolute: bool) -> Handler:
    """A predicate that one compare decides."""

    def handler(e: Emitter, op: Operation) -> None:
        type = lower_type(op.operands[0].type)
        work = convert.compute_type(type)
        value = convert.widen(e, type, e.values[op.operands[0]])
        if absolute:
            value = e.intrinsic("fabs", work, (work, value))
        other = e.number(work, bound) if absolute else value
        e.values[op.results[0]] = e.pure(f"fcmp {compare} {work.text} {value}, {other}")

    return handler


def is_normal(e: Emitter, op: Operation) -> None:
    type = lower_type(op.operands[0].type)
    integer = type.with_elem("i", type.bits)
    bits = e.values[op.operands[0]]
    if not type.is_small_float:
        bits = e.pure(f"bitcast {type.text} {bits} to {integer.text}")
    mantissa = {("h", 16): 10, ("b", 16): 7, ("f", 32): 23, ("f", 64): 52}[type.kind, type.bits]
    exponents = (1 << (type.bits - 1)) - (1 << mantissa)
    field = e.pure(f"and {integer.text} {bits}, {e.number(integer, exponents)}")
    # Neither all zeros nor all ones: one less, unsigned, is below the largest by two steps.
    shifted = e.pure(f"sub {integer.text} {field}, {e.number(integer, 1 << mantissa)}")
    limit = e.number(integer, exponents - (1 << mantissa))
    e.values[op.results[0]] = e.pure(f"icmp ult {integer.text} {shifted}, {limit}")


def fma(e: Emitter, op: Operation) -> None:
    """Rounded once on every target: f16, bf16 and f32 through f64, whose product is exact."""
    from tiree.codegen.math.fused import fused_multiply_add

    type = lower_type(op.results[0].type)
    e.values[op.results[0]] = fused_multiply_add(e, type, *(e.values[o] for o in op.operands))


def ipowi(e: Emitter, op: Operation) -> None:
    from tiree.codegen.math.integer_power import integer_power

    type = lower_type(op.results[0].type)
    e.values[op.results[0]] = integer_power(e, type, *(e.values[o] for o in op.operands))


def fpowi(e: Emitter, op: Operation) -> None:
    """pow with the integer exponent as a float (exact up to 2^53)."""
    from tiree.codegen.math.functions import evaluate

    type = lower_type(op.results[0].type)
    exponent_type = lower_type(op.operands[1].type)
    work = type.with_elem("f", 64)
    base = convert.convert_float(e, type, work, e.values[op.operands[0]])
    exponent = convert.int_to_float(e, exponent_type, work, e.values[op.operands[1]], signed=True)
    e.values[op.results[0]] = convert.convert_float(e, work, type, evaluate(e, "powf", work, base, exponent))


def elementary(name: str) -> Handler:
    """A function of `tiree.codegen.math`, on the compute type."""

    def handler(e: Emitter, op: Operation) -> None:
        from tiree.codegen.math.functions import evaluate

        type = lower_type(op.results[0].type)
        operands = [e.values[o] for o in op.operands]
        if type.bits == 32 and _rounded_at_once(op.results[0]):
            e.values[op.results[0]] = evaluate(e, name, type, *operands, short=True)
        else:
            e.values[op.results[0]] = _evaluate(e, evaluate, name, type, operands)

    return handler


def _rounded_at_once(value: SSAValue) -> bool:
    """Whether all users of an f32 round it to f16 or bf16."""
    users = [use.operation for use in value.uses]
    return bool(users) and all(
        user.name == "arith.truncf" and lower_type(user.results[0].type).is_small_float for user in users
    )


def _evaluate(e: Emitter, evaluate: Callable[..., str], name: str, type: LType, operands: list[str]) -> str:
    work = convert.compute_type(type)
    wide = (convert.widen(e, type, operand) for operand in operands)
    result = evaluate(e, name, work, *wide, short=type.is_small_float)
    return convert.narrow(e, type, result)


_ELEMENTARY = (
    "exp exp2 expm1 tanh sinh cosh log log1p log2 log10 asinh acosh atanh sin cos tan atan atan2 asin acos erf erfc "
    "powf cbrt rsqrt sqrt floor ceil round roundeven trunc"
)

HANDLERS: dict[str, Handler] = {
    "math.absf": absf,
    "math.absi": absi,
    "math.copysign": copysign,
    "math.ctlz": _count_zeros("ctlz"),
    "math.cttz": _count_zeros("cttz"),
    "math.ctpop": ctpop,
    "math.isnan": _classify("uno", 0.0, absolute=False),
    "math.isinf": _classify("oeq", float("inf"), absolute=True),
    "math.isfinite": _classify("olt", float("inf"), absolute=True),
    "math.isnormal": is_normal,
    "math.fma": fma,
    "math.ipowi": ipowi,
    "math.fpowi": fpowi,
    **{f"math.{name}": elementary(name) for name in _ELEMENTARY.split()},
}
