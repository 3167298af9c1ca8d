"""Text of 2023: dense constants where arrays of integers are today, and properties among the attributes."""

from __future__ import annotations

import re

import pytest
import tiree
from dialects.bytecode.bytecode_writer import Writer

FLAGS = ["--iree-llvmcpu-target-cpu=generic", "--iree-vm-bytecode-module-strip-source-map",
         "--iree-hal-executable-debug-level=0"]  # fmt: skip


def aged(text: str) -> str:
    """`text` in the generic form of today as JAX wrote it in 2023."""

    def dense(match: re.Match[str]) -> str:
        values = match.group(2).split(", ") if match.group(2) else []
        body = f"[{', '.join(values)}]" if values else ""
        return f"dense<{body}> : tensor<{len(values)}x{match.group(1)}>"

    text = re.sub(r"array<(i64|i1)(?:: ([^>]*))?>", dense, text)
    return re.sub(r"<(\{[^{}]*\})> :", r"\1 :", text)


def test_a_program_gives_the_same_artifact() -> None:
    jax = pytest.importorskip("jax", reason="the program is made by JAX")
    import jax.numpy as jnp
    import numpy as np

    def function(x):
        y = jnp.pad(x, ((1, 2), (0, 1)), constant_values=2.0)[::-1]
        windows = jax.lax.reduce_window(y, -np.inf, jax.lax.max, (2, 2), (1, 1), "VALID")
        image = x[None, None]
        return (
            windows.T, jnp.take(x, jnp.array([1, 0]), axis=1), x[0:1, 1:3], jax.lax.dynamic_slice(x, (0, 1), (1, 2)),
            jnp.sort(x, axis=1), x.at[0].add(1.0), jnp.cumsum(x, axis=1), jnp.broadcast_to(x[0], (3, 4)),
            jnp.einsum("ij,kj->ik", x, x), jax.lax.conv(image, image, (1, 1), "SAME"),
        )  # fmt: skip

    example = jax.ShapeDtypeStruct((2, 4), np.float32)
    text = Writer(module=jax.jit(function).lower(example).compiler_ir("stablehlo")).text(locations=False)
    old = aged(text)
    assert "array<" in text
    assert "array<" not in old
    assert old.count("<{") < text.count("<{") // 2
    assert tiree.compile(old, flags=FLAGS) == tiree.compile(text, flags=FLAGS)
