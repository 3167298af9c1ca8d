"""The real iree-opt as the oracle of text: what it makes of a module is compared, never our own output."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def find_tool(name: str) -> str:
    """The path of one of IREE's tools; skips the test where the wheel is not installed."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed (pip install iree-base-compiler)")
    return found


def generic_by_iree(text: str) -> str:
    """`text` as iree-opt reads it and prints it in the generic form. Fails the test if iree-opt refuses it."""
    command = [find_tool("iree-opt"), "--mlir-print-op-generic", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"iree-opt refuses the module:\n{done.stderr[:2000]}"
    return done.stdout


def same_for_iree(original: str) -> str:
    """Reads and prints `original`; checks that iree-opt sees no difference. Returns what was printed."""
    from tiree.dialects import print_module, read_module

    printed = print_module(read_module(original))
    ours, theirs = generic_by_iree(printed).splitlines(), generic_by_iree(original).splitlines()
    assert [pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]][:3] == []
    assert len(ours) == len(theirs)
    return printed
