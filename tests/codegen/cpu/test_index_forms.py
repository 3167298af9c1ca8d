"""Linear forms and views: the arithmetic that decides contiguity, checked against brute force."""

import itertools

import numpy as np
import pytest
from tiree.codegen.common.linear import LANE, SCALAR, Lin, LinearMap, Sym, substitute
from tiree.codegen.common.views import View, kept_dims
from xdsl.ir.affine import AffineMap


def value(lin: Lin, at: dict[Sym, int]) -> int:
    return lin.const + sum(c * at[s] for s, c in lin.terms)


def test_split_is_floor_division_wherever_it_is_linear() -> None:
    i, j = Sym(1, SCALAR, None, 0, 4), Sym(2, SCALAR, None, 0, 2)
    found = 0
    for a, b, const, divisor in itertools.product([0, 1, 3, 6], [0, 1, 2], range(-7, 8), [1, 2, 3, 6]):
        lin = Lin.of(i, a) + Lin.of(j, b) + const
        split = lin.split(divisor)
        if split is None:
            continue
        found += 1
        for x, y in itertools.product(range(5), range(3)):
            at = {i: x, j: y}
            assert (value(split[0], at), value(split[1], at)) == divmod(value(lin, at), divisor)
    assert found > 200


def test_bounds_are_exact_for_independent_loops() -> None:
    i, lane = Sym(1, SCALAR, None, 0, 9), Sym(2, LANE, None, 0, 15)
    lin = Lin.of(i, -3) + Lin.of(lane, 2) + 5
    assert lin.bounds() == (5 - 27, 5 + 30)
    assert not lin.is_uniform
    assert lin.coefficient(lane) == 2


def test_equal_sums_are_equal_however_they_were_made() -> None:
    i, j = Sym(1, SCALAR, None, 0, 9), Sym(2, SCALAR, None, 0, 9)
    a = Lin.of(j) * 3 + Lin.of(i) + 4
    b = Lin.of(i) + 1 + Lin.of(j) + Lin.of(j, 2) + 3
    assert a == b
    assert hash(a) == hash(b)
    assert a - b == Lin(0)


def test_maps_are_flattened() -> None:
    linear = LinearMap(AffineMap.from_callable(lambda a, b, c: (a * 2 + c + 1, b, a + a - a)))
    assert linear.plain_dims == [None, 1, 0]
    assert linear.dims_used() == {0, 1, 2}
    i = Sym(1, SCALAR, None, 0, 9)
    result = linear.results[0]
    assert isinstance(result, tuple)
    assert substitute(result, [Lin.of(i), Lin(0), Lin(5)]) == Lin.of(i, 2) + 6


@pytest.mark.parametrize(
    ("start", "shape"),
    [
        ((4, 6), (24,)),
        ((4, 6), (2, 2, 3, 2)),
        ((24,), (4, 6)),
        ((2, 3, 4), (6, 4)),
        ((2, 1, 3), (6,)),
        ((5,), (1, 5, 1)),
    ],
)
def test_reshapes_of_a_view_address_the_same_elements(start: tuple[int, ...], shape: tuple[int, ...]) -> None:
    memory = np.arange(200)
    for view in (View.dense(start), View(start, tuple(s * 2 for s in View.dense(start).strides), 3)):
        reshaped = view.reshape(shape)
        assert reshaped is not None
        np.testing.assert_array_equal(elements(memory, reshaped), elements(memory, view).reshape(shape))


def elements(memory: np.ndarray, view: View) -> np.ndarray:
    result = np.empty(view.shape, memory.dtype)
    for index in np.ndindex(*view.shape):
        result[index] = memory[view.base + sum(i * s for i, s in zip(index, view.strides, strict=True))]
    return result


def test_a_transposed_view_cannot_be_flattened() -> None:
    assert View((4, 6), (1, 4)).reshape((24,)) is None
    assert View((4, 6), (1, 4)).reshape((2, 2, 6)) == View((2, 2, 6), (2, 1, 4))


def test_dropped_unit_dims_are_found() -> None:
    assert kept_dims([1, 5, 1], [5]) == [1]
    assert kept_dims([1, 5, 1], [1, 5]) == [0, 1]
    assert kept_dims([2, 1, 3], [2, 3]) == [0, 2]
    assert kept_dims([2, 3], [3]) is None
