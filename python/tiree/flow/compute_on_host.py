"""`tiree-global-opt-compute-on-host`: what control flow asks of numbers that the host knows is computed there.

In: functions with `scf`, after counted loops became `scf.for`. A condition, bound or selector that is an element of a
tensor (`tensor.extract`) would be read back from the device each time. Out: where that element follows from counters,
constants and numbers of the host, it is arithmetic of the host; values of one element that loops and conditionals hand
on are numbers of the host where such arithmetic needs them; what no turn of a loop changes is read once, in front of
it. What depends on data of the device is still read back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.tensor import ExtractOp, FromElementsOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp
from tiree.flow.host_elements import Elements, Unknown, is_host_type
from tiree.flow.structured import (
    defining_op,
    element_count,
    element_type_of,
    erase_op,
    function_blocks,
    insert_before,
    is_tensor,
    shape_of,
)
from tiree.support.typed import is_tensor_type

_LOOPS = ("scf.for", "scf.while")
_CHOICES = ("scf.if", "scf.index_switch")


@dataclass(eq=False)
class _Slot:
    """A value of one element that control flow hands on: where it arrives, and the operands that it comes from."""

    targets: list[SSAValue]
    sources: list[tuple[Operation, int]]
    type: Attribute
    """Of the tensors."""


class ComputeOnHost(ModulePass):
    """See the module's docstring."""

    name = "tiree-global-opt-compute-on-host"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        reads = [inner for block in function_blocks(op) for inner in block.ops if inner.name == "tensor.extract"]
        if reads:
            _Function(op, reads).run()


class _Function:
    """All functions of a module: no value goes from one to another."""

    def __init__(self, module: Operation, reads: list[Operation]) -> None:
        self.reads = reads
        self.slots: dict[SSAValue, _Slot] = {}
        for block in function_blocks(module):
            for op in block.ops:
                for slot in _slots_of(op):
                    self.slots.update(dict.fromkeys(slot.targets, slot))

    def run(self) -> None:
        needed, reads = self._find_needed()
        for slot in needed:
            for target in slot.targets:
                _box(target)
        replaced = _retype(needed)
        for slot in needed:
            for old, number in slot.sources:
                op = replaced.get(old, old)
                op.operands[number] = _compute(op, op.operands[number])
        for read in reads:
            read.results[0].replace_all_uses_with(_compute(read, read.operands[0], read.operands[1:]))
        _erase_unused([read.results[0] for read in reads])

    # What can be computed.

    def _find_needed(self) -> tuple[list[_Slot], list[Operation]]:
        """The slots that must be numbers of the host, and the reads that then need no device."""
        failed: set[_Slot] = set()
        while True:
            known = {target: slot for target, slot in self.slots.items() if slot not in failed}
            reads: list[Operation] = []
            asked: dict[_Slot, None] = {}
            for read in self.reads:
                used = _try(known, read, read.operands[0], read.operands[1:])
                if used is not None:
                    reads.append(read)
                    asked.update(dict.fromkeys(used))
            found = self._with_sources(known, list(asked), failed)
            if found is not None:
                return found, reads

    def _with_sources(
        self, known: dict[SSAValue, _Slot], pending: list[_Slot], failed: set[_Slot]
    ) -> list[_Slot] | None:
        """`pending` and what they come from; None when one of them, now in `failed`, cannot be computed."""
        done: dict[_Slot, None] = {}
        while pending:
            slot = pending.pop()
            if slot in done:
                continue
            done[slot] = None
            for op, number in slot.sources:
                used = _try(known, op, op.operands[number])
                if used is None:
                    failed.add(slot)
                    return None
                pending.extend(used)
        return list(done)


def _compute(anchor: Operation, value: SSAValue, index: Sequence[SSAValue] | None = None) -> SSAValue:
    """Computes an element in front of `anchor`."""
    block = Block()
    elements = Elements(block, _Reader(anchor, insert=True).read)
    result = elements.element(value, [0] * len(shape_of(value)) if index is None else index)
    for op in list(block.ops):
        op.detach()
        insert_before(anchor, op)
    return result


def _try(
    known: dict[SSAValue, _Slot], anchor: Operation, value: SSAValue, index: Sequence[SSAValue] | None = None
) -> list[_Slot] | None:
    """The slots that an element in front of `anchor` depends on; None when the host cannot compute it."""
    block = Block()
    elements = Elements(block, _Reader(anchor, insert=False).read)
    stand_ins = Block(arg_types=[element_type_of(target) for target in known])
    elements.known = dict(zip(known, stand_ins.args, strict=True))
    try:
        elements.element(value, [0] * len(shape_of(value)) if index is None else index)
        return [known[target] for target in elements.used]
    except Unknown:
        return None
    finally:
        for op in reversed(list(block.ops)):
            op.detach()
            op.erase(safe_erase=False)


class _Reader:
    """Reads what a loop around the anchor does not change, in front of that loop. Without `insert` it gives something
    that stands for what was read: an operation that is in no block would still use the value."""

    def __init__(self, anchor: Operation, *, insert: bool) -> None:
        self.insert = insert
        self.loops = [anchor] if anchor.name in _LOOPS else []
        parent = anchor.parent_op()
        while parent is not None and not parent.name.endswith((".func", ".initializer")):
            if parent.name in _LOOPS:
                self.loops.insert(0, parent)
            parent = parent.parent_op()
        self.scratch = Block()

    def read(self, value: SSAValue, index: Sequence[int]) -> SSAValue | None:
        loop = next((loop for loop in self.loops if not _is_inside(value, loop)), None)
        if loop is None:
            return None
        if not self.insert:
            return self.scratch.insert_arg(element_type_of(value), len(self.scratch.args))
        places = [ConstantOp.index(number) for number in index]
        extract = ExtractOp.create(
            operands=[value, *(place.result for place in places)], result_types=[element_type_of(value)]
        )
        insert_before(loop, *places, extract)
        return extract.results[0]


def _is_inside(value: SSAValue, op: Operation) -> bool:
    """Whether `value` is made in a region of `op`, or by it."""
    owner = value.owner
    if owner is op:
        return True
    parent = owner.parent_op()
    while parent is not None:
        if parent is op:
            return True
        parent = parent.parent_op()
    return False


# Slots.


def _slots_of(op: Operation) -> Iterator[_Slot]:
    if op.name == "scf.for":
        body, end = _block_and_end(op, 0)
        for number, result in enumerate(op.results):
            yield from _slot([body.args[number + 1], result], [(op, number + 3), (end, number)])
    elif op.name == "scf.while":
        before, condition = _block_and_end(op, 0)
        after, end = _block_and_end(op, 1)
        for number, argument in enumerate(before.args):
            yield from _slot([argument], [(op, number), (end, number)])
        for number, result in enumerate(op.results):
            yield from _slot([after.args[number], result], [(condition, number + 1)])
    elif op.name in _CHOICES and op.results:
        ends = [_block_and_end(op, number)[1] for number in range(len(op.regions))]
        for number, result in enumerate(op.results):
            yield from _slot([result], [(end, number) for end in ends])


def _block_and_end(op: Operation, region: int) -> tuple[Block, Operation]:
    block = op.regions[region].blocks.first
    assert block is not None
    assert block.last_op is not None
    return block, block.last_op


def _slot(targets: list[SSAValue], sources: list[tuple[Operation, int]]) -> Iterator[_Slot]:
    type = targets[0].type
    if is_tensor_type(type) and is_host_type(type.element_type) and element_count(targets[0]) == 1:
        yield _Slot(targets, sources, type)


def _box(target: SSAValue) -> None:
    """Lets all that read `target`, which becomes a number, read a tensor of it."""
    boxed = FromElementsOp.create(operands=[target], result_types=[target.type])
    target.replace_uses_with_if(boxed.results[0], lambda use: use.operation is not boxed)
    owner = target.owner
    if isinstance(owner, Block):
        first = owner.first_op
        assert first is not None
        insert_before(first, boxed)
    else:
        assert owner.parent is not None
        owner.parent.insert_op_after(boxed, owner)


def _retype(slots: Sequence[_Slot]) -> dict[Operation, Operation]:
    """Makes the targets numbers. Returns what stands for the operations that had to be made anew."""
    made: dict[Operation, Operation] = {}
    results: dict[Operation, set[SSAValue]] = {}
    for slot in slots:
        for target in slot.targets:
            owner = target.owner
            if isinstance(owner, Block):
                number = next(n for n, argument in enumerate(owner.args) if argument is target)
                new = owner.insert_arg(element_type_of(target), number)
                target.replace_all_uses_with(new)
                owner.erase_arg(owner.args[number + 1])
            else:
                results.setdefault(owner, set()).add(target)
    for op, changed in results.items():
        types = [element_type_of(result) if result in changed else result.type for result in op.results]
        regions = [op.detach_region(region) for region in list(op.regions)]
        new = type(op).create(
            operands=list(op.operands),
            result_types=types,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            regions=regions,
            location=op.location,
        )
        made[op] = new
        insert_before(op, new)
        for old, result in zip(op.results, new.results, strict=True):
            old.replace_all_uses_with(result)
        erase_op(op)
    return made


def _erase_unused(values: list[SSAValue]) -> None:
    """Erases what makes values that nothing reads any more."""
    pending = list(values)
    while pending:
        op = defining_op(pending.pop())
        if op is None or op.parent is None or any(result.first_use is not None for result in op.results):
            continue
        if op.regions and any(not is_tensor(result) for result in op.results):
            continue
        if op.name.startswith(("tensor.", "linalg.", "arith.")):
            pending.extend(op.operands)
            erase_op(op)
