"""Generated programs hold every instruction, and mean the same to the runtime, to IREE and to the reference."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import ClassVar

import pytest
from tiree.dialects.vm_isa import INSTRUCTIONS
from tiree.testing import SCALARS, Iree, RandomChoices, Reference, Tiree, campaign, difference, generate, reduced
from tiree.testing.archive import read
from tiree.testing.campaign import Campaign
from tiree.testing.compare import expected
from tiree.testing.decode import Decoded, function_code
from tiree.testing.native import NATIVE
from tiree.testing.reference import Context

REAL = {name for name in INSTRUCTIONS if not name.startswith("PrefixExt")}


def test_every_instruction_is_generated_and_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    written: Counter[str] = Counter()
    executed: Counter[str] = Counter()
    step = Context._step

    def counting(self: Context, frame: object, decoded: Decoded, depth: int) -> int:
        executed[decoded.mnemonic] += 1
        return step(self, frame, decoded, depth)

    monkeypatch.setattr(Context, "_step", counting)
    natives: Counter[str] = Counter()
    for seed in range(1500):
        program = generate(RandomChoices(seed))
        for module in map(read, program.modules):
            natives.update(wanted.function for wanted in module.imports if wanted.module == "native")
            for function in module.functions:
                written.update(decoded.mnemonic for decoded in function_code(function.code).values())
        expected(program)
    assert REAL - written.keys() == set()
    # A return ends the loop of the interpreter itself.
    assert REAL - executed.keys() == {"return"}
    assert natives.keys() == NATIVE.functions.keys()


def test_programs_mean_the_same_in_the_runtime() -> None:
    for seed in range(300):
        found = difference(generate(RandomChoices(seed)), Tiree)
        assert not found, f"program {seed}\n{found}"


def test_most_calls_return() -> None:
    codes = Counter(o.code for seed in range(200) for o in expected(generate(RandomChoices(seed))).outcomes)
    assert codes["OK"] > 0.6 * codes.total()


@pytest.mark.parametrize("seed", [0, 1, 2**32])
def test_a_seed_is_a_program(seed: int) -> None:
    assert generate(RandomChoices(seed)) == generate(RandomChoices(seed))
    assert generate(RandomChoices(seed)).texts != generate(RandomChoices(seed + 1)).texts


def test_programs_without_imports() -> None:
    for seed in range(100):
        program = generate(RandomChoices(seed), natives=False, libraries=False)
        assert len(program.texts) == 1
        assert {wanted.module for wanted in read(program.modules[0]).imports} <= {"absent"}


def test_programs_mean_the_same_in_iree() -> None:
    pytest.importorskip("iree.runtime", reason="it is what is compared with")
    compared = 0
    for seed in range(60):
        program = generate(RandomChoices(seed), natives=False)
        found = difference(program, Iree, like_iree=True)
        assert not found, f"program {seed}\n{found}"
        compared += not expected(program).departures
    assert compared > 20


class Mistaken(Reference):
    scalars: ClassVar = {**SCALARS, "shl.i32": lambda a, count: a << count & 0xFFFFFFFF if count < 32 else 0}


def test_programs_are_reduced() -> None:
    """A finding by number is made short without hypothesis."""
    programs = (generate(RandomChoices(seed)) for seed in range(2000))
    found = next(program for program in programs if difference(program, Mistaken))
    short = reduced(found, lambda program: bool(difference(program, Mistaken)))
    assert difference(short, Mistaken)
    assert len(short.calls) == 1
    assert "vm.shl.i32" in "".join(short.texts)
    assert len(repr(short).splitlines()) < 30


def test_a_campaign_compares_as_many_as_asked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Programs that the reference gives up are left out, and others take their place."""
    monkeypatch.setattr(campaign, "expected", lambda program: expected(program, steps=50))
    monkeypatch.setattr("sys.argv", ["campaign", "--programs", "12", "--first", "5"])
    assert campaign.main() == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("12 programs compared, ")
    left_out = int(second.removesuffix(" more were too long for the reference"))
    assert left_out > 0
    unbounded = [seed for seed in range(5, 17 + left_out) if not expected(generate(RandomChoices(seed)), 50).is_bounded]
    assert len(unbounded) == left_out


def test_a_campaign_stores_what_it_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = Campaign(tmp_path / "good")
    for seed in range(20):
        good.run(seed)
    assert (good.programs, good.findings) == (20, 0)
    assert not (tmp_path / "good").exists()
    monkeypatch.setattr(campaign, "Tiree", Mistaken)
    bad = Campaign(tmp_path / "bad")
    programs = ((seed, generate(RandomChoices(seed))) for seed in range(2000))
    seed = next(seed for seed, program in programs if difference(program, Mistaken))
    bad.run(seed)
    assert bad.findings == 1
    (stored,) = (tmp_path / "bad").iterdir()
    assert stored.name == f"program-{seed}-tiree.txt"
    text = stored.read_text()
    assert "vm.shl.i32" in text
    assert "have: OK" in text
    assert "want: OK" in text
