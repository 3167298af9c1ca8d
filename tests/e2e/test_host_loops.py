"""Loops that choose by what the host knows read nothing back; those that choose by data do. Values by JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree

jax = pytest.importorskip("jax")
lax, jnp = jax.lax, jax.numpy

X = np.linspace(-1, 1, 8, dtype=np.float32)


def grow(y: Any) -> Any:
    return y + 1


def halve(y: Any) -> Any:
    return y * 0.5


def shift(y: Any) -> Any:
    return y - 0.25


def loop(condition: Callable[..., Any], count: int = 6) -> Callable[[Any], Any]:
    """A counted loop whose turns choose by `condition` of the counter."""
    return lambda x: lax.fori_loop(0, count, lambda i, y: lax.cond(condition(i), grow, halve, y), x)


def scan(elements: Any, body: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    return lambda x: lax.scan(lambda carry, each: (body(carry, each), carry.sum()), x, elements)


def while_(condition: Callable[[Any], Any], start: Any, step: Callable[..., Any], test: Callable[..., Any]) -> Any:
    def body(state: Any) -> Any:
        k, y = state
        return step(k), lax.cond(test(k), grow, halve, y)

    return lambda x: lax.while_loop(lambda state: condition(state[0]), body, (start, x))


def nested(x: Any) -> Any:
    def inner(i: Any, y: Any) -> Any:
        return lax.fori_loop(0, 4, lambda j, z: lax.cond((i + j) % 2 == 0, grow, halve, z), y)

    return lax.fori_loop(0, 3, inner, x)


def triangle(x: Any) -> Any:
    return lax.fori_loop(0, 4, lambda i, y: lax.fori_loop(0, i, lambda _, z: halve(z) + 1, y), x)


def second_counter(x: Any) -> Any:
    def body(_: Any, state: Any) -> Any:
        j, y = state
        return j * 2 + 1, lax.cond(j > 5, grow, halve, y)

    return lax.fori_loop(0, 6, body, (0, x))


def chosen_counter(x: Any) -> Any:
    """A number that a conditional hands on, and the next condition reads."""

    def body(i: Any, state: Any) -> Any:
        k, y = state
        k = lax.cond(i % 3 == 1, lambda k: k + 2, lambda k: k, k)
        return k, lax.cond(k > 3, grow, halve, y)

    return lax.fori_loop(0, 7, body, (0, x))


def float_counter(x: Any) -> Any:
    def body(_: Any, state: Any) -> Any:
        t, y = state
        return t + 0.5, lax.cond(t > 1.0, grow, halve, y)

    return lax.fori_loop(0, 6, body, (0.0, x))


HOST: dict[str, Callable[[Any], Any]] = {
    "parity": loop(lambda i: (i & 1) == 1),
    "remainder": loop(lambda i: i % 3 == 0, 9),
    "first half": loop(lambda i: i < 3),
    "from the end": loop(lambda i: 5 - i < 2),
    "switch": lambda x: lax.fori_loop(0, 6, lambda i, y: lax.switch(i % 3, [grow, halve, shift], y), x),
    "clamped switch": lambda x: lax.fori_loop(0, 6, lambda i, y: lax.switch(i - 1, [grow, halve, shift], y), x),
    "scan of iota": scan(np.arange(6), lambda y, e: lax.cond(e % 2 == 0, grow, halve, y)),
    "scan of a table": scan(np.array([1, 0, 0, 1], np.int32), lambda y, e: lax.cond(e > 0, grow, halve, y)),
    "switch in scan": scan(np.arange(6), lambda y, e: lax.switch(e % 3, [grow, halve, shift], y)),
    "by two": while_(lambda k: k < 12, 0, lambda k: k + 2, lambda k: k // 2 % 2 == 0),
    "downwards": while_(lambda k: k > 0, 6, lambda k: k - 1, lambda k: k > 2),
    "until equal": while_(lambda k: k != 6, 0, lambda k: k + 1, lambda k: k * k > 10),
    "doubling": while_(lambda k: k < 100, 1, lambda k: k * 2, lambda k: k > 7),
    "nested": nested,
    "triangle": triangle,
    "second counter": second_counter,
    "chosen counter": chosen_counter,
    "float counter": float_counter,
}


def compiled(function: Callable[..., Any], *arguments: Any) -> tuple[str, bytes]:
    """The schedule, and the artifact."""
    text = jax.jit(function).lower(*arguments).as_text()
    return tiree.compile(text, flags=["--compile-to=stream"]).decode(), bytes(tiree.compile(text))


def check(module: bytes, function: Callable[..., Any], *arguments: Any) -> None:
    want = jax.tree.leaves(function(*arguments))
    for device in ("local-sync", "local-task"):
        results = rt.load(module, device=device).main(*arguments)
        for got, wanted in zip(results if isinstance(results, tuple) else (results,), want, strict=True):
            np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", HOST)
def test_nothing_is_read_back(name: str) -> None:
    schedule, module = compiled(HOST[name], X)
    assert "stream.resource.load" not in schedule
    assert schedule.count("stream.timepoint.await") <= 1
    check(module, HOST[name], X)


def test_a_count_from_the_caller_is_read_once() -> None:
    def function(x: Any, n: Any) -> Any:
        return lax.fori_loop(0, n, lambda i, y: lax.cond(i % 2 == 0, grow, halve, y), x)

    schedule, module = compiled(function, X, np.int32(5))
    assert schedule.count("stream.resource.load") == 1
    assert schedule.index("stream.resource.load") < schedule.index("^bb1")
    for n in (0, 1, 5, -2):
        check(module, function, X, np.int32(n))


def test_data_of_the_device_is_read() -> None:
    def function(x: Any) -> Any:
        return lax.fori_loop(0, 6, lambda i, y: lax.cond((y[0] > 1) & (i > 1), grow, halve, y), x)

    schedule, module = compiled(function, X + 3)
    assert schedule.count("stream.resource.load") == 1
    check(module, function, X + 3)


@iree.needs_iree
@pytest.mark.parametrize("name", ["nested", "switch in scan", "downwards"])
def test_in_iree(name: str) -> None:
    _, module = compiled(HOST[name], X)
    for got, want in zip(iree.call(module, "main", [X], "local-task"), jax.tree.leaves(HOST[name](X)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


def drawn_rounds(x: Any) -> Any:
    """A loop whose turns run a loop of their own length, read from data, over numbers that no turn changes."""
    limits = jnp.array([3, 1, 4], jnp.int32)

    def inner(state: Any) -> Any:
        k, y, scale = state
        return k + 1, y * scale + 1, scale

    def outer(i: Any, state: Any) -> Any:
        y, total = state
        rounds = lax.cond(
            total > 2.0, lambda: lax.while_loop(lambda s: s[0] < limits[i], inner, (0, y, total))[1], grow_y
        )
        return rounds, total - rounds[0]

    def grow_y() -> Any:
        return x + 1

    return lax.fori_loop(0, 3, outer, (x, 5.0))


def multinomial(x: Any) -> Any:
    """Binomials in a loop, each drawn by loops of its own, from what the ones before have left."""
    key = jax.random.wrap_key_data(x.astype(jnp.int32)[:2].astype(jnp.uint32))
    return jax.random.multinomial(key, 5.0, jnp.array([0.2, 0.3, 0.5]))


@pytest.mark.parametrize("function", [drawn_rounds, multinomial, nested, triangle], ids=lambda one: one.__name__)
def test_no_pass_leaves_uses_behind(function: Callable[[Any], Any]) -> None:
    """A pass that tried to compute something on the host left a read of it in no block; its value could not go."""
    from tiree.dialects import read_module
    from tiree.pipeline import run_pipeline
    from tiree.pipeline_observers import VerifyEach
    from tiree.support.options import CompileOptions

    text = jax.jit(function).lower(X).as_text()
    run_pipeline(read_module(text), CompileOptions(), compile_to="vm", observers=[VerifyEach()])
    got = rt.load(tiree.compile(text)).main(X)
    for one, wanted in zip(jax.tree.leaves(got), jax.tree.leaves(jax.jit(function)(X)), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(wanted), rtol=1e-6)
