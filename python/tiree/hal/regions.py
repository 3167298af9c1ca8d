"""What conversions of `stream` functions begin and end with: types of block arguments, and what is left unused."""

from __future__ import annotations

from collections.abc import Callable, Collection

from xdsl.ir import Attribute, Operation, Region, SSAValue


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


def replace(op: Operation, values: tuple[SSAValue, ...]) -> None:
    """Puts `values` in the place of the results of `op`, which goes."""
    for old, new in zip(op.results, values, strict=True):
        old.replace_all_uses_with(new)
    assert op.parent is not None
    op.parent.erase_op(op)
