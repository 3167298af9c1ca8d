"""Attention as one kernel: values against JAX on random shapes, layouts, masks and types, and what it leaves out of
memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from tiree.flow import raise_attention

jax: Any = pytest.importorskip("jax", reason="programs are written in JAX")
jnp: Any = pytest.importorskip("jax.numpy")

BF16 = jnp.bfloat16
TOLERANCE = {"float32": 3e-6, "float64": 1e-14, "bfloat16": 3e-2, "float16": 4e-3}


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raises attentions of any size."""
    monkeypatch.setattr(raise_attention, "LEAST_SCORES", 0)
    monkeypatch.setattr(raise_attention, "LEAST_ROWS", 1)


def compiled(function: Any, arguments: list[Any], path: Path, *flags: str) -> tuple[Any, dict[str, Any]]:
    text = jax.jit(function).lower(*arguments).as_text()
    report = path / "report.json"
    module = tiree.compile(text, flags=[*flags, f"--tiree-report={report}"])
    return rt.load(module, device="local-task").main, json.loads(report.read_text())


def strategies(report: dict[str, Any]) -> list[str]:
    return [dispatch["strategy"] for dispatch in report["dispatches"]]


def close(got: Any, want: Any, dtype: Any) -> None:
    got, want = (np.asarray(value).astype(np.float64) for value in (got, want))
    np.testing.assert_allclose(got, want, rtol=0, atol=TOLERANCE[np.dtype(dtype).name])


def attention(
    q: Any, k: Any, v: Any, mask: Any = None, layout: str = "bhqd,bhkd->bhqk,bhke->bhqe", scale: str = "after"
) -> Any:
    """softmax(scale Q K + mask) V, with sums of products in f32 at least."""
    first, second, third = layout.split("->")
    rows, values = second.split(",")
    wide = jnp.promote_types(q.dtype, jnp.float32)
    factor = q.shape[first.index("d")] ** -0.5
    q = q * jnp.asarray(factor, q.dtype) if scale == "before" else q
    s = jnp.einsum(f"{first}->{rows}", q, k, preferred_element_type=wide)
    s = s * factor if scale == "after" else s
    if mask is not None:
        s = jnp.where(mask, s, jnp.finfo(s.dtype).min * 0.7) if mask.dtype == bool else s + mask
    p = jax.nn.softmax(s, axis=-1).astype(v.dtype)
    return jnp.einsum(f"{rows},{values}->{third}", p, v)


LAYOUTS = (
    "bhqd,bhkd->bhqk,bhke->bhqe",
    "bqhd,bkhd->bhqk,bkhe->bqhe",
    "hbqd,bhdk->bhqk,bhek->ehbq",
    "qbhd,kbhd->bhqk,bhek->bqhe",
)
SIZES = (1, 2, 7, 16, 17, 31, 64, 97, 127, 131, 200)


def cases(seed: int, count: int) -> list[tuple[Any, ...]]:
    """Sizes b, h, q, k, d, e; layout; mask; type; where the scale is."""
    rng = np.random.default_rng(seed)
    found: list[tuple[Any, ...]] = []
    for number in range(count):
        b, h = (int(n) for n in rng.choice([1, 2, 3], 2))
        q, k = (int(n) for n in rng.choice(SIZES, 2))
        d, e = (int(n) for n in rng.choice([2, 3, 8, 31, 64, 80], 2))
        mask = ("none", "add qk", "add bk", "bool bhqk", "bool bk", "bool qk")[number % 6]
        dtype = (np.float32, np.float32, BF16, np.float16)[int(rng.integers(4))]
        scale = ("after", "before", "none")[int(rng.integers(3))]
        found.append(({"b": b, "h": h, "q": q, "k": k, "d": d, "e": e}, LAYOUTS[number % 4], mask, dtype, scale))
    return found


def operands(sizes: dict[str, int], layout: str, mask: str, dtype: Any) -> tuple[list[Any], tuple[Any, ...]]:
    """Queries, keys, values and perhaps a mask; and how the mask is broadcast."""
    rng = np.random.default_rng(sum(sizes.values()))
    query, rest = layout.split(",", 1)
    key, rest = rest.split("->", 1)
    value = rest.split(",")[1].split("->")[0]
    arrays = [rng.standard_normal([sizes[c] for c in name]).astype(dtype) for name in (query, key, value)]
    kind, _, dims = mask.partition(" ")
    if kind != "none":
        shape = [sizes[c] for c in dims]
        arrays.append(rng.random(shape) < 0.6 if kind == "bool" else rng.standard_normal(shape).astype(np.float32))
    return arrays, tuple(slice(None) if c in dims else None for c in "bhqk")


@pytest.mark.parametrize("case", cases(1, 8), ids=str)
@pytest.mark.usefixtures("always")
def test_random(case: tuple[Any, ...], tmp_path: Path) -> None:
    sizes, layout, mask, dtype, scale = case
    arguments, index = operands(sizes, layout, mask, dtype)

    def function(q: Any, k: Any, v: Any, *m: Any) -> Any:
        return attention(q, k, v, m[0][index] if m else None, layout, scale)

    main, report = compiled(function, arguments, tmp_path)
    if min(sizes[c] for c in "qkde") > 1:
        assert "flash-attention" in strategies(report)
    close(main(*arguments), jax.jit(function)(*arguments), dtype)


@pytest.mark.parametrize("flag", ["backends=vmvx", "cpu=generic", "cpu=x86-64-v3"])
@pytest.mark.usefixtures("always")
def test_targets(flag: str, tmp_path: Path) -> None:
    prefix = "--iree-hal-target-" if flag.startswith("backends") else "--iree-llvmcpu-target-"
    rng = np.random.default_rng(3)
    arguments = [rng.standard_normal((2, 19, 12)).astype(np.float32) for _ in range(3)]

    def function(q: Any, k: Any, v: Any) -> Any:
        s = jnp.einsum("bqd,bkd->bqk", q, k) / 4
        s = jnp.where(jnp.arange(19)[:, None] >= jnp.arange(19), s, -1e9)
        return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(s), v)

    main, report = compiled(function, arguments, tmp_path, prefix + flag)
    assert strategies(report) == ["flash-attention"]
    close(main(*arguments), jax.jit(function)(*arguments), np.float32)


@pytest.mark.usefixtures("always")
def test_doubles(tmp_path: Path) -> None:
    with jax.enable_x64(True):
        rng = np.random.default_rng(4)
        arguments = [rng.standard_normal((3, 37, 24)) for _ in range(3)]

        def function(q: Any, k: Any, v: Any) -> Any:
            s = jnp.einsum("bqd,bkd->bqk", q, k) * 0.3
            return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.where(s > -9e9, s, -jnp.inf)), v)

        def plain(q: Any, k: Any, v: Any) -> Any:
            s = jnp.einsum("bqd,bkd->bqk", q, k) * 0.3
            return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(s), v)

        main, report = compiled(plain, arguments, tmp_path)
        assert strategies(report) == ["flash-attention"]
        close(main(*arguments), plain(*arguments), np.float64)
        # A mask that looks at the scores is none that the op can hold.
        assert "flash-attention" not in strategies(compiled(function, arguments, tmp_path)[1])


@pytest.mark.usefixtures("always")
def test_what_is_no_number(tmp_path: Path) -> None:
    """Rows masked as a whole, infinities and NaN come out as they do without the op."""
    rng = np.random.default_rng(5)
    q, k, v = (rng.standard_normal((2, 150, 16)).astype(np.float32) for _ in range(3))
    mask = rng.standard_normal((150, 150)).astype(np.float32)
    mask[3] = -np.inf
    mask[4, :140] = -np.inf
    mask[5, 7] = np.inf
    mask[6, 149] = np.nan
    q[0, 8, 2] = np.inf
    k[1, 149, 3] = np.nan
    v[0, 9, 1] = np.inf
    v[0, 149, 2] = 3e38
    mask[10:20] = 0
    v[:, :, 5] = 3.3e38
    arguments = [q, k, v, mask]

    def added(q: Any, k: Any, v: Any, m: Any) -> Any:
        s = jnp.einsum("bqd,bkd->bqk", q, k) * 0.25 + m
        return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(s), v)

    def chosen(q: Any, k: Any, v: Any, m: Any) -> Any:
        s = jnp.where(m > -1e30, jnp.einsum("bqd,bkd->bqk", q, k) * 0.25, -1e30)
        return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(s), v)

    for function in (added, chosen):
        main, report = compiled(function, arguments, tmp_path)
        assert strategies(report) == ["flash-attention"]
        got, want = np.asarray(main(*arguments)), np.asarray(jax.jit(function)(*arguments))
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        np.testing.assert_array_equal(np.isinf(got), np.isinf(want))
        finite = np.isfinite(want)
        np.testing.assert_allclose(got[finite], want[finite], rtol=3e-6, atol=3e-6)


def test_scores_stay_out_of_memory(tmp_path: Path) -> None:
    """Long sequences: one dispatch, no transients; short ones keep their dispatches."""

    def function(q: Any, k: Any, v: Any) -> Any:
        return jax.nn.dot_product_attention(q, k, v, is_causal=True)

    rng = np.random.default_rng(6)
    arguments = [rng.standard_normal((1, 1024, 2, 32)).astype(np.float32) for _ in range(3)]
    main, report = compiled(function, arguments, tmp_path)
    assert strategies(report) == ["flash-attention"]
    assert sum(one["slab_bytes"] for one in report["memory"]) == 0
    assert report["dispatches"][0]["flops"] == 2 * 1024 * 1024 * (4 * 32 + 5)
    assert report["dispatches"][0]["bytes"] == 4 * arguments[0].nbytes
    close(main(*arguments), jax.jit(function)(*arguments), np.float32)
    short = [one[:, :64] for one in arguments]
    assert "flash-attention" not in strategies(compiled(function, short, tmp_path)[1])


@pytest.mark.usefixtures("always")
def test_grouped_queries(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    query = rng.standard_normal((2, 40, 6, 16)).astype(np.float32)
    arguments = [query, *(rng.standard_normal((2, 50, 2, 16)).astype(np.float32) for _ in range(2))]
    main, report = compiled(jax.nn.dot_product_attention, arguments, tmp_path)
    assert strategies(report) == ["flash-attention"]
    close(main(*arguments), jax.nn.dot_product_attention(*arguments), np.float32)


@pytest.mark.usefixtures("always")
def test_results_that_are_repeated(tmp_path: Path) -> None:
    """What reads an attention along more loops than it has is no transposition of it."""

    def function(q: Any, k: Any, v: Any) -> Any:
        one = jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k)), v)
        return jnp.broadcast_to(one[:, :, None, :], (2, 24, 3, 8))

    def repeated(q: Any, k: Any, v: Any) -> Any:
        return jnp.repeat(jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k)), v), 2, axis=1)

    arguments = [np.random.default_rng(9).standard_normal((2, 24, 8)).astype(np.float32) for _ in range(3)]
    for one in (function, repeated):
        main, report = compiled(one, arguments, tmp_path)
        assert "flash-attention" in strategies(report)
        close(main(*arguments), one(*arguments), np.float32)


@pytest.mark.usefixtures("always")
def test_scores_that_become_positive_infinities(tmp_path: Path) -> None:
    """Their rows are NaN, unlike rows in which scores do not count."""

    def function(q: Any, k: Any, v: Any) -> Any:
        seen = jnp.arange(24)[:, None] >= jnp.arange(24)
        scores = jnp.where(seen, jnp.einsum("bqd,bkd->bqk", q, k), jnp.inf)
        return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores), v)

    arguments = [np.random.default_rng(10).standard_normal((2, 24, 8)).astype(np.float32) for _ in range(3)]
    main, _ = compiled(function, arguments, tmp_path)
    close(main(*arguments), function(*arguments), np.float32)


@pytest.mark.usefixtures("always")
def test_other_readers_keep_scores(tmp_path: Path) -> None:
    """Probabilities that something else reads have to be there."""

    def function(q: Any, k: Any, v: Any) -> Any:
        p = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k))
        return jnp.einsum("bqk,bkd->bqd", p, v), p

    arguments = [np.ones((2, 24, 8), np.float32)] * 3
    assert "flash-attention" not in strategies(compiled(function, arguments, tmp_path)[1])


@pytest.mark.usefixtures("always")
def test_same_bits_on_other_devices() -> None:
    rng = np.random.default_rng(8)
    arguments = [rng.standard_normal((3, 133, 16)).astype(np.float32) for _ in range(3)]

    def function(q: Any, k: Any, v: Any) -> Any:
        return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k)), v)

    module = tiree.compile(jax.jit(function).lower(*arguments).as_text())
    one, other = (rt.load(module, device=device).main(*arguments) for device in ("local-sync", "local-task"))
    assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


def exported(function: Any, *shapes: str) -> str:
    """The StableHLO of a function of sizes that are not known."""
    export: Any = pytest.importorskip("jax.export")
    scope = export.SymbolicScope()
    specs = [jax.ShapeDtypeStruct(export.symbolic_shape(shape, scope=scope), np.float32) for shape in shapes]
    return str(export.export(jax.jit(function))(*specs).mlir_module())


@pytest.mark.parametrize("mask", ["none", "causal", "added"])
def test_lengths_that_are_not_known(mask: str, tmp_path: Path) -> None:
    """One dispatch for all lengths and batches."""

    def function(q: Any, k: Any, v: Any, *m: Any) -> Any:
        if mask == "added":
            s = jnp.einsum("bqhd,bkhd->bhqk", q, k) * 0.3 + m[0]
            return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v)
        return jax.nn.dot_product_attention(q, k, v, is_causal=mask == "causal")

    shapes = ["b,n,2,16", *["b,m,2,16"] * 2] if mask == "none" else ["b,n,2,16"] * 3
    shapes += ["n,n"] if mask == "added" else []
    report = tmp_path / "report.json"
    module = tiree.compile(exported(function, *shapes), flags=[f"--tiree-report={report}"])
    assert strategies(json.loads(report.read_text())) == ["flash-attention"]
    main = rt.load(module, device="local-task").main
    rng = np.random.default_rng(9)
    for b, n, m in ((1, 1, 1), (2, 3, 130), (1, 33, 7), (2, 140, 129)):
        sizes = {"b": b, "n": n, "m": m}
        arguments = [
            rng.standard_normal([sizes.get(one) or int(one) for one in shape.split(",")]).astype(np.float32)
            for shape in shapes
        ]
        close(main(*arguments), function(*arguments), np.float32)
