"""What a loop kernel reads and writes: cells with a current value, which loops and branches carry through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from tiree.input.factorizations.numbers import Num
from tiree.input.lowering.context import ranked_type, tensor_type

if TYPE_CHECKING:
    from tiree.input.factorizations.kernel import LoopKernel


class Cell:
    """Something with a current value: one SSA value, or two of a complex number."""

    def __init__(self, kernel: LoopKernel, states: Sequence[SSAValue]) -> None:
        self.kernel = kernel
        self.states = states
        kernel.cells.append(self)


class Var(Cell):
    """A scalar variable."""

    def get(self) -> Num:
        return Num(self.kernel, *self.states)

    def set(self, value: Num | int | float) -> None:
        number = value if isinstance(value, Num) else self.kernel.number(value, self.states[0].type)
        parts = [number.re] if len(self.states) == 1 else [number.re, number.imag.re]
        self.states = parts


class Array(Cell):
    """An array of known shape; `a[i, j]` reads an element and `a[i, j] = x` writes one."""

    @property
    def shape(self) -> Sequence[int]:
        return tensor_type(self.states[0]).get_shape()

    @property
    def part_shape(self) -> Sequence[int]:
        """The shape without the first dimension, which may be `?`."""
        type = ranked_type(self.states[0])
        return tensor_type(TensorType(type.element_type, type.get_shape()[1:])).get_shape()

    @property
    def is_complex(self) -> bool:
        return len(self.states) == 2

    def __getitem__(self, at: tuple[Num | int, ...] | Num | int) -> Num:
        indices = self.kernel.indices(at)
        return Num(self.kernel, *[self.kernel.code.extract(state, indices) for state in self.states])

    def __setitem__(self, at: tuple[Num | int, ...] | Num | int, value: Num | int | float) -> None:
        element = ranked_type(self.states[0]).element_type
        number = value if isinstance(value, Num) else self.kernel.number(value, element)
        parts = [number.re] if len(self.states) == 1 else [number.re, number.imag.re]
        indices = self.kernel.indices(at)
        self.states = [
            self.kernel.code.add(
                tensor.InsertOp.create(operands=[part, state, *indices], result_types=[state.type])
            ).results[0]
            for part, state in zip(parts, self.states, strict=True)
        ]


@dataclass(frozen=True)
class Slice:
    """The part of one workgroup of an array with sizes that are known when the program runs."""

    array: Array
    number: Num
    shape: Sequence[Num | int]

    @property
    def is_complex(self) -> bool:
        return self.array.is_complex

    def __getitem__(self, at: tuple[Num | int, ...] | Num | int) -> Num:
        return self.array[(self.number, *(at if isinstance(at, tuple) else (at,)))]

    def __setitem__(self, at: tuple[Num | int, ...] | Num | int, value: Num | int | float) -> None:
        self.array[(self.number, *(at if isinstance(at, tuple) else (at,)))] = value
