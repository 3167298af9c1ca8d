"""Fuzzes the VM: programs against the reference interpreter, damaged archives, and the targets of this folder.

`make fuzz` runs it; see docs/fuzzing.md. Exit code 1 when something was found.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tiree import testing

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TARGETS = ("archive", "verifier", "run", "assembler")
# What cargo-fuzz passes, but for the sanitizer, which stable Rust does not have: counters of edges and traced
# comparisons lead the mutation.
COVERAGE = (
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "--cfg=fuzzing",
)
MAX_LENGTH = {"archive": 16384, "verifier": 4096, "run": 16384, "assembler": 8192}
SEED_MODULES = 500
PROGRESS_SECONDS = 30


def main() -> int:
    """Runs all parts, says what each came to, and then how many found something."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=20_000, help="programs against the reference")
    parser.add_argument("--iree", type=int, default=1, help="every how many programs IREE is asked too; 0: never")
    parser.add_argument("--archives", type=int, default=1_000_000, help="damaged archives")
    parser.add_argument("--first", type=int, default=0, help="number of the first program and archive")
    parser.add_argument("--seconds", type=int, default=600, help="time of each target")
    parser.add_argument("--targets", default=",".join(TARGETS), help="targets to run, with commas")
    parser.add_argument("--jobs", type=int, default=2, help="targets at a time")
    parser.add_argument("--out", type=Path, default=ROOT / "findings", help="where findings are stored")
    args = parser.parse_args()
    args.out = args.out.resolve()
    failed: list[str] = []
    if args.programs and not programs(args):
        failed.append("programs")
    if args.archives and not archives(args):
        failed.append("archives")
    chosen = [name for name in args.targets.split(",") if name]
    if args.seconds and chosen:
        failed += targets(chosen, args)
    print(
        f"fuzz: found something in {', '.join(failed)}; see {args.out}" if failed else "fuzz: nothing found", flush=True
    )
    return int(bool(failed))


def programs(args: argparse.Namespace) -> bool:
    """Generated programs against the reference and IREE."""
    say(f"{args.programs} programs against the reference")
    given = {"programs": args.programs, "iree": args.iree, "first": args.first, "out": args.out}
    return call([sys.executable, "-m", "tiree.testing.campaign", *(f"--{k}={v}" for k, v in given.items())]) == 0


def archives(args: argparse.Namespace) -> bool:
    """Damaged archives, loaded and called."""
    say(f"{args.archives} damaged archives")
    build = ["cargo", "build", "--quiet", "--profile", "fuzz", "--package", "tiree-vm", "--example", "fuzz_archives"]
    subprocess.run(build, cwd=ROOT, check=True)
    program = target_folder() / "fuzz" / "examples" / "fuzz_archives"
    with seed_folder() as seeds:
        state = seeds.parent / "state"
        command = [
            program,
            f"--count={args.archives}",
            f"--first={args.first}",
            f"--state={state}",
            f"--out={args.out}",
        ]
        code = call([*command, seeds, ROOT / "rust/vm/tests/data"])
        if code not in (0, 1):
            print(f"the process ended with {code} at case {state.read_text().strip()}: --first repeats it")
    return code == 0


def targets(names: Sequence[str], args: argparse.Namespace) -> list[str]:
    """The names of those that found something."""
    say(f"{args.seconds} s of each target: {', '.join(names)}")
    triple = subprocess.run(["rustc", "--print=host-tuple"], capture_output=True, text=True, check=True).stdout.strip()
    environment = {**os.environ, "RUSTFLAGS": " ".join(COVERAGE)}
    folder = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target")) / "coverage"
    # With a target named, build scripts are not instrumented.
    build = ["cargo", "build", "--quiet", "--release", f"--target={triple}", f"--target-dir={folder}"]
    subprocess.run(build, cwd=HERE, env=environment, check=True)
    programs = folder / triple / "release"
    args.out.mkdir(parents=True, exist_ok=True)
    waiting, running, failed = list(names), dict[str, Running](), list[str]()
    with seed_folder() as seeds:
        told = time.monotonic()
        while waiting or running:
            while waiting and len(running) < args.jobs:
                name = waiting.pop(0)
                running[name] = Running(name, programs / name, seeds, args)
            time.sleep(0.2)
            for name in [name for name, each in running.items() if each.process.poll() is not None]:
                if not running.pop(name).end():
                    failed.append(name)
            if time.monotonic() - told > PROGRESS_SECONDS:
                told = time.monotonic()
                for each in running.values():
                    print(f"{each.name}: {each.progress()}", flush=True)
    return failed


class Running:
    """A target at work."""

    def __init__(self, name: str, program: Path, modules: Path, args: argparse.Namespace) -> None:
        self.name, self.program, self.out = name, program, args.out
        corpus = HERE / "corpus" / name
        corpus.mkdir(parents=True, exist_ok=True)
        self.prefix = f"{args.out}/{name}-"
        self.log = args.out / f"{name}.log"
        self.before = set(args.out.glob(f"{name}-*"))
        options = {
            "max_total_time": args.seconds, "max_len": MAX_LENGTH[name], "timeout": 20, "report_slow_units": 1,
            "artifact_prefix": self.prefix, "print_final_stats": 1, "rss_limit_mb": 2048,
        }  # fmt: skip
        command = [str(program), *(f"-{key}={value}" for key, value in options.items()), str(corpus)]
        command += [str(folder) for folder in (HERE / "seeds" / name, *more_seeds(name, modules)) if folder.is_dir()]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def progress(self) -> str:
        """The last line of the log that tells of coverage."""
        lines = [line for line in self.log.read_text(errors="replace").splitlines() if "cov:" in line]
        return lines[-1] if lines else "reads its seeds"

    def end(self) -> bool:
        """Tells what it came to, and whether nothing was found."""
        found = [path for path in sorted(set(self.out.glob(f"{self.name}-*")) - self.before) if self.is_finding(path)]
        runs = [
            line.split()[-1] for line in self.log.read_text(errors="replace").splitlines() if "executed_units" in line
        ]
        print(f"{self.name}: {runs[-1] if runs else '?'} runs, {len(found)} findings; {self.progress()}", flush=True)
        for path in found:
            print(f"  {self.program} {path}", flush=True)
        if self.process.returncode and not found:
            print(f"  ended with {self.process.returncode}; see {self.log}", flush=True)
        return not found and not self.process.returncode

    def is_finding(self, path: Path) -> bool:
        """Slow inputs count when they are slow each time: the machine may have been busy."""
        if not path.name.startswith(f"{self.name}-slow-unit"):
            return True
        times: list[float] = []
        for _ in range(3):
            started = time.monotonic()
            subprocess.run([self.program, path], capture_output=True, check=False)
            times.append(time.monotonic() - started)
        if min(times) <= 1:
            path.unlink()
        return min(times) > 1


def more_seeds(name: str, modules: Path) -> list[Path]:
    """Folders of the tests that hold inputs of a target."""
    if name == "assembler":
        return [HERE.parent / "tests" / "asm"]
    return [modules, HERE.parent / "tests" / "data"] if name in ("archive", "run") else []


@contextmanager
def seed_folder() -> Iterator[Path]:
    """A folder of generated modules, the same each time."""
    with tempfile.TemporaryDirectory() as folder:
        modules = Path(folder) / "modules"
        modules.mkdir()
        for seed in range(SEED_MODULES):
            program = testing.generate(testing.RandomChoices(seed), libraries=False)
            (modules / f"{seed:05}.vmfb").write_bytes(program.modules[0])
        yield modules


def target_folder() -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def say(text: str) -> None:
    print(f"== {text}", flush=True)


def call(command: Sequence[str | Path]) -> int:
    return subprocess.run([str(part) for part in command], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
