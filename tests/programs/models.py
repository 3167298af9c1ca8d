"""Seeded JAX models: the networks and control flow programs that the whole compiler is measured on.

Weights are constants of the module. `models()` lists them; each gives StableHLO text, inputs and JAX's outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass
class Model:
    """`function(*inputs)`; `rtol` and `atol` are what a compiler must reach."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[np.ndarray, ...]
    rtol: float = 1e-4
    atol: float = 1e-4

    @cached_property
    def text(self) -> str:
        """StableHLO as JAX prints it; the function is `main`."""
        import jax

        return jax.jit(self.function).lower(*self.inputs).as_text()

    @cached_property
    def generic_text(self) -> str:
        """The same module in generic form."""
        import jax

        module = jax.jit(self.function).lower(*self.inputs).compiler_ir("stablehlo")
        return module.operation.get_asm(print_generic_op_form=True)

    @cached_property
    def expected(self) -> list[np.ndarray]:
        import jax

        return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(self.function)(*self.inputs))]


class _Weights:
    """Normal weights of variance 1 / fan-in, from one seeded stream."""

    def __init__(self, seed: int, dtype: Any = np.float32) -> None:
        self.stream = np.random.default_rng(seed)
        self.dtype = dtype

    def __call__(self, *shape: int, gain: float = 1.0) -> np.ndarray:
        fan_in = int(np.prod(shape[:-1])) or 1
        return (gain * self.stream.standard_normal(shape) / np.sqrt(fan_in)).astype(self.dtype)

    def bias(self, size: int) -> np.ndarray:
        return (0.1 * self.stream.standard_normal(size)).astype(self.dtype)

    def scale(self, size: int) -> np.ndarray:
        return (1.0 + 0.1 * self.stream.standard_normal(size)).astype(self.dtype)


def mlp(batch: int = 16) -> Model:
    """64 pixels to 10 classes through two hidden layers, as for the digits that scikit-learn ships."""
    import jax

    w = _Weights(0)
    layers = [(w(64, 128), w.bias(128)), (w(128, 64), w.bias(64)), (w(64, 10), w.bias(10))]

    def function(x: Any) -> Any:
        for weight, bias in layers[:-1]:
            x = jax.nn.relu(x @ weight + bias)
        weight, bias = layers[-1]
        return jax.nn.log_softmax(x @ weight + bias)

    return Model("mlp", function, (w(batch, 64),))


def _conv(x: Any, kernel: np.ndarray, strides: tuple[int, int] = (1, 1)) -> Any:
    from jax import lax

    return lax.conv_general_dilated(x, kernel, strides, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def cnn(batch: int = 8) -> Model:
    """8x8 images to 10 classes: two convolutions, max pooling, a dense layer."""
    import jax
    from jax import lax

    w = _Weights(1)
    k1, b1, k2, b2 = w(3, 3, 1, 16), w.bias(16), w(3, 3, 16, 32), w.bias(32)
    dense, bias = w(4 * 4 * 32, 10), w.bias(10)

    def function(x: Any) -> Any:
        x = jax.nn.relu(_conv(x, k1) + b1)
        x = jax.nn.relu(_conv(x, k2) + b2)
        x = lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return x.reshape(batch, -1) @ dense + bias

    return Model("cnn", function, (w(batch, 8, 8, 1),))


def residual_block(dtype: Any = np.float32) -> Model:
    """Two 3x3 convolutions with folded normalisation, a strided 1x1 shortcut, global average pooling."""
    import jax
    import jax.numpy as jnp

    w = _Weights(2, dtype)
    k1, k2, shortcut = w(3, 3, 16, 32), w(3, 3, 32, 32), w(1, 1, 16, 32)
    s1, b1, s2, b2 = w.scale(32), w.bias(32), w.scale(32), w.bias(32)

    def function(x: Any) -> Any:
        y = jax.nn.relu(_conv(x, k1, (2, 2)) * s1 + b1)
        y = _conv(y, k2) * s2 + b2
        y = jax.nn.relu(y + _conv(x, shortcut, (2, 2)))
        return y, jnp.mean(y, axis=(1, 2))

    tolerance = 1e-4 if dtype == np.float32 else 1e-2
    return Model(f"residual_{np.dtype(dtype).name}", function, (w(2, 16, 16, 16),), tolerance, tolerance)


def transformer_block(dtype: Any = np.float32, tokens: int = 24, width: int = 64, heads: int = 4) -> Model:
    """Embedding lookup, causal attention, gelu MLP, both behind layer norms and with residuals."""
    import jax
    import jax.numpy as jnp

    w = _Weights(3, dtype)
    vocabulary = 97
    table, positions = w(vocabulary, width), w(tokens, width)
    wq, wk, wv = (w(width, width) for _ in range(3))
    # Small output weights, as trained blocks have them: the residual stream keeps its magnitude.
    wo, w2 = w(width, width, gain=0.25), w(4 * width, width, gain=0.25)
    w1, b1, b2 = w(width, 4 * width), w.bias(4 * width), w.bias(width)
    norms = [(w.scale(width), w.bias(width)) for _ in range(2)]
    mask = np.tril(np.ones((tokens, tokens), bool))

    def norm(x: Any, scale: np.ndarray, shift: np.ndarray) -> Any:
        mean = jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.mean(jnp.square(x - mean), axis=-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + jnp.asarray(1e-5, x.dtype)) * scale + shift

    def split(x: Any) -> Any:
        return x.reshape(x.shape[0], tokens, heads, width // heads).transpose(0, 2, 1, 3)

    def attention(x: Any) -> Any:
        q, k, v = split(x @ wq), split(x @ wk), split(x @ wv)
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.asarray(np.sqrt(width / heads), x.dtype)
        scores = jnp.where(mask, scores, jnp.asarray(-1e9, x.dtype))
        mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)
        return mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ wo

    def function(ids: Any) -> Any:
        x = jnp.asarray(table)[ids] + positions
        x = x + attention(norm(x, *norms[0]))
        hidden = jax.nn.gelu(norm(x, *norms[1]) @ w1 + b1)
        return x + hidden @ w2 + b2

    ids = np.random.default_rng(4).integers(0, vocabulary, (2, tokens)).astype(np.int32)
    tolerance = 1e-4 if dtype == np.float32 else 1e-2
    return Model(f"transformer_{np.dtype(dtype).name}", function, (ids,), tolerance, tolerance)


def lstm(steps: int = 12, width: int = 32) -> Model:
    """An LSTM layer by `lax.scan`; returns all hidden states and the last cell."""
    import jax
    import jax.numpy as jnp

    w = _Weights(5)
    wx, wh, b = w(16, 4 * width), w(width, 4 * width), w.bias(4 * width)

    def step(state: Any, x: Any) -> Any:
        h, c = state
        i, f, g, o = jnp.split(x @ wx + h @ wh + b, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def function(xs: Any) -> Any:
        zero = jnp.zeros((xs.shape[1], width), jnp.float32)
        (_, cell), states = jax.lax.scan(step, (zero, zero), xs)
        return states, cell

    return Model("lstm", function, (w(steps, 4, 16),))


def newton() -> Model:
    """A square root by Newton's iteration to a tolerance: a loop decided by data. Returns root and count."""
    import jax
    import jax.numpy as jnp

    def function(x: Any) -> Any:
        return jax.lax.while_loop(
            lambda s: jnp.abs(s[0] * s[0] - x) > 1e-4 * x,
            lambda s: (0.5 * (s[0] + x / s[0]), s[1] + 1),
            (x, jnp.int32(0)),
        )

    return Model("newton", function, (np.float32(1234.5),))


def nested_if() -> Model:
    """Branches within branches, chosen by the sum and the first element of the input."""
    import jax
    import jax.numpy as jnp

    def function(x: Any) -> Any:
        def positive(v: Any) -> Any:
            return jax.lax.cond(v[0] > 1.0, lambda u: u * 2.0, lambda u: u + 10.0, v)

        def negative(v: Any) -> Any:
            return jax.lax.switch(jnp.int32(v[1]), [lambda u: -u, lambda u: u * u, lambda u: jnp.exp(u)], v)

        return jax.lax.cond(jnp.sum(x) > 0.0, positive, negative, x)

    return Model("nested_if", function, (np.array([-3.0, 1.5, 0.25], np.float32),))


def models() -> list[Model]:
    """All models, in a fixed order."""
    import ml_dtypes

    bfloat16 = ml_dtypes.bfloat16
    return [
        mlp(),
        cnn(),
        residual_block(),
        residual_block(bfloat16),
        transformer_block(),
        transformer_block(bfloat16),
        lstm(),
        newton(),
        nested_if(),
    ]
