"""The command line of `python -m tiree.testing.conformance`.

Exit status: 0 when every case that could be judged passes, 1 when one fails, 2 for wrong flags and for flags that leave
no case to judge, 130 when interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tiree.testing.conformance.case import PASS, SKIPPED, Case, Suite, Verdict
from tiree.testing.conformance.tally import SuiteResult, by_op, by_reason

SUITES = ("programs", "random", "jax32", "jax64", "interpreter", "interpreter-keep")
_RANDOM = 500
_TIMEOUT = 120.0
_DEVICE = "local-sync"


def _make(name: str, flags: argparse.Namespace) -> Suite:
    if name in ("programs", "random"):
        from tiree.testing.conformance.drawn_programs import DrawnPrograms

        count = flags.sample or _RANDOM
        return DrawnPrograms(count=count if name == "random" else 0, seed=flags.seed)
    if name in ("jax32", "jax64"):
        from tiree.testing.conformance.jax_harnesses import JaxHarnesses

        return JaxHarnesses(name == "jax64")
    from tiree.testing.conformance.interpreter_tests import InterpreterTests

    return InterpreterTests(flags.stablehlo, name == "interpreter-keep")


def _suites(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(SUITES)}")
    return list(dict.fromkeys(names))


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found <= threading.TIMEOUT_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return found


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a regular expression: {error}") from None
    return text


def _names(text: str) -> set[str]:
    """The lines of a file."""
    try:
        return set(Path(text).read_text().splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(f"cannot read {text}: {error}") from None


def _output(text: str) -> str:
    """A file that can be written: an hour of work is not to end in vain."""
    path = Path(text)
    place = path if path.exists() else path.parent
    if path.is_dir() or not place.exists() or not os.access(place, os.W_OK):
        raise argparse.ArgumentTypeError(
            f"cannot write {text}: it is a folder, or its folder is not there or not yours"
        )
    return text


def _clone(text: str) -> str:
    path = Path(text).resolve()
    if text and not (path / "stablehlo" / "tests" / "interpret").is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no clone of StableHLO: it has no stablehlo/tests/interpret")
    return str(path) if text else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tiree.testing.conformance",
        description="Compiles and runs suites of StableHLO programs and counts which compute what they must.",
    )
    parser.add_argument(
        "--suite", type=_suites, default=list(SUITES), metavar="NAME,...", help=f"of {', '.join(SUITES)}"
    )
    parser.add_argument(
        "--stablehlo", type=_clone, default="", metavar="DIR", help="a clone of the StableHLO repository"
    )
    parser.add_argument("--sample", type=_positive, metavar="N", help="judge so many cases of each suite, by chance")
    parser.add_argument("--seed", type=int, default=0, help="of the sample and of random programs (default 0)")
    parser.add_argument(
        "--filter", type=_pattern, default="", metavar="REGEX", help="judge the cases whose names hold it"
    )
    parser.add_argument("--list", type=_names, metavar="FILE", help="judge the cases named in a file, one a line")
    parser.add_argument("--jobs", type=_positive, default=os.cpu_count() or 1, help="processes (default: one a CPU)")
    parser.add_argument(
        "--timeout", type=_seconds, default=_TIMEOUT, metavar="S", help=f"seconds for one case (default {_TIMEOUT:g})"
    )
    parser.add_argument("--device", default=_DEVICE, help=f"where the programs run (default {_DEVICE})")
    parser.add_argument("--json", type=_output, metavar="FILE", help="write all verdicts")
    parser.add_argument("--reuse", metavar="FILE,...", help="take the suites of earlier --json files from there")
    parser.add_argument("--page", type=_output, metavar="FILE", help="write the page of the documentation")
    parser.add_argument("--note", default="", metavar="TEXT", help="what the page says of how the suites were run")
    parser.add_argument("--show", metavar="NAME", help="print the program of a case of the one suite named, and stop")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; gives its exit status."""
    parser = _parser()
    flags = parser.parse_args(arguments)
    if flags.worker:
        from tiree.testing.conformance.workers import serve

        serve(_make(flags.suite[0], flags), flags.device)
        return 0
    if flags.show:
        return _show(flags, parser)
    try:
        return _judge(flags, parser)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _judge(flags: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tiree import runtime

    try:
        runtime.get_device(flags.device)
    except Exception as error:
        parser.error(f"argument --device: {error}")
    earlier = _earlier(flags, parser) if flags.reuse else {}
    results = [earlier.get(name) or _run(name, flags) for name in flags.suite]
    if not any(result.verdicts or result.reason for result in results):
        parser.error(f"no case of {', '.join(flags.suite)} is in what --filter and --list choose")
    _write(results, flags)
    _print(results)
    return 1 if any(result.failures for result in results) else 0


def _show(flags: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    if len(flags.suite) != 1:
        parser.error("--show needs --suite with one name")
    for case in _make(flags.suite[0], flags).cases():
        if case.name == flags.show:
            text = case.load().text
            print(text if isinstance(text, str) else text.decode())
            return 0
    return parser.error(f"{flags.suite[0]} has no case {flags.show!r}")


def _chosen(cases: Sequence[Case], flags: argparse.Namespace) -> list[Case]:
    chosen = [case for case in cases if re.search(flags.filter, case.name)]
    if flags.list is not None:
        chosen = [case for case in chosen if case.name in flags.list]
    if flags.sample and flags.sample < len(chosen):
        places = sorted(random.Random(flags.seed).sample(range(len(chosen)), flags.sample))
        chosen = [chosen[place] for place in places]
    return chosen


def _run(name: str, flags: argparse.Namespace) -> SuiteResult:
    suite = _make(name, flags)
    reason = suite.missing()
    if reason is not None:
        return SuiteResult(name, suite.title, reason=reason)
    cases = suite.cases()
    chosen = _chosen(cases, flags)
    worker = ["--worker", f"--suite={name}", f"--device={flags.device}", f"--seed={flags.seed}"]
    worker += [f"--stablehlo={flags.stablehlo}"] if flags.stablehlo else []
    worker += [f"--sample={flags.sample}"] if flags.sample else []
    from tiree.testing.conformance.workers import judge_all

    # Reproducers of internal errors land in the current folder of a worker.
    with tempfile.TemporaryDirectory() as folder, _Progress(suite.title, len(chosen)) as progress:
        verdicts = judge_all(worker, chosen, flags.jobs, flags.timeout, progress.tell, folder)
    return SuiteResult(name, suite.title, verdicts, size=len(cases) if name != "random" else len(chosen))


class _Progress:
    """A line on a terminal that says how far a suite is; nothing elsewhere."""

    def __init__(self, title: str, total: int) -> None:
        self._title, self._total, self._counts = title, total, Counter[str]()
        self._is_shown = sys.stderr.isatty()
        self._last = 0.0

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")

    def tell(self, verdict: Verdict) -> None:
        self._counts[verdict.status] += 1
        if not self._is_shown or time.monotonic() - self._last < 0.1:
            return
        self._last = time.monotonic()
        done = self._counts.total()
        failed = done - self._counts[PASS] - self._counts[SKIPPED]
        bar = "█" * (20 * done // max(1, self._total))
        sys.stderr.write(f"\r\x1b[K{self._title} {bar:<20} {done}/{self._total}, {failed} failed")
        sys.stderr.flush()


def _write(results: Sequence[SuiteResult], flags: argparse.Namespace) -> None:
    if flags.json:
        content: dict[str, Any] = {
            result.name: {
                "title": result.title,
                "reason": result.reason,
                "size": result.size,
                "cases": [asdict(verdict) for verdict in result.verdicts],
            }
            for result in results
        }
        ran = {"seed": flags.seed, "device": flags.device, "suites": content}
        Path(flags.json).write_text(json.dumps(ran, indent=1) + "\n")
    if flags.page:
        from tiree.testing.conformance.page import page

        Path(flags.page).write_text(page(results, _command(flags), flags.seed, flags.note, flags.device))


def _earlier(flags: argparse.Namespace, parser: argparse.ArgumentParser) -> dict[str, SuiteResult]:
    """The results in files that `--json` wrote, by suite. What of them ran otherwise than is asked for is an error."""
    found: dict[str, SuiteResult] = {}
    for file in flags.reuse.split(","):
        try:
            content = json.loads(Path(file).read_text())
            seed, device = int(content["seed"]), content.get("device", flags.device)
            for name, entry in content["suites"].items():
                verdicts = [Verdict(**case) for case in entry["cases"]]
                for verdict in verdicts:
                    verdict.ops = tuple(verdict.ops)
                result = SuiteResult(name, entry["title"], verdicts, entry["reason"], entry["size"])
                wrong = _otherwise(result, seed, device, flags) if name in flags.suite else ""
                if wrong:
                    parser.error(f"argument --reuse: in {file} {wrong}: ask for the same, or leave the file out")
                found[name] = result
        except OSError as error:
            parser.error(f"argument --reuse: {error}")
        except (ValueError, KeyError, TypeError, AttributeError):
            parser.error(f"argument --reuse: {file} is not what --json writes")
    return found


def _otherwise(result: SuiteResult, seed: int, device: object, flags: argparse.Namespace) -> str:
    """How an earlier result differs from what is asked for. A seed is one of random programs, and of samples."""
    drawn = result.name == "random" or len(result.verdicts) < result.size
    if drawn and not result.reason and seed != flags.seed:
        return f"{result.name} is of --seed={seed}, not of --seed={flags.seed}"
    if device != flags.device and not result.reason:
        return f"{result.name} ran on --device={device}, not on --device={flags.device}"
    return ""


def _command(flags: argparse.Namespace) -> str:
    """The command with all that shapes the results, without what names a place on this machine."""
    words = ["--stablehlo=DIR"] if flags.stablehlo else []
    words += [f"--suite={','.join(flags.suite)}"] if flags.suite != list(SUITES) else []
    words += [f"--filter={flags.filter}"] if flags.filter else []
    words += ["--list=FILE"] if flags.list is not None else []
    words += [f"--sample={flags.sample}"] if flags.sample else []
    words += [f"--seed={flags.seed}"] if flags.seed else []
    words += [f"--device={flags.device}"] if flags.device != _DEVICE else []
    words += [f"--timeout={flags.timeout:g}"] if flags.timeout != _TIMEOUT else []
    words += [f"--reuse={','.join('FILE' for _ in flags.reuse.split(','))}"] if flags.reuse else []
    return f"python -m tiree.testing.conformance {shlex.join([*words, '--page=docs/reference/conformance.md'])}"


def _print(results: Sequence[SuiteResult], out: Callable[[str], object] = print) -> None:
    judged = [verdict for result in results for verdict in result.judged]
    if judged:
        out("pass/of  op")
    for op, count in by_op(judged).items():
        out(f"{count!s:>8}  {op}{'' if count.passed == count.total else '  <- fails'}")
    for result in results:
        if result.reason:
            out(f"{result.title}: not run: {result.reason}")
            continue
        out(f"\n{result.title}: {result.passed} of {len(result.judged)} pass")
        for reason, count in result.skips.most_common():
            out(f"  {count:5} cannot be judged: {reason}")
        for reason, verdicts in by_reason(result.failures).items():
            out(f"  {len(verdicts):5} {reason[:150]}; {verdicts[0].name[:80]}")
