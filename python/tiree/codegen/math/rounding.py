"""floor, ceil, round, roundeven, trunc: instructions where the target has them, else through 2^mantissa."""

from __future__ import annotations

from tiree.codegen.math.builder import Value


def _has_instructions(x: Value) -> bool:
    return x.e.target.has_sse41


def _limit(x: Value) -> float:
    """From here on every value is an integer."""
    return 2.0 ** (23 if x.type.bits == 32 else 52)


def _finish(x: Value, rounded: Value) -> Value:
    """The rounded magnitude with x's sign; large values, infinities and NaN as they are."""
    return x.abs().lt(_limit(x)).where(rounded.copysign(x), x)


def _even(a: Value) -> Value:
    """The nearest integer of 0 <= a < limit, ties to even."""
    return (a + _limit(a)) - _limit(a)


def _down(a: Value) -> Value:
    near = _even(a)
    return near - near.gt(a).where(1.0, a.const(0.0))


def roundeven(x: Value, single: bool = False) -> Value:
    del single
    return x.call("roundeven") if _has_instructions(x) else _finish(x, _even(x.abs()))


def trunc(x: Value, single: bool = False) -> Value:
    del single
    return x.call("trunc") if _has_instructions(x) else _finish(x, _down(x.abs()))


def floor(x: Value, single: bool = False) -> Value:
    del single
    if _has_instructions(x):
        return x.call("floor")
    near = trunc(x)
    lower = near - near.gt(x).where(1.0, x.const(0.0))
    return x.abs().lt(_limit(x)).where(lower.copysign(x), x)


def ceil(x: Value, single: bool = False) -> Value:
    del single
    if _has_instructions(x):
        return x.call("ceil")
    near = trunc(x)
    upper = near + near.lt(x).where(1.0, x.const(0.0))
    return x.abs().lt(_limit(x)).where(upper.copysign(x), x)


def round(x: Value, single: bool = False) -> Value:
    """Ties away from zero."""
    del single
    a = x.abs()
    down = a.call("floor") if _has_instructions(x) else _down(a)
    nearest = down + (a - down).ge(0.5).where(1.0, a.const(0.0))
    return _finish(x, nearest)
