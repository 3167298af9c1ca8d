"""Short forms of `util` ops that their classes do not read themselves."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation

from tiree.dialects.syntax.forms import forms
from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.dialects.syntax.symbols import read_list
from tiree.dialects.util_types import IntAssumptionAttr


def _read_assumption(reader: Reader) -> Attribute:
    """`<umin = 0, umax = 64>`."""
    bounds: dict[str, int] = {}

    def read_one() -> None:
        key = reader.want_word("umin", "umax", "udiv")
        reader.want("=")
        bounds[key] = reader.integer()

    reader.want("<", " before an assumption")
    read_list(reader, read_one, ">")
    return IntAssumptionAttr.of(**bounds)


def _read_assume_int(reader: Reader, name: str, position: int) -> Operation:
    """`%a<...>` or `%a[<...>, ...]`, several separated by commas, and their types."""
    operands: list[str] = []
    assumptions: list[Attribute] = []
    while (operand := reader.percent()) is not None:
        operands.append(operand)
        cases: list[Attribute] = []
        if reader.take("["):
            read_list(reader, lambda cases=cases: cases.append(_read_assumption(reader)), "]")
        else:
            cases.append(_read_assumption(reader))
        assumptions.append(ArrayAttr(cases))
        if not reader.take(","):
            break
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the types of the values")
    types = list(reader.read_types())
    values = reader.resolve_all(operands, types, position)
    return reader.build(name, position, values, types, {"assumptions": ArrayAttr(assumptions)}, attributes)


_BUFFERS = {
    "util.buffer.alloc": "?uninitialized (? < alignment = $alignment:index > )? {} : ~result { $storage_size }",
    "util.buffer.size": "$operand : ~operand {}",
    "util.buffer.subspan": ("$source [ $source_offset ] : ~source { $source_size } -> ~result { $result_size } {}"),
    "util.buffer.copy": (
        "$source [ $source_offset ] , $target [ $target_offset ] , $length "
        ": ~source { $source_size } -> ~target { $target_size } {}"
    ),
    "util.buffer.fill": "$pattern , $target [ $target_offset for $length ] : ~pattern -> ~target { $target_size } {}",
    "util.buffer.load": "$source [ $source_offset for $length ] : ~source { $source_size } -> ~result {}",
    "util.buffer.store": "$source , $target [ $target_offset for $length ] : ~source -> ~target { $target_size } {}",
}

READERS: dict[str, CustomReader] = {"util.assume.int": _read_assume_int, **forms(_BUFFERS)}
