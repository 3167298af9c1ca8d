"""Linear forms against direct evaluation of the expressions."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tiree.flow.affine import (
    build,
    compose,
    is_identity,
    is_permutation,
    is_projected_permutation,
    linear_form,
    renumber,
)
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

DIMS = 3


def expressions() -> st.SearchStrategy[AffineExpr]:
    leaves = st.one_of(
        st.integers(0, DIMS - 1).map(AffineDimExpr),
        st.integers(-4, 4).map(AffineConstantExpr),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
            st.tuples(inner, st.integers(-3, 3)).map(lambda pair: pair[0] * pair[1]),
        ),
        max_leaves=6,
    )


POINTS = st.lists(st.integers(-5, 5), min_size=DIMS, max_size=DIMS)


@given(expressions(), POINTS)
@settings(max_examples=100, deadline=None)
def test_linear_form_has_the_value_of_the_expression(expr, point):
    form = linear_form(expr)
    assert form is not None
    assert form[0] + sum(factor * point[dim] for dim, factor in form[1]) == expr.eval(point, ())
    assert build(form).eval(point, ()) == expr.eval(point, ())
    assert linear_form(build(form)) == form


def test_mod_has_no_linear_form():
    assert linear_form(AffineDimExpr(0) % 4) is None


@given(st.lists(expressions(), min_size=1, max_size=3), st.lists(expressions(), min_size=DIMS, max_size=DIMS), POINTS)
@settings(max_examples=100, deadline=None)
def test_compose_substitutes(results, replacements, point):
    map = AffineMap(DIMS, 0, tuple(results))
    inner = [expr.eval(point, ()) for expr in replacements]
    assert compose(map, replacements, DIMS).eval(point, ()) == map.eval(inner, ())


def test_kinds_of_maps():
    d0, d1 = AffineDimExpr(0), AffineDimExpr(1)
    assert is_identity(AffineMap(2, 0, (d0, d1)))
    assert is_permutation(AffineMap(2, 0, (d1, d0)))
    assert not is_permutation(AffineMap(2, 0, (d0, d0)))
    assert not is_permutation(AffineMap(2, 0, (d0,)))
    assert is_projected_permutation(AffineMap(2, 0, (d1,)))
    assert not is_projected_permutation(AffineMap(2, 0, (d0 + d1,)))


def test_renumber_drops_unit_loops():
    map = AffineMap(3, 0, (AffineDimExpr(0), AffineDimExpr(1) + AffineDimExpr(2)))
    assert renumber(map, [-1, 0, 1], 2) == AffineMap(2, 0, (AffineConstantExpr(0), AffineDimExpr(0) + AffineDimExpr(1)))
