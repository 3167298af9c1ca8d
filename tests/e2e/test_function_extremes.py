"""Elementwise functions where their arguments or results are about to leave the range of the type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import tiree

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "stablehlo.cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "stablehlo.sqrt": lambda x: mp.sqrt(x) if x >= 0 else mp.nan,
    "stablehlo.exponential": mp.exp,
    "stablehlo.exponential_minus_one": mp.expm1,
    "stablehlo.logistic": lambda x: 1 / (1 + mp.exp(-x)),
    "stablehlo.tanh": mp.tanh,
    "chlo.sinh": mp.sinh,
    "chlo.cosh": mp.cosh,
    "chlo.asinh": mp.asinh,
    "chlo.erf": mp.erf,
}
TYPES = {"f32": np.float32, "f64": np.float64}
ULPS = 8


def arguments(dtype: Any) -> np.ndarray:
    limits = np.finfo(dtype)
    root = float(np.sqrt(limits.max))
    top = float(np.log(limits.max))
    found = [limits.max, limits.max / 2, limits.max / 3, root, root * 2, root / 2, 1e30, limits.tiny, limits.tiny * 2]
    found += [limits.smallest_subnormal, limits.smallest_subnormal * 3, limits.eps, 1, 0.5, 2]
    found += [top - 0.5, top - 0.001, top + 0.5, top + 0.7, top + 8]
    values = np.array(found, np.float64).astype(dtype)
    return np.concatenate([values, -values])


@pytest.mark.parametrize("element", list(TYPES))
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_extremes(name: str, element: str) -> None:
    dtype = TYPES[element]
    x = arguments(dtype)
    type = f"tensor<{len(x)}x{element}>"
    arrow = f" -> {type}" if name.startswith("chlo") else ""
    text = f"func.func @f(%a: {type}) -> {type} {{\n  %r = {name} %a : {type}{arrow}\n  return %r : {type}\n}}"
    got = np.asarray(tiree.load(tiree.compile(text), device="local-sync").f(x))
    with mp.workprec(2500), np.errstate(over="ignore"):
        wanted = np.array([float(FUNCTIONS[name](mp.mpf(float(value)))) for value in x]).astype(dtype)
    with np.errstate(invalid="ignore"):
        close = np.abs(got - wanted) <= ULPS * np.spacing(np.abs(wanted))
    right = (got == wanted) | (np.isnan(got) & np.isnan(wanted)) | close
    assert right.all(), (x[~right], got[~right], wanted[~right])
