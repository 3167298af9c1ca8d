"""Reading and writing `linalg.generic`: the one structured op of the stages from `input` on.

Everything is positional and cheap (no irdl lookups): properties and operand segments are read straight from the op.
The functions assume verified ops; sizes are static unless a function says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    LocationAttr,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp, IndexOp, YieldOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from tiree.dialects.iree_tensor_ext import segment_sizes
from tiree.dialects.linalg_fill import FillOp
from tiree.flow.affine import is_permutation
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import is_tensor_type, operands_of

PARALLEL = IteratorTypeAttr(IteratorType.PARALLEL)
REDUCTION = IteratorTypeAttr(IteratorType.REDUCTION)


def is_generic(op: Operation | Block | None) -> bool:
    return isinstance(op, Operation) and op.name == "linalg.generic"


def segments(op: Operation) -> tuple[int, ...]:
    """`operandSegmentSizes` of an op that has them."""
    attr = op.properties.get("operandSegmentSizes") or op.attributes["operandSegmentSizes"]
    assert isinstance(attr, DenseArrayBase)
    return tuple(attr.get_values())


def set_segments(op: Operation, *sizes: int) -> None:
    op.properties["operandSegmentSizes"] = segment_sizes(*sizes)


def input_count(op: Operation) -> int:
    """The number of inputs of a structured op on tensors: each result has one init, and the inits come last."""
    return len(operands_of(op)) - len(op.results)


def inputs_of(op: Operation) -> Sequence[SSAValue]:
    return operands_of(op)[: input_count(op)]


def inits_of(op: Operation) -> Sequence[SSAValue]:
    return operands_of(op)[input_count(op) :]


def maps_of(op: Operation) -> tuple[AffineMap, ...]:
    """The indexing maps, inputs first."""
    return tuple([attr.data for attr in cast("ArrayAttr[AffineMapAttr]", op.properties["indexing_maps"]).data])


def set_maps(op: Operation, maps: Sequence[AffineMap]) -> None:
    op.properties["indexing_maps"] = ArrayAttr([AffineMapAttr(map) for map in maps])


def iterators_of(op: Operation) -> tuple[bool, ...]:
    """One flag a loop: whether it is parallel."""
    iterators = cast("ArrayAttr[IteratorTypeAttr]", op.properties["iterator_types"]).data
    return tuple([attr.data is IteratorType.PARALLEL for attr in iterators])


def body_of(op: Operation) -> Block:
    block = op.regions[0].blocks.first
    assert block is not None
    return block


def yielded(op: Operation) -> Sequence[SSAValue]:
    last = body_of(op).last_op
    assert last is not None
    return last.operands


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor value; `()` for a scalar."""
    return value.type.get_shape() if is_tensor_type(value.type) else ()


def element_type_of(value: SSAValue) -> Attribute:
    """The element type of a tensor value, the type of a scalar."""
    return value.type.element_type if is_tensor_type(value.type) else value.type


def element_count(value: SSAValue) -> int:
    count = 1
    for size in shape_of(value):
        count *= size
    return count


def is_tensor(value: SSAValue) -> bool:
    return is_tensor_type(value.type)


def is_elementwise(op: Operation) -> bool:
    """All loops parallel, every result stored through a permutation: each point of the space is written once."""
    return all(iterators_of(op)) and all(is_permutation(map) for map in maps_of(op)[input_count(op) :])


def loop_extents(op: Operation) -> list[int]:
    """The trip count of every loop, from the first operand dimension that a bare dim indexes.

    Raises `CompileError` for a loop whose extent no operand gives.
    """
    maps = maps_of(op)
    extents = [-2] * (maps[0].num_dims if maps else 0)
    # Results first: an input may be larger than what the loops read of it.
    operands = operands_of(op)
    for index in range(len(maps) - 1, -1, -1):
        if -2 not in extents:
            break
        for expr, size in zip(maps[index].results, shape_of(operands[index]), strict=False):
            if isinstance(expr, AffineDimExpr) and extents[expr.position] == -2:
                extents[expr.position] = size
    if -2 in extents:
        raise CompileError(
            Diagnostic(f"no operand of linalg.generic gives the extent of loop d{extents.index(-2)}", location_of(op))
        )
    return extents


def domain_size(op: Operation) -> int:
    count = 1
    for extent in loop_extents(op):
        count *= extent
    return count


def captured_values(op: Operation) -> list[SSAValue]:
    """Values of outside that the regions of `op` use, each once, in order of first use."""
    if not op.regions:
        return []
    found: dict[SSAValue, None] = {}
    for region in op.regions:
        for inner in region.walk():
            for operand in inner.operands:
                owner = operand.owner
                if not _inside(owner if isinstance(owner, Block) else owner.parent, op):
                    found[operand] = None
    return list(found)


def _inside(block: Block | None, op: Operation) -> bool:
    while block is not None:
        parent = block.parent_op()
        if parent is op:
            return True
        block = parent.parent if parent is not None else None
    return False


def all_operands(op: Operation) -> list[SSAValue]:
    """Operands and captured values."""
    return [*op.operands, *captured_values(op)] if op.regions else list(op.operands)


def make_generic(
    inputs: Sequence[SSAValue],
    inits: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    parallel: Sequence[bool],
    body: Block,
    location: LocationAttr | None = None,
) -> GenericOp:
    """A generic over tensors; `body` has one argument an operand and ends in `linalg.yield`."""
    return GenericOp.create(
        operands=[*inputs, *inits],
        result_types=[init.type for init in inits],
        properties={
            "indexing_maps": ArrayAttr([AffineMapAttr(map) for map in maps]),
            "iterator_types": ArrayAttr([PARALLEL if flag else REDUCTION for flag in parallel]),
            "operandSegmentSizes": segment_sizes(len(inputs), len(inits)),
        },
        regions=[Region(body)],
        location=location,
    )


def make_fill(scalar: SSAValue, init: SSAValue) -> FillOp:
    """`linalg.fill` with the body that IREE's generic form shows."""
    body = Block(arg_types=[scalar.type, scalar.type])
    body.add_op(YieldOp.create(operands=[body.args[0]]))
    return FillOp.create(
        operands=[scalar, init],
        result_types=[init.type],
        properties={"operandSegmentSizes": segment_sizes(1, 1)},
        regions=[Region(body)],
    )


def make_empty(type: Attribute) -> EmptyOp:
    return EmptyOp.create(result_types=[type])


def make_index(dim: int) -> IndexOp:
    from xdsl.dialects.builtin import IndexType

    return IndexOp.create(result_types=[IndexType()], properties={"dim": IntegerAttr(dim, i64)})


def make_yield(values: Sequence[SSAValue]) -> YieldOp:
    return YieldOp.create(operands=list(values))


def require_static(value: SSAValue, op: Operation) -> None:
    """Raises `CompileError` for a tensor with dynamic dimensions."""
    if DYNAMIC_INDEX in shape_of(value):
        raise CompileError(
            Diagnostic(
                f"{op.name} on {value.type}: dynamic shapes are not supported",
                location_of(op),
                "export the program with static shapes",
            )
        )


def erase_op(op: Operation) -> None:
    """Detaches and erases an op without uses."""
    op.detach()
    op.erase()


def replace_op(op: Operation, values: Sequence[SSAValue]) -> None:
    """Replaces all uses of the results of `op` and erases it."""
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    erase_op(op)


def insert_before(anchor: Operation, *ops: Operation) -> None:
    block = anchor.parent
    assert block is not None
    block.insert_ops_before(ops, anchor)


def function_blocks(module: Operation) -> Iterator[Block]:
    """Every block whose ops are host code: of functions, initialisers and the control flow in them, outer first."""
    for region in module.regions:
        for block in region.blocks:
            for op in block.ops:
                if op.name in ("util.func", "util.initializer", "func.func"):
                    for inner in op.regions:
                        yield from host_blocks(inner)


def host_blocks(region: Region) -> Iterator[Block]:
    """Every block of host code in a region and the control flow in it, outer first."""
    for block in region.blocks:
        yield block
        for op in block.ops:
            if op.name.startswith("scf."):
                for inner in op.regions:
                    yield from host_blocks(inner)


def defining_op(value: SSAValue) -> Operation | None:
    return value.op if isinstance(value, OpResult) else None
