"""Every promise of the safety model names a test, and the test is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "safety_model.md").read_text()


def test_the_tests_that_hold_the_promises_are_there():
    named = re.findall(r"`((?:rust|tests)/[\w/.]+)(?:::(\w+))?`", PAGE)
    assert len(named) > 20
    for path, test in named:
        text = (ROOT / path).read_text()
        assert not test or re.search(rf"\b(?:def|fn) {test}\b", text), f"{path} has no {test}"


def test_every_promise_names_one():
    table = PAGE.split("| promise | held by |")[1].split("\n\n")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ")]
    assert rows
    assert all("`rust/" in row or "`tests/" in row for row in rows)
