"""Programs whose length is a parameter, each with what numpy makes of it: chains, fans, reductions in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

F32 = np.float32
Array = np.ndarray

UNARY: dict[str, Callable[[Array], Array]] = {
    "sine": np.sin,
    "tanh": np.tanh,
    "exponential": np.exp,
    "abs": np.abs,
    "negate": np.negative,
}
BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
MIXED = ("sine", "add", "multiply", "tanh", "subtract", "maximum", "negate", "minimum", "add", "abs", "multiply")


@dataclass
class LongProgram:
    """StableHLO text of one function, its inputs and its results in double precision."""

    name: str
    text: str
    inputs: list[Array]
    expected: list[Array]


@dataclass
class Writer:
    """Writes ops one by one and computes them on the way."""

    inputs: list[Array]
    lines: list[str] = field(default_factory=list)
    values: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, value in enumerate(self.inputs):
            self.values[f"%arg{number}"] = value.astype(np.float64)

    def type(self, name: str) -> str:
        return type_of(self.values[name])

    def _add(self, value: Array, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.values[name] = np.asarray(value)
        self.lines.append(f"  {name} = {text}")
        return name

    def op(self, kind: str, *operands: str) -> str:
        """An elementwise op."""
        values = [self.values[name] for name in operands]
        value = UNARY[kind](*values) if kind in UNARY else BINARY[kind](*values)
        return self._add(value, f"stablehlo.{kind} {', '.join(operands)} : {type_of(value)}")

    def constant(self, value: Array) -> str:
        """A constant; a scalar array of any shape of one value is written as a splat."""
        value = np.asarray(value, F32)
        single = value.size == 1 or (value == value.flat[0]).all()
        body = f"{value.flat[0]:.9e}" if single else f'"0x{value.tobytes().hex().upper()}"'
        return self._add(value.astype(np.float64), f"stablehlo.constant dense<{body}> : {type_of(value)}")

    def reduce(self, kind: str, operand: str, dim: int, init: str) -> str:
        value = {"add": np.sum, "maximum": np.max}[kind](self.values[operand], axis=dim)
        return self._add(
            value,
            f"stablehlo.reduce({operand} init: {init}) applies stablehlo.{kind} across dimensions = [{dim}] : "
            f"({self.type(operand)}, tensor<f32>) -> {type_of(value)}",
        )

    def broadcast(self, operand: str, dims: Sequence[int], shape: Sequence[int]) -> str:
        source = self.values[operand]
        value = np.broadcast_to(
            source.reshape([source.shape[dims.index(d)] if d in dims else 1 for d in range(len(shape))]), shape
        )
        return self._add(
            value,
            f"stablehlo.broadcast_in_dim {operand}, dims = {list(dims)} : ({self.type(operand)}) -> {type_of(value)}",
        )

    def finish(self, name: str, *results: str) -> LongProgram:
        types = ", ".join(self.type(result) for result in results)
        arguments = ", ".join(f"%arg{i}: {type_of(value)}" for i, value in enumerate(self.inputs))
        head = f"func.func @main({arguments}) -> ({types}) {{"
        text = "\n".join([head, *self.lines, f"  return {', '.join(results)} : {types}", "}"])
        return LongProgram(name, text, self.inputs, [self.values[result] for result in results])


def type_of(value: Array) -> str:
    return f"tensor<{''.join(f'{size}x' for size in value.shape)}f32>"


def _inputs(*shapes: Sequence[int]) -> list[Array]:
    rng = np.random.default_rng(11)
    return [rng.uniform(-0.5, 0.5, shape).astype(F32) for shape in shapes]


def chain(count: int, kinds: Sequence[str] = MIXED, shape: Sequence[int] = (64,)) -> LongProgram:
    """Elementwise ops one after the other."""
    w = Writer(_inputs(shape, shape))
    value = "%arg0"
    for i in range(count):
        kind = kinds[i % len(kinds)]
        value = w.op(kind, value) if kind in UNARY else w.op(kind, value, "%arg1")
    return w.finish(f"chain_{count}", value)


def sine_chain(count: int) -> LongProgram:
    return chain(count, ("sine", "add"))


def fan(count: int) -> LongProgram:
    """One costly value that `count` ops use, all of them before the sum of their results begins."""
    w = Writer(_inputs((64,)))
    x = w.op("tanh", "%arg0")
    terms = [w.op("multiply", x, w.constant(np.full(64, 0.5 + i / count))) for i in range(count)]
    total = terms[0]
    for number, term in enumerate(terms[1:]):
        total = w.op("add", *((total, term) if number % 2 else (term, total)))
    return w.finish(f"fan_{count}", total)


def many_results(count: int) -> LongProgram:
    """One costly value, `count` results."""
    w = Writer(_inputs((64,)))
    x = w.op("tanh", "%arg0")
    results = [w.op("multiply", x, w.constant(np.full(64, 0.5 + i / count))) for i in range(count)]
    return w.finish(f"many_results_{count}", *results)


def waiting(count: int) -> LongProgram:
    """`count` values of which each waits until all later ones have been used."""
    w = Writer(_inputs((64,), (64,)))
    values = ["%arg0"]
    for i in range(count):
        values.append(w.op("sine", values[-1]) if i % 2 == 0 else w.op("add", values[-1], "%arg1"))
    total = values.pop()
    for value in reversed(values):
        total = w.op("maximum" if len(w.lines) % 2 else "subtract", total, value)
    return w.finish(f"waiting_{count}", total)


def constants(count: int) -> LongProgram:
    """A chain that reads a constant tensor of its own at every step."""
    rng = np.random.default_rng(3)
    w = Writer(_inputs((64,)))
    value = "%arg0"
    for i in range(count):
        kind = ("add", "maximum", "subtract")[i % 3]
        value = w.op(kind, value, w.constant(rng.uniform(-1, 1, 64).astype(F32)))
    return w.finish(f"constants_{count}", value)


def row_reductions(count: int, shape: tuple[int, int] = (16, 64)) -> LongProgram:
    """reduce -> broadcast -> reduce over the rows of a matrix."""
    w = Writer(_inputs(shape))
    zero = w.constant(np.zeros(()))
    scale = w.constant(np.full((shape[0],), 0.125 / shape[1]))
    value = "%arg0"
    for i in range(count):
        inner = w.op("tanh", value) if i % 3 == 0 else value
        total = w.op("multiply", w.reduce("add", inner, 1, zero), scale)
        value = w.op("subtract", value, w.broadcast(total, (0,), shape))
    return w.finish(f"row_reductions_{count}", value)


def crossed_reductions(count: int) -> LongProgram:
    """Reductions along rows and columns in turn, with elementwise work between."""
    shape = (32, 32)
    w = Writer(_inputs(shape))
    low = w.constant(np.full((), -1e30))
    value = "%arg0"
    for i in range(count):
        most = w.reduce("maximum", value, i % 2, low)
        value = w.op("sine", w.op("subtract", value, w.broadcast(most, (1 - i % 2,), shape)))
    return w.finish(f"crossed_reductions_{count}", value)


def layers(count: int) -> LongProgram:
    """A network of `count` equal layers: matrix product, bias, relu."""
    rng = np.random.default_rng(5)
    weights = (rng.standard_normal((16, 16)) / 4).astype(F32)
    w = Writer([*_inputs((8, 16)), weights, *_inputs((16,))])
    zero = w.constant(np.zeros((8, 16)))
    value = "%arg0"
    for _ in range(count):
        product = w.values[value] @ w.values["%arg1"]
        text = f"stablehlo.dot_general {value}, %arg1, contracting_dims = [1] x [0] : "
        value = w._add(product, f"{text}(tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>")
        value = w.op("maximum", w.op("add", value, w.broadcast("%arg2", (1,), (8, 16))), zero)
    return w.finish(f"layers_{count}", value)


def functions(count: int) -> str:
    """A module of small functions, no two alike."""
    texts = []
    for i in range(count):
        w = Writer(_inputs((8 + i,), (8 + i,)))
        value = w.op(("tanh", "abs", "negate")[i % 3], w.op("add", "%arg0", "%arg1"))
        texts.append(w.finish("", w.op("multiply", value, "%arg1")).text.replace("@main", f"@f{i}"))
    return "\n".join(texts)
