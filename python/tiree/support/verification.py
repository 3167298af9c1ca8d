"""Verifies a module as xDSL does, but each kind of operation once.

What most operations must satisfy follows from their class, their types and their attributes. Attributes of equal
operations are often the very same objects, and objects are compared in no time: an operation that agrees with a valid
one in all of them is valid too.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Block, ErasedSSAValue, Operation, SSAValue

from tiree.support.structured import verify_generic
from tiree.support.typed import operands_of

_LOCAL = ("arith.", "math.", "stablehlo.", "linalg.", "tensor.", "flow.", "stream.", "hal.", "vm.", "util.call")
"""Dialects whose operations look at nothing but themselves, their parent and the bodies of structured ones."""


def verify(root: Operation) -> None:
    """Raises xDSL's `VerifyException` (or what an operation's own check raises) for the first fault below `root`."""
    _Verifier().operation(root)


class _Verifier:
    def __init__(self) -> None:
        self.valid: set[tuple[object, ...]] = set()
        """Identities are those of objects that the module keeps alive meanwhile."""
        self._numbers: dict[int, int] = {}
        self._equal: dict[Attribute, int] = {}

    def operation(self, op: Operation) -> None:
        for region in op.regions:
            for block in region.blocks:
                self.block(block)
        if not op.name.startswith(_LOCAL) or op.successors or (op.regions and op.name != "linalg.generic"):
            op.verify(verify_nested_ops=False)
            return
        key = self.key(op)
        if key not in self.valid:
            op.verify(verify_nested_ops=False)
            if op.name == "linalg.generic":
                verify_generic(op)
            self.valid.add(key)

    def block(self, block: Block) -> None:
        op = block.first_op
        if op is None:
            block.verify()
        while op is not None:
            if op.parent is not block:
                raise ValueError(f"{op.name} is in a block that it does not know of")
            self.operation(op)
            op = op.next_op

    def type_number(self, value: SSAValue) -> int:
        return self.number(value.type)

    def number(self, attribute: Attribute) -> int:
        """Equal for equal attributes. They are compared once for each object."""
        found = self._numbers.get(id(attribute))
        if found is None:
            found = self._numbers[id(attribute)] = self._equal.setdefault(attribute, len(self._equal))
        return found

    def key(self, op: Operation) -> tuple[object, ...]:
        """Equal for operations of which xDSL's checks say the same."""
        operands = operands_of(op)
        parent = op.parent_op()
        inside: tuple[int, ...] = ()
        if op.regions:
            body = op.regions[0].blocks.first
            last = body.last_op if body is not None else None
            if body is not None and last is not None:
                yielded = operands_of(last)
                inside = (
                    *(id(arg.type) for arg in body.args),
                    len(op.regions[0].blocks),
                    *(id(v.type) for v in yielded),
                )
        return (
            type(op),
            type(parent),
            op.next_op is None,
            any(isinstance(value, ErasedSSAValue) for value in operands),
            len(operands),
            *map(self.type_number, operands),
            *map(self.type_number, op.results),
            *((name, self.number(value)) for name, value in op.properties.items()),
            *((name, id(value)) for name, value in op.attributes.items()),
            inside,
        )
