"""Programs with a token lost, changed or repeated: they compile, or the report says where the fault is.

The same edits on every machine. None may end in an internal error, which would be a fault of the compiler.
"""

from __future__ import annotations

import random
import re

import pytest
import tiree
from programs import text_programs
from programs.models import nested_if, newton

TOKEN = re.compile(r'[%@#!]?[\w.$-]+|"[^"\n]*"|[^\s\w]|\n')
STRANGERS = ("0", "-1", "99999999999", "tensor<4xf32>", "%x", "dense<1>", "{", "i1", "true", "f64", "?")
EDITS = 120


def broken(text: str, chance: random.Random) -> str:
    """`text` after one or two small edits."""
    for _ in range(chance.choice((1, 1, 2))):
        tokens = list(TOKEN.finditer(text))
        at, other = chance.choice(tokens), chance.choice(tokens)
        start, end = at.span()
        text = chance.choice((
            text[:start] + text[end:],
            text[:start] + other.group() + text[end:],
            text[:start] + chance.choice(STRANGERS) + text[end:],
            f"{text[:end]} {other.group()}{text[end:]}",
        ))  # fmt: skip
    return text + "\n"


def _texts() -> list[str]:
    pytest.importorskip("jax", reason="some of the texts are JAX's")
    return [*(program.text for program in text_programs()), newton().text, nested_if().text]


@pytest.mark.parametrize("seed", range(4))
def test_a_broken_program_is_reported(seed: int) -> None:
    chance = random.Random(seed)
    texts = _texts()
    reported = 0
    for _ in range(EDITS):
        text = broken(chance.choice(texts), chance)
        try:
            tiree.compile(text)
        except tiree.CompileError as error:
            reported += 1
            report = str(error)
            assert "internal error" not in report, f"{report}\n{text}"
            assert re.match(r"<input>(:\d+:\d+)?: error: |<unknown>: error: ", report), f"{report}\n{text}"
    assert reported > EDITS // 2
