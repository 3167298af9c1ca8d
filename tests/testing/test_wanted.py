"""Arguments of other types are refused with the function, the argument and what it needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st
from tiree import testing

PROGRAM = testing.generate(testing.RandomChoices(3))
DATA = PROGRAM.modules[-1]
CHOICES = testing.RandomChoices(1)

# (call, function, argument, its positions): others are right.
CALLS: list[tuple[Callable[[Any], object], str]] = [
    (testing.arguments, "arguments(): `signature`"),
    (testing.mutations, "mutations(): `of`"),
    (lambda x: testing.mutations(st.just(x)).example(), "mutations(): `of`"),
    (lambda x: testing.mutate(x, CHOICES), "mutate(): `module`"),
    (lambda x: testing.mutate(DATA, x), "mutate(): `choices`"),
    (testing.generate, "generate(): `choices`"),
    (testing.RandomChoices, "RandomChoices(): `seed`"),
    (testing.buffers, "buffers(): `max_length`"),
    (testing.lists, "lists(): `max_size`"),
    (lambda x: testing.programs(natives=x), "programs(): `natives`"),
    (lambda x: testing.programs(libraries=x), "programs(): `libraries`"),
    (lambda x: testing.modules(natives=x), "modules(): `natives`"),
    (lambda x: testing.outcomes(x, PROGRAM), "outcomes(): `runner`"),
    (lambda x: testing.outcomes(testing.Tiree, x), "outcomes(): `program`"),
    (lambda x: testing.isolated_outcomes(x, PROGRAM), "isolated_outcomes(): `runner`"),
    (lambda x: testing.isolated_outcomes(testing.Tiree, x), "isolated_outcomes(): `program`"),
    (lambda x: testing.isolated_outcomes(testing.Tiree, PROGRAM, x), "isolated_outcomes(): `seconds`"),
    (testing.expected, "expected(): `program`"),
    (lambda x: testing.expected(PROGRAM, x), "expected(): `steps`"),
    (lambda x: testing.difference(x, testing.Tiree), "difference(): `program`"),
    (lambda x: testing.difference(PROGRAM, x), "difference(): `runner`"),
    (lambda x: testing.reduced(x, bool), "reduced(): `program`"),
    (lambda x: testing.reduced(PROGRAM, x), "reduced(): `fails`"),
    (testing.variant_list, "variant_list(): `values`"),
    (testing.Reference, "Reference(): `modules`"),
    (testing.Tiree, "Tiree(): `modules`"),
    (testing.Iree, "Iree(): `modules`"),
    (lambda x: testing.Tiree([DATA, x]), "Tiree(): `modules[1]`"),
]


@pytest.mark.parametrize(("call", "said"), CALLS, ids=[f"{number} {said}" for number, (_, said) in enumerate(CALLS)])
@pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")
def test_other_types(call: Callable[[Any], object], said: str):
    for given in (None, "abc", 1.5, object()):
        # A text is a calling convention, and a wrong one is a ValueError.
        if (call, given) == (testing.arguments, "abc"):
            continue
        with pytest.raises(TypeError) as caught:
            call(given)
        text = str(caught.value)
        assert text.startswith(f"{said} is ")
        assert "; needs " in text


def test_other_values():
    with pytest.raises(ValueError, match=r"arguments|calling convention 'abc'"):
        testing.arguments("abc")
    with pytest.raises(ValueError, match=r"buffers\(\): `max_length` is -1; needs a number of at least 0"):
        testing.buffers(-1)
    with pytest.raises(ValueError, match=r"Reference\(\): `modules` is empty"):
        testing.Reference([])
    with pytest.raises(TypeError, match=r"Tiree\(\): `modules` is b'.*\.\.\.; needs a list of modules"):
        testing.Tiree(DATA)  # pyright: ignore[reportArgumentType]: it is one module


def test_what_fits():
    assert testing.mutate(bytearray(DATA), CHOICES)
    assert testing.variant_list(iter([1, 2.5, None])).size == 3
    assert testing.RandomChoices(-1).below(3) in range(3)
