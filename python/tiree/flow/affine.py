"""Linear forms of affine expressions: how maps are composed, compared and rebuilt in one canonical shape.

A linear form is `(constant, ((dim, coefficient), ...))` with the dims in rising order and no zero coefficient. An
expression with `mod`, `floordiv` or symbols has none; the callers then leave the op as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

Linear = tuple[int, tuple[tuple[int, int], ...]]


def linear_form(expr: AffineExpr) -> Linear | None:
    """The linear form of `expr`, or None when it is not linear in its dims."""
    if isinstance(expr, AffineDimExpr):
        return (0, ((expr.position, 1),))
    if isinstance(expr, AffineConstantExpr):
        return (expr.value, ())
    if not isinstance(expr, AffineBinaryOpExpr):
        return None
    left, right = linear_form(expr.lhs), linear_form(expr.rhs)
    if left is None or right is None:
        return None
    if expr.kind is AffineBinaryOpKind.Add:
        return add(left, right)
    if expr.kind is AffineBinaryOpKind.Mul:
        if not right[1]:
            return scale(left, right[0])
        if not left[1]:
            return scale(right, left[0])
    return None


def add(left: Linear, right: Linear) -> Linear:
    if not right[1]:
        return (left[0] + right[0], left[1])
    terms = dict(left[1])
    for dim, factor in right[1]:
        terms[dim] = terms.get(dim, 0) + factor
    return (left[0] + right[0], tuple(sorted((dim, factor) for dim, factor in terms.items() if factor)))


def scale(form: Linear, factor: int) -> Linear:
    if factor == 0:
        return (0, ())
    return (form[0] * factor, tuple((dim, factor * value) for dim, value in form[1]))


def build(form: Linear) -> AffineExpr:
    """The canonical expression: terms in dim order, `d * c` without a factor of one, the constant last."""
    expr: AffineExpr | None = None
    for dim, factor in form[1]:
        term = AffineDimExpr(dim) * factor
        expr = term if expr is None else AffineBinaryOpExpr(AffineBinaryOpKind.Add, expr, term)
    if expr is None:
        return AffineConstantExpr(form[0])
    return expr + form[0] if form[0] else expr


def substitute(expr: AffineExpr, replacements: Sequence[AffineExpr]) -> AffineExpr:
    """`expr` with dim i replaced by `replacements[i]`, canonical where it is linear."""
    if isinstance(expr, AffineDimExpr):
        return replacements[expr.position]
    result = expr.replace_dims_and_symbols(replacements, ())
    form = linear_form(result)
    return result if form is None else build(form)


def names_dims_in_order(exprs: Sequence[AffineExpr]) -> bool:
    """Whether the expressions are d0, d1, ..."""
    return all(isinstance(expr, AffineDimExpr) and expr.position == i for i, expr in enumerate(exprs))


def compose(map: AffineMap, replacements: Sequence[AffineExpr], num_dims: int) -> AffineMap:
    """`map` over new dims: its dim i becomes `replacements[i]`, an expression of `num_dims` dims."""
    if map.num_dims == num_dims and names_dims_in_order(replacements) and dim_positions(map) is not None:
        return map
    return AffineMap(num_dims, 0, tuple(substitute(expr, replacements) for expr in map.results))


def renumber(map: AffineMap, positions: Sequence[int], num_dims: int) -> AffineMap:
    """`map` with dim i called `positions[i]` (-1 for a dim of extent 1, which becomes the constant 0)."""
    exprs = [AffineConstantExpr(0) if p < 0 else AffineDimExpr(p) for p in positions]
    return compose(map, exprs, num_dims)


def dim_positions(map: AffineMap) -> list[int] | None:
    """The dims that `map` selects, or None unless every result is a bare dim."""
    positions: list[int] = []
    for expr in map.results:
        if not isinstance(expr, AffineDimExpr):
            return None
        positions.append(expr.position)
    return positions


def is_projected_permutation(map: AffineMap) -> bool:
    """Whether each result is a bare dim and none occurs twice."""
    positions = dim_positions(map)
    return positions is not None and len(set(positions)) == len(positions)


def is_permutation(map: AffineMap) -> bool:
    """Whether `map` selects each dim exactly once."""
    positions = {expr.position for expr in map.results if isinstance(expr, AffineDimExpr)}
    return len(positions) == len(map.results) == map.num_dims


def is_identity(map: AffineMap) -> bool:
    return dim_positions(map) == list(range(map.num_dims))
