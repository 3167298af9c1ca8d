"""Sizes and indices that ONNX graphs compute from constants and shapes, evaluated with numpy when somebody asks.

Only what such computations are made of is here; constants of the model itself are computed later, as any others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from tiree.dialects import torch
from tiree.dialects.dense import DenseAttr
from tiree.input.expansions.build import shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.build import Array, OnnxBuild, numpy_dtype
from tiree.input.onnx.node import PREFIX, Node
from tiree.input.onnx.types import element_of_number
from tiree.support.typed import is_array_attr, is_float_attr, is_integer_attr

if TYPE_CHECKING:
    from tiree.input.onnx.graph import GraphConversion

Fold: TypeAlias = Callable[[Node, "list[Array]"], "Array | Sequence[Array]"]

_MOST = 1 << 16
"""Constants of more elements are no sizes."""


def evaluate(graph: GraphConversion, op: torch.OperatorOp) -> Sequence[Array | None]:
    """The results of an operator, where they are known."""
    if op.operator == "onnx.Constant":
        return [constant_array(op)]
    fold = FOLDS.get(op.operator)
    node = Node(op, [graph.values.get(value) for value in op.operands], graph.version, graph, OnnxBuild(op))
    if op.operator in ("onnx.Shape", "onnx.Size"):
        return [_of_shape(node)]
    if fold is None:
        return []
    arrays: list[Array] = []
    for value in op.operands:
        found = graph.numbers(value)
        if found is None and op.operator in _PICKING and not arrays:
            found = _partly(graph, value)
        if found is None or found.size > _MOST:
            return []
        arrays.append(found)
    try:
        with np.errstate(all="ignore"):
            made = fold(node, arrays)
    except (Unsupported, ValueError, IndexError, TypeError, OverflowError):
        return []
    results = [made] if isinstance(made, np.ndarray | np.generic) else list(made)
    results = [np.asarray(result) for result in results]
    known = op.operator not in _PICKING or not any(np.any(result == DYNAMIC_INDEX) for result in results)
    return results if known else []


def constant_array(op: torch.OperatorOp) -> Array | None:
    """The value of an `onnx.Constant` in any of the forms that it has."""
    for key, value in op.attributes.items():
        name = key.removeprefix(PREFIX)
        if name == "value" and isinstance(value, DenseAttr):
            try:
                return value.to_numpy()
            except TypeError:
                return None
        if name == "value_int" and is_integer_attr(value):
            return np.array(value.value.data, np.int64)
        if name == "value_float" and is_float_attr(value):
            return np.array(value.value.data, np.float32)
        if name == "value_ints" and is_array_attr(value):
            return np.array([one.value.data for one in value.data if is_integer_attr(one)], np.int64)
        if name == "value_floats" and is_array_attr(value):
            return np.array([one.value.data for one in value.data if is_float_attr(one)], np.float32)
    return None


def _shape(node: Node) -> Array | None:
    """The sizes of the operand, `DYNAMIC_INDEX` for `?`."""
    value = node.optional(0)
    if value is None:
        return None
    shape = shape_of(value)
    if node.op.operator == "onnx.Size":
        return np.array(DYNAMIC_INDEX if DYNAMIC_INDEX in shape else np.prod(shape, dtype=np.int64), np.int64)
    rank = len(shape)
    start, end = node.int("start", 0), node.int("end", rank)
    start, end = (min(max(at + rank if at < 0 else at, 0), rank) for at in (start, end))
    return np.array(shape[start:end], np.int64)


def _of_shape(node: Node) -> Array | None:
    found = _shape(node)
    return None if found is None or np.any(found == DYNAMIC_INDEX) else found


def _partly(graph: GraphConversion, value: SSAValue) -> Array | None:
    """A shape of which some sizes are known."""
    owner = value.owner
    if not isinstance(owner, torch.OperatorOp) or owner.operator != "onnx.Shape":
        return None
    return _shape(Node(owner, [graph.values.get(owner.operands[0])], graph.version, graph, OnnxBuild(owner)))


def slice_indices(node: Node, arrays: Sequence[Array | None], shape: Sequence[int]) -> list[slice]:
    """What a Slice takes of each dimension. Raises `Unsupported` where it has `?` and is not taken whole."""
    if node.version < 10:
        starts, ends = node.ints("starts"), node.ints("ends")
        axes, steps = node.ints("axes", range(len(starts))), [1] * len(starts)
    else:
        given = [None if array is None else [int(n) for n in array.reshape(-1)] for array in arrays]
        given += [None] * (4 - len(given))
        starts, ends = given[0] or [], given[1] or []
        axes, steps = given[2] or list(range(len(starts))), given[3] or [1] * len(starts)
    slices = [slice(None)] * len(shape)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        size = shape[axis % len(shape)]
        if size == DYNAMIC_INDEX:
            if start == 0 and step == 1 and end >= 2**31 - 1:
                continue
            raise Unsupported("of a part of a dimension whose size is known late only")
        slices[axis % len(shape)] = slice(*_normalized(start, end, step, size))
    return slices


def _normalized(start: int, end: int, step: int, size: int) -> tuple[int, int | None, int]:
    start, end = (at + size if at < 0 else at for at in (start, end))
    if step > 0:
        return min(max(start, 0), size), min(max(end, 0), size), step
    start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
    return start, None if end < 0 else end, step


def _slice(node: Node, arrays: list[Array]) -> Array:
    return arrays[0][tuple(slice_indices(node, arrays[1:], arrays[0].shape))]


def _axes(node: Node, arrays: list[Array]) -> tuple[int, ...] | None:
    if node.has("axes"):
        return tuple(node.ints("axes"))
    return tuple(int(axis) for axis in arrays[1].reshape(-1)) if len(arrays) > 1 else None


def _unsqueeze(node: Node, arrays: list[Array]) -> Array:
    return np.expand_dims(arrays[0], _axes(node, arrays) or ())


def _reshape(node: Node, arrays: list[Array]) -> Array:
    shape = node.ints("shape") if node.has("shape") else [int(size) for size in arrays[1]]
    if not node.int("allowzero", 0):
        shape = [arrays[0].shape[dim] if size == 0 else size for dim, size in enumerate(shape)]
    return arrays[0].reshape(shape)


def _divide(node: Node, arrays: list[Array]) -> Array:
    del node
    a, b = arrays
    if a.dtype.kind == "f":
        return a / b
    if not np.all(b):
        raise Unsupported("by zero")
    return (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(a.dtype)


def _cast(node: Node, arrays: list[Array]) -> Array:
    dtype = numpy_dtype(element_of_number(node.int("to")))
    if arrays[0].dtype.kind == "f" and dtype.kind in "iu" and not np.all(np.abs(arrays[0]) < 2**31):
        raise Unsupported("out of range")
    return arrays[0].astype(dtype)


def _split(node: Node, arrays: list[Array]) -> Sequence[Array]:
    axis, count = node.int("axis", 0), len(node.op.results)
    size = arrays[0].shape[axis]
    if len(arrays) > 1 or node.has("split"):
        sizes = node.ints("split") if node.has("split") else [int(size) for size in arrays[1]]
    else:
        chunk = -(-size // count)
        sizes = [min(chunk, size - chunk * index) for index in range(count)]
    return np.split(arrays[0], np.cumsum(sizes)[:-1], axis)


def _filled(node: Node, arrays: list[Array]) -> Array:
    value = node.dense("value")
    one = np.zeros(1, np.float32) if value is None else value.to_numpy().reshape(-1)
    shape = [int(size) for size in arrays[0]]
    if np.prod(shape, dtype=np.int64) > _MOST:
        raise Unsupported("large")
    return np.full(shape, one[0], one.dtype)


def _expand(node: Node, arrays: list[Array]) -> Array:
    del node
    shape = np.broadcast_shapes(arrays[0].shape, [int(size) for size in arrays[1]])
    if np.prod(shape, dtype=np.int64) > _MOST:
        raise Unsupported("large")
    return np.broadcast_to(arrays[0], shape)


def _range(node: Node, arrays: list[Array]) -> Array:
    del node
    start, limit, delta = (array.item() for array in arrays)
    count = max(int(np.ceil((limit - start) / delta)), 0)
    if count > _MOST:
        raise Unsupported("large")
    return (start + np.arange(count) * delta).astype(arrays[0].dtype)


def _reduce(function: Callable[..., Any], node: Node, arrays: list[Array]) -> Array:
    axes = _axes(node, arrays)
    if axes is None and node.int("noop_with_empty_axes", 0):
        return arrays[0]
    return function(arrays[0], axis=axes, keepdims=bool(node.int("keepdims", 1))).astype(arrays[0].dtype)


def _plain(function: Callable[..., Any]) -> Fold:
    """For numpy functions that do what the operator does."""
    return lambda _, arrays: function(*arrays)


def _same_type(function: Callable[..., Any]) -> Fold:
    return lambda _, arrays: np.asarray(function(*arrays)).astype(arrays[0].dtype)


def _squeeze(node: Node, arrays: list[Array]) -> Array:
    return np.squeeze(arrays[0], _axes(node, arrays))


def _of_none(node: Node, arrays: list[Array]) -> Array:
    """What is evaluated elsewhere."""
    raise Unsupported(f"{node.op.operator} of {len(arrays)}")


_PICKING = frozenset({"onnx.Gather", "onnx.Slice"})
"""What takes some of the sizes of a shape."""

FOLDS: dict[str, Fold] = {
    "onnx.Shape": _of_none,
    "onnx.Size": _of_none,
    "onnx.Identity": _plain(np.array),
    "onnx.Add": _same_type(np.add),
    "onnx.Sub": _same_type(np.subtract),
    "onnx.Mul": _same_type(np.multiply),
    "onnx.Div": _divide,
    "onnx.Neg": _same_type(np.negative),
    "onnx.Abs": _same_type(np.abs),
    "onnx.Floor": _same_type(np.floor),
    "onnx.Ceil": _same_type(np.ceil),
    "onnx.Sqrt": _same_type(np.sqrt),
    "onnx.Max": _same_type(lambda *arrays: np.maximum.reduce(np.broadcast_arrays(*arrays))),
    "onnx.Min": _same_type(lambda *arrays: np.minimum.reduce(np.broadcast_arrays(*arrays))),
    "onnx.Equal": _plain(np.equal),
    "onnx.Less": _plain(np.less),
    "onnx.Greater": _plain(np.greater),
    "onnx.Not": _plain(np.logical_not),
    "onnx.And": _plain(np.logical_and),
    "onnx.Or": _plain(np.logical_or),
    "onnx.Where": _plain(np.where),
    "onnx.Cast": _cast,
    "onnx.CastLike": lambda _, arrays: arrays[0].astype(arrays[1].dtype),
    "onnx.Concat": lambda node, arrays: np.concatenate(arrays, node.int("axis")),
    "onnx.Gather": lambda node, arrays: np.take(arrays[0], arrays[1], node.int("axis", 0)),
    "onnx.Slice": _slice,
    "onnx.Split": _split,
    "onnx.Squeeze": _squeeze,
    "onnx.Unsqueeze": _unsqueeze,
    "onnx.Reshape": _reshape,
    "onnx.Flatten": lambda node, arrays: arrays[0].reshape(
        int(np.prod(arrays[0].shape[: node.int("axis", 1)], dtype=np.int64)), -1
    ),
    "onnx.Transpose": lambda node, arrays: np.transpose(arrays[0], node.ints("perm") if node.has("perm") else None),
    "onnx.ConstantOfShape": _filled,
    "onnx.Expand": _expand,
    "onnx.Range": _range,
    "onnx.ReduceProd": partial(_reduce, np.prod),
    "onnx.ReduceSum": partial(_reduce, np.sum),
    "onnx.ReduceMax": partial(_reduce, np.max),
    "onnx.ReduceMin": partial(_reduce, np.min),
}
"""By operator: the results from the operands."""
