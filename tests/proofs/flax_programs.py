"""Networks of Flax, forward and gradient; steps of optax's optimisers; training of 100 steps in one module.

Training is compared by its loss curve and its final weights. A network amplifies rounding while it learns, JAX's as
well as Tiree's: both distances from the same training in f64 are taken, and `Program` says how they are compared.
Learning rates are those at which the loss falls, so the training is stable and the distances grow with the number of
steps, not exponentially.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.proofs.program import Program

STEPS = 100
_STREAM = np.random.default_rng(31)
IMAGES = _STREAM.standard_normal((4, 10, 10, 3)).astype(np.float32)
TOKENS = _STREAM.integers(0, 31, (2, 9)).astype(np.int32)
SEQUENCE = _STREAM.standard_normal((3, 8, 6)).astype(np.float32)
CLASSES = np.array([0, 3, 1, 4], np.int32)
POINTS = _STREAM.standard_normal((64, 5)).astype(np.float32)
VALUES = (np.sin(POINTS[:, :1]) + 0.5 * POINTS[:, 1:2] * POINTS[:, 2:3]).astype(np.float32)
RATE = 0.05


def _modules(kind: Any = np.float32) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Networks by name, with what they are applied to; recurrent ones begin with zeros of type `kind`."""
    from flax import linen as nn

    class Convolutional(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = nn.relu(nn.Conv(8, (3, 3))(x))
            x = nn.max_pool(x, (2, 2), (2, 2))
            x = nn.relu(nn.GroupNorm(4)(nn.Conv(12, (3, 3), strides=(2, 2), padding="VALID")(x)))
            x = nn.avg_pool(x, (2, 2), (1, 1), padding="SAME")
            x = nn.Conv(12, (3, 3), feature_group_count=4)(x)
            return nn.Dense(5)(nn.gelu(nn.Dense(16)(x.reshape(x.shape[0], -1))))

    class Upwards(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = nn.swish(nn.Conv(6, (4, 4), strides=(2, 2))(x))
            x = nn.silu(nn.ConvTranspose(5, (3, 3), strides=(2, 2))(x))
            return nn.sigmoid(nn.Conv(3, (1, 1))(nn.RMSNorm()(x)))

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x: Any, mask: Any) -> Any:
            y = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=4)(y, y, mask=mask)
            y = nn.Dense(64)(nn.LayerNorm()(x))
            return x + nn.Dense(16)(nn.gelu(y))

    class Transformer(nn.Module):
        @nn.compact
        def __call__(self, ids: Any) -> Any:
            table = nn.Embed(31, 16)
            positions = self.param("positions", nn.initializers.normal(0.1), (9, 16))
            x, mask = table(ids) + positions, nn.make_causal_mask(ids)
            for _ in range(2):
                x = Block()(x, mask)
            return table.attend(nn.LayerNorm()(x))

    def recurrent(cell: Any) -> Any:
        class Recurrent(nn.Module):
            @nn.compact
            def __call__(self, x: Any) -> Any:
                return nn.Dense(2)(nn.RNN(cell(features=7, param_dtype=kind))(x))

        return Recurrent()

    class Both(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            return nn.Bidirectional(*(nn.RNN(nn.GRUCell(5, param_dtype=kind)) for _ in range(2)))(x)

    class Bottleneck(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            y = nn.Dense(3)(nn.WeightNorm(nn.Dense(9))(x))
            return nn.DenseGeneral((2, 4), axis=(-1,))(nn.PReLU()(nn.Einsum((3, 6), "abc,cd->abd")(y)))

    return {
        "CNN": (Convolutional(), (IMAGES,)),
        "up and down": (Upwards(), (IMAGES,)),
        "transformer": (Transformer(), (TOKENS,)),
        "GRU": (recurrent(nn.GRUCell), (SEQUENCE,)),
        "LSTM": (recurrent(nn.OptimizedLSTMCell), (SEQUENCE,)),
        "MGU": (recurrent(nn.MGUCell), (SEQUENCE,)),
        "GRU both ways": (Both(), (SEQUENCE,)),
        "dense layers": (Bottleneck(), (SEQUENCE,)),
    }


def _started(module: Any, inputs: tuple[Any, ...]) -> Any:
    """Weights of the shapes that Flax initialises: normal, those of kernels of variance 1 / fan-in."""
    import jax

    stream = np.random.default_rng(5)

    def fill(path: Any, leaf: Any) -> np.ndarray:
        drawn, name = stream.standard_normal(leaf.shape), path[-1].key
        if "kernel" in name or name == "embedding":
            return (drawn / np.sqrt(max(1, np.prod(leaf.shape[:-1])))).astype(leaf.dtype)
        return ((name not in ("bias", "mean", "positions")) + 0.1 * drawn).astype(leaf.dtype)

    shapes = jax.eval_shape(module.init, jax.random.PRNGKey(5), *inputs)
    return jax.tree_util.tree_map_with_path(fill, shapes)


def _networks() -> Iterator[Program]:
    import jax
    import jax.numpy as jnp

    def loss(module: Any) -> Callable[..., Any]:
        def of(weights: Any, x: Any) -> Any:
            result = module.apply(weights, x)
            return jnp.mean(jnp.square(result - 0.25 * jnp.roll(result, 1, axis=-1)))

        return of

    precise = _modules(np.float64)
    for name, (module, inputs) in _modules().items():
        wide, arguments = precise[name][0], (_started(module, inputs), *inputs)
        yield Program(f"{name}, forward", module.apply, arguments, in_f64=wide.apply)
        gradient, gradient_in_f64 = (jax.value_and_grad(loss(one)) for one in (module, wide))
        yield Program(f"{name}, gradient", gradient, arguments, in_f64=gradient_in_f64)
    yield from _normalised()
    yield from _nnx()


def _normalised() -> Iterator[Program]:
    """Batch normalisation in training, whose statistics are results, and dropout, whose key is an argument."""
    import jax
    from flax import linen as nn

    class Normalised(nn.Module):
        @nn.compact
        def __call__(self, x: Any, train: bool = True) -> Any:
            x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(nn.Conv(6, (3, 3))(x))
            return nn.Dense(4)(nn.relu(x).mean((1, 2)))

    module = Normalised()
    state = _started(module, (IMAGES,))

    def loss(weights: Any, statistics: Any, x: Any) -> Any:
        result, update = module.apply({"params": weights, "batch_stats": statistics}, x, mutable=["batch_stats"])
        return (result**2).mean(), update

    gradient = jax.value_and_grad(loss, has_aux=True)
    yield Program("batch norm, gradient", gradient, (state["params"], state["batch_stats"], IMAGES))
    yield Program("batch norm, forward", lambda s, x: module.apply(s, x, train=False), (state, IMAGES))
    dropout = nn.Dropout(0.4, deterministic=False)
    key = np.array([1, 2], np.uint32)
    yield Program("dropout", lambda x, k: dropout.apply({}, x, rngs={"dropout": k}), (IMAGES, key), draws=1.0)


def _nnx() -> Iterator[Program]:
    """The newer API of Flax."""
    import jax
    from flax import nnx

    class Network(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.convolution = nnx.Conv(3, 6, (3, 3), rngs=rngs)
            self.norm = nnx.LayerNorm(6, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(2, 6, decode=False, rngs=rngs)
            self.head = nnx.Linear(6, 5, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = self.norm(nnx.relu(self.convolution(x)))
            x = x.reshape(x.shape[0], -1, 6)
            return self.head(self.attention(x).mean(1))

    graph, state = nnx.split(Network(nnx.Rngs(3)))
    weights = jax.tree.map(np.asarray, nnx.to_pure_dict(state))

    def forward(weights: Any, x: Any) -> Any:
        fresh = jax.tree.map(lambda leaf: leaf, state)
        nnx.replace_by_pure_dict(fresh, weights)
        return nnx.merge(graph, fresh)(x)

    yield Program("nnx, forward", forward, (weights, IMAGES))
    yield Program("nnx, gradient", jax.grad(lambda w, x: (forward(w, x) ** 2).mean()), (weights, IMAGES))


def _optimisers() -> dict[str, Callable[[], Any]]:
    import optax

    schedule = optax.cosine_decay_schedule(RATE, STEPS)
    return {
        "SGD": lambda: optax.sgd(RATE),
        "momentum": lambda: optax.sgd(RATE / 2, momentum=0.9),
        "Nesterov": lambda: optax.sgd(RATE / 2, momentum=0.9, nesterov=True),
        "Adam": lambda: optax.adam(RATE / 5),
        "AdamW": lambda: optax.adamw(RATE / 5, weight_decay=0.01),
        "RMSProp": lambda: optax.rmsprop(RATE / 5),
        "Adagrad": lambda: optax.adagrad(RATE),
        "Lion": lambda: optax.lion(RATE / 50),
        "LAMB": lambda: optax.lamb(RATE / 5),
        "clipped Adam, decaying": lambda: optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule)),
    }


def _dense() -> tuple[Any, Any]:
    """A small network for regression, and its weights."""
    from flax import linen as nn

    module = nn.Sequential([nn.Dense(16), nn.tanh, nn.Dense(16), nn.tanh, nn.Dense(1)])
    return module, _started(module, (POINTS,))


def _regression(module: Any) -> Callable[..., Any]:
    import jax.numpy as jnp

    return lambda weights, x, y: jnp.mean(jnp.square(module.apply(weights, x) - y))


def _step(optimiser: Any, loss: Callable[..., Any]) -> Callable[..., Any]:
    import jax
    import optax

    def step(weights: Any, state: Any, *data: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(weights, *data)
        updates, state = optimiser.update(gradient, state, weights)
        return optax.apply_updates(weights, updates), state, value

    return step


def _steps() -> Iterator[Program]:
    """One step of each optimiser, its state an argument and a result."""
    import jax

    module, weights = _dense()
    for name, make in _optimisers().items():
        optimiser = make()
        state = jax.tree.map(np.asarray, optimiser.init(weights))
        function = _step(optimiser, _regression(module))
        yield Program(f"{name}, one step", function, (weights, state, POINTS, VALUES))


def _scanned(optimiser: Any, loss: Callable[..., Any], batch: int) -> Callable[..., Any]:
    """`STEPS` steps over the data, `batch` rows a step; gives the loss curve and the weights."""
    from jax import lax

    step = _step(optimiser, loss)

    def train(weights: Any, *data: Any) -> Any:
        def body(carried: Any, index: Any) -> Any:
            start = index * batch % data[0].shape[0]
            rows = [lax.dynamic_slice_in_dim(array, start, batch) for array in data]
            weights, state, value = step(*carried, *rows)
            return (weights, state), value

        (weights, _), curve = lax.scan(body, (weights, optimiser.init(weights)), np.arange(STEPS, dtype=np.int32))
        return curve, weights

    return train


def _looped(optimiser: Any, loss: Callable[..., Any]) -> Callable[..., Any]:
    """The same by `fori_loop`, with the curve written into an array."""
    import jax.numpy as jnp
    from jax import lax

    step = _step(optimiser, loss)

    def train(weights: Any, *data: Any) -> Any:
        def body(index: Any, carried: Any) -> Any:
            weights, state, curve = carried
            weights, state, value = step(weights, state, *data)
            return weights, state, curve.at[index].set(value)

        curve = jnp.zeros(STEPS, data[0].dtype)
        weights, _, curve = lax.fori_loop(0, STEPS, body, (weights, optimiser.init(weights), curve))
        return curve, weights

    return train


def _inside(train: Callable[..., Any], data: tuple[np.ndarray, ...]) -> Callable[..., Any]:
    """Data as constants of the module, of the type of the weights."""
    import jax

    def function(weights: Any) -> Any:
        kind = jax.tree.leaves(weights)[0].dtype
        return train(weights, *(jax.numpy.asarray(d, kind) if d.dtype.kind == "f" else d for d in data))

    return function


def _training() -> Iterator[Program]:
    import optax

    module, weights = _dense()
    loss, data = _regression(module), (POINTS, VALUES)
    for name in ("SGD", "momentum", "Adam"):
        optimiser = _optimisers()[name]()
        yield Program(f"{name}, {STEPS} steps", _inside(_scanned(optimiser, loss, 16), data), (weights,))
    whole = _looped(_optimisers()["Adam"](), loss)
    yield Program(f"Adam in fori_loop, {STEPS} steps", _inside(whole, data), (weights,))
    found, precise = _modules(), _modules(np.float64)
    for name, rate, labels in (("CNN", 0.02, (CLASSES,)), ("GRU", 0.02, ()), ("transformer", 0.003, ())):
        module, inputs = found[name]
        train, wide = (
            _inside(_scanned(optax.sgd(rate, 0.9), _loss_of(one), len(inputs[0])), (*inputs, *labels))
            for one in (module, precise[name][0])
        )
        yield Program(f"{name}, {STEPS} steps", train, (_started(module, inputs),), in_f64=wide)


def _loss_of(module: Any) -> Callable[..., Any]:
    """Cross entropy of labels that are given or of the next token, or the distance to the next point."""
    import jax.numpy as jnp
    import optax

    def loss(weights: Any, x: Any, *labels: Any) -> Any:
        entropy = optax.softmax_cross_entropy_with_integer_labels
        if labels:
            return entropy(module.apply(weights, x), labels[0]).mean()
        if x.dtype == jnp.int32:
            return entropy(module.apply(weights, x)[:, :-1], x[:, 1:]).mean()
        return jnp.mean(jnp.square(module.apply(weights, x[:, :-1]) - x[:, 1:, :2]))

    return loss


def programs() -> Iterator[Program]:
    """Networks, steps and training, in this order."""
    yield from _networks()
    yield from _steps()
    yield from _training()
