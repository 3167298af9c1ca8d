"""`util.assume.int` and JAX's constraints on symbolic dimensions: programs check them, and kernels build on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree

ASSUMED = """
func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %d, %e = util.assume.int %m<umin = 8, udiv = 8>, %n<umin = 16, umax = 4096, udiv = 16> : index, index
  %y = stablehlo.add %x, %x : tensor<?x?xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
  return %z : tensor<?xf32>
}
"""
PLAIN = "\n".join(line for line in ASSUMED.splitlines() if "util.assume" not in line)


def kernels(text: str, folder: Path, *flags: str) -> str:
    """The LLVM IR of all kernels."""
    folder.mkdir()
    dump = f"--iree-hal-dump-executable-intermediates-to={folder}"
    tiree.compile(text, flags=[dump, "--iree-llvmcpu-target-cpu=haswell", *flags])
    files = sorted(folder.glob("*.ll"))
    assert files
    return "\n".join(file.read_text() for file in files)


def test_kernels_have_no_ends_of_vectors(tmp_path: Path) -> None:
    assumed, plain = kernels(ASSUMED, tmp_path / "assumed"), kernels(PLAIN, tmp_path / "plain")
    assert "masked" in plain
    assert "masked" not in assumed
    assert assumed.count("icmp") < plain.count("icmp")


@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_results_are_those_without(device: str) -> None:
    assumed, plain = (rt.load(tiree.compile(text), device=device) for text in (ASSUMED, PLAIN))
    for shape in ((8, 16), (16, 48), (24, 64), (40, 4096), (1000, 80)):
        x = np.random.default_rng(shape).standard_normal(shape, np.float32)
        np.testing.assert_array_equal(np.asarray(assumed.main(x)), np.asarray(plain.main(x)))


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((9, 16), r"dimension 0 of argument 1 \(%x\) must be a multiple of 8 for util.assume.int at "),
        ((0, 16), r"dimension 0 of argument 1 \(%x\) must be at least 8 for "),
        ((8, 24), r"dimension 1 of argument 1 \(%x\) must be a multiple of 16 for "),
        ((8, 4112), r"dimension 1 of argument 1 \(%x\) must be at most 4096 for "),
    ],
)
def test_a_violation_is_an_error(shape: tuple[int, int], said: str) -> None:
    module = rt.load(tiree.compile(ASSUMED), device="local-sync")
    with pytest.raises(ValueError, match=said):
        module.main(np.zeros(shape, np.float32))


def test_without_assertions_it_is_believed() -> None:
    flags = ["--iree-opt-strip-assertions", "--compile-to=flow"]
    text = tiree.compile(ASSUMED, flags=flags).decode()
    assert "cf.assert" not in text
    assert "umin = 16, umax = 4096, udiv = 16" in text[: text.index("util.func")]


def test_call_sites_have_it_in_common() -> None:
    """One kernel for two dispatches knows what both know."""
    text = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %d, %e = util.assume.int %m<umin = 8, umax = 64, udiv = 24>, %n<umax = 512, udiv = 16> : index, index
  %a = stablehlo.exponential %x : tensor<?xf32>
  %b = stablehlo.exponential %y : tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}"""
    flow = tiree.compile(text, flags=["--compile-to=flow"]).decode()
    assert flow.count('"flow.executable"') == 1
    assert "#util.int.assumption<umax = 512, udiv = 8>" in flow


@pytest.mark.parametrize("phase", ["input", "abi", "flow", "stream"])
def test_a_stop_loses_nothing(phase: str, tmp_path: Path) -> None:
    text = tiree.compile(ASSUMED, flags=[f"--compile-to={phase}"]).decode()
    assert "masked" not in kernels(text, tmp_path / "kernels", f"--compile-from={phase}")


@iree.needs_iree
def test_iree_carries_it_on() -> None:
    flow = tiree.compile(ASSUMED, flags=["--compile-to=flow"]).decode()
    module = iree.compile_text(flow, compile_from="flow")
    x = np.random.default_rng(3).standard_normal((16, 48), np.float32)
    np.testing.assert_allclose(iree.call(module, "main", [x], "local-task")[0], (2 * x).sum(axis=1), rtol=1e-4)


# JAX.


def exported(function: Callable[..., Any], constraints: Sequence[str], *shapes: tuple[Any, ...]) -> str:
    jax = pytest.importorskip("jax")
    export = pytest.importorskip("jax.export")
    a, b = export.symbolic_shape("a,b", scope=export.SymbolicScope(constraints))
    sizes = {"a": a, "b": b}
    specs = [jax.ShapeDtypeStruct(tuple(sizes.get(d, d) for d in shape), np.float32) for shape in shapes]
    return export.export(jax.jit(function))(*specs).mlir_module()


def softmax(x: Any, w: Any) -> Any:
    import jax

    return jax.nn.softmax(x @ w, axis=-1)


CONSTRAINTS = ("a >= 8", "a <= 1000", "mod(a, 8) == 0", "b >= 16", "b <= 4096", "mod(b, 16) == 0")
SHAPES = (("a", 32), (32, "b"))


def test_constraints_of_jax_reach_the_kernels(tmp_path: Path) -> None:
    text = exported(softmax, CONSTRAINTS, *SHAPES)
    flow = tiree.compile(text, flags=["--compile-to=flow"]).decode()
    executables = flow[: flow.index("util.func")]
    assert "#util.int.assumption<umin = 8, umax = 1000, udiv = 8>" in executables
    assert "#util.int.assumption<umin = 16, umax = 4096, udiv = 16>" in executables
    plain = exported(softmax, (), *SHAPES)
    assert "masked" in kernels(plain, tmp_path / "plain")
    assert "masked" not in kernels(text, tmp_path / "assumed")
    assert "util.assume.int" not in tiree.compile(plain, flags=["--compile-to=flow"]).decode()


def test_constraints_of_jax_are_checked() -> None:
    module = rt.load(tiree.compile(exported(softmax, CONSTRAINTS, *SHAPES)), device="local-sync")
    for a, b in ((8, 16), (24, 48), (1000, 64)):
        x, w = (np.random.default_rng(a).standard_normal(s, np.float32) for s in ((a, 32), (32, b)))
        np.testing.assert_allclose(np.asarray(module.main(x, w)), softmax(x, w), rtol=1e-4, atol=1e-6)
    for a, b, said in (
        (8, 17, "mod(b, 16) == 0|floordiv"),
        (0, 16, "a"),
        (1008, 16, "a <= 1000"),
        (8, 8192, "b <= 4096"),
    ):
        with pytest.raises(ValueError, match=r"symbolic shape constraint|polymorphic shapes") as error:
            module.main(np.zeros((a, 32), np.float32), np.zeros((32, b), np.float32))
        assert any(part in str(error.value) for part in said.split("|"))
