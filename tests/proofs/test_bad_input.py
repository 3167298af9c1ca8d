"""Bad input: a message that says what is wrong and what to do, exit code 1, and never a traceback, crash or hang."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from programs import models as makers
from proofs.commands import Done, run

FLIPPER = Path(__file__).with_name("flip_bits.py")
ADD = """func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
PER_REGION = 60
ADD_FLAGS = ("--module=add.vmfb", "--function=add")
RIGHT = "--input=4xf32=1,2,3,4"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad_input")
    (folder / "add.mlir").write_text(ADD)
    data = tiree.compile(ADD, output=folder / "add.vmfb")
    (folder / "cut.vmfb").write_bytes(data[: len(data) // 2])
    (folder / "notes.txt").write_text("hello, this is no module at all\n" * 4)
    (folder / "empty.vmfb").write_bytes(b"")
    return folder


def refused(done: Done, *wanted: str) -> None:
    """Exit code 1 and a short message on stderr with all `wanted` parts."""
    assert done.code == 1, f"exit code {done.code}\n{done.out}{done.err}"
    assert "Traceback" not in done.err
    assert "panicked" not in done.err
    for part in wanted:
        assert part in done.err, done.err
    assert len([line for line in done.err.splitlines() if not line.startswith("note: ")]) <= 12, done.err


RUNS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "mlir_as_module": (
        ("--module=add.mlir", "--function=add"),
        ("add.mlir is MLIR text", "tiree-compile add.mlir -o add.vmfb"),
    ),
    "text_as_module": (("--module=notes.txt",), ('notes.txt is not a module (starts with "hell"',)),
    "empty_module": (("--module=empty.vmfb",), ("empty.vmfb is empty",)),
    "cut_module": (("--module=cut.vmfb",), ("cut.vmfb is cut short", "Copy it again")),
    "missing_module": (("--module=none.vmfb",), ("none.vmfb", "no such file")),
    "no_module": ((), ("no module given", "--module=")),
    "dtype": ((*ADD_FLAGS, "--input=4xf64=1", RIGHT), ("--input 1 is 4xf64; add() needs 4xf32",)),
    "rank": ((*ADD_FLAGS, RIGHT, "--input=2x2xf32=1"), ("--input 2 is 2x2xf32; add() needs 4xf32",)),
    "shape": ((*ADD_FLAGS, "--input=5xf32=1", RIGHT), ("--input 1 is 5xf32; add() needs 4xf32",)),
    "too_few": ((*ADD_FLAGS, RIGHT), ("takes 2", "1 given")),
    "too_many": ((*ADD_FLAGS, RIGHT, RIGHT, RIGHT), ("takes 2", "3 given")),
    "function": (("--module=add.vmfb", "--function=ad"), ('no function "ad"', 'Did you mean "add"?')),
    "device": (
        (*ADD_FLAGS, "--device=cpu", RIGHT, RIGHT),
        ('no device "cpu"', "local-sync, local-task"),
    ),
    "few_values": (
        (*ADD_FLAGS, "--input=4xf32=1,2,3", RIGHT),
        ("--input 1: 3 values given, 4xf32 needs 4",),
    ),
    "element_type": (
        (*ADD_FLAGS, "--input=4xfloat32=1", RIGHT),
        ('unknown element type "float32"', "f32"),
    ),
    "missing_input": ((*ADD_FLAGS, "--input=@none.npy", RIGHT), ("none.npy",)),
    "flag": (("--module=add.vmfb", "--functoin=add"), ("functoin",)),
}


@pytest.mark.parametrize("case", RUNS)
def test_run_module(case: str, folder: Path) -> None:
    arguments, wanted = RUNS[case]
    refused(run(folder, "tiree-run-module", *arguments), *wanted)


@pytest.mark.parametrize("name", ["add.mlir", "notes.txt", "empty.vmfb", "cut.vmfb", "none.vmfb"])
def test_dump_and_benchmark(name: str, folder: Path) -> None:
    refused(run(folder, "tiree-dump-module", name), name)
    refused(run(folder, "tiree-benchmark-module", f"--module={name}", "--function=add"), name)


PROGRAMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "unsupported": (
        """func.func @f(%a: tensor<4xf32>, %m: tensor<2x2xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @foo(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.recv"(%m) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.custom_call @bar(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
""",
        ("in.mlir:2:8: error: ", "'foo'", "in.mlir:3:8: error: stablehlo.recv", "in.mlir:4:8: error: ", "'bar'"),
    ),
    "syntax": (
        "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.add %a %a : tensor<4xf32>\n}\n",
        ("in.mlir:2:25: error: expected", "^"),
    ),
    "end_of_file": ("func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n", ("in.mlir:", "error: ")),
    "undefined_value": (
        "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %b : tensor<4xf32>\n}\n",
        ("in.mlir:2:", "%b", "never defined"),
    ),
    "types_differ": (
        "func.func @f(%a: tensor<4xf32>, %b: tensor<5xf32>) -> tensor<4xf32> {\n"
        '  %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>\n'
        "  return %0 : tensor<4xf32>\n}\n",
        ("in.mlir:2:", "error: ", "stablehlo.add"),
    ),
    "operand_count": (
        "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.add %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
        ("in.mlir:2:8: error: stablehlo.add", "1 operand, needs 2"),
    ),
    "used_before": (
        "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %0 = stablehlo.add %1, %a : tensor<4xf32>\n"
        "  %1 = stablehlo.add %0, %a : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
        ("in.mlir:2:8: error: stablehlo.add uses", "where it is not visible", "in.mlir:3:8"),
    ),
    "unknown_op": (
        'func.func @f() {\n  "stablehlo.frobnicate"() : () -> ()\n  return\n}\n',
        ("in.mlir:2:", "stablehlo.frobnicate"),
    ),
    "unknown_dialect": ('func.func @f() {\n  "foo.bar"() : () -> ()\n  return\n}\n', ("in.mlir:2:", "foo.bar", "foo")),
    "binary": ("\x7fELF\x00\x00\x00", ("in.mlir: error: this is an ELF file, not MLIR text",)),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_compile(case: str, tmp_path: Path) -> None:
    text, wanted = PROGRAMS[case]
    (tmp_path / "in.mlir").write_text(text)
    refused(run(tmp_path, "tiree-compile", "in.mlir", "-o", "out.vmfb"), *wanted)
    assert not (tmp_path / "out.vmfb").exists()
    with pytest.raises(tiree.CompileError, match="error: "):
        tiree.compile(text + "\n")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("none.mlir",), ("none.mlir", "no such file")),
        (("add.vmfb",), ("add.vmfb: error: this is a compiled module", "tiree-run-module")),
        ((), ("no input file",)),
        (("add.mlir", "--iree-nonsense"), ("--iree-nonsense",)),
        (("add.mlir", "--iree-hal-target-device=cuda"), ("cuda", "CPU")),
        (("add.mlir", "--iree-llvmcpu-target-cpu=pentium9"), ("pentium9",)),
        (("add.mlir", "--compile-to=nowhere"), ("nowhere", "flow")),
        (("add.mlir", "-o", "no/such/folder/out.vmfb"), ("no/such/folder",)),
    ],
)
def test_compile_command(arguments: tuple[str, ...], wanted: tuple[str, ...], folder: Path) -> None:
    output = () if "-o" in arguments else ("-o", "out.vmfb")
    refused(run(folder, "tiree-compile", *arguments, *output), *wanted)


F = np.float32
CALLS: list[tuple[str, tuple[Any, ...], type[Exception], str]] = [
    ("dtype", (np.zeros(4), np.zeros(4, F)), TypeError, r'ment 1 \("a"\) is float64 \[4\]; needs float32 \[4\]'),
    ("shape", (np.zeros(4, F), np.zeros(5, F)), ValueError, r'argument 2 \("b"\) has shape \[5\]; needs \[4\]'),
    ("rank", (np.zeros((2, 2), F), np.zeros(4, F)), ValueError, r"has shape \[2x2\]; needs \[4\]"),
    ("too_few", (np.zeros(4, F),), TypeError, r"add\(.*f32\[4\].*\) takes 2 arguments, 1 given"),
    ("too_many", (np.zeros(4, F),) * 3, TypeError, r"takes 2 arguments, 3 given"),
    ("string", ("x", np.zeros(4, F)), TypeError, r"argument 1 .* is a str; needs float32 \[4\]"),
]  # fmt: skip


@pytest.mark.parametrize("case", CALLS, ids=lambda case: case[0])
@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_call(case: tuple[str, tuple[Any, ...], type[Exception], str], device: str, folder: Path) -> None:
    _, arguments, error, message = case
    module = tiree.load(folder / "add.vmfb", device=device)
    with pytest.raises(error, match=message):
        module.add(*arguments)
    np.testing.assert_array_equal(module.add(np.ones(4, F), np.ones(4, F)), np.full(4, 2, F))


def test_attributes_and_devices(folder: Path) -> None:
    with pytest.raises(AttributeError, match=r'no function "ad"; it has: add\. Did you mean "add"\?'):
        _ = tiree.load(folder / "add.vmfb").ad
    with pytest.raises(ValueError, match='no device "cpu"'):
        tiree.load(folder / "add.vmfb", device="cpu")
    with pytest.raises(FileNotFoundError):
        tiree.load(folder / "none.vmfb")
    for data, message in ((ADD.encode(), "is MLIR text"), (b"", "is empty"), (b"no module at all", "is not a module")):
        with pytest.raises(ValueError, match=message):
            rt.load(data)


def _regions(data: bytes, weights: bytes) -> dict[str, range]:
    """Kinds of bytes of a module: both ends, kernels, constants; the rest is tables and bytecode."""
    elf, constants = data.index(b"\x7fELF"), data.index(weights)
    code_end = min([at for at in (data.find(b"hal.executable", elf), constants, elf + 2000) if at > elf])
    return {
        "start": range(160),
        "end": range(len(data) - 160, len(data)),
        "kernels": range(elf, code_end),
        "constants": range(constants, constants + len(weights)),
        "everywhere": range(len(data)),
    }


def _damage(module: Path, folder: Path, damages: list[str], arguments: list[str]) -> list[dict[str, Any]]:
    """What became of each damaged copy. Fails with the damage that crashed or hung the process."""
    command = [sys.executable, FLIPPER, module, folder / "damaged.vmfb", *damages, "--", *arguments]
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, timeout=120, check=False)
        code, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        code, out, err = "timeout", error.stdout or b"", error.stderr or b""
    lines = [json.loads(line) for line in out.decode().splitlines()]
    assert code == 0, f"{lines[-1:]} ended the process: {code}\n{err.decode(errors='replace')[-2000:]}"
    return [line for line in lines if "code" in line]


@pytest.mark.parametrize("flags", [(), ("--iree-vm-emit-polyglot-zip=false",)], ids=["zip", "plain"])
def test_flipped_bits(flags: tuple[str, ...], tmp_path: Path) -> None:
    """A damaged copy is refused by name, or the damage lies in padding and the results are those of the whole file."""
    pytest.importorskip("jax", reason="the network is a JAX function")
    model = makers.mlp(1)
    path = tmp_path / "whole.vmfb"
    data = tiree.compile(model.text, output=path, flags=list(flags))
    weights = max(_constants(model), key=len)
    chance = random.Random(11)
    regions = _regions(data, weights)
    damages = {
        f"{chance.choice(place)}:{chance.randrange(8)}": region
        for region, place in regions.items()
        for _ in range(PER_REGION)
    }
    np.save(tmp_path / "x.npy", model.inputs[0])
    arguments = ["--function=main", "--device=local-sync", f"--input=@{tmp_path / 'x.npy'}"]
    whole, *results = _damage(path, tmp_path, [f"-{len(data)}", *damages], arguments)
    assert whole["code"] == 0
    assert not whole["loading"]
    assert len(results) == len(damages) > 200
    harmless: Counter[str] = Counter()
    for result in results:
        if result["code"] == 0:
            harmless[damages[result["damage"]]] += 1
            assert result["out"] == whole["out"], result
            continue
        assert result["code"] == 1, result
        assert result["err"].startswith("error: "), result
        assert "damaged.vmfb" in result["err"], result
        assert result["loading"].startswith("Status"), result
    # Nothing looks at a ZIP header's dates and padding, nor at the gaps between aligned segments.
    assert not harmless["kernels"] + harmless["constants"], harmless
    assert harmless["everywhere"] < 0.05 * PER_REGION, harmless


def _constants(model: makers.Model) -> list[bytes]:
    """The bytes of the weights, as they stand in the closure of the JAX function."""
    found: list[bytes] = []
    for cell in model.function.__closure__ or ():
        if isinstance(cell.cell_contents, list):
            found += [array.tobytes() for pair in cell.cell_contents for array in pair]
    return found


@pytest.mark.parametrize("flags", [(), ("--iree-vm-emit-polyglot-zip=false",)], ids=["zip", "plain"])
def test_cut_short(flags: tuple[str, ...], tmp_path: Path) -> None:
    data = tiree.compile(ADD, output=tmp_path / "whole.vmfb", flags=list(flags))
    chance = random.Random(5)
    lengths = sorted({0, 1, 4, 7, 8, 63, 64, len(data) - 1, *(chance.randrange(len(data)) for _ in range(60))})
    arguments = ["--function=add", "--device=local-sync", RIGHT, RIGHT]
    for result in _damage(tmp_path / "whole.vmfb", tmp_path, [f"-{length}" for length in lengths], arguments):
        assert result["code"] == 1, result
        assert result["err"].startswith("error: "), result
        assert "cut short" in result["err"] or "is empty" in result["err"] or "is not a module" in result["err"], result
        assert result["loading"].startswith("Status"), result
