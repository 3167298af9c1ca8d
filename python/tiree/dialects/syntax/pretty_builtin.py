"""The short form of `builtin.module`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation

from tiree.dialects.syntax.reader import CustomReader, Reader


def _read_module(reader: Reader, name: str, position: int) -> Operation:  # noqa: ARG001 (a reader's signature)
    """`@name attributes {..} { ... }`, name and attributes optional."""
    symbol = StringAttr(reader.read_symbol_name()) if reader.at("@") else None
    attributes = reader.read_dictionary() if reader.take_word("attributes") else {}
    region = reader.read_region()
    if not region.blocks:
        region.add_block(Block())
    properties = {"sym_name": symbol} if symbol is not None else {}
    return ModuleOp.create(
        properties=properties, attributes=attributes, regions=[region], location=reader.location_at(position)
    )


READERS: dict[str, CustomReader] = {"builtin.module": _read_module}
