"""`tiree-dispatch-creation-fuse-elementwise`: composes elementwise ops with what they feed, where the cost model
agrees.

In: canonical generics. Out: chains of elementwise ops are one generic; broadcasts, transposes, slices and widening
casts have moved into the maps and bodies of their consumers. What stays apart is decided later, by dispatch
regions:

* a producer whose only use is a *matrix-like* consumer (a contraction or a convolution reads each element many
  times) fuses only when it is free and the consumer's map stays a selection of dims;
* one that a reduction reads once fuses unless it can be the epilogue of the op before it;
* a producer with several users is copied into all of them when it is free or cheap, else not at all;
* no body grows beyond the bounds of `body_size.py`.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.flow.affine import is_projected_permutation
from tiree.flow.body_size import BodySizes
from tiree.flow.cost import MAX_BINDINGS, MAX_COPIES, computes_positions, gathers, is_cheap, is_free, only_widens
from tiree.flow.cumulative import is_scan
from tiree.flow.fuse_body import can_fuse, fuse_producer, fused_maps
from tiree.flow.simplify_generic import merge_equal_inputs
from tiree.flow.structured import (
    defining_op,
    domain_size,
    element_count,
    function_blocks,
    input_count,
    inputs_of,
    is_elementwise,
    is_generic,
    iterators_of,
    maps_of,
)
from tiree.support.typed import result_of


def reads_repeatedly(op: Operation) -> bool:
    """Whether `op` is matrix-like: a reduction over at least two inputs none of which spans all of its loops, or a
    cumulative one."""
    if all(iterators_of(op)):
        return False
    if is_scan(op):
        return True
    maps = maps_of(op)
    used = [len({d for expr in map.results for d in expr.used_dims()}) for map in maps[: input_count(op)]]
    return len([count for count in used if count > 0]) >= 2 and all(count < maps[0].num_dims for count in used)


def is_epilogue_candidate(op: Operation) -> bool:
    """Whether elementwise `op` can end the dispatch of a reduction-like op that feeds only it."""
    size = domain_size(op)
    for value in inputs_of(op):
        producer = defining_op(value)
        if producer is None or not is_generic(producer) or is_elementwise(producer):
            continue
        if value.has_one_use() and element_count(value) == size:
            return True
    return False


def users_of(op: Operation, enough: int | None = None) -> list[Operation]:
    """The distinct users of the results of `op`, in no particular order; the search ends with `enough` of them."""
    found: dict[Operation, None] = {}
    for result in op.results:
        for use in result.uses:
            found[use.operation] = None
            if len(found) == enough:
                return list(found)
    return list(found)


def _accepts(producer: Operation, consumer: Operation, operand: int, sizes: BodySizes) -> bool:
    """Whether the map of `operand` allows the fusion and the consumer reads each element often enough to matter."""
    if input_count(producer) + input_count(consumer) > MAX_BINDINGS or not can_fuse(producer, consumer, operand):
        return False
    if not sizes.fits(producer, consumer):
        return False
    if reads_repeatedly(consumer):
        result = result_of(consumer.operands[operand]).index
        new = fused_maps(producer, result, consumer, operand)
        assert new is not None
        if is_scan(consumer) and not only_widens(producer):
            # Code generation knows a scan by the element that it adds.
            return False
        simple = is_projected_permutation(maps_of(consumer)[operand])
        return is_free(producer) and len(new) == 1 and (not simple or is_projected_permutation(new[0]))
    return True


def _all_reads_fuse(producer: Operation, user: Operation, sizes: BodySizes) -> bool:
    if not is_generic(user) or user.parent is not producer.parent:
        return False
    count = input_count(user)
    for index, value in enumerate(user.operands):
        if value.owner is producer and (index >= count or not _accepts(producer, user, index, sizes)):
            return False
    return True


class _Fusion:
    """The fusions of one block."""

    def __init__(self) -> None:
        self.sizes = BodySizes()
        self.spread: dict[Operation, None] = {}
        """Producers that all their users take in: what holds for all need not be asked again for each."""
        self.obstacles: dict[Operation, Operation] = {}
        """The user that kept a producer out of all of them: the first to ask the next time."""

    def wanted(self, producer: Operation, consumer: Operation, operand: int) -> bool:
        """The cost model (see the head of this file, `cost.py` and `body_size.py`)."""
        if producer in self.spread:
            return _accepts(producer, consumer, operand, self.sizes)
        if producer.parent is not consumer.parent or not is_elementwise(producer):
            return False
        free = is_free(producer)
        light = free or is_cheap(producer) or (computes_positions(producer) and gathers(consumer))
        users = users_of(producer, None if free else MAX_COPIES + 1)
        if len(users) == 1:
            if not light and domain_size(consumer) > domain_size(producer):
                return False
            if not is_elementwise(consumer) and is_epilogue_candidate(producer):
                return False
            return _accepts(producer, consumer, operand, self.sizes)
        if not light or (len(users) > MAX_COPIES and not free):
            return False
        if not free and is_epilogue_candidate(producer):
            return False
        return self._spreads(producer, users)

    def _spreads(self, producer: Operation, users: list[Operation]) -> bool:
        """Whether all of several users take `producer` in."""
        obstacle = self.obstacles.get(producer)
        if obstacle is not None and obstacle in users and not _all_reads_fuse(producer, obstacle, self.sizes):
            return False
        for user in users:
            if not _all_reads_fuse(producer, user, self.sizes):
                self.obstacles[producer] = user
                return False
        self.spread[producer] = None
        return True

    def fuse_into(self, consumer: Operation) -> None:
        """Fuses producers into `consumer` until none qualifies."""
        changed = False
        index = 0
        rejected: set[SSAValue] = set()
        while index < input_count(consumer):
            value = consumer.operands[index]
            producer = defining_op(value)
            if producer is None or value in rejected or not is_generic(producer):
                index += 1
            elif self.wanted(producer, consumer, index):
                size = self.sizes.joined(producer, consumer)
                fuse_producer(consumer, index, self.sizes.producer_first(producer, consumer))
                self.sizes.fused(consumer, size)
                changed = True
                merge_equal_inputs(consumer)
                index = 0
            else:
                rejected.add(value)
                index += 1
        if changed:
            self.sizes.clean(consumer)


def fuse_block(block: Block) -> None:
    fusion = _Fusion()
    for op in list(block.ops):
        if op.name == "linalg.generic" and op.parent is block:
            fusion.fuse_into(op)
    fusion.sizes.clean_all()


class FuseElementwise(ModulePass):
    """Producers into consumers."""

    name = "tiree-dispatch-creation-fuse-elementwise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in function_blocks(op):
            fuse_block(block)
