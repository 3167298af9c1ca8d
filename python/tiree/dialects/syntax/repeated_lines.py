"""Lines that have been read before, but for the names of values.

The layers of a network are the same text with other names. All that an operation is made of, except which its operands
are, follows from that text and from the types of its operands. So the first of such lines is read, and others become
operations like it. What a line does not say alone is read as always: regions, locations, operations of several lines,
names that are not defined yet, constants that were left out of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Operation, SSAValue

from tiree.support.creation import make
from tiree.support.typed import operands_of

if TYPE_CHECKING:
    from tiree.dialects.syntax.reader import Reader

_BLANK = re.compile(r"[ \t\r\n]*+")
_NAMES = re.compile(r"(%[\w.$-]+(?:#\d+)?)")
_NEXT = re.compile(
    r"[ \t\r\n]*+(?:%[\w.$-]+(?::\d+)?(?:, %[\w.$-]+(?::\d+)?)* =|[A-Za-z_][\w$]*\.[\w.$]|return\b|\"[\w.$]+\"\(|\})"
)
"""What begins another operation or ends a region, as it is written most often: not what may go on with the line before,
such as a location."""
_LONGEST = 2000
"""Of longer lines most are constants, which are seldom equal."""
_KNOWN = ("tiree", "xdsl")
"""Operations of plugins may be read in any way, such as with a number for each."""


class Line(NamedTuple):
    start: int
    end: int
    text: str
    """Without names: what is between them, joined by line breaks."""
    names: list[str]


class _Pattern(NamedTuple):
    """What the operations of equal lines have in common."""

    type: type[Operation]
    operand_types: list[Attribute]
    result_types: list[Attribute]
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    named: int
    """1 if the first name is that of the result, else 0."""
    column: int
    """Where the operation's name starts, counted without the name of the result."""


class RepeatedLines:
    """The lines of one text, as far as it has been read."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._left_out = reader.source.places
        self._patterns: dict[str, _Pattern] = {}

    def next_line(self) -> Line | None:
        """What stands from the current place to the end of its line, if operations can be found again by that."""
        text = self._reader.text
        blank = _BLANK.match(text, self._reader.p)
        assert blank is not None
        start = blank.end()
        end = text.find("\n", start)
        if not start < end <= start + _LONGEST:
            return None
        if self._left_out:
            index = bisect_left(self._left_out, start)
            if index < len(self._left_out) and self._left_out[index] <= end:
                return None
        parts = _NAMES.split(text[start:end])
        return Line(start, end, "\n".join(parts[::2]), parts[1::2])

    def read(self, line: Line) -> Operation | None:
        """The operation of a line like one before; the reader goes to its end."""
        pattern = self._patterns.get(line.text)
        reader = self._reader
        if pattern is None or reader.forward_ssa_references:
            return None
        names, named = line.names, pattern.named
        operands = self._values(names[named:])
        if operands is None or [value.type for value in operands] != pattern.operand_types:
            return None
        if _NEXT.match(reader.text, line.end) is None:
            return None
        first = names[0] if named else ""
        location = reader.location_at(line.start + len(first) + pattern.column)
        properties, attributes = pattern.properties.copy(), pattern.attributes.copy()
        op = make(pattern.type, operands, pattern.result_types, properties, attributes, location)
        reader.p = line.end
        if named:
            reader.define(first[1:], (op.results[0],), line.start)
        return op

    def learn(self, line: Line, op: Operation) -> None:
        """Remembers `op`, which has just been read from `line`, if others can be made like it."""
        reader = self._reader
        if op.regions or op.successors or reader.p > line.end or "loc" in line.text:
            return
        if line.text in self._patterns or reader.text[reader.p : line.end].strip(" \t\r"):
            return
        if isinstance(op, UnregisteredOp) or reader.ctx.get_optional_op(op.name) is not type(op):
            return
        if type(op).__module__.partition(".")[0] not in _KNOWN:
            return
        named = int(reader.text[line.start] == "%")
        if named > len(op.results) or (named and len(op.results) > 1):
            return
        # Two operands that are one value could stand in another order than their names.
        operands = self._values(line.names[named:])
        if operands is None or tuple(operands) != operands_of(op) or len(set(operands)) < len(operands):
            return
        rest = line.text.split("\n")[named]
        column = len(rest) - len(rest.lstrip(" ="))
        if op.location != reader.location_at(line.start + column + (len(line.names[0]) if named else 0)):
            return
        self._patterns[line.text] = _Pattern(
            type(op),
            [value.type for value in operands],
            [result.type for result in op.results],
            op.properties.copy(),
            op.attributes.copy(),
            named,
            column,
        )

    def _values(self, names: list[str]) -> list[SSAValue] | None:
        """What names such as `%0#1` stand for; None if one is not defined yet."""
        known = self._reader.ssa_values
        values: list[SSAValue] = []
        for name in names:
            found = known.get(name[1:])
            number = 0
            if found is None and "#" in name:
                name, _, index = name.partition("#")
                found, number = known.get(name[1:]), int(index)
            if found is None or number >= len(found):
                return None
            values.append(found[number])
        return values
