"""A program of the phase tests: MLIR text, its calls in their order with the right results by numpy, its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class PhaseProgram:
    """`calls` are (function, inputs, results); `parameters` are arrays by (scope, key)."""

    name: str
    text: str
    calls: Sequence[tuple[str, Sequence[Any], Sequence[Any]]]
    parameters: Mapping[tuple[str, str], np.ndarray] = field(default_factory=dict[tuple[str, str], np.ndarray])


def values(*shape: int, seed: int = 0) -> np.ndarray:
    """Small whole numbers as f32: sums and products are exact in any order."""
    return np.random.default_rng(seed + sum(shape)).integers(-3, 4, shape).astype(np.float32)


def one_function(
    name: str,
    types: str,
    result: str,
    body: str,
    inputs: Sequence[Any],
    function: Callable[..., Any],
) -> PhaseProgram:
    """One function `main` whose arguments are %a, %b, ...; the last line of `body` defines %r."""
    arguments = ", ".join(f"%{letter}: {type}" for letter, type in zip("abcd", types.split("; "), strict=False))
    text = f"func.func @main({arguments}) -> {result} {{\n{body}\n  return %r : {result}\n}}\n"
    return PhaseProgram(name, text, [("main", given, [function(*given)]) for given in inputs])
