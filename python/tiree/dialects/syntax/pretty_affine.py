"""Short forms of `affine` ops that xDSL lacks: `affine.linearize_index disjoint [%i, %j] by (6, %n) : index`."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IndexType, UnitAttr, i64
from xdsl.ir import Attribute, Operation

from tiree.dialects.iree_tensor_ext import segment_sizes
from tiree.dialects.syntax.reader import CustomReader, Reader
from tiree.dialects.syntax.symbols import read_list


def _read_linearize_index(reader: Reader, name: str, position: int) -> Operation:
    properties: dict[str, Attribute] = {"disjoint": UnitAttr()} if reader.take_word("disjoint") else {}
    indices: list[str] = []
    sizes: list[str] = []
    basis: list[int] = []

    def read_size() -> None:
        value = reader.percent()
        if value is not None:
            sizes.append(value)
        basis.append(reader.integer() if value is None else DYNAMIC_INDEX)

    reader.want("[", " before the indices")
    read_list(reader, lambda: indices.append(reader.want_percent()), "]")
    reader.want_word("by")
    reader.want("(", " before the sizes")
    read_list(reader, read_size)
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the result")
    type = reader.read_type()
    operands = reader.resolve_all([*indices, *sizes], [IndexType()] * (len(indices) + len(sizes)), position)
    properties["static_basis"] = DenseArrayBase.from_list(i64, basis)
    properties["operandSegmentSizes"] = segment_sizes(len(indices), len(sizes))
    return reader.build(name, position, operands, [type], properties, attributes)


READERS: dict[str, CustomReader] = {"affine.linearize_index": _read_linearize_index}
