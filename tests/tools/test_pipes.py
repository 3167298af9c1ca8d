"""Tools whose output nobody reads any more end quietly."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("tool", ["compile", "opt", "run_module", "benchmark_module", "dump_module", "as_module"])
def test_a_reader_that_left(tool: str, buffered: bool) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", f"tiree.tools.{tool}", "--help"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    try:
        done = subprocess.run(
            command, stdout=writing, stderr=subprocess.PIPE, text=True, env=environment, timeout=60, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")
