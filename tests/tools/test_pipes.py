"""What tools write to, and what becomes of it: readers that left, closed streams, full disks, pipes, files in use."""

import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from runtime.modules import ADD, iree_module_with, tiree_module
from tools.runtime_tool import needs_iree, ours, refused

TOOLS = (
    "compile", "opt", "run_module", "benchmark_module", "dump_module", "as_module", "create_parameters",
    "convert_parameters", "dump_parameters", "new",
)  # fmt: skip
ADD_RUN = ("--input=4xf32=1", "--input=4xf32=2")


@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize("tool", TOOLS)
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


def shell(line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`line` of the shell, in which "$@" is `python -m tiree.tools.` with `arguments`."""
    words = ["bash", "-c", line, "bash", sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("tool", TOOLS)
def test_closed_output(tool: str) -> None:
    done = shell('"$@" >&-', f"tiree.tools.{tool}", "--help")
    assert done.returncode == 1
    assert done.stderr == "error: standard output is closed\n"
    assert (done := shell('"$@" >&- 2>&-', f"tiree.tools.{tool}", "--help")).returncode == 1, done
    done = shell('"$@" 2>&-', f"tiree.tools.{tool}", "--not-a-flag")
    assert (done.returncode, done.stdout) == (1, ""), done


@pytest.mark.parametrize("tool", TOOLS)
def test_a_full_disk(tool: str) -> None:
    done = shell('"$@" >/dev/full', f"tiree.tools.{tool}", "--help")
    assert (done.returncode, done.stderr) == (1, "error: standard output: No space left on device\n")


@pytest.fixture(scope="module")
def add_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("add") / "add.vmfb"
    path.write_bytes(tiree_module(ADD))
    return path


def test_results_with_closed_streams(add_file: Path, tmp_path: Path) -> None:
    """A file that is opened must not get the number of a closed stream, and what goes to files needs no stream."""
    run = ("tiree.tools.run_module", f"--module={add_file}", *ADD_RUN)
    done = shell('"$@" <&- >&-', *run)
    assert (done.returncode, done.stderr) == (1, "error: standard output is closed\n")
    source, target = tmp_path / "add.mlir", tmp_path / "add.vmfb"
    source.write_text(ADD)
    assert shell('"$@" >&- 2>&- <&-', "tiree.tools.compile", source, "-o", target).returncode == 0
    assert target.read_bytes()[:2] == b"PK"


def test_a_trace_does_not_overwrite_what_is_run(add_file: Path, tmp_path: Path) -> None:
    before = add_file.read_bytes()
    link = tmp_path / "link"
    link.symlink_to(add_file)
    for path in (add_file, link):
        for tool in ("run-module", "benchmark-module"):
            said = refused(tool, f"--module={add_file}", f"--trace={path}", "--function=add", *ADD_RUN)
            assert said == f"error: --trace={path}: would overwrite --module={add_file}\n  name another file\n"
    assert "--output=@" in refused("run-module", f"--module={add_file}", f"--output=@{add_file}", *ADD_RUN)
    assert add_file.read_bytes() == before
    numbers = tmp_path / "x.npy"
    np.save(numbers, np.ones(4, np.float32))
    inputs = (f"--input=@{numbers}", f"--input=4xf32=@{numbers}")
    said = refused("run-module", f"--module={add_file}", f"--trace={numbers}", *inputs)
    assert f"--trace={numbers}: would overwrite --input=@{numbers}" in said
    run = ("run-module", f"--module={add_file}", *inputs)
    assert ours(*run, f"--output=@{numbers}").code == 0
    assert np.load(numbers).tolist() == [2, 2, 2, 2]


def read_while(path: Path, body: object) -> bytes:
    """What comes through the pipe at `path` while `body()` runs."""
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    assert callable(body)
    body()
    reader.join()
    return found[0]


def test_pipes_as_targets(add_file: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for flag in (f"--output=@{pipe}", f"--output=+{pipe}"):
        data = read_while(pipe, lambda flag=flag: ours("run-module", f"--module={add_file}", flag, *ADD_RUN))
        assert np.frombuffer(data, np.float32).tolist() == [3, 3, 3, 3]
    trace = read_while(pipe, lambda: ours("run-module", f"--module={add_file}", f"--trace={pipe}", *ADD_RUN))
    assert json.loads(trace)["traceEvents"]


def test_pipes_as_inputs(add_file: Path, tmp_path: Path) -> None:
    """Bytes may come in pieces, with pauses."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        with open(pipe, "wb", buffering=0) as file:
            for part in (b"\0\0\x80?", b"\0\0\x80?" * 2, b"\0\0\x80?"):
                file.write(part)
                time.sleep(0.06)

    writer = threading.Thread(target=write)
    writer.start()
    done = ours("run-module", f"--module={add_file}", f"--input=4xf32=@{pipe}", "--input=4xf32=2")
    writer.join()
    assert "4xf32=3 3 3 3" in done.out
    line = '"$@" --input=4xf32=@<(printf "\\0\\0\\200?%.0s" 1 2 3 4) --input=4xf32=2'
    assert "4xf32=3 3 3 3" in shell(line, "tiree.tools.run_module", f"--module={add_file}").stdout


@pytest.mark.parametrize("flag", ["--input=4xf32=@pipe", "--input=@pipe", "--expected_output=4xf32=@pipe"])
def test_a_pipe_without_a_writer(flag: str, add_file: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    inputs = () if flag.startswith("--input") else ADD_RUN
    words = [sys.executable, "-m", "tiree.tools.run_module", f"--module={add_file}", *inputs, flag]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        # Shells ignore it for what they run in the background.
        assert process.stderr is not None
        assert process.stderr.readline() == "waiting for a program that writes to the pipe pipe\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stderr.read() == "interrupted\n"


@pytest.mark.parametrize("tool", ["compile", "opt"])
def test_an_interrupted_compilation(
    tool: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read() -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=SimpleNamespace(read=read)))
    main = importlib.import_module(f"tiree.tools.{tool}").main
    assert main(["-"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")


def test_files_that_cannot_be_written_are_named(add_file: Path, tmp_path: Path) -> None:
    run = ("run-module", f"--module={add_file}", *ADD_RUN)
    full = "cannot be written (No space left on device)"
    assert refused(*run, "--output=@/dev/full") == f"error: --output=@/dev/full: {full}\n"
    assert refused(*run, "--output=+/dev/full") == f"error: --output=+/dev/full: {full}\n"
    assert refused(*run, "--trace=/dev/full") == f"error: --trace=/dev/full: {full}\n"
    assert "--output=@/no/x: cannot be written (No such file" in refused(*run, "--output=@/no/x")
    target = tmp_path / "x.bin"
    assert ours(*run, f"--output=@{target}").code == ours(*run, f"--output=+{target}").code == 0
    assert len(target.read_bytes()) == 32


@needs_iree
def test_a_module_of_two_devices() -> None:
    source = """
    func.func @main(%a: tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@d0>})
        -> (tensor<4xf32> {iree.abi.affinity = #hal.device.promise<@d1>}) {
      %0 = stablehlo.add %a, %a : tensor<4xf32>
      %1 = flow.tensor.transfer %0 : tensor<4xf32> to #hal.device.promise<@d1>
      %2 = stablehlo.multiply %1, %1 : tensor<4xf32>
      return %2 : tensor<4xf32>
    }
    """
    path = Path("two.vmfb")
    devices = ("--iree-hal-target-device=d0=local[0]", "--iree-hal-target-device=d1=local[1]")
    path.write_bytes(iree_module_on(source, devices))
    for given in ((), ("--device=local-sync",)):
        said = refused("run-module", f"--module={path}", "--input=4xf32=1", *given)
        device = given[0] if given else "--device=local-task"
        assert said == (
            f'error: the module was made for 2 devices or more: "d1" is device 2, given are {device}\n'
            "  repeat --device= for each device of the module, in its order\n"
        )
    both = ours("run-module", f"--module={path}", "--input=4xf32=1", "--device=local-sync", "--device=local-task")
    assert "4xf32=4 4 4 4" in both.out


def iree_module_on(source: str, devices: tuple[str, ...]) -> bytes:
    """`source` compiled for several devices."""
    cpu = ("--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=generic")
    return iree_module_with(source, (*devices, *cpu), program=True)
