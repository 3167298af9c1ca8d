"""Above 4,096 elements no operation runs in plain scalar loops: the report of one program with many of them.

With TIREE_ALL_TYPES=1 in the environment also for the other types, which takes three times as long. Every fifth op of
StableHLO and CHLO has a program of its own, on one of its types; all of them on all types: `make strategies`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tiree
from tiree.testing.conformance import strategies
from tiree.testing.conformance.draws import DRAWS

jax = pytest.importorskip("jax", reason="its text is what is compiled")
lax, jnp = jax.lax, jax.numpy

TYPES = {"floats": ("float32",), "integers": ("uint8",), "booleans": ("bool",), "complex": ("complex64",)}
if os.environ.get("TIREE_ALL_TYPES"):
    TYPES["floats"] += ("bfloat16", "float16")
    TYPES["integers"] += ("int16", "int32")
MOVED: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda x: x.T,
    "reverse": lambda x: lax.rev(x, (0, 1)),
    "concatenate": lambda x: jnp.concatenate([x, x[:3]], 0),
    "pad": lambda x: lax.pad(x, x[0, 0], ((1, 2, 1), (0, 3, 2))),
    "slice": lambda x: x[1:60:2, 3:],
    "gather rows": lambda x: x[jnp.arange(90) % 61],
    "gather points": lambda x: x[jnp.arange(5000) % 61, jnp.arange(5000) % 127],
    "dynamic slice": lambda x: lax.dynamic_slice(x, (jnp.argmin(x[:, 0].real), 2), (50, 100)),
    "dynamic update": lambda x: lax.dynamic_update_slice(x, x[:9, :9], (jnp.argmin(x[:, 0].real), 2)),
    "scatter": lambda x: x.at[jnp.arange(70) % 61].set(x[0]),
    "select": lambda x: jnp.where(x == x[0], x, x[1]),
    "sort": lambda x: lax.sort(x.real, dimension=0),
    "roll": lambda x: jnp.roll(x, 3, 1),
}
COMPUTED: dict[str, Callable[[Any], Any]] = {
    "sum of all": lambda x: jnp.sum(x),
    "sum of rows": lambda x: jnp.sum(x, 1),
    "sum of columns": lambda x: jnp.sum(x, 0),
    "product": lambda x: jnp.prod(x, 0),
    "cumulative sum": lambda x: jnp.cumsum(x, 0),
    "cumulative product": lambda x: jnp.cumprod(x, 1),
    "matrix product": lambda x: x @ x.T,
    "convolution": lambda x: lax.conv(x[None, None], x[None, None, :3, :3], (1, 1), "SAME"),
    "scatter add": lambda x: x.at[jnp.arange(70) % 61].add(x[0]),
    "window": lambda x: lax.reduce_window(x, x.dtype.type(0), lax.add, (3, 2), (1, 2), "SAME"),
}
ORDERED: dict[str, Callable[[Any], Any]] = {
    "greatest": lambda x: jnp.max(x, 0),
    "place of the greatest": lambda x: jnp.argmax(x, 1),
    "greatest so far": lambda x: lax.cummax(x, 0),
    "top k": lambda x: lax.top_k(x, 5),
    "division": lambda x: x / 3,
    "power": lambda x: x**3,
    "maximum of windows": lambda x: lax.reduce_window(x, x[0, 0], lax.max, (3, 2), (1, 2), "SAME"),
}
FLOATS: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: jax.nn.softmax(x),
    "logsumexp": lambda x: jax.nn.logsumexp(x, 0),
    "cumulative logsumexp": lambda x: lax.cumlogsumexp(x, 0),
    "variance": lambda x: jnp.var(x, 1),
    "functions": lambda x: jnp.sin(x) + lax.erf(x) + jnp.tanh(x) + lax.lgamma(x) + jnp.log1p(abs(x)) ** 0.3,
    "gradient of a maximum of windows": lambda x: jax.grad(
        lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID").sum().astype(jnp.float32)
    )(x),
    "median": lambda x: jnp.median(x, 1),
}
SINGLE: dict[str, Callable[[Any], Any]] = {
    "fft": lambda x: jnp.fft.fft2(x),
    "rfft": lambda x: jnp.fft.rfft(x),
    "cholesky": lambda x: jnp.linalg.cholesky(x @ x.T + 99 * jnp.eye(61)),
    "solve": lambda x: jnp.linalg.solve(jnp.tile(x, (3, 1))[:127], jnp.ones((127, 40))),
    "qr": lambda x: jnp.linalg.qr(x),
    "random": lambda x: jax.random.normal(jax.random.key(0), (61, 127)) + x,
}


def _cases() -> Iterator[tuple[str, str, Callable[[Any], Any]]]:
    """(type, name, function of a matrix)."""
    for kind, types in TYPES.items():
        for element in types:
            tables = [MOVED]
            if kind != "booleans":
                tables.append(COMPUTED)
            if kind in ("floats", "integers"):
                tables.append(ORDERED)
            if kind == "floats":
                tables.append(FLOATS)
            if element == "float32":
                tables.append(SINGLE)
            for table in tables:
                for name, function in table.items():
                    yield element, name, function


@pytest.mark.parametrize("element", [element for types in TYPES.values() for element in types])
def test_strategies(element: str, tmp_path: Path) -> None:
    named = [(name, function) for of, name, function in _cases() if of == element]
    x = jax.ShapeDtypeStruct((61, 127), jnp.dtype(element))

    def program(value: Any) -> Any:
        return [function(value) for _, function in named]

    report = tmp_path / "report.json"
    tiree.compile(jax.jit(program).lower(x).as_text(), flags=[f"--tiree-report={report}"])
    found = {one["export"]: one["strategy"] for one in _dispatches(json.loads(report.read_text()))}
    assert len(found) > 10
    assert [export for export, strategy in found.items() if strategy == "scalar-fallback"] == []


def _dispatches(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if "strategy" in value and "export" in value:
            yield value
        for inner in value.values():
            yield from _dispatches(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _dispatches(inner)


@pytest.mark.parametrize("op", list(DRAWS)[::5])
def test_ops(op: str) -> None:
    element = DRAWS[op].elements[0]
    found = strategies.look(op, element, 1)
    if (op, element) not in strategies.documented():
        assert found.fallbacks == []


def test_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dispatch that is one, by its size and strategy; the programs are large."""
    monkeypatch.setattr(strategies, "FALLBACK", "elementwise")
    found = strategies.look("stablehlo.sine", "f32", 2)
    assert found.large >= 2
    assert len(found.fallbacks) == found.large
