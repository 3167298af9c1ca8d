"""Complex programs between the two compilers and runtimes, and linalg programs with MLIR's complex dialect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree

RNG = np.random.default_rng(23)

PROGRAM = """
func.func @main(%a: tensor<6x8xcomplex<f32>>, %b: tensor<8x5xcomplex<f32>>) -> (tensor<6x5xcomplex<f32>>,
    tensor<6xcomplex<f32>>, tensor<8x8xcomplex<f32>>, tensor<6x8xf32>) {
  %c = stablehlo.constant dense<(1.5,-2.0)> : tensor<complex<f32>>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<6x8xcomplex<f32>>, tensor<8x5xcomplex<f32>>) -> tensor<6x5xcomplex<f32>>
  %1 = stablehlo.tanh %0 : tensor<6x5xcomplex<f32>>
  %2 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1]
    : (tensor<6x8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
  %3 = stablehlo.pad %a, %c, low = [1, 0], high = [1, 0], interior = [0, 0]
    : (tensor<6x8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<8x8xcomplex<f32>>
  %4 = stablehlo.multiply %a, %a : tensor<6x8xcomplex<f32>>
  %5 = stablehlo.abs %4 : (tensor<6x8xcomplex<f32>>) -> tensor<6x8xf32>
  return %1, %2, %3, %5 : tensor<6x5xcomplex<f32>>, tensor<6xcomplex<f32>>, tensor<8x8xcomplex<f32>>, tensor<6x8xf32>
}
"""

LINALG = """
#id = affine_map<(d0) -> (d0)>
func.func @functions(%a: tensor<5xcomplex<f32>>, %b: tensor<5xcomplex<f32>>) -> (tensor<5xcomplex<f32>>, tensor<5xf32>,
    tensor<5xi1>) {
  %e = tensor.empty() : tensor<5xcomplex<f32>>
  %f = tensor.empty() : tensor<5xf32>
  %p = tensor.empty() : tensor<5xi1>
  %0:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<5xcomplex<f32>>, tensor<5xcomplex<f32>>)
      outs(%e, %f, %p : tensor<5xcomplex<f32>>, tensor<5xf32>, tensor<5xi1>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>, %o: complex<f32>, %q: f32, %r: i1):
    %k = complex.constant [1.0 : f32, -2.0 : f32] : complex<f32>
    %1 = complex.mul %x, %y : complex<f32>
    %2 = complex.add %1, %k : complex<f32>
    %3 = complex.div %2, %y : complex<f32>
    %4 = complex.exp %3 : complex<f32>
    %5 = complex.angle %4 : complex<f32>
    %6 = complex.neq %4, %x : complex<f32>
    %7 = complex.conj %4 : complex<f32>
    linalg.yield %7, %5, %6 : complex<f32>, f32, i1
  } -> (tensor<5xcomplex<f32>>, tensor<5xf32>, tensor<5xi1>)
  return %0#0, %0#1, %0#2 : tensor<5xcomplex<f32>>, tensor<5xf32>, tensor<5xi1>
}
func.func @matmul(%a: tensor<5x4xcomplex<f32>>, %b: tensor<4x6xcomplex<f32>>) -> tensor<5x6xcomplex<f32>> {
  %z = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %e = tensor.empty() : tensor<5x6xcomplex<f32>>
  %f = linalg.fill ins(%z : complex<f32>) outs(%e : tensor<5x6xcomplex<f32>>) -> tensor<5x6xcomplex<f32>>
  %0 = linalg.matmul ins(%a, %b : tensor<5x4xcomplex<f32>>, tensor<4x6xcomplex<f32>>)
    outs(%f : tensor<5x6xcomplex<f32>>) -> tensor<5x6xcomplex<f32>>
  %1 = linalg.div ins(%0, %0 : tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>)
    outs(%e : tensor<5x6xcomplex<f32>>) -> tensor<5x6xcomplex<f32>>
  %2 = linalg.mul ins(%0, %1 : tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>)
    outs(%e : tensor<5x6xcomplex<f32>>) -> tensor<5x6xcomplex<f32>>
  return %2 : tensor<5x6xcomplex<f32>>
}
"""


def numbers(*shape: int) -> Any:
    made: Any = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    return made.astype(np.complex64)


A, B = numbers(6, 8), numbers(8, 5)
WANTED = (
    np.tanh(A @ B),
    (1.5 - 2j + A.sum(1)).astype(np.complex64),
    np.pad(A, ((1, 1), (0, 0)), constant_values=1.5 - 2j),
    np.abs(A * A),
)


def check(got: Any, tolerance: float = 2e-6) -> None:
    for one, other in zip(got, WANTED, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=tolerance, atol=tolerance)


def test_linalg_with_the_complex_dialect() -> None:
    module = rt.load(tiree.compile(LINALG))
    a, b = numbers(5), numbers(5)
    wanted = np.exp((a * b + 1 - 2j) / b)
    result, angle, unequal = (np.asarray(one) for one in module.functions(a, b))
    np.testing.assert_allclose(result, wanted.conj(), rtol=1e-5)
    np.testing.assert_allclose(angle, np.angle(wanted), rtol=1e-4)
    assert unequal.all()
    x, y = numbers(5, 4), numbers(4, 6)
    np.testing.assert_allclose(np.asarray(module.matmul(x, y)), x @ y, rtol=1e-5, atol=1e-5)


def test_values() -> None:
    check(rt.load(tiree.compile(PROGRAM)).main(A, B))


@iree.needs_iree
def test_module_runs_in_the_runtime_of_iree(tmp_path: Path) -> None:
    (tmp_path / "m.vmfb").write_bytes(tiree.compile(PROGRAM))
    for name, value in (("a", A), ("b", B)):
        np.save(tmp_path / f"{name}.npy", value)
    outputs = [f"--output=@{tmp_path}/{n}.npy" for n in range(4)]
    inputs = [f"--input=@{tmp_path}/{name}.npy" for name in "ab"]
    iree.run_tool("iree-run-module", f"--module={tmp_path}/m.vmfb", *inputs, *outputs)
    check([np.load(tmp_path / f"{n}.npy") for n in range(4)])


@iree.needs_iree
def test_phases_are_accepted_by_iree_opt() -> None:
    texts: list[str] = []
    for phase in ("input", "abi", "global-optimization", "flow", "stream", "executable-sources", "hal"):
        texts.append(tiree.compile(PROGRAM, flags=[f"--compile-to={phase}"]).decode())
    iree.accept(texts)


PHASES = ("input", "stream")


@iree.needs_iree
@pytest.mark.parametrize("phase", PHASES)
def test_each_compiler_carries_on_what_the_other_prints(phase: str) -> None:
    ours = tiree.compile(PROGRAM, flags=[f"--compile-to={phase}", "--iree-llvmcpu-target-cpu=generic"])
    check(rt.load(iree.compile_text(ours.decode(), compile_from=phase)).main(A, B), 1e-4)
    theirs = iree.run_tool("iree-compile", "-", *iree.TARGET, f"--compile-to={phase}", stdin=STARTED)
    got = rt.load(tiree.compile(theirs, flags=[f"--compile-from={phase}"])).main(A)
    np.testing.assert_allclose(np.asarray(got), np.log(A).sum(1), rtol=1e-4, atol=1e-4)


STARTED = """
func.func @main(%a: tensor<6x8xcomplex<f32>>) -> tensor<6xcomplex<f32>> {
  %c = stablehlo.constant dense<(0.0,0.0)> : tensor<complex<f32>>
  %0 = stablehlo.log %a : tensor<6x8xcomplex<f32>>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1]
    : (tensor<6x8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<6xcomplex<f32>>
  return %1 : tensor<6xcomplex<f32>>
}
"""
