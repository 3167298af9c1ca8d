"""Makes a failing program shorter, when it was not hypothesis that drew it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from tiree.testing import wanted
from tiree.testing.archive import read
from tiree.testing.generate_program import Program

T = TypeVar("T")


def reduced(program: Program, fails: Callable[[Program], bool]) -> Program:
    """A program for which `fails` is still true, from which no line and no call can be taken.

    `fails` sees programs only that are valid.
    """

    from tiree.runtime.assembly import assemble

    wanted.program("reduced", program)
    wanted.need("reduced", "fails", fails, callable(fails), "a function that takes a Program")

    def still(candidate: Program) -> bool:
        try:
            for text in candidate.texts:
                assemble(text, verify=True)
            exports = read(candidate.modules[-1]).exports
        except ValueError:
            return False
        return all(call.function in exports for call in candidate.calls) and fails(candidate)

    before = None
    while before != program:
        before = program
        program = _with_fewer_calls(program, still)
        for number in reversed(range(len(program.texts))):
            program = _with_fewer_lines(program, number, still)
    return program


def _with_fewer_calls(program: Program, still: Callable[[Program], bool]) -> Program:
    calls = _fewer(program.calls, lambda calls: still(Program(program.texts, tuple(calls))))
    return Program(program.texts, tuple(calls))


def _with_fewer_lines(program: Program, number: int, still: Callable[[Program], bool]) -> Program:
    def replaced(lines: Sequence[str]) -> Program:
        texts = (*program.texts[:number], "\n".join(lines) + "\n", *program.texts[number + 1 :])
        return Program(texts, program.calls)

    return replaced(_fewer(program.texts[number].splitlines(), lambda lines: still(replaced(lines))))


def _fewer(items: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> list[T]:
    """Items without the runs that can go: long runs first, single ones last."""
    kept = list(items)
    size = max(len(kept) // 2, 1)
    while size:
        at = 0
        while at < len(kept):
            shorter = kept[:at] + kept[at + size :]
            if holds(shorter):
                kept = shorter
            else:
                at += size
        size //= 2
    return kept
