"""Parameter files as the compiler sees them: their bytes by scope and key, and new archives.

The formats are the native module's, which reads and writes them for the tools and the runtime as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tiree.support.errors import CompileError, Diagnostic

if TYPE_CHECKING:
    from tiree._native import ParameterIndex

ALIGNMENT = 64
"""Of data in an archive: what the runtimes need to use it where it is mapped."""


def scope_and_path(text: str) -> tuple[str, str]:
    """The parts of `[scope=]path`; the anonymous scope is the empty string."""
    scope, equals, path = text.partition("=")
    return (scope, path) if equals else ("", text)


class Entry(NamedTuple):
    """A parameter: all of its bytes, or a pattern that is repeated up to `length`."""

    key: str
    length: int
    data: memoryview | bytes
    splat: bool


class ParameterFiles:
    """The files of `--iree-parameter-import=`; those of one scope are one, in which the first of a key counts."""

    def __init__(self, texts: Iterable[str]) -> None:
        from tiree import _native

        self._indices: dict[str, ParameterIndex] = {}
        self._paths: dict[str, list[str]] = {}
        self._entries: dict[str, dict[str, Entry]] = {}
        for text in texts:
            scope, path = scope_and_path(text)
            index = self._indices.setdefault(scope, _native.ParameterIndex())
            try:
                index.load(path)
            except (RuntimeError, OSError, ValueError) as error:
                message = f"--iree-parameter-import={text}: {getattr(error, 'message', '') or error}"
                raise CompileError(Diagnostic(message, "<options>")) from error
            self._paths.setdefault(scope, []).append(path)
        for scope, index in self._indices.items():
            found = self._entries.setdefault(scope, {})
            for key, entry in index.items():
                data = bytes(entry.splat_pattern) if entry.is_splat else entry.file_view
                found.setdefault(key, Entry(key, entry.length, data, entry.is_splat))

    def __contains__(self, scope: str) -> bool:
        return scope in self._indices

    def find(self, scope: str, key: str) -> Entry | None:
        """The parameter; a view of the mapped file, unless it is a splat."""
        return self._entries.get(scope, {}).get(key)

    def described(self, scope: str) -> str:
        """The scope and its files, for messages."""
        return f"{', '.join(self._paths[scope])} (scope '{scope}')"

    def keys(self, scope: str) -> list[str]:
        return list(self._entries[scope])


def write_archive(flag: str, path: str, entries: Sequence[Entry]) -> None:
    """Writes an `.irpa` file whole or not at all. Raises `CompileError` naming `flag`."""
    from tiree import _native

    index = _native.ParameterIndex()
    for entry in entries:
        if entry.splat:
            index.add_splat(entry.key, entry.data, entry.length)
        else:
            index.add_buffer(entry.key, entry.data)
    try:
        _native.write_parameter_archive(index, path, ALIGNMENT, [])
    except (RuntimeError, OSError, ValueError) as error:
        message = f"--{flag}: {getattr(error, 'message', '') or error}"
        raise CompileError(Diagnostic(message, "<options>")) from error
