"""Verifies a module as xDSL does, but each kind of operation once.

What most operations must satisfy follows from their class, their types and their attributes. Attributes of equal
operations are often the very same objects, and objects are compared in no time: an operation that agrees with a valid
one in all of them is valid too.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from xdsl.ir import Attribute, Block, ErasedSSAValue, Operation
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException

from tiree.support.structured import verify_generic
from tiree.support.typed import is_integer_attr, operands_of, successors_of, type_of

_LOCAL = ("arith.", "math.", "stablehlo.", "linalg.", "tensor.", "flow.", "stream.", "hal.", "vm.", "util.call")
"""Dialects whose operations look at nothing but themselves, their parent and the bodies of structured ones."""
_FREE = frozenset(("message", "name", "rodata", "sym_name"))
"""Properties that in these dialects may have any value of their class, and differ from operation to operation."""
_FREE_IN = ("hal.", "vm.")
_CONSTANTS = frozenset(("arith.constant", "vm.const.i32", "vm.const.i64"))
"""The same of the `value` of these, if it is an integer of the same type."""


def verify(root: Operation) -> None:
    """Raises xDSL's `VerifyException` (or what an operation's own check raises) for the first fault below `root`."""
    trait: Any = IsolatedFromAbove
    trait.verify = _verify_isolated
    _Verifier().operation(root, type(root.parent_op()))


class _Verifier:
    def __init__(self) -> None:
        self.valid: set[tuple[object, ...]] = set()
        """Identities are those of objects that the module keeps alive meanwhile."""
        self._numbers: dict[int, int] = {}
        self._equal: dict[object, int] = {}
        self._local: dict[type[Operation], bool] = {}

    def operation(self, op: Operation, parent: type[object]) -> None:
        """Checks `op` and all in it; `parent` is the class of the operation around it."""
        cls = type(op)
        for region in op.regions:
            for block in region.blocks:
                self.block(block, cls)
        local = self._local.get(cls)
        if local is None:
            local = self._local[cls] = op.name.startswith(_LOCAL)
        if not local or successors_of(op) or (op.regions and op.name != "linalg.generic"):
            op.verify(verify_nested_ops=False)
            return
        key = self.key(op, parent)
        if key not in self.valid:
            op.verify(verify_nested_ops=False)
            if op.name == "linalg.generic":
                verify_generic(op)
            self.valid.add(key)

    def block(self, block: Block, parent: type[object]) -> None:
        op = block.first_op
        if op is None:
            block.verify()
        while op is not None:
            if op.parent is not block:
                raise ValueError(f"{op.name} is in a block that it does not know of")
            self.operation(op, parent)
            op = op.next_op

    def number(self, what: object) -> int:
        """Equal for equal attributes. They are compared once for each object."""
        found = self._numbers.get(id(what))
        if found is None:
            found = self._numbers[id(what)] = self._equal.setdefault(what, len(self._equal))
        return found

    def key(self, op: Operation, parent: type[object]) -> tuple[object, ...]:
        """Equal for operations of which xDSL's checks say the same."""
        operands, results, properties, attributes = operands_of(op), op.results, op.properties, op.attributes
        values: Iterable[object] = properties.values()
        if not _FREE.isdisjoint(properties) or op.name in _CONSTANTS:
            values = _kinds(op)
        parts = [*map(type_of, operands), *map(type_of, results), *values, *attributes.values()]
        blocks = 0
        if op.regions:
            blocks = len(op.regions[0].blocks)
            body = op.regions[0].blocks.first
            last = body.last_op if body is not None else None
            if body is not None and last is not None:
                parts += [*map(type_of, body.args), None, *map(type_of, operands_of(last))]
        numbers = list(map(self._numbers.get, map(id, parts)))
        if None in numbers:
            numbers = list(map(self.number, parts))
        return (
            type(op),
            parent,
            op.next_op is None,
            ErasedSSAValue in map(type, operands),
            len(operands),
            len(results),
            len(properties),
            *properties,
            *attributes,
            blocks,
            *numbers,
        )


def _verify_isolated(trait: IsolatedFromAbove, op: Operation) -> None:
    """What the trait of xDSL checks, which climbs from each operand to `op`: most are of blocks that were just seen."""
    del trait
    regions = list(op.regions)
    inside: set[int] = set()
    while regions:
        region = regions.pop()
        inside.update(map(id, region.blocks))
        for block in region.blocks:
            child = block.first_op
            while child is not None:
                for operand in operands_of(child):
                    owner = operand.owner
                    home = owner if isinstance(owner, Block) else owner.parent
                    if id(home) not in inside and (not op.is_ancestor(owner) or owner is op):
                        message = f"Operation using value defined out of its IsolatedFromAbove parent: {child}"
                        raise VerifyException(message)
                if child.regions and not child.has_trait(IsolatedFromAbove):
                    regions += child.regions
                child = child.next_op


def _kinds(op: Operation) -> list[object]:
    """The values of the properties, or their class where no more counts."""
    kinds: list[object] = []
    for name, value in op.properties.items():
        if name in _FREE and op.name.startswith(_FREE_IN):
            kinds.append(type(value))
        elif name == "value" and op.name in _CONSTANTS and is_integer_attr(value):
            kinds.append(_integer_kind(value.type))
        else:
            kinds.append(value)
    return kinds


@cache
def _integer_kind(type: Attribute) -> tuple[str, Attribute]:
    """The same object for integers of the same type."""
    return "integer", type
