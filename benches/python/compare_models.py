"""Ten networks compiled by Tiree and by IREE 3.13: what the schedule does, in what memory, and what the file holds.

    python benches/python/compare_models.py [--only NAME,...] [--times N] [--json FILE]

Counted in the disassembly of both files by one tool: dispatches, transfers (copies, fills, updates) and instructions.
Memory is what one call allocates at its peak above its arguments, and bytes are those of the file without the
weights. `packed` is the largest slab of transients of a schedule by the most bytes that are live at one of its
commands. Both files run in Tiree's runtime, and their results are compared with JAX's. `--times N` adds what the
compilers take, see `compile_times.py`. Exits with 1 where Tiree has more of anything than it may.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from compare_iree import SIZE_FLAGS, compile_command, run
from compile_times import cpu_seconds
from ten_models import NETWORKS, Network

MAKERS = ("tiree", "iree")
DISPATCH = "@hal.command_buffer.dispatch"
TRANSFERS = tuple(f"@hal.command_buffer.{kind}_buffer" for kind in ("copy", "fill", "update"))


@dataclass
class Figures:
    """Of one file. `seconds` is CPU time, 0 where no times were asked for; `packed` is 0 for IREE, which prints no
    plan; `error` is the largest relative one of a result."""

    dispatches: int
    transfers: int
    instructions: int
    peak_bytes: int
    packed: float
    file_bytes: int
    small_bytes: int
    error: float
    seconds: float = 0.0


def counts(path: Path) -> tuple[int, int, int]:
    """Dispatches, transfers and instructions of all functions of a file."""
    command = [sys.executable, "-m", "tiree.tools.dump_module", str(path), "--output=disassembly"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [line for line in text.splitlines() if re.match(r"  (%.* = )?vm\.", line)]
    calls = [match[1] for line in lines if (match := re.search(r"vm\.call\S* (@[\w.]+)", line))]
    return (
        sum(call.startswith(DISPATCH) for call in calls),
        sum(call.startswith(TRANSFERS) for call in calls),
        len(lines),
    )


def measure(path: Path, network: Network, expected: list[np.ndarray]) -> tuple[int, float]:
    """Bytes of one call at its peak, and the largest error relative to the largest value of a result."""
    import tiree.runtime as rt

    device = rt.get_device("local-task")
    arguments = [rt.asdevicearray(device, argument) for argument in network.arguments]
    main = rt.load(path, device=device).main
    with device.allocator.track_peak() as peak:
        results: Any = main(*arguments)
        results = list(results) if isinstance(results, tuple) else [results]
    errors = [
        float(np.max(np.abs(np.asarray(got).astype(np.float64) - want)) / max(float(np.max(np.abs(want))), 1e-30))
        for got, want in zip(results, expected, strict=True)
    ]
    return peak.peak_bytes, max(errors)


def most_over(report: Path) -> float:
    """The largest ratio of an execution's slab of transients to its most live bytes; 1 without transients."""
    plans = json.loads(report.read_text())["memory"]
    return max((plan["slab_bytes"] / plan["max_live_bytes"] for plan in plans if plan["max_live_bytes"]), default=1.0)


def compare(network: Network, folder: Path, times: int) -> dict[str, Figures]:
    """The figures by maker."""
    import jax

    source = folder / f"{network.name}.mlir"
    source.write_text(network.text())
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(network.__call__)(*network.arguments))]
    found: dict[str, Figures] = {}
    for maker in MAKERS:
        paths = [folder / f"{network.name}.{maker}{suffix}.vmfb" for suffix in ("", ".small")]
        for path, flags in zip(paths, ([], SIZE_FLAGS), strict=True):
            run(compile_command(f"{maker}-compile", source, path, flags))
        packed = 0.0
        if maker == "tiree":
            plan = folder / "report.json"
            run(compile_command("tiree-compile", source, folder / "reported.vmfb", [f"--tiree-report={plan}"]))
            packed = most_over(plan)
        peak, error = measure(paths[0], network, expected)
        weights = network.weight_bytes if network.holds_weights else 0
        sizes = [path.stat().st_size - weights for path in paths]
        found[maker] = Figures(*counts(paths[0]), peak, packed, *sizes, error)
    seconds = cpu_seconds({maker: [f"{maker}-compile", source] for maker in MAKERS}, folder, times)
    for maker in MAKERS:
        found[maker].seconds = seconds[maker]
    return found


BARS = {
    "dispatches": 1.0,
    "transfers": 1.0,
    "instructions": 1.0,
    "peak_bytes": 1.0,
    "packed": 1.1,
    "small_bytes": 0.6,
    "seconds": 1.0,
}
"""The ratio that the project asks for; of `packed`, which is one itself, its most."""


def report(name: str, found: dict[str, Figures]) -> tuple[str, list[str]]:
    """A row of the table, and what is more than it may be."""
    ours, theirs = (asdict(found[maker]) for maker in MAKERS)
    cells = [name]
    missed: list[str] = []
    for key, bar in BARS.items():
        a, b = ours[key], theirs[key]
        if key == "packed":
            b = 1.0
        ok = a <= bar * b
        ratio = f"{a:,.4g} / {b:,.4g}" + (f" = {a / b:.2f}" if b else "")
        cells.append((f"{a:.2f}" if key == "packed" else ratio) + ("" if ok else " MISSED"))
        if not ok:
            missed.append(f"{name}: {key}")
    cells.append(f"{ours['error']:.1e} / {theirs['error']:.1e}")
    return "| " + " | ".join(cells) + " |", missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(NETWORKS))
    parser.add_argument("--times", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    print("| network (Tiree / IREE) | " + " | ".join(BARS) + " | error |\n|" + "---|" * (len(BARS) + 2), flush=True)
    missed: list[str] = []
    figures: dict[str, Any] = {}
    for name in arguments.only.split(","):
        with tempfile.TemporaryDirectory() as folder:
            found = compare(NETWORKS[name], Path(folder), arguments.times)
        row, failed = report(name, found)
        print(row, flush=True)
        missed += failed
        figures[name] = {maker: asdict(found[maker]) for maker in MAKERS}
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    print("missed: " + ", ".join(missed) if missed else "all ok")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
