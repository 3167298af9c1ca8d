"""`Draw`: decisions about one program, and the program as it grows. `Drawn` is the finished one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np

from tiree.testing.choices import Choices, chance, pick

Array = np.ndarray[Any, Any]

DTYPES: dict[str, Any] = {
    "i1": np.dtype(np.bool_),
    "i2": np.dtype(ml_dtypes.int2),
    "ui2": np.dtype(ml_dtypes.uint2),
    "i4": np.dtype(ml_dtypes.int4),
    "ui4": np.dtype(ml_dtypes.uint4),
    "i8": np.dtype(np.int8),
    "ui8": np.dtype(np.uint8),
    "i16": np.dtype(np.int16),
    "ui16": np.dtype(np.uint16),
    "i32": np.dtype(np.int32),
    "ui32": np.dtype(np.uint32),
    "i64": np.dtype(np.int64),
    "ui64": np.dtype(np.uint64),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E4M3B11FNUZ": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    "f8E4M3": np.dtype(ml_dtypes.float8_e4m3),
    "f8E3M4": np.dtype(ml_dtypes.float8_e3m4),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu),
    "f6E2M3FN": np.dtype(ml_dtypes.float6_e2m3fn),
    "f6E3M2FN": np.dtype(ml_dtypes.float6_e3m2fn),
    "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
}
"""numpy's types by MLIR's names."""

INTEGERS = ("i32", "i8", "i16", "i64", "ui8", "ui16", "ui32", "ui64")
FLOATS = ("f32", "f64", "f16", "bf16")
COMPLEX = ("complex<f32>", "complex<f64>")
NUMBERS = FLOATS + INTEGERS + COMPLEX
REALS = FLOATS + INTEGERS
ANY = (*NUMBERS, "i1")

_EXTENTS = (2, 3, 1, 4, 5, 7, 8, 13, 16, 17, 33)
_LARGEST = 600


def is_float(element: str) -> bool:
    """Floats of any width."""
    return element[0] in "fb"


def is_complex(element: str) -> bool:
    return element.startswith("complex")


def is_unsigned(element: str) -> bool:
    return element.startswith("ui") or element == "i1"


def bits_of(element: str) -> int:
    """The width of an integer type."""
    return int(element.lstrip("ui"))


def largest_of(dtype: Any) -> float:
    """The largest finite value of a float type."""
    limits: Any = cast("Any", ml_dtypes.finfo)(dtype)
    return float(limits.max)


def tensor(shape: Sequence[int], element: str) -> str:
    """`tensor<2x3xf32>`."""
    return f"tensor<{''.join(f'{extent}x' for extent in shape)}{element}>"


def integers(values: Sequence[int]) -> str:
    """`array<i64: 1, 2>`."""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


@dataclass(frozen=True)
class Value:
    """A value of the program that is drawn."""

    name: str
    shape: tuple[int, ...]
    element: str

    @property
    def type(self) -> str:
        return tensor(self.shape, self.element)


@dataclass
class Drawn:
    """A program whose `main` takes `arguments`."""

    text: str
    arguments: list[Array]
    known: str = ""
    """A program that computes the same by plainer ops, where XLA does not take this one."""


class Draw:
    """Builds the text of one program from decisions."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.arguments: list[tuple[Value, Array]] = []
        self.lines: list[str] = []
        self.functions: list[str] = []

    # Decisions.

    def below(self, limit: int) -> int:
        return self.choices.below(limit)

    def pick(self, options: Sequence[Any]) -> Any:
        return pick(self.choices, options)

    def extent(self, options: Sequence[int]) -> int:
        """One of `options`, as the size of a dimension."""
        return self.pick(options)

    def chance(self, percent: int) -> bool:
        return chance(self.choices, percent)

    def shape(self, lowest: int = 0, highest: int = 4, zero: int = 4) -> tuple[int, ...]:
        """Odd extents, few elements; with `zero` percent one is 0."""
        rank = lowest + self.below(highest - lowest + 1)
        extents: list[int] = []
        room = _LARGEST
        for _ in range(rank):
            extent = self.pick([extent for extent in _EXTENTS if extent <= max(1, room)])
            extents.append(extent)
            room //= extent
        if extents and self.chance(zero):
            extents[self.below(rank)] = 0
        return tuple(extents)

    def permutation(self, rank: int) -> list[int]:
        left, found = list(range(rank)), list[int]()
        while left:
            found.append(left.pop(self.below(len(left))))
        return found

    def subset(self, rank: int, fewest: int = 0) -> list[int]:
        """Some of the numbers below `rank`, in order."""
        while True:
            found = [number for number in range(rank) if self.chance(50)]
            if len(found) >= fewest:
                return found
            if rank == fewest:
                return list(range(rank))

    # Values.

    def values(self, shape: Sequence[int], element: str, low: float = -4.0, high: float = 4.0, edges: int = 8) -> Array:
        """Numbers between `low` and `high`; about `edges` percent are extremes, NaN, infinities and zeros."""
        count = int(np.prod(shape, dtype=np.int64))
        return self._flat(count, element, low, high, edges).reshape(tuple(shape))

    def _flat(self, count: int, element: str, low: float, high: float, edges: int) -> Array:
        dtype = DTYPES[element]
        random = np.random.RandomState(self.below(1 << 31))
        if element == "i1":
            return random.randint(0, 2, count).astype(np.bool_)
        if is_complex(element):
            part = "f32" if element == "complex<f32>" else "f64"
            both = self._flat(2 * count, part, low, high, 0)
            return both.view(dtype)
        is_edge = random.randint(0, 100, count) < edges
        if is_float(element):
            largest = largest_of(dtype)
            with np.errstate(all="ignore"):
                found = random.uniform(low, high, count).astype(dtype)
                special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, largest, -largest, 0.5]).astype(
                    dtype
                )
        else:
            width = bits_of(element)
            bottom, top = (0, 2**width - 1) if is_unsigned(element) else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
            small = random.randint(max(int(low), bottom, -100), min(int(high) + 1, top, 100) + 1, count)
            found = small.astype(dtype)
            special = np.array([0, 1, bottom, top, top - 1, 2], object).astype(dtype)
        return np.where(is_edge, special[random.randint(0, len(special), count)], found).astype(dtype)

    def argument(self, shape: Sequence[int], element: str, **limits: Any) -> Value:
        """An argument of `main` with values as of `values`."""
        return self.given(self.values(shape, element, **limits), element)

    def given(self, array: Array, element: str) -> Value:
        """An argument of `main` that is `array`."""
        value = Value(f"%arg{len(self.arguments)}", array.shape, element)
        self.arguments.append((value, array))
        return value

    # Text.

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        results: Sequence[tuple[Sequence[int], str]],
        properties: str = "",
        regions: Sequence[str] = (),
    ) -> list[Value]:
        """Appends an op in generic form; gives its results."""
        found = [
            Value(f"%{len(self.lines)}#{index}", tuple(shape), element)
            for index, (shape, element) in enumerate(results)
        ]
        body = f" <{{{properties}}}>" if properties else ""
        body += f" ({', '.join(regions)})" if regions else ""
        names = ", ".join(value.name for value in operands)
        types = ", ".join(value.type for value in operands)
        outputs = ", ".join(value.type for value in found)
        self.lines.append(f'%{len(self.lines)}:{len(found)} = "{name}"({names}){body} : ({types}) -> ({outputs})')
        return found

    def one(
        self,
        name: str,
        operands: Sequence[Value],
        shape: Sequence[int],
        element: str,
        properties: str = "",
        regions: Sequence[str] = (),
    ) -> Value:
        """An op of one result."""
        return self.op(name, operands, [(shape, element)], properties, regions)[0]

    def constant(self, array: Array, element: str) -> Value:
        """A constant of integers or booleans."""
        text = str(array.tolist()).lower() if array.size else ""
        type = tensor(array.shape, element)
        return self.one("stablehlo.constant", [], array.shape, element, f"value = dense<{text}> : {type}")

    def scalar(self, number: float, element: str) -> Value:
        """A constant of rank 0."""
        text = repr(float(number)) if is_float(element) else str(int(number))
        if element == "i1":
            text = str(bool(number)).lower()
        if is_complex(element):
            text = f"({float(number)!r}, 0.0)"
        return self.one("stablehlo.constant", [], (), element, f"value = dense<{text}> : {tensor((), element)}")

    def done(self, results: Sequence[Value]) -> Drawn:
        """The program that returns `results`."""
        inputs = ", ".join(f"{value.name}: {value.type}" for value, _ in self.arguments)
        outputs = ", ".join(value.type for value in results)
        names = ", ".join(value.name for value in results)
        body = "".join(f"  {line}\n" for line in self.lines)
        main = f"func.func @main({inputs}) -> ({outputs}) {{\n{body}  return {names} : {outputs}\n}}\n"
        return Drawn(main + "".join(self.functions), [array for _, array in self.arguments])


Drawer = Callable[[Draw, str, str], Drawn]
"""From decisions, the op's name and an element type to a program."""


@dataclass(frozen=True)
class Entry:
    """What draws programs for an op, and the element types it has."""

    draw: Drawer
    elements: tuple[str, ...]


def body(name: str, element: str, operands: int = 2) -> str:
    """A region of rank-0 arguments that returns one op of them: the body of a reduction."""
    type = tensor((), element)
    arguments = ", ".join(f"%x{index}: {type}" for index in range(operands))
    names = ", ".join(f"%x{index}" for index in range(operands))
    types = ", ".join([type] * operands)
    return (
        f'{{\n  ^bb0({arguments}):\n    %y = "{name}"({names}) : ({types}) -> {type}\n'
        f'    "stablehlo.return"(%y) : ({type}) -> ()\n  }}'
    )
