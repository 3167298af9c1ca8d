"""Errors for arguments of other types than the functions here take: they name the argument and what it needs."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any, cast

BYTES = (bytes, bytearray, memoryview)
_SHOWN = 60


def need(function: str, name: str, value: object, holds: bool, what: str) -> None:
    """TypeError unless `holds`."""
    if not holds:
        text = repr(value)
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        raise TypeError(f"{function}(): `{name}` is {shown}; needs {what}")


def whole(function: str, name: str, value: object) -> None:
    need(function, name, value, isinstance(value, int), "a whole number")


def number(function: str, name: str, value: object, least: int = 0) -> None:
    """A whole number of at least `least`; ValueError for a smaller one."""
    need(function, name, value, isinstance(value, int) and not isinstance(value, bool), "a whole number")
    if cast("int", value) < least:
        raise ValueError(f"{function}(): `{name}` is {value}; needs a number of at least {least}")


def flag(function: str, name: str, value: object) -> None:
    need(function, name, value, isinstance(value, bool), "True or False")


def module(function: str, name: str, value: object) -> None:
    need(function, name, value, isinstance(value, BYTES), "the bytes of a module (.vmfb)")


def modules(function: str, value: object) -> None:
    """A sequence of modules, not one alone."""
    alone = isinstance(value, (str, *BYTES))
    holds = hasattr(value, "__getitem__") and not alone
    need(function, "modules", cast("object", value), holds, "a list of modules, each the bytes of a .vmfb")
    for index, one in enumerate(cast("Sequence[object]", value)):
        module(function, f"modules[{index}]", one)
    if not value:
        raise ValueError(f"{function}(): `modules` is empty; calls go to the last one")


def choices(function: str, value: object) -> None:
    made = all(callable(getattr(value, name, None)) for name in ("below", "count", "part"))
    is_class = inspect.isclass(value)
    need(function, "choices", value, made and not is_class, "Choices, such as RandomChoices(seed)")


def program(function: str, value: object) -> None:
    from tiree.testing.generate_program import Program

    need(function, "program", value, isinstance(value, Program), "a Program, such as generate(RandomChoices(seed))")


def runner(function: str, value: object) -> None:
    need(function, "runner", value, callable(value), "a class whose objects run modules, such as Tiree or Reference")


def values(function: str, value: object) -> list[Any]:
    """The items of any iterable but a string."""
    alone = isinstance(value, (str, *BYTES))
    holds = hasattr(value, "__iter__") and not alone
    need(function, "values", cast("object", value), holds, "a list of ints, floats, references and None")
    return list(cast("Iterable[Any]", value))
