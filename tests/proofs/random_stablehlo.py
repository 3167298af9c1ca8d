"""Random small StableHLO programs as text, with numpy's values: elementwise ops, broadcasts, reductions, movement.

`programs()` is a hypothesis strategy; examples shrink to few ops on small shapes. Values stay small enough to be exact
or nearly so in f32; integers wrap as two's complement does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

DTYPES: dict[str, type] = {
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i64": np.int64,
    "i8": np.int8,
    "ui16": np.uint16,
    "i1": np.bool_,
}
NAMES = {np.dtype(value): key for key, value in DTYPES.items()}
EXTENTS = (2, 3, 1, 4, 5, 0, 7, 8, 16, 17, 33)
LARGEST_ELEMENTS = 4096
LARGEST_VALUE = 1e5
Draw = Callable[[st.SearchStrategy[Any]], Any]


def type_of(value: np.ndarray) -> str:
    """`tensor<2x3xf32>`"""
    return f"tensor<{''.join(f'{d}x' for d in value.shape)}{NAMES[value.dtype]}>"


def element_of(value: np.ndarray) -> str:
    return f"tensor<{NAMES[value.dtype]}>"


@dataclass
class Program:
    """`main` takes `inputs` and returns the values of `results`."""

    inputs: list[np.ndarray]
    lines: list[str] = field(default_factory=list)
    values: list[tuple[str, np.ndarray]] = field(default_factory=list)
    results: list[tuple[str, np.ndarray]] = field(default_factory=list)

    def op(self, name: str, operands: Sequence[tuple[str, np.ndarray]], value: np.ndarray, rest: str = "") -> bool:
        """Appends an op whose result numpy knows, unless that is too large in size or value."""
        if value.size > LARGEST_ELEMENTS or value.ndim > 4:
            return False
        if value.dtype.kind == "f" and value.size and float(np.max(np.abs(value))) > LARGEST_VALUE:
            return False
        result = f"%{len(self.lines)}"
        types = ", ".join(type_of(v) for _, v in operands)
        names = ", ".join(n for n, _ in operands)
        self.lines.append(f'{result} = "stablehlo.{name}"({names}){rest} : ({types}) -> {type_of(value)}')
        self.values.append((result, value))
        return True

    def constant(self, value: np.ndarray) -> tuple[str, np.ndarray]:
        number = bool(value) if value.dtype == bool else value.item()
        text = str(number).lower() if value.dtype == bool else repr(number)
        self.op("constant", (), value, f" <{{value = dense<{text}> : {type_of(value)}}}>")
        return self.values[-1]

    @property
    def text(self) -> str:
        inputs = ", ".join(f"%arg{i}: {type_of(v)}" for i, v in enumerate(self.inputs))
        outputs = ", ".join(type_of(v) for _, v in self.results)
        names = ", ".join(n for n, _ in self.results)
        body = "".join(f"  {line}\n" for line in self.lines)
        return f"func.func @main({inputs}) -> ({outputs}) {{\n{body}  return {names} : {outputs}\n}}\n"


def _integers(*items: int) -> str:
    return f"array<i64: {', '.join(map(str, items))}>" if items else "array<i64>"


def _pick(draw: Draw, program: Program, kinds: str = "fiub") -> tuple[str, np.ndarray] | None:
    fitting = [v for v in program.values if v[1].dtype.kind in kinds]
    # The newest first: programs become chains, and shrink to short ones.
    return fitting[-1 - draw(st.integers(0, len(fitting) - 1))] if fitting else None


def _partner(draw: Draw, program: Program, of: np.ndarray) -> tuple[str, np.ndarray]:
    same = [v for v in program.values if v[1].shape == of.shape and v[1].dtype == of.dtype]
    return same[-1 - draw(st.integers(0, len(same) - 1))]


def unary(draw: Draw, program: Program) -> None:
    """negate, abs, floor, tanh, not."""
    if (x := _pick(draw, program)) is None:
        return
    kind = x[1].dtype.kind
    table: dict[str, Callable[[Any], Any]] = {"negate": np.negative, "abs": np.abs}
    if kind == "f":
        table |= {"floor": np.floor, "tanh": np.tanh, "sign": np.sign}
    if kind == "u":
        table = {"not": np.invert, "popcnt": np.bitwise_count}
    if kind == "b":
        table = {"not": np.logical_not}
    name = draw(st.sampled_from(sorted(table)))
    program.op(name, [x], np.asarray(table[name](x[1])).astype(x[1].dtype))


def binary(draw: Draw, program: Program) -> None:
    """add, subtract, multiply, maximum, minimum, and, or, xor."""
    if (x := _pick(draw, program)) is None:
        return
    y = _partner(draw, program, x[1])
    table: dict[str, Callable[[Any, Any], Any]] = {
        "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    }  # fmt: skip
    bits: dict[str, Callable[[Any, Any], Any]] = {
        "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    }  # fmt: skip
    if x[1].dtype.kind == "b":
        table = bits
    elif x[1].dtype.kind in "iu":
        table |= bits
    name = draw(st.sampled_from(sorted(table)))
    program.op(name, [x, y], np.asarray(table[name](x[1], y[1])))


def compare_and_select(draw: Draw, program: Program) -> None:
    """A comparison, then a select by it."""
    if (x := _pick(draw, program)) is None:
        return
    y = _partner(draw, program, x[1])
    table = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater}
    direction = draw(st.sampled_from(sorted(table)))
    rest = f" <{{comparison_direction = #stablehlo<comparison_direction {direction}>}}>"
    if program.op("compare", [x, y], np.asarray(table[direction](x[1], y[1])), rest):
        test = program.values[-1]
        program.op("select", [test, x, y], np.where(test[1], x[1], y[1]))


def convert(draw: Draw, program: Program) -> None:
    """Between element types; from floats only what the target holds."""
    if (x := _pick(draw, program)) is None:
        return
    target = np.dtype(DTYPES[draw(st.sampled_from(sorted(DTYPES)))])
    if x[1].dtype.kind == "f" and target.kind in "iu":
        limits = np.iinfo(target)
        if x[1].size and (x[1].min() <= limits.min - 1.0 or x[1].max() >= limits.max):
            return
    program.op("convert", [x], x[1].astype(target))


def broadcast(draw: Draw, program: Program) -> None:
    """New dimensions, and extents of 1 stretched."""
    if (x := _pick(draw, program)) is None:
        return
    rank = x[1].ndim + draw(st.integers(0, 2))
    places = sorted(draw(st.permutations(range(rank)))[: x[1].ndim])
    shape = [draw(st.integers(1, 4)) for _ in range(rank)]
    stretched = [1] * rank
    for size, place in zip(x[1].shape, places, strict=True):
        stretched[place] = size
        if size != 1:
            shape[place] = size
    value = np.broadcast_to(x[1].reshape(stretched), shape).copy()
    program.op("broadcast_in_dim", [x], value, f" <{{broadcast_dimensions = {_integers(*places)}}}>")


def transpose(draw: Draw, program: Program) -> None:
    if (x := _pick(draw, program)) is None:
        return
    order = draw(st.permutations(range(x[1].ndim)))
    program.op("transpose", [x], np.transpose(x[1], order).copy(), f" <{{permutation = {_integers(*order)}}}>")


def reshape(draw: Draw, program: Program) -> None:
    """Two neighbours merged, or an extent split, or a 1 added."""
    if (x := _pick(draw, program)) is None:
        return
    shape = list(x[1].shape)
    place = draw(st.integers(0, len(shape)))
    if place + 1 < len(shape):
        shape[place : place + 2] = [shape[place] * shape[place + 1]]
    elif place < len(shape) and shape[place] % 2 == 0 and shape[place]:
        shape[place : place + 1] = [2, shape[place] // 2]
    else:
        shape.insert(place, 1)
    program.op("reshape", [x], x[1].reshape(shape))


def cut(draw: Draw, program: Program) -> None:
    """slice with strides."""
    if (x := _pick(draw, program)) is None:
        return
    starts = [draw(st.integers(0, max(0, n - 1))) for n in x[1].shape]
    stops = [draw(st.integers(s + 1, n)) if n else 0 for s, n in zip(starts, x[1].shape, strict=True)]
    steps = [draw(st.integers(1, 3)) for _ in starts]
    value = x[1][tuple(map(slice, starts, stops, steps))].copy()
    rest = f"start_indices = {_integers(*starts)}, limit_indices = {_integers(*stops)}, strides = {_integers(*steps)}"
    program.op("slice", [x], value, f" <{{{rest}}}>")


def concatenate(draw: Draw, program: Program) -> None:
    if (x := _pick(draw, program)) is None or x[1].ndim == 0:
        return
    y = _partner(draw, program, x[1])
    axis = draw(st.integers(0, x[1].ndim - 1))
    program.op("concatenate", [x, y], np.concatenate([x[1], y[1]], axis), f" <{{dimension = {axis} : i64}}>")


def reverse(draw: Draw, program: Program) -> None:
    if (x := _pick(draw, program)) is None or x[1].ndim == 0:
        return
    axis = draw(st.integers(0, x[1].ndim - 1))
    program.op("reverse", [x], np.flip(x[1], axis).copy(), f" <{{dimensions = {_integers(axis)}}}>")


def pad(draw: Draw, program: Program) -> None:
    """Edges, perhaps negative, and padding between elements."""
    if (x := _pick(draw, program)) is None or 0 in x[1].shape:
        return
    low, high = ([draw(st.integers(-1, 2)) for _ in x[1].shape] for _ in range(2))
    inner = [draw(st.integers(0, 1)) for _ in x[1].shape]
    spread = [n + (n - 1) * i for n, i in zip(x[1].shape, inner, strict=True)]
    shape = [n + a + b for n, a, b in zip(spread, low, high, strict=True)]
    if min(shape, default=1) < 1 or np.prod(shape, dtype=int) > LARGEST_ELEMENTS:
        return
    fill = np.asarray(draw(st.integers(0, 3))).astype(x[1].dtype)
    wide = np.full([n + 8 for n in spread], fill, x[1].dtype)
    wide[tuple(slice(4, 4 + n, i + 1) for n, i in zip(spread, inner, strict=True))] = x[1]
    value = wide[tuple(slice(4 - a, 4 + n + b) for n, a, b in zip(spread, low, high, strict=True))].copy()
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    rest = ", ".join(f"{name} = {_integers(*given)}" for name, given in zip(names, (low, high, inner), strict=True))
    program.op("pad", [x, program.constant(fill)], value, f" <{{{rest}}}>")


def reduce(draw: Draw, program: Program) -> None:
    """A sum, maximum or minimum over some dimensions, from an initial value."""
    if (x := _pick(draw, program)) is None or x[1].ndim == 0:
        return
    axes = sorted(draw(st.sets(st.integers(0, x[1].ndim - 1), min_size=1)))
    bits = x[1].dtype.kind == "b"
    table: dict[str, Any] = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum}
    if bits:
        table = {"or": np.bitwise_or, "and": np.bitwise_and}
    name = draw(st.sampled_from(sorted(table)))
    start = np.asarray(draw(st.integers(0, 2))).astype(x[1].dtype)
    value = table[name].reduce(x[1], axis=tuple(axes), initial=start, dtype=x[1].dtype)
    one = element_of(x[1])
    body = (
        f"({{\n    ^bb0(%a: {one}, %b: {one}):\n"
        f'      %c = "stablehlo.{name}"(%a, %b) : ({one}, {one}) -> {one}\n'
        f'      "stablehlo.return"(%c) : ({one}) -> ()\n    }})'
    )
    initial = program.constant(start)
    program.op("reduce", [x, initial], np.asarray(value), f" <{{dimensions = {_integers(*axes)}}}> {body}")


def product(draw: Draw, program: Program) -> None:
    """dot_general of a value with a partner over one dimension of each, without batch dimensions."""
    if (x := _pick(draw, program, "fi")) is None or not 1 <= x[1].ndim <= 2:
        return
    y = _partner(draw, program, x[1])
    axis = draw(st.integers(0, x[1].ndim - 1))
    value = np.tensordot(x[1], y[1], (axis, axis)).astype(x[1].dtype)
    numbers = f"lhs_contracting_dimensions = [{axis}], rhs_contracting_dimensions = [{axis}]"
    program.op("dot_general", [x, y], np.asarray(value), f" <{{dot_dimension_numbers = #stablehlo.dot<{numbers}>}}>")


def iota(draw: Draw, program: Program) -> None:
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    axis = draw(st.integers(0, len(shape) - 1))
    dtype = DTYPES[draw(st.sampled_from(["f32", "i32", "i64", "i8"]))]
    steps = np.arange(shape[axis]).reshape([-1 if d == axis else 1 for d in range(len(shape))])
    program.op("iota", [], np.broadcast_to(steps, shape).astype(dtype), f" <{{iota_dimension = {axis} : i64}}>")


OPS = (
    unary, binary, binary, compare_and_select, convert, broadcast, transpose, reshape, cut, concatenate, reverse, pad,
    reduce, reduce, product, iota,
)  # fmt: skip


@st.composite
def programs(draw: Draw) -> Program:
    """A program of up to 14 ops on two to four inputs; its last values are its results."""
    shapes = [tuple(draw(st.lists(st.sampled_from(EXTENTS), max_size=3))) for _ in range(draw(st.integers(1, 2)))]
    stream = np.random.default_rng(draw(st.integers(0, 1000)))
    inputs = []
    for shape in shapes:
        dtype = np.dtype(DTYPES[draw(st.sampled_from(sorted(DTYPES)))])
        for _ in range(2):
            values = stream.integers(-16, 17, shape)
            inputs.append((values / 4).astype(dtype) if dtype.kind == "f" else np.asarray(values).astype(dtype))
    program = Program(inputs, values=[(f"%arg{i}", value) for i, value in enumerate(inputs)])
    # Integer overflow is meant: StableHLO's integers wrap.
    with np.errstate(over="ignore"):
        for op in draw(st.lists(st.sampled_from(OPS), min_size=1, max_size=14)):
            op(draw, program)
    program.results = program.values[-draw(st.integers(1, 3)) :]
    return program
