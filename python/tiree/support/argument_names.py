"""What users call the arguments of a function, for messages of the running program."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Operation


def argument_names(function: Operation, count: int) -> list[str]:
    """The users' names of the `count` arguments of a `util.func`; empty where they are not known."""
    reflection = function.attributes.get("iree.reflection")
    listed = reflection.data.get("tiree.arg_names") if isinstance(reflection, DictionaryAttr) else None
    names = listed.data.split(", ") if isinstance(listed, StringAttr) else []
    return names if len(names) == count else []


def argument_in_words(number: int, names: list[str]) -> str:
    """`argument 2 (%b)` for number 1; without the name where that is not known."""
    name = names[number] if number < len(names) else ""
    return f"argument {number + 1}{f' (%{name})' if name else ''}"
