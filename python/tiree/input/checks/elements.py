"""What bodies that work on elements take and return: types that the elements of operands and results may have.

A body of a reduction may compute in a wider type of the same kind than its inputs have.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, ComplexType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.input.checks.values import element, kind, need, need_scalar, need_scalars, returned
from tiree.support.typed import is_complex_type, is_integer_type


def _width(type: Attribute) -> int:
    if is_integer_type(type):
        return type.width.data
    if is_complex_type(type):
        return _width(type.element_type)
    return type.bitwidth if isinstance(type, AnyFloat) else 0


def _sort_of(value: SSAValue) -> str:
    return "c" if isinstance(element(value), ComplexType) else kind(value)


def takes(argument: SSAValue, value: SSAValue, what: str, wider: bool = True) -> None:
    """`argument` of a body must have the element type of `value`, or a wider one of its kind if that is allowed.

    Types of other kinds than numbers, such as quantized ones, are left to the lowering.
    """
    have, given = element(argument), element(value)
    if have == given or "" in (_sort_of(argument), _sort_of(value)):
        return
    promoted = wider and _sort_of(argument) == _sort_of(value) and _width(given) <= _width(have)
    need(promoted, f"{what} takes elements of type {have}; it gets {given}")


def need_reducer(
    block: Block, inputs: Sequence[SSAValue], starts: Sequence[SSAValue], op: Operation, first: int = 0
) -> None:
    """A body of twice as many rank-0 arguments as there are inputs, that returns one value for each; the elements of
    inputs, of initial values (or of what is combined with the inputs) and of results, from `first` on, go with it."""
    count = len(inputs)
    need_scalars(block, 2 * count, "the body")
    for value in returned(block, count, "the body"):
        need_scalar(value, "what the body returns")
    for index, value in enumerate(returned(block, count, "the body")):
        for argument in (block.args[index], block.args[count + index]):
            takes(argument, inputs[index], "the body")
            takes(argument, starts[index], "the body")
            takes(argument, value, "the body")
        takes(op.results[first + index], value, "a result", wider=False)


def need_comparator(block: Block, values: Sequence[SSAValue], what: str) -> None:
    """A body that takes two elements of each of `values` and returns an i1."""
    need_scalars(block, 2 * len(values), what)
    for index, value in enumerate(values):
        for argument in block.args[2 * index : 2 * index + 2]:
            takes(argument, value, what, wider=False)
    need_scalar(returned(block, 1, what)[0], f"what {what} returns", "b")
