"""Constants, and tensors that are made of sizes and numbers."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, f32, i32, i64
from xdsl.ir import Attribute, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.input.expansions.build import element_of, shape_of
from tiree.input.lowering.context import Unsupported, signless
from tiree.input.onnx.build import is_unsigned
from tiree.input.onnx.fold import constant_array
from tiree.input.onnx.node import Conversion, Node
from tiree.input.onnx.types import element_of_number


def _plain(element: Attribute) -> Attribute:
    """Signless, but for unsigned integers."""
    return element if is_unsigned(element) else signless(element) if element.name == "integer_type" else element


def dense_value(node: Node, attr: DenseAttr) -> SSAValue:
    """A constant of the bytes of `attr`."""
    type = TensorType(_plain(attr.element_type), attr.shape)
    return node.build.dense(DenseAttr.from_buffer(type, attr.buffer, attr.is_splat))


def _constant(node: Node) -> SSAValue:
    attr = node.dense("value")
    if attr is not None:
        return dense_value(node, attr)
    array = constant_array(node.op)
    if array is None:
        raise Unsupported("of a kind that is no tensor of numbers")
    return node.build.array(array, i64 if array.dtype == np.int64 else f32)


def _constant_of_shape(node: Node) -> SSAValue:
    build, attr = node.build, node.dense("value")
    one = build.constant(f32, 0) if attr is None else build.reshape(dense_value(node, attr), [])
    shape = node.numbers(0)
    if shape is not None:
        return build.spread(one, [int(size) for size in shape])
    static = node.static_result()
    if static is not None:
        return build.spread(one, static)
    declared = node.declared()
    if declared is None:
        raise Unsupported("into a shape of unknown rank")
    type = TensorType(element_of(one), declared.get_shape())
    return build.value("dynamic_broadcast_in_dim", [one, build.convert(node.input(0), i32)], type, build.dims([]))


def _shape(node: Node) -> SSAValue:
    build, value = node.build, node.input(0)
    rank = node.rank()
    start, end = node.int("start", 0), node.int("end", rank)
    start, end = (min(max(at + rank if at < 0 else at, 0), rank) for at in (start, end))
    sizes = build.sizes(value)[start:end]
    if all(isinstance(size, int) for size in sizes):
        return build.array(np.array(sizes, np.int64), i64)
    return build.convert(build.size_vector(sizes), i64)


def _size(node: Node) -> SSAValue:
    size = node.build.product(node.build.sizes(node.input(0)))
    return node.build.constant(i64, size) if isinstance(size, int) else node.build.convert(size, i64)


def _eye_like(node: Node) -> SSAValue:
    build, shape = node.build, node.static(0)
    element = element_of_number(node.int("dtype")) if node.has("dtype") else node.element()
    rows = build.add_(build.counted(shape, 0, i64), build.constant(i64, node.int("k", 0)))
    return build.convert(build.compare("EQ", rows, build.counted(shape, 1, i64)), element)


def _range(node: Node) -> SSAValue:
    """Of constants, or of as many as the text says."""
    build = node.build
    start, _, delta = (build.reshape(node.input(index), []) for index in range(3))
    known = [node.numbers(index) for index in range(3)]
    declared = node.static_result()
    if all(array is not None for array in known):
        first, last, step = (array.reshape(-1)[0] for array in known if array is not None)
        count = max(int(np.ceil((float(last) - float(first)) / float(step))), 0)
    elif declared is not None:
        count = declared[0]
    else:
        raise Unsupported("with a length that is known late only")
    element = element_of(start)
    return build.add_(start, build.multiply(build.counted([count], 0, element), delta))


def _one_hot(node: Node) -> SSAValue:
    build, indices = node.build, node.input(0)
    values, rank = node.input(2), node.rank() + 1
    axis = node.axis(-1, rank)
    known, declared = node.numbers(1), node.static_result()
    if known is None and declared is None:
        raise Unsupported("with a depth that is not constant")
    depth = int(known.reshape(-1)[0]) if known is not None else declared[axis] if declared is not None else 0
    shape = list(shape_of(indices))
    if DYNAMIC_INDEX in shape:
        raise Unsupported("on an operand of a dynamic shape")
    element = i64
    indices = build.convert(indices, element)
    wrapped = build.select(
        build.compare("LT", indices, build.constant(element, 0)),
        build.add_(indices, build.constant(element, depth)),
        indices,
    )
    shape.insert(axis, depth)
    places = build.counted(shape, axis, element)
    hit = build.compare("EQ", build.unsqueeze(wrapped, [axis]), places)
    off, on = (build.reshape(build.part(values, 0, at, at + 1), []) for at in (0, 1))
    return build.select(hit, on, off)


CONVERSIONS: dict[str, Conversion] = {
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "EyeLike": _eye_like,
    "OneHot": _one_hot,
    "Range": _range,
    "Shape": _shape,
    "Size": _size,
}
