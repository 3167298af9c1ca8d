"""Operations of tensor, math and scf that stand for others: rank, bitcast, generate, sincos, clampf, execute_region."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, i32
from xdsl.dialects.linalg.ops import GenericOp, IndexOp, YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tiree.input.lowering.context import PARALLEL, Lowering, Unsupported, identity, signless, tensor_type
from tiree.support.typed import is_tensor_type


def _rank(lowering: Lowering, op: Operation) -> None:
    type = op.operands[0].type
    if not is_tensor_type(type):
        raise Unsupported(f"on {type}")
    lowering.set(op.results[0], lowering.constant_index(len(type.get_shape())))


def _bitcast(lowering: Lowering, op: Operation) -> None:
    type = tensor_type(signless(op.results[0].type))
    source = lowering.get(op.operands[0])
    if source.type == type:
        lowering.set(op.results[0], source)
        return
    maps = identity(len(type.get_shape()))
    value = lowering.parallel([(source, maps)], type, lambda s, args: s.bitcast(args[0], type.element_type))
    lowering.set(op.results[0], value)


def _values_yielded(lowering: Lowering, block: Block, terminator: str) -> list[SSAValue]:
    """Lowers the ops of a block in place; gives the new values that it yields."""
    for inner in list(block.ops):
        if inner.name == terminator:
            return [lowering.get(value) for value in inner.operands]
        lowering.lower(inner)
    return []


def _generate(lowering: Lowering, op: Operation) -> None:
    type = tensor_type(signless(op.results[0].type))
    rank = len(type.get_shape())
    source = op.regions[0].block
    block = Block(arg_types=[type.element_type])
    with lowering.inside(block), lowering.in_kernel():
        for dim, argument in enumerate(source.args):
            lowering.set(argument, lowering.emit(IndexOp(dim)))
        lowering.emit_op(YieldOp.create(operands=_values_yielded(lowering, source, "tensor.yield")))
    generic = GenericOp.create(
        operands=[lowering.empty(type)],
        result_types=[type],
        properties={
            "indexing_maps": ArrayAttr([identity(rank)]),
            "iterator_types": ArrayAttr([PARALLEL] * rank),
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [0, 1]),
        },
        regions=[Region(block)],
    )
    lowering.set(op.results[0], lowering.emit(generic))


def _unary(lowering: Lowering, kind: type[Operation], value: SSAValue, like: Operation) -> SSAValue:
    return lowering.emit(kind.create(operands=[value], result_types=[value.type], properties=dict(like.properties)))


def _sincos(lowering: Lowering, op: Operation) -> None:
    angle = lowering.get(op.operands[0])
    for result, kind in zip(op.results, (math.SinOp, math.CosOp), strict=True):
        lowering.set(result, _unary(lowering, kind, angle, op))


def _clampf(lowering: Lowering, op: Operation) -> None:
    value, low, high = (lowering.get(operand) for operand in op.operands)
    for kind, bound in ((arith.MaximumfOp, low), (arith.MinimumfOp, high)):
        clamped = kind.create(operands=[value, bound], result_types=[value.type], properties=dict(op.properties))
        value = lowering.emit(clamped)
    lowering.set(op.results[0], value)


def _execute_region(lowering: Lowering, op: Operation) -> None:
    if len(op.regions[0].blocks) != 1:
        raise Unsupported("with several blocks")
    values = _values_yielded(lowering, op.regions[0].block, "scf.yield")
    for result, value in zip(op.results, values, strict=True):
        lowering.set(result, value)


HANDLERS: dict[str, Callable[[Lowering, Operation], None]] = {
    "tensor.rank": _rank,
    "tensor.bitcast": _bitcast,
    "tensor.generate": _generate,
    "math.sincos": _sincos,
    "math.clampf": _clampf,
    "scf.execute_region": _execute_region,
}
