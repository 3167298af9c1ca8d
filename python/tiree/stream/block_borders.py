"""What crosses the borders of blocks: resources for tensors, and a timepoint where work may still be under way."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, BlockArgument, Region, SSAValue

from tiree.dialects import stream
from tiree.dialects.arith import constant_of
from tiree.stream.liveness import is_tensor
from tiree.support.branches import predecessors

_SYNCHRONOUS = frozenset({"hal.tensor.export", "flow.tensor.load", "util.call"})
_WORK = frozenset(
    {
        "flow.dispatch",
        "flow.tensor.splat",
        "flow.tensor.clone",
        "flow.tensor.slice",
        "flow.tensor.update",
        "flow.tensor.store",
    }
)


def _busy_at_end(block: Block, busy: bool) -> bool:
    """Whether work may be under way when `block` is left, given whether it was when it was entered.

    A wrong `True` costs an argument, a wrong `False` a wait; neither is an error.
    """
    for op in block.ops:
        if op.name in _SYNCHRONOUS and any(is_tensor(value) for value in (*op.operands, *op.results)):
            busy = False
        elif op.successors:
            busy |= any(is_tensor(value) and constant_of(value) is not None for value in op.operands)
        elif op.name in _WORK or (op.name == "hal.tensor.import" and len(op.operands) > 1):
            busy = True
    return busy


class BlockBorders:
    """The block arguments of one function, old and new."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self._resources: dict[Block, list[tuple[BlockArgument, BlockArgument]]] = {}
        self._timepoints: dict[Block, BlockArgument] = {}
        self._busy: dict[Block, bool] = self._find_busy()

    def _find_busy(self) -> dict[Block, bool]:
        edges = predecessors(self.region)
        busy = dict.fromkeys(self.region.blocks, False)
        changed = True
        while changed:
            changed = False
            for block in self.region.blocks:
                if busy[block]:
                    continue
                for terminator, _ in edges[block]:
                    source = terminator.parent
                    assert source is not None
                    if _busy_at_end(source, busy[source]):
                        busy[block] = changed = True
                        break
        return busy

    def add_arguments(self) -> None:
        """Adds a resource behind every tensor argument and a timepoint at the end where needed."""
        for number, block in enumerate(self.region.blocks):
            pairs: list[tuple[BlockArgument, BlockArgument]] = []
            for argument in list(block.args):
                if isinstance(argument.type, TensorType):
                    pairs.append((argument, block.insert_arg(stream.ResourceType("external"), argument.index + 1)))
            self._resources[block] = pairs
            if number and self._busy[block]:
                self._timepoints[block] = block.insert_arg(stream.TimepointType(), len(block.args))

    def erase_arguments(self) -> None:
        """Removes the tensor arguments; nothing may use them any more."""
        for block, pairs in self._resources.items():
            for argument, _ in pairs:
                block.erase_arg(argument)

    def resources(self, block: Block) -> list[tuple[BlockArgument, BlockArgument]]:
        return self._resources[block]

    def timepoint(self, block: Block) -> SSAValue | None:
        return self._timepoints.get(block)

    def carries_timepoint(self, block: Block) -> bool:
        return block in self._timepoints
