"""The runtime tools read a module from standard input, as IREE's do, and from a pipe that has a name."""

from __future__ import annotations

import subprocess
import sys

import pytest
import tiree


class TestModuleOnStdin:
    @pytest.fixture
    def module(self) -> bytes:
        return bytes(
            tiree.compile("func.func @f(%a: i32) -> i32 {\n  %b = arith.addi %a, %a : i32\n  return %b : i32\n}")
        )

    def run(self, command: list[str], module: bytes) -> subprocess.CompletedProcess[bytes]:
        whole = [sys.executable, "-m", *command]
        return subprocess.run(whole, input=module, capture_output=True, timeout=100, check=False)

    @pytest.mark.parametrize("path", ["-", "/dev/stdin"])
    @pytest.mark.parametrize("mode", ["preload", "mmap"])
    def test_run(self, path: str, mode: str, module: bytes):
        flags = [f"--module={path}", f"--module_mode={mode}", "--input=21"]
        done = self.run(["tiree.tools.run_module", *flags], module)
        assert (done.returncode, done.stdout.split()[-1], done.stderr) == (0, b"i32=42", b"")

    def test_dump(self, module: bytes):
        done = self.run(["tiree.tools.dump_module", "-", "--output=disassembly"], module)
        assert done.returncode == 0
        assert b"vm.add.i32" in done.stdout

    def test_benchmark(self, module: bytes):
        flags = ["--module=-", "--function=f", "--input=21", "--benchmark_min_time=1x"]
        done = self.run(["tiree.tools.benchmark_module", *flags], module)
        assert (done.returncode, b"BM_f" in done.stdout) == (0, True)

    def test_nothing_comes(self):
        done = self.run(["tiree.tools.run_module", "--module=-"], b"")
        assert done.returncode == 1
        assert done.stderr.startswith(b"error: ")
        assert b"Traceback" not in done.stderr

    def test_twice(self, module: bytes):
        done = self.run(["tiree.tools.run_module", "--module=-", "--module=-"], module)
        assert (done.returncode, b"given twice" in done.stderr) == (1, True)
