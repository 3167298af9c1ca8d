"""If, Loop and Scan. A branch that is known is taken at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i1, i64
from xdsl.dialects.tensor import CastOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from tiree.dialects.torch import OperatorOp
from tiree.input.expansions.build import element_of, shape_of
from tiree.input.lowering.context import Unsupported, ranked_type
from tiree.input.onnx.build import OnnxBuild, rank_of
from tiree.input.onnx.graph import Silent, cast, plain_type
from tiree.input.onnx.node import Conversion, Node, normalized


def _block_of(node: Node, index: int) -> Block:
    block = node.op.regions[index].blocks.first if index < len(node.op.regions) else None
    if block is None:
        raise Unsupported(f"without region {index}")
    return block


def _inlined(node: Node, block: Block, new: Block) -> list[SSAValue]:
    """The results of a region's block, made at the end of `new`. Raises `Silent` for what is refused in it."""
    found = node.graph.converted(node.graph.convert_block(block, new))
    if found is None:
        raise Silent
    return found


def _scalar(build: OnnxBuild, value: SSAValue) -> SSAValue:
    return value if rank_of(value) == 0 else build.reshape(value, [])


def _common(first: SSAValue, second: SSAValue) -> Attribute:
    """A type that both values have, with `?` where their sizes differ."""
    if element_of(first) != element_of(second) or rank_of(first) != rank_of(second):
        raise Unsupported(f"whose branches give {first.type} and {second.type}")
    sizes = [a if a == b else DYNAMIC_INDEX for a, b in zip(shape_of(first), shape_of(second), strict=True)]
    return TensorType(element_of(first), sizes)


def _if(node: Node) -> list[SSAValue | None]:
    build, condition = node.build, node.input(0)
    known = node.numbers(0)
    # Regions come in the order of their attributes' names: else_branch, then_branch.
    otherwise, then = _block_of(node, 0), _block_of(node, 1)
    if known is not None:
        return [*_inlined(node, then if bool(known.reshape(-1)[0]) else otherwise, build.current())]
    predicate = _scalar(build, condition)
    made: list[tuple[Block, list[SSAValue]]] = []
    for old in (then, otherwise):
        block = Block()
        with build.inside(block):
            made.append((block, _inlined(node, old, block)))
    types = [_common(a, b) for a, b in zip(made[0][1], made[1][1], strict=True)]
    for block, values in made:
        with build.inside(block):
            results = [_loosened(build, value, type) for value, type in zip(values, types, strict=True)]
            build.make("return", results, [])
    regions = [Region(block) for block, _ in made]
    return [*build.make("if", [predicate], types, regions=regions)]


def _loosened(build: OnnxBuild, value: SSAValue, type: Attribute) -> SSAValue:
    if value.type == type:
        return value
    op = CastOp(value, ranked_type(type))
    build.add(op)
    return op.results[0]


class _Loop:
    """A `while` with a counter, what the body carries, and a buffer for each result that collects a part a step."""

    def __init__(self, node: Node, carried: Sequence[SSAValue], count: int, collected: int) -> None:
        self.node = node
        self.build = node.build
        self.carried = list(carried)
        self.count = count
        self.buffers: list[SSAValue] = []
        self.axes = [0] * collected
        self.backwards = [False] * collected

    def make_buffers(self, parts: Sequence[TensorType]) -> None:
        for part, axis in zip(parts, self.axes, strict=True):
            shape = list(part.get_shape())
            if DYNAMIC_INDEX in shape:
                raise Unsupported("that collects parts of a dynamic shape")
            shape.insert(axis, self.count)
            self.buffers.append(self.build.full(part.element_type, shape, 0))

    def stored(self, buffers: Sequence[SSAValue], step: SSAValue, parts: Sequence[SSAValue]) -> list[SSAValue]:
        """The buffers with the parts of a step in them."""
        build = self.build
        result: list[SSAValue] = []
        for number, (buffer, part) in enumerate(zip(buffers, parts, strict=True)):
            axis = self.axes[number]
            place = _mirrored(build, step, self.count) if self.backwards[number] else step
            starts = [place if dim == axis else build.constant(i64, 0) for dim in range(rank_of(buffer))]
            result.append(build.update_slice(buffer, build.unsqueeze(part, [axis]), starts))
        return result


def _mirrored(build: OnnxBuild, step: SSAValue, count: int) -> SSAValue:
    return build.subtract(build.constant(i64, count - 1), step)


def _types_of_parts(block: Block, skipped: int) -> list[TensorType]:
    """What the body gives beside what it carries, as the text says it."""
    last = block.last_op
    assert last is not None
    return [ranked_type(plain_type(value.type)) for value in last.operands[skipped:]]


def _loop(node: Node) -> list[SSAValue | None]:
    build, block = node.build, _block_of(node, 0)
    limit, condition = node.optional(0), node.optional(1)
    carried = [node.input(index) for index in range(2, len(node))]
    known = node.numbers(0)
    collected = len(node.op.results) - len(carried)
    count = _trips(node, known, len(carried)) if collected else 0
    loop = _Loop(node, carried, count, collected)
    if collected:
        loop.make_buffers(_types_of_parts(block, 1 + len(carried)))
    start = build.constant(i64, 0)
    first = build.constant(i1, 1) if condition is None else _scalar(build, condition)
    inits = [start, first, *carried, *loop.buffers]
    types = [value.type for value in inits]
    before = Block(arg_types=types)
    with build.inside(before):
        going = before.args[1]
        if limit is not None:
            top = build.convert(_scalar(build, limit), i64)
            going = build.binary("and", going, build.compare("LT", before.args[0], top))
        build.make("return", [going], [])
    body = Block(arg_types=types)
    with build.inside(body):
        step, _, *rest = body.args
        node.graph.values.update(zip(block.args, [*body.args[:2], *rest[: len(carried)]], strict=True))
        again, *values = _inlined(node, block, body)
        again = _scalar(build, again) if condition is not None else build.constant(i1, 1)
        kept = [cast(build, value, old.type) for value, old in zip(values, carried, strict=False)]
        for value, old in zip(kept, carried, strict=True):
            if value.type != old.type:
                raise Unsupported(f"whose body changes {old.type} to {value.type}")
        buffers = loop.stored(rest[len(carried) :], step, values[len(carried) :])
        build.make("return", [build.add_(step, build.constant(i64, 1)), again, *kept, *buffers], [])
    regions = [Region(before), Region(body)]
    return [*build.make("while", inits, types, regions=regions)[2:]]


def _trips(node: Node, known: np.ndarray | None, carried: int) -> int:
    """How many parts a loop collects: all of its trips, or what the text says."""
    for index in range(carried, len(node.op.results)):
        static = node.static_result(index)
        if static is not None:
            return static[0]
    if known is None or not _runs_on(node):
        raise Unsupported("that collects parts whose number is known late only")
    return int(known.reshape(-1)[0])


def _runs_on(node: Node) -> bool:
    """Whether nothing but the number of trips ends a loop."""
    if node.optional(1) is None:
        return True
    block = _block_of(node, 0)
    last = block.last_op
    assert last is not None
    again = last.operands[0]
    while isinstance(again.owner, OperatorOp) and again.owner.operator == "onnx.Identity":
        again = again.owner.operands[0]
    at_first, later = node.numbers(1), node.graph.numbers(again)
    goes_on = again is block.args[1] or (later is not None and bool(later.reshape(-1)[0]))
    return goes_on and at_first is not None and bool(at_first.reshape(-1)[0])


def _scan(node: Node) -> list[SSAValue | None]:
    build, block, given = node.build, _block_of(node, 0), node.int("num_scan_inputs")
    if node.version < 9:
        raise Unsupported(f"of opset {node.version}")
    values = node.inputs()
    states, inputs = values[: len(values) - given], values[len(values) - given :]
    axes = [
        normalized(axis, rank_of(value))
        for axis, value in zip(node.ints("scan_input_axes", [0] * given), inputs, strict=True)
    ]
    directions = node.ints("scan_input_directions", [0] * given)
    count = shape_of(inputs[0])[axes[0]]
    if any(DYNAMIC_INDEX in shape_of(value) for value in values):
        raise Unsupported("on an operand of a dynamic shape")
    collected = len(node.op.results) - len(states)
    loop = _Loop(node, states, count, collected)
    parts = _types_of_parts(block, len(states))
    outputs = zip(node.ints("scan_output_axes", [0] * collected), parts, strict=True)
    loop.axes = [normalized(axis, len(part.get_shape()) + 1) for axis, part in outputs]
    loop.backwards = [bool(one) for one in node.ints("scan_output_directions", [0] * collected)]
    loop.make_buffers(parts)

    def body(step: SSAValue, args: Sequence[SSAValue]) -> list[SSAValue]:
        taken: list[SSAValue] = []
        for value, axis, backwards in zip(inputs, axes, directions, strict=True):
            place = _mirrored(build, step, count) if backwards else step
            starts = [place if dim == axis else build.constant(i64, 0) for dim in range(rank_of(value))]
            sizes = [1 if dim == axis else size for dim, size in enumerate(shape_of(value))]
            taken.append(build.squeeze(build.dynamic_slice(value, starts, sizes), [axis]))
        node.graph.values.update(zip(block.args, [*args[: len(states)], *taken], strict=True))
        made = _inlined(node, block, build.current())
        kept = [cast(build, value, old.type) for value, old in zip(made, states, strict=False)]
        return [*kept, *loop.stored(args[len(states) :], step, made[len(states) :])]

    return [*build.count_up(build.constant(i64, count), [*states, *loop.buffers], body)]


CONVERSIONS: dict[str, Conversion] = {"If": _if, "Loop": _loop, "Scan": _scan}
