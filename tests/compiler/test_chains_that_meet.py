"""Chains whose every step reads what the step before made twice: the work of the compiler grows with their length.

What asks the operands of an operation without remembering the answers takes twice the time for each step.
"""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tiree.dialects import read_module
from tiree.pipeline import run_pipeline
from tiree.support.options import CompileOptions

jax = pytest.importorskip("jax", reason="the programs are JAX's")
jnp, lax, export = jax.numpy, jax.lax, pytest.importorskip("jax.export")

STEPS: dict[str, Callable[[Any], Any]] = {
    "gather": lambda x: x[jnp.clip(x.astype(jnp.int32) + x.astype(jnp.int32) // 2, 0, 3)],
    "window": lambda x: jnp.cumsum(x) * x,
    "roll": lambda x: jnp.roll(x, 1) * x,
    "slice": lambda x: lax.dynamic_slice(jnp.concatenate([x, x]), (x[0].astype(jnp.int32),), (x.shape[0],)),
    "condition": lambda x: lax.cond(x[0] > 0, lambda v: v + x, lambda v: v * x, x),
}


def calls(work: Callable[[], object]) -> int:
    """The number of calls that `work` makes: a measure of time that is the same on every machine."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())


def chain(step: Callable[[Any], Any], count: int, size: Any) -> str:
    def repeated(x: Any) -> Any:
        for _ in range(count):
            x = step(x)
        return x

    exported = export.export(jax.jit(repeated))(jax.ShapeDtypeStruct(size, np.float32))
    return exported.mlir_module()


@pytest.mark.parametrize(
    ("kind", "dynamic"),
    [("gather", False), ("gather", True), ("window", True), ("roll", True), ("slice", True), ("condition", False)],
)
def test_work_grows_with_the_length(kind: str, dynamic: bool) -> None:
    def compile(count: int) -> Callable[[], object]:
        size = export.symbolic_shape("n", constraints=["n >= 4"]) if dynamic else (16,)
        text = chain(STEPS[kind], count, size)
        return lambda: run_pipeline(read_module(text), CompileOptions(), compile_to="vm")

    compile(1)()
    small, middle, large = (calls(compile(count)) for count in (2, 4, 8))
    # Twice as much would be linear.
    assert large - middle < 3.5 * (middle - small)
