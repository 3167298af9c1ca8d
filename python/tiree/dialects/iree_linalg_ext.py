"""The `iree_linalg_ext` dialect: structured ops that IREE's compiler brings in and linalg has no name for.

Operands are inputs, then outputs, as in linalg; each output tensor has a result. Properties have IREE 3.13's names.
Tiree reads them in modules that iree-compile printed and lowers them to linalg; of its own it makes `attention` alone.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, DenseArrayBase
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.irdl import traits_def
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tiree.support.typed import is_array_attr, is_tensor_type


class StructuredOp(Operation):
    """An op on tensors: `ins`, `outs`, a result for each output. `INPUTS` are how many inputs it has; -1: as segments
    say."""

    PROPERTIES: ClassVar[tuple[str, ...]] = ()
    INPUTS: ClassVar[int] = -1
    traits = traits_def(Pure())

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        return tuple(self.operands[: self._input_count()])

    @property
    def outputs(self) -> tuple[SSAValue, ...]:
        return tuple(self.operands[self._input_count() :])

    def _input_count(self) -> int:
        sizes = self.properties.get("operandSegmentSizes", self.attributes.get("operandSegmentSizes"))
        if isinstance(sizes, DenseArrayBase):
            return int(sizes.get_values()[0])
        return self.INPUTS if self.INPUTS >= 0 else len(self.operands) - len(self.results)


class ScanOp(StructuredOp):
    """Running combination along `dimension`; `inclusive` counts the element itself.

    Outputs are the result and the start (of one rank less), which takes the last value.
    """

    name = "iree_linalg_ext.scan"
    PROPERTIES = ("dimension", "inclusive")
    INPUTS = 1


class SortOp(StructuredOp):
    """The outputs sorted together along `dimension`; the region says whether its first element comes first."""

    name = "iree_linalg_ext.sort"
    PROPERTIES = ("dimension", "operandSegmentSizes")
    INPUTS = 0


class TopkOp(StructuredOp):
    """The first elements along `dimension` in the order of the region, and where they were.

    Inputs are the values and perhaps their indices; outputs the values and the indices.
    """

    name = "iree_linalg_ext.topk"
    PROPERTIES = ("dimension",)


class ScatterOp(StructuredOp):
    """The output with updates combined into it at indices; `dimension_map` names the dimensions that are indexed."""

    name = "iree_linalg_ext.scatter"
    PROPERTIES = ("dimension_map", "unique_indices", "operandSegmentSizes")
    INPUTS = 2


class GatherOp(StructuredOp):
    """Slices of the source at indices; `dimension_map` names the dimensions that are indexed."""

    name = "iree_linalg_ext.gather"
    PROPERTIES = ("dimension_map", "operandSegmentSizes")
    INPUTS = 2


class _MappedOp(StructuredOp):
    """An op whose operands are indexed by loops, as those of a generic op are."""

    PROPERTIES = ("indexing_maps", "decomposition_config", "operandSegmentSizes")

    def verify_(self) -> None:
        """Each operand has a map of its rank, and loops have one extent."""
        maps = self.properties.get("indexing_maps")
        if not is_array_attr(maps) or len(maps.data) != len(self.operands):
            raise VerifyException(f"needs indexing_maps, one for each of the {len(self.operands)} operands")
        extents: dict[int, tuple[int, int]] = {}
        for number, (operand, one) in enumerate(zip(self.operands, maps.data, strict=True)):
            shape = operand.type.get_shape() if is_tensor_type(operand.type) else ()
            if not isinstance(one, AffineMapAttr) or len(one.data.results) != len(shape):
                raise VerifyException(f"operand {number} of type {operand.type} has the map {one}")
            for dim, (expr, size) in enumerate(zip(one.data.results, shape, strict=True)):
                if not isinstance(expr, AffineDimExpr) or size == DYNAMIC_INDEX:
                    continue
                first, wanted = extents.setdefault(expr.position, (number, size))
                if wanted != size:
                    what = f"dimension {dim} of operand {number} is {size}"
                    raise VerifyException(f"{what}; needs {wanted} as operand {first} has it for d{expr.position}")


class AttentionOp(_MappedOp):
    """softmax(scale * Q K^T [+ mask]) V, with the region applied to the scores; maps as of a generic op."""

    name = "iree_linalg_ext.attention"


class OnlineAttentionOp(_MappedOp):
    """A step of attention over a part of the keys; outputs are P V before the division, rows' maxima and sums."""

    name = "iree_linalg_ext.online_attention"


class IndexOp(Operation):
    """The index of a dimension, in a region of this dialect."""

    name = "iree_linalg_ext.index"
    PROPERTIES: ClassVar[tuple[str, ...]] = ("dim",)
    traits = traits_def(Pure())


class YieldOp(Operation):
    """Ends a region of this dialect."""

    name = "iree_linalg_ext.yield"
    PROPERTIES: ClassVar[tuple[str, ...]] = ()
    traits = traits_def(IsTerminator())


IREELinalgExt = Dialect(
    "iree_linalg_ext",
    [ScanOp, SortOp, TopkOp, ScatterOp, GatherOp, AttentionOp, OnlineAttentionOp, IndexOp, YieldOp],
    [],
)
