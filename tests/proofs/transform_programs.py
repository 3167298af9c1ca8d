"""JAX's transformations and control flow on small networks: grad, vmap, scan, loops, cond, custom derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.proofs.program import Program

_STREAM = np.random.default_rng(23)


def _normal(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (scale * _STREAM.standard_normal(shape)).astype(np.float32)


X, Y = _normal(5, 7), _normal(5, 3)
W1, B1, W2, B2 = _normal(7, 11, scale=0.4), _normal(11, scale=0.1), _normal(11, 3, scale=0.3), _normal(3, scale=0.1)
SQUARE, VECTOR = _normal(6, 6), _normal(6)
SYMMETRIC = (SQUARE @ SQUARE.T + 6 * np.eye(6)).astype(np.float32)
IMAGE, KERNEL = _normal(2, 9, 7, 3), _normal(3, 3, 3, 4, scale=0.3)
SEQUENCE = _normal(9, 4, 7)
LABELS = np.array([0, 2, 1, 1, 0], np.int32)


def _network(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    import jax.numpy as jnp

    return jnp.tanh(x @ w1 + b1) @ w2 + b2


def _loss(weights: Any, x: Any, y: Any) -> Any:
    import jax.numpy as jnp

    return jnp.mean(jnp.square(_network(x, *weights) - y))


def _gradients() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    import jax
    import jax.numpy as jnp
    from jax import lax

    weights = (W1, B1, W2, B2)
    yield "grad", jax.grad(_loss), (weights, X, Y)
    yield "value_and_grad", jax.value_and_grad(_loss, argnums=(0, 1)), (weights, X, Y)
    yield "jacfwd", jax.jacfwd(lambda x: _network(x, *weights)), (X[0],)
    yield "jacrev", jax.jacrev(lambda x: _network(x, *weights)), (X[0],)
    yield "hessian", jax.hessian(lambda x: jnp.sum(jnp.sin(x) * (SQUARE @ x) ** 2)), (VECTOR,)
    yield "jvp", lambda x, t: jax.jvp(lambda v: _network(v, *weights), (x,), (t,)), (X, X * 0.3)
    yield "vjp", lambda x, t: jax.vjp(lambda v: _network(v, *weights), x)[1](t), (X, Y)
    yield "linearize", lambda x, t: jax.linearize(jnp.sin, x)[1](t), (X, X)
    yield "grad of grad", jax.grad(lambda s: jax.grad(lambda v: jnp.sin(v) * v**3)(s) ** 2), (np.float32(0.7),)
    yield "checkpoint", jax.grad(lambda w, x, y: jax.checkpoint(_loss)(w, x, y)), (weights, X, Y)
    policy = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
    yield "checkpoint, dots kept", jax.grad(jax.checkpoint(_loss, policy=policy)), (weights, X, Y)
    yield "stop_gradient", jax.grad(lambda x: jnp.sum(x * lax.stop_gradient(jnp.exp(x)))), (X,)
    for name, function in {
        "softmax": lambda x: jnp.sum(jax.nn.softmax(x) ** 2),
        "logsumexp": lambda x: jnp.sum(jax.nn.logsumexp(x, axis=1)),
        "sort": lambda x: jnp.sum(jnp.sort(x, axis=1) * jnp.arange(7.0)),
        "max": lambda x: jnp.sum(jnp.max(x, axis=0) ** 2),
        "cumsum": lambda x: jnp.sum(jnp.cumsum(x, axis=1) ** 2),
        "cumprod": lambda x: jnp.sum(jnp.cumprod(x, axis=1)),
        "gather": lambda x: jnp.sum(x[jnp.array([0, 4, 4, 9])] ** 2),
        "norm": lambda x: jnp.linalg.norm(x),
        "layer norm": lambda x: jnp.sum(jax.nn.standardize(x, axis=-1) ** 3),
        "gelu": lambda x: jnp.sum(jax.nn.gelu(x) ** 2),
        "erf and lgamma": lambda x: jnp.sum(jax.scipy.special.erf(x) * jax.scipy.special.gammaln(jnp.abs(x) + 1)),
        "where": lambda x: jnp.sum(jnp.where(x > 0, jnp.sqrt(jnp.abs(x) + 1), x**2)),
        "pad and slice": lambda x: jnp.sum(jnp.pad(x, ((1, 2), (0, 3)), mode="reflect")[1:6, ::2] ** 2),
    }.items():
        yield f"grad of {name}", jax.grad(function), (X,)
    for name, function in {
        "cholesky": lambda a: jnp.sum(jnp.linalg.cholesky(a) ** 3),
        "solve": lambda a: jnp.sum(jnp.linalg.solve(a, VECTOR) ** 2),
        "inv": lambda a: jnp.sum(jnp.linalg.inv(a)),
        "slogdet": lambda a: jnp.linalg.slogdet(a)[1],
        "eigh": lambda a: jnp.sum(jnp.linalg.eigh((a + a.T) / 2)[0] ** 2),
        "svd": lambda a: jnp.sum(jnp.linalg.svd(a, compute_uv=False)),
        "qr": lambda a: jnp.sum(jnp.linalg.qr(a)[1] ** 2),
        "matrix_power": lambda a: jnp.sum(jnp.linalg.matrix_power(a / 10, 3)),
        "fft": lambda a: jnp.sum(jnp.abs(jnp.fft.fft(a)) ** 2),
    }.items():
        yield f"grad of {name}", jax.grad(function), (SYMMETRIC,)
    convolution = {"dimension_numbers": ("NHWC", "HWIO", "NHWC")}
    for stride, padding in ((1, "SAME"), (2, "VALID"), (2, "SAME")):
        yield (
            f"grad of convolution, {stride} {padding}",
            jax.grad(
                lambda k, x, s=stride, p=padding: jnp.sum(
                    lax.conv_general_dilated(x, k, (s, s), p, **convolution) ** 2
                ),
                argnums=(0, 1),
            ),
            (KERNEL, IMAGE),
        )
    for name, start, operation in (("max", -np.inf, lax.max), ("sum", 0.0, lax.add)):
        yield (
            f"grad of {name} pooling",
            jax.grad(
                lambda x, i=start, o=operation: jnp.sum(
                    lax.reduce_window(x, i, o, (1, 3, 2, 1), (1, 2, 2, 1), "VALID") ** 2
                )
            ),
            (IMAGE,),
        )


def _mapped() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    import jax
    import jax.numpy as jnp
    from jax import lax

    weights = (W1, B1, W2, B2)
    yield "vmap", jax.vmap(lambda x: _network(x, *weights)), (X,)
    yield "vmap of grad", jax.vmap(jax.grad(lambda x: jnp.sum(_network(x, *weights) ** 2))), (X,)
    per_example = jax.vmap(jax.grad(_loss), in_axes=(None, 0, 0))
    yield "gradients of each example", per_example, (weights, X, Y)
    yield "vmap over axis 1", jax.vmap(jnp.dot, in_axes=(1, None), out_axes=0), (SQUARE, VECTOR)
    yield "vmap twice", jax.vmap(jax.vmap(lambda a, b: jnp.sin(a) * b, (0, None)), (None, 0)), (VECTOR, VECTOR[:4])
    yield "vmap of cond", jax.vmap(lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)), (X,)
    counted = lambda x: lax.while_loop(lambda s: s < 50, lambda s: s * 1.5 + 1, jnp.abs(x))  # noqa: E731
    yield "vmap of while", jax.vmap(counted), (VECTOR,)
    yield "vmap of scan", jax.vmap(lambda x: lax.scan(lambda c, v: (c + v, c * v), 0.0, x)), (X,)
    yield "vmap of switch", jax.vmap(lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.exp], x)), (LABELS, VECTOR[:5])
    yield "vmap of cholesky", jax.vmap(jnp.linalg.cholesky), (np.stack([SYMMETRIC, SYMMETRIC + np.eye(6, dtype="f")]),)
    yield "vmap of gather", jax.vmap(lambda x, i: x[i]), (X, LABELS)
    yield "vmap of dynamic slice", jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (3,))), (X, LABELS)
    yield "vmap of sort", jax.vmap(jnp.argsort), (X,)


def _flow() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    import jax
    import jax.numpy as jnp
    from jax import lax

    def recur(h: Any, x: Any) -> Any:
        h = jnp.tanh(x @ W1 + h)
        return h, h @ W2

    start = np.zeros((4, 11), np.float32)
    total = lambda xs: jnp.sum(lax.scan(recur, jnp.asarray(start).astype(xs.dtype), xs)[1] ** 2)  # noqa: E731
    yield "scan", lambda h, xs: lax.scan(recur, h, xs), (start, SEQUENCE)
    yield "scan in reverse", lambda h, xs: lax.scan(recur, h, xs, reverse=True), (start, SEQUENCE)
    yield "scan unrolled", lambda h, xs: lax.scan(recur, h, xs, unroll=3), (start, SEQUENCE)
    yield "scan of nothing", lambda h, xs: lax.scan(recur, h, xs), (start, SEQUENCE[:0])
    yield "grad of scan", jax.grad(total), (SEQUENCE,)
    checkpointed = lambda xs: jnp.sum(lax.scan(jax.checkpoint(recur), jnp.zeros_like(xs, shape=(4, 11)), xs)[1])  # noqa: E731
    yield "grad of scan, checkpointed", jax.grad(checkpointed), (SEQUENCE,)
    yield "associative_scan", lambda x: lax.associative_scan(jnp.multiply, x, axis=1), (X,)
    yield "map", lambda x: lax.map(lambda row: jnp.cumsum(row)[::-1], x), (X,)
    yield "map in batches", lambda x: lax.map(jnp.sin, x, batch_size=2), (X,)
    yield "fori_loop", lambda x, n: lax.fori_loop(0, n, lambda i, v: jnp.sin(v) + i, x), (X, np.int32(7))
    yield "fori_loop, known count", lambda x: lax.fori_loop(2, 9, lambda i, v: v.at[i % 5].add(1.5), x), (X,)
    yield "grad of fori_loop", jax.grad(lambda x: lax.fori_loop(0, 5, lambda _, v: jnp.sin(v) * 1.1, x).sum()), (X,)
    yield "while", lambda x: lax.while_loop(lambda v: v.sum() < 99, lambda v: v * v + 1, x), (X,)
    yield "while in while", _nested, (np.int32(9),)
    yield "cond", lambda p, x: lax.cond(p, jnp.sin, lambda v: v * 2, x), (np.bool_(False), X)
    branch = lambda p, x: lax.cond(p, lambda v: (v**2).sum(), lambda v: jnp.exp(v).sum(), x)  # noqa: E731
    yield "grad of cond", jax.grad(branch, argnums=1), (np.bool_(True), X)
    choose = lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda v: v, jnp.tanh], x)  # noqa: E731
    for index in (-5, 0, 2, 99):
        yield f"switch {index}", choose, (np.int32(index), X)
    yield "platform_dependent", lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos), (X,)
    yield "custom_root", _root, (np.float32(7.0),)
    yield "custom_linear_solve", _solve, (SYMMETRIC, VECTOR)
    yield "cg", lambda a, b: jax.scipy.sparse.linalg.cg(a, b, maxiter=30)[0], (SYMMETRIC, VECTOR)
    yield "ode by Runge and Kutta", _runge_kutta, (X,)
    yield "reduce of pairs", _pairs, (X, np.arange(35, dtype=np.int32).reshape(5, 7))


def _nested(n: Any) -> Any:
    """Numbers of Collatz's steps, summed: a loop decided by data within another."""
    import jax.numpy as jnp
    from jax import lax

    def steps(k: Any) -> Any:
        def body(state: Any) -> Any:
            value, count = state
            return jnp.where(value % 2 == 0, value // 2, 3 * value + 1), count + 1

        return lax.while_loop(lambda s: s[0] > 1, body, (k, jnp.int32(0)))[1]

    return lax.fori_loop(jnp.int32(1), n, lambda k, total: total + steps(k), jnp.int32(0))


def _root(x: Any) -> Any:
    import jax
    import jax.numpy as jnp
    from jax import lax

    def by_newton(f: Any, guess: Any) -> Any:
        step = jax.grad(f)
        return lax.fori_loop(0, 12, lambda _, v: v - f(v) / step(v), guess)

    def root(value: Any) -> Any:
        return lax.custom_root(lambda v: v**3 - value, jnp.ones_like(value) * 2, by_newton, lambda g, y: y / g(1.0))

    return root(x), jax.grad(root)(x)


def _solve(a: Any, b: Any) -> Any:
    import jax
    from jax import lax

    def function(a: Any, b: Any) -> Any:
        factor = jax.scipy.linalg.cho_factor(a)
        known = lambda _, v: jax.scipy.linalg.cho_solve(factor, v)  # noqa: E731
        return lax.custom_linear_solve(lambda v: a @ v, b, known, symmetric=True).sum()

    return jax.grad(function, argnums=(0, 1))(a, b)


def _runge_kutta(x: Any) -> Any:
    import jax.numpy as jnp
    from jax import lax

    def slope(v: Any) -> Any:
        return -v + jnp.sin(v) * 0.5

    def step(v: Any, _: Any) -> Any:
        a = slope(v)
        b = slope(v + 0.05 * a)
        c = slope(v + 0.05 * b)
        d = slope(v + 0.1 * c)
        return v + 0.1 / 6 * (a + 2 * b + 2 * c + d), v.sum()

    return lax.scan(step, x, None, length=20)


def _pairs(x: Any, i: Any) -> Any:
    import jax.numpy as jnp
    from jax import lax

    def larger(a: Any, b: Any) -> Any:
        left = a[0] >= b[0]
        return jnp.where(left, a[0], b[0]), jnp.where(left, a[1], b[1])

    return lax.reduce((x, i), (jnp.asarray(-np.inf, x.dtype), jnp.int32(-1)), larger, (1,))


def _custom() -> Iterator[tuple[str, Callable[..., Any], tuple[Any, ...]]]:
    import jax
    import jax.numpy as jnp

    @jax.custom_vjp
    def clipped(x: Any) -> Any:
        return x * 2

    clipped.defvjp(lambda x: (x * 2, x), lambda x, g: (jnp.clip(g, -0.5, 0.5) * jnp.sign(x),))

    @jax.custom_jvp
    def softplus(x: Any) -> Any:
        return jnp.log1p(jnp.exp(x))

    @softplus.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        return softplus(primals[0]), jax.nn.sigmoid(primals[0]) * tangents[0]

    @jax.custom_vjp
    def straight(x: Any) -> Any:
        return jnp.round(x)

    straight.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (g,))
    weights = (W1, B1, W2, B2)
    yield "custom_vjp", jax.grad(lambda x: jnp.sum(clipped(jnp.sin(x)) ** 2)), (X,)
    yield "custom_vjp, forward", clipped, (X,)
    yield "custom_jvp", jax.grad(lambda x: jnp.sum(softplus(x * 3) ** 2)), (X,)
    yield "custom_jvp twice", jax.grad(jax.grad(softplus)), (np.float32(0.3),)
    yield "vmap of custom_jvp", jax.vmap(jax.grad(softplus)), (VECTOR,)
    yield "straight through", jax.grad(lambda x: jnp.sum(straight(_network(x, *weights)) ** 2)), (X,)
    yield "closure_convert", lambda x: jax.closure_convert(lambda v: v * x, x)[0](x, x), (X,)
    yield "jit in jit", jax.jit(lambda x: jax.jit(_network)(x, *weights).sum()), (X,)
    yield "named_call", lambda x: jax.named_call(_network, name="net")(x, *weights), (X,)
    yield "cross entropy", jax.grad(_cross_entropy), (X @ W1 @ W2, LABELS)


def _cross_entropy(logits: Any, labels: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


def programs() -> Iterator[Program]:
    """One for each row of the groups above."""
    for group in (_gradients, _mapped, _flow, _custom):
        for name, function, arguments in group():
            yield Program(name, function, arguments)
