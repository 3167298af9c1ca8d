"""Expressions of constants are computed once: while compiling, or when the program is loaded; as IREE's flags say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.compiler.api import compile_str
from tools.runtime_tool import ours

EVAL = "--iree-opt-const-eval=false"
HOIST = "--iree-opt-const-expr-hoisting=false"
LIMIT = "--iree-opt-const-expr-max-size-increase-threshold="
VMVX = "--iree-hal-local-target-device-backends=vmvx"
SINES = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = stablehlo.exponential %c : tensor<4xf32>
  %s = stablehlo.sine %e : tensor<4xf32>
  %0 = stablehlo.add %a, %s : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
LOOP = """func.func @main(%n: tensor<i32>, %a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %c = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %r:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<8x4xf32>
   cond {
    %p = stablehlo.compare GT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.subtract %i, %one : tensor<i32>
    %t = stablehlo.transpose %c, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
    %g = stablehlo.dot %c, %t : (tensor<4x2xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
    %f = stablehlo.constant dense<0.01> : tensor<4x4xf32>
    %h = stablehlo.multiply %g, %f : tensor<4x4xf32>
    %y = stablehlo.dot %x, %h : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<8x4xf32>
  }
  return %r#1 : tensor<8x4xf32>
}"""
INITIALIZER = """util.global private @w : tensor<4xf32>
util.initializer {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %e = stablehlo.exponential %c : tensor<4xf32>
  util.global.store %e, @w : tensor<4xf32>
  util.return
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %s = util.global.load @w : tensor<4xf32>
  %0 = stablehlo.add %a, %s : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
GROWS = """func.func @main(%a: tensor<64x4xf32>) -> tensor<64x4xf32> {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %n = stablehlo.iota dim = 0 : tensor<64x4xf32>
  %b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<4xf32>) -> tensor<64x4xf32>
  %m = stablehlo.power %n, %b : tensor<64x4xf32>
  %0 = stablehlo.add %a, %m : tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}"""
A4, A8 = np.arange(4, dtype=np.float32), (np.arange(32, dtype=np.float32) / 32).reshape(8, 4)
N = np.array(3, np.int32)


def simplified(text: str, *flags: str) -> str:
    made = compile_str(text, extra_args=[VMVX, "--compile-to=global-optimization", *flags])
    assert made is not None
    return made.decode()


def test_an_expression_of_constants_becomes_one() -> None:
    text = simplified(SINES)
    assert "math." not in text
    assert "util.initializer" not in text


def test_without_evaluation_it_is_computed_when_the_program_is_loaded() -> None:
    text = simplified(SINES, EVAL)
    assert text.index("util.initializer") < text.index("math.exp") < text.index("math.sin") < text.index("util.func")
    assert "util.global.load immutable @__hoisted" in text


def test_without_hoisting_every_call_computes_it() -> None:
    text = simplified(SINES, EVAL, HOIST)
    assert "util.initializer" not in text
    assert text.index("util.func") < text.index("math.exp")
    assert "math." not in simplified(SINES, HOIST)


def test_what_grows_beyond_the_threshold_stays() -> None:
    assert "math.powf" not in simplified(GROWS)
    assert "math.powf" in simplified(GROWS, f"{LIMIT}{64 * 4 * 4 - 17}")
    assert "math.powf" not in simplified(GROWS, f"{LIMIT}{64 * 4 * 4 - 16}")


def test_a_loop_leaves_what_never_changes_to_the_start() -> None:
    text = simplified(LOOP, EVAL)
    assert text.index("util.initializer") < text.index("util.func")
    assert text[text.index("util.func") :].count("arith.mulf") == 1


def test_counters_and_broadcasts_stay_where_they_are_used() -> None:
    text = """func.func @main(%a: tensor<64x4xf32>) -> tensor<64x4xf32> {
      %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %n = stablehlo.iota dim = 0 : tensor<64x4xf32>
      %b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<4xf32>) -> tensor<64x4xf32>
      %0 = stablehlo.add %a, %b : tensor<64x4xf32>
      %1 = stablehlo.add %0, %n : tensor<64x4xf32>
      return %1 : tensor<64x4xf32>
    }"""
    assert simplified(text) == simplified(text, EVAL, HOIST)


PARAMETER = """util.global private @p = #flow.parameter.named<"s"::"k"> : tensor<4xf32>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %p = util.global.load @p : tensor<4xf32>
  %e = stablehlo.exponential %p : tensor<4xf32>
  %0 = stablehlo.add %a, %e : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def test_what_is_computed_from_parameters_is_computed_when_they_are_loaded(tmp_path: Path) -> None:
    text = simplified(PARAMETER)
    assert text.index("@p = ") < text.index("util.initializer") < text.index("math.exp") < text.index("util.func")
    assert text.index("util.func") < simplified(PARAMETER, HOIST).index("math.exp")
    weights = tmp_path / "w.safetensors"
    header = b'{"k":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}'
    weights.write_bytes(len(header).to_bytes(8, "little") + header + A4.tobytes())
    module = tmp_path / "m.vmfb"
    module.write_bytes(bytes(tiree.compile(PARAMETER, flags=["--iree-llvmcpu-target-cpu=host"])))
    flags = [f"--module={module}", f"--parameters=s={weights}", "--input=4xf32=1", f"--output=@{tmp_path}/out.npy"]
    for tool in (lambda *f: iree.run_tool("iree-run-module", *f), lambda *f: ours("run-module", *f)):
        tool(*flags)
        np.testing.assert_allclose(np.load(tmp_path / "out.npy"), 1 + np.exp(A4), rtol=1e-5)
        (tmp_path / "out.npy").unlink()


def test_an_initializer_of_constants_is_the_value_of_its_global() -> None:
    assert "@w = dense<[2.718" in simplified(INITIALIZER)
    assert "math.exp" in simplified(INITIALIZER, EVAL)


@pytest.mark.parametrize("flags", [(), (EVAL,), (EVAL, HOIST)], ids=["eval", "hoist", "neither"])
@pytest.mark.parametrize(
    ("text", "arguments", "want"),
    [
        (SINES, (A4,), A4 + np.sin(np.exp(np.arange(1.0, 5.0)))),
        (INITIALIZER, (A4,), A4 + np.exp(np.arange(1.0, 5.0))),
        (GROWS, (A8.repeat(8, 0),), A8.repeat(8, 0) + np.arange(64.0)[:, None] ** np.arange(1.0, 5.0)),
    ],
    ids=["sines", "initializer", "grows"],
)
@iree.needs_iree
def test_values(text: str, arguments: tuple[np.ndarray, ...], want: np.ndarray, flags: tuple[str, ...]) -> None:
    module = bytes(tiree.compile(text, flags=[*flags, "--iree-llvmcpu-target-cpu=host"]))
    for got in (
        rt.load(module, device="local-sync").main(*arguments),
        iree.call(module, "main", arguments, "local-sync")[0],
    ):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-5)


def test_values_of_a_loop() -> None:
    c = np.arange(1.0, 9.0).reshape(4, 2)
    want = A8 @ np.linalg.matrix_power(c @ c.T * 0.01, 3)
    for flags in ((), (EVAL,), (EVAL, HOIST)):
        module = tiree.compile(LOOP, flags=[*flags, "--iree-llvmcpu-target-cpu=host"])
        np.testing.assert_allclose(np.asarray(rt.load(module).main(N, A8)), want, rtol=1e-5)


def test_the_bytes_do_not_know_the_machine() -> None:
    """Numbers that are computed while compiling are those of bytecode, whatever the target is."""
    made = [simplified(SINES, *flags) for flags in ((), ("--iree-llvmcpu-target-triple=aarch64",))]
    dense = [next(line for line in text.splitlines() if "dense<[" in line) for text in made]
    assert dense[0] == dense[1]
