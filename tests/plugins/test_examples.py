"""The example plugins: each does what it says, and what it makes is right by numpy."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
from tools.runtime_tool import needs_iree, ours, theirs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "plugins"
MOMENTS = """
func.func @moments(%x: tensor<64x256xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<64x256xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = stablehlo.multiply %x, %x : tensor<64x256xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<64x256xf32>, tensor<f32>) -> tensor<64xf32>
  return %0, %2 : tensor<64xf32>, tensor<64xf32>
}
"""
X = np.random.default_rng(0).normal(size=(64, 256)).astype(np.float32)
GENERIC = "--iree-llvmcpu-target-cpu=generic"


def compiled(program: str, *plugins: str, flags: tuple[str, ...] = ()) -> tuple[tiree.CompiledModule, list[str]]:
    """The module, and the strategies that the report names."""
    paths = [EXAMPLES / f"{name}.py" for name in plugins]
    module = tiree.compile(program, plugins=paths, flags=[GENERIC, "--tiree-report=r.json", *flags])
    return module, [row["strategy"] for row in json.loads(Path("r.json").read_text())["dispatches"]]


def check_moments(module: tiree.CompiledModule) -> None:
    sums, squares = tiree.load(module).moments(X)
    np.testing.assert_allclose(sums, X.sum(axis=1, dtype=np.float64), atol=1e-4)
    np.testing.assert_allclose(squares, (X * X).sum(axis=1, dtype=np.float64), rtol=1e-5)


def test_the_fusion_rule_saves_a_dispatch() -> None:
    plain, before = compiled(MOMENTS)
    fused, after = compiled(MOMENTS, "sibling_reductions")
    assert (len(before), len(after)) == (2, 1)
    check_moments(plain)
    check_moments(fused)


def test_the_fusion_rule_takes_siblings_only() -> None:
    other = MOMENTS.replace("stablehlo.multiply %x, %x", "stablehlo.subtract %x, %x")
    sums, zeros = tiree.load(compiled(other, "sibling_reductions")[0]).moments(X)
    np.testing.assert_allclose(sums, X.sum(axis=1, dtype=np.float64), atol=1e-4)
    assert not np.asarray(zeros).any()
    chained = """
    func.func @f(%x: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<f32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.maximum across dimensions = [0]
        : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      return %0, %1 : tensor<8xf32>, tensor<f32>
    }
    """
    rows, most = tiree.load(compiled(chained, "sibling_reductions")[0]).f(X[:8, :8])
    np.testing.assert_allclose(rows, X[:8, :8].sum(axis=1), atol=1e-5)
    np.testing.assert_allclose(most, max(0, X[:8, :8].sum(axis=1).max()), atol=1e-5)


def polynomial(syntax: str, type: str = "tensor<3x5xf32>") -> str:
    return f"func.func @f(%x: {type}) -> {type} {{\n  %0 = {syntax} : {type}\n  return %0 : {type}\n}}\n"


def test_the_dialect_is_read_checked_and_lowered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    x = np.linspace(-2, 2, 15, dtype=np.float32).reshape(3, 5)
    module, _ = compiled(polynomial("poly.eval %x [1.0, -0.5, 0.25]"), "polynomial_dialect")
    np.testing.assert_allclose(tiree.load(module).f(x), 1 - 0.5 * x + 0.25 * x * x, rtol=1e-6)
    with pytest.raises(tiree.CompileError, match=r"<input>:2:.*poly.eval needs a coefficient"):
        compiled(polynomial("poly.eval %x []"), "polynomial_dialect")
    with pytest.raises(tiree.CompileError, match=r"<input>:2:8: error: poly.eval on tensor<3xi32>; a tensor of floats"):
        compiled(polynomial("poly.eval %x [1.0]", "tensor<3xi32>"), "polynomial_dialect")
    with pytest.raises(tiree.CompileError, match=r"unknown operation"):
        compiled(polynomial("poly.eval %x [1.0]"))
    Path("p.mlir").write_text(polynomial("poly.eval %x [1.0, 2.0]"))
    plugin = f"--tiree-plugin={EXAMPLES / 'polynomial_dialect.py'}"
    done = ours("opt", "p.mlir", plugin, "--tiree-stablehlo-to-linalg")
    assert "math.fma" in done.out, done.err
    assert "poly.eval %x [" in ours("opt", "p.mlir", plugin).out
    assert "poly" in ours("opt", "p.mlir", plugin, "--show-dialects").out


@pytest.mark.parametrize("shape", [(3, 5), (0, 5), (1, 5)], ids=str)
def test_the_dialect_on_sizes_that_are_known_late(shape: tuple[int, ...]) -> None:
    x = np.linspace(-2, 2, shape[0] * shape[1], dtype=np.float32).reshape(shape)
    module, _ = compiled(polynomial("poly.eval %x [1.0, -0.5, 0.25]", "tensor<?x5xf32>"), "polynomial_dialect")
    np.testing.assert_allclose(tiree.load(module).f(x), 1 - 0.5 * x + 0.25 * x * x, rtol=1e-6)


def test_the_kernel_is_used_and_right() -> None:
    module, strategies = compiled(MOMENTS, "row_sum_kernel")
    assert sorted(strategies) == ["reduction", "row-sum-by-hand"], "the other reduction computes more than a sum"
    check_moments(module)
    assert compiled(MOMENTS, "row_sum_kernel")[0] == module
    narrow = MOMENTS.replace("256", "250")
    assert compiled(narrow, "row_sum_kernel")[1] == ["reduction", "reduction"]
    started = MOMENTS.replace("dense<0.0>", "dense<1.0>")
    assert compiled(started, "row_sum_kernel")[1] == ["reduction", "reduction"]
    columns = """
    func.func @f(%x: tensor<64x64xf32>) -> tensor<64xf32> {
      %zero = arith.constant dense<0.0> : tensor<64xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>],
                           iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<64x64xf32>) outs(%zero : tensor<64xf32>) {
        ^bb0(%a: f32, %b: f32):
          %1 = arith.addf %a, %b : f32
          linalg.yield %1 : f32
      } -> tensor<64xf32>
      return %0 : tensor<64xf32>
    }
    """
    module, strategies = compiled(columns, "row_sum_kernel")
    assert "row-sum-by-hand" not in strategies
    np.testing.assert_allclose(tiree.load(module).f(X[:, :64]), X[:, :64].sum(axis=0), atol=1e-4)


ELEMENTWISE = {
    "f32": """
func.func @f(%a: tensor<37x5xf32>, %b: tensor<37x5xf32>) -> (tensor<37x5xf32>, tensor<37x5xi1>) {
  %0 = stablehlo.multiply %a, %b : tensor<37x5xf32>
  %1 = stablehlo.exponential %0 : tensor<37x5xf32>
  %2 = stablehlo.maximum %1, %a : tensor<37x5xf32>
  %3 = stablehlo.compare GT, %2, %b : (tensor<37x5xf32>, tensor<37x5xf32>) -> tensor<37x5xi1>
  %4 = stablehlo.select %3, %2, %b : tensor<37x5xi1>, tensor<37x5xf32>
  return %4, %3 : tensor<37x5xf32>, tensor<37x5xi1>
}
""",
    "i32": """
func.func @f(%a: tensor<37x5xi32>, %b: tensor<37x5xi32>) -> (tensor<37x5xi32>, tensor<37x5xi1>) {
  %c = stablehlo.constant dense<-7> : tensor<37x5xi32>
  %0 = stablehlo.multiply %a, %b : tensor<37x5xi32>
  %1 = stablehlo.maximum %0, %c : tensor<37x5xi32>
  %2 = stablehlo.negate %1 : tensor<37x5xi32>
  %3 = stablehlo.compare LT, %2, %b : (tensor<37x5xi32>, tensor<37x5xi32>) -> tensor<37x5xi1>
  return %2, %3 : tensor<37x5xi32>, tensor<37x5xi1>
}
""",
}


def expected(kind: str, a: Any, b: Any) -> tuple[Any, Any]:
    if kind == "i32":
        result = -np.maximum(a * b, -7)
        return result, result < b
    most = np.maximum(np.exp(a * b), a)
    return np.where(most > b, most, b), most > b


needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="the backend calls a C compiler")
C = (f"--tiree-plugin={EXAMPLES / 'c_backend.py'}", "--iree-hal-target-backends=c")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@needs_cc
@pytest.mark.parametrize("kind", ELEMENTWISE)
def test_the_c_backend_computes_what_numpy_does(folder: Path, kind: str) -> None:
    (folder / "m.mlir").write_text(ELEMENTWISE[kind])
    done = ours("compile", "m.mlir", *C, "-o", "m.vmfb", "--iree-hal-dump-executable-files-to=files")
    assert (done.code, done.err) == (0, "")
    assert "for (int64_t" in next(folder.glob("files/*.c")).read_text()
    rng = np.random.default_rng(1)
    a, b = (
        rng.normal(size=(37, 5)).astype(np.float32) if kind == "f32" else rng.integers(-99, 99, (37, 5), np.int32)
        for _ in range(2)
    )
    np.save("a.npy", a)
    np.save("b.npy", b)
    arguments = ["--module=m.vmfb", "--function=f", "--device=local-task", "--input=@a.npy", "--input=@b.npy"]
    refused = ours("run-module", *arguments)
    assert refused.code == 1
    assert "--system_executables" in refused.err
    outputs = ["--output=@x.npy", "--output=@y.npy"]
    assert ours("run-module", *arguments, *outputs, "--system_executables").code == 0
    values, bits = expected(kind, a, b)
    np.testing.assert_allclose(np.load("x.npy"), values, rtol=1e-6)
    np.testing.assert_array_equal(np.load("y.npy").astype(bool), bits)


@needs_cc
@needs_iree
def test_iree_runs_what_the_c_backend_makes(folder: Path) -> None:
    (folder / "m.mlir").write_text(MOMENTS)
    assert ours("compile", "m.mlir", *C, "-o", "m.vmfb").code == 0
    np.save("x.npy", X)
    done = theirs("run-module", "--module=m.vmfb", "--function=moments", "--device=local-sync", "--input=@x.npy",
                  "--output=@a.npy", "--output=@b.npy")  # fmt: skip
    assert done.code == 0, done.err
    np.testing.assert_allclose(np.load("a.npy"), X.sum(axis=1, dtype=np.float64), atol=1e-4)
    np.testing.assert_allclose(np.load("b.npy"), (X * X).sum(axis=1, dtype=np.float64), rtol=1e-5)


def test_the_c_backend_says_what_it_cannot_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "m.mlir").write_text(ELEMENTWISE["f32"].replace("f32", "bf16"))
    done = ours("compile", "m.mlir", *C, "-o", "m.vmfb")
    assert done.code == 1
    assert "bf16 is no type of C" in done.err
    assert "m.mlir:" in done.err
    assert "compile this program with llvm-cpu" in done.err
    (folder / "m.mlir").write_text(ELEMENTWISE["f32"])
    monkeypatch.setenv("PATH", "")
    done = ours("compile", "m.mlir", *C, "-o", "m.vmfb")
    assert done.code == 1
    assert "backend c needs a C compiler, and there is no cc" in done.err


def test_backends_are_listed_and_chosen_by_name(folder: Path) -> None:
    plugin = C[0]
    assert ours("compile", "--iree-hal-list-target-backends", plugin).out.split()[-1] == "c"
    (folder / "m.mlir").write_text(MOMENTS)
    for flag in ("iree-hal-target-backends", "iree-hal-local-target-device-backends", "iree-hal-target-device"):
        done = ours("compile", "m.mlir", plugin, f"--{flag}=c", "--compile-to=preprocessing")
        assert '#hal.executable.target<"c", "system-elf-' in done.out
    assert '"llvm-cpu"' in ours("compile", "m.mlir", plugin, "--compile-to=preprocessing").out
    assert "several backends" in ours("compile", "m.mlir", plugin, "--iree-hal-target-backends=c,llvm-cpu").err
    assert "no such value" in ours("compile", "m.mlir", "--iree-hal-target-backends=c").err
