"""Operations made of parts that are known to be complete, without xDSL's general constructor; and taken away.

`Operation.create` copies what it is given, fills in defaults and goes through setters for parts that are empty. A
compilation makes each operation anew a few times, so that this is a fair part of what a large program costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue, Use
from xdsl.ir.core import SSAValues

from tiree.support.typed import operands_of, successors_of

OperationT = TypeVar("OperationT", bound=Operation)
_set = object.__setattr__
"""For what has no public name."""


def make(
    cls: type[OperationT],
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    properties: dict[str, Attribute],
    attributes: dict[str, Attribute],
    location: LocationAttr,
) -> OperationT:
    """What `cls.create` makes of the same, without regions and successors. The dictionaries are the operation's from
    now on, and hold the properties that have defaults."""
    op = object.__new__(cls)
    fill(op, operands, types, properties, attributes, location)
    return op


def fill(
    op: Operation,
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    properties: dict[str, Attribute],
    attributes: dict[str, Attribute],
    location: LocationAttr = UNKNOWN_LOC,
) -> None:
    """The same for the constructor of a class to call. As of any constructor, xDSL's `ImplicitBuilder` learns of it."""
    uses: list[Use] = []
    for value in operands:
        use = Use(op, len(uses))
        value.add_use(use)
        uses.append(use)
    op.results = SSAValues([OpResult(type, op, index) for index, type in enumerate(types)])
    op.properties = properties
    op.attributes = attributes
    op.location = location
    op.regions = ()
    _set(op, "_operands", SSAValues(operands))
    _set(op, "_operand_uses", tuple(uses))
    _set(op, "_successors", ())
    _set(op, "_successor_uses", ())
    Operation.__post_init__(op)


def copied(op: OperationT, values: dict[SSAValue, SSAValue]) -> OperationT:
    """A clone of `op` that reads what `values` has for its operands; its results become theirs there."""
    if op.regions or successors_of(op):
        return op.clone(values)
    operands = [values.get(value, value) for value in operands_of(op)]
    types = [result.type for result in op.results]
    copy = make(type(op), operands, types, op.properties.copy(), op.attributes.copy(), op.location)
    for old, new in zip(op.results, copy.results, strict=True):
        new.name_hint = old.name_hint
        values[old] = new
    return copy


def erase_unused(ops: Iterable[Operation]) -> None:
    """Takes operations whose results nobody reads out of their blocks, each when those before have gone."""
    for op in ops:
        for result in op.results:
            if result.first_use is not None:
                raise ValueError(f"a result of {op.name} is still read")
        op.detach()
        op.drop_all_references()
