"""Reports of compilations that fail: what was known by then, and the error with its phase and pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tiree
from report.programs import ADD, read_page

PLUGIN = """
from xdsl.passes import ModulePass
from tiree.support.errors import CompileError, Diagnostic


class Refuse(ModulePass):
    name = "refuse"

    def apply(self, ctx, op):
        raise CompileError(Diagnostic("this program <b>displeases</b>", "here:1", "write another"))


def register(registry):
    registry.add_pass(Refuse, at="AFTER")
"""


def failed(folder: Path, source: str, name: str, flags: list[str]) -> str:
    with pytest.raises(tiree.CompileError) as caught:
        tiree.compile(source, flags=[*flags, f"--tiree-report={folder / name}"])
    return str(caught.value)


@pytest.mark.parametrize(
    ("point", "phase"), [("after-input", "input"), ("before-dispatches", "dispatch-creation"), ("after-flow", "flow")]
)
def test_the_phase_and_the_pass_are_named(tmp_path: Path, point: str, phase: str) -> None:
    plugin = tmp_path / "refusing.py"
    plugin.write_text(PLUGIN.replace("AFTER", point))
    message = failed(tmp_path, ADD, "r.json", [f"--tiree-plugin={plugin}"])
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["error"] == {"phase": phase, "pass": "refuse", "message": message}
    assert [step["phase"] for step in data["passes"] if step.get("pass")][-1] == phase
    assert phase == data["phases"][-1]["name"]
    assert not data["artifact"]["bytes"]


def test_the_page_says_so(tmp_path: Path) -> None:
    plugin = tmp_path / "refusing.py"
    plugin.write_text(PLUGIN.replace("AFTER", "after-stream"))
    message = failed(tmp_path, ADD, "r.html", [f"--tiree-plugin={plugin}"])
    data = read_page(tmp_path / "r.html").data
    assert data["error"]["message"] == message
    assert data["dispatches"] == []
    assert len(data["graphs"]) == 1
    assert "<b>displeases" not in (tmp_path / "r.html").read_text()


def test_transients_of_sizes_that_are_known_later(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %1 = stablehlo.dot %0, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
"""
    for name in ("r.json", "r.txt", "r.html"):
        tiree.compile(text, flags=[f"--tiree-report={tmp_path / name}"])
    data = json.loads((tmp_path / "r.json").read_text())
    assert data["memory"] == []
    assert data["dynamic_memory"] == [
        {"function": "main", "execution": 0, "size": "dim 0 of arg 0 * 32", "first": 0, "last": 1}
    ]
    assert "@main: dim 0 of arg 0 * 32 bytes during commands 0..1\n" in (tmp_path / "r.txt").read_text()
    assert read_page(tmp_path / "r.html").data["dynamic_memory"] == data["dynamic_memory"]


def test_a_text_that_cannot_be_read(tmp_path: Path) -> None:
    message = failed(tmp_path, "func.func @f(%x: tensor<4xf32>) { nonsense }", "r.txt", [])
    text = (tmp_path / "r.txt").read_text()
    assert "failed in phase start\n" in text
    assert message.splitlines()[0] in text


def test_a_report_that_cannot_be_written_hides_no_error(tmp_path: Path) -> None:
    message = failed(tmp_path, "nonsense", "missing/r.txt", [])
    assert "nonsense" in message
