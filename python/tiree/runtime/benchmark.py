"""`benchmark_module`: times a module in a process of its own, with `tiree-benchmark-module`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tiree import _native

if TYPE_CHECKING:
    import numpy as np

__all__ = ["BenchmarkResult", "BenchmarkTimeoutError", "BenchmarkToolError", "benchmark_exe", "benchmark_module"]


class BenchmarkResult(NamedTuple):
    """One entry of the report: the name, times with their unit, iterations, and the whole entry."""

    benchmark_name: str
    time: str
    cpu_time: str
    iterations: str
    report: dict[str, Any]


class BenchmarkToolError(Exception):
    """The tool failed; the text is what it printed."""


class BenchmarkTimeoutError(Exception):
    """The tool did not finish in time."""


def benchmark_exe() -> str:
    """Path of the tool in this environment. Raises `FileNotFoundError` when it is not installed."""
    path = os.path.join(os.path.dirname(sys.executable), "tiree-benchmark-module")
    if not os.path.exists(path):
        raise FileNotFoundError(f"no tiree-benchmark-module beside {sys.executable}")
    return path


def benchmark_module(
    module: _native.VmModule | os.PathLike[str] | str,
    entry_function: str | None = None,
    inputs: Sequence[str | np.ndarray] | None = None,
    timeout: float | None = None,
    executable: str | os.PathLike[str] | None = None,
    **kwargs: Any,
) -> list[BenchmarkResult]:
    """Times `entry_function` with `inputs` (arrays, or text as `--input=` takes it); `kwargs` are flags of the tool.

    Raises `BenchmarkTimeoutError` after `timeout` seconds and `BenchmarkToolError` when the tool fails.
    """
    command = [os.fspath(executable)] if executable else [sys.executable, "-m", "tiree.tools.benchmark_module"]
    with tempfile.TemporaryDirectory() as directory:
        command.append(f"--module={_module_file(module, directory)}")
        if entry_function:
            command.append(f"--function={entry_function}")
        command += [f"--input={_input(value, directory, number)}" for number, value in enumerate(inputs or ())]
        command += [f"--{name}={_flag(value)}" for name, value in kwargs.items()]
        command.append("--benchmark_format=json")
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
        except subprocess.TimeoutExpired as error:
            raise BenchmarkTimeoutError(f"the benchmark did not finish in {timeout} s") from error
    if done.returncode != 0:
        raise BenchmarkToolError(done.stderr.strip() or f"the tool ended with exit code {done.returncode}")
    return [_result(entry) for entry in json.loads(done.stdout)["benchmarks"]]


def _result(entry: dict[str, Any]) -> BenchmarkResult:
    unit = entry["time_unit"]
    return BenchmarkResult(
        benchmark_name=entry["name"],
        time=f"{entry['real_time']} {unit}",
        cpu_time=f"{entry['cpu_time']} {unit}",
        iterations=str(entry["iterations"]),
        report=entry,
    )


def _module_file(module: _native.VmModule | os.PathLike[str] | str, directory: str) -> str:
    if not isinstance(module, _native.VmModule):
        return os.fspath(module)
    blob = module.stashed_flatbuffer_blob
    if blob is None:
        raise ValueError(f"module {module.name} is native; only compiled modules can be timed")
    path = os.path.join(directory, "module.vmfb")
    with open(path, "wb") as file:
        file.write(blob)
    return path


def _input(value: str | np.ndarray, directory: str, number: int) -> str:
    if isinstance(value, str):
        return value
    import numpy as np

    path = os.path.join(directory, f"input{number}.npy")
    np.save(path, np.ascontiguousarray(value))
    return f"@{path}"


def _flag(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
