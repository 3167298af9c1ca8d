"""Control flow whose values have `?` in one place and a number in another: what crosses a border gets one type.

A loop carries the more general type of operand, arguments, returned value and result; a branch returns the type of the
result. `tensor.cast` is what brings a value there, and checks a size where a number is wanted.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tiree.input.expansions.build import Build
from tiree.support.typed import is_tensor_type


def _cast(build: Build, value: SSAValue, type: Attribute) -> SSAValue:
    if value.type == type:
        return value
    return build.add(tensor.CastOp.create(operands=[value], result_types=[type])).results[0]


def _general(types: Sequence[Attribute]) -> Attribute:
    """The type with `?` wherever `types` differ."""
    first = types[0]
    shapes = [type.get_shape() for type in types if is_tensor_type(type)]
    if not is_tensor_type(first) or len(shapes) < len(types) or all(type == first for type in types):
        return first
    sizes = [column[0] if len(set(column)) == 1 else DYNAMIC_INDEX for column in zip(*shapes, strict=True)]
    return TensorType(first.element_type, sizes)


def _returned(block: Block, types: Sequence[Attribute]) -> None:
    last = block.last_op
    assert last is not None
    build = Build(last)
    last.operands = [_cast(build, value, type) for value, type in zip(last.operands, types, strict=True)]


def _argument(block: Block, index: int, type: Attribute) -> None:
    """Gives an argument another type; inside the block it has its own again."""
    argument, first = block.args[index], block.first_op
    own = argument.type
    if own == type or first is None:
        return
    argument = Rewriter.replace_value_with_new_type(argument, type)
    again = Build(first).add(tensor.CastOp.create(operands=[argument], result_types=[own]))
    argument.replace_uses_with_if(again.results[0], lambda use: use.operation is not again)


def _loop(build: Build, op: Operation) -> Sequence[SSAValue] | None:
    condition, body = op.regions[0].block, op.regions[1].block
    last = body.last_op
    assert last is not None
    columns = list(zip(op.operands, condition.args, body.args, last.operands, op.results, strict=True))
    types = [_general([value.type for value in column]) for column in columns]
    if all(value.type == type for column, type in zip(columns, types, strict=True) for value in column):
        return None
    for index, type in enumerate(types):
        _argument(condition, index, type)
        _argument(body, index, type)
    _returned(body, types)
    operands = [_cast(build, value, type) for value, type in zip(op.operands, types, strict=True)]
    return _again(build, op, operands, types)


def _branches(build: Build, op: Operation) -> Sequence[SSAValue] | None:
    types = [result.type for result in op.results]
    for region in op.regions:
        if region.blocks:
            _returned(region.block, types)
    del build


def _again(build: Build, op: Operation, operands: Sequence[SSAValue], types: Sequence[Attribute]) -> Sequence[SSAValue]:
    """`op` with these operands and results; its results of the types that it had."""
    new = op.__class__.create(
        operands=operands,
        result_types=types,
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.detach_region(region) for region in list(op.regions)],
    )
    made = build.add(new).results
    return [_cast(build, value, result.type) for value, result in zip(made, op.results, strict=True)]


EXPANSIONS = {"stablehlo.while": _loop, "stablehlo.if": _branches, "stablehlo.case": _branches}
