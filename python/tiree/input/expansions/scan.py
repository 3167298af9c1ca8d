"""`chlo.scan`: a loop over a dimension that carries values from step to step.

A plain running sum, product, minimum or maximum of one input becomes a window reduction, which later stages know as a
cumulative op; everything else a `while`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.dialects.dense import DenseAttr
from tiree.input.expansions.build import Build, element_of, i64_array, shape_of
from tiree.input.lowering.context import Unsupported, splat_of
from tiree.input.lowering.reduce import body_of
from tiree.input.lowering.scalar import inherent
from tiree.input.lowering.scalar_ops import is_float, is_unsigned
from tiree.input.lowering.structural import int_property
from tiree.support.typed import is_float_attr, is_integer_attr, is_integer_type


def _is_reverse(op: Operation) -> bool:
    attr = inherent(op, "is_reverse")
    return is_integer_attr(attr) and bool(attr.value.data)


def _segments(op: Operation) -> tuple[int, int]:
    """How many operands are inputs, and how many results are outputs; the rest is carried."""
    operands, results = inherent(op, "operandSegmentSizes"), inherent(op, "resultSegmentSizes")
    if not isinstance(operands, DenseArrayBase) or not isinstance(results, DenseArrayBase):
        raise Unsupported("without operandSegmentSizes and resultSegmentSizes")
    return int(operands.get_values()[0]), int(results.get_values()[0])


def _length(build: Build, op: Operation, inputs: Sequence[SSAValue], dim: int) -> SSAValue:
    if inputs:
        return build.size(inputs[0], dim, i64)
    size = inherent(op, "scan_dim_size")
    if not is_integer_attr(size):
        raise Unsupported("without inputs and without scan_dim_size")
    return build.constant(i64, size.value.data)


def inline(build: Build, block: Block, arguments: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Moves the ops of a body to where `build` makes ops; gives what the body returns."""
    for argument, value in zip(block.args, arguments, strict=True):
        argument.replace_all_uses_with(value)
    for op in list(block.ops):
        if op.name == "stablehlo.return":
            return list(op.operands)
        op.detach()
        build.add(op)
    raise Unsupported("with a body that returns nothing")


def _scan(build: Build, op: Operation) -> Sequence[SSAValue]:
    count, outputs = _segments(op)
    inputs, inits = op.operands[:count], op.operands[count:]
    dim, reverse = int_property(op, "dimension"), _is_reverse(op)
    block = body_of(op)
    for value in (*inputs, *op.results[:outputs]):
        if any(size == DYNAMIC_INDEX for d, size in enumerate(shape_of(value)) if d != dim):
            raise Unsupported(f"with the dynamic shape {value.type}")
    running = _running(op, block, count, outputs)
    if running is not None and DYNAMIC_INDEX not in shape_of(inputs[0]):
        return _windows(build, op, running, dim, reverse)
    length = _length(build, op, inputs, dim)
    zero, one = build.constant(i64, 0), build.constant(i64, 1)
    starts = [_room(build, op, result, inputs, dim) for result in op.results[:outputs]]

    def step(i: SSAValue, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        place = build.subtract(build.subtract(length, one), i) if reverse else i
        slices: list[SSAValue] = []
        for value in inputs:
            shape = list(shape_of(value))
            at = [place if d == dim else zero for d in range(len(shape))]
            shape[dim] = 1
            part = build.dynamic_slice(value, at, shape)
            slices.append(build.reshape(part, shape[:dim] + shape[dim + 1 :]))
        made = inline(build, block, [*slices, *values[outputs:]])
        results: list[SSAValue] = []
        for whole, part in zip(values[:outputs], made[:outputs], strict=True):
            shape = list(shape_of(part))
            wide = build.reshape(part, [*shape[:dim], 1, *shape[dim:]])
            results.append(
                build.update_slice(whole, wide, [place if d == dim else zero for d in range(len(shape) + 1)])
            )
        return [*results, *made[outputs:]]

    return list(build.count_up(length, [*starts, *inits], step))


_NEUTRAL: dict[str, Callable[[Attribute], int | float]] = {
    "stablehlo.add": lambda _: 0,
    "stablehlo.multiply": lambda _: 1,
    "stablehlo.minimum": lambda element: _extreme(element, 1),
    "stablehlo.maximum": lambda element: _extreme(element, -1),
}


def _extreme(element: Attribute, sign: int) -> int | float:
    """The largest (smallest) value of a type."""
    if not is_integer_type(element):
        return sign * float("inf")
    signed = not is_unsigned(element)
    width = element.width.data - signed
    return (1 << width) - 1 if sign > 0 else -(1 << width) * signed


def _running(op: Operation, block: Block, count: int, outputs: int) -> str | None:
    """The op of a scan that is a plain running one, started with what changes nothing."""
    ops = list(block.ops)
    if (count, outputs, len(op.operands), len(ops)) != (1, 1, 2, 2) or ops[0].name not in _NEUTRAL:
        return None
    step, end = ops
    element = element_of(op.operands[0])
    whole = set(step.operands) == set(block.args) and list(end.operands) == [step.results[0]] * 2
    start = op.operands[1].owner
    if isinstance(start, Operation) and start.name == "stablehlo.broadcast_in_dim":
        start = start.operands[0].owner
    value = inherent(start, "value") if isinstance(start, Operation) else None
    if not whole or not isinstance(value, DenseAttr) or not (is_float(element) or is_integer_type(element)):
        return None
    neutral = splat_of(DenseAttr(TensorType(element, value.shape), value.data))
    if not (is_integer_attr(neutral) or is_float_attr(neutral)):
        return None
    return step.name.removeprefix("stablehlo.") if neutral.value.data == _NEUTRAL[step.name](element) else None


def _windows(build: Build, op: Operation, name: str, dim: int, reverse: bool) -> Sequence[SSAValue]:
    """A running op as the reduction of windows that reach back to the start."""
    value = op.operands[0]
    shape, element = shape_of(value), element_of(value)
    if shape[dim] == 0:
        return [value, op.operands[1]]
    padding = [[0, 0] for _ in shape]
    padding[dim][int(reverse)] = shape[dim] - 1
    scalar = TensorType(element, [])
    region = build.region([scalar, scalar], lambda args: [build.binary(name, args[0], args[1])])
    properties = {
        "window_dimensions": i64_array([size if d == dim else 1 for d, size in enumerate(shape)]),
        "padding": DenseAttr.from_buffer(
            TensorType(i64, [len(shape), 2]), b"".join(n.to_bytes(8, "little") for row in padding for n in row)
        ),
    }
    start = build.constant(element, _NEUTRAL[f"stablehlo.{name}"](element))
    sums = build.value("reduce_window", [value, start], value.type, properties, [region])
    low, high = [0] * len(shape), list(shape)
    low[dim], high[dim] = (0, 1) if reverse else (shape[dim] - 1, shape[dim])
    last = build.slice(sums, low, high)
    return [sums, build.reshape(last, [size for d, size in enumerate(shape) if d != dim])]


def _room(build: Build, op: Operation, result: SSAValue, inputs: Sequence[SSAValue], dim: int) -> SSAValue:
    """A tensor for the outputs, all zero."""
    del op
    zero = build.constant(element_of(result), 0)
    if DYNAMIC_INDEX not in shape_of(result):
        return build.broadcast(zero, [], result)
    sizes = [build.constant(i64, size) for size in shape_of(result)]
    sizes[dim] = build.size(inputs[0], dim, i64)
    vector = build.concatenate([build.reshape(size, [1]) for size in sizes], 0)
    type = TensorType(element_of(result), shape_of(result))
    dims = {"broadcast_dimensions": DenseArrayBase.from_list(i64, [])}
    return build.value("dynamic_broadcast_in_dim", [zero, vector], type, dims)


EXPANSIONS = {"chlo.scan": _scan}
