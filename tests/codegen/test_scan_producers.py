"""What stands before a cumulative reduction never makes it quadratic: its dispatch stays a `scan`, and right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree

jax = pytest.importorskip("jax", reason="programs come from JAX")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

BEFORE: dict[str, Callable[[Any], Any]] = {
    "wider float": lambda x: x.astype(jnp.float32),
    "wider integer": lambda x: x.astype(jnp.int8).astype(jnp.int32),
    "unsigned": lambda x: x.astype(jnp.uint8).astype(jnp.uint32),
    "truth": lambda x: (x > 0).astype(jnp.int32),
    "arithmetic": lambda x: -x * x,
    "choice": lambda x: jnp.where(x > 0, x, -x),
    "positions": lambda x: lax.iota(jnp.int32, x.size).reshape(x.shape),
    "real part": lambda x: lax.complex(x.astype(jnp.float32), x.astype(jnp.float32)).real,
    "turned": lambda x: x.T.astype(jnp.float32),
    "backwards": lambda x: x[::-1],
    "rows repeated": lambda x: jnp.broadcast_to(x[0][:, None], (x.shape[1], 64)),
    "columns repeated": lambda x: jnp.broadcast_to(x[:, :1], x.shape),
    "one repeated": lambda x: jnp.broadcast_to(x[1, 2], x.shape),
    "joined": lambda x: jnp.concatenate([x, x]),
    "part": lambda x: x[1:, 3:],
}


@pytest.mark.parametrize("element", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("before", BEFORE)
def test_it_stays_a_scan(before: str, element: str, tmp_path: Path) -> None:
    x = (np.random.default_rng(2).integers(-3, 4, (70, 90))).astype(jnp.dtype(element))

    def function(x: Any) -> Any:
        made = BEFORE[before](x)
        return [lax.cumsum(made, dim, reverse=reverse) for dim in (0, 1) for reverse in (False, True)]

    report = tmp_path / "report.json"
    text = jax.jit(function, keep_unused=True).lower(x).as_text()
    module = tiree.load(tiree.compile(text, flags=[f"--tiree-report={report}"]))
    reductions = [one for one in json.loads(report.read_text())["dispatches"] if "reduction" in one["export"]]
    assert {one["strategy"] for one in reductions} == {"scan"}
    made = np.asarray(BEFORE[before](jnp.asarray(x)))
    exact = made.astype(np.int64)
    wanted = [np.cumsum(exact, 0), np.cumsum(exact[::-1], 0)[::-1], np.cumsum(exact, 1)]
    wanted.append(np.cumsum(exact[:, ::-1], 1)[:, ::-1])
    for got, want in zip(module.main(x), wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(got), want.astype(made.dtype))
