"""Complex numbers in kernels of bytecode, as executables and as functions of the host, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree

jax = pytest.importorskip("jax", reason="its text is what is compiled")
jnp = jax.numpy

_RANDOM = np.random.default_rng(12)


def numbers(*shape: int) -> np.ndarray:
    return (_RANDOM.standard_normal(shape) + 1j * _RANDOM.standard_normal(shape)).astype(np.complex64)


A, B, S = numbers(5, 6), numbers(6, 3), numbers(4, 4)
H = (S @ S.conj().T + 4 * np.eye(4)).astype(np.complex64)
PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "arithmetic": (
        lambda x: (x * x, x / (x + 1), jnp.conj(x), abs(x), x.real - x.imag, jnp.where(x == x[0], x, 0)),
        lambda x: (x * x, x / (x + 1), np.conj(x), abs(x), x.real - x.imag, np.where(x == x[0], x, 0)),
        (A,),
    ),
    "functions": (
        lambda x: (jnp.exp(x), jnp.log(x), jnp.sqrt(x), jnp.tanh(x), x ** (1.5 + 0.5j)),
        lambda x: (np.exp(x), np.log(x), np.sqrt(x), np.tanh(x), x ** (1.5 + 0.5j)),
        (A,),
    ),
    "contractions and sums": (
        lambda x, y: (x @ y, x.sum(0), x.prod(1), jnp.cumsum(x, 1)),
        lambda x, y: (x @ y, x.sum(0), x.prod(1), np.cumsum(x, 1)),
        (A, B),
    ),
    "movement": (
        lambda x: (x.T, jnp.concatenate([x, x * 2]), x[jnp.array([2, 0])], jnp.pad(x, 1), x.at[1].add(2j)),
        lambda x: (x.T, np.concatenate([x, x * 2]), x[[2, 0]], np.pad(x, 1), x + 2j * (np.arange(5) == 1)[:, None]),
        (A,),
    ),
    "transforms": (
        lambda x: (jnp.fft.fft(x), jnp.fft.ifft(x, axis=0), jnp.fft.rfft(x.real), jnp.fft.irfft(x), jnp.fft.fft2(x)),
        lambda x: (np.fft.fft(x), np.fft.ifft(x, axis=0), np.fft.rfft(x.real), np.fft.irfft(x), np.fft.fft2(x)),
        (A,),
    ),
    "factorizations": (
        lambda h, s, y: (jnp.linalg.cholesky(h), jnp.linalg.solve(s, y), jnp.linalg.eigvalsh(h)),
        lambda h, s, y: (np.linalg.cholesky(h), np.linalg.solve(s, y), np.linalg.eigvalsh(h)),
        (H, S, B[:4]),
    ),
}


@pytest.mark.parametrize(
    "flag", ["--iree-hal-local-target-device-backends=vmvx", "--iree-execution-model=inline-static"]
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str, flag: str) -> None:
    function, oracle, arguments = PROGRAMS[name]
    program = rt.load(tiree.compile(jax.jit(function).lower(*arguments).as_text(), flags=[flag]))
    wide = [one.astype(np.complex128) for one in arguments]
    for got, want in zip(program.main(*arguments), oracle(*wide), strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=2e-5, atol=2e-5 * np.max(np.abs(want)))


@iree.needs_iree
def test_in_irees_runtime() -> None:
    module = bytes(tiree.compile(jax.jit(jnp.fft.fft).lower(A).as_text(),
                                 flags=["--iree-hal-local-target-device-backends=vmvx"]))  # fmt: skip
    (got,) = iree.call(module, "main", [A], "local-sync")
    np.testing.assert_allclose(np.asarray(got), np.fft.fft(A.astype(np.complex128)), rtol=1e-5, atol=1e-5)
