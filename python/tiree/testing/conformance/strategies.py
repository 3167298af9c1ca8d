"""`python -m tiree.testing.conformance.strategies`: which ops run in plain scalar loops above 4,096 elements.

The programs are those of conformance, drawn larger: each op on each element type that the page of supported ops names
is compiled, and the report names the strategy of each dispatch. Exit status 1 when one is `scalar-fallback` that
docs/reference/strategies.md does not list, or when a listed one is none.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from tiree.support.errors import CompileError
from tiree.testing.choices import RandomChoices
from tiree.testing.conformance.draws import DRAWS, Draw
from tiree.testing.conformance.draws.program import DTYPES
from tiree.testing.conformance.supported import accepts

PAGE = Path(__file__).resolve().parents[4] / "docs" / "reference" / "strategies.md"
LARGE = 4096
FALLBACK = "scalar-fallback"

_EXTENTS = (2, 3, 1, 5, 17)
_ODD = (67, 61, 40, 127, 33)
_ROOM = 1 << 18
_TENSOR = re.compile(r"tensor<((?:\d+x)+)[^>]")


class WideDraw(Draw):
    """Draws shapes of more than 4,096 elements, and long extents."""

    room = _ROOM

    def shape(self, lowest: int = 0, highest: int = 4, zero: int = 4) -> tuple[int, ...]:
        """Rank 1 and more: one dimension takes what the others leave. A few elements beside large extents."""
        del zero
        lowest = max(lowest, 1)
        rank = lowest + self.below(max(highest - lowest, 0) + 1)
        if self.room < _ROOM:
            return tuple(self.pick((1, 2)) for _ in range(rank))
        extents = [self.pick(_EXTENTS) for _ in range(rank)]
        place = self.below(rank)
        extents[place] = 1
        extents[place] = LARGE // prod(extents) + 1 + self.below(100)
        return tuple(extents)

    def extent(self, options: Sequence[int]) -> int:
        """Large ones first, as long as a tensor of them all stays moderate."""
        found = self.pick(_ODD)
        if self.room < found:
            return self.pick(options)
        self.room //= found
        return found


@dataclass
class Found:
    """What the programs of one op and element type compile to."""

    op: str
    element: str
    large: int = 0
    """Dispatches on more than 4,096 elements."""
    fallbacks: list[str] = field(default_factory=list[str])
    """Those of them that are plain scalar loops."""
    refused: list[str] = field(default_factory=list[str])


def _elements(dispatch: dict[str, Any]) -> int:
    """The elements of the largest tensor of a dispatch."""
    lines = [line for kernel in dispatch["kernels"] if kernel["form"] == "tensors" for line in kernel["lines"]]
    sizes = [prod(map(int, shape[:-1].split("x"))) for line in lines for shape in _TENSOR.findall(line)]
    return max(sizes, default=0)


def look(op: str, element: str, seeds: int) -> Found:
    """Compiles programs of `op` on elements of a type until `seeds` of them have a large dispatch, or thrice as many
    were drawn."""
    import tiree

    found = Found(op, element)
    good = 0
    for seed in range(3 * seeds):
        try:
            text = DRAWS[op].draw(WideDraw(RandomChoices(seed)), op, element).text
        except Exception as error:
            found.refused.append(f"no program: {error!r}"[:200])
            continue
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            try:
                tiree.compile(text, flags=[f"--tiree-report={report}"])
            except CompileError as error:
                found.refused.append(str(error))
                continue
            dispatches = json.loads(report.read_text())["dispatches"]
        large = [each for each in dispatches if _elements(each) > LARGE]
        found.large += len(large)
        found.fallbacks += [each["export"] for each in large if each["strategy"] == FALLBACK]
        good += bool(large)
        if good >= seeds:
            break
    return found


def documented() -> set[tuple[str, str]]:
    """The ops and types that docs/reference/strategies.md lists as scalar fallbacks: `- `op` on `type`: why`."""
    return set(re.findall(r"^- `(.+?)` on `(.+?)`", PAGE.read_text(), re.MULTILINE))


def cases(only: str = "") -> Iterator[tuple[str, str]]:
    """Each op and element type of the page of supported ops."""
    for op in DRAWS:
        for element in DTYPES:
            if re.search(only, f"{op} {element}") and accepts(op, element):
                yield op, element


def main() -> int:
    """Prints a line for each op and type with a scalar fallback."""
    parser = argparse.ArgumentParser(description="Looks for plain scalar loops.")
    parser.add_argument("--only", default="", help="a pattern of `op type`")
    parser.add_argument("--seeds", type=int, default=2, help="programs of each op and type")
    flags = parser.parse_args()
    bad: set[tuple[str, str]] = set()
    looked: set[tuple[str, str]] = set()
    empty = 0
    for op, element in cases(flags.only):
        found = look(op, element, flags.seeds)
        looked.add((op, element))
        empty += not found.large
        if found.fallbacks:
            bad.add((op, element))
            print(f"{op} on {element}: {len(found.fallbacks)} of {found.large}: {found.fallbacks[0]}", flush=True)
    print(f"{len(looked)} ops and types, {len(bad)} with scalar fallbacks, {empty} that move data or do nothing")
    wrong = bad ^ (documented() & looked)
    for op, element in sorted(wrong):
        print(f"{op} on {element}: {'not listed' if (op, element) in bad else 'listed, and none'} in {PAGE.name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
