"""Networks of many layers as StableHLO text, drawn from a seed; one layer may differ from the others in one thing.

A layer ends in a product and a sum with what it began with, as those of transformers do.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

ROWS, WIDTH = 8, 16
X = f"tensor<{ROWS}x{WIDTH}xf32>"
ROW = f"tensor<{WIDTH}xf32>"
W = f"tensor<{WIDTH}x{WIDTH}xf32>"
COLUMN = f"tensor<{ROWS}xf32>"

DIFFERENCES = (
    "constant", "constant's sign", "order", "attribute", "operation", "table", "shape", "weight given twice", "skip",
    "additional result", "two operations more", "tables swapped",
)  # fmt: skip
"""The one thing that may differ."""
STEPS = ("tanh", "scale", "shift", "ramp", "gate", "table", "tables", "transpose", "halves", "hide")


@dataclass
class LayeredProgram:
    """`main` of `layers` layers, made of `steps`; layer `odd_layer` differs from the others in `difference`."""

    layers: int
    steps: tuple[str, ...] = ("tanh", "scale")
    difference: str = ""
    odd_layer: int = 3
    weights_are_constants: bool = False
    seed: int = 0
    _lines: list[str] = field(default_factory=list[str])
    _arguments: list[str] = field(default_factory=list[str])
    _names: Iterator[int] = field(default_factory=lambda: iter(range(1_000_000)))

    @property
    def text(self) -> str:
        self._lines, self._arguments, self._names = [], [f"%x: {X}"], iter(range(1_000_000))
        self._random = np.random.default_rng(self.seed)
        mask = self._mask()
        value, previous = "%x", "%x"
        extra: list[str] = []
        for number in range(self.layers):
            odd = self.difference if number == self.odd_layer else ""
            value, previous = self._layer(value, previous, mask, odd), value
            if odd == "additional result":
                extra.append(value)
        results = [value, *extra]
        types = ", ".join([X] * len(results))
        body = "\n".join(self._lines)
        head = f"func.func public @main({', '.join(self._arguments)}) -> ({types})"
        return f"module @layered {{\n{head} {{\n{body}\nfunc.return {', '.join(results)} : {types}\n}}\n}}\n"

    @property
    def inputs(self) -> list[np.ndarray]:
        text = self.text
        shapes = [
            part.split("tensor<")[1].split("xf32")[0] for part in text.split("@main(")[1].split(") ->")[0].split(", %")
        ]
        stream = np.random.default_rng(self.seed + 1)
        return [stream.standard_normal(tuple(map(int, one.split("x"))), np.float32) / 4 for one in shapes]

    def _op(self, text: str) -> str:
        name = f"%v{next(self._names)}"
        self._lines.append(f"  {name} = {text}")
        return name

    def _weight(self, type: str) -> str:
        if not self.weights_are_constants:
            name = f"%w{len(self._arguments)}"
            self._arguments.append(f"{name}: {type}")
            return name
        shape = tuple(map(int, type[7:-4].removesuffix("x").split("x")))
        data = (self._random.standard_normal(shape, np.float32) / 4).tobytes().hex().upper()
        return self._op(f'stablehlo.constant dense<"0x{data}"> : {type}')

    def _splat(self, number: float, type: str = X) -> str:
        scalar = self._op(f"stablehlo.constant dense<{number:e}> : tensor<f32>")
        return self._broadcast(scalar, "tensor<f32>", "", type)

    def _broadcast(self, value: str, source: str, dims: str, type: str = X) -> str:
        return self._op(f"stablehlo.broadcast_in_dim {value}, dims = [{dims}] : ({source}) -> {type}")

    def _binary(self, name: str, a: str, b: str, type: str = X) -> str:
        return self._op(f"stablehlo.{name} {a}, {b} : {type}")

    def _sum(self, value: str) -> str:
        zero = self._op("stablehlo.constant dense<0.0> : tensor<f32>")
        types = f"({X}, tensor<f32>) -> {COLUMN}"
        return self._op(
            f"stablehlo.reduce({value} init: {zero}) applies stablehlo.add across dimensions = [1] : {types}"
        )

    def _dot(self, a: str, b: str, dim: int = 0, wide: str = X, weight: str = W, result: str = X) -> str:
        return self._op(
            f"stablehlo.dot_general {a}, {b}, contracting_dims = [1] x [{dim}] : ({wide}, {weight}) -> {result}"
        )

    def _mask(self) -> str:
        """What all layers read: rows above a diagonal."""
        rows = self._op(f"stablehlo.iota dim = 0 : tensor<{ROWS}x{WIDTH}xi32>")
        columns = self._op(f"stablehlo.iota dim = 1 : tensor<{ROWS}x{WIDTH}xi32>")
        types = f"(tensor<{ROWS}x{WIDTH}xi32>, tensor<{ROWS}x{WIDTH}xi32>) -> tensor<{ROWS}x{WIDTH}xi1>"
        return self._op(f"stablehlo.compare LE, {columns}, {rows}, SIGNED : {types}")

    def _layer(self, x: str, previous: str, mask: str, odd: str) -> str:
        mean = self._binary("divide", self._sum(x), self._splat(WIDTH, COLUMN), COLUMN)
        mean = self._broadcast(mean, COLUMN, "0")
        y = self._binary("subtract", *((mean, x) if odd == "order" else (x, mean)))
        epsilon = {"constant": 1e-3, "constant's sign": -0.0}.get(
            odd, 0.0 if self.difference.endswith("sign") else 1e-5
        )
        square = self._binary("add", self._binary("multiply", y, y), self._splat(epsilon))
        norm = self._binary("add", self._sum(square), self._splat(1, COLUMN), COLUMN)
        y = self._binary("multiply", y, self._broadcast(self._op(f"stablehlo.rsqrt {norm} : {COLUMN}"), COLUMN, "0"))
        weight = self._weight(W)
        y = self._hidden(y, weight, odd)
        for step in self.steps:
            y = getattr(self, f"_{step}")(y, x, mask, odd)
        if odd == "operation":
            y = self._op(f"stablehlo.sine {y} : {X}")
        elif self.difference == "operation":
            y = self._op(f"stablehlo.cosine {y} : {X}")
        if odd == "two operations more":
            y = self._binary("multiply", y, self._splat(0.5))
        second = weight if odd == "weight given twice" else self._weight(W)
        y = self._dot(y, second, 1 if odd == "attribute" else 0)
        return self._binary("add", previous if odd == "skip" else x, y)

    def _hidden(self, y: str, weight: str, odd: str) -> str:
        if odd != "shape":
            return self._dot(y, weight)
        wide = f"tensor<{ROWS}x{2 * WIDTH}xf32>"
        y = self._dot(
            y, self._weight(f"tensor<{WIDTH}x{2 * WIDTH}xf32>"), 0, X, f"tensor<{WIDTH}x{2 * WIDTH}xf32>", wide
        )
        return self._op(f"stablehlo.slice {y} [0:{ROWS}, {WIDTH}:{2 * WIDTH}] : ({wide}) -> {X}")

    # What a layer may do between its products.

    def _tanh(self, y: str, x: str, mask: str, odd: str) -> str:
        del x, mask, odd
        return self._op(f"stablehlo.tanh {y} : {X}")

    def _scale(self, y: str, x: str, mask: str, odd: str) -> str:
        del x, mask, odd
        return self._binary("multiply", y, self._splat(0.75))

    def _shift(self, y: str, x: str, mask: str, odd: str) -> str:
        del x, mask, odd
        return self._binary("add", y, self._broadcast(self._weight(ROW), ROW, "1"))

    def _ramp(self, y: str, x: str, mask: str, odd: str) -> str:
        del x, mask, odd
        ramp = self._op(f"stablehlo.iota dim = 0 : {ROW}")
        return self._binary("add", y, self._broadcast(ramp, ROW, "1"))

    def _gate(self, y: str, x: str, mask: str, odd: str) -> str:
        del mask, odd
        return self._binary("multiply", y, self._op(f"stablehlo.logistic {x} : {X}"))

    def _table(self, y: str, x: str, mask: str, odd: str) -> str:
        """A small constant, the same in all layers but the odd one."""
        del x, mask
        numbers = ", ".join(f"{(place * 7) % 5 + (odd == 'table'):e}" for place in range(WIDTH))
        table = self._op(f"stablehlo.constant dense<[{numbers}]> : {ROW}")
        return self._binary("multiply", y, self._broadcast(table, ROW, "1"))

    def _tables(self, y: str, x: str, mask: str, odd: str) -> str:
        """Two small constants of one type, the same in all layers; the odd one uses each for the other."""
        del x, mask
        tables: list[str] = []
        for divisor in (3, 5):
            numbers = ", ".join(f"{(place % divisor) / divisor:e}" for place in range(WIDTH))
            table = self._op(f"stablehlo.constant dense<[{numbers}]> : {ROW}")
            tables.append(self._broadcast(table, ROW, "1"))
        factor, summand = reversed(tables) if odd == "tables swapped" else tables
        return self._binary("add", self._binary("multiply", y, factor), summand)

    def _transpose(self, y: str, x: str, mask: str, odd: str) -> str:
        """A product with a weight that is turned first."""
        del x, mask, odd
        turned = self._op(f"stablehlo.transpose {self._weight(W)}, dims = [1, 0] : ({W}) -> {W}")
        return self._dot(y, turned)

    def _halves(self, y: str, x: str, mask: str, odd: str) -> str:
        del x, mask, odd
        half = f"tensor<{ROWS}x{WIDTH // 2}xf32>"
        a = self._op(f"stablehlo.slice {y} [0:{ROWS}, 0:{WIDTH // 2}] : ({X}) -> {half}")
        b = self._op(f"stablehlo.slice {y} [0:{ROWS}, {WIDTH // 2}:{WIDTH}] : ({X}) -> {half}")
        return self._op(f"stablehlo.concatenate {b}, {a}, dim = 1 : ({half}, {half}) -> {X}")

    def _hide(self, y: str, x: str, mask: str, odd: str) -> str:
        """What the mask, which all layers read, leaves."""
        del x, odd
        return self._op(f"stablehlo.select {mask}, {y}, {self._splat(-2)} : tensor<{ROWS}x{WIDTH}xi1>, {X}")


def drawn(seed: int) -> LayeredProgram:
    """A program of five to eight layers with up to four kinds of steps and any difference, or none."""
    choose = random.Random(seed)
    steps = tuple(choose.choices(STEPS, k=choose.randint(1, 4)))
    difference = choose.choice(("", *DIFFERENCES))
    layers = choose.randint(5, 8)
    return LayeredProgram(layers, steps, difference, choose.randrange(layers), choose.random() < 0.5, seed)
