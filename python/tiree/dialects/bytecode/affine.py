"""Affine maps, affine sets and strided layouts, which writers of 2026 encode; older ones write their text."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, AffineSetAttr, NoneAttr, StridedLayoutAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)

from tiree.dialects.bytecode.cursor import Cursor
from tiree.dialects.bytecode.values import Values

_IDENTITY, _PERMUTATION, _PROJECTION, _GENERAL = range(4)
_DIM, _SYMBOL, _CONSTANT = range(3)
_BINARY = (
    AffineBinaryOpKind.Add,
    AffineBinaryOpKind.Mul,
    AffineBinaryOpKind.Mod,
    AffineBinaryOpKind.FloorDiv,
    AffineBinaryOpKind.CeilDiv,
)
_DEEPEST = 200
_MOST_DIMS = 1 << 16


def _expression(cursor: Cursor, dims: int, symbols: int, depth: int = 0) -> AffineExpr:
    """An operator in front of its operands."""
    at = cursor.position
    kind = cursor.varint()
    if kind == _CONSTANT:
        return AffineConstantExpr(cursor.signed())
    if kind in (_DIM, _SYMBOL):
        number = cursor.varint()
        if number >= (dims if kind == _DIM else symbols):
            cursor.fail(f"an affine expression has no {'ds'[kind]}{number}", at)
        return AffineDimExpr(number) if kind == _DIM else AffineSymExpr(number)
    if kind - 3 >= len(_BINARY) or depth > _DEEPEST:
        cursor.fail(f"{kind} is no affine expression", at)
    left = _expression(cursor, dims, symbols, depth + 1)
    return AffineBinaryOpExpr(_BINARY[kind - 3], left, _expression(cursor, dims, symbols, depth + 1))


def affine_map(values: Values, cursor: Cursor) -> Attribute:
    """Short forms for the identity, permutations and projections; the rest expression by expression."""
    del values
    at = cursor.position
    number = cursor.varint()
    dims, form = number >> 2, number & 3
    if dims > _MOST_DIMS:
        cursor.fail(f"an affine map of {dims} dimensions", at)
    if form == _IDENTITY:
        return AffineMapAttr(AffineMap.identity(dims))
    if form == _GENERAL:
        symbols = cursor.varint()
        results = [_expression(cursor, dims, symbols) for _ in range(cursor.count("results"))]
        return AffineMapAttr(AffineMap(dims, symbols, tuple(results)))
    places = [cursor.varint() for _ in range(dims if form == _PERMUTATION else cursor.count("results"))]
    if any(place >= dims for place in places):
        cursor.fail(f"an affine map has no dimension {max(places)}", at)
    return AffineMapAttr(AffineMap(dims, 0, tuple(AffineDimExpr(place) for place in places)))


def affine_set(values: Values, cursor: Cursor) -> Attribute:
    """Expressions, and for each whether it must be zero or at least zero."""
    del values
    dims, symbols = cursor.varint(), cursor.varint()
    expressions = [_expression(cursor, dims, symbols) for _ in range(cursor.count("constraints"))]
    zero = AffineConstantExpr(0)
    constraints = tuple(
        AffineConstraintExpr(AffineConstraintKind.eq if cursor.byte() else AffineConstraintKind.ge, one, zero)
        for one in expressions
    )
    return AffineSetAttr(AffineSet(dims, symbols, constraints))


def strided(values: Values, cursor: Cursor) -> Attribute:
    """Offset and strides."""
    del values

    def known(number: int) -> int | NoneAttr:
        return NoneAttr() if number == DYNAMIC_INDEX else number

    offset = known(cursor.signed())
    return StridedLayoutAttr([known(stride) for stride in cursor.signed_list()], offset)
