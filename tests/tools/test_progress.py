"""Progress on a terminal: one line that says what is going on, gone at the end; nothing anywhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

ADD = """func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
# A compilation that takes its second at once: the delay is none, and a pass lasts until the line was written.
SLOW = """
import sys, threading
from tiree import pipeline_observers as observers
from tiree.codegen.translate_executables import TranslateExecutables

observers.Progress.DELAY, observers.Progress.PERIOD = {delay}, 0.001
written = threading.Event()

class Watched:
    def __init__(self, stream):
        self.stream = stream
    def __getattr__(self, name):
        return getattr(self.stream, name)
    def write(self, text):
        if "translate-executables" in text:
            written.set()
        return self.stream.write(text)

translate = TranslateExecutables.apply
def apply(self, ctx, op):
    written.wait({patience})
    translate(self, ctx, op)
TranslateExecutables.apply = apply
sys.stderr = Watched(sys.stderr)
from tiree.tools.compile import main
sys.exit(main(sys.argv[1:]))
"""


def terminal(folder: Path, program: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """Exit code and what appears on a terminal that is the tool's stderr."""
    (folder / "add.mlir").write_text(ADD)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", program, *arguments]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:  # Linux says so when the other end is closed.
            break
        if not data:
            break
        shown += data
    os.close(ours)
    return process.wait(), shown.decode()


FLAGS = ("add.mlir", "-o", "add.vmfb", "--iree-llvmcpu-target-cpu=generic")


def test_a_long_compilation_says_what_it_does(tmp_path: Path) -> None:
    code, shown = terminal(tmp_path, SLOW.format(delay=0, patience=60), *FLAGS)
    assert code == 0, shown
    lines = [line for line in shown.split("\r\x1b[K") if line]
    assert any(line.endswith(" s] executable-targets: tiree-codegen-translate-executables") for line in lines)
    assert all(line.startswith("[") for line in lines)
    assert shown.endswith("\r\x1b[K"), "the line stays"
    assert "\n" not in shown


def test_the_line_fits_the_terminal(tmp_path: Path) -> None:
    program = "import os\nos.get_terminal_size = lambda fd: os.terminal_size((20, 5))\n" + SLOW
    # The cut line does not name the pass: wait for it in vain, for a moment.
    _, shown = terminal(tmp_path, program.format(delay=0, patience=0.05), *FLAGS)
    assert max(len(line) for line in shown.split("\r\x1b[K")) == 19


def test_a_failed_compilation_takes_its_line_away(tmp_path: Path) -> None:
    code, shown = terminal(
        tmp_path, SLOW.format(delay=0, patience=60), *FLAGS, "--iree-hal-dump-executable-files-to=/dev/null/x"
    )
    assert code == 1
    assert "error: " in shown.split("\r\x1b[K")[-1]


@pytest.mark.parametrize(
    ("delay", "flags", "environment"),
    [(3600, (), {}), (0, (), {"TERM": "dumb"})],
    ids=["short", "dumb"],
)
def test_nothing_is_shown(delay: int, flags: tuple[str, ...], environment: dict[str, str], tmp_path: Path) -> None:
    assert terminal(tmp_path, SLOW.format(delay=delay, patience=0), *FLAGS, *flags, **environment) == (0, "")


def test_nothing_is_shown_where_no_terminal_is(tmp_path: Path) -> None:
    (tmp_path / "add.mlir").write_text(ADD)
    command = [sys.executable, "-c", SLOW.format(delay=0, patience=0.05), *FLAGS]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_printed_ir_is_not_interrupted(tmp_path: Path) -> None:
    code, shown = terminal(tmp_path, SLOW.format(delay=0, patience=0.05), *FLAGS, "--mlir-print-ir-after-all")
    assert code == 0
    assert "IR Dump" in shown
    assert "\x1b[K" not in shown
