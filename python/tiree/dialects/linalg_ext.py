"""Named structured operations of `linalg` as users write them; all become `linalg.generic` in the input stage.

xDSL has a handful of these with their own shapes of definition; here every named op is the same thin class: operands
split into inputs and outputs by `operandSegmentSizes`, and MLIR's own property names. The generic form carries the
scalar body as a region, the pretty form leaves it out; `tiree.input` derives it from the name either way.
`linalg.generic`, `yield`, `index` and `fill` are xDSL's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, StringAttr
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition, param_def, traits_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure

from tiree.dialects.linalg_fill import FillOp

ELEMENTWISE_UNARY = (
    "abs",
    "ceil",
    "erf",
    "exp",
    "floor",
    "log",
    "negf",
    "reciprocal",
    "round",
    "rsqrt",
    "sqrt",
    "square",
    "tanh",
)
ELEMENTWISE_BINARY = ("add", "div", "div_unsigned", "max", "min", "mul", "powf", "sub")
CONTRACTIONS = (
    "matmul",
    "matmul_transpose_a",
    "matmul_transpose_b",
    "batch_matmul",
    "batch_matmul_transpose_a",
    "batch_matmul_transpose_b",
    "batch_reduce_matmul",
    "matvec",
    "vecmat",
    "batch_matvec",
    "batch_vecmat",
    "dot",
    "mmt4d",
    "batch_mmt4d",
    "contract",
)
CONVOLUTIONS = (
    "conv_1d",
    "conv_2d",
    "conv_3d",
    "conv_1d_nwc_wcf",
    "conv_1d_ncw_fcw",
    "conv_2d_nhwc_hwcf",
    "conv_2d_nhwc_fhwc",
    "conv_2d_nchw_fchw",
    "conv_2d_ngchw_fgchw",
    "conv_2d_ngchw_gfchw",
    "conv_2d_nhwgc_gfhwc",
    "conv_3d_ndhwc_dhwcf",
    "conv_3d_ncdhw_fcdhw",
    "depthwise_conv_1d_nwc_wc",
    "depthwise_conv_1d_ncw_cw",
    "depthwise_conv_1d_nwc_wcm",
    "depthwise_conv_2d_nhwc_hwc",
    "depthwise_conv_2d_nchw_chw",
    "depthwise_conv_2d_nhwc_hwcm",
    "depthwise_conv_3d_ndhwc_dhwc",
    "depthwise_conv_3d_ncdhw_cdhw",
    "depthwise_conv_3d_ndhwc_dhwcm",
)
POOLINGS = (
    "pooling_nhwc_sum",
    "pooling_nhwc_max",
    "pooling_nhwc_max_unsigned",
    "pooling_nhwc_min",
    "pooling_nhwc_min_unsigned",
    "pooling_nchw_sum",
    "pooling_nchw_max",
    "pooling_nwc_sum",
    "pooling_nwc_max",
    "pooling_nwc_max_unsigned",
    "pooling_nwc_min",
    "pooling_nwc_min_unsigned",
    "pooling_ncw_sum",
    "pooling_ncw_max",
    "pooling_ndhwc_sum",
    "pooling_ndhwc_max",
    "pooling_ndhwc_min",
)
QUANTIZED = (
    "quantized_matmul",
    "quantized_batch_matmul",
    "conv_2d_nhwc_hwcf_q",
    "conv_2d_nhwc_fhwc_q",
    "conv_2d_nchw_fchw_q",
    "conv_2d_ngchw_gfchw_q",
    "conv_2d_nhwgc_gfhwc_q",
    "conv_3d_ndhwc_dhwcf_q",
    "depthwise_conv_2d_nhwc_hwc_q",
    "depthwise_conv_2d_nhwc_hwcm_q",
)
"""Contractions and convolutions of integers with a zero point for each input, as two more inputs."""
RELAYOUTS = ("softmax", "pack", "unpack")
OTHERS = ("broadcast", "copy", "elementwise", "map", "reduce", "select", "transpose")


class NamedStructuredOp(Operation):
    """A named op on tensors: `ins`, `outs`, one result for each output tensor."""

    PROPERTIES: ClassVar[tuple[str, ...]] = ("operandSegmentSizes",)
    traits = traits_def(Pure())

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        return tuple(self.operands[: self._input_count()])

    @property
    def outputs(self) -> tuple[SSAValue, ...]:
        return tuple(self.operands[self._input_count() :])

    def _input_count(self) -> int:
        sizes = self.properties.get("operandSegmentSizes")
        if isinstance(sizes, DenseArrayBase):
            return int(sizes.get_values()[0])
        return len(self.operands) - max(1, len(self.results))


_EXTRA_PROPERTIES = {
    "broadcast": ("dimensions",),
    "transpose": ("permutation",),
    "reduce": ("dimensions",),
    "elementwise": ("kind", "indexing_maps"),
    "select": (),
    "map": (),
    "copy": ("cast",),
    "softmax": ("dimension",),
    "pack": ("inner_dims_pos", "outer_dims_perm", "static_inner_tiles"),
    "unpack": ("inner_dims_pos", "outer_dims_perm", "static_inner_tiles"),
}


def _named(suffix: str) -> type[NamedStructuredOp]:
    extra: tuple[str, ...] = _EXTRA_PROPERTIES.get(suffix, ())
    if suffix in CONTRACTIONS:
        extra = ("indexing_maps", "cast")
    elif suffix in CONVOLUTIONS or suffix in POOLINGS or "conv" in suffix:
        extra = ("strides", "dilations")
    class_name = "".join(part.capitalize() for part in suffix.split("_")) + "Op"
    # MLIR keeps the segment sizes of unpack among its attributes.
    known = extra if suffix == "unpack" else (*extra, "operandSegmentSizes")
    namespace = {"name": f"linalg.{suffix}", "PROPERTIES": known, "__module__": __name__}
    return type(class_name, (NamedStructuredOp,), namespace)


NAMED: dict[str, type[NamedStructuredOp]] = {
    suffix: _named(suffix)
    for suffix in (
        *ELEMENTWISE_UNARY,
        *ELEMENTWISE_BINARY,
        *CONTRACTIONS,
        *CONVOLUTIONS,
        *QUANTIZED,
        *POOLINGS,
        *RELAYOUTS,
        *OTHERS,
    )
}
"""The class of `linalg.X` by X."""


@irdl_attr_definition
class ElementwiseKindAttr(ParametrizedAttribute):
    """`#linalg.elementwise_kind<add>`: which function `linalg.elementwise` computes."""

    name = "linalg.elementwise_kind"
    kind: StringAttr = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_identifier())]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.kind.data}>")


LinalgExt = Dialect("linalg", [*NAMED.values(), FillOp], [ElementwiseKindAttr])
"""Registered beside, and for the names above instead of, xDSL's `Linalg`."""
