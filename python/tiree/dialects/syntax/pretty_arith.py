"""Short forms of `arith` ops that xDSL's classes do not read in full."""

from __future__ import annotations

from xdsl.ir import Operation

from tiree.dialects.syntax.reader import CustomReader, Reader


def _read_trunci(reader: Reader, name: str, position: int) -> Operation:
    """`%a overflow<nsw, nuw> : type to type`; that nothing is lost is a promise that nobody here uses."""
    operand = reader.want_percent()
    if reader.take_word("overflow"):
        reader.want("<")
        reader.read_entries(">")
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the types of the conversion")
    source = reader.read_type()
    reader.want_word("to")
    value = reader.resolve(operand, source, position)
    return reader.build(name, position, [value], [reader.read_type()], {}, attributes)


READERS: dict[str, CustomReader] = {"arith.trunci": _read_trunci}
