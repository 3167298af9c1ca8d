"""Tiree and IREE 3.13 side by side in one run, as ratios: compile time, artifact bytes, call overhead, latency.

    python benches/python/compare_iree.py [--rounds N] [--threads N] [--only SECTION,...] [--json FILE]

Every figure is a median over interleaved rounds (Tiree, IREE, Tiree, ...), after a warm-up, on the same inputs and the
same number of threads. A ratio below 1 means Tiree is faster or smaller. IREE runs with its default optimisation flags
for the host CPU. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from models import MODELS, Model

BIN = Path(sys.executable).parent
IREE_FLAGS = ["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"]
SIZE_FLAGS = [
    "--iree-llvmcpu-debug-symbols=false",
    "--iree-vm-bytecode-module-strip-source-map=true",
    "--iree-vm-emit-polyglot-zip=false",
    "--iree-hal-executable-debug-level=0",
]


@dataclass
class Row:
    """One comparison; `limit` is the ratio that the project asks for, or None."""

    what: str
    tiree: float
    iree: float
    unit: str
    limit: float | None = None

    @property
    def ratio(self) -> float:
        return self.tiree / self.iree


def interleaved(a: Callable[[], Any], b: Callable[[], Any], rounds: int, inner: int = 1) -> tuple[float, float]:
    """Median seconds of one call of `a` and of `b`, measured in turns of `inner` calls."""
    times: tuple[list[float], list[float]] = ([], [])
    for f in (a, b):
        f()
    for _ in range(rounds):
        for f, samples in zip((a, b), times, strict=True):
            start = time.perf_counter()
            for _ in range(inner):
                f()
            samples.append((time.perf_counter() - start) / inner)
    return statistics.median(times[0]), statistics.median(times[1])


def compile_command(tool: str, source: Path, target: Path, flags: list[str]) -> list[str]:
    return [str(BIN / tool), str(source), "-o", str(target), *IREE_FLAGS, *flags]


def run(command: list[str]) -> None:
    """Runs a tool as an installed one runs: with Python's bytecode files, which installers write."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)


class Bench:
    """The models compiled by both compilers, and the sections that measure them."""

    def __init__(self, directory: Path, rounds: int, threads: int) -> None:
        self.directory, self.rounds, self.threads = directory, rounds, threads
        self.rows: list[Row] = []

    def artifact(self, model: Model, maker: str, flags: list[str] | None = None) -> Path:
        """The `.vmfb` of a model by `tiree` or `iree`, compiled once."""
        suffix = "" if flags is None else ".small"
        path = self.directory / f"{model.name}.{maker}{suffix}.vmfb"
        if not path.exists():
            run(compile_command(f"{maker}-compile", self.source(model), path, flags or []))
        return path

    def source(self, model: Model) -> Path:
        path = self.directory / f"{model.name}.mlir"
        if not path.exists():
            path.write_text(model.text())
        return path

    def compile_time(self) -> None:
        for name, limit in (("add", 1.0), ("cnn", None)):
            model = MODELS[name]
            source = self.source(model)
            commands = [
                compile_command(f"{t}-compile", source, self.directory / "out.vmfb", []) for t in ("tiree", "iree")
            ]
            ours, theirs = interleaved(
                lambda c=commands: run(c[0]), lambda c=commands: run(c[1]), max(5, self.rounds // 2)
            )
            self.rows.append(Row(f"compile {name}, wall", ours * 1e3, theirs * 1e3, "ms", limit))

    def size(self) -> None:
        for name in ("add", "mlp", "cnn"):
            ours, theirs = (
                self.artifact(MODELS[name], maker, SIZE_FLAGS).stat().st_size for maker in ("tiree", "iree")
            )
            self.rows.append(
                Row(f"artifact {name}, size flags", ours, theirs, "B", 3400 / 8152 if name == "add" else None)
            )

    def functions(self, model: Model, device: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """The model's entry point in both runtimes; each runs the artifact of its own compiler."""
        import iree.runtime as iree_runtime
        import tiree.runtime as tiree_runtime

        found = []
        for runtime, maker in ((tiree_runtime, "tiree"), (iree_runtime, "iree")):
            context = runtime.SystemContext(config=runtime.Config(device))
            module = runtime.VmModule.mmap(context.instance, str(self.artifact(model, maker)))
            context.add_vm_module(module)
            found.append(context.modules[module.name][model.entry])
        return found[0], found[1]

    def call_overhead(self) -> None:
        """4xf32 + 4xf32, numpy in and out."""
        model = MODELS["add"]
        a, b = model.inputs()
        for device, limit in (("local-sync", 1.0), ("local-task", 0.5)):
            ours, theirs = self.functions(model, device)
            t, i = interleaved(
                lambda f=ours: np.asarray(f(a, b)), lambda f=theirs: np.asarray(f(a, b)), self.rounds, 2000
            )
            self.rows.append(Row(f"Python call of add, {device}", t * 1e6, i * 1e6, "us", limit))

    def latency(self) -> None:
        for name in [n for n in MODELS if n != "add"]:
            model = MODELS[name]
            inputs = model.inputs()
            ours, theirs = self.functions(model, "local-task")
            start = time.perf_counter()
            call(theirs, inputs)
            inner = max(1, int(0.02 / max(time.perf_counter() - start, 1e-6)))
            t, i = interleaved(partial(call, ours, inputs), partial(call, theirs, inputs), self.rounds, inner)
            self.rows.append(Row(f"latency {name}, {self.threads} threads", t * 1e3, i * 1e3, "ms", 1.0))

    def report(self) -> str:
        lines = ["| what | Tiree | IREE | unit | ratio | bar |", "|---|---|---|---|---|---|"]
        for r in self.rows:
            bar = "" if r.limit is None else f"{'ok' if r.ratio <= r.limit else 'MISSED'} (<= {r.limit:.2f})"
            lines.append(f"| {r.what} | {r.tiree:,.4g} | {r.iree:,.4g} | {r.unit} | {r.ratio:.2f} | {bar} |")
        return "\n".join(lines)


def first(value: Any) -> Any:
    return value[0] if isinstance(value, tuple | list) else value


def call(function: Callable[..., Any], inputs: list[np.ndarray]) -> np.ndarray:
    """Calls with arrays and waits for the first result as an array."""
    return np.asarray(first(function(*inputs)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="compile_time,size,call_overhead,latency")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    import iree.runtime as iree_runtime
    import tiree.runtime as tiree_runtime

    for runtime in (tiree_runtime, iree_runtime):
        runtime.flags.parse_flags(f"--task_topology_group_count={arguments.threads}")
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(Path(directory), arguments.rounds, arguments.threads)
        for section in arguments.only.split(","):
            getattr(bench, section)()
        print(bench.report())
        if arguments.json:
            rows = [{**vars(r), "ratio": r.ratio} for r in bench.rows]
            arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
        return int(any(r.limit is not None and r.ratio > r.limit for r in bench.rows))


if __name__ == "__main__":
    sys.exit(main())
