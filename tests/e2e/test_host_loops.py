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
