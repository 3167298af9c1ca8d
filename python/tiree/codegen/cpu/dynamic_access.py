"""Where the elements of a dispatch tensor of dynamic shape lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tiree.codegen.common.linear import ZERO, Lin
from tiree.codegen.common.views import kept_dims
from tiree.dialects.arith import constant_int
from tiree.dialects.hal_executable import InterfaceBindingSubspanOp
from tiree.dialects.iree_tensor_ext import DispatchTensorType
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.typed import ints_of, tensor_type

if TYPE_CHECKING:
    from tiree.codegen.cpu.dynamic_evaluator import DynamicEvaluator


def fail(op: Operation, message: str) -> CompileError:
    return CompileError(Diagnostic(message, location_of(op), "give the tensors of this dispatch static sizes"))


class Access:
    """A load or store of a dispatch tensor: its memory, and where element `idx` of the tensor lies in it."""

    def __init__(self, ev: DynamicEvaluator, op: Operation, bound: SSAValue, segment: int) -> None:
        assert isinstance(bound.type, DispatchTensorType)
        subspan = bound.owner
        if not isinstance(subspan, InterfaceBindingSubspanOp):
            raise fail(op, f"{op.name} of a value that is no binding")
        shape = bound.type.tensor_type.get_shape()
        dims = iter(subspan.dynamic_dims)
        sizes = [next(dims) if size == DYNAMIC_INDEX else size for size in shape]
        self.element = bound.type.tensor_type.element_type
        self.buffer = ev.binding(subspan, [ev.size(size) for size in sizes])
        strides: list[tuple[int | SSAValue, int]] = []
        step, factor = cast("int | SSAValue", 1), 1
        for size in reversed(sizes):
            strides.append((step, factor))
            if isinstance(known := ev.size(size), int):
                factor *= known
            else:
                step = ev.product(step, known)
        self.strides = strides[::-1]
        """Products of sizes, and numbers to multiply them with."""
        segments = ints_of(op.properties["operandSegmentSizes"])
        self.offsets = self._mixed(op, segments, "static_offsets", segment)
        self.steps = self._mixed(op, segments, "static_strides", segment + 2)
        tensor = tensor_type(op.results[0] if op.results else op.operands[0])
        kept = kept_dims(list(ints_of(op.properties["static_sizes"])), tensor.get_shape())
        if kept is None:
            raise fail(op, f"{op.name} of {tensor}, which its sizes do not give")
        self.kept = kept
        """The dimension of memory that each dimension of the tensor is; others have size 1."""

    @staticmethod
    def _mixed(op: Operation, segments: Sequence[int], name: str, segment: int) -> list[int | SSAValue]:
        start = sum(segments[:segment])
        given = iter(op.operands[start : start + segments[segment]])
        found: list[int | SSAValue] = []
        for number in ints_of(op.properties[name]):
            value = next(given) if number == DYNAMIC_INDEX else number
            known = value if isinstance(value, int) else constant_int(value)
            found.append(value if known is None else known)
        return found

    def address(self, ev: DynamicEvaluator, idx: Sequence[Lin]) -> Lin:
        total = ZERO
        at_dim = dict(zip(self.kept, idx, strict=True))
        all_dims = [at_dim.get(dim, ZERO) for dim in range(len(self.strides))]
        for index, offset, step, (stride, factor) in zip(all_dims, self.offsets, self.steps, self.strides, strict=True):
            at = ev.times(index, ev.size(step)) + ev.lin(offset)
            total = total + ev.times(at, stride) * factor
        return total
