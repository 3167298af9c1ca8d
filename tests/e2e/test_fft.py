"""Fourier transforms of all kinds and many lengths, as JAX writes them, against numpy in double precision."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from tiree.input.factorizations import long_lines

jax = pytest.importorskip("jax", reason="its text is what is compiled")
jnp = jax.numpy

RNG = np.random.default_rng(9)
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 12, 17, 22, 64, 97, 1000, 4096]


def numbers(*shape: int, dtype: Any) -> np.ndarray:
    a = RNG.standard_normal(shape)
    return (a + 1j * RNG.standard_normal(shape) if np.issubdtype(dtype, np.complexfloating) else a).astype(dtype)


def check(functions: list[tuple[Callable[..., Any], Callable[..., Any], np.ndarray]], double: bool = False) -> None:
    """Each with jax's functions and with numpy's, in one program."""
    args = [arg for _, _, arg in functions]
    with jax.enable_x64(double):
        text = jax.jit(lambda *xs: [f(x) for (f, _, _), x in zip(functions, xs, strict=True)]).lower(*args).as_text()
    results = rt.load(tiree.compile(text)).main(*args)
    results = results if isinstance(results, (tuple, list)) else [results]
    for (_, reference, arg), got in zip(functions, results, strict=True):
        wide = arg.astype(np.complex128 if np.iscomplexobj(arg) else np.float64)
        want, values = reference(wide), np.asarray(got)
        assert values.shape == want.shape
        eps = float(np.finfo(values.dtype).eps)
        np.testing.assert_allclose(values, want, rtol=0, atol=8 * eps * max(np.abs(want).max(initial=0), 1e-300))


@pytest.mark.parametrize("n", LENGTHS)
def test_lines(n: int) -> None:
    pair, half = numbers(3, n, dtype=np.complex64), numbers(2, n // 2 + 1, dtype=np.complex64)
    check(
        [
            (jnp.fft.fft, np.fft.fft, pair),
            (jnp.fft.ifft, np.fft.ifft, pair),
            (jnp.fft.rfft, np.fft.rfft, numbers(5, n, dtype=np.float32)),
            (lambda x: jnp.fft.irfft(x, n), lambda x: np.fft.irfft(x, n), half),
        ]
    )


def along(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: function(x, axes=(1, 2, 3))


def test_several_dimensions() -> None:
    pair, real = numbers(2, 4, 7, 8, dtype=np.complex64), numbers(2, 4, 7, 8, dtype=np.float32)
    check(
        [
            (jnp.fft.fft2, np.fft.fft2, numbers(2, 6, 10, dtype=np.complex64)),
            (jnp.fft.ifft2, np.fft.ifft2, numbers(34, 3, dtype=np.complex64)),
            (along(jnp.fft.fftn), along(np.fft.fftn), pair),
            (along(jnp.fft.rfftn), along(np.fft.rfftn), real),
            (along(jnp.fft.irfftn), along(np.fft.irfftn), pair),
            (lambda x: jnp.fft.fft(x, axis=0), lambda x: np.fft.fft(x, axis=0), numbers(6, 10, dtype=np.complex64)),
        ]
    )


def test_double_precision() -> None:
    check(
        [
            (jnp.fft.fft, np.fft.fft, numbers(2, 360, dtype=np.complex128)),
            (jnp.fft.rfft, np.fft.rfft, numbers(2, 101, dtype=np.float64)),
            (lambda x: jnp.fft.irfft(x, 30), lambda x: np.fft.irfft(x, 30), numbers(16, dtype=np.complex128)),
        ],
        double=True,
    )


def test_without_lines() -> None:
    check([(jnp.fft.fft, np.fft.fft, numbers(0, 4, dtype=np.complex64))])


def test_an_impulse_is_exact() -> None:
    """Its transform is all ones, whatever the factors of the length."""
    for n in (30, 64, 17):
        a = np.zeros(n, np.float32)
        a[0] = 1
        got = np.asarray(rt.load(tiree.compile(jax.jit(jnp.fft.rfft).lower(a).as_text())).main(a))
        np.testing.assert_allclose(got, np.ones(n // 2 + 1), atol=0 if n != 17 else 3e-7)


LONG = [16384, 3**9, 2 * 7**5, 40000, 32768, 65536 + 2]
"""One line of them is split over workgroups, if it counts as long: all of small factors but the last."""


@pytest.fixture
def short_lines_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_lines, "LONG", 1 << 14)


@pytest.mark.parametrize("n", LONG)
@pytest.mark.usefixtures("short_lines_are_long")
def test_long_lines(n: int) -> None:
    pair, half = numbers(n, dtype=np.complex64), numbers(2, n // 2 + 1, dtype=np.complex64)
    check(
        [
            (jnp.fft.fft, np.fft.fft, pair),
            (jnp.fft.ifft, np.fft.ifft, numbers(2, n, dtype=np.complex64)),
            (jnp.fft.rfft, np.fft.rfft, numbers(2, n, dtype=np.float32)),
            (lambda x: jnp.fft.irfft(x, n), lambda x: np.fft.irfft(x, n), half),
        ]
    )


def test_many_columns() -> None:
    pair = numbers(2, 60, 250, dtype=np.complex64)
    check([(lambda x: jnp.fft.fft(x, axis=1), lambda x: np.fft.fft(x, axis=1), pair)])


def _workgroups(function: Callable[..., Any], x: np.ndarray, tmp_path: Path) -> list[int]:
    """Of the dispatches that are programs of loops."""
    report = tmp_path / "report.json"
    tiree.compile(jax.jit(function).lower(x).as_text(), flags=[f"--tiree-report={report}"])
    return [d["workgroups"][0] for d in json.loads(report.read_text())["dispatches"] if d["strategy"] == "loops"]


@pytest.mark.usefixtures("short_lines_are_long")
def test_a_long_line_is_done_by_several_workgroups(tmp_path: Path) -> None:
    programs: list[tuple[Callable[..., Any], np.ndarray]] = [
        (jnp.fft.fft, numbers(65536, dtype=np.complex64)),
        (jnp.fft.rfft, numbers(65536, dtype=np.float32)),
        (jnp.fft.irfft, numbers(32769, dtype=np.complex64)),
        (lambda x: jnp.fft.fft(x, axis=0), numbers(512, 512, dtype=np.complex64)),
    ]
    for function, x in programs:
        assert min(_workgroups(function, x, tmp_path)) >= 8


def test_what_irfft_does_not_look_at() -> None:
    """The imaginary parts of the first and the last element."""
    half = numbers(17, dtype=np.complex64)
    program = rt.load(tiree.compile(jax.jit(jnp.fft.irfft).lower(half).as_text()))
    other = half.copy()
    other[[0, -1]] += 5j
    np.testing.assert_array_equal(np.asarray(program.main(half)), np.asarray(program.main(other)))


def test_a_million_points(tmp_path: Path) -> None:
    x = numbers(1 << 20, dtype=np.complex64)
    check([(jnp.fft.fft, np.fft.fft, x)])
    assert min(_workgroups(jnp.fft.fft, x, tmp_path)) >= 8
    assert _workgroups(jnp.fft.fft, x[: 1 << 18], tmp_path) == [1]


@pytest.mark.usefixtures("short_lines_are_long")
def test_long_lines_of_a_number_known_when_the_program_runs() -> None:
    text = """func.func @main(%x: tensor<?x32768xf32>) -> tensor<?x32768xf32> {
  %0 = stablehlo.fft %x, type = RFFT, length = [32768] : (tensor<?x32768xf32>) -> tensor<?x16385xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [32768] : (tensor<?x16385xcomplex<f32>>) -> tensor<?x32768xf32>
  return %1 : tensor<?x32768xf32>
}
"""
    program = rt.load(tiree.compile(text))
    for count in (1, 3):
        x = numbers(count, 32768, dtype=np.float32)
        np.testing.assert_allclose(np.asarray(program.main(x)), x, rtol=0, atol=2e-5)
