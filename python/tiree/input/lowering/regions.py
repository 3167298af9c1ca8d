"""Bodies of structured ops whose regions hold scalar arith and math ops: copied into the body that is being built."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.scalar import ScalarBuilder
from tiree.support.typed import int_of


def scalar_block(op: Operation) -> Block:
    """The one block of `op`'s region."""
    block = op.regions[0].blocks.first if op.regions else None
    if block is None or block.next_block is not None:
        raise Unsupported("with a body that is not one block")
    return block


def copy_body(s: ScalarBuilder, block: Block, arguments: Sequence[SSAValue]) -> list[SSAValue]:
    """The ops of `block` with `arguments` for its own; returns what it yields. Values from outside stay captured."""
    mapping: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if op.name.endswith(".yield"):
            return [mapping.get(value, value) for value in op.operands]
        if op.regions:
            raise Unsupported(f"with {op.name} in its body")
        if op.name == "iree_linalg_ext.index":
            mapping[op.results[0]] = s.index(int_of(op.properties["dim"]))
            continue
        copy = type(op).create(
            operands=[mapping.get(value, value) for value in op.operands],
            result_types=[result.type for result in op.results],
            properties=op.properties,
            attributes=op.attributes,
        )
        mapping.update(zip(op.results, s.add(copy).results, strict=True))
    raise Unsupported("with a body that yields nothing")
