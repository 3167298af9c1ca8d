"""Numbers for operations that are equal but for their operands.

Two operations get the same number when they agree in name, attributes, types and bodies. Attributes are compared as
they are, floats by their bits; a constant that is no splat counts by its type alone, so that layers with different
weights agree. Operations that must not be shared have no number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, ComplexType, IntegerType, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.support.typed import is_tensor_type, operands_of, type_of

_DIALECTS = ("stablehlo.", "chlo.")
_CALLS = ("func.call",)
_NEVER = frozenset(
    f"stablehlo.{name}"
    for name in (
        "after_all", "all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute",
        "collective_reduce", "composite", "create_token", "cross-replica-sum", "custom_call", "infeed",
        "optimization_barrier", "outfeed",
        "partition_id", "recv", "reduce_scatter", "replica_id", "rng", "send",
    )
)  # fmt: skip
"""What has effects, differs by device, or stands for something that only its place says."""


def is_weight(op: Operation) -> bool:
    """Whether `op` is a constant with elements of its own."""
    if op.name != "stablehlo.constant":
        return False
    value = op.properties.get("value")
    return isinstance(value, DenseAttr) and not value.is_splat


def captured(op: Operation) -> list[SSAValue]:
    """What the regions of `op` read of outside, each once, in order."""
    inside: set[Block] = {block for region in op.regions for block in region.blocks}
    found: dict[SSAValue, None] = {}
    for region in op.regions:
        for inner in region.walk():
            inside.update(block for nested in inner.regions for block in nested.blocks)
            for value in operands_of(inner):
                owner = value.owner
                block = owner if isinstance(owner, Block) else owner.parent
                if block not in inside:
                    found[value] = None
    return list(found)


def reads(op: Operation) -> tuple[SSAValue, ...]:
    """Operands, then what regions read of outside."""
    return (*operands_of(op), *captured(op)) if op.regions else operands_of(op)


class Tokens:
    """The numbers of one module's operations. `functions` are those that calls may name."""

    def __init__(self, functions: Mapping[str, Operation]) -> None:
        self._functions = functions
        self._shareable: dict[str, bool] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        self._by_identity: dict[int, int] = {}
        self._seen: list[Attribute] = []
        """Keeps what has an identity there alive."""
        self._by_value: dict[Attribute, int] = {}
        self._plain: set[int] = set()
        """The numbers of types of static tensors of numbers."""
        self._names: dict[str, bool] = {}
        self._found: dict[int, tuple[Operation, int | None]] = {}
        """By the identity of operations, which stay as they are but for where their operands come from."""

    def of(self, op: Operation) -> int | None:
        """The number of `op`; None where it is not to be shared."""
        known = self._found.get(id(op))
        if known is None:
            known = self._found[id(op)] = op, self._of(op)
        return known[1]

    def _of(self, op: Operation, numbering: dict[SSAValue, int] | None = None) -> int | None:
        """The same. `numbering` is that of the body `op` is in."""
        name = op.name
        may_be = self._names.get(name)
        if may_be is None:
            may_be = self._names[name] = name.startswith(_DIALECTS) and name not in _NEVER
        if not may_be and not (name in _CALLS and self._callee_may_be(op)):
            return None
        operands, results = operands_of(op), op.results
        properties, attributes = ({}, {}) if is_weight(op) else (op.properties, op.attributes)
        types = [*map(type_of, operands), *map(type_of, results)]
        numbers = self._attributes([*types, *properties.values(), *attributes.values()])
        of_types = numbers[: len(types)]
        if not self._plain.issuperset(of_types) and not self._are_plain(op, of_types):
            return None
        regions: list[object] = []
        if op.regions:
            numbering = {} if numbering is None else numbering
            for region in op.regions:
                for block in region.blocks:
                    key = self._block(block, numbering)
                    if key is None:
                        return None
                    regions.append(key)
        counts = len(operands), len(results), len(properties)
        key = (name, *counts, *properties, *attributes, *numbers, *regions)
        return self._numbers.setdefault(key, len(self._numbers))

    def _block(self, block: Block, numbering: dict[SSAValue, int]) -> tuple[object, ...] | None:
        """A body: its operations and where their operands come from; what is of outside counts by its place."""
        for argument in block.args:
            numbering[argument] = len(numbering)
        keys: list[object] = [tuple(self._attributes([*map(type_of, block.args)]))]
        for op in block.ops:
            token = self._of(op, numbering)
            if token is None or op.successors:
                return None
            given = (*op.properties.items(), *op.attributes.items()) if is_weight(op) else ()
            places = tuple([numbering.setdefault(value, len(numbering)) for value in operands_of(op)])
            for result in op.results:
                numbering[result] = len(numbering)
            keys.append((token, *((one, self._attribute(value)) for one, value in given), places))
        return tuple(keys)

    def _attributes(self, attributes: Sequence[Attribute]) -> list[int]:
        try:
            return list(map(self._by_identity.__getitem__, map(id, attributes)))
        except KeyError:
            return [self._attribute(one) for one in attributes]

    def _attribute(self, attribute: Attribute) -> int:
        number = self._by_identity.get(id(attribute))
        if number is None:
            number = self._by_value.setdefault(attribute, len(self._by_value))
            self._by_identity[id(attribute)] = number
            self._seen.append(attribute)
        return number

    def _are_plain(self, op: Operation, numbers: Sequence[int]) -> bool:
        """Whether the types of operands and results are those of static tensors of numbers."""
        for value, number in zip((*operands_of(op), *op.results), numbers, strict=True):
            type = value.type
            if number in self._plain:
                continue
            if not is_tensor_type(type) or DYNAMIC_INDEX in type.get_shape():
                return False
            if not isinstance(type.element_type, (IntegerType, AnyFloat, ComplexType)):
                return False
            self._plain.add(number)
        return True

    def _callee_may_be(self, op: Operation) -> bool:
        callee = op.properties.get("callee")
        if not isinstance(callee, SymbolRefAttr):
            return False
        name = callee.root_reference.data
        known = self._shareable.get(name)
        if known is None:
            self._shareable[name] = False  # A function that calls itself is none.
            known = self._shareable[name] = self._function_may_be(self._functions.get(name))
        return known

    def _function_may_be(self, function: Operation | None) -> bool:
        if function is None or function.attributes.get("noinline") is not None:
            return False
        visibility = function.properties.get("sym_visibility")
        if not isinstance(visibility, StringAttr) or visibility.data != "private":
            return False
        blocks = function.regions[0].blocks
        block = blocks.first
        if block is None or len(blocks) != 1:
            return False
        return all(op.name == "func.return" or self.of(op) is not None for op in block.ops)
