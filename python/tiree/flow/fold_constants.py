"""`tiree-global-opt-fold-constants`: computes at compile time what depends on constants only.

In: canonical generics. Out: pure data movement of constants (transposes, broadcasts that do not grow, strided
slices) is done with numpy, up to `MAX_MOVED_BYTES`; exact arithmetic on tiny constants (loop counters, shapes) is
done element by element, up to `MAX_COMPUTED` elements. Nothing that could round differently on a target is folded.
"""

from __future__ import annotations

from itertools import product

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp, constant_of
from tiree.dialects.dense import DenseAttr, decode_scalar, element_byte_size, encode_scalar
from tiree.flow.affine import dim_positions, is_projected_permutation
from tiree.flow.scalars import Number, evaluate
from tiree.flow.simplify_generic import number_of, uniform_scalar
from tiree.flow.structured import (
    body_of,
    domain_size,
    element_count,
    function_blocks,
    input_count,
    inputs_of,
    insert_before,
    is_elementwise,
    loop_extents,
    maps_of,
    replace_op,
    shape_of,
    yielded,
)
from tiree.support.typed import int_of, is_tensor_type, tensor_type

MAX_MOVED_BYTES = 1 << 30
MAX_COMPUTED = 64


def _dense(value: SSAValue) -> DenseAttr | None:
    attr = constant_of(value)
    return attr if isinstance(attr, DenseAttr) else None


def move_constant(op: Operation) -> DenseAttr | None:
    """A permutation of one constant input, as a new constant."""
    block = body_of(op)
    if input_count(op) != 1 or block.first_op is not block.last_op or tuple(yielded(op)) != (block.args[0],):
        return None
    attr = _dense(op.operands[0])
    read, store = maps_of(op)
    type = op.results[0].type
    if attr is None or attr.is_splat or not is_tensor_type(type):
        return None
    sources, targets = dim_positions(read), dim_positions(store)
    if not is_projected_permutation(read) or len(read.results) != read.num_dims or sources is None or targets is None:
        return None
    if attr.buffer.nbytes > MAX_MOVED_BYTES:
        return None
    place = {position: axis for axis, position in enumerate(sources)}
    order = [place[position] for position in targets]
    return _permuted(attr, order, type)


def _permuted(attr: DenseAttr, order: list[int], type: TensorType) -> DenseAttr:
    """Elements are moved as raw bytes of their width, so that every element type works."""
    import numpy as np

    width = element_byte_size(attr.element_type)
    raw = np.frombuffer(attr.buffer, dtype=np.dtype((np.void, width))).reshape(attr.shape)
    return DenseAttr.from_buffer(type, np.ascontiguousarray(raw.transpose(order)).view(np.uint8).reshape(-1))


def _elements(value: SSAValue) -> list[Number] | None:
    """All elements of a tiny constant tensor, row-major; one number for a uniform one of any size."""
    scalar = uniform_scalar(value)
    if isinstance(scalar, SSAValue):
        number = number_of(scalar)
        return None if number is None else [number] * element_count(value)
    attr = scalar if scalar is not None else _dense(value)
    if attr is None:
        return None
    width = element_byte_size(attr.element_type)
    raw = bytes(attr.buffer)
    try:
        numbers = [decode_scalar(attr.element_type, raw[at : at + width]) for at in range(0, len(raw), width)]
    except ValueError:
        return None
    return numbers * element_count(value) if attr.is_splat else numbers


def _evaluate_point(op: Operation, inputs: list[Number], point: tuple[int, ...]) -> list[Number] | None:
    """What the body yields for one point of the space."""
    block = body_of(op)
    known: dict[SSAValue, Number] = dict(zip(block.args, inputs, strict=False))

    def get(value: SSAValue) -> Number | None:
        if value in known:
            return known[value]
        return None if isinstance(value, BlockArgument) else number_of(value)

    for inner in block.ops:
        if inner.name == "linalg.yield":
            results = [get(value) for value in inner.operands]
            return None if None in results else [number for number in results if number is not None]
        if inner.name == "linalg.index":
            known[inner.results[0]] = point[int_of(inner.properties["dim"])]
            continue
        if inner.name == "arith.constant":
            continue
        operands = [get(value) for value in inner.operands]
        if None in operands:
            return None
        number = evaluate(inner, [value for value in operands if value is not None])
        if number is None:
            return None
        known[inner.results[0]] = number
    return None


def compute_constant(op: Operation) -> list[DenseAttr] | None:
    """The results of a tiny elementwise op on constants."""
    values = list(inputs_of(op))
    if not values or domain_size(op) > MAX_COMPUTED or any(element_count(value) > MAX_COMPUTED for value in values):
        return None
    arrays = [_elements(value) for value in values]
    if None in arrays:
        return None
    maps = maps_of(op)
    shapes = [shape_of(value) for value in op.operands]
    extents = loop_extents(op)
    outputs: list[dict[int, Number]] = [{} for _ in op.results]
    count = len(values)
    for point in product(*(range(extent) for extent in extents)):
        inputs = [
            array[_flat(map.eval(point, ()), shape)]
            for array, map, shape in zip(arrays, maps, shapes, strict=False)
            if array is not None
        ]
        results = _evaluate_point(op, inputs, point)
        if results is None:
            return None
        for index, number in enumerate(results):
            outputs[index][_flat(maps[count + index].eval(point, ()), shapes[count + index])] = number
    return [_from_numbers(output, tensor_type(result)) for output, result in zip(outputs, op.results, strict=True)]


def _flat(position: tuple[int, ...], shape: tuple[int, ...]) -> int:
    flat = 0
    for at, size in zip(position, shape, strict=True):
        flat = flat * size + at
    return flat


def _from_numbers(numbers: dict[int, Number], type: TensorType) -> DenseAttr:
    data = b"".join(encode_scalar(type.element_type, numbers[index]) for index in range(len(numbers)))
    return DenseAttr.from_buffer(type, data)


def fold(op: Operation) -> bool:
    """Replaces `op` by constants when it depends on nothing else."""
    if not is_elementwise(op):
        return False
    moved = move_constant(op)
    attrs = [moved] if moved is not None else compute_constant(op)
    if attrs is None:
        return False
    constants = [ConstantOp(attr) for attr in attrs]
    insert_before(op, *constants)
    replace_op(op, [constant.result for constant in constants])
    return True


def fold_block(block: Block) -> None:
    for op in list(block.ops):
        if op.name == "linalg.generic":
            fold(op)


class FoldConstants(ModulePass):
    """Constants of constants."""

    name = "tiree-global-opt-fold-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        for block in function_blocks(op):
            fold_block(block)
