"""Extension points: the named places of the pipeline where passes of plugins run.

Every phase has one before and one after its passes; a phase may name groups of passes, each with one before and one
after it. `PHASES` is where both are declared (`pipeline.py`); `docs/extending.md` lists them, and a test compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Group:
    """The passes of a phase from the first to the last one of that pass name."""

    name: str
    description: str
    pass_name: str


@dataclass(frozen=True)
class ExtensionPoint:
    """A place where passes can be put."""

    name: str
    phase: str
    description: str


def points_of(phase: str, description: str, groups: Sequence[Group]) -> list[ExtensionPoint]:
    """The extension points of a phase, in the order in which they are passed."""
    points = [ExtensionPoint(f"before-{phase}", phase, "before the first pass of the phase")]
    for group in groups:
        points.append(ExtensionPoint(f"before-{group.name}", phase, f"before {group.description}"))
        points.append(ExtensionPoint(f"after-{group.name}", phase, f"after {group.description}"))
    points.append(ExtensionPoint(f"after-{phase}", phase, f"at its end: {description}"))
    return points


def woven(
    phase: str, groups: Sequence[Group], passes: Sequence[ModulePass], placed: Mapping[str, Sequence[ModulePass]]
) -> list[ModulePass]:
    """The passes of a phase with those that are placed before, between and behind them.

    A group of which no pass runs (options can leave passes out) has its points where it would begin: at the end.
    """
    before: dict[int, list[ModulePass]] = {}
    after: dict[int, list[ModulePass]] = {}
    names = [one.name for one in passes]
    for group in groups:
        first = names.index(group.pass_name) if group.pass_name in names else len(names)
        last = len(names) - 1 - names[::-1].index(group.pass_name) if group.pass_name in names else len(names) - 1
        before.setdefault(first, []).extend(placed.get(f"before-{group.name}", ()))
        after.setdefault(last, []).extend(placed.get(f"after-{group.name}", ()))
    result = [*placed.get(f"before-{phase}", ())]
    for number, one in enumerate(passes):
        result += [*before.get(number, ()), one, *after.get(number, ())]
    return [*result, *before.get(len(names), ()), *placed.get(f"after-{phase}", ())]
