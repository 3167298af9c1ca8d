"""`--dispatch_statistics`: where the time of a function goes, by the functions of its dispatches."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class DispatchSum(NamedTuple):
    """What a dispatch function took: time is spent in its workgroups, added over the threads that run them."""

    executable: str
    function: str
    executions: int
    workgroups: int
    nanoseconds: int


def collect(body: Callable[[], object]) -> list[DispatchSum]:
    """Runs `body`; what its dispatches took, the longest time first."""
    from tiree import _native

    _native.collect_dispatches()
    try:
        body()
    finally:
        sums = [DispatchSum(*entry) for entry in _native.collected_dispatches()]
    return sums


def table(name: str, calls: int, sums: list[DispatchSum]) -> str:
    """The sums as a table."""
    if not sums:
        return f"\nDispatches of {name}: none\n"
    all_time = sum(entry.nanoseconds for entry in sums)
    rows = [("dispatch", "count", "total", "mean", "share", "workgroups")]
    for entry in sums:
        share = entry.nanoseconds / all_time if all_time else 0.0
        each, rest = divmod(entry.workgroups, max(entry.executions, 1))
        rows.append(
            (
                entry.function,
                str(entry.executions),
                duration(entry.nanoseconds),
                duration(entry.nanoseconds / max(entry.executions, 1)),
                f"{share:.1%}",
                f"{each}" if not rest else f"{entry.workgroups / entry.executions:.1f}",
            )
        )
    rows.append(("all", str(sum(entry.executions for entry in sums)), duration(all_time), "", "", ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
    rule = "-" * len(lines[0])
    head = f"Dispatches of {name} in {calls} {'call' if calls == 1 else 'calls'}, time added over threads"
    return "\n".join(["", head, rule, lines[0], rule, *(line.rstrip() for line in lines[1:])]) + "\n"


def duration(nanoseconds: float) -> str:
    """A time with three significant digits and its unit."""
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= scale:
            return (
                f"{nanoseconds / scale:.3g} {unit}"
                if nanoseconds < 999.5 * scale
                else f"{nanoseconds / scale:.0f} {unit}"
            )
    return f"{nanoseconds:.0f} ns"
