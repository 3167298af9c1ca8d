"""What assumptions on dynamic sizes are worth: exports of JAX with constraints against the same without, in one run.

    python benches/python/assumed_sizes.py [--calls N]

Ratios of the shortest of N calls, taken in turn; below 1 the assumptions help. Results must be equal.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tiree
import tiree.runtime as rt
from jax import export

CONSTRAINTS = ("a >= 8", "mod(a, 8) == 0", "b >= 16", "b <= 4096", "mod(b, 16) == 0")


def normalised(x: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


CASES: dict[str, tuple[Callable[..., Any], Sequence[tuple[Any, ...]], Sequence[tuple[int, int]]]] = {
    "sum of rows": (lambda x: x.sum(-1), [("a", "b")], [(4096, 16), (4096, 48)]),
    "normalisation": (normalised, [("a", "b")], [(2048, 16), (2048, 48)]),
    "softmax": (lambda x: jax.nn.softmax(x, axis=-1), [("a", "b")], [(2048, 16), (2048, 48), (512, 208)]),
    "elementwise": (lambda x: jnp.maximum(x * 2 + 1, 0), [("a", "b")], [(2048, 16), (2048, 48)]),
    "matmul": (jnp.matmul, [("a", 64), (64, "b")], [(64, 48), (256, 144)]),
}
"""By name: the function, the shapes of its arguments in `a` and `b`, and sizes for both."""


def exported(function: Callable[..., Any], constraints: Sequence[str], shapes: Sequence[tuple[Any, ...]]) -> str:
    a, b = export.symbolic_shape("a,b", scope=export.SymbolicScope(constraints))
    sizes = {"a": a, "b": b}
    specs = [jax.ShapeDtypeStruct(tuple(sizes.get(size, size) for size in shape), jnp.float32) for shape in shapes]
    return export.export(jax.jit(function))(*specs).mlir_module()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=500)
    calls = parser.parse_args().calls
    print("| program | a x b | with, us | without, us | ratio |\n|---|---|---|---|---|")
    for name, (function, shapes, sizes) in CASES.items():
        texts = [exported(function, constraints, shapes) for constraints in (CONSTRAINTS, ())]
        modules = [rt.load(tiree.compile(text), device="local-sync") for text in texts]
        for a, b in sizes:
            stream = np.random.default_rng(a)
            given = {"a": a, "b": b}
            inputs = [stream.standard_normal([given.get(s, s) for s in shape], np.float32) for shape in shapes]
            results = [np.asarray(module.main(*inputs)) for module in modules]
            np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-5)
            best = [float("inf")] * 2
            for _ in range(calls):
                for number, module in enumerate(modules):
                    began = time.perf_counter()
                    module.main(*inputs)
                    best[number] = min(best[number], time.perf_counter() - began)
            print(f"| {name} | {a} x {b} | {best[0] * 1e6:.1f} | {best[1] * 1e6:.1f} | {best[0] / best[1]:.2f} |")


if __name__ == "__main__":
    main()
