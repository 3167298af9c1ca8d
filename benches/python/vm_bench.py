"""Times the VM interpreter against IREE's and against interpreters of other bytecodes, as ratios in one run.

    python benches/python/vm_bench.py [--rounds N] [--only PROGRAM,...] [--peers PYTHON] [--json FILE] [--first]

The programs are in `benches/fixtures/vm`, in vmasm, WebAssembly text and Lua. Tiree and iree-benchmark-module run the
same archives, assembled by iree-as-module; Tiree with a fuel limit and a deadline set, so that both are checked.
`--peers` names a python that has `wasmtime` and `pywasm3` installed; `luajit` is looked for in PATH. What is missing is
left out. Every figure is CPU time, which others on the machine disturb less than wall time, and the best of all
rounds, which are interleaved. A ratio above 1 means that Tiree is faster.

A second table has what a function costs before it is fast: loading, the first and the second call, and the memory of
its translated code (`benches/examples/first_calls.rs`, built by cargo; `--first` prints this table alone). The line
after it is for a module of 100 MB of constants, which has to be loaded within 5 ms.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[1] / "fixtures" / "vm"
BIN = Path(sys.executable).parent
ROOT = PROGRAMS.parents[2]
# A module that keeps its constants behind the FlatBuffer, with checksums of both.
EXTERNAL = ROOT / "rust" / "vm" / "tests" / "data" / "external.vmfb"
BIG = 100_000_000
LOAD_SECONDS = 5e-3


@dataclass(frozen=True)
class Program:
    """A function that takes one i32. `factor` is how much faster than IREE the project wants to be."""

    argument: int
    factor: float = 1.0
    modules: tuple[str, ...] = ("loops",)
    has_peers: bool = True


BENCHES = {
    "loop_i32": Program(10_000_000),
    "fib": Program(30, 3.0),
    "collatz": Program(30_000),
    "loop_f32": Program(10_000_000),
    "sieve": Program(2_000_000),
    "list_rw": Program(5_000_000, 3.0),
    "ref_calls": Program(2_000_000, 3.0),
    "import_native": Program(2_000_000, 3.0, ("callee", "imports"), has_peers=False),
    "import_bytecode": Program(2_000_000, 3.0, ("callee", "imports"), has_peers=False),
}

TIREE = """
import sys, time
import tiree.runtime as rt
from tiree import _native
name, argument, *paths = sys.argv[1:]
instance, device = rt.VmInstance(), rt.get_device("local-sync")
modules = [rt.VmModule.mmap(instance, path) for path in paths]
context = rt.VmContext(instance, modules=[rt.create_hal_module(instance, device), *modules])
inputs = rt.VmVariantList(1)
inputs.push_int(int(argument))
function = modules[-1].lookup_function(name)
times = []
for _ in range(7):
    start = time.process_time()
    _native.time_invocations(context, function, inputs, 1LIMITS)
    times.append(time.process_time() - start)
print(min(times))
"""

WASM = """
import sys, time
import wasmtime
kind, path, name, argument = sys.argv[1:]
argument = int(argument)
if kind == "wasm3":
    import wasm3
    environment = wasm3.Environment()
    runtime = environment.new_runtime(1 << 20)
    runtime.load(environment.parse_module(bytes(wasmtime.wat2wasm(open(path).read()))))
    call = runtime.find_function(name)
else:
    config = wasmtime.Config()
    config.target = "pulley64"
    engine = wasmtime.Engine(config)
    store = wasmtime.Store(engine)
    function = wasmtime.Instance(store, wasmtime.Module(engine, open(path).read()), []).exports(store)[name]
    call = lambda value: function(store, value)
times = []
for _ in range(5):
    start = time.process_time()
    call(argument)
    times.append(time.process_time() - start)
print(min(times))
"""


def output(command: Sequence[str | Path]) -> str:
    """What a command prints on either stream. Its failure ends the run with what it said."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}")
    return done.stdout


@dataclass
class Bench:
    """Archives in `directory`, and the best seconds of every program by interpreter."""

    directory: Path
    peers: str | None
    best: dict[str, dict[str, float]] = field(default_factory=dict)

    def archive(self, module: str) -> Path:
        path = self.directory / f"{module}.vmfb"
        if not path.exists():
            source = PROGRAMS / f"{module}.vmasm"
            if source.exists():
                output([BIN / "iree-as-module", f"--output={path}", source])
            else:
                output([BIN / "iree-compile", "--compile-mode=vm", source.with_suffix(".mlir"), "-o", path])
        return path

    def tiree(self, name: str, program: Program) -> float:
        paths = [self.archive(module) for module in program.modules]
        code = TIREE.replace("LIMITS", ", fuel=10**12, timeout=3600.0")
        return float(output([sys.executable, "-c", code, name, str(program.argument), *paths]))

    def iree(self, name: str, program: Program) -> float:
        modules = [f"--module={self.archive(module)}" for module in program.modules]
        tool = BIN / "iree-benchmark-module"
        flags = ["--device=local-sync", f"--function={name}", f"--input={program.argument}"]
        text = output([tool, *modules, *flags, "--benchmark_min_time=0.3s"])
        found = re.search(r"real_time\s+[\d.]+ \w+\s+([\d.]+) (ns|us|ms|s)\b", text)
        if found is None:
            raise SystemExit(f"{tool} printed no time:\n{text}")
        return float(found[1]) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[found[2]]

    def wasm(self, kind: str, name: str, program: Program) -> float:
        return float(output([str(self.peers), "-c", WASM, kind, PROGRAMS / "loops.wat", name, str(program.argument)]))

    def luajit(self, name: str, program: Program) -> float:
        return float(output(["luajit", "-joff", PROGRAMS / "loops.lua", name, str(program.argument)]))

    def interpreters(self) -> dict[str, Callable[[str, Program], float]]:
        found: dict[str, Callable[[str, Program], float]] = {"tiree": self.tiree, "iree": self.iree}
        if self.peers:
            found["wasm3"] = lambda name, program: self.wasm("wasm3", name, program)
            found["pulley"] = lambda name, program: self.wasm("pulley", name, program)
        if shutil.which("luajit"):
            found["luajit -joff"] = self.luajit
        return found

    def run(self, names: Sequence[str], rounds: int) -> None:
        for _ in range(rounds):
            for name in names:
                program, times = BENCHES[name], self.best.setdefault(name, {})
                for kind, measure in self.interpreters().items():
                    if program.has_peers or kind in ("tiree", "iree"):
                        times[kind] = min(measure(name, program), times.get(kind, math.inf))

    def ratios(self, kind: str) -> list[float]:
        return [times[kind] / times["tiree"] for times in self.best.values() if kind in times]

    def report(self) -> str:
        kinds = list(self.interpreters())
        lines = [
            "| program | " + " | ".join(f"{kind}, ms" for kind in kinds) + " | " + " | ".join(kinds[1:]) + " | bar |",
            "|---" * (2 * len(kinds) + 1) + "|",
        ]
        for name, times in self.best.items():
            cells = [f"{times[kind] * 1e3:.1f}" if kind in times else "" for kind in kinds]
            cells += [f"{times[kind] / times['tiree']:.2f}" if kind in times else "" for kind in kinds[1:]]
            lines.append(f"| {name} | " + " | ".join(cells) + f" | {', '.join(self.missed(name)) or 'ok'} |")
        means = [f"{mean:.2f}" if (mean := geometric_mean(self.ratios(kind))) else "" for kind in kinds[1:]]
        lines.append("| geometric mean |" + " |" * len(kinds) + " " + " | ".join(means) + " | |")
        return "\n".join(lines)

    def missed(self, name: str) -> list[str]:
        """The bars that a program misses: against IREE its own, against others 0.9."""
        times = self.best[name]
        bars = {kind: BENCHES[name].factor if kind == "iree" else 0.9 for kind in times if kind != "tiree"}
        return [f"{kind} >= {bar}" for kind, bar in bars.items() if times[kind] / times["tiree"] < bar]


def write_big_module(path: Path) -> None:
    """`EXTERNAL` with its 5000 bytes of constants grown to `BIG` zeros, which take no room on most disks."""
    data = bytearray(EXTERNAL.read_bytes())
    end = 4 + int.from_bytes(data[:4], "little")
    length = data.index((5000).to_bytes(8, "little"))
    data[length : length + 8] = BIG.to_bytes(8, "little")
    constants, whole = data.index(b"c0:") + 3, data.index(b"fb:") + 3
    data[constants : constants + 8] = b"%08x" % zlib.crc32(bytes(BIG))
    # The checksum of the FlatBuffer takes its own digits for zeros.
    data[whole : whole + 8] = b"0" * 8
    data[whole : whole + 8] = b"%08x" % zlib.crc32(data[4:end])
    with path.open("wb") as file:
        start = -(-end // 64) * 64
        file.write(data[:start])
        file.truncate(start + BIG)


def first_calls(bench: Bench, rounds: int) -> bool:
    """Prints the table of first calls; whether the big module is loaded in time."""
    big = bench.directory / "big.vmfb"
    write_big_module(big)
    example = ["cargo", "run", "--release", "--quiet", "-p", "tiree-benches", "--example", "first_calls", "--"]
    modules = [bench.archive(module) for module in ("loops", "callee", "imports")]
    done = subprocess.run([*example, str(rounds), big, *modules], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"the example first_calls failed:\n{done.stderr}")
    *lines, last = done.stdout.splitlines()
    seconds, resident = float(last.split()[0]), int(last.split()[1])
    verdict = "ok" if seconds < LOAD_SECONDS else "MISSED"
    print("\n".join(lines))
    figures = f"loaded in {seconds * 1e3:.2f} ms, {resident // 1000} KB resident"
    print(f"\n{BIG // 10**6} MB of constants: {figures}: {verdict} (< {LOAD_SECONDS * 1e3:.0f} ms)")
    return seconds < LOAD_SECONDS


def geometric_mean(values: Sequence[float]) -> float | None:
    """None of no values: of programs that a kind of interpreter cannot run."""
    if not values:
        return None
    return math.exp(sum(map(math.log, values)) / len(values))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(BENCHES))
    parser.add_argument("--peers")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--first", action="store_true", help="only loading and first calls")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(Path(directory), arguments.peers)
        loads = first_calls(bench, 20 * arguments.rounds)
        if arguments.first:
            return int(not loads)
        bench.run(arguments.only.split(","), arguments.rounds)
        print(bench.report())
        if arguments.json:
            arguments.json.write_text(json.dumps(bench.best, indent=1) + "\n")
    means = {kind: geometric_mean(bench.ratios(kind)) for kind in bench.interpreters() if kind != "tiree"}
    reached = all(mean is None or mean >= (2.0 if kind == "iree" else 1.0) for kind, mean in means.items())
    return int(not (reached and loads) or any(bench.missed(name) for name in bench.best))


if __name__ == "__main__":
    sys.exit(main())
