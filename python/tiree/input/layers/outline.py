"""Puts the equal layers of a run into one function.

The first and the last layer stay where they are: the flow stage may join them with what comes before and after. Each
other becomes a call. What a layer reads of outside are the function's arguments, in the order of first use: it is by
this that layers are compared, so that one whose operands are arranged in another way is left alone.

Weights stay outside, and so does what only rearranges them, as that is done once and for all when compiling. What is
the same for all layers stays outside as well, but what costs nothing to have again, such as a broadcast, is copied into
the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import FunctionType, FusedLoc, NoneAttr, StringAttr, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tiree.dialects.dense import element_count
from tiree.input.layers.borders import Dataflow
from tiree.input.layers.runs import LEAST_OPERATIONS, LEAST_TIMES, Run
from tiree.input.layers.tokens import is_weight
from tiree.support.creation import erase_unused
from tiree.support.shared_layers import SHARED_LAYER
from tiree.support.typed import is_tensor_type, result_of

_FREE = frozenset(
    f"stablehlo.{name}" for name in ("broadcast_in_dim", "constant", "convert", "iota", "reshape", "slice", "transpose")
)
"""What is done again wherever its result is read."""
_REARRANGING = frozenset(
    f"stablehlo.{name}" for name in ("broadcast_in_dim", "reshape", "reverse", "slice", "transpose")
)
_MOST_SHARED_CONSTANT = 4096


class Place(NamedTuple):
    """Where an operand comes from: argument `number`, or result `result` of operation `number` of the body."""

    is_argument: bool
    number: int
    result: int = 0


@dataclass(eq=False)
class Layer:
    """One layer: its operations in the function's order, and what it reads of outside."""

    first: int
    end: int
    body: list[Operation] = field(default_factory=list[Operation])
    """What comes before the own operations is copied, not moved."""
    copied: int = 0
    left: list[int] = field(default_factory=list[int])
    """The places of what stays outside: weights, and what is the same for all layers."""
    operands: list[tuple[Place, ...]] = field(default_factory=list[tuple[Place, ...]])
    arguments: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    @property
    def own(self) -> list[Operation]:
        return self.body[self.copied :]


class Outliner:
    """Makes the layers of runs in one block."""

    def __init__(self, flow: Dataflow, numbers: Sequence[int]) -> None:
        self.flow = flow
        self.numbers = numbers
        """Equal for equal operations, negative for those that are not to be shared."""
        self._replaced: dict[SSAValue, SSAValue] = {}
        """What calls give now instead of the operations they replaced."""
        self._cut = 0
        """The place of the first layer, which is left, and of that after it."""
        self._first = 0
        self._same: set[int] = set()
        """Places of constants that are the same in all layers."""

    def outline(self, run: Run, cut: int, name: str) -> FuncOp | None:
        """The function that calls of it replace the inner layers by; None where they are not equal."""
        period = run.period
        count = (run.end - cut) // period
        if count < LEAST_TIMES:
            return None
        firsts = [cut + period * number for number in range(1, count - 1)]
        self._cut, self._first = cut, firsts[0]
        self._same = self._equal_constants(firsts, period)
        same = self._invariant(firsts, period)
        model, *others = [self._layer(first, period, same) for first in firsts]
        if len(model.own) < LEAST_OPERATIONS or any(not self._agree(model, other) for other in others):
            return None
        results = self._results([model, *others])
        if not results:
            return None
        for layer in (model, *others):
            self._call(layer, results, name)
        for layer in others:
            erase_unused(reversed(layer.own))
            self._read_the_same(model, layer, same)
        function = _function(name, model, results)
        for layer in (model, *others):
            for index in reversed(layer.left):
                _erase_unused(self.flow.ops[index])
        return function

    def _equal_constants(self, firsts: Sequence[int], period: int) -> set[int]:
        """The places of small constants with elements of their own that are the same in all layers."""
        found: set[int] = set()
        for offset in range(period):
            ops = [self.flow.ops[first + offset] for first in firsts]
            if not is_weight(ops[0]) or _count(ops[0].results[0]) > _MOST_SHARED_CONSTANT:
                continue
            if all(op.properties["value"] == ops[0].properties["value"] for op in ops):
                found.update(first + offset for first in firsts)
        return found

    def _invariant(self, firsts: Sequence[int], period: int) -> set[int]:
        """The offsets of operations that give the same in all layers."""
        found: set[int] = set()
        for offset in range(period):
            places = [first + offset for first in firsts]
            if is_weight(self.flow.ops[places[0]]) and places[0] not in self._same:
                continue
            columns = zip(*(self.flow.reads[place] for place in places), strict=True)
            if all(self._is_same(values, firsts, found) for values in columns):
                found.add(offset)
        return found

    def _is_same(self, values: Sequence[SSAValue], firsts: Sequence[int], found: set[int]) -> bool:
        """Whether one operand of an operation is the same in all layers."""
        source = self.flow.source(values[0])
        if source < self._first:
            return all(value is values[0] for value in values)
        offset = source - firsts[0]
        if offset not in found:
            return False
        index = result_of(values[0]).index
        return all(
            self.flow.source(value) == first + offset and result_of(value).index == index
            for first, value in zip(firsts, values, strict=True)
        )

    def _layer(self, first: int, period: int, same: set[int]) -> Layer:
        layer = Layer(first, first + period)
        places: dict[SSAValue, Place] = {}
        own: list[int] = []
        left: set[int] = set()
        for index in range(first, layer.end):
            if index - first in same or self._stays(index, left):
                left.add(index)
            else:
                own.append(index)
        layer.left = sorted(left)
        # What is copied comes first, so all that is read of outside is looked at before.
        for index in own:
            for value, source in zip(self.flow.reads[index], self.flow.sources[index], strict=True):
                if source in left or not first <= source < layer.end:
                    self._outside(value, source, layer, places)
        layer.copied = len(layer.body)
        for index in own:
            op = self.flow.ops[index]
            layer.operands.append(tuple([places[value] for value in self.flow.reads[index]]))
            for number, result in enumerate(op.results):
                places[result] = Place(False, len(layer.body), number)
            layer.body.append(op)
        return layer

    def _stays(self, index: int, left: set[int]) -> bool:
        """Whether the operation stays outside: a weight, or what rearranges weights."""
        op = self.flow.ops[index]
        if op.name not in _REARRANGING:
            return is_weight(op)
        return left.issuperset(self.flow.sources[index]) and self._rearranges(op)

    def _rearranges(self, op: Operation) -> bool:
        return op.name in _REARRANGING and _count(op.results[0]) <= _count(op.operands[0])

    def _is_of_weights(self, index: int) -> bool:
        """Whether an operation is a weight, or rearranges weights."""
        op = self.flow.ops[index]
        if is_weight(op):
            return index not in self._same
        source = self.flow.sources[index][0] if self._rearranges(op) else -1
        return source >= 0 and self._is_of_weights(source)

    def _outside(self, value: SSAValue, source: int, layer: Layer, places: dict[SSAValue, Place]) -> Place:
        """An argument, or the copy of what is free to have again."""
        known = places.get(value)
        if known is not None:
            return known
        if source < 0 or not self._is_free(source, layer):
            place = Place(True, layer.arguments.setdefault(value, len(layer.arguments)))
        else:
            read = zip(self.flow.reads[source], self.flow.sources[source], strict=True)
            layer.operands.append(tuple([self._outside(operand, of, layer, places) for operand, of in read]))
            place = Place(False, len(layer.body), 0)
            layer.body.append(self.flow.ops[source])
        places[value] = place
        return place

    def _is_free(self, source: int, layer: Layer) -> bool:
        if self.flow.ops[source].name not in _FREE or self.numbers[source] < 0 or self._is_of_weights(source):
            return False
        # What comes from another layer than the first may have to be given by that layer, so it is not looked through.
        return source < self._cut or layer.first <= source < layer.end or self.flow.is_constant[source]

    def _agree(self, one: Layer, other: Layer) -> bool:
        """Whether one function computes both."""
        if one.operands != other.operands or len(one.body) != len(other.body) or one.copied != other.copied:
            return False
        if [value.type for value in one.arguments] != [value.type for value in other.arguments]:
            return False
        # The own operations are alike by the run.
        copied = zip(one.body[: one.copied], other.body[: other.copied], strict=True)
        return all(a is b or self._is_alike(a, b) for a, b in copied)

    def _is_alike(self, one: Operation, other: Operation) -> bool:
        """Whether two copied operations give the same from the same operands; constants by what they hold."""
        if is_weight(one) and one.properties["value"] != other.properties.get("value"):
            return False
        return self._number(one) == self._number(other)

    def _number(self, op: Operation) -> int:
        place = self.flow.place(op)
        return -1 if place is None else self.numbers[place]

    def _results(self, layers: Sequence[Layer]) -> list[tuple[int, int]]:
        """What any of the layers gives to outside, by operation and result."""
        found: set[tuple[int, int]] = set()
        for layer in layers:
            for number in range(layer.copied, len(layer.body)):
                for index, result in enumerate(layer.body[number].results):
                    if (number, index) not in found and any(self._leaves(use.operation, layer) for use in result.uses):
                        found.add((number, index))
        return sorted(found)

    def _leaves(self, user: Operation, layer: Layer) -> bool:
        place = self.flow.place(user)
        while place is None:
            parent = user.parent_op()
            if parent is None:
                return True
            user, place = parent, self.flow.place(parent)
        return not layer.first <= place < layer.end

    def _read_the_same(self, model: Layer, layer: Layer, same: set[int]) -> None:
        """What is the same for all layers is that of the first from now on."""
        for offset in same:
            results = self.flow.ops[model.first + offset].results
            for old, new in zip(self.flow.ops[layer.first + offset].results, results, strict=True):
                if old.first_use is not None:
                    old.replace_all_uses_with(new)

    def _call(self, layer: Layer, results: Sequence[tuple[int, int]], name: str) -> None:
        """Puts the call behind the layer and lets all outside read its results."""
        values = [layer.body[number].results[index] for number, index in results]
        arguments = [self._replaced.get(value, value) for value in layer.arguments]
        call = CallOp(name, arguments, [value.type for value in values])
        call.location = _locations(layer)
        last = self.flow.ops[layer.end - 1]
        assert last.parent is not None
        last.parent.insert_op_after(call, last)
        for value, result in zip(values, call.results, strict=True):
            value.replace_uses_with_if(result, lambda use: self._leaves(use.operation, layer))
            self._replaced[value] = result


def _count(value: SSAValue) -> int:
    return element_count(value.type) if is_tensor_type(value.type) else 1


def _erase_unused(op: Operation) -> None:
    if all(result.first_use is None for result in op.results):
        erase_unused([op])


def _locations(layer: Layer) -> FusedLoc:
    """Where each operation of the layer comes from, for when the function's are put back."""
    return FusedLoc(tuple(op.location for op in layer.body), NoneAttr())


def _function(name: str, model: Layer, results: Sequence[tuple[int, int]]) -> FuncOp:
    """The function of `model`, whose own operations move there."""
    location = _locations(model)
    types: list[Attribute] = [value.type for value in model.arguments]
    block = Block(arg_types=types)
    values: dict[SSAValue, SSAValue] = dict(zip(model.arguments, block.args, strict=True))
    for op in model.body[: model.copied]:
        copy = op.clone_without_regions(values, {})
        copy.location = op.location
        block.add_op(copy)
        for old, new in zip(op.results, copy.results, strict=True):
            values[old] = new
    for op in model.own:
        op.detach()
        block.add_op(op)
        for inner in op.walk():
            for index, operand in enumerate(inner.operands):
                if operand in values:
                    inner.operands[index] = values[operand]
    returned = [model.body[number].results[index] for number, index in results]
    block.add_op(ReturnOp(*returned))
    type = FunctionType.from_lists(types, [value.type for value in returned])
    function = FuncOp(name, type, Region(block), visibility=StringAttr("private"))
    function.attributes.update({"noinline": UnitAttr(), SHARED_LAYER: UnitAttr()})
    function.location = location
    return function
