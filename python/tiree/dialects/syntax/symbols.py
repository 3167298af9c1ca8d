"""Pieces of short forms that several of IREE's dialects share: visibility, aliases, executables' exports, shaped types.

Each is a `Custom` of `forms`: it reads from the text and fills in the parts of the operation.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute

from tiree.dialects.syntax.forms import Custom, Parts
from tiree.dialects.syntax.pretty_func import read_arguments
from tiree.dialects.syntax.reader import Reader

VISIBILITIES = ("public", "private", "nested")


def read_visibility(reader: Reader, parts: Parts) -> None:
    """`public`, `private` or `nested`; the generic form says nothing for public symbols."""
    word = next((word for word in VISIBILITIES if reader.take_word(word)), "public")
    if word != "public":
        parts.properties["sym_visibility"] = StringAttr(word)


def read_alias(reader: Reader, parts: Parts) -> None:
    """`@function` or `@function as("name")`: the function of an export, and its own name."""
    parts.properties["function_ref"] = reference = reader.read_symbol()
    name = reference.root_reference.data
    if reader.take_word("as"):
        reader.want("(")
        name = reader.read_string()
        reader.want(")")
    parts.properties["sym_name"] = StringAttr(name)


def read_count_region(reader: Reader, parts: Parts) -> None:
    """`(%workload: index, ...) -> (index, index, index) { ... }`."""
    arguments, _, _ = read_arguments(reader)
    reader.want("->", " and the types of the workgroup count")
    reader.read_result_types()
    parts.regions["workgroup_count"] = reader.read_region(arguments)


def read_entry_points(reader: Reader, parts: Parts) -> None:
    """`@executable::@export`, or several in braces."""
    points: list[SymbolRefAttr] = []
    if reader.take("{"):
        points.append(reader.read_symbol())
        while reader.take(","):
            points.append(reader.read_symbol())
        reader.want("}", " after the entry points")
    else:
        points.append(reader.read_symbol())
    parts.properties["entry_points"] = ArrayAttr(points)


def read_dims(reader: Reader) -> list[str]:
    """`{%a, %b}` after a type, or nothing."""
    if not reader.take("{"):
        return []
    names = reader.operand_names()
    reader.want("}", " after the dimensions")
    return names


def tied_signature(operands: str, operand_dims: str, results: str, result_dims: str) -> Custom:
    """`(type{dims}, ...) -> (type{dims}, %tied as type{dims}, ...)` of the fields that are named."""

    def read(reader: Reader, parts: Parts) -> None:
        names = parts.operands[operands]
        types = parts.types[operands] = []
        dims = parts.operands[operand_dims] = []
        reader.want("(", " before the operand types")
        read_list(reader, lambda: types.append(reader.read_type()) or dims.extend(read_dims(reader)))
        reader.want("->", " and the result types")
        found: list[Attribute] = []
        tied: list[int] = []
        out_dims = parts.operands[result_dims] = []

        def read_result() -> None:
            at = reader.skip()
            name = reader.percent()
            if name is None:
                found.append(reader.read_type())
                tied.append(-1)
            else:
                if name not in names:
                    reader.fail("a tied result must name an operand of this operation", at)
                tied.append(names.index(name))
                found.append(reader.read_type() if reader.take_word("as") else types[tied[-1]])
            out_dims.extend(read_dims(reader))

        if reader.take("("):
            read_list(reader, read_result)
        else:
            read_result()
        parts.types[results] = found
        parts.properties["tied_operands"] = ArrayAttr([IntegerAttr(index, IndexType()) for index in tied])

    return read


def read_list(reader: Reader, read_one: Callable[[], object], closing: str = ")") -> None:
    """Items up to and with `closing`; the opening has been read."""
    while not reader.take(closing):
        read_one()
        if not reader.take(",") and not reader.at(closing):
            reader.fail(f"expected ',' or '{closing}', found {reader.found()}")
