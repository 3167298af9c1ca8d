"""Generated programs against the reference, many: `python -m tiree.testing.campaign --programs 20000`.

Programs are numbered by their seed. One that differs is made short and stored; `--first N --programs 1` repeats it.
Those that take the reference too many steps are not compared, and counted apart: others are generated in their place.
With `--iree N` every Nth program also runs in IREE's runtime, in a process of its own, unless it meets something that
IREE defines differently; the reasons are counted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from itertools import count
from pathlib import Path

from tiree.testing.choices import RandomChoices
from tiree.testing.compare import RunnerFactory, difference, expected, isolated_outcomes, outcomes
from tiree.testing.generate_program import Program, generate
from tiree.testing.reduction import reduced
from tiree.testing.runners import Iree, Outcome, Tiree

PROGRESS_SECONDS = 20


@dataclass
class Campaign:
    """Counts of what programs came to, and findings as they are stored."""

    folder: Path
    iree: int = 0
    outcomes: Counter[str] = field(default_factory=Counter[str])
    left_out: Counter[str] = field(default_factory=Counter[str])
    """Programs not compared with IREE, by reason."""
    programs: int = 0
    """Programs compared with the reference."""
    too_long: int = 0
    """Programs left out, as they take the reference too many steps."""
    compared_with_iree: int = 0
    findings: int = 0

    def run(self, seed: int) -> None:
        """Compares one program, unless it is too long."""
        program = generate(RandomChoices(seed))
        wanted = expected(program)
        if not wanted.is_bounded:
            self.too_long += 1
            return
        self.programs += 1
        self.outcomes.update(outcome.code for outcome in wanted.outcomes)
        if outcomes(Tiree, program) != wanted.outcomes:
            self.found(seed, program, Tiree, "tiree")
        if self.iree and seed % self.iree == 0:
            self.compare_with_iree(seed, program, wanted.outcomes, wanted.departures)

    def compare_with_iree(
        self, seed: int, program: Program, wanted: tuple[Outcome, ...], departures: frozenset[str]
    ) -> None:
        """The same in IREE's runtime, if it defines all that is met and can be asked for it."""
        if departures or not program.is_for_iree:
            self.left_out.update(sorted(departures) or [program.reason_against_iree])
            return
        self.compared_with_iree += 1
        if isolated_outcomes(Iree, program) != tuple(outcome.without_contents() for outcome in wanted):
            self.found(seed, program, None, "iree")

    def found(self, seed: int, program: Program, runner: RunnerFactory | None, name: str) -> None:
        """Stores a program that differs, shortened when the runner is safe to run again and again."""
        self.findings += 1
        if runner is not None:
            program = reduced(program, lambda candidate: bool(difference(candidate, runner)))
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"program-{seed}-{name}.txt"
        told = difference(program, runner) if runner is not None else "IREE's runtime has another outcome"
        path.write_text(f"{program}\n\n{told}\n")
        print(f"program {seed} differs in {name}: {path}", flush=True)

    def summary(self) -> str:
        """One or two lines."""
        shown = ", ".join(f"{number} {name}" for name, number in self.outcomes.most_common())
        text = f"{self.programs} programs compared, {self.outcomes.total()} outcomes ({shown})"
        text += f"\n{self.too_long} more were too long for the reference"
        if self.iree:
            reasons = ", ".join(f"{number} {name}" for name, number in self.left_out.most_common())
            text += f"\n{self.compared_with_iree} of them compared with IREE; left out: {reasons or 'none'}"
        return f"{text}\n{self.findings} findings"


def main() -> int:
    """Exit code 1 when a program differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=20_000, help="programs to compare with the reference")
    parser.add_argument("--iree", type=int, default=0, help="every how many programs IREE's runtime is asked as well")
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--out", type=Path, default=Path("findings"), help="folder for programs that differ")
    args = parser.parse_args()
    if args.iree:
        # Once, before processes are forked from this one.
        import_module("iree.runtime")
    campaign = Campaign(args.out, args.iree)
    started = told = time.perf_counter()
    seeds = count(args.first)
    while campaign.programs < args.programs:
        campaign.run(next(seeds))
        if time.perf_counter() - told > PROGRESS_SECONDS:
            told = time.perf_counter()
            print(f"{campaign.programs} programs in {told - started:.0f} s, {campaign.findings} findings", flush=True)
    print(f"{campaign.summary()} in {time.perf_counter() - started:.0f} s", flush=True)
    return int(campaign.findings > 0)


if __name__ == "__main__":
    sys.exit(main())
