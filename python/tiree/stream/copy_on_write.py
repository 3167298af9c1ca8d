"""`tiree-stream-copy-on-write`: puts a copy wherever an in-place write would be seen by somebody else.

In: host functions in `cf` form; value semantics, so that a tied result may share memory with a tensor that is still
needed. Out: every tensor that is written in place (the target of `flow.tensor.update`, operands that `flow.dispatch`
ties) is memory that this function allocated, that nobody else sees and that is not needed afterwards;
`flow.tensor.clone` marks the copies that make it so. What a loop carries and writes in place is copied before the loop,
not inside it.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects import flow
from tiree.stream.liveness import Liveness, is_tensor, names_of, root_of, written_operands
from tiree.support.branches import branch_arguments, branch_operand_index, predecessors

_SHARED = frozenset(
    {
        "arith.constant",
        "arith.select",
        "flow.tensor.constant",
        "hal.tensor.import",
        "util.call",
        "util.global.load",
    }
)


def _clone_before(op: Operation, operand: int) -> SSAValue:
    """Makes operand number `operand` of `op` a copy, which it gives."""
    clone = flow.TensorCloneOp(operands=[op.operands[operand], []], result_types=[op.operands[operand].type])
    assert op.parent is not None
    op.parent.insert_op_before(clone, op)
    op.operands[operand] = clone.result
    return clone.result


class _Function:
    """The analysis of one function; clones are inserted as they turn out to be needed."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.entry = region.blocks[0]
        self.edges = predecessors(region)
        self.liveness = Liveness(region)
        self.demanded: list[BlockArgument] = []
        self.aliased = self._roots_with_a_second_name()

    def _roots_with_a_second_name(self) -> set[SSAValue]:
        """Memory that a branch passes as an argument although the block it jumps to also uses it directly.

        What `arith.select` chooses from has a second name, too, and so has what a global holds.
        """
        found = {
            root_of(value)
            for block in self.region.blocks
            for op in block.ops
            if op.name in ("arith.select", "util.global.store")
            for value in op.operands
            if is_tensor(value)
        }
        for block, edges in self.edges.items():
            live_in = {root_of(value) for value in self.liveness.live_in[block]}
            for terminator, successor in edges:
                passed = branch_arguments(terminator, successor)
                found.update(root for value in passed if is_tensor(value) and (root := root_of(value)) in live_in)
        return found

    def _is_shared(self, root: SSAValue) -> bool:
        """Whether somebody outside this function may see the memory."""
        if isinstance(root, OpResult):
            return root.op.name in _SHARED or root in self.aliased
        return root.owner is self.entry or root in self.aliased

    def _demand(self, root: SSAValue) -> None:
        """The memory behind a block argument has to be owned: everybody who jumps there must hand it over."""
        if isinstance(root, BlockArgument) and root not in self.demanded:
            self.demanded.append(root)

    def run(self) -> None:
        for block in self.region.blocks:
            writing = [(op, set(live)) for op, live in self.liveness.backward(block) if written_operands(op)]
            # From the first on: what writes over a copy already needs no other.
            for op, live in reversed(writing):
                for index in written_operands(op):
                    self._own(op, index, live)
        for argument in self.demanded:  # grows while it is walked
            block = argument.owner
            assert isinstance(block, Block)
            for terminator, successor in self.edges[block]:
                self._own_on_edge(terminator, successor, argument.index, block)

    def _own(self, op: Operation, index: int, live: set[SSAValue]) -> None:
        """Copies what `op` writes in place, unless it is the last user of memory of this function."""
        root = root_of(op.operands[index])
        if self._is_shared(root) or self._is_needed(op, index, root, live):
            clone = _clone_before(op, index)
            if root in self.aliased:
                # The second name may be that of a later state, which is now in the memory of the copy.
                self.aliased.add(clone)
        else:
            self._demand(root)

    @staticmethod
    def _is_needed(op: Operation, index: int, root: SSAValue, live: set[SSAValue]) -> bool:
        """Whether the memory is read after `op`, or by `op` itself under another name."""
        if any(value in live and value not in op.results for value in names_of(root)):
            return True
        others = (value for number, value in enumerate(op.operands) if number != index)
        return any(root_of(value) is root for value in others if is_tensor(value))

    def _own_on_edge(self, terminator: Operation, successor: int, argument: int, block: Block) -> None:
        values = branch_arguments(terminator, successor)
        root = root_of(values[argument])
        names = names_of(root)
        live = self.liveness.live_in[block]
        known = {id(value) for value in names}
        others = (number for number, value in enumerate(values) if id(value) in known)
        seen_elsewhere = any(number != argument for number in others) or any(value in live for value in names)
        if self._is_shared(root) or seen_elsewhere:
            _clone_before(terminator, branch_operand_index(terminator, successor, argument))
        else:
            self._demand(root)


class CopyOnWritePass(ModulePass):
    """See the module's docstring."""

    name = "tiree-stream-copy-on-write"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for function in op.ops:
            if function.name in ("util.func", "util.initializer") and function.regions[0].blocks:
                _Function(function.regions[0]).run()
