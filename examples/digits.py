"""Handwritten digits, end to end: train in JAX, compile with Tiree, classify every held-out image.

    python examples/digits.py [--device local-task] [--save DIR]

Trains an MLP and a small CNN on the digits that scikit-learn ships (1,797 images of 8x8), exports each as StableHLO
with its weights inside, compiles both to a `.vmfb`, runs all held-out images through Tiree and compares with JAX:
logits to 1e-4, every predicted class equal. Exits with 1 when they differ. Takes well under two minutes on two cores.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tiree
from sklearn.datasets import load_digits

BATCH = 30
Params = dict[str, jax.Array]


def load_data() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(train images, train labels, test images, test labels); images are f32[n, 8, 8, 1] in 0..1."""
    digits = load_digits()
    images = (digits.images / 16.0).astype(np.float32)[..., None]
    order = np.random.default_rng(0).permutation(len(images))
    test, train = order[:360], order[360:]
    return images[train], digits.target[train], images[test], digits.target[test]


def init(shapes: dict[str, tuple[int, ...]]) -> Params:
    """He-initialised weights, zero biases, from a fixed seed."""
    params = {}
    for key, (name, shape) in zip(jax.random.split(jax.random.key(1), len(shapes)), shapes.items(), strict=True):
        fan_in = int(np.prod(shape[:-1])) if len(shape) > 1 else 1
        params[name] = jax.random.normal(key, shape) * np.sqrt(2 / fan_in) if len(shape) > 1 else jnp.zeros(shape)
    return params


MLP_SHAPES = {"w1": (64, 128), "b1": (128,), "w2": (128, 64), "b2": (64,), "w3": (64, 10), "b3": (10,)}


def mlp(params: Params, images: jax.Array) -> jax.Array:
    """f32[n, 8, 8, 1] -> logits f32[n, 10]."""
    x = images.reshape(images.shape[0], 64)
    x = jax.nn.relu(x @ params["w1"] + params["b1"])
    x = jax.nn.relu(x @ params["w2"] + params["b2"])
    return x @ params["w3"] + params["b3"]


CNN_SHAPES = {
    "c1": (3, 3, 1, 16), "d1": (16,), "c2": (3, 3, 16, 32), "d2": (32,), "w1": (128, 64), "b1": (64,), "w2": (64, 10),
    "b2": (10,),
}  # fmt: skip


def cnn(params: Params, images: jax.Array) -> jax.Array:
    """Two convolutions with pooling, then two dense layers: f32[n, 8, 8, 1] -> logits f32[n, 10]."""

    def conv(x: jax.Array, w: jax.Array, b: jax.Array) -> jax.Array:
        y = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jax.nn.relu(y + b)

    def pool(x: jax.Array) -> jax.Array:
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    x = pool(conv(images, params["c1"], params["d1"]))
    x = pool(conv(x, params["c2"], params["d2"]))
    x = jax.nn.relu(x.reshape(x.shape[0], -1) @ params["w1"] + params["b1"])
    return x @ params["w2"] + params["b2"]


def train(
    model: Callable[[Params, jax.Array], jax.Array], params: Params, images: np.ndarray, labels: np.ndarray
) -> Params:
    """Adam on the cross entropy, a fixed number of steps."""

    def loss(p: Params, x: jax.Array, y: jax.Array) -> jax.Array:
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(model(p, x)), y[:, None], 1))

    @jax.jit
    def step(
        p: Params, m: Params, v: Params, t: jax.Array, x: jax.Array, y: jax.Array
    ) -> tuple[Params, Params, Params]:
        g = jax.grad(loss)(p, x, y)
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, v, g)
        scale = 2e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        return jax.tree.map(lambda a, b, c: a - scale * b / (jnp.sqrt(c) + 1e-8), p, m, v), m, v

    m = jax.tree.map(jnp.zeros_like, params)
    v = jax.tree.map(jnp.zeros_like, params)
    rng = np.random.default_rng(2)
    for t in range(1, 301):
        batch = rng.integers(0, len(images), 128)
        params, m, v = step(params, m, v, jnp.float32(t), images[batch], labels[batch])
    return params


def classify(function: Callable[[np.ndarray], Any], images: np.ndarray) -> np.ndarray:
    """Logits of all images, a batch at a time."""
    return np.concatenate([np.asarray(function(images[i : i + BATCH])) for i in range(0, len(images), BATCH)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="local-task", help="local-task (default) or local-sync")
    parser.add_argument("--save", type=Path, help="keep the .mlir and .vmfb files in this directory")
    arguments = parser.parse_args()

    train_images, train_labels, images, labels = load_data()
    failures = 0
    for name, model, shapes in (("mlp", mlp, MLP_SHAPES), ("cnn", cnn, CNN_SHAPES)):
        params = train(model, init(shapes), train_images, train_labels)
        trained = jax.jit(lambda x, model=model, params=params: model(params, x))

        start = time.perf_counter()
        text = trained.lower(jax.ShapeDtypeStruct((BATCH, 8, 8, 1), jnp.float32)).as_text()
        artifact = tiree.compile(text)
        seconds = time.perf_counter() - start
        if arguments.save:
            arguments.save.mkdir(parents=True, exist_ok=True)
            (arguments.save / f"{name}.mlir").write_text(text)
            (arguments.save / f"{name}.vmfb").write_bytes(artifact)

        ours = classify(tiree.load(artifact, device=arguments.device).main, images)
        theirs = classify(trained, images)
        error = float(np.max(np.abs(ours - theirs)))
        agree = int(np.sum(ours.argmax(1) == theirs.argmax(1)))
        correct = int(np.sum(ours.argmax(1) == labels))
        ok = error <= 1e-4 and agree == len(images)
        failures += not ok
        print(
            f"{name}: compiled in {seconds:.2f} s to {len(artifact):,} bytes; largest logit difference from JAX "
            f"{error:.1e}; {agree}/{len(images)} predictions equal; {correct}/{len(images)} right"
            f"{'' if ok else '  <-- DIFFERS'}"
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
