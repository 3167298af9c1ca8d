"""The text of a file without its long constants, which stay where they are in the file until they are asked for.

A model's weights are megabytes of hex digits or numbers. Lexing, decoding or copying them as text would take several
times their size in memory. `cut_constants` leaves each one out of the text and remembers the range of the file that
holds it; what reads the text finds the range by its place. When the file is mapped into memory, the pages of a range
that has been read are given back.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from tiree.support.sources import Data

SHORTEST = 1 << 16
"""Constants of fewer characters stay in the text."""

_WINDOW = 1 << 20
_MAPPED_TOGETHER = 1 << 21
_HEX = b'dense<"0x'
_LIST = b"dense<["


@dataclass(frozen=True)
class Piece:
    """A range of the file: hex digits with their `0x`, or a list of numbers with its brackets."""

    data: Data
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def chunks(self, start: int = 0, size: int = _WINDOW) -> Iterator[bytes]:
        """The range from `start` on in pieces of at most `size` bytes."""
        for at in range(self.start + start, self.end, size):
            yield self.data[at : min(at + size, self.end)]
            _give_back(self.data, at, min(at + size, self.end))


def _give_back(data: Data, start: int, end: int) -> None:
    """Lets the system drop the pages of a mapped range, which it reads from the file again if somebody asks.

    Those in front of it go too, as far as the system may have mapped them together with the first.
    """
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        first = start // _MAPPED_TOGETHER * _MAPPED_TOGETHER
        if end - first >= mmap.PAGESIZE:
            data.madvise(mmap.MADV_DONTNEED, first, (end - first) // mmap.PAGESIZE * mmap.PAGESIZE)


class _Cut(NamedTuple):
    """Where in the text a piece is missing, and what its lines are."""

    position: int
    length: int
    newlines: int
    tail: int
    """Characters behind its last line break."""


@dataclass
class CutText:
    """`pieces` maps the position in `text` at which a constant stood to what stood there."""

    text: str = ""
    pieces: dict[int, Piece] = field(default_factory=dict[int, Piece])
    cuts: list[_Cut] = field(default_factory=list[_Cut])

    @cached_property
    def places(self) -> list[int]:
        """The positions of `pieces` in order; `cuts` are at the same."""
        return sorted(self.pieces)

    @cached_property
    def _newlines(self) -> list[int]:
        """How many lines the first n cuts have, for each n."""
        return list(accumulate((cut.newlines for cut in self.cuts), initial=0))

    def line_and_column(self, line: int, line_start: int, position: int) -> tuple[int, int]:
        """The line and column in the file of `position`, which is in line `line` of the text."""
        last = bisect_right(self.places, position)
        column, previous = 0, line_start
        for cut in self.cuts[bisect_left(self.places, line_start) : last]:
            column += cut.position - previous
            column = cut.tail if cut.newlines else column + cut.length
            previous = cut.position
        return line + self._newlines[last], column + position - previous + 1


class _Search:
    """Finds bytes in a file from some place on, window by window: searching a copy is many times faster than
    searching a map."""

    def __init__(self, data: Data, start: int = 0) -> None:
        self._data = data
        self._start: int = 0 if isinstance(data, bytes) else start
        self._window: bytes = data if isinstance(data, bytes) else data[start : start + _WINDOW]

    def find(self, wanted: bytes, start: int) -> int:
        """`data.find(wanted, start)`. Each start is at or behind the last."""
        while True:
            found = self._window.find(wanted, start - self._start)
            if found >= 0:
                return self._start + found
            end = self._start + len(self._window)
            if end >= len(self._data):
                return -1
            start = max(start, end - len(wanted) + 1)
            _give_back(self._data, self._start, start)
            self._start, self._window = start, self._data[start : start + _WINDOW]


def _find_last(data: Data, wanted: bytes, start: int) -> int:
    """`data.rfind(wanted, start)`, window by window too."""
    if isinstance(data, bytes):
        return data.rfind(wanted, start)
    end = len(data)
    while end > start:
        first = max(start, end - _WINDOW)
        found = data[first:end].rfind(wanted)
        if found >= 0:
            return first + found
        _give_back(data, first, len(data))
        end = first + len(wanted) - 1 if first > start else start
    return -1


def _in_string(data: Data, position: int) -> bool:
    """Whether `position` is inside a string of its line."""
    line = data.rfind(b"\n", 0, position) + 1
    return data[line:position].replace(b'\\"', b"").count(b'"') % 2 == 1


def _ranges(data: Data) -> Iterator[tuple[int, int]]:
    """Long constants in order: `dense<"0x...">`, `dense<[...]>` and the blobs of the resource section."""
    at = 0
    find = _Search(data).find
    while (start := find(b"dense<", at)) >= 0:
        at = start + len(b"dense<")
        head = data[start : start + len(_HEX)]
        if head == _HEX:
            first, end = at + 1, find(b'"', at + 1)
        elif head.startswith(_LIST):
            first, end = at, find(b">", at)
        else:
            continue
        if end - first >= SHORTEST and not (head != _HEX and _in_string(data, start)):
            yield first, end
        at = max(at, end)
    if (section := _find_last(data, b"{-#", at)) >= 0:
        at, find = section, _Search(data, section).find
        while (start := find(b': "0x', at)) >= 0:
            first = start + len(b': "')
            end = find(b'"', first)
            if end - first >= SHORTEST:
                yield first, end
            at = max(first, end)


def cut_constants(data: Data) -> CutText:
    """The text of UTF-8 `data` and its long constants. Raises `UnicodeDecodeError` with positions in `data`."""
    result = CutText()
    if len(data) < SHORTEST:
        result.text = bytes(data[:]).decode()
        return result
    parts: list[str] = []
    at = length = 0
    for start, end in _ranges(data):
        parts.append(_decode(data, at, start))
        length += len(parts[-1])
        result.pieces[length] = Piece(data, start, end)
        result.cuts.append(_cut(data, start, end, length))
        at = end
    parts.append(_decode(data, at, len(data)))
    result.text = "".join(parts)
    return result


def _cut(data: Data, start: int, end: int, position: int) -> _Cut:
    newlines, last = 0, -1
    for at in range(start, end, _WINDOW):
        window = data[at : min(at + _WINDOW, end)]
        if found := window.count(b"\n"):
            newlines += found
            last = at + window.rfind(b"\n")
        _give_back(data, at, at + len(window))
    return _Cut(position, end - start, newlines, end - last - 1 if newlines else 0)


def _decode(data: Data, start: int, end: int) -> str:
    try:
        return data[start:end].decode()
    except UnicodeDecodeError as error:
        raise UnicodeDecodeError("utf-8", b"", start + error.start, start + error.end, error.reason) from None
