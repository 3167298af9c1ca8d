"""Cholesky factors of matrices that are large enough to go panel by panel, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

RNG = np.random.default_rng(23)
TYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "complex<f32>": np.complex64}


def definite(count: int, n: int, element: str) -> np.ndarray:
    a = RNG.standard_normal((count, n, n))
    if element.startswith("complex"):
        a = a + 1j * RNG.standard_normal((count, n, n))
    return (a @ np.conj(np.swapaxes(a, -1, -2)) / n + np.eye(n)).astype(TYPES[element])


def compiled(count: int, n: int, element: str, lower: bool = True, **options: Any) -> Any:
    type = f"tensor<{count}x{n}x{n}x{element}>"
    text = f"""func.func @main(%x: {type}) -> {type} {{
  %0 = stablehlo.cholesky %x, lower = {str(lower).lower()} : {type}
  return %0 : {type}
}}
"""
    return rt.load(tiree.compile(text), **options)


@pytest.mark.parametrize(("count", "n", "element"), [(1, 256, "f32"), (2, 211, "complex<f32>"), (1, 333, "f64")])
def test_factors(count: int, n: int, element: str) -> None:
    """Whatever stands in the other triangle."""
    a = definite(count, n, element)
    wanted = np.linalg.cholesky(a.astype(np.complex128 if np.iscomplexobj(a) else np.float64))
    got = np.asarray(compiled(count, n, element).main(np.tril(a) + np.triu(np.full_like(a, np.nan), 1)))
    assert np.abs(got - wanted).max() < 8 * np.finfo(a.dtype).eps * np.abs(wanted).max()
    assert not np.triu(got, 1).any()


def test_those_that_fail() -> None:
    """NaN all over, in whichever panel it is, and the others are as they would be alone."""
    a = definite(4, 230, "f32")
    a[1, 200, 200], a[3, 5, 5] = -1, 0
    program = compiled(4, 230, "f32")
    got = np.asarray(program.main(a))
    assert np.isnan(got[[1, 3]]).all()
    assert np.isfinite(got[[0, 2]]).all()
    alone = np.asarray(program.main(a[[0, 2, 2, 0]]))
    np.testing.assert_array_equal(alone[:2], got[[0, 2]])


def test_the_same_bits_for_any_number_of_workers() -> None:
    a = definite(1, 300, "f32")
    results = [
        np.asarray(compiled(1, 300, "f32", **options).main(a)).tobytes()
        for options in ({"device": "local-sync"}, {"device": "local-task"})
    ]
    assert results[0] == results[1]
