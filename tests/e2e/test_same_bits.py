"""The same bits on every run, with any number of workers, and on both devices, for each kind of kernel.

Sizes are those at which work is divided among workers. Each number of workers is a process of its own.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
from programs import Bundle, Case

jax = pytest.importorskip("jax", reason="the programs are JAX functions")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

WORKERS = (1, 2, 4)
RUNS = 3
_STREAM = np.random.default_rng(77)


def _normal(*shape: int) -> np.ndarray:
    return _STREAM.standard_normal(shape).astype(np.float32)


A, B, LONG, IMAGE, KERNEL = (
    _normal(211, 307),
    _normal(307, 193),
    _normal(300_007),
    _normal(2, 37, 41, 8),
    _normal(3, 3, 8, 12),
)
CUBE, SQUARE = _normal(9, 65, 67), _normal(4, 24, 24)
DEFINITE = np.einsum("bij,bkj->bik", SQUARE, SQUARE) + 24 * np.eye(24, dtype=np.float32)
AT = _STREAM.integers(0, 500, 40_000).astype(np.int32)
KINDS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "sum of all": (lambda x: (jnp.sum(x), jnp.prod(1 + x * 1e-3), jnp.mean(x), jnp.var(x)), (LONG,)),
    "sum of rows": (lambda x: (jnp.sum(x, 0), jnp.sum(x, 1), jnp.max(x, 0)), (A,)),
    "sum of the middle": (lambda x: jnp.sum(x, 1), (CUBE,)),
    "elementwise": (lambda x: jnp.tanh(x) * jnp.exp(-x * x) + jnp.sin(x), (LONG,)),
    "matmul": (jnp.matmul, (A, B)),
    "long dot": (lambda x: jnp.dot(x, x), (LONG,)),
    "matmul in bf16": (lambda a, b: jnp.matmul(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16)).astype(a.dtype), (A, B)),
    "batch matmul": (lambda x: x @ jnp.swapaxes(x, 1, 2), (CUBE,)),
    "convolution": (
        lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        (IMAGE, KERNEL),
    ),
    "pooling": (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), (IMAGE,)),
    "softmax": (lambda x: jax.nn.softmax(x, -1), (A,)),
    "layer norm": (lambda x: jax.nn.standardize(x, -1), (A,)),
    "attention": (lambda q: jax.nn.dot_product_attention(q, q, q), (CUBE[:, :64, :64].reshape(9, 64, 4, 16),)),
    "sort": (lambda x: (jnp.sort(x[:70_000]), jnp.argsort(x[:20_000])), (LONG,)),
    "top_k": (lambda x: lax.top_k(x, 17), (A,)),
    "cumsum": (lambda x: (jnp.cumsum(x), lax.cummax(x)), (LONG,)),
    "scatter": (lambda x, i: jnp.zeros(500).at[i].add(x[:40_000]), (LONG, AT)),
    "segments": (lambda x, i: jax.ops.segment_max(x[:40_000], i, 500), (LONG, AT)),
    "gather": (lambda x, i: x[i], (LONG, AT)),
    "histogram": (lambda x: jnp.histogram(x[:30_000], bins=20)[0], (LONG,)),
    "fft": (lambda x: (jnp.abs(jnp.fft.rfft(x[:65536])), jnp.real(jnp.fft.fft(x[:30_011] + 0j))), (LONG,)),
    "long fft": (lambda x: jnp.abs(jnp.fft.fft(jnp.pad(x, (0, (1 << 20) - x.size)) + 0j))[:1000], (LONG,)),
    "fft of two": (lambda x: jnp.abs(jnp.fft.fft2(x)), (CUBE,)),
    "cholesky": (jnp.linalg.cholesky, (DEFINITE,)),
    "solve": (lambda a, b: jnp.linalg.solve(a, b), (DEFINITE, SQUARE)),
    "qr": (jnp.linalg.qr, (SQUARE,)),
    "svd": (lambda a: jnp.linalg.svd(a, compute_uv=False), (SQUARE,)),
    "eigh": (jnp.linalg.eigh, (DEFINITE,)),
    "random": (lambda x: jax.random.normal(jax.random.PRNGKey(7), x.shape), (A,)),
    "transpose": (lambda x: jnp.transpose(x, (2, 0, 1)) + 1, (CUBE,)),
    "loop": (lambda x: lax.fori_loop(0, 5, lambda _, v: jnp.sin(v) + jnp.mean(v), x), (A,)),
}


def bits(path: Path) -> list[str]:
    """A hash of each result, `RUNS` times over, on the device that the environment names."""
    import tiree.runtime as rt

    with path.with_suffix(".pickle").open("rb") as file:
        inputs = pickle.load(file)
    if os.environ["WORKERS"] != "0":
        rt.flags.parse_flags(f"--task_topology_group_count={os.environ['WORKERS']}")
    module: Any = rt.load(path, device="local-task" if os.environ["WORKERS"] != "0" else "local-sync")
    runs = [
        [hashlib.sha256(np.asarray(one).tobytes()).hexdigest() for one in module.main(*inputs)] for _ in range(RUNS)
    ]
    assert all(run == runs[0] for run in runs), "another run gives other bits"
    return runs[0]


@pytest.mark.filterwarnings("ignore")
def test_the_same_bits(tmp_path: Path) -> None:
    bundle = Bundle("kinds", [Case(name, *KINDS[name]) for name in KINDS])
    path = tmp_path / "kinds.vmfb"
    tiree.compile(bundle.text, output=path)
    path.with_suffix(".pickle").write_bytes(pickle.dumps(bundle.inputs))
    found = {}
    for workers in (0, *WORKERS):
        done = subprocess.run(
            [sys.executable, __file__, str(path)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "WORKERS": str(workers), "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert done.returncode == 0, done.stderr[-2000:]
        found[workers] = done.stdout.split()
    owners = [name for name in KINDS for _ in jax.tree.leaves(jax.eval_shape(KINDS[name][0], *KINDS[name][1]))]
    assert len(owners) == len(found[0])
    for workers in WORKERS:
        other = sorted({o for o, a, b in zip(owners, found[0], found[workers], strict=True) if a != b})
        assert not other, f"with {workers} workers other bits than without: {other}"


if __name__ == "__main__":
    print("\n".join(bits(Path(sys.argv[1]))))
