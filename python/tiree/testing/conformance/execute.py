"""One case from program to verdict, in this process: read, compile, run, compare."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

from tiree.testing.conformance.case import FAILED, PASS, REFUSED, SKIPPED, WRONG, Case, Skip, Verdict, Work

_LONG = 300


def execute(case: Case, device: str = "local-sync", loaded: Callable[[], None] | None = None) -> Verdict:
    """The verdict on `case`. An exception of Tiree is a failure with its text; one of the suite itself is raised.

    `loaded` is called when the case and what is right are known: what goes wrong later is no fault of an oracle.
    """
    import tiree

    start = time.monotonic()
    try:
        work = case.load()
    except Skip as reason:
        return Verdict(case.name, case.subject, SKIPPED, str(reason))
    except tiree.CompileError as error:
        return Verdict(case.name, case.subject, REFUSED, shortened(str(error)))
    if loaded is not None:
        loaded()
    ops = op_names(work.text)
    status, detail = _judge(work, device)
    return Verdict(case.name, case.subject, status, detail, ops, round(time.monotonic() - start, 3))


def _judge(work: Work, device: str) -> tuple[str, str]:
    import tiree
    from tiree import runtime

    try:
        module = tiree.compile(work.text)
    except tiree.CompileError as error:
        return REFUSED, shortened(str(error))
    except Exception as error:
        return FAILED, shortened(f"{type(error).__name__}: {error}")
    try:
        function: Any = getattr(runtime.load(module, device=device), work.function)
        results: Any = function(*work.arguments)
    except Exception as error:
        return FAILED, shortened(f"{type(error).__name__}: {error}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        wrong = work.check(arrays(results))
    return (PASS, "") if wrong is None else (WRONG, shortened(wrong))


def arrays(results: Any) -> Sequence[Any]:
    """What a call returned as a list of numpy arrays."""
    import numpy as np

    if results is None:
        return []
    items = cast("Sequence[Any]", results) if isinstance(results, list | tuple) else [results]
    return [np.asarray(each) for each in items]


def shortened(text: str) -> str:
    """The lines that say something, joined, with places left out and cut to a readable length."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("  ")]
    joined = " | ".join(re.sub(r"^\S*?:(?:\d+:)*\s*(?=error)", "", line) for line in lines)
    return joined if len(joined) <= _LONG else joined[: _LONG - 1] + "…"


def op_names(text: str | bytes) -> tuple[str, ...]:
    """The kinds of StableHLO and CHLO op that a program's text names, sorted."""
    from tiree.dialects import chlo, stablehlo

    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    found = set(re.findall(r"(?<![#!\w.])(?:stablehlo|chlo)\.[a-z]\w*", text))
    return tuple(sorted(name for name in found if name in stablehlo.OPS or name in chlo.OPS))
