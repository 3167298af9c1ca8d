"""The runtime tools read a module from standard input, as IREE's do, and from a pipe that has a name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

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

    @pytest.mark.parametrize(("path", "name"), [("-", b"standard input (-)"), ("/dev/stdin", b"/dev/stdin")])
    @pytest.mark.parametrize("content", [b"", b"no module at all, but some text of a length"])
    @pytest.mark.parametrize("tool", [["run_module", "--module="], ["dump_module", ""]])
    def test_errors_name_what_was_given(self, path: str, name: bytes, content: bytes, tool: list[str]):
        done = self.run([f"tiree.tools.{tool[0]}", tool[1] + path], content)
        assert done.returncode == 1
        assert name in done.stderr
        assert b"/tmp" not in done.stderr
        assert b"/fd/" not in done.stderr

    @pytest.mark.parametrize(("path", "name"), [("-", b"standard input (-)"), ("/dev/stdin", b"/dev/stdin")])
    def test_unknown_function(self, path: str, name: bytes, module: bytes):
        done = self.run(["tiree.tools.dump_module", path, "--output=disassembly", "--function=nope"], module)
        assert (done.returncode, done.stderr.splitlines()[0]) == (1, b"error: " + name + b' has no function "nope"')

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
    def test_ended_while_it_reads(self, number: int, tmp_path: Path):
        command = [sys.executable, "-m", "tiree.tools.run_module", "--module=-"]
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as process:
            assert process.stdin is not None
            process.stdin.write(bytes(1 << 20))  # More than a pipe holds: once all is written, it is being read.
            process.stdin.flush()
            process.send_signal(number)
            assert process.wait(20) != 0
        assert os.listdir(tmp_path) == []
