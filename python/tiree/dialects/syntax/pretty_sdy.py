"""Short forms of the `sdy` dialect. Its attributes stand without their names in them, and are kept as text."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, UnregisteredAttr
from xdsl.ir import Attribute, Operation

from tiree.dialects.syntax.reader import CustomReader, Reader


def _short(reader: Reader, name: str) -> Attribute:
    """`<...>` for `#name<...>`."""
    if not reader.at("<"):
        reader.fail(f"expected '<' of a #{name}, found {reader.found()}")
    cls = reader.ctx.get_optional_attr(name)
    assert cls is not None
    assert issubclass(cls, UnregisteredAttr)
    return cls(name, False, False, reader.read_angle_brackets())


def _read_mesh(reader: Reader, name: str, position: int) -> Operation:
    """`@mesh = <...> {..}`."""
    properties: dict[str, Attribute] = {"sym_name": StringAttr(reader.read_symbol_name())}
    reader.want("=", " and the mesh")
    properties["mesh"] = _short(reader, "sdy.mesh")
    attributes = reader.read_dictionary() if reader.at("{") else {}
    return reader.build(name, position, [], [], properties, attributes)


def _read_constraint(reader: Reader, name: str, position: int) -> Operation:
    """`%x <...> {..} : type`."""
    operand = reader.want_percent()
    properties = {"sharding": _short(reader, "sdy.sharding")}
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the operand")
    type = reader.read_type()
    return reader.build(name, position, [reader.resolve(operand, type, position)], [type], properties, attributes)


READERS: dict[str, CustomReader] = {"sdy.mesh": _read_mesh, "sdy.sharding_constraint": _read_constraint}
