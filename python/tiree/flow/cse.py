"""`tiree-flow-cse`: merges equal pure operations and removes those without uses, one walk each way.

In: any module. Out: no two ops of a host block (or of a dominating outer block) are equal; no pure op is unused.
Bodies of structured ops are cleaned too. Equality is structural: name, properties, operands, result types and
regions.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.flow.structured import erase_op, function_blocks, replace_op

_PURE_DIALECTS = ("arith.", "math.", "linalg.", "tensor.", "complex.")
_TERMINATORS = ("linalg.yield", "tensor.yield")
_PURE_OPS = frozenset(
    (
        "affine.apply",
        "flow.tensor.empty",
        "flow.tensor.load",
        "flow.tensor.reshape",
        "flow.tensor.slice",
        "flow.tensor.splat",
        "flow.tensor.tie_shape",
        "flow.tensor.transfer",
        "flow.tensor.update",
    )
)


def is_pure(op: Operation) -> bool:
    """Whether `op` may be removed when unused and merged with an equal op."""
    name = op.name
    return (name.startswith(_PURE_DIALECTS) and name not in _TERMINATORS) or name in _PURE_OPS


Key = tuple[object, ...]


def structural_key(op: Operation, numbering: dict[SSAValue, int] | None = None) -> Key:
    """A hashable form of `op`. Values in `numbering` (and those defined inside) count by number, others by identity."""
    numbering = {} if numbering is None else numbering
    operands = tuple(numbering.get(operand, operand) for operand in op.operands)
    regions = tuple(region_key(region, numbering) for region in op.regions)
    for result in op.results:
        numbering[result] = len(numbering)
    return (
        op.name,
        tuple(op.properties.items()) if len(op.properties) < 2 else tuple(sorted(op.properties.items(), key=_name)),
        tuple(sorted(op.attributes.items(), key=_name)) if op.attributes else (),
        operands,
        tuple(result.type for result in op.results),
        regions,
    )


def _name(item: tuple[str, object]) -> str:
    return item[0]


def region_key(region: Region, numbering: dict[SSAValue, int]) -> Key:
    """A hashable form of `region`, as `structural_key` of an op; an isolated region starts with no numbers."""
    keys: list[Key] = []
    for block in region.blocks:
        for arg in block.args:
            numbering[arg] = len(numbering)
        keys.append((tuple(arg.type for arg in block.args), tuple(structural_key(op, numbering) for op in block.ops)))
    return tuple(keys)


def merge_equal_ops(block: Block, outer: dict[Key, Operation] | None = None) -> None:
    """Merges equal pure ops of `block`; control flow inside sees the ops before it."""
    seen: dict[Key, Operation] = dict(outer) if outer else {}
    for op in list(block.ops):
        if op.name.startswith("scf."):
            for region in op.regions:
                for inner in region.blocks:
                    merge_equal_ops(inner, seen)
        if not is_pure(op) or op.name == "tensor.empty":
            continue
        if op.regions and op.name == "linalg.generic":
            clean_body(op)
        known = seen.setdefault(structural_key(op), op)
        if known is not op:
            replace_op(op, known.results)


def remove_unused_ops(block: Block) -> None:
    """Erases pure ops without uses, users first."""
    for op in reversed(list(block.ops)):
        if op.name.startswith("scf."):
            for region in op.regions:
                for inner in region.blocks:
                    remove_unused_ops(inner)
        elif is_pure(op) and all(result.first_use is None for result in op.results):
            erase_op(op)


def clean_body(op: Operation) -> None:
    """Merges equal scalar ops in the body of a structured op and drops unused ones."""
    block = op.regions[0].blocks.first
    assert block is not None
    if block.first_op is block.last_op:
        return
    seen: dict[Key, Operation] = {}
    for inner in list(block.ops):
        if inner.regions or not is_pure(inner):
            continue
        known = seen.setdefault(structural_key(inner), inner)
        if known is not inner:
            replace_op(inner, known.results)
    for inner in reversed(list(block.ops)):
        if is_pure(inner) and all(result.first_use is None for result in inner.results):
            erase_op(inner)


def top_blocks(module: ModuleOp) -> list[Block]:
    """Host blocks that are not nested in control flow."""
    return [block for block in function_blocks(module) if not _in_control_flow(block)]


def _in_control_flow(block: Block) -> bool:
    parent = block.parent_op()
    return parent is not None and parent.name.startswith("scf.")


class CSE(ModulePass):
    """Common subexpressions and dead code."""

    name = "tiree-flow-cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in top_blocks(op):
            merge_equal_ops(block)
            remove_unused_ops(block)
