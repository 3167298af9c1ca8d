"""The page of the results, docs/reference/conformance.md."""

from __future__ import annotations

from collections.abc import Sequence

from tiree.testing.conformance.case import Verdict
from tiree.testing.conformance.tally import Count, SuiteResult, by_element, by_op, by_reason, by_subject

_HEAD = """# Conformance

Written by `make conformance`, which is

```
{command}
```

Each suite is a set of programs that are compiled, run on `{device}` and compared; `python -m
tiree.testing.conformance --help` lists the flags. Results must be equal for integers, within the tolerance of their
element type for floats (`python/tiree/testing/conformance/comparison.py`), or as a test of the interpreter says.

- **programs**: for every StableHLO and CHLO op, on all its element types, odd shapes and edge values; XLA's results,
  where it does not take an op those of a program of plainer ops. Each type that the op usually has comes twice, all
  others that XLA takes once. Types of 2 bits and floats of 4 and 6 bits are left out, since XLA ends its process on
  them; tests of the project compare them with `ml_dtypes`.
- **random**: drawn at random from the same generators, seed {seed}; XLA's results.
- **JAX primitives**: the harnesses in JAX's wheel; JAX's results on the CPU.
- **interpreter tests**: those of StableHLO's reference interpreter; what they say themselves. Each is run twice: its
  constants as arguments, and kept in place.
"""


def page(results: Sequence[SuiteResult], command: str, seed: int, note: str = "", device: str = "local-sync") -> str:
    """The page as text; what was not run is listed with its reason."""
    parts = [_HEAD.format(command=command, seed=seed, device=device), "\n## Totals\n\n", _totals(results)]
    parts += [f"\n{note}\n"] if note else []
    ran = [result for result in results if not result.reason]
    parts += ["\n## By op\n\nA program counts for each kind of op that it has.\n\n", _ops(ran)]
    primitives = [result for result in ran if result.name.startswith("jax")]
    if primitives:
        parts += ["\n## By JAX primitive\n\n", _subjects(primitives)]
    drawn = [result for result in ran if result.name in ("programs", "random")]
    if drawn:
        parts += ["\n## By element type\n\n", _counts(drawn, [by_element(each.judged) for each in drawn], "type")]
    parts.append("\n## Failures\n\n")
    failing = [result for result in ran if result.failures]
    if not failing:
        parts.append("None.\n")
    parts += [_failures(result) for result in failing]
    return "".join(parts)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _totals(results: Sequence[SuiteResult]) -> str:
    rows: list[list[str]] = []
    for result in results:
        if result.reason:
            rows.append([result.title, "", "", "", f"not run: {result.reason}"])
            continue
        judged = len(result.judged)
        share = f"{100 * result.passed / judged:.1f}%" if judged else ""
        remarks = [f"{count} {reason}" for reason, count in result.skips.most_common()]
        if result.size > len(result.verdicts):
            remarks.insert(0, f"a sample of {len(result.verdicts)} of {result.size}")
        rows.append([result.title, str(result.passed), str(judged), share, "; ".join(remarks)])
    return _table(["suite", "pass", "of", "", "remarks"], rows)


def _counts(results: Sequence[SuiteResult], counted: Sequence[dict[str, Count]], first: str) -> str:
    names = sorted({name for counts in counted for name in counts})
    rows = [[f"`{name}`", *(str(counts.get(name, "")) for counts in counted)] for name in names]
    return _table([first, *(result.title for result in results)], rows)


def _ops(results: Sequence[SuiteResult]) -> str:
    return _counts(results, [by_op(result.judged) for result in results], "op")


def _subjects(results: Sequence[SuiteResult]) -> str:
    return _counts(results, [by_subject(result.judged) for result in results], "primitive")


def _failures(result: SuiteResult) -> str:
    lines = [f"### {result.title}: {len(result.failures)}\n\n"]
    for reason, verdicts in by_reason(result.failures).items():
        lines.append(f"- {_escaped(reason)} ({len(verdicts)})\n")
        lines += [f"  - {_case(verdict)}\n" for verdict in verdicts]
    return "".join([*lines, "\n"]).rstrip("\n") + "\n"


def _case(verdict: Verdict) -> str:
    name = verdict.name if len(verdict.name) <= 100 else verdict.name[:99] + "…"
    detail = f": {_escaped(verdict.detail)}" if verdict.status == "wrong" else ""
    return f"`{name}`{detail}"


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    for sign in ("\\", "*", "_", "<", "[", "|", "`"):
        text = text.replace(sign, "\\" + sign)
    return text
