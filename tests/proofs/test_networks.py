"""What is asked of whole networks: the digits through the Python API, memory, strategies, control flow.

The values of `programs.models` are held to JAX's in tests/e2e, on both devices and in both runtimes.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiree
from programs import models as makers
from programs.models import Model, models
from proofs.digits import example, held_out, network
from proofs.disassembly import blocks_of, constant, loops

DEVICES = ("local-sync", "local-task")
FALLBACK = "scalar-fallback"
SLACK = 1.1


@cache
def compiled(name: str, folder: Path) -> tuple[Path, dict[str, Any]]:
    """The file and the report of a network (`digits_*`) or a model."""
    known = {model.name: model for model in models()}
    model: Model = network(name.removeprefix("digits_")) if name.startswith("digits_") else known[name]
    path, report = folder / f"{name}.vmfb", folder / f"{name}.json"
    tiree.compile(model.text, output=path, flags=[f"--tiree-report={report}"])
    return path, json.loads(report.read_text())


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("jax", reason="the networks are JAX functions")
    return tmp_path_factory.mktemp("networks")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_every_held_out_image(name: str, device: str, folder: Path) -> None:
    """As the example does after training: logits to 1e-4, every predicted class."""
    import jax

    images, model = held_out(), network(name)
    assert len(images) == 360
    path, _ = compiled(f"digits_{name}", folder)
    ours = example().classify(tiree.load(path, device=device).main, images)
    theirs = example().classify(jax.jit(model.function), images)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(ours.argmax(1), theirs.argmax(1))


@pytest.mark.usefixtures("folder")
def test_transients_of_the_cnn_are_packed() -> None:
    from tiree.dialects import get_context, read_module
    from tiree.pipeline import run_pipeline
    from tiree.stream import memory_report
    from tiree.support.options import CompileOptions

    module = read_module(network("cnn").text, get_context())
    run_pipeline(module, CompileOptions(), "start", "stream")
    executions = [one for one in memory_report(module) if one.function == "main"]
    assert len(executions) == 1, "one execution, so one allocation of transients"
    (memory,) = executions
    assert memory.slab_bytes <= SLACK * memory.max_live_bytes, memory
    # By hand: most is live when the first pooling has its 8x8x16 input and 4x4x16 output, f32, for each image.
    assert memory.slab_bytes <= SLACK * 4 * example().BATCH * (8 * 8 * 16 + 4 * 4 * 16), memory
    assert sum(op.name == "stream.resource.alloca" for op in module.walk()) <= 2  # transients, result


@pytest.mark.parametrize("name", ["digits_mlp", "digits_cnn", *(model.name for model in models())])
def test_no_dispatch_is_on_the_fallback(name: str, folder: Path) -> None:
    _, report = compiled(name, folder)
    rows = report["dispatches"]
    assert rows
    assert all(row["call_sites"] and row["workgroups"] and row["bytes"] for row in rows), rows
    assert any(row["flops"] for row in rows)
    slow = [row["export"] for row in rows if row["strategy"] == FALLBACK]
    assert not slow, slow


def _reads(block: Any) -> list[str]:
    """Calls that bring data of the device to the host."""
    return [line for name in ("hal.buffer.load", "hal.device.queue.write") for line in block.calls(name)]


UNTIL_LARGE = """func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %limit = stablehlo.constant dense<1000.0> : tensor<f32>
  %0 = stablehlo.while(%y = %x) : tensor<64xf32>
    cond {
      %sum = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
      %1 = stablehlo.compare LT, %sum, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %y, %y : tensor<64xf32>
      stablehlo.return %1 : tensor<64xf32>
    }
  return %0 : tensor<64xf32>
}"""


def test_a_loop_on_tensors_reads_back_its_condition_only(folder: Path) -> None:
    path = folder / "until_large.vmfb"
    path.write_bytes(bytes(tiree.compile(UNTIL_LARGE)))
    blocks = blocks_of(path, "main")
    (loop,) = loops(blocks)
    (read,) = [line for block in loop for line in _reads(block)]
    (test,) = [block for block in loop if _reads(block)]
    match = re.match(r"(%i\d+) = vm\.call @hal\.buffer\.load\(%[rR]\d+, %i\d+, (%i\d+)\)", read)
    assert match, read
    assert constant(blocks, match[2]) == 1, "the condition is one byte"
    assert test.lines[-1].startswith(f"vm.cond_br {match[1]}, "), test.lines
    outside = [line for block in blocks if block not in loop for line in _reads(block)]
    assert len(outside) <= 1, "the test before the first iteration"


def test_newton_reads_its_argument_only(folder: Path) -> None:
    """Its loop is one of scalars, which the host runs."""
    path, _ = compiled("newton", folder)
    blocks = blocks_of(path, "main")
    (loop,) = loops(blocks)
    assert not [line for block in loop for line in _reads(block)]
    assert len([line for block in blocks for line in block.calls("hal.buffer.load")]) == 1


def test_the_loop_of_a_scan_is_counted_by_the_host(folder: Path) -> None:
    path, _ = compiled("lstm", folder)
    blocks = blocks_of(path, "main")
    (loop,) = loops(blocks)
    assert any(line.startswith("vm.cond_br") for block in loop for line in block.lines)
    assert not [line for block in blocks for line in _reads(block)], "the steps are known to the host"


def test_nested_if_branches_in_the_vm(folder: Path) -> None:
    path, _ = compiled("nested_if", folder)
    blocks = blocks_of(path, "main")
    assert not loops(blocks)
    branches = [line for block in blocks for line in block.lines if line.startswith("vm.cond_br")]
    assert len(branches) == 4, "outer, inner, and two of a switch of three"
    for block in blocks:
        assert len(_reads(block)) <= 1
        assert not _reads(block) or block.lines[-1].startswith("vm.cond_br"), "what is read decides a branch"
    assert sum(len(_reads(block)) for block in blocks) == 3


@pytest.mark.parametrize("value", [-3.0, -2.0, 5.0, 0.5, 0.0])
def test_every_branch_of_nested_if(value: float, folder: Path) -> None:
    path, _ = compiled("nested_if", folder)
    function = makers.nested_if().function
    module = tiree.load(path)
    for second in (0.25, 1.5, 7.0):
        given = np.array([value, second, 0.25], np.float32)
        np.testing.assert_allclose(module.main(given), function(given), rtol=1e-6)


@pytest.mark.parametrize("value", [1.0, 2.0, 1e-3, 1e6])
def test_newton_takes_as_many_steps_as_jax(value: float, folder: Path) -> None:
    import jax

    path, _ = compiled("newton", folder)
    root, count = tiree.load(path).main(np.float32(value))
    want_root, want_count = jax.jit(makers.newton().function)(np.float32(value))
    assert int(count) == int(want_count)
    np.testing.assert_allclose(np.asarray(root), want_root, rtol=1e-6)
