"""Faults that users met elsewhere, and their neighbours: other ops, types and ranks, on both devices.

Each family began as one report (an index out of range, a power of a negative base, an empty dimension, a rounding, a
division by zero, a periodic map, a loop that never ends, a lost digit). Values are JAX's, or numpy's where JAX differs
from the specification.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from programs import Bundle, Case
from programs.bundle import check

jax = pytest.importorskip("jax", reason="the programs are JAX functions")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

DEVICES = ("local-sync", "local-task")
Row = tuple[str, Callable[..., Any], tuple[Any, ...]]


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


TABLE = np.arange(20, dtype=np.float32).reshape(5, 4)
CUBE = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
OFF = np.array([-100, -1, 0, 4, 5, 7, 100], np.int32)
INDICES: list[Row] = [
    *(
        (f"take_{mode}_{axis}", lambda t, i, m=mode, a=axis: jnp.take(t, i, axis=a, mode=m), (CUBE, OFF))
        for mode in ("clip", "fill", "wrap")
        for axis in (0, 1, 2)
    ),
    *((f"index_{t}", lambda x, i: x[i], (TABLE, np.array([0, 3, 9, 100], t))) for t in ("int8", "uint8", "uint32")),
    ("index_int64", lambda x, i: x[i], (TABLE, np.array([0, -(2**63), 2**63 - 1, 2**32 + 1], np.int64))),
    ("two_indices", lambda x, i, j: x[i, :, j], (CUBE, OFF, OFF)),
    ("rows_of_windows", lambda x, i: jax.vmap(lambda k: lax.dynamic_slice(x, (k, k), (2, 3)))(i), (TABLE, OFF)),
    ("slice_uint32", lambda x, i: lax.dynamic_slice(x, (i,), (3,)), (TABLE.ravel(), np.uint32(2**32 - 1))),
    ("slice_int64", lambda x, i: lax.dynamic_slice(x, (i,), (3,)), (TABLE.ravel(), np.int64(-(2**40)))),
    (
        "update",
        lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i)),
        (TABLE, np.full((2, 2), -1, np.float32), np.int32(9)),
    ),
    *(
        (
            f"scatter_{name}",
            lambda x, i, u, n=name: getattr(x.at[i], n)(u, mode="drop"),
            (TABLE.ravel()[:5], OFF, OFF.astype(np.float32)),
        )
        for name in ("set", "add", "max", "multiply")
    ),
    ("scatter_windows", lambda x, i: x.at[i].add(1.0, mode="drop"), (TABLE, OFF)),
]
BASES = f32(-2, -2, -2, -0.5, 0, 0, -0.0, 0, 1, np.nan, np.inf, -np.inf, -np.inf, 2, -8, 4, 0.5, -1)
POWERS = f32(3, 2, -3, -1, 0, -1, -1, 3, np.nan, 0, -1, 3, -2, 0.5, 1 / 3, -0.5, np.inf, np.inf)
POWER: list[Row] = [
    *(
        (f"power_{t}", lambda a, b: a**b, (BASES.astype(t), POWERS.astype(t)))
        for t in ("float32", "float64", "float16")
    ),
    *((f"power_by_{p}", lambda a, p=p: a**p, (BASES,)) for p in (0.0, 1.0, 2.0, 3.0, -1.0, 0.5, -2.0)),
    (
        "integer_power",
        lambda a, b: lax.integer_pow(a, 5) + a**b,
        (np.array([-3, 0, 2, 7], np.int32), np.array([3, 0, 5, 2], np.int32)),
    ),
]
EMPTY: list[Row] = [
    ("batch_matmul_none", lambda a, b: a @ b, (np.zeros((0, 2, 3), np.float32), np.zeros((0, 3, 4), np.float32))),
    ("batch_matmul_inner", lambda a, b: a @ b, (np.zeros((5, 2, 0), np.float32), np.zeros((5, 0, 4), np.float32))),
    ("matvec_inner", lambda a, b: a @ b, (np.zeros((3, 0), np.float32), np.zeros(0, np.float32))),
    ("matmul_rows", lambda a, b: a @ b, (np.zeros((0, 3), np.float32), np.ones((3, 4), np.float32))),
    ("integers", lambda a, b: a @ b, (np.zeros((2, 0), np.int32), np.zeros((0, 3), np.int32))),
    ("epilogue", lambda a, b: jax.nn.relu(a @ b + 2.0), (np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32))),
    (
        "convolution",
        lambda x, k: lax.conv(x, k, (1, 1), "SAME"),
        (np.zeros((0, 2, 4, 4), np.float32), np.ones((3, 2, 3, 3), np.float32)),
    ),
    (
        "channels",
        lambda x, k: lax.conv(x, k, (1, 1), "VALID"),
        (np.zeros((1, 0, 4, 4), np.float32), np.ones((3, 0, 3, 3), np.float32)),
    ),
    *(
        (f"reduce_{f.__name__}", lambda a, f=f: f(a, axis=1), (np.zeros((3, 0), np.float32),))
        for f in (jnp.sum, jnp.prod, jnp.any, jnp.all)
    ),
    ("reduce_max", lambda a: lax.reduce_max(a, (1,)), (np.zeros((2, 0), np.float32),)),
    ("cumulative", lambda a: jnp.cumsum(a, axis=0), (np.zeros((0, 3), np.float32),)),
    (
        "concatenated",
        lambda a, b: jnp.concatenate([a, b, a]),
        (np.zeros((0, 2), np.float32), np.ones((3, 2), np.float32)),
    ),
    ("padded", lambda a: jnp.pad(a, ((1, 2), (0, 1)), constant_values=3.0), (np.zeros((0, 2), np.float32),)),
    ("taken", lambda a, i: a[i], (TABLE, np.zeros(0, np.int32))),
    ("transposed", lambda a: jnp.transpose(a, (2, 0, 1)) * 2, (np.zeros((2, 0, 3), np.float32),)),
    ("sorted", lambda a: jnp.sort(a, axis=0), (np.zeros((0, 3), np.float32),)),
    ("looped", lambda a, n: lax.fori_loop(0, n, lambda _, x: x + 1.0, a), (np.zeros((0, 3), np.float32), np.int32(4))),
    (
        "chosen",
        lambda p, a: lax.cond(p, lambda x: x + 1, lambda x: x - 1, a),
        (np.bool_(True), np.zeros((3, 0), np.float32)),
    ),
]
HALVES = np.array(
    [
        65504,
        65519,
        65520,
        65536,
        -65520,
        1e-8,
        2.98e-8,
        2.981e-8,
        6e-8,
        6.1e-5,
        6.09e-5,
        2049,
        2051,
        1 + 2**-11,
        1 + 2**-11 + 2**-30,
        3.3895e38,
        3.4e38,
        1e-40,
        1.17549e-38,
        np.nan,
        np.inf,
        -0.0,
        0.1,
    ],
    np.float64,
)


def cast(values: np.ndarray, type: str) -> np.ndarray:
    """The values rounded; what is too large becomes an infinity."""
    with np.errstate(over="ignore"):
        return values.astype(type)


LARGE = np.array(
    [0, 1, -1, 2**24 + 1, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 65519, 65520, 2049], np.int64
)
ROUNDING: list[Row] = [
    *(
        (f"{a}_to_{b}", lambda x, b=b: x.astype(b), (cast(HALVES, a),))
        for a, b in [
            ("float64", "float16"),
            ("float64", "bfloat16"),
            ("float64", "float32"),
            ("float32", "float16"),
            ("float32", "bfloat16"),
            ("float16", "bfloat16"),
        ]
    ),
    *((f"int64_to_{b}", lambda x, b=b: x.astype(b), (LARGE,)) for b in ("float16", "bfloat16", "float32", "float64")),
    *(
        (f"uint64_to_{b}", lambda x, b=b: x.astype(b), (LARGE.astype(np.uint64),))
        for b in ("float16", "float32", "float64")
    ),
    ("float32_and_back", lambda x: x.astype("float16").astype("float32"), (cast(HALVES, "float32"),)),
    ("scalar", lambda x: x.astype("float16"), (np.float32(6e-5),)),
]
LOOPS: list[Row] = [
    ("none", lambda n: lax.while_loop(lambda c: c < n, lambda c: c + 1, jnp.int32(5)), (np.int32(3),)),
    (
        "several",
        lambda n: lax.while_loop(
            lambda c: c[0] < n,
            lambda c: (c[0] + 1, ~c[1], c[2] * 2.0, c[3] + c[0]),
            (jnp.int32(0), jnp.array([True, False]), jnp.float64(1), jnp.arange(3)),
        ),
        (np.int32(7),),
    ),
    (
        "nested",
        lambda n: lax.fori_loop(0, n, lambda i, a: lax.fori_loop(0, i, lambda j, b: b + j, a), jnp.int32(0)),
        (np.int32(6),),
    ),
    ("swapped", lambda n: lax.fori_loop(0, n, lambda _, c: (c[1], c[0]), (jnp.ones(3), jnp.zeros(3))), (np.int32(5),)),
    ("unchanged", lambda n, x: lax.fori_loop(0, n, lambda _, c: (c[0], c[1] + c[0]), (x, x)), (np.int32(3), TABLE)),
    ("until", lambda x: lax.while_loop(lambda c: jnp.sum(c) < 1000, lambda c: c * 2, x), (TABLE,)),
    (
        "in_cond",
        lambda p, n: lax.cond(p, lambda: lax.fori_loop(0, n, lambda i, a: a + i, jnp.int32(0)), lambda: jnp.int32(-1)),
        (np.bool_(True), np.int32(4)),
    ),
]
TENTHS = np.linspace(0.1, 1.9, 24).reshape(4, 6)
DOUBLES: list[Row] = [
    ("constant", lambda x: x * 0.1 + jnp.array(np.pi), (TENTHS,)),
    ("dot", lambda x: x @ x.T, (TENTHS,)),
    ("sum", lambda x: jnp.sum(x, axis=1) / 3.0, (TENTHS,)),
    ("iota", lambda n: jnp.arange(5, dtype="float64") / n, (np.float64(3),)),
    ("functions", lambda x: jnp.exp(x) + jnp.log(x) + jnp.tanh(x) + jnp.sqrt(x) + jnp.sin(x), (TENTHS,)),
    (
        "convolution",
        lambda x: lax.conv(x.reshape(1, 1, 4, 6), x[:2, :2].reshape(1, 1, 2, 2), (1, 1), "VALID"),
        (TENTHS,),
    ),
    ("integers", lambda x: x * 3 + (1 << 40), (np.array([2**40 + 1, -(2**50)], np.int64),)),
    ("select", lambda x: jnp.where(x > 1.0, x, 1e-300), (TENTHS,)),
]
FAMILIES = {
    "indices": INDICES,
    "power": POWER,
    "empty": EMPTY,
    "rounding": ROUNDING,
    "loops": LOOPS,
    "doubles": DOUBLES,
}
TOLERANCES = {"power": 2e-6, "doubles": 1e-13}


def bundle(family: str) -> Bundle:
    """The cases of a family in one module. Roundings are numpy's: JAX's CPU takes small results for zero."""
    cases = []
    for name, function, inputs in FAMILIES[family]:
        half = any(np.asarray(value).dtype == np.float16 for value in inputs)
        rtol = 1e-3 if half and family == "power" else TOLERANCES.get(family, 0.0)
        expected = None
        if family == "rounding":
            (value,) = inputs
            *_, target = name.split("_")
            first = cast(np.asarray(value), "float16") if name.endswith("back") else np.asarray(value)
            expected = (cast(first, "float32" if name.endswith("back") else TARGETS.get(target, target)),)
        cases.append(Case(name, function, inputs, rtol=rtol, expected=expected))
    return Bundle(family, cases)


TARGETS: dict[str, Any] = {"bfloat16": ml_dtypes.bfloat16, "scalar": "float16"}


# Where a family runs: flags of the compiler, and devices.
PLACES: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "host": ([], DEVICES),
    "x86-64": (["--iree-llvmcpu-target-cpu=x86-64"], DEVICES[:1]),
    "bytecode": (["--iree-hal-local-target-device-backends=vmvx"], DEVICES[:1]),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("family", FAMILIES)
def test_family(family: str, place: str) -> None:
    programs, (flags, devices) = bundle(family), PLACES[place]
    module = tiree.compile(programs.text, flags=flags)
    wrong = []
    for device in devices:
        results = [np.asarray(one) for one in rt.load(module, device=device).main(*programs.inputs)]
        for case, got, want in zip(programs.cases, programs.split(results), programs.expected, strict=True):
            try:
                check(got, want, case.rtol, case.atol)
            except AssertionError as error:
                wrong.append(f"{device}, {case.name}: {error}")
    assert not wrong, "\n".join(wrong)
