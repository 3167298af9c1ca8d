"""The `iree_linalg_ext` dialect: structured ops that IREE's compiler brings in and linalg has no name for.

Operands are inputs, then outputs, as in linalg; each output tensor has a result. Properties have IREE 3.13's names.
Tiree never makes these ops: it reads them in modules that iree-compile printed and lowers them to linalg.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import IsTerminator, Pure


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


class AttentionOp(StructuredOp):
    """softmax(scale * Q K^T [+ mask]) V, with the region applied to the scores; maps as of a generic op."""

    name = "iree_linalg_ext.attention"
    PROPERTIES = ("indexing_maps", "decomposition_config", "operandSegmentSizes")


class OnlineAttentionOp(StructuredOp):
    """A step of attention over a part of the keys; outputs are P V before the division, rows' maxima and sums."""

    name = "iree_linalg_ext.online_attention"
    PROPERTIES = ("indexing_maps", "decomposition_config", "operandSegmentSizes")


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
