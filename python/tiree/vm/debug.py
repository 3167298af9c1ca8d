"""The debug database of a module: from bytecode offsets back to source locations."""

from __future__ import annotations

import re
import struct

from tiree.dialects import vm
from tiree.vm.encode import EncodedFunction
from tiree.vm.flatbuffer import FlatBufferBuilder, reference, scalar

_FILE_LINE_COLUMN = 2
"""Tag of FileLineColLocDef in the location union."""


def _file_line_column(text: str) -> tuple[str, int, int] | None:
    """Parts of a location that names a file, as MLIR prints it: `loc("a.mlir":3:4)`."""
    found = re.search(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)', text)
    return (found[1], int(found[2]), int(found[3])) if found else None


def debug_database(b: FlatBufferBuilder, functions: list[vm.FuncOp], encoded: list[EncodedFunction]) -> int:
    """Builds the table. Entry 0 of the location table is the unknown location."""
    numbers: dict[tuple[str, int, int], int] = {}
    maps: list[tuple[str, list[bytes]]] = []
    for function, code in zip(functions, encoded, strict=True):
        entries: list[bytes] = []
        for offset, text in code.locations:
            place = _file_line_column(text)
            number = numbers.setdefault(place, len(numbers) + 1) if place is not None else 0
            entries.append(struct.pack("<ii", offset, number))
        maps.append((function.sym_name.data, entries))
    locations = [
        b.table(reference(0, b.string(file)), scalar(1, "i", line), scalar(2, "i", column))
        for file, line, column in numbers
    ]
    tags = bytes([0] + [_FILE_LINE_COLUMN] * len(locations))
    function_tables = [
        b.table(reference(0, b.string(name)), reference(1, b.struct_vector(entries))) for name, entries in maps
    ]
    functions_vector = b.offset_vector(function_tables)
    location_vector = b.offset_vector([0, *locations])
    return b.table(reference(0, b.bytes_vector(tags)), reference(1, location_vector), reference(2, functions_vector))
