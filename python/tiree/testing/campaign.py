"""Generated programs against the reference, many: `python -m tiree.testing.campaign --programs 20000`.

Programs are numbered by their seed; one that differs is printed with its number; `--first N --programs 1` repeats it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from importlib import import_module

from tiree.testing.choices import RandomChoices
from tiree.testing.compare import expected, isolated_outcomes, outcomes
from tiree.testing.damage import mutate
from tiree.testing.generate_program import generate
from tiree.testing.runners import Iree, Tiree, code_of


def main() -> int:
    """Exit code 1 when a program differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=20_000, help="programs to compare with the reference")
    parser.add_argument("--iree", type=int, default=0, help="every how many programs IREE's runtime is asked as well")
    parser.add_argument("--mutations", type=int, default=0, help="damaged copies of each program to load and call")
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at the first difference")
    args = parser.parse_args()
    if args.iree:
        # Once, before processes are forked from this one.
        import_module("iree.runtime")
    counts: Counter[str] = Counter()
    started = time.perf_counter()
    failures = 0
    for seed in range(args.first, args.first + args.programs):
        failures += _one(seed, args, counts)
        if failures and not args.keep_going:
            break
    shown = ", ".join(f"{count} {name}" for name, count in counts.most_common())
    print(f"{counts['programs']} programs in {time.perf_counter() - started:.0f} s: {shown}; {failures} differences")
    return int(failures > 0)


def _one(seed: int, args: argparse.Namespace, counts: Counter[str]) -> int:
    program = generate(RandomChoices(seed))
    wanted = expected(program)
    counts["programs"] += 1
    if not wanted.is_bounded:
        counts["too long"] += 1
        return 0
    counts.update(outcome.code for outcome in wanted.outcomes)
    runners: list[tuple[str, type[Tiree] | type[Iree]]] = [("tiree", Tiree)]
    if args.iree and seed % args.iree == 0 and not wanted.departures and program.is_for_iree:
        runners.append(("iree", Iree))
        counts["compared with IREE"] += 1
    failures = 0
    for name, runner in runners:
        have = outcomes(runner, program) if name == "tiree" else isolated_outcomes(runner, program)
        want = wanted.outcomes if name == "tiree" else tuple(w.without_contents() for w in wanted.outcomes)
        if have != want:
            print(f"program {seed}: {name} has {', '.join(map(str, have))}; the reference {', '.join(map(str, want))}")
            print(program)
            failures += 1
    for number in range(args.mutations):
        counts[_damaged(program.modules[-1], seed * 1_000_003 + number)] += 1
    return failures


def _damaged(module: bytes, seed: int) -> str:
    """Loads a damaged module; the point is that nothing worse than an error comes of it."""
    try:
        Tiree([mutate(module, RandomChoices(seed))])
    except (ValueError, RuntimeError, IndexError, NotImplementedError) as error:
        return f"damaged: {code_of(error)}"
    return "damaged: loads"


if __name__ == "__main__":
    sys.exit(main())
