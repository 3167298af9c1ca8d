"""`Node`: one ONNX operator with its operands converted; attributes and constants are read by their names here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, StringAttr, TensorType
from xdsl.ir import Attribute, SSAValue

from tiree.dialects import torch
from tiree.dialects.dense import DenseAttr
from tiree.input.expansions.build import element_of, shape_of
from tiree.input.lowering.context import Unsupported
from tiree.input.onnx.build import Array, OnnxBuild, rank_of
from tiree.support.typed import is_array_attr, is_float_attr, is_integer_attr

if TYPE_CHECKING:
    from tiree.input.onnx.graph import GraphConversion

PREFIX = "torch.onnx."


@dataclass
class Node:
    """An operator of opset `version`. `values` are its operands; None where one is left out."""

    op: torch.OperatorOp
    values: Sequence[SSAValue | None]
    version: int
    graph: GraphConversion
    build: OnnxBuild

    # Operands.

    def __len__(self) -> int:
        return len(self.values)

    def optional(self, index: int) -> SSAValue | None:
        return self.values[index] if index < len(self.values) else None

    def input(self, index: int) -> SSAValue:
        found = self.optional(index)
        if found is None:
            raise Unsupported(f"without operand {index}")
        return found

    def inputs(self) -> list[SSAValue]:
        return [self.input(index) for index in range(len(self.values))]

    def numbers(self, index: int) -> Array | None:
        """The values of an operand that is constant."""
        return self.graph.numbers(self.op.operands[index]) if self.optional(index) is not None else None

    def constant(self, index: int, what: str) -> Array:
        """The same. Raises `Unsupported` for one that is known late only."""
        found = self.numbers(index)
        if found is None:
            raise Unsupported(f"with {what} that are not constant")
        return found

    # Attributes.

    def attribute(self, name: str) -> Attribute | None:
        return self.op.attributes.get(PREFIX + name)

    def int(self, name: str, default: int | None = None) -> int:
        found = self.attribute(name)
        if is_integer_attr(found):
            return found.value.data
        if default is None:
            raise Unsupported(f"without the attribute {name}")
        return default

    def has(self, name: str) -> bool:
        return self.attribute(name) is not None

    def float(self, name: str, default: float | None = None) -> float:
        found = self.attribute(name)
        if is_float_attr(found):
            return found.value.data
        if default is None:
            raise Unsupported(f"without the attribute {name}")
        return default

    def string(self, name: str, default: str = "") -> str:
        found = self.attribute(name)
        return found.data if isinstance(found, StringAttr) else default

    def ints(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        found = self.attribute(name)
        if is_array_attr(found):
            return [entry.value.data for entry in found.data if is_integer_attr(entry)]
        if default is None:
            raise Unsupported(f"without the attribute {name}")
        return list(default)

    def floats(self, name: str, default: Sequence[float] = ()) -> list[float]:
        found = self.attribute(name)
        if is_array_attr(found):
            return [entry.value.data for entry in found.data if is_float_attr(entry)]
        return list(default)

    def strings(self, name: str, default: Sequence[str] = ()) -> list[str]:
        found = self.attribute(name)
        if is_array_attr(found):
            return [entry.data for entry in found.data if isinstance(entry, StringAttr)]
        return list(default)

    def dense(self, name: str) -> DenseAttr | None:
        found = self.attribute(name)
        return found if isinstance(found, DenseAttr) else None

    # Axes.

    def axis(self, default: int | None, rank: int, name: str = "axis") -> int:
        return normalized(self.int(name, default), rank)

    def axes(self, rank: int, since: int, index: int = 1) -> list[int] | None:
        """`axes`, which are operand `index` from opset `since` on and an attribute before; None if left out."""
        if self.version >= since and not self.has("axes"):
            if self.optional(index) is None:
                return None
            found = [int(axis) for axis in self.constant(index, "axes").reshape(-1)]
        elif self.has("axes"):
            found = self.ints("axes")
        else:
            return None
        return [normalized(axis, rank) for axis in found]

    # Results.

    def declared(self, index: int = 0) -> TensorType | None:
        """The type in the text, where that says a rank: the importer writes 0 where it knows none."""
        type = self.op.results[index].type
        found = torch.tensor_of(type) if isinstance(type, torch.VTensorType) else None
        return found if found is not None and found.get_shape() else None

    def static_result(self, index: int = 0) -> tuple[int, ...] | None:
        """The shape in the text, where it has no `?`."""
        declared = self.declared(index)
        if declared is None or DYNAMIC_INDEX in declared.get_shape():
            return None
        return declared.get_shape()

    def is_used(self, index: int) -> bool:
        """Whether result `index` is there and somebody reads it."""
        return index < len(self.op.results) and self.op.results[index].first_use is not None

    def static(self, index: int) -> tuple[int, ...]:
        """The shape of an operand. Raises `Unsupported` where it has `?`."""
        shape = shape_of(self.input(index))
        if DYNAMIC_INDEX in shape:
            raise Unsupported(f"on an operand of the dynamic shape {self.input(index).type}")
        return shape

    def rank(self, index: int = 0) -> int:
        return rank_of(self.input(index))

    def element(self, index: int = 0) -> Attribute:
        return element_of(self.input(index))


def normalized(axis: int, rank: int) -> int:
    """An axis counted from the front. Raises `Unsupported` for one that is not there."""
    if not -max(rank, 1) <= axis < max(rank, 1):
        raise Unsupported(f"along axis {axis} of a tensor of rank {rank}")
    return axis % max(rank, 1)


Conversion: TypeAlias = Callable[[Node], "Sequence[SSAValue | None] | SSAValue"]
"""Makes the results of a node; None for one that nobody reads."""
