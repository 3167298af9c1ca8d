"""Reductions along axes, running sums, softmax and its kin. Sums of 16-bit floats are made in f32."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i1, i32, i64
from xdsl.ir import Attribute, SSAValue

from tiree.input.expansions.build import element_of, i64_array, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.lowering.scalar import widened
from tiree.input.onnx.build import OnnxBuild, Size, integer_range, is_unsigned, rank_of
from tiree.input.onnx.node import Conversion, Node
from tiree.support.typed import is_integer_type


def lowest(element: Attribute) -> int | float:
    """Where a maximum starts."""
    return integer_range(element)[0] if is_integer_type(element) else float("-inf")


def highest(element: Attribute) -> int | float:
    return integer_range(element)[1] if is_integer_type(element) else float("inf")


def count_of(build: OnnxBuild, value: SSAValue, axes: list[int], element: Attribute) -> SSAValue:
    """How many elements a reduction takes together."""
    sizes: list[Size] = build.sizes(value)
    number = build.product([sizes[axis] for axis in axes])
    return build.constant(element, number) if isinstance(number, int) else build.convert(number, element)


def total(build: OnnxBuild, value: SSAValue, axes: list[int]) -> SSAValue:
    return build.reduce(value, axes)


def largest(build: OnnxBuild, value: SSAValue, axes: list[int]) -> SSAValue:
    element = element_of(value)
    return build.reduce(value, axes, "or" if element == i1 else "maximum", lowest(element))


def _smallest(build: OnnxBuild, value: SSAValue, axes: list[int]) -> SSAValue:
    element = element_of(value)
    return build.reduce(value, axes, "and" if element == i1 else "minimum", highest(element))


def mean(build: OnnxBuild, value: SSAValue, axes: list[int]) -> SSAValue:
    return build.divide(total(build, value, axes), count_of(build, value, axes, element_of(value)))


def _product(build: OnnxBuild, value: SSAValue, axes: list[int]) -> SSAValue:
    return build.reduce(value, axes, "multiply", 1)


def _absolute_sum(build: OnnxBuild, value: SSAValue, axes: list[int]) -> SSAValue:
    positive = value if is_unsigned(element_of(value)) else build.unary("abs", value)
    return total(build, positive, axes)


def square_sum(build: OnnxBuild, value: SSAValue, axes: list[int]) -> SSAValue:
    return total(build, build.multiply(value, value), axes)


def _length(build: OnnxBuild, value: SSAValue, axes: list[int]) -> SSAValue:
    return build.unary("sqrt", square_sum(build, value, axes))


def _log_sum(build: OnnxBuild, value: SSAValue, axes: list[int]) -> SSAValue:
    return build.unary("log", total(build, value, axes))


def log_sum_exp(build: OnnxBuild, value: SSAValue, axes: list[int]) -> SSAValue:
    """With the largest taken out, where that is a number."""
    top = build.unsqueeze(largest(build, value, axes), axes)
    finite = build.value("is_finite", [top], TensorType(i1, shape_of(top)))
    top = build.select(finite, top, build.like(top, 0))
    small = build.unary("exponential", build.subtract(value, top))
    return build.add_(build.unary("log", total(build, small, axes)), build.squeeze(top, axes))


_FLOATING = frozenset({"ReduceL2", "ReduceLogSum", "ReduceLogSumExp"})
_EXACT = frozenset({"ReduceMax", "ReduceMin"})


def _reduction(name: str, reduce: Callable[[OnnxBuild, SSAValue, list[int]], SSAValue]) -> Conversion:
    since = 13 if name == "ReduceSum" else 18

    def convert(node: Node) -> SSAValue:
        build, value, rank = node.build, node.input(0), node.rank()
        element = element_of(value)
        axes = node.axes(rank, since)
        if not axes and axes is not None and not node.int("noop_with_empty_axes", 0):
            axes = None
        if axes is None:
            axes = [] if node.int("noop_with_empty_axes", 0) else list(range(rank))
        work = element if name in _EXACT else widened(element)
        if name in _FLOATING and is_integer_type(element):
            raise Unsupported(f"on elements of type {element}")
        result = reduce(build, build.convert(value, work), sorted(axes))
        if node.int("keepdims", 1):
            result = build.unsqueeze(result, axes)
        return build.convert(result, element)

    return convert


def _extreme_place(direction: str) -> Conversion:
    def convert(node: Node) -> SSAValue:
        build, value, rank = node.build, node.input(0), node.rank()
        axis = node.axis(0, rank)
        found = place_of_extreme(build, value, axis, direction, bool(node.int("select_last_index", 0)))
        result = build.unsqueeze(found, [axis]) if node.int("keepdims", 1) else found
        return build.convert(result, i64)

    return convert


def place_of_extreme(build: OnnxBuild, value: SSAValue, axis: int, direction: str, last: bool = False) -> SSAValue:
    """The place of the largest (`GT`) or smallest (`LT`) element along `axis`; of NaN, if there is one."""
    element, shape = element_of(value), shape_of(value)
    places = build.places(build.sizes(value), axis, i32)
    start = build.constant(element, lowest(element) if direction == "GT" else highest(element))
    scalars = [TensorType(element, []), TensorType(i32, [])]

    def better(args: list[SSAValue]) -> list[SSAValue]:
        a, i, b, j = args
        wins = build.compare(direction, a, b)
        if not is_integer_type(element):
            wins = build.binary("or", wins, build.compare("NE", a, a))
        order = build.compare("GT" if last else "LT", i, j)
        equal = build.compare("EQ", a, b)
        if not is_integer_type(element):
            both = build.binary("and", build.compare("NE", a, a), build.compare("NE", b, b))
            equal = build.binary("or", equal, both)
            wins = build.binary("and", wins, build.unary("not", both))
        takes = build.binary("or", wins, build.binary("and", equal, order))
        return [build.select(takes, a, b), build.select(takes, i, j)]

    region = build.region([*scalars, *scalars], lambda args: better(list(args)))
    kept = [size for dim, size in enumerate(shape) if dim != axis]
    # Before the first place for the last of equal elements, behind all for the first.
    nowhere = build.constant(i32, -1 if last else 2**31 - 1)
    types = [TensorType(element, kept), TensorType(i32, kept)]
    return build.make("reduce", [value, places, start, nowhere], types, {"dimensions": i64_array([axis])}, [region])[1]


def softmax(build: OnnxBuild, value: SSAValue, axis: int) -> SSAValue:
    top = build.reduce_keeping(value, [axis], "maximum", float("-inf"))
    powers = build.unary("exponential", build.subtract(value, top))
    return build.divide(powers, build.reduce_keeping(powers, [axis]))


def log_softmax(build: OnnxBuild, value: SSAValue, axis: int) -> SSAValue:
    top = build.reduce_keeping(value, [axis], "maximum", float("-inf"))
    lower = build.subtract(value, top)
    return build.subtract(lower, build.unary("log", build.reduce_keeping(build.unary("exponential", lower), [axis])))


def _hardmax(build: OnnxBuild, value: SSAValue, axis: int) -> SSAValue:
    place = build.unsqueeze(place_of_extreme(build, value, axis, "GT"), [axis])
    hit = build.compare("EQ", build.places(build.sizes(value), axis, i32), place)
    return build.convert(hit, element_of(value))


def _normalizing(function: Callable[[OnnxBuild, SSAValue, int], SSAValue], wide: bool = True) -> Conversion:
    """Before opset 13, of the matrix of the dimensions before `axis` and those from there on."""

    def convert(node: Node) -> SSAValue:
        build, value, rank = node.build, node.input(0), node.rank()
        work = widened(element_of(value)) if wide else element_of(value)
        if node.version >= 13:
            axis = node.axis(-1, rank)
            return build.mapped(value, work, lambda x: function(build, x, axis))
        axis, sizes = node.axis(1, rank), build.sizes(value)
        matrix = build.reshape(value, [build.product(sizes[:axis]), build.product(sizes[axis:])])
        return build.reshape(build.mapped(matrix, work, lambda x: function(build, x, 1)), sizes)

    return convert


def cumulative(build: OnnxBuild, value: SSAValue, axis: int, name: str, start: int, exclusive: bool) -> SSAValue:
    """The sums (or products) of all elements up to each, in front of each if `exclusive`."""
    shape, rank = shape_of(value), rank_of(value)
    size = shape[axis]
    ones = [1] * rank
    sizes, padding = list(ones), [(0, 0)] * rank
    sizes[axis], padding[axis] = size, (size - 1, 0)
    first = build.like(value, start)
    if exclusive:
        low, high = [0] * rank, [0] * rank
        low[axis], high[axis] = 1, -1
        value = build.pad(value, low, high, first)
    return build.window(value, first, name, sizes, ones, ones, padding)


def _cumulative(name: str, start: int) -> Conversion:
    def convert(node: Node) -> SSAValue:
        build, value, rank = node.build, node.input(0), node.rank()
        axis = int(node.constant(1, "an axis").reshape(-1)[0]) % rank
        if shape_of(value)[axis] == DYNAMIC_INDEX:
            raise Unsupported("along a dimension whose size is known late only")
        if 0 in shape_of(value):
            return value
        flipped = [axis] if node.int("reverse", 0) else []
        element = element_of(value)
        wide = build.convert(build.flip(value, flipped), widened(element))
        result = cumulative(build, wide, axis, name, start, bool(node.int("exclusive", 0)))
        return build.convert(build.flip(result, flipped), element)

    return convert


CONVERSIONS: dict[str, Conversion] = {
    "ArgMax": _extreme_place("GT"),
    "ArgMin": _extreme_place("LT"),
    "CumProd": _cumulative("multiply", 1),
    "CumSum": _cumulative("add", 0),
    "Hardmax": _normalizing(_hardmax, wide=False),
    "LogSoftmax": _normalizing(log_softmax),
    "Softmax": _normalizing(softmax),
    **{
        name: _reduction(name, reduce)
        for name, reduce in {
            "ReduceL1": _absolute_sum,
            "ReduceL2": _length,
            "ReduceLogSum": _log_sum,
            "ReduceLogSumExp": log_sum_exp,
            "ReduceMax": largest,
            "ReduceMean": mean,
            "ReduceMin": _smallest,
            "ReduceProd": _product,
            "ReduceSum": total,
            "ReduceSumSquare": square_sum,
        }.items()
    },
}
