"""The table of docs/reference/math_accuracy.md: each entry holds, under every target CPU and as bytecode.

16-bit types are measured on all of their values, the others on a sample; with TIREE_ACCURACY=N (`make accuracy`) on N
times 65,536 arguments under every CPU. Infinities, NaN and signed zeros must be the oracle's.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from tests.proofs.accuracy.measure import CPUS, TYPES, VMVX, measure
from tests.proofs.accuracy.ops import OPS

PAGE = Path(__file__).parents[2] / "docs/reference/math_accuracy.md"
PARTS = int(os.environ.get("TIREE_ACCURACY", "0"))
# Without the variable: plain vectors without fused multiply-add, the widest there are, and bytecode.
LEAN = {"f16": ("host",), "bf16": ("x86-64-v3",), "f32": ("x86-64", "host", VMVX), "f64": ("x86-64-v2", "x86-64-v4")}


@cache
def table() -> dict[str, dict[str, float]]:
    """The page's entries: the op's, by type."""
    rows = [line.split("|")[1:-1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return {
        row[0].strip().strip("`"): dict(zip(TYPES, map(float, row[1:]), strict=True))
        for row in rows
        if len(row) == 1 + len(TYPES)
    }


def test_every_op_is_in_the_table() -> None:
    assert list(table()) == [op.name for op in OPS]


@pytest.mark.parametrize("element", TYPES)
def test_entries(element: str) -> None:
    pytest.importorskip("scipy", reason="special functions are compared with scipy's")
    wrong: list[str] = []
    for op in OPS:
        limit = table()[op.name][element]
        for cpu, found in measure(op, element, CPUS if PARTS else LEAN[element], PARTS or 1).items():
            # Entries are rounded to two digits.
            if found.worst > limit + 0.005:
                wrong.append(f"{cpu}: {op.name}{found.at} is off by {found.worst:.3f} units, the table says {limit}")
            wrong += [f"{cpu}: {text}" for text in found.other]
    assert not wrong, "\n".join(wrong)
