"""Short forms of the `torch` dialect."""

from __future__ import annotations

from functools import partial

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, Region

from tiree.dialects import torch
from tiree.dialects.syntax.pretty_func import read_return
from tiree.dialects.syntax.reader import CustomReader, Reader


def _read_operator(reader: Reader, name: str, position: int) -> Operation:
    """`"onnx.If"(%a) {..} : (type) -> type {..}, {..}`."""
    properties: dict[str, Attribute] = {"name": StringAttr(reader.read_string())}
    operands = reader.operand_list()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    reader.want(":", " and the type of the operator")
    types_at = reader.skip()
    inputs, outputs = reader.read_function_type()
    values = reader.resolve_all(operands, inputs, types_at)
    regions: list[Region] = []
    while reader.at("{") if not regions else reader.take(","):
        regions.append(reader.read_region())
    return reader.build(name, position, values, outputs, properties, attributes, regions)


def _read_constant(type: type[ParametrizedAttribute], reader: Reader, name: str, position: int) -> Operation:
    """A value, but for `none`, and attributes."""
    properties: dict[str, Attribute] = {}
    if type is not torch.NoneType:
        properties["value"] = reader.read_attribute()
    attributes = reader.read_dictionary() if reader.at("{") else {}
    return reader.build(name, position, [], [type()], properties, attributes)


READERS: dict[str, CustomReader] = {
    "torch.operator": _read_operator,
    "torch.operator_terminator": read_return,
    "torch.constant.none": partial(_read_constant, torch.NoneType),
    "torch.constant.int": partial(_read_constant, torch.IntType),
    "torch.constant.float": partial(_read_constant, torch.FloatType),
    "torch.constant.bool": partial(_read_constant, torch.BoolType),
    "torch.constant.str": partial(_read_constant, torch.StringType),
}
