"""Ops that act element by element."""

from __future__ import annotations

from xdsl.ir import Operation

from tiree.dialects.stablehlo_attrs import ComparisonDirectionAttr
from tiree.input.checks.values import (
    Wrong,
    attribute,
    element,
    kind,
    need,
    need_element,
    need_same_type,
    need_scalar,
    need_shape,
    same_shape,
    shape,
    tensor,
)

_BITS = frozenset({"stablehlo.and", "stablehlo.or", "stablehlo.xor", "stablehlo.not"})
_INTEGERS = frozenset(
    f"stablehlo.{name}"
    for name in ("popcnt", "count_leading_zeros", "shift_left", "shift_right_arithmetic", "shift_right_logical")
)


def _need_kind(op: Operation) -> None:
    kinds = "bi" if op.name in _BITS else "i" if op.name in _INTEGERS else ""
    if kinds and kind(op.operands[0]) not in kinds:
        raise Wrong(f"it works on integers; its operand is {tensor(op.operands[0])}")


def _unary(op: Operation) -> None:
    need_shape(op, shape(op.operands[0]))
    # abs, real and imag of complex numbers give real ones.
    if kind(op.operands[0]):
        need_element(op, op.operands[0])
    _need_kind(op)


def _predicate(op: Operation) -> None:
    need_shape(op, shape(op.operands[0]))
    need(kind(op.results[0]) == "b", f"its result must have elements of type i1; it is {tensor(op.results[0])}")


def _shape_only(op: Operation) -> None:
    need_shape(op, shape(op.operands[0]))


def _binary(op: Operation) -> None:
    need_same_type(op.operands[0], op.operands[1], "operands")
    need_shape(op, shape(op.operands[0]))
    need_element(op, op.operands[0])
    _need_kind(op)


def _compare(op: Operation) -> None:
    directions = ComparisonDirectionAttr.VALUES
    have = getattr(attribute(op, "comparison_direction"), "data", "")
    need(have in directions, f"its comparison_direction must be one of {', '.join(directions)}")
    need_same_type(op.operands[0], op.operands[1], "operands")
    _predicate(op)


def _select(op: Operation) -> None:
    predicate, on_true, on_false = op.operands
    need_same_type(on_true, on_false, "both choices")
    if kind(predicate) != "b" or not (not shape(predicate) or same_shape(shape(predicate), shape(on_true))):
        raise Wrong(f"its predicate must be i1 of rank 0 or of the shape of the choices; it is {tensor(predicate)}")
    need_shape(op, shape(on_true))
    need_element(op, on_true)


def _clamp(op: Operation) -> None:
    low, value, high = op.operands
    for bound in (low, high):
        if shape(bound):
            need_same_type(bound, value, "bounds and operand")
        else:
            need_scalar(bound, "a bound")
            need(element(bound) == element(value), f"a bound is {tensor(bound)}; the operand is {tensor(value)}")
    need_shape(op, shape(value))
    need_element(op, value)


_UNARY = (
    "abs", "cbrt", "ceil", "cosine", "count_leading_zeros", "exponential", "exponential_minus_one", "floor", "log",
    "log_plus_one", "logistic", "negate", "not", "popcnt", "reduce_precision", "round_nearest_afz",
    "round_nearest_even", "rsqrt", "sign", "sine", "sqrt", "tan", "tanh",
)  # fmt: skip
_BINARY = (
    "add", "and", "atan2", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder", "shift_left",
    "shift_right_arithmetic", "shift_right_logical", "subtract", "xor",
)  # fmt: skip

CHECKS = {
    **{f"stablehlo.{name}": _unary for name in _UNARY},
    **{f"stablehlo.{name}": _binary for name in _BINARY},
    "stablehlo.is_finite": _predicate,
    "stablehlo.convert": _shape_only,
    "stablehlo.real": _shape_only,
    "stablehlo.imag": _shape_only,
    "stablehlo.compare": _compare,
    "stablehlo.select": _select,
    "stablehlo.clamp": _clamp,
}
