"""Ops that act element by element."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Operation

from tiree.dialects.stablehlo_attrs import ComparisonDirectionAttr, ComparisonTypeAttr
from tiree.input.checks.values import (
    Wrong,
    element,
    integer,
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
from tiree.scalars.builder import inherent
from tiree.support.typed import is_complex_type

_BITS = frozenset({"stablehlo.and", "stablehlo.or", "stablehlo.xor", "stablehlo.not"})
_INTEGERS = frozenset(
    f"stablehlo.{name}"
    for name in ("popcnt", "count_leading_zeros", "shift_left", "shift_right_arithmetic", "shift_right_logical")
)


def _need_kind(op: Operation) -> None:
    kinds = "bi" if op.name in _BITS else "i" if op.name in _INTEGERS else ""
    if kinds and kind(op.operands[0]) not in kinds:
        raise Wrong(f"it works on integers; its operand is {tensor(op.operands[0])}")


def _real_of(op: Operation) -> None:
    """abs, real and imag: parts of complex numbers are real ones."""
    need_shape(op, shape(op.operands[0]))
    type, made = element(op.operands[0]), element(op.results[0])
    wanted = type.element_type if is_complex_type(type) else type
    need(made == wanted, f"its result has elements of type {made}; its operand of {type} gives {wanted}")


def _complex(op: Operation) -> None:
    need_same_type(op.operands[0], op.operands[1], "operands")
    need_shape(op, shape(op.operands[0]))
    type, made = element(op.operands[0]), element(op.results[0])
    fitting = is_complex_type(made) and made.element_type == type
    need(fitting, f"its result has elements of type {made}; its operands give complex<{type}>")


def _reduce_precision(op: Operation) -> None:
    _unary(op)
    exponent, mantissa = integer(op, "exponent_bits"), integer(op, "mantissa_bits")
    need(exponent >= 1, f"exponent_bits must be at least 1; it is {exponent}")
    need(mantissa >= 0, f"mantissa_bits must not be negative; it is {mantissa}")


def _unary(op: Operation) -> None:
    need_shape(op, shape(op.operands[0]))
    need_element(op, op.operands[0])
    _need_kind(op)
    accuracy = str(inherent(op, "result_accuracy") or "")
    loose = "mode<HIGHEST>" in accuracy.replace(" ", "") and _TOLERANCE.search(accuracy) is not None
    need(not loose, f"its result_accuracy is HIGHEST, and has a tolerance beside: {accuracy}")


_TOLERANCE = re.compile(r"\b(?:atol|rtol|ulps)\s*=\s*-?[0.]*[1-9]")


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
    have = getattr(inherent(op, "comparison_direction"), "data", "")
    need(have in directions, f"its comparison_direction must be one of {', '.join(directions)}")
    need_same_type(op.operands[0], op.operands[1], "operands")
    _predicate(op)
    said = inherent(op, "compare_type")
    if isinstance(said, ComparisonTypeAttr) and said.data not in ("NOTYPE", *_compare_types(element(op.operands[0]))):
        raise Wrong(f"it compares as {said.data}; its operands are {tensor(op.operands[0])}")


def _compare_types(type: Attribute) -> tuple[str, ...]:
    """How elements of a type may be compared. Signs of integers are in the type; older programs say them here."""
    if isinstance(type, AnyFloat):
        return ("FLOAT", "TOTALORDER")
    return ("FLOAT",) if is_complex_type(type) else ("SIGNED", "UNSIGNED")


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
    "cbrt", "ceil", "cosine", "count_leading_zeros", "exponential", "exponential_minus_one", "floor", "log",
    "log_plus_one", "logistic", "negate", "not", "popcnt", "round_nearest_afz",
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
    "stablehlo.abs": _real_of,
    "stablehlo.real": _real_of,
    "stablehlo.imag": _real_of,
    "stablehlo.complex": _complex,
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.compare": _compare,
    "stablehlo.select": _select,
    "stablehlo.clamp": _clamp,
}
