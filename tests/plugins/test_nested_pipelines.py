"""Pipelines in pipelines: passes that run on each function."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tiree.compiler import run_pass_pipeline
from tools.runtime_tool import ours

GENERIC = "--iree-llvmcpu-target-cpu=generic"
HEAD = """
from xdsl.dialects.builtin import StringAttr
from xdsl.passes import ModulePass


def note(op, text):
    before = op.attributes.get("notes")
    op.attributes["notes"] = StringAttr((before.data + " " if before else "") + text)


"""
TWO = """
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  %1 = stablehlo.negate %a : tensor<4xf32>
  %2 = func.call @g(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %a : tensor<4xf32>
}
"""
NAMES = (
    HEAD
    + """
class Names(ModulePass):
    name = "names"

    def apply(self, ctx, op):
        found = " ".join(one.sym_name.data for one in op.body.block.ops)
        for one in op.body.block.ops:
            note(one, found)
"""
)


COPIES = (
    HEAD
    + """
class Copies(ModulePass):
    name = "copies"

    def apply(self, ctx, op):
        for one in list(op.body.block.ops):
            copied = one.clone()
            copied.properties["sym_name"] = StringAttr(one.sym_name.data + "_copy")
            op.body.block.add_op(copied)
"""
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nested_pipelines_run_on_each_function(folder: Path) -> None:
    (folder / "n.py").write_text(NAMES)
    (folder / "two.mlir").write_text(TWO)
    plugin = "--tiree-plugin=n.py"
    for pipeline, said in {
        "builtin.module(func.func(dce,names))": ['notes = "f"', 'notes = "g"'],
        "func.func( dce ), func.func(names)": ['notes = "f"', 'notes = "g"'],
        "dce,names,util.func(names)": ['notes = "f g"'] * 2,
        "func.func(dce),builtin.module(dce)": None,
        "func.func(),dce": [],
    }.items():
        done = ours("opt", "two.mlir", plugin, f"--pass-pipeline={pipeline}")
        if said is None:
            assert "runs 'dce' on each builtin.module\n  passes run on the module, or on each func.func or" in done.err
            continue
        assert done.code == 0, done.err
        assert "stablehlo.negate" in done.out
        assert done.out.count("stablehlo.negate") == 1, done.out
        assert re.findall('notes = "[^"]*"', done.out) == said
        assert done.out.index("@f") < done.out.index("@g(%")
    flag = "--iree-preprocessing-pass-pipeline=builtin.module(util.func(names,cse))"
    done = ours("compile", "two.mlir", GENERIC, plugin, flag, "--compile-to=preprocessing")
    assert done.code == 0, done.err
    assert 'notes = "f"' in done.out
    text = run_pass_pipeline(TWO, "func.func(dce,names)", plugins=["n.py"])
    assert text.count("stablehlo.negate") == 1


@pytest.mark.parametrize(
    ("pipeline", "said"),
    [
        (
            "func.func(tiree-input-expand-indices)",
            "pass tiree-input-expand-indices works on the module, not on func.func",
        ),
        (
            "func.func(copies)",
            "pass copies changes what is around func.func @f\n  write it outside of func.func(",
        ),
        ("func.func(scf.for(cse))", "the pipeline runs passes on each scf.for in func.func"),
        ("func.func(cse", "cannot be read: '(' is not closed"),
        ("cse),dce", "cannot be read: unexpected ')'"),
        ("func.func(nothing)", "no pass 'nothing'"),
    ],
)
def test_wrong_nested_pipelines_are_refused_by_name(folder: Path, pipeline: str, said: str) -> None:
    (folder / "two.mlir").write_text(TWO)
    (folder / "c.py").write_text(COPIES)
    done = ours("opt", "two.mlir", "--tiree-plugin=c.py", f"--pass-pipeline={pipeline}")
    assert done.code == 1
    assert said in done.err
