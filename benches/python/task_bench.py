"""The task system against rayon and against IREE's local-task, as ratios in one run, with a verdict for each.

    python benches/python/task_bench.py [--rounds N] [--only rayon,iree] [--threads N]

Against rayon: `benches/examples/task_ratios.rs` (wake-up latency, fork and join of empty tiles, stealing); the goal is
to be no slower. Against IREE: modules with many small dispatches, compiled by iree-compile, run by
iree-benchmark-module and tiree-benchmark-module on local-task with the same number of threads; the goal is half of
IREE's time. Rounds are interleaved and the best of each counts. The exit code is 0 when all goals are reached. Run it
on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
FLAGS = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
]
GOAL = 0.5


@dataclass(frozen=True)
class Program:
    """Dispatches that each need the one before (`chain`) or none of the others (`wide`), over `elements` numbers."""

    name: str
    shape: str
    dispatches: int
    elements: int

    def text(self) -> str:
        """StableHLO; barriers keep the compiler from making one dispatch of all."""
        tensor = f"tensor<{self.elements}xf32>"
        lines = [f"func.func @main(%x: {tensor}) -> {tensor} {{"]
        previous = "%x"
        parts: list[str] = []
        for index in range(self.dispatches):
            source = previous if self.shape == "chain" else "%x"
            lines.append(f"  %c{index} = stablehlo.constant dense<{index + 1}.0> : {tensor}")
            lines.append(f"  %a{index} = stablehlo.add {source}, %c{index} : {tensor}")
            lines.append(f"  %v{index} = stablehlo.optimization_barrier %a{index} : {tensor}")
            previous = f"%v{index}"
            parts.append(previous)
        if self.shape == "wide":
            lines += [f"  %s0 = stablehlo.add {parts[0]}, {parts[1]} : {tensor}"]
            for index, part in enumerate(parts[2:]):
                lines.append(f"  %s{index + 1} = stablehlo.add %s{index}, {part} : {tensor}")
            previous = f"%s{len(parts) - 2}"
        return "\n".join([*lines, f"  return {previous} : {tensor}", "}"]) + "\n"

    def input(self) -> str:
        return f"--input={self.elements}xf32=1"


PROGRAMS = (
    Program("chain of 100, 4 elements", "chain", 100, 4),
    Program("chain of 100, 16K elements", "chain", 100, 16 * 1024),
    Program("chain of 100, 256K elements", "chain", 100, 256 * 1024),
    Program("16 at once, 4 elements", "wide", 16, 4),
    Program("16 at once, 16K elements", "wide", 16, 16 * 1024),
    Program("single call, 1 dispatch of 4", "chain", 1, 4),
)


def compile_program(program: Program, folder: Path) -> Path:
    source, target = folder / "program.mlir", folder / f"{PROGRAMS.index(program)}.vmfb"
    source.write_text(program.text())
    command = [str(BIN / "iree-compile"), str(source), "-o", str(target), *FLAGS]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return target


def measure(maker: str, module: Path, program: Program, threads: int) -> float:
    """Seconds of one call."""
    tool = [str(BIN / "iree-benchmark-module")]
    if maker == "tiree":
        tool = [sys.executable, "-m", "tiree.tools.benchmark_module"]
    command = [
        *tool, f"--module={module}", "--function=main", program.input(), "--device=local-task",
        f"--task_topology_group_count={threads}", "--benchmark_min_time=0.1s", "--benchmark_format=json",
    ]  # fmt: skip
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    text = done.stdout[done.stdout.index("{") :]
    row = json.loads(text)["benchmarks"][0]
    return row["real_time"] * {"ms": 1e-3, "us": 1e-6, "ns": 1e-9, "s": 1.0}[row["time_unit"]]


def against_iree(rounds: int, threads: int) -> bool:
    """Prints the comparisons; whether all goals are reached."""
    reached = True
    print(f"{'microseconds of one call':<34} {'tiree':>10} {'iree':>10} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            module = compile_program(program, Path(folder))
            best = {"tiree": float("inf"), "iree": float("inf")}
            for _ in range(rounds):
                for maker in best:
                    best[maker] = min(best[maker], measure(maker, module, program, threads))
            ratio = best["tiree"] / best["iree"]
            reached &= ratio <= GOAL
            verdict = "ok" if ratio <= GOAL else "MISSED"
            ours, theirs = best["tiree"] * 1e6, best["iree"] * 1e6
            print(f"{program.name:<34} {ours:>10.2f} {theirs:>10.2f} {ratio:>7.2f}  {verdict} (<= {GOAL})", flush=True)
    return reached


def against_rayon(rounds: int) -> bool:
    """Prints the comparisons; whether all goals are reached."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "tiree-benches", "--example", "task_ratios", "--"]
    return subprocess.run([*command, "--rounds", str(rounds * 10)], cwd=ROOT, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="rayon,iree")
    arguments = parser.parse_args()
    reached = True
    if "rayon" in arguments.only.split(","):
        reached &= against_rayon(arguments.rounds)
    if "iree" in arguments.only.split(","):
        reached &= against_iree(arguments.rounds, arguments.threads)
    return int(not reached)


if __name__ == "__main__":
    sys.exit(main())
