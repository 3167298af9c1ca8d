"""Every instruction on edge operands: the reference interpreter, this runtime and IREE 3.13 agree, or differ as listed.

A cell is an instruction with operands. Where the reference notes a departure, IREE is not asked in this process (it may
die of it); `test_departures_are_real` asks it in one of its own.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from isa.cases import HEAD, OTHER, Case, cases
from tiree import runtime as rt
from tiree.dialects.vm_isa import INSTRUCTIONS
from tiree.testing import floats
from tiree.testing.departures import DEPARTURES
from tiree.testing.runners import Iree, Outcome, Reference, Runner, Tiree, subprocess_outcome

ROOT = Path(__file__).resolve().parents[2]
ALL = list(cases())
MNEMONICS = list(dict.fromkeys(case.mnemonic for case in ALL))
# Their NaNs have a payload that the standard leaves open; every other instruction keeps the bits of NaNs.
ARITHMETIC = re.compile(
    r"(add|sub|mul|div|rem|fma|ceil|floor|round|atan2?|cos|sin|exp2?|expm1|log(10|1p|2)?|f?powi?|rsqrt|sqrt|tanh|erf"
    r"|trunc|ext)\."
)


@cache
def modules() -> list[bytes]:
    return [rt.assemble(OTHER), rt.assemble(HEAD + "".join(case.text for case in ALL))]


def same(mnemonic: str, left: Outcome, right: Outcome) -> bool:
    """Whether two outcomes are one, NaNs of arithmetic being alike."""
    if left == right:
        return True
    if not ARITHMETIC.match(mnemonic) or ".f" not in mnemonic or not left.results or not right.results:
        return False
    (kind, a), (_, b) = left.results[0], right.results[0]
    width = 32 if kind == "i" else 64
    return floats.is_nan(a, width) and floats.is_nan(b, width)


class Table:
    """Outcomes of the reference and the departures it met, by case and operands."""

    def __init__(self) -> None:
        self.reference = Reference(modules())

    @cache  # noqa: B019 - One table lives as long as the tests.
    def cell(self, case: Case, arguments: tuple[int, ...]) -> tuple[Outcome, frozenset[str]]:
        self.reference.context.departures.clear()
        outcome = self.reference.call(case.name, arguments)
        return outcome, frozenset(self.reference.context.departures)


TABLE = cache(Table)


# Instructions that IREE's runtime is not asked about at all, each with the departure that all of its cells have.
NOT_ASKED = {"yield": "yield"}


def differences(mnemonic: str, runner: Runner, departing: bool) -> list[str]:
    found: list[str] = []
    cells = 0
    for case in (case for case in ALL if case.mnemonic == mnemonic):
        for arguments in case.calls:
            expected, departures = TABLE().cell(case, arguments)
            if departures and not departing:
                continue
            cells += 1
            have = runner.call(case.name, arguments)
            if not same(mnemonic, have, expected):
                found.append(f"{case.name}{tuple(map(hex, arguments))}: {have}, not {expected}")
    assert (cells == 0) == (not departing and mnemonic in NOT_ASKED), "an instruction without a cell"
    return found


def test_what_iree_is_not_asked_is_listed():
    """Every cell of such an instruction meets its departure, which the page tells."""
    for mnemonic, departure in NOT_ASKED.items():
        met = [TABLE().cell(case, each)[1] for case in ALL if case.mnemonic == mnemonic for each in case.calls]
        assert met
        assert all(departure in departures for departures in met)
        assert mnemonic in DEPARTURES[departure].instructions


def test_every_instruction_has_cells():
    assert {name for name in INSTRUCTIONS if name not in ("Block", "PrefixExtF32", "PrefixExtF64")} == set(MNEMONICS)
    assert sum(len(case.calls) for case in ALL) > 20_000


TIREE = cache(lambda: Tiree(modules()))
IREE = cache(lambda: Iree(modules()))


@pytest.mark.parametrize("mnemonic", MNEMONICS)
def test_the_runtime_agrees_with_the_reference(mnemonic):
    found = differences(mnemonic, TIREE(), True)
    assert not found, f"{len(found)} cells: " + "\n".join(found[:5])


@pytest.mark.parametrize("mnemonic", MNEMONICS)
def test_iree_agrees_with_the_reference(mnemonic):
    pytest.importorskip("iree.runtime", reason="iree-base-runtime is a development dependency")
    found = differences(mnemonic, IREE(), False)
    assert not found, f"{len(found)} cells: " + "\n".join(found[:5])


@pytest.mark.parametrize("name", DEPARTURES)
def test_departures_are_real(name):
    pytest.importorskip("iree.runtime", reason="iree-base-runtime is a development dependency")
    for case in ALL:
        for arguments in case.calls:
            expected, departures = TABLE().cell(case, arguments)
            if departures == {name} and expected != subprocess_outcome(modules(), case.name, arguments, seconds=1):
                return
    pytest.fail("IREE 3.13 does what the reference does, or no cell has it")


def test_the_page_lists_the_departures():
    page = (ROOT / "docs" / "reference" / "vm_semantics.md").read_text()
    for name, departure in DEPARTURES.items():
        assert f"| {name} | {departure.instructions} | {departure.iree} | {departure.tiree} |" in page.replace(
            "\\*", "*"
        )
