"""The programs that the comparisons run: seeded, made by JAX, weights inside."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "tests")]

ADD = """func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@dataclass(frozen=True)
class Model:
    """`text()` is StableHLO; `inputs()` are arrays for its entry point."""

    name: str
    text: Callable[[], str]
    inputs: Callable[[], list[np.ndarray]]
    entry: str = "main"


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def _lower(function: Callable, *inputs: np.ndarray) -> str:
    import jax

    return jax.jit(function).lower(*[jax.ShapeDtypeStruct(a.shape, a.dtype) for a in inputs]).as_text()


def _digits(name: str) -> Model:
    """A model of examples/digits.py with untrained weights: the same work."""

    def text() -> str:
        import digits

        model = getattr(digits, name)
        params = {k: np.asarray(v) for k, v in digits.init(getattr(digits, f"{name.upper()}_SHAPES")).items()}
        return _lower(lambda x: model(params, x), _normal(30, 8, 8, 1))

    return Model(name, text, lambda: [_normal(30, 8, 8, 1)])


def _program(name: str) -> Model:
    """A model of tests/programs/models.py."""

    def program():
        from programs import models

        return next(m for m in models.models() if m.name == name)

    return Model(name, lambda: program().text, lambda: list(program().inputs))


def _matmul(n: int) -> Model:
    def text() -> str:
        return _lower(lambda a, b: a @ b, _normal(n, n), _normal(n, n))

    return Model(f"matmul_{n}", text, lambda: [_normal(n, n), _normal(n, n)])


MODELS = {
    m.name: m
    for m in (
        Model("add", lambda: ADD, lambda: [_normal(4), _normal(4)], "add"),
        _digits("mlp"),
        _digits("cnn"),
        _program("transformer_float32"),
        _program("residual_float32"),
        _program("lstm"),
        _program("newton"),
        _matmul(512),
    )
}
