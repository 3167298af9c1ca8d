"""Equal layers are compiled once: the artifact is that of compiling each, and layers that differ in anything stay."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from programs.layers import DIFFERENCES, STEPS, LayeredProgram, drawn
from tiree.dialects import get_context, read_module
from tiree.driver import Job, run_job
from tiree.input.share_layers import ShareLayersPass
from tiree.support.options import CompileOptions
from xdsl.dialects.func import CallOp
from xdsl.ir import SSAValue


def compiled(text: str, share: bool, to: str = "end", **settings: bool) -> bytes:
    options = CompileOptions(llvmcpu_target_cpu="generic", share_layers=share)
    return run_job(Job(text.encode(), "layers.mlir", options, compile_to=to, print_settings=dict(settings)))


class Entry(NamedTuple):
    """An operation, its operands and results by number (constants by what they hold)."""

    name: str
    location: str
    properties: tuple[tuple[str, str], ...]
    operands: tuple[object, ...]
    types: tuple[str, ...]


def flow_of(program: LayeredProgram, share: bool) -> list[Entry]:
    """The module at phase `flow`, an entry for each operation. Where a constant stands does not matter."""
    text = compiled(program.text, share, "flow", generic=True, debuginfo=True).decode()
    numbers: dict[SSAValue, object] = {}
    found: list[Entry] = []
    count = 0
    for op in read_module(text, get_context()).walk():
        properties = tuple(sorted((name, str(value)) for name, value in op.properties.items()))
        if op.name == "arith.constant":
            numbers[op.results[0]] = properties
            continue
        for value in (*op.results, *(argument for region in op.regions for argument in region.blocks[0].args)):
            numbers[value], count = count, count + 1
        operands = tuple(numbers[operand] for operand in op.operands)
        types = tuple(str(value.type) for value in op.results)
        found.append(Entry(op.name, str(op.location), properties, operands, types))
    return found


def calls(text: str) -> list[str]:
    """The functions of layers that are called, a name for each call."""
    module = read_module(text, get_context())
    ShareLayersPass().apply(get_context(), module)
    return [op.callee.root_reference.data for op in module.walk() if isinstance(op, CallOp)]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("constants", [False, True], ids=["arguments", "constants"])
def test_inner_layers_become_one_function_and_nothing_else_changes(step: str, constants: bool) -> None:
    program = LayeredProgram(6, (step, "tanh"), weights_are_constants=constants)
    assert calls(program.text) == ["main_layer"] * 4
    assert flow_of(program, True) == flow_of(program, False)


def test_the_artifact_is_the_same() -> None:
    program = LayeredProgram(6, ("shift", "gate", "tanh"), weights_are_constants=True)
    assert compiled(program.text, True) == compiled(program.text, False)


@pytest.mark.parametrize(
    ("difference", "place"), [*zip(DIFFERENCES, [3, 6] * 6, strict=False), ("order", 0), ("skip", 8)]
)
def test_a_layer_that_differs_stays(difference: str, place: int) -> None:
    """The odd layer, and what is equal on its sides is shared where it is long enough."""
    program = LayeredProgram(9, ("table", "tables", "tanh"), difference, place)
    assert len(calls(program.text)) <= 7
    assert flow_of(program, True) == flow_of(program, False)


@pytest.mark.parametrize("seed", range(16))
def test_drawn_programs_are_the_same(seed: int) -> None:
    program = drawn(seed)
    assert flow_of(program, True) == flow_of(program, False)


@pytest.mark.parametrize("count", [4, 5])
def test_few_layers_are_left_alone(count: int) -> None:
    assert calls(LayeredProgram(count).text) == ["main_layer"] * {4: 0, 5: 3}[count]


@pytest.mark.parametrize(
    "text",
    [
        LayeredProgram(6).text.replace("8x16", "?x16").replace("<8xf32>", "<?xf32>"),
        "\n".join(f"%{n + 1} = stablehlo.tanh %{n} : tensor<4xf32>" for n in range(200)),
    ],
    ids=["dynamic", "elementwise"],
)
def test_what_has_no_place_to_cut_is_left_alone(text: str) -> None:
    if "func.func" not in text:
        text = f"func.func @main(%0: tensor<4xf32>) -> tensor<4xf32> {{\n{text}\nreturn %200 : tensor<4xf32>\n}}"
    module = read_module(text, get_context())
    before = str(module)
    ShareLayersPass().apply(get_context(), module)
    assert str(module) == before


def test_results_are_those_of_each_layer_compiled(tmp_path: Path) -> None:
    import tiree.runtime as runtime

    program = LayeredProgram(7, ("shift", "hide", "tanh"), "additional result")
    outputs: list[list[np.ndarray]] = []
    for share in (True, False):
        path = tmp_path / f"{share}.vmfb"
        path.write_bytes(compiled(program.text, share))
        module = runtime.load_vm_flatbuffer_file(str(path), driver="local-sync")
        outputs.append([np.asarray(one) for one in module.main(*program.inputs)])
    for one, each in zip(outputs[0], outputs[1], strict=True):
        np.testing.assert_array_equal(one, each)
    assert np.isfinite(outputs[0][0]).all()


def test_a_fault_of_a_shared_layer_names_a_line_of_it() -> None:
    from tiree.support.errors import CompileError

    text = LayeredProgram(6).text.replace("stablehlo.tanh", "chlo.frobnicate")
    with pytest.raises(CompileError, match=r"layers.mlir:\d+:\d+"):
        compiled(text, True)


def test_what_is_the_same_for_all_layers_is_there_once() -> None:
    """Each layer computes it: the first and the last for themselves, those between read that of the first of them."""
    lines: list[str] = []
    for n in range(8):
        lines += [
            f"%c{n} = stablehlo.constant dense<3> : tensor<i32>",
            f"%d{n} = stablehlo.add %p, %c{n} : tensor<i32>",
            f"%e{n} = stablehlo.multiply %d{n}, %p : tensor<i32>",
            f"%f{n} = stablehlo.dynamic_slice %x{n}, %e{n}, %d{n}, sizes = [8, 16] : "
            "(tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x16xf32>",
            f"%g{n}_0 = stablehlo.tanh %f{n} : tensor<8x16xf32>",
            *(f"%g{n}_{k} = stablehlo.add %g{n}_{k - 1}, %f{n} : tensor<8x16xf32>" for k in range(1, 16)),
            f"%x{n + 1} = stablehlo.dot_general %g{n}_15, %w, contracting_dims = [1] x [0] : "
            "(tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>",
        ]
    text = (
        "func.func @main(%x0: tensor<8x16xf32>, %w: tensor<16x16xf32>, %p: tensor<i32>) -> tensor<8x16xf32> {\n"
        + "\n".join(lines)
        + "\nreturn %x8 : tensor<8x16xf32>\n}"
    )
    module = read_module(text, get_context())
    ShareLayersPass().apply(get_context(), module)
    main = next(op for op in module.body.block.ops if not op.attributes)
    names = [op.name for op in main.walk()]
    assert names.count("func.call") == 5
    assert names.count("stablehlo.multiply") == names.count("stablehlo.dynamic_slice") + 1 == 4
