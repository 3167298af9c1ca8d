"""The code of docs/fuzzing.md, run as written: the bug planted in it is found and shrunk."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, seed, settings
from tiree import testing

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "fuzzing.md").read_text()
CODE: list[str] = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)


# What hypothesis draws depends on the constants of all modules that happen to be imported, so one seed may be unlucky:
# about one in five finds nothing in 5000 programs, or a program that it cannot make small.
SEEDS = range(6)


@pytest.fixture
def repeatable() -> Iterator[None]:
    """No time for explanations, and none that decides: with several bugs to report, 10 s would end the search."""
    before = settings.get_current_profile_name()
    settings.register_profile(
        "guide", database=None, deadline=None, report_multiple_bugs=False, phases=[Phase.generate, Phase.shrink]
    )
    settings.load_profile("guide")
    yield
    settings.load_profile(before)


@pytest.mark.usefixtures("repeatable")
def test_the_planted_bug_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    code, _ = CODE
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 10
    seen: list[testing.Program] = []
    compare = testing.difference

    def remember(program: testing.Program, runner: Any) -> str:
        found = compare(program, runner)
        if found:
            seen.append(program)
        return found

    monkeypatch.setattr(testing, "difference", remember)
    names: dict[str, Any] = {}
    exec(code, names)
    for number in SEEDS:
        seen.clear()
        with contextlib.suppress(AssertionError):
            seed(number)(names["test_mine"])()
        if seen and is_small(min(seen, key=lambda program: len(str(program)))):
            return
    raise AssertionError(f"no seed led to a small program; the last one to:\n{seen[-1] if seen else 'none'}")


def test_seeds_find_it_always(capsys: pytest.CaptureFixture[str]) -> None:
    exec("".join(CODE), {})
    printed = capsys.readouterr().out
    assert printed.startswith("54 ")
    assert "vm.shl.i32" in printed
    assert len(printed.splitlines()) < 30


def is_small(program: testing.Program) -> bool:
    """Whether little more than the wrong instruction is left."""
    body = program.texts[0].split("vm.func @f0", 1)[1].split("\n}", 1)[0]
    return len(program.texts) == 1 and "vm.shl.i32" in body and body.count("\n  vm.") + body.count(" = vm.") <= 8


def test_every_piece_exists() -> None:
    section = GUIDE.split("## The pieces")[1].split("\n## ")[0]
    table = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    names = {name for cell in table for name in re.findall(r"`(\w+)", cell)}
    assert {"programs", "modules", "mutations", "arguments", "difference"} <= names <= set(testing.__all__)
    assert all(hasattr(testing, name) for name in testing.__all__)
