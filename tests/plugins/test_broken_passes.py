"""Passes that break modules at random, at every extension point: the compiler ends with a report that names the plugin,
or the module was still a program."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiree.pipeline import EXTENSION_POINTS
from tools.runtime_tool import ours

PROGRAM = """
func.func @f(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %0 = stablehlo.dot %a, %b : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.tanh %0 : tensor<8x8xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8xf32>
}
"""
PLUGIN = """
import random
from xdsl.dialects.builtin import StringAttr, i32
from xdsl.passes import ModulePass


class Break(ModulePass):
    name = "break-it"

    def apply(self, ctx, op):
        chance = random.Random(SEED)
        ops = [inner for inner in op.walk() if inner is not op]
        found = chance.choice(ops)
        block = found.parent_block()
        match chance.randrange(8):
            case 0 if found.properties:
                found.properties.pop(chance.choice(list(found.properties)))
            case 1 if found.properties:
                found.properties[chance.choice(list(found.properties))] = StringAttr("x")
            case 2:
                found.detach()
            case 3 if found.operands:
                found.operands = list(found.operands)[1:]
            case 4 if found.results:
                found.results[0]._type = i32
            case 5 if found.regions and found.regions[0].blocks:
                found.regions[0].blocks[0].add_op(ops[-1].clone())
            case 6 if found.next_op is not None:
                following = found.next_op
                found.detach()
                block.insert_op_after(found, following)
            case _ if found.operands:
                values = [value for inner in ops for value in inner.results]
                found.operands[0] = chance.choice(values)


def register(registry):
    registry.add_pass(Break, at="POINT")
"""


@pytest.mark.parametrize("point", EXTENSION_POINTS)
def test_a_pass_that_breaks_the_module_is_told(point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.mlir").write_text(PROGRAM)
    seed = list(EXTENSION_POINTS).index(point)
    Path("p.py").write_text(PLUGIN.replace("SEED", str(seed)).replace("POINT", point))
    done = ours("compile", "m.mlir", "--tiree-plugin=p.py", "--iree-llvmcpu-target-cpu=generic", "-o", "m.vmfb")
    assert "Traceback" not in done.err
    assert done.code in (0, 1)
    assert Path("m.vmfb").exists() == (done.code == 0)
    if "internal error" in done.err:
        assert f"or of plugin p.py: does it happen without? Passes of plugins: break-it {point}." in done.err
    elif done.code:
        assert "pass break-it of plugin p.py" in done.err or "error: " in done.err


LATE = """
from xdsl.dialects.builtin import i64
from xdsl.passes import ModulePass


class Break(ModulePass):
    '''Takes away what no verifier asks for, and a later pass of the compiler needs.'''

    name = "break-late"

    def apply(self, ctx, op):
        for inner in op.walk():
            if inner.name == "linalg.generic":
                inner.attributes["tiree.broken"] = i64


def register(registry):
    registry.add_pass(Break, at="before-fusion")
"""


def test_an_internal_error_names_the_operation_the_pass_and_the_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tiree.flow.fuse_elementwise import FuseElementwise

    def fail(self: FuseElementwise, ctx: object, op: object) -> None:  # noqa: ARG001
        for inner in op.walk():  # type: ignore[attr-defined]
            if inner.name == "linalg.generic":
                raise KeyError("tiree.broken")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(FuseElementwise, "apply", fail)
    Path("m.mlir").write_text(PROGRAM)
    Path("p.py").write_text(LATE)
    done = ours("compile", "m.mlir", "--tiree-plugin=p.py", "--iree-llvmcpu-target-cpu=generic", "-o", "m.vmfb")
    assert done.code == 1
    assert "pass tiree-dispatch-creation-fuse-elementwise on linalg.generic at m.mlir:" in done.err
    assert "or of plugin p.py: does it happen without? Passes of plugins: break-late before-fusion." in done.err
