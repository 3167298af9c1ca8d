"""Helpers of the vm tests: compile `hal`-phase text to a `.vmfb` and run it with the reference tools."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tiree.dialects import get_context, read_module
from tiree.support.options import CompileOptions
from tiree.vm import emit_archive, vm_passes

Run = Callable[..., str]


@pytest.fixture
def run_with_iree(tmp_path: Path) -> Run:
    """`run(text, function, *inputs)`: what iree-run-module prints for the module that Tiree makes of `text`."""

    def run(text: str, function: str, *inputs: str) -> str:
        options, context = CompileOptions(), get_context()
        module = read_module(text, context)
        for p in vm_passes(options):
            p.apply(context, module)
        path = tmp_path / "module.vmfb"
        path.write_bytes(emit_archive(module, options))
        command = [str(Path(sys.executable).parent / "iree-run-module"), f"--module={path}", "--device=local-sync"]
        command += [f"--function={function}", *(f"--input={i}" for i in inputs)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
