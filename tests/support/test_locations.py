"""Locations as text."""

from __future__ import annotations

import pytest
from tiree.dialects import read_module
from tiree.support.locations import UNKNOWN, location_of, location_text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('"a.py":3:4', "a.py:3:4"),
        ('"layer"("a.py":3:4)', "a.py:3:4"),
        ('"layer"', '"layer"'),
        ('callsite("a.py":3:4 at "b.py":5:6)', "a.py:3:4"),
        ('fused[unknown, "a.py":3:4]', "a.py:3:4"),
        ("unknown", UNKNOWN),
        ("fused[unknown]", UNKNOWN),
    ],
)
def test_text_of_a_location(written: str, text: str) -> None:
    module = read_module(f"module {{\n}} loc({written})\n")
    assert location_text(module.location) == text


def test_an_operation_without_place_is_where_its_parent_is() -> None:
    module = read_module('func.func @f() {\n return loc(unknown)\n} loc("m.py":7:1)\n')
    (result,) = [op for op in module.walk() if op.name == "func.return"]
    assert location_of(result) == "m.py:7:1"
