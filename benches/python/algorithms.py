"""Scatter, sort, cumulative sums, Fourier transforms and linear algebra against JAX and numpy, as ratios in one run.

    python benches/python/algorithms.py [NAME ...] [--rounds N]

Each case is compiled once and called in turn with the others, so that all of them meet the same machine; the times are
the least of all rounds. "error" is the largest difference from numpy in double precision (of what numpy can say),
divided by the largest magnitude and by the precision of the type. Needs idle cores.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import tiree
import tiree.runtime as rt

jax: Any = importlib.import_module("jax")
jnp: Any = jax.numpy
RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    """The same computation for JAX (and Tiree, from its text) and for numpy."""

    name: str
    program: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: tuple[np.ndarray, ...]


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def complexes(*shape: int) -> np.ndarray:
    return (normal(*shape) + 1j * normal(*shape)).astype(np.complex64)


def indices(high: int, *shape: int) -> np.ndarray:
    return RNG.integers(0, high, shape).astype(np.int32)


def positive(n: int, *batch: int) -> np.ndarray:
    a = normal(*batch, n, n)
    return (a @ np.swapaxes(a, -1, -2) / n + np.eye(n, dtype=np.float32)).astype(np.float32)


def unknown(*inputs: np.ndarray) -> None:
    """Stands for what numpy does not have."""
    del inputs


def _added(x: np.ndarray, i: np.ndarray, u: np.ndarray) -> np.ndarray:
    result = x.copy()
    np.add.at(result, i, u)
    return result


def _movement() -> Iterator[Case]:
    def add(x: Any, i: Any, u: Any) -> Any:
        return x.at[i].add(u)

    def take(x: Any, i: Any) -> Any:
        return x[i]

    for name, x, i in (
        ("scatter 100,000 into 1,000,000", normal(1_000_000), indices(1_000_000, 100_000)),
        ("scatter 1,000,000 into 1,000", normal(1_000), indices(1_000, 1_000_000)),
        ("scatter 4,096 rows of 256", normal(30_000, 256), indices(30_000, 4_096)),
    ):
        yield Case(name, add, _added, (x, i, normal(*i.shape, *x.shape[1:])))
    yield Case("gather 4,096 rows of 256", take, take, (normal(30_000, 256), indices(30_000, 4_096)))
    yield Case("gather 1,000,000 points", take, take, (normal(1_000_000), indices(1_000_000, 1_000_000)))


def _orders() -> Iterator[Case]:
    yield Case("sort 1,000,000", jnp.sort, np.sort, (normal(1_000_000),))
    yield Case("sort 1,000 x 1,000", jnp.sort, np.sort, (normal(1_000, 1_000),))
    yield Case("sort 100,000 complex", jnp.sort, np.sort, (complexes(100_000),))
    yield Case("argsort 100,000", jnp.argsort, np.argsort, (normal(100_000),))
    for name, k, shape in (("10 of 1,000,000", 10, (1_000_000,)), ("5 of 1,000 x 1,000", 5, (1_000, 1_000))):
        yield Case(f"top_k {name}", _top(k), unknown, (normal(*shape),))
    yield Case("cumsum 1,000,000", jnp.cumsum, np.cumsum, (normal(1_000_000),))
    columns: dict[str, Callable[[Any], Any]] = {
        "mine": lambda x: jnp.cumsum(x, 0),
        "numpy": lambda x: np.cumsum(x, 0),
    }
    yield Case("cumsum 1,000 x 1,000", columns["mine"], columns["numpy"], (normal(1_000, 1_000),))
    yield Case("cumsum 100,000 complex", jnp.cumsum, np.cumsum, (complexes(100_000),))


def _top(k: int) -> Callable[[Any], Any]:
    return lambda x: jax.lax.top_k(x, k)


def _transforms() -> Iterator[Case]:
    for name, shape in (("1,048,576", (1 << 20,)), ("65,536", (1 << 16,)), ("256 x 1,024", (256, 1024))):
        yield Case(f"fft {name}", jnp.fft.fft, np.fft.fft, (complexes(*shape),))
        yield Case(f"rfft {name}", jnp.fft.rfft, np.fft.rfft, (normal(*shape),))
    yield Case("fft2 512 x 512", jnp.fft.fft2, np.fft.fft2, (complexes(512, 512),))


def _lu(a: Any) -> Any:
    return jax.lax.linalg.lu(a)[0]


def _qr(a: Any) -> Any:
    return jnp.linalg.qr(a)[1]


def _eigenvalues(a: Any) -> Any:
    """With vectors, which are not looked at."""
    return (np if isinstance(a, np.ndarray) else jnp).linalg.eigh(a)


def _singular(a: Any) -> Any:
    return (np if isinstance(a, np.ndarray) else jnp).linalg.svd(a)


def _algebra() -> Iterator[Case]:
    for n in (64, 128, 256, 512):
        yield Case(f"cholesky {n}", jnp.linalg.cholesky, np.linalg.cholesky, (positive(n),))
        yield Case(f"lu {n}", _lu, unknown, (normal(n, n),))
        yield Case(f"solve {n}", jnp.linalg.solve, np.linalg.solve, (positive(n), normal(n, 4)))
        yield Case(f"qr {n}", _qr, unknown, (normal(n, n),))
    for n in (64, 128, 256):
        yield Case(f"eigh {n}", _eigenvalues, _eigenvalues, (positive(n),))
        yield Case(f"svd {n}", _singular, _singular, (normal(n, n),))
    yield Case("cholesky 1,000 of 8", jnp.linalg.cholesky, np.linalg.cholesky, (positive(8, 1_000),))
    yield Case("solve 1,000 of 8", jnp.linalg.solve, np.linalg.solve, (positive(8, 1_000), normal(1_000, 8, 1)))


def cases() -> list[Case]:
    return [*_movement(), *_orders(), *_transforms(), *_algebra()]


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype({"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype))


def error(case: Case, result: Any) -> str:
    """In units of the precision; empty where numpy has no such function or vectors may have other signs."""
    wanted = case.reference(*(_wide(x) for x in case.inputs))
    if wanted is None or isinstance(wanted, tuple):
        return ""
    got = np.asarray(result)
    scale = float(np.abs(wanted).max()) or 1.0
    precision = float(np.finfo(got.dtype).eps) if got.dtype.kind in "fc" else 1.0
    return f"{float(np.abs(got - wanted).max()) / scale / precision:.2g}"


def least(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """The least time of each call, in milliseconds."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for number, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[number] = min(best[number], 1e3 * (time.perf_counter() - start))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only cases whose name has one of these in it")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    print(f"{'':32} {'Tiree ms':>9} {'/ JAX':>6} {'/ numpy':>8} {'error':>7}")
    for case in cases():
        if options.names and not any(name in case.name for name in options.names):
            continue
        program = jax.jit(case.program)
        module: Any = rt.load(tiree.compile(program.lower(*case.inputs).as_text()))
        calls = _calls(case, module.main, program)
        wrong = error(case, calls[0]())
        mine, theirs, numpy = least(calls, options.rounds)
        beside = " " * 8 if case.reference is unknown else f"{mine / numpy:8.2f}"
        print(f"{case.name:32} {mine:9.3f} {mine / theirs:6.2f} {beside} {wrong:>7}", flush=True)


def _calls(case: Case, mine: Callable[..., Any], theirs: Callable[..., Any]) -> list[Callable[[], Any]]:
    def compiled() -> Any:
        return mine(*case.inputs)

    def jitted() -> Any:
        return jax.block_until_ready(theirs(*case.inputs))

    def numpy() -> Any:
        return case.reference(*case.inputs)

    return [compiled, jitted, numpy]


if __name__ == "__main__":
    main()
