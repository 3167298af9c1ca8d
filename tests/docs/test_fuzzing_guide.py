"""The code of docs/fuzzing.md, run as written: the bug planted in it is found and shrunk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from tiree import testing

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "fuzzing.md").read_text()


@pytest.fixture
def repeatable() -> Iterator[None]:
    """The same examples in every run, and no time for explanations."""
    before = settings.get_current_profile_name()
    settings.register_profile("guide", derandomize=True, database=None, phases=[Phase.generate, Phase.shrink])
    settings.load_profile("guide")
    yield
    settings.load_profile(before)


@pytest.mark.usefixtures("repeatable")
def test_the_planted_bug_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
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
    with pytest.raises(AssertionError):
        names["test_mine"]()
    smallest = min(seen, key=lambda program: len(str(program)))
    assert len(smallest.texts) == 1
    body = smallest.texts[0].split("vm.func @f0", 1)[1].split("\n}", 1)[0]
    assert "vm.shl.i32" in body
    assert body.count("\n  vm.") + body.count(" = vm.") <= 8, body


def test_every_piece_exists() -> None:
    section = GUIDE.split("## The pieces")[1].split("\n## ")[0]
    table = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    names = {name for cell in table for name in re.findall(r"`(\w+)", cell)}
    assert {"programs", "modules", "mutations", "arguments", "difference"} <= names <= set(testing.__all__)
    assert all(hasattr(testing, name) for name in testing.__all__)
