"""A small parser for LLVM-style flags: `--flag=value`, `--flag value`, `-flag`, booleans, lists by repetition.

Every flag of a tool is a `Flag` or an entry of its table of refused flags; an argument that is neither is an error with
a suggestion. `argparse` would cost more at start than the parsing, and cannot refuse a flag with its reason. Named
tuples, because the tools that call a function start in less time than `dataclasses` takes to import.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tiree.support.errors import CompileError, Diagnostic
from tiree.support.ranges import range_error

PLACE = "<command line>"


class Flag(NamedTuple):
    """One flag. `kind`: `bool`, `int`, `float`, `str`, `choice`, `list` (commas split, repetition appends), `repeat`
    (repetition appends, commas do not split), `optional` (`--flag` or `--flag=value`), or `action` (no value)."""

    name: str
    kind: str
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()
    refused: Mapping[str, str] | None = None
    """Values that are known but not available, with the reason."""
    metavar: str = ""
    limits: tuple[int, int] | None = None
    """Between which an `int` is, both included; None for any."""

    def convert(self, text: str) -> Any:
        """The value that `text` stands for. Raises `CompileError` naming flag, value and what is allowed."""
        if self.refused and text in self.refused:
            raise fail(f"--{self.name}={text} is not available: {self.refused[text]}")
        match self.kind:
            case "bool":
                if text.lower() in ("true", "1"):
                    return True
                if text.lower() in ("false", "0"):
                    return False
                raise fail(f"--{self.name}={text}: {text!r} is not a boolean", "write true or false")
            case "int":
                return self._integer(text)
            case "float":
                return self._number(text)
            case "choice" | "list" if self.choices and text not in self.choices:
                raise fail(f"--{self.name}={text}: no such value", _suggest(text, self.choices, "values are "))
            case _:
                return text

    def _integer(self, text: str) -> int:
        try:
            value = int(text, 0)
        except ValueError:
            raise fail(f"--{self.name}={text}: {text!r} is not an integer") from None
        wrong = range_error(value, self.limits) if self.limits else ""
        if wrong:
            raise fail(f"--{self.name}={text}: {wrong}")
        return value

    def _number(self, text: str) -> float:
        """All are amounts of something: times and tolerances."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise fail(f"--{self.name}={text}: {text!r} is not a number")
        if value < 0:
            raise fail(f"--{self.name}={text}: cannot be negative")
        return value


def fail(message: str, hint: str = "") -> CompileError:
    """The error of a bad command line."""
    return CompileError(Diagnostic(message, PLACE, hint))


def _suggest(text: str, known: Iterable[str], otherwise: str, flags: bool = False) -> str:
    from difflib import get_close_matches

    known = list(known)
    close = get_close_matches(text, known, 1)
    listing = f"{otherwise}{', '.join(known)}" if otherwise and len(known) < 30 else ""
    dashes = ("-" if len(close[0]) == 1 else "--") if flags and close else ""
    return f"did you mean {dashes}{close[0]}?" if close else listing


class ParsedFlags:
    """Values of all flags (defaults included), which of them were given, and the arguments that are no flags."""

    def __init__(self, values: dict[str, Any], given: dict[str, list[str]], positional: list[str]) -> None:
        self.values = values
        self.given = given
        self.positional = positional

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def parse_flags(
    arguments: Sequence[str],
    flags: Sequence[Flag],
    refused: Mapping[str, str] | None = None,
    extra: Mapping[str, Flag] | None = None,
) -> ParsedFlags:
    """Parses a command line. `refused` maps a flag that Tiree does not have to the reason and what to use instead.

    `extra` are flags known by exact name only and kept in order of appearance by the caller (pass names of tiree-opt).
    Raises `CompileError` for unknown or refused flags, missing and bad values.
    """
    table = {flag.name: flag for flag in flags} | dict(extra or {})
    refused = refused or {}
    parsed = ParsedFlags({flag.name: _default(flag) for flag in flags}, {}, [])
    queue = list(arguments)
    while queue:
        argument = queue.pop(0)
        if argument == "--":
            parsed.positional += queue
            break
        if not argument.startswith("-") or argument == "-":
            parsed.positional.append(argument)
            continue
        name, equals, text = argument.lstrip("-").partition("=")
        flag = table.get(name)
        if flag is None:
            if name in refused:
                raise fail(f"--{name} is not available: {refused[name]}")
            raise fail(f"unknown flag {argument.partition('=')[0]}", _suggest(name, table, "", flags=True))
        if not equals:
            text = _value_without_equals(flag, queue)
        _store(parsed, flag, text)
    return parsed


def _default(flag: Flag) -> Any:
    return [] if flag.kind in ("list", "repeat") else flag.default


def _value_without_equals(flag: Flag, queue: list[str]) -> str:
    if flag.kind in ("bool", "action"):
        return "true"
    if flag.kind == "optional":
        return ""
    if not queue:
        raise fail(f"--{flag.name} needs a value", f"write --{flag.name}={flag.metavar or 'VALUE'}")
    return queue.pop(0)


def _store(parsed: ParsedFlags, flag: Flag, text: str) -> None:
    parsed.given.setdefault(flag.name, []).append(text)
    if flag.kind == "list":
        parsed.values[flag.name] = [*parsed.values.get(flag.name, []), *map(flag.convert, text.split(","))]
    elif flag.kind == "repeat":
        parsed.values[flag.name] = [*parsed.values.get(flag.name, []), flag.convert(text)]
    elif flag.kind == "action":
        parsed.values[flag.name] = True
    else:
        parsed.values[flag.name] = flag.convert(text)


def help_text(usage: str, flags: Sequence[Flag], refused: Mapping[str, str] | None = None) -> str:
    """What `--help` prints."""
    lines = [f"USAGE: {usage}", "", "OPTIONS:"]
    for flag in flags:
        value = {"bool": "", "action": "", "int": "=N", "float": "=X", "optional": f"[={flag.metavar}]"}.get(
            flag.kind, f"={flag.metavar or 'VALUE'}"
        )
        if flag.choices:
            value = "=" + "|".join(flag.choices)
        head = f"  {'-' if len(flag.name) == 1 else '--'}{flag.name}{value}"
        default = "" if flag.default in (None, "", False) else f" (default {str(flag.default).lower()})"
        lines.append(f"{head:<58} {flag.help}{default}" if len(head) < 58 else f"{head}\n{'':<58} {flag.help}{default}")
    if refused:
        lines += ["", "NOT AVAILABLE (the error says why):", *(f"  --{name}" for name in refused)]
    return "\n".join(lines) + "\n"
