"""Operations made of parts that are known to be complete, without xDSL's general constructor.

`Operation.create` copies what it is given, fills in defaults and goes through setters for parts that are empty. A
compilation makes each operation anew a few times, so that this is a fair part of what a large program costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue, Use
from xdsl.ir.core import SSAValues

OperationT = TypeVar("OperationT", bound=Operation)


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
    op._operands = SSAValues(operands)  # pyright: ignore[reportPrivateUsage]
    uses: list[Use] = []
    for value in operands:
        use = Use(op, len(uses))
        value.add_use(use)
        uses.append(use)
    op._operand_uses = tuple(uses)  # pyright: ignore[reportPrivateUsage]
    op.results = SSAValues([OpResult(type, op, index) for index, type in enumerate(types)])
    op.properties = properties
    op.attributes = attributes
    op.location = location
    op._successors = op._successor_uses = op.regions = ()  # pyright: ignore[reportPrivateUsage]
    return op
