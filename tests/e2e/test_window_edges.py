"""Convolutions and windows at the ends of their inputs: windows that leave a rest, that fit once, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tiree
from jax import lax

RANDOM = np.random.RandomState(5)


def check(function: Callable[..., Any], *arguments: np.ndarray) -> None:
    wanted = np.asarray(jax.jit(function)(*arguments))
    module = tiree.load(tiree.compile(function, *arguments), device="local-sync")
    got = np.asarray(module.main(*arguments))
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


CONVOLUTIONS = [
    ((1, 3, 2, 2), (8, 3, 7, 7), (2, 2), ((3, 3), (3, 3)), (1, 1)),
    ((1, 3, 9, 9), (8, 3, 7, 7), (3, 2), ((0, 0), (0, 0)), (1, 1)),
    ((2, 3, 9, 10), (3, 3, 4, 5), (1, 1), ((0, 0), (0, 0)), (2, 3)),
    ((1, 2, 5, 8), (4, 2, 3, 1), (3, 3), ((0, 0), (0, 0)), (1, 1)),
    ((1, 2, 5, 8), (4, 2, 5, 2), (9, 9), ((0, 0), (0, 0)), (1, 3)),
    ((1, 2, 1, 8), (4, 2, 1, 9), (1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((0, 2, 5, 8), (4, 2, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
]


@pytest.mark.parametrize(("lhs", "rhs", "strides", "padding", "dilation"), CONVOLUTIONS)
def test_convolutions(lhs: Any, rhs: Any, strides: Any, padding: Any, dilation: Any) -> None:
    x, w = (RANDOM.uniform(-1, 1, shape).astype(np.float32) for shape in (lhs, rhs))

    def convolve(x: Any, w: Any) -> Any:
        return lax.conv_general_dilated(x, w, strides, padding, rhs_dilation=dilation)

    check(convolve, x, w)


PADDED_POINTS = [
    ((1, 8, 8, 3), 16, (2, 2), ((1, 1), (1, 1))),
    ((1, 8, 8, 1), 5, (1, 2), ((0, 2), (1, 0))),
    ((1, 1, 7, 3), 5, (3, 1), ((1, 1), (0, 0))),
    ((2, 6, 7, 3), 5, (2, 3), ((1, 0), (0, 1))),
]


@pytest.mark.parametrize(("shape", "features", "strides", "padding"), PADDED_POINTS)
def test_padded_convolutions_of_one_point(shape: Any, features: int, strides: Any, padding: Any) -> None:
    x = RANDOM.uniform(-1, 1, shape).astype(np.float32)
    w = RANDOM.uniform(-1, 1, (1, 1, shape[-1], features)).astype(np.float32)

    def convolve(x: Any, w: Any) -> Any:
        return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))

    check(convolve, x, w)


WINDOWS = [
    ((4,), (2,), (3,), (1,)),
    ((1, 7), (1, 3), (1, 5), (1, 1)),
    ((7, 8), (3, 2), (5, 9), (2, 4)),
    ((5, 3), (6, 2), (1, 1), (1, 1)),
    ((5, 3), (3, 2), (1, 1), (3, 1)),
    ((1, 4, 4, 2), (1, 2, 2, 1), (1, 3, 3, 1), (1, 1, 1, 1)),
]


@pytest.mark.parametrize(("shape", "window", "strides", "dilation"), WINDOWS)
@pytest.mark.parametrize("reducer", ["add", "max"])
def test_windows(shape: Any, window: Any, strides: Any, dilation: Any, reducer: str) -> None:
    x = RANDOM.uniform(-1, 1, shape).astype(np.float32)

    def reduce(x: Any) -> Any:
        function = lax.add if reducer == "add" else lax.max
        initial = jnp.float32(0 if reducer == "add" else -jnp.inf)
        return lax.reduce_window(x, initial, function, window, strides, "VALID", window_dilation=dilation)

    check(reduce, x)
