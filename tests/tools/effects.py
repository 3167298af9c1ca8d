"""What a flag changes, as a pair of runs: with the flag the result shows it, without the flag it does not.

So a flag that is parsed and then ignored fails its row. `check` makes both runs in a fresh folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tools.runtime_tool import Done, ours

Shows = Callable[["Ran"], bool]


@dataclass
class Ran(Done):
    """A run and the files that it wrote."""

    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Effect:
    """`given` is how the flag is written, `base` what both runs have besides, `shows` whether a run had the flag."""

    given: tuple[str, ...]
    shows: Shows
    base: tuple[str, ...] = ()


def effect(given: str, shows: Shows, *base: str) -> Effect:
    """A row, with the flag as it is typed."""
    return Effect(tuple(given.split(" ")), shows, base)


def prints(text: str) -> Shows:
    """Its output has `text`."""
    return lambda done: text in done.out


def lacks(text: str) -> Shows:
    """It succeeds, and its output has no `text`."""
    return lambda done: done.code == 0 and text not in done.out


def says(text: str) -> Shows:
    """It says `text` on standard error."""
    return lambda done: text in done.err


def run(tool: str, arguments: tuple[str, ...], folder: Path, inputs: Mapping[str, bytes]) -> Ran:
    """`tiree-<tool>` in `folder`, which gets the files `inputs` first."""
    for name, data in inputs.items():
        (folder / name).write_bytes(data)
    before = os.getcwd()
    os.chdir(folder)
    try:
        done = ours(tool, *arguments)
    finally:
        os.chdir(before)
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in inputs
    }
    return Ran(done.code, done.out, done.err, done.raw, files)


def check(tool: str, effect: Effect, tmp_path: Path, inputs: Mapping[str, bytes]) -> None:
    """Fails unless the flag does what its row says, and only then."""
    for name, flags, wanted in (("with", effect.given, True), ("without", (), False)):
        folder = tmp_path / name
        folder.mkdir()
        done = run(tool, (*effect.base, *flags), folder, inputs)
        assert effect.shows(done) is wanted, (
            f"{name} {effect.given}: code {done.code}\n{done.out[:1500]}\n{done.err[:1500]}"
        )


def rows_of(effects: Mapping[str, Effect | tuple[Effect, ...]]) -> list[tuple[str, Effect]]:
    """One row per effect: a flag may have several, one per value."""
    return [
        (name, effect)
        for name, found in effects.items()
        for effect in (found if isinstance(found, tuple) else (found,))
    ]
