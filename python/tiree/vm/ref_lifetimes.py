"""Pass `tiree-vm-ref-lifetimes`: every reference ends by a move or a `vm.discard.refs`.

The VM wants all reference registers null when a function returns. A reference whose last use takes it over (a call, a
store, a return, a branch) is moved there, which the encoder marks; one whose last use only looks is discarded behind
it; one that dies on an edge is discarded where the edge arrives. Blocks that fail need nothing: unwinding releases all.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects import vm
from tiree.dialects.vm_composed import BranchTableOp, CondBreakOp
from tiree.support.typed import operands_of
from tiree.vm.liveness import Liveness, analyze, edge_operands

TAKES_OVER = frozenset(
    f"vm.{name}"
    for name in [
        "br",
        "cond_br",
        "br_table",
        "yield",
        "break",
        "cond_break",
        "return",
        "call",
        "call.variadic",
        "call.yieldable",
        "call.variadic.yieldable",
        "global.store.ref",
        "global.store.indirect.ref",
        "list.set.ref",
        "cast.any.ref",
        "assign.ref",
        "discard.refs",
    ]
)
"""Operations whose reference operands may carry the move bit."""


class RefLifetimes(ModulePass):
    """See the module docstring."""

    name = "tiree-vm-ref-lifetimes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        for module in op.body.block.ops:
            if isinstance(module, vm.ModuleOp):
                for function in module.body.block.ops:
                    if isinstance(function, vm.FuncOp):
                        insert_discards(function.body)


def is_owned(value: SSAValue) -> bool:
    """Whether `value` is a reference that has to be released: a null constant has not."""
    return vm.is_ref(value.type) and not (
        isinstance(value.owner, Operation) and value.owner.name == "vm.const.ref.zero"
    )


def _discard(values: list[SSAValue]) -> Operation:
    return vm.value_op("discard.refs").create(operands=values)


def insert_discards(region: Region) -> None:
    """Inserts the discards of one function."""
    liveness = analyze(region)
    predecessors: dict[Block, int] = {}
    for block in region.blocks:
        assert block.last_op is not None
        for successor in block.last_op.successors:
            predecessors[successor] = predecessors.get(successor, 0) + 1
    for block in list(region.blocks):
        assert block.last_op is not None
        if block.last_op.name == "vm.fail":
            continue
        at_end = _discard_within(block, liveness)
        _discard_on_edges(region, block, at_end, liveness, predecessors)


def _discard_within(block: Block, liveness: Liveness) -> list[SSAValue]:
    """Discards what dies inside `block`; returns the references that are alive at its terminator."""
    live_out = liveness.live_out[block]
    terminator = block.last_op
    owned = [value for value in (*liveness.live_in[block], *block.args) if is_owned(value)]
    last_use: dict[int, Operation] = {}
    for op in block.ops:
        last_use.update(dict.fromkeys(map(id, operands_of(op)), op))
        owned += [result for result in op.results if is_owned(result)]
    dying: dict[Operation | None, list[SSAValue]] = {}
    alive: list[SSAValue] = []
    for value in owned:
        op = last_use.get(id(value))
        if value in live_out or op is terminator:
            alive.append(value)
        elif op is None:
            owner = value.owner
            dying.setdefault(owner if isinstance(owner, Operation) else None, []).append(value)
        elif op.name not in TAKES_OVER:
            dying.setdefault(op, []).append(value)
    for op, values in dying.items():
        if op is not None:
            block.insert_op_after(_discard(values), op)
        else:
            assert block.first_op is not None
            block.insert_op_before(_discard(values), block.first_op)
    return alive


def _discard_on_edges(
    region: Region, block: Block, alive: list[SSAValue], liveness: Liveness, predecessors: dict[Block, int]
) -> None:
    """Discards what is alive at the end of `block` and neither passed along an edge nor used behind it."""
    terminator = block.last_op
    assert terminator is not None
    taken: set[SSAValue] = set(terminator.operands) if terminator.name.endswith("yieldable") else set()
    edges = edge_operands(block)
    for i, (successor, passed) in enumerate(zip(terminator.successors, edges, strict=True)):
        assert successor.last_op is not None
        dead = [v for v in alive if v not in liveness.live_in[successor] and v not in passed and v not in taken]
        if not dead or (successor.last_op.name == "vm.fail" and not successor.args):
            continue
        if predecessors[successor] == 1:
            assert successor.first_op is not None
            successor.insert_op_before(_discard(dead), successor.first_op)
        else:
            _split_edge(region, block, i, dead, passed)


def _split_edge(region: Region, block: Block, index: int, dead: list[SSAValue], passed: list[SSAValue]) -> None:
    """Puts a block that discards `dead` on the edge to successor `index`."""
    terminator = block.last_op
    assert terminator is not None
    target = terminator.successors[index]
    middle = Block([_discard(dead), vm.BranchOp(target, passed)])
    region.insert_block_after(middle, block)
    if isinstance(terminator, BranchTableOp | CondBreakOp) or terminator.name in ("vm.yield", "vm.break"):
        # These say themselves where they go: the values of one edge are taken out.
        replacement: Operation = _redirected(terminator, index, middle)
    elif isinstance(terminator, vm.CondBranchOp):
        edges = [(s, list(o)) for s, o in zip(terminator.successors, edge_operands(block), strict=True)]
        edges[index] = (middle, [])
        (true, true_values), (false, false_values) = edges
        replacement = vm.CondBranchOp(terminator.condition[0], true, true_values, false, false_values)
    else:
        replacement = vm.BranchOp(middle)
    terminator.detach()
    terminator.erase()
    block.add_op(replacement)


def _redirected(terminator: Operation, index: int, middle: Block) -> Operation:
    """`terminator` with edge `index` going to `middle`, to which nothing is passed."""
    successors = list(terminator.successors)
    successors[index] = middle
    properties = dict(terminator.properties)
    if not isinstance(terminator, BranchTableOp):
        # The one edge passes everything that is not the condition.
        kept = [terminator.condition] if isinstance(terminator, CondBreakOp) else []
        return type(terminator).create(operands=kept, successors=successors, properties=properties)
    passed = [list(terminator.default_operands), *terminator.cases()]
    passed[index] = []
    properties["case_operand_segments"] = DenseArrayBase.from_list(i32, [len(one) for one in passed[1:]])
    sizes = [1, len(passed[0]), sum(map(len, passed[1:]))]
    properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
    operands = [*terminator.index, *(value for one in passed for value in one)]
    return BranchTableOp.create(operands=operands, successors=successors, properties=properties)
