"""What the compilers take for the ten networks of `ten_models.py`, in CPU time, and what takes it in Tiree.

    python benches/python/compile_times.py [--only NAME,...] [--times N] [--layers NAME,...]

For each network the CPU time (of the process and all its threads; also on a busy machine much the same) of Tiree and of
IREE, the least of N runs in turns, with their ratio, and the pass that takes most of Tiree's by `--mlir-timing`. For
networks of layers that are alike also the ratio of twice the layers to once. Exits with 1 where one is more than asked
for: 1.0 of IREE's time, 25% in one pass, 1.3 for twice the layers.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from compare_iree import compile_command
from ten_models import NETWORKS

MOST_OF_IREE, MOST_OF_A_PASS, MOST_OF_LAYERS = 1.0, 0.25, 1.3
LAYERED = ("bert", "gpt2", "vit")
LAYERS = 12
NO_PASSES = ("Rest", "Total", "read and verify")


def cpu_seconds(tools: Mapping[str, Sequence[object]], folder: Path, times: int) -> dict[str, float]:
    """The least CPU time of `times` runs of each (tool, source), run in turns; 0 without runs."""
    found: dict[str, list[float]] = {name: [] for name in tools}
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(times):
        for name, (tool, source) in tools.items():
            command = compile_command(str(tool), Path(str(source)), folder / "timed.vmfb", [])
            with subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
            ) as run:
                _, status, used = os.wait4(run.pid, 0)
                run.returncode = os.waitstatus_to_exitcode(status)
            if run.returncode:
                raise subprocess.CalledProcessError(run.returncode, command)
            found[name].append(used.ru_utime + used.ru_stime)
    return {name: min(seconds, default=0.0) for name, seconds in found.items()}


def largest_pass(source: Path, folder: Path) -> tuple[str, float]:
    """The pass that takes most and its share of the time of all."""
    command = compile_command("tiree-compile", source, folder / "timed.vmfb", ["--mlir-timing"])
    text = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    rows = re.findall(r"^ *[\d.]+ \( *([\d.]+)%\)  (.+)$", text, re.MULTILINE)
    shares = {name: float(share) / 100 for share, name in rows if name not in NO_PASSES}
    name = max(shares, key=lambda one: shares[one])
    return name, shares[name]


def verdict(value: float, most: float) -> str:
    return "" if value <= most else " MISSED"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(NETWORKS))
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--layers", default=",".join(LAYERED))
    arguments = parser.parse_args()
    missed = 0
    print("| network | Tiree / IREE, CPU seconds | largest pass | twice the layers |\n|" + "---|" * 4, flush=True)
    for name in filter(None, arguments.only.split(",")):
        with tempfile.TemporaryDirectory() as text:
            folder = Path(text)
            source = folder / f"{name}.mlir"
            source.write_text(NETWORKS[name].text())
            tools: dict[str, tuple[str, Path]] = {maker: (f"{maker}-compile", source) for maker in ("tiree", "iree")}
            layers = name in arguments.layers.split(",")
            if layers:
                network = NETWORKS[name]
                function = partial(network.function, layers=2 * LAYERS)
                deeper = folder / "deeper.mlir"
                deeper.write_text(replace(network, function=function).text())
                tools["deeper"] = "tiree-compile", deeper
            seconds = cpu_seconds(tools, folder, arguments.times)
            ratio = seconds["tiree"] / seconds["iree"]
            slowest, share = largest_pass(source, folder)
            cells = [
                name,
                f"{seconds['tiree']:.2f} / {seconds['iree']:.2f} = {ratio:.2f}" + verdict(ratio, MOST_OF_IREE),
                f"{slowest} {share:.0%}" + verdict(share, MOST_OF_A_PASS),
                "",
            ]
            if layers:
                growth = seconds["deeper"] / seconds["tiree"]
                cells[3] = f"{growth:.2f}" + verdict(growth, MOST_OF_LAYERS)
        missed += sum("MISSED" in cell for cell in cells)
        print("| " + " | ".join(cells) + " |", flush=True)
    print(f"{missed} missed" if missed else "all ok")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
