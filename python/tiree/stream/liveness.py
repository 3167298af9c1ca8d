"""Which tensors are needed after an operation, and which of them share memory.

Works on host functions in `cf` form. Tensors alias where an op hands its operand's memory on: reshapes,
transfers, and results tied to an operand.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from tiree.support.typed import array_of, int_of, ints_of, is_tensor_type

VIEWS = frozenset({"flow.tensor.reshape", "flow.tensor.bitcast", "flow.tensor.tie_shape", "flow.tensor.transfer"})
"""Their results are the memory of their operand. Devices share the memory of the host, so transfers are among them."""


def is_tensor(value: SSAValue) -> bool:
    return is_tensor_type(value.type)


def tied_operand(result: OpResult) -> int | None:
    """The number of the operand whose memory holds `result`, or None when it has memory of its own.

    Reshapes and transfers look at their source, updates write into their target, dispatches say so in `tied_operands`.
    """
    op = result.op
    if op.name in VIEWS or op.name == "flow.tensor.update":
        return 0
    if op.name == "flow.tensor.store":
        return 1
    if op.name in ("hal.tensor.barrier", "util.optimization_barrier"):
        return result.index
    if op.name == "flow.dispatch":
        tied = op.properties.get("tied_operands")
        if tied is None:
            return None
        index = int_of(array_of(tied)[result.index])
        if index < 0:
            return None
        segments = ints_of(op.properties["operandSegmentSizes"])
        return segments[0] + index
    return None


def written_operands(op: Operation) -> list[int]:
    """Numbers of the operands that `op` writes in place."""
    if op.name in VIEWS or op.name in ("hal.tensor.barrier", "util.optimization_barrier"):
        return []
    return [index for result in op.results if (index := tied_operand(result)) is not None]


def root_of(value: SSAValue) -> SSAValue:
    """The value whose memory `value` uses."""
    while isinstance(value, OpResult):
        index = tied_operand(value)
        if index is None:
            return value
        value = value.op.operands[index]
    return value


def names_of(root: SSAValue) -> list[SSAValue]:
    """All values whose memory is that of `root`, itself among them."""
    found = [root]
    for value in found:  # grows while it is walked
        for use in value.uses:
            results = use.operation.results
            found.extend(result for result in results if tied_operand(result) == use.index)
    return found


class Liveness:
    """Live-in and live-out tensors of every block of a function; `last_uses` orders them inside a block."""

    def __init__(self, region: Region) -> None:
        self.live_in: dict[Block, set[SSAValue]] = {block: set() for block in region.blocks}
        self.live_out: dict[Block, set[SSAValue]] = {block: set() for block in region.blocks}
        blocks = list(region.blocks)
        changed = True
        while changed:
            changed = False
            for block in reversed(blocks):
                terminator = block.last_op
                out: set[SSAValue] = set()
                for successor in terminator.successors if terminator is not None else ():
                    out |= self.live_in[successor]
                live = set(out)
                for op in reversed(list(block.ops)):
                    live.difference_update(op.results)
                    live.update(value for value in op.operands if is_tensor(value))
                live.difference_update(block.args)
                if live != self.live_in[block] or out != self.live_out[block]:
                    self.live_in[block], self.live_out[block] = live, out
                    changed = True

    def backward(self, block: Block) -> Iterator[tuple[Operation, set[SSAValue]]]:
        """The operations of a block from the last to the first, each with the tensors that are needed after it.

        The set is updated in place between steps.
        """
        live = set(self.live_out[block])
        for op in reversed(list(block.ops)):
            operands = [value for value in op.operands if is_tensor(value)]  # the caller may change them
            yield op, live
            live.difference_update(op.results)
            live.update(operands)
