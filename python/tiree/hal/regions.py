"""What conversions of `stream` functions begin and end with: types of block arguments, and what is left unused."""

from __future__ import annotations

from collections.abc import Callable, Collection

from xdsl.ir import Attribute, Operation, Region, SSAValue

from tiree.hal.values import Emitter


def convert_arguments(region: Region, convert_type: Callable[[Attribute], Attribute]) -> None:
    """Gives the arguments of all blocks their new types."""
    for block in region.blocks:
        for argument in list(block.args):
            type = convert_type(argument.type)
            if type != argument.type:
                argument.replace_all_uses_with(block.insert_arg(type, argument.index))
                block.erase_arg(argument)


def erase_unused(region: Region, names: Collection[str]) -> None:
    """Erases the operations of these names that nothing uses any more."""
    for block in region.blocks:
        for op in reversed(list(block.ops)):
            if op.name in names and not any(result.uses for result in op.results):
                block.erase_op(op)


def retype(op: Operation, emitter: Emitter, convert_type: Callable[[Attribute], Attribute]) -> None:
    """Puts the same op with new result types in the place of `op`, if they are others."""
    types = [convert_type(result.type) for result in op.results]
    if types == [result.type for result in op.results]:
        return
    new = type(op).create(
        operands=list(op.operands),
        result_types=types,
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    emitter.add(new)
    replace(op, tuple(new.results))


def replace(op: Operation, values: tuple[SSAValue, ...]) -> None:
    """Puts `values` in the place of the results of `op`, which goes."""
    for old, new in zip(op.results, values, strict=True):
        old.replace_all_uses_with(new)
    assert op.parent is not None
    op.parent.erase_op(op)
