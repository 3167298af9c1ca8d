"""The networks of `examples/digits.py` with their seeded, untrained weights, and the images that it classifies."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from programs.models import Model

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "digits.py"


@cache
def example() -> ModuleType:
    """The example as a module; skips the test without JAX or scikit-learn."""
    pytest.importorskip("jax", reason="the networks are JAX functions")
    pytest.importorskip("sklearn", reason="the images come from scikit-learn")
    spec = importlib.util.spec_from_file_location("digits_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def held_out() -> np.ndarray:
    """The images that are not trained on: f32[360, 8, 8, 1]."""
    return example().load_data()[2]


@cache
def network(name: str) -> Model:
    """`mlp` or `cnn` on one batch of held-out images."""
    code = example()
    function, shapes = {"mlp": (code.mlp, code.MLP_SHAPES), "cnn": (code.cnn, code.CNN_SHAPES)}[name]
    parameters = code.init(shapes)
    return Model(f"digits_{name}", lambda images: function(parameters, images), (held_out()[: code.BATCH],))
