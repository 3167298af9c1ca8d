"""Ten networks as JAX functions, for comparisons of whole compilations. Weights are seeded, sizes are the usual ones.

A network takes `w`, which gives the next weight of a shape, and its inputs. The shapes are found by one abstract run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Weight = Callable[..., Any]


MOST_CONSTANTS = 64 << 20


@dataclass(frozen=True)
class Network:
    """`function(w, *inputs)`. `symbols` names the dimension of each input that is `?`, by input."""

    name: str
    function: Callable[..., Any]
    shapes: Sequence[tuple[int, ...]]
    tokens: int = 0
    """Below which integer inputs are; 0: the inputs are f32."""
    dynamic: bool = False
    """Whether the first dimension of the inputs is `?`."""

    @cached_property
    def inputs(self) -> list[np.ndarray]:
        stream = np.random.default_rng(zlib.crc32(self.name.encode()))
        if self.tokens:
            return [stream.integers(0, self.tokens, shape, np.int32) for shape in self.shapes]
        return [stream.standard_normal(shape, np.float32) for shape in self.shapes]

    @cached_property
    def weight_shapes(self) -> list[tuple[int, ...]]:
        found: list[tuple[int, ...]] = []

        def w(*shape: int) -> Any:
            found.append(shape)
            return jnp.zeros(shape, jnp.float32)

        jax.eval_shape(lambda *inputs: self.function(w, *inputs), *self.inputs)
        return found

    @cached_property
    def weights(self) -> list[np.ndarray]:
        """Normal values of variance 1 / fan-in."""
        stream = np.random.default_rng(zlib.crc32(self.name.encode()) + 1)
        return [
            stream.standard_normal(shape, np.float32) / np.float32(np.sqrt(max(1, np.prod(shape[:-1]))))
            for shape in self.weight_shapes
        ]

    @cached_property
    def weight_bytes(self) -> int:
        return sum(4 * int(np.prod(shape)) for shape in self.weight_shapes)

    @property
    def holds_weights(self) -> bool:
        """Whether the weights are constants of the module; those of the largest are arguments."""
        return self.weight_bytes < MOST_CONSTANTS

    @property
    def arguments(self) -> list[np.ndarray]:
        return self.inputs if self.holds_weights else [*self.inputs, *self.weights]

    def __call__(self, *arguments: Any) -> Any:
        weights = self.weights if self.holds_weights else arguments[len(self.shapes) :]
        given: Iterator[Any] = iter(weights)
        return self.function(lambda *_: next(given), *arguments[: len(self.shapes)])

    def text(self) -> str:
        """StableHLO; the function is `main`."""
        specs = [jax.ShapeDtypeStruct(shape, jnp.int32 if self.tokens else jnp.float32) for shape in self.shapes]
        if not self.holds_weights:
            specs += [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in self.weight_shapes]
        if self.dynamic:
            from jax import export

            rest = ", ".join(map(str, self.shapes[0][1:]))
            specs[0] = jax.ShapeDtypeStruct(export.symbolic_shape(f"b, {rest}"), specs[0].dtype)
            return str(export.export(jax.jit(self.__call__))(*specs).mlir_module())
        return jax.jit(self.__call__).lower(*specs).as_text()


def _dense(w: Weight, x: Any, width: int) -> Any:
    return x @ w(x.shape[-1], width) + w(width)


def _conv(w: Weight, x: Any, width: int, size: int, stride: int = 1, groups: int = 1, relu: float | None = None) -> Any:
    """A convolution on NHWC, a normalisation that became a factor and a term, and ReLU up to `relu`."""
    kernel = w(size, size, x.shape[-1] // groups, width)
    numbers = ("NHWC", "HWIO", "NHWC")
    y = lax.conv_general_dilated(
        x, kernel, (stride, stride), "SAME", dimension_numbers=numbers, feature_group_count=groups
    )
    y = y * w(width) + w(width)
    return y if relu is None else jnp.clip(y, 0, relu)


def _norm(w: Weight, x: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * w(x.shape[-1]) + w(x.shape[-1])


def _heads(x: Any, heads: int) -> Any:
    return x.reshape(*x.shape[:-1], heads, -1).swapaxes(-2, -3)


def _attend(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    scores = q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(q.shape[-1]))
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    y = jax.nn.softmax(scores, -1) @ v
    y = y.swapaxes(-2, -3)
    return y.reshape(*y.shape[:-2], -1)


def _feed_forward(w: Weight, x: Any) -> Any:
    return _dense(w, jax.nn.gelu(_dense(w, x, 4 * x.shape[-1]), approximate=True), x.shape[-1])


def mlp(w: Weight, x: Any) -> Any:
    for width in (512, 512):
        x = jax.nn.relu(_dense(w, x, width))
    return _dense(w, x, 10)


def cnn(w: Weight, x: Any) -> Any:
    for width in (32, 64):
        x = _conv(w, x, width, 3, relu=np.inf)
        x = lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.nn.relu(_dense(w, x.reshape(x.shape[0], -1), 128))
    return _dense(w, x, 10)


def resnet50(w: Weight, x: Any) -> Any:
    x = _conv(w, x, 64, 7, 2, relu=np.inf)
    x = lax.reduce_window(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if block == 0 and stage else 1
            y = _conv(w, x, width, 1, relu=np.inf)
            y = _conv(w, y, width, 3, stride, relu=np.inf)
            y = _conv(w, y, 4 * width, 1)
            x = jax.nn.relu(y + (_conv(w, x, 4 * width, 1, stride) if block == 0 else x))
    return _dense(w, x.mean((1, 2)), 1000)


def mobilenet_v2(w: Weight, x: Any) -> Any:
    x = _conv(w, x, 32, 3, 2, relu=6)
    for expand, width, count, first in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for number in range(count):
            inner = expand * x.shape[-1]
            y = _conv(w, x, inner, 1, relu=6) if expand > 1 else x
            y = _conv(w, y, inner, 3, 1 if number else first, groups=inner, relu=6)
            y = _conv(w, y, width, 1)
            x = x + y if number else y
    x = _conv(w, x, 1280, 1, relu=6)
    return _dense(w, x.mean((1, 2)), 1000)


def _encoder(w: Weight, x: Any, heads: int) -> Any:
    """One block of BERT: normalisation behind each half."""
    q, k, v = (_heads(_dense(w, x, x.shape[-1]), heads) for _ in range(3))
    x = _norm(w, x + _dense(w, _attend(q, k, v), x.shape[-1]))
    return _norm(w, x + _feed_forward(w, x))


def bert(w: Weight, ids: Any, layers: int = 12, width: int = 768) -> Any:
    x = _norm(w, w(30522, width)[ids] + w(ids.shape[-1], width))
    for _ in range(layers):
        x = _encoder(w, x, width // 64)
    return jnp.tanh(_dense(w, x[:, 0], width))


def vit(w: Weight, x: Any, layers: int = 12, width: int = 192) -> Any:
    """ViT-tiny on patches of 16 x 16."""
    batch, side = x.shape[0], x.shape[1] // 16
    x = x.reshape(batch, side, 16, side, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(batch, side * side, 768)
    x = _dense(w, x, width)
    x = jnp.concatenate([jnp.broadcast_to(w(1, 1, width), (batch, 1, width)), x], 1) + w(side * side + 1, width)
    for _ in range(layers):
        y = _norm(w, x)
        q, k, v = (_heads(part, 3) for part in jnp.split(_dense(w, y, 3 * width), 3, -1))
        x = x + _dense(w, _attend(q, k, v), width)
        x = x + _feed_forward(w, _norm(w, x))
    return _dense(w, _norm(w, x)[:, 0], 1000)


def gpt2(w: Weight, ids: Any, layers: int = 12, width: int = 768, new: int = 16) -> Any:
    """Prefill of the prompt, then `new` tokens in a loop, each the likeliest, on a cache of keys and values."""
    batch, prompt = ids.shape
    length, heads = prompt + new, width // 64
    embedding, positions = w(50257, width), w(length, width)
    attention = [(width,), (width,), (width, 3 * width), (3 * width,), (width, width), (width,)]
    feed_forward = [(width,), (width,), (width, 4 * width), (4 * width,), (4 * width, width), (width,)]
    blocks = [[w(*shape) for shape in attention + feed_forward] for _ in range(layers)]
    final = [w(width), w(width)]

    def step(ids: Any, start: Any, caches: Any) -> Any:
        """Logits of the last token, and the caches with what is new."""
        count = ids.shape[1]
        x = embedding[ids] + lax.dynamic_slice(positions, (start, 0), (count, width))
        mask = jnp.arange(length)[None] <= start + jnp.arange(count)[:, None]
        grown = []
        for weights, (keys, values) in zip(blocks, caches, strict=True):
            given = iter(weights)

            def v(*_: int, given: Iterator[Any] = given) -> Any:
                return next(given)

            parts = jnp.split(_dense(v, _norm(v, x), 3 * width), 3, -1)
            query, key, value = (_heads(part, heads) for part in parts)
            keys = lax.dynamic_update_slice(keys, key, (0, 0, start, 0))
            values = lax.dynamic_update_slice(values, value, (0, 0, start, 0))
            x = x + _dense(v, _attend(query, keys, values, mask), width)
            x = x + _feed_forward(v, _norm(v, x))
            grown.append((keys, values))
        given = iter(final)
        return _norm(lambda *_: next(given), x[:, -1]) @ embedding.T, grown

    empty = jnp.zeros((batch, heads, length, 64), jnp.float32)
    logits, caches = step(ids, 0, [(empty, empty)] * layers)

    def decode(number: Any, state: Any) -> Any:
        tokens, logits, caches = state
        token = jnp.argmax(logits, -1).astype(jnp.int32)
        tokens = lax.dynamic_update_slice(tokens, token[:, None], (0, number))
        logits, caches = step(token[:, None], prompt + number, caches)
        return tokens, logits, caches

    tokens, logits, _ = lax.fori_loop(0, new, decode, (jnp.zeros((batch, new), jnp.int32), logits, caches))
    return tokens, logits


def lstm(w: Weight, x: Any, width: int = 100) -> Any:
    inner, outer, bias = w(x.shape[-1], 4 * width), w(width, 4 * width), w(4 * width)

    def step(state: Any, x: Any) -> Any:
        h, c = state
        i, f, g, o = jnp.split(x @ inner + h @ outer + bias, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((x.shape[1], width), jnp.float32)
    return lax.scan(step, (zero, zero), x)[1]


def unet(w: Weight, x: Any, width: int = 32) -> Any:
    """Four levels; the way up is repetition of pixels and a convolution."""
    levels = []
    for level in range(4):
        x = _conv(w, _conv(w, x, width << level, 3, relu=np.inf), width << level, 3, relu=np.inf)
        levels.append(x)
        x = lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = _conv(w, _conv(w, x, width << 4, 3, relu=np.inf), width << 4, 3, relu=np.inf)
    for level in reversed(range(4)):
        x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
        x = jnp.concatenate([levels[level], _conv(w, x, width << level, 3)], -1)
        x = _conv(w, _conv(w, x, width << level, 3, relu=np.inf), width << level, 3, relu=np.inf)
    return _conv(w, x, 2, 1)


NETWORKS = {
    network.name: network
    for network in (
        Network("mlp", mlp, [(32, 784)]),
        Network("cnn", cnn, [(8, 28, 28, 1)]),
        Network("resnet50", resnet50, [(1, 224, 224, 3)]),
        Network("mobilenet_v2", mobilenet_v2, [(1, 224, 224, 3)]),
        Network("bert", bert, [(1, 128)], tokens=30522),
        Network("gpt2", gpt2, [(1, 64)], tokens=50257),
        Network("vit", vit, [(1, 224, 224, 3)]),
        Network("lstm", lstm, [(100, 8, 64)]),
        Network("unet", unet, [(1, 128, 128, 3)]),
        Network("dynamic_mlp", mlp, [(32, 784)], dynamic=True),
    )
}
