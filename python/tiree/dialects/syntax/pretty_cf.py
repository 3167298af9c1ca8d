"""Short forms of cf ops that xDSL does not read: weights of `cf.cond_br`."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, i1, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.dialects.syntax.reader import CustomReader, Reader


def _read_edge(reader: Reader, position: int) -> tuple[Block, list[SSAValue]]:
    """`^block` or `^block(%a, %b : types)`."""
    block = reader.read_successor()
    if not reader.take("("):
        return block, []
    names = reader.operand_names()
    reader.want(":", " and the types of the values")
    types = reader.read_types()
    reader.want(")", " after the values of a block")
    return block, reader.resolve_all(names, types, position)


def _read_cond_br(reader: Reader, name: str, position: int) -> Operation:
    """`%c weights([a, b]), ^then(..), ^else(..) {..}`."""
    at = reader.skip()
    condition = reader.resolve(reader.want_percent(), i1, at)
    properties: dict[str, Attribute] = {}
    if reader.take_word("weights"):
        reader.want("(")
        properties["branch_weights"] = DenseArrayBase.from_list(i32, reader.integers())
        reader.want(")")
    reader.want(",", " and the block to go to")
    then, then_values = _read_edge(reader, position)
    reader.want(",", " and the other block")
    other, other_values = _read_edge(reader, position)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    sizes = [1, len(then_values), len(other_values)]
    properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
    values = [condition, *then_values, *other_values]
    return reader.build(name, position, values, (), properties, attributes, (), [then, other])


def _read_br(reader: Reader, name: str, position: int) -> Operation:
    """`^block(..) {..}`."""
    block, values = _read_edge(reader, position)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    return reader.build(name, position, values, (), {}, attributes, (), [block])


READERS: dict[str, CustomReader] = {"cf.br": _read_br, "cf.cond_br": _read_cond_br}
