"""tiree-compile as a process: output, exit codes, messages, the same bytes anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ADD = """
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def run(*arguments: str, cwd: Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "tiree.tools.compile", *arguments]
    return subprocess.run(
        command, input=stdin, capture_output=True, cwd=cwd, env={**os.environ, **environment}, check=False
    )


def test_a_file_becomes_a_module_with_the_defaults_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "add.mlir").write_text(ADD)
    done = run("add.mlir", "-o", "add.vmfb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.decode().startswith("note: no target given: compiling for this machine's CPU")
    assert done.stderr.count(b"\n") == 1
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []
    assert (tmp_path / "add.vmfb").stat().st_size > 1000


def test_the_same_bytes_in_another_folder_with_another_hash_seed(tmp_path: Path) -> None:
    outputs = []
    for name, seed in (("one", "1"), ("two", "77")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "add.mlir").write_text(ADD)
        done = run("add.mlir", "-o", "-", "--iree-llvmcpu-target-cpu=generic", cwd=folder, PYTHONHASHSEED=seed)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]


def test_standard_input_and_output(tmp_path: Path) -> None:
    done = run("-", "--compile-to=input", cwd=tmp_path, stdin=ADD.encode())
    assert done.returncode == 0
    assert b"linalg.generic" in done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.mlir"], "missing.mlir: error: no such file"),
        ([], "no input file\n  usage: tiree-compile"),
        (["a", "b"], "several input files: a, b"),
        (["add.mlir", "--iree-opt-lvel=O1"], "unknown flag --iree-opt-lvel\n  did you mean --iree-opt-level?"),
        (["add.mlir", "-o", "no/such/folder/x"], "no/such/folder/x: error: No such file or directory"),
        (["add.mlir", "--compile-from=flow", "--compile-to=abi"], "cannot compile from flow to abi"),
        (["broken.mlir"], "broken.mlir:3:29: error: expected ':' and the type of the operation, found 'tensor'"),
        (["unsupported.mlir"], "unsupported.mlir:3:8: error: "),
        (["module.vmfb"], "module.vmfb: error: this is a ZIP file, not MLIR text"),
    ],
)
def test_errors_are_messages_with_exit_code_1(arguments: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "add.mlir").write_text(ADD)
    (tmp_path / "broken.mlir").write_text(ADD.replace("%b : tensor", "%b tensor"))
    unsupported = ADD.replace(
        "stablehlo.add %a, %b :", "stablehlo.custom_call @who(%a, %b) : (tensor<4xf32>, tensor<4xf32>) ->"
    )
    (tmp_path / "unsupported.mlir").write_text(unsupported)
    (tmp_path / "module.vmfb").write_bytes(b"PK\x03\x04\x00\xff\xfe")
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


def test_a_traceback_is_printed_on_demand(tmp_path: Path) -> None:
    (tmp_path / "broken.mlir").write_text("nonsense\n")
    assert b"Traceback" in run("broken.mlir", "--mlir-print-stacktrace-on-diagnostic", cwd=tmp_path).stderr
    assert b"Traceback" in run("broken.mlir", cwd=tmp_path, TIREE_TRACEBACK="1").stderr


def test_version_help_and_backends(tmp_path: Path) -> None:
    from tiree.version import VERSION

    assert f"version {VERSION}".encode() in run("--version", cwd=tmp_path).stdout
    assert b"--iree-llvmcpu-target-cpu" in run("--help", cwd=tmp_path).stdout
    assert run("--iree-hal-list-target-backends", cwd=tmp_path).stdout.split() == [
        b"Registered", b"target", b"backends:", b"llvm-cpu", b"vmvx", b"vmvx-inline",
    ]  # fmt: skip


def test_a_fault_of_the_compiler_saves_the_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tiree.pipeline as pipeline
    from tiree.tools import compile as tool

    def fail(_: object) -> list:
        raise ZeroDivisionError("oops")

    broken = pipeline.Phase("input", "breaks", fail)
    monkeypatch.setattr(pipeline, "PHASES", (pipeline.PHASES[0], broken, *pipeline.PHASES[2:]))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "add.mlir").write_text(ADD)
    assert tool.main(["add.mlir", "--compile-to=abi", "-o", "x"]) == 1
    (saved,) = tmp_path.glob("tiree-crash-*.mlir")
    assert saved.read_text().endswith(ADD)
    assert "// flags: --compile-to=abi" in saved.read_text()


def test_the_version_is_that_of_the_workspace() -> None:
    from tiree.version import VERSION

    cargo = Path(__file__).parents[2] / "Cargo.toml"
    assert f'version = "{VERSION}"' in cargo.read_text()
