"""Softmax and its kin on rows of unknown length are one dispatch; values at lengths around the vectors' edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt

RNG = np.random.default_rng(21)


def norm(x: Any, scale: Any, bias: Any) -> Any:
    import jax

    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def of_rows(name: str, axis: Any = -1) -> Callable[[Any], Any]:
    """A function of `jax.nn` along `axis`."""
    import jax

    function: Any = getattr(jax.nn, name)

    def apply(x: Any) -> Any:
        return function(x, axis)

    return apply


def programs() -> dict[str, tuple[Callable[..., Any], list[str], int]]:
    """By name: the function, the shapes of its arguments, and the dispatches that it may take."""
    import jax
    import jax.numpy as jnp

    def masked(x: Any, k: Any) -> Any:
        return softmax(jnp.where(k > 0, x, -1e9))

    def costly(x: Any) -> Any:
        return softmax(jax.nn.gelu(x, approximate=False))

    softmax = of_rows("softmax")
    return {
        "softmax": (softmax, ["n,m"], 1),
        "softmax of a line": (softmax, ["m"], 1),
        "softmax of planes": (of_rows("softmax", (-2, -1)), ["b,n,m"], 1),
        "softmax of three": (softmax, ["b,n,m"], 1),
        "masked": (masked, ["n,m", "n,m"], 1),
        "log": (of_rows("log_softmax"), ["n,m"], 1),
        "logsumexp": (of_rows("logsumexp"), ["n,m"], 1),
        "variance": (lambda x: x.var(-1), ["n,m"], 1),
        "norm": (norm, ["n,96", "96", "96"], 1),
        "sums": (lambda x: x.sum(-1), ["b,n,m"], 1),
        "total": (lambda x: x.sum(), ["n,m"], 1),
        "largest": (lambda x: x.max(-1) * 2, ["n,m"], 1),
        "columns": (of_rows("softmax", 0), ["n,m"], 4),
        "twice read": (lambda x: (softmax(x), x.max(-1)), ["n,m"], 2),
        "costly": (costly, ["n,m"], 2),
        "product first": (lambda x, y: softmax(x @ y), ["n,k", "k,m"], 2),
    }


@pytest.mark.parametrize(
    "name",
    [
        "softmax",
        "softmax of a line",
        "softmax of planes",
        "softmax of three",
        "masked",
        "log",
        "logsumexp",
        "variance",
        "norm",
        "sums",
        "total",
        "largest",
        "columns",
        "twice read",
        "costly",
        "product first",
    ],
)
def test_rows(name: str) -> None:
    jax = pytest.importorskip("jax", reason="the programs come from JAX")
    from jax import export

    function, shapes, most = programs()[name]
    scope = export.SymbolicScope()
    types = [jax.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), np.float32) for text in shapes]
    text = export.export(jax.jit(function))(*types).mlir_module()
    flow = bytes(tiree.compile(text, flags=["--compile-to=flow"])).decode()
    assert flow.count('"flow.dispatch"(') == most
    for cpu in ("host", "x86-64"):
        loaded: Any = rt.load(tiree.compile(text, flags=[f"--iree-llvmcpu-target-cpu={cpu}"]))
        for n, m in ((1, 1), (3, 2), (2, 15), (33, 17), (5, 130), (70, 64)):
            sizes = {"n": n, "m": m, "b": 2, "k": 7}
            inputs = [
                RNG.standard_normal([int(eval(part, {}, sizes)) for part in shape.split(",")]).astype(np.float32)
                for shape in shapes
            ]
            for got, want in zip(
                jax.tree.leaves(loaded.main(*inputs)), jax.tree.leaves(jax.jit(function)(*inputs)), strict=True
            ):
                np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-4, atol=1e-5)


def test_empty_rows() -> None:
    """No element of nothing, and the start of a reduction over nothing."""
    loaded: Any = rt.load(
        tiree.compile("""
func.func @main(%a: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %zero = stablehlo.constant dense<0.5> : tensor<f32>
  %low = stablehlo.constant dense<-7.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  %1 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [1]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}""")
    )
    for shape in ((0, 5), (3, 0), (0, 0), (2, 40)):
        a = RNG.standard_normal(shape).astype(np.float32) - 5
        total, most = loaded.main(a)
        np.testing.assert_allclose(np.asarray(total), a.sum(1) + 0.5, rtol=1e-4)
        np.testing.assert_allclose(np.asarray(most), a.max(1, initial=-7.0))
