"""Cholesky factors, triangular systems and Fourier transforms."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Operation

from tiree.dialects.stablehlo_attrs import FftTypeAttr, TransposeAttr
from tiree.input.checks.values import (
    Wrong,
    element,
    fits,
    integer,
    integers,
    need,
    need_same_type,
    need_shape,
    same_shape,
    shape,
    tensor,
    text,
)
from tiree.scalars.builder import inherent
from tiree.support.typed import is_complex_type


def _need_numbers(op: Operation) -> None:
    for value in op.operands:
        type = element(value)
        need(isinstance(type, AnyFloat) or is_complex_type(type), f"it works on floats; its operand is {tensor(value)}")


def _need_square(op: Operation) -> None:
    x = shape(op.operands[0])
    need(len(x) >= 2 and fits(x[-1], x[-2]), f"it takes square matrices; its operand is {tensor(op.operands[0])}")


def _cholesky(op: Operation) -> None:
    _need_numbers(op)
    _need_square(op)
    need_same_type(op.operands[0], op.results[0], "its operand and result")


def _triangular_solve(op: Operation) -> None:
    _need_numbers(op)
    _need_square(op)
    a, b = shape(op.operands[0]), shape(op.operands[1])
    need(element(op.operands[0]) == element(op.operands[1]), "its operands must have one element type")
    need(len(a) == len(b) and same_shape(a[:-2], b[:-2]), f"its operands have the shapes {text(a)} and {text(b)}")
    dim = -2 if integer(op, "left_side", 0) else -1
    need(fits(a[-1], b[dim]), f"matrices of shape {text(a)} do not go with right-hand sides of shape {text(b)}")
    need_same_type(op.operands[1], op.results[0], "its second operand and its result")
    form = inherent(op, "transpose_a")
    known = isinstance(form, TransposeAttr) and form.data != "TRANSPOSE_INVALID"
    need(known or form is None, f"its transpose_a is {getattr(form, 'data', form)}")


def _part(type: Attribute) -> Attribute:
    return type.element_type if is_complex_type(type) else type


def _fft(op: Operation) -> None:
    attr = inherent(op, "fft_type")
    kind = attr.data if isinstance(attr, FftTypeAttr) else ""
    lengths = integers(op, "fft_length")
    given, made = element(op.operands[0]), element(op.results[0])
    for type, real, what in ((given, kind == "RFFT", "operand"), (made, kind == "IRFFT", "result")):
        if is_complex_type(type) == real or not isinstance(_part(type), AnyFloat):
            raise Wrong(
                f"its {what} holds {'floats' if real else 'complex numbers'} for {kind}; it has elements of {type}"
            )
    need(_part(given) == _part(made), f"it makes elements of {made} of elements of {given}")
    x = shape(op.operands[0])
    need(1 <= len(lengths) <= min(3, len(x)), f"fft_length has {len(lengths)} entries; its operand has rank {len(x)}")
    batch, half = x[: len(x) - len(lengths)], (*lengths[:-1], lengths[-1] // 2 + 1 if lengths[-1] else 0)
    wanted = (*batch, *(half if kind == "IRFFT" else lengths))
    need(same_shape(x, wanted), f"fft_length gives an operand of shape {text(wanted)}; it is {tensor(op.operands[0])}")
    need_shape(op, (*batch, *(half if kind == "RFFT" else lengths)))


CHECKS = {
    "stablehlo.cholesky": _cholesky,
    "stablehlo.triangular_solve": _triangular_solve,
    "stablehlo.fft": _fft,
}
