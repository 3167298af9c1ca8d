"""tiree-opt: passes by name, pipelines, split inputs, expected errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiree.tools.opt import main

ADD = """
func.func @add(%a: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.add %a, %a : tensor<4xf64>
  return %0 : tensor<4xf64>
}
"""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def call(text: str, *arguments: str) -> tuple[int, str, str]:
        path = tmp_path / "in.mlir"
        path.write_text(text)
        code = main([*arguments, str(path)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_without_passes_the_module_is_printed(run) -> None:
    code, out, _ = run(ADD)
    assert code == 0
    assert '"stablehlo.add"(%a, %a)' in out
    assert run(ADD, "--mlir-print-op-generic")[1].startswith('"builtin.module"()')


@pytest.mark.parametrize(
    "arguments",
    [
        ["--tiree-stablehlo-to-linalg"],
        ["-tiree-stablehlo-to-linalg"],
        ["-p", "tiree-stablehlo-to-linalg"],
        ["--pass-pipeline=builtin.module(tiree-stablehlo-to-linalg)"],
    ],
)
def test_passes_are_named_in_every_way(run, arguments: list[str]) -> None:
    code, out, _ = run(ADD, *arguments)
    assert code == 0
    assert "linalg.generic" in out


def test_pass_options(run) -> None:
    for arguments in (
        ["--tiree-input-convert-types=demote-f64-to-f32=true"],
        ["-p", "tiree-input-convert-types{demote-f64-to-f32=true}"],
        ["--tiree-input-convert-types", "--iree-input-demote-f64-to-f32"],
    ):
        code, out, err = run(ADD, *arguments)
        assert code == 0, err
        assert "tensor<4xf32>" in out


def test_the_whole_pipeline(run) -> None:
    code, out, _ = run(ADD, "--iree-transformation-pipeline", "--iree-llvmcpu-target-cpu=generic")
    assert code == 0
    assert "vm.module" in out
    code, out, _ = run(ADD, "--compile-to=abi")
    assert "hal.tensor.import" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "tiree-flow-cs"], "no pass 'tiree-flow-cs'\n  did you mean tiree-flow-cse?"),
        (["-p", "a{b"], "cannot be read"),
        (["-p", "tiree-flow-cse{x=1}"], "pass tiree-flow-cse:"),
        (["--tiree-nothing"], "unknown flag --tiree-nothing"),
        (["--emit-bytecode"], "--emit-bytecode is not available: modules are printed as text"),
        (["--tiree-report=x"], "--tiree-report is not available: it belongs to tiree-compile"),
    ],
)
def test_errors(run, arguments: list[str], message: str) -> None:
    code, out, err = run(ADD, *arguments)
    assert code == 1
    assert out == ""
    assert message in err


def test_unknown_dialects_only_on_demand(run) -> None:
    text = '"my.op"() : () -> ()\n'
    assert "there is no dialect 'my'" in run(text)[2]
    assert '"my.op"() : () -> ()' in run(text, "--allow-unregistered-dialect")[1]


def test_a_module_may_be_demanded(run) -> None:
    assert run(ADD, "--no-implicit-module")[0] == 1
    assert run(f"module {{\n{ADD}}}\n", "--no-implicit-module")[0] == 0


def test_split_inputs_are_separate_modules_with_the_lines_of_the_file(run) -> None:
    code, out, err = run(f"{ADD}// -----\n{ADD}// -----\nwrong\n", "--split-input-file")
    assert code == 1
    assert out.count("func.func @add") == 2
    assert "in.mlir:13:1: error: expected an operation" in err


EXPECTING = """
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{unknown operation 'stablehlo.adds'}}
  %0 = stablehlo.adds %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// -----
func.func @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error-re @below {{value %[b-d] is used}}
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_expected_errors(run) -> None:
    flags = ("--split-input-file", "--verify-diagnostics")
    assert run(EXPECTING, *flags) == (0, "", "")
    code, _, err = run(EXPECTING.replace("'stablehlo.adds'}}", "'other'}}"), *flags)
    assert code == 1
    assert "in.mlir:4: error: expected error \"unknown operation 'other'\" was not produced" in err
    assert "in.mlir:4:8: error: unexpected error: unknown operation 'stablehlo.adds'" in err


def test_verification_and_timing(run) -> None:
    code, _, err = run(ADD, "--tiree-stablehlo-to-linalg", "--mlir-timing", "--mlir-print-ir-after-all")
    assert code == 0
    assert "Execution time report" in err
    assert "IR Dump After" in err
    invalid = 'func.func @f() {\n  %0 = "arith.constant"() : () -> i32\n  return\n}\n'
    assert run(invalid)[0] == 1
    assert run(invalid, "--verify-each=false", "--mlir-print-op-generic")[0] == 0


def test_help_lists_passes_and_dialects(run) -> None:
    assert "--tiree-flow-cse" in run(ADD, "--help")[1]
    assert "stablehlo" in run(ADD, "--show-dialects")[1]


def test_output_to_a_file(run, tmp_path: Path) -> None:
    assert run(ADD, "-o", str(tmp_path / "out.mlir"))[1] == ""
    assert "func.func @add" in (tmp_path / "out.mlir").read_text()
