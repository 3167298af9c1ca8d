"""The operations of CHLO that JAX emits: StableHLO's client dialect of functions without a StableHLO op of their own.

Thin classes, as in `dialects/stablehlo.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Data, Dialect, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tiree.dialects.stablehlo_attrs import Dims, StructAttr
from tiree.dialects.stablehlo_base import BinaryOp, PureOp, StableHLOOp, UnaryOp


@irdl_attr_definition
class ComparisonDirectionAttr(Data[str], SpacedOpaqueSyntaxAttribute):
    """`#chlo<comparison_direction LT>`."""

    name = "chlo.comparison_direction"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        return parser.parse_identifier(context_msg=": a comparison direction")

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.data)


@irdl_attr_definition
class ComparisonTypeAttr(Data[str], SpacedOpaqueSyntaxAttribute):
    """`#chlo<comparison_type FLOAT>`."""

    name = "chlo.comparison_type"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        return parser.parse_identifier(context_msg=": a comparison type")

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.data)


@dataclass(frozen=True)
class RaggedDotDimensionNumbers:
    lhs_batching_dimensions: Dims = ()
    rhs_batching_dimensions: Dims = ()
    lhs_contracting_dimensions: Dims = ()
    rhs_contracting_dimensions: Dims = ()
    lhs_ragged_dimensions: Dims = ()
    rhs_group_dimensions: Dims = ()


@irdl_attr_definition
class RaggedDotDimensionNumbersAttr(StructAttr[RaggedDotDimensionNumbers]):
    name = "chlo.ragged_dot"
    STRUCT = RaggedDotDimensionNumbers
    COMPLETE = True


class AcosOp(UnaryOp):
    name = "chlo.acos"


class AcoshOp(UnaryOp):
    name = "chlo.acosh"


class AsinAcosKernelOp(UnaryOp):
    name = "chlo._asin_acos_kernel"


class AsinOp(UnaryOp):
    name = "chlo.asin"


class AsinhOp(UnaryOp):
    name = "chlo.asinh"


class AtanOp(UnaryOp):
    name = "chlo.atan"


class AtanhOp(UnaryOp):
    name = "chlo.atanh"


class BesselI1eOp(UnaryOp):
    name = "chlo.bessel_i1e"


class ConjOp(UnaryOp):
    name = "chlo.conj"


class CoshOp(UnaryOp):
    name = "chlo.cosh"


class DigammaOp(UnaryOp):
    name = "chlo.digamma"


class ErfInvOp(UnaryOp):
    name = "chlo.erf_inv"


class ErfOp(UnaryOp):
    name = "chlo.erf"


class ErfcOp(UnaryOp):
    name = "chlo.erfc"


class IsInfOp(UnaryOp):
    name = "chlo.is_inf"


class IsNegInfOp(UnaryOp):
    name = "chlo.is_neg_inf"


class IsPosInfOp(UnaryOp):
    name = "chlo.is_pos_inf"


class LgammaOp(UnaryOp):
    name = "chlo.lgamma"


class SinhOp(UnaryOp):
    name = "chlo.sinh"


class SquareOp(UnaryOp):
    name = "chlo.square"


class TanOp(UnaryOp):
    name = "chlo.tan"


class MulhiOp(BinaryOp):
    name = "chlo.mulhi"


class NextAfterOp(BinaryOp):
    name = "chlo.next_after"


class PolygammaOp(BinaryOp):
    name = "chlo.polygamma"


class ZetaOp(BinaryOp):
    name = "chlo.zeta"


class ConstantOp(PureOp):
    name = "chlo.constant"
    PROPERTIES = ("value",)


class ConstantLikeOp(PureOp):
    name = "chlo.constant_like"
    PROPERTIES = ("value",)


class RaggedDotOp(PureOp):
    name = "chlo.ragged_dot"
    PROPERTIES = ("ragged_dot_dimension_numbers", "precision_config")


class ScanOp(PureOp):
    name = "chlo.scan"
    PROPERTIES = (
        "dimension",
        "scan_dim_size",
        "is_reverse",
        "is_associative",
        "operandSegmentSizes",
        "resultSegmentSizes",
    )


class TopKOp(PureOp):
    name = "chlo.top_k"
    PROPERTIES = ("k", "is_stable")


class _BroadcastingOp(BinaryOp):
    """A binary op with numpy-style broadcasting of its operands."""

    PROPERTIES = ("broadcast_dimensions",)


class BroadcastCompareOp(_BroadcastingOp):
    name = "chlo.broadcast_compare"
    PROPERTIES = ("broadcast_dimensions", "comparison_direction", "compare_type")


class BroadcastSelectOp(PureOp):
    name = "chlo.broadcast_select"


def _broadcasting(suffix: str) -> type[StableHLOOp]:
    class_name = "Broadcast" + "".join(part.capitalize() for part in suffix.split("_")) + "Op"
    return type(class_name, (_BroadcastingOp,), {"name": f"chlo.broadcast_{suffix}", "__module__": __name__})


BROADCASTING: dict[str, type[StableHLOOp]] = {
    suffix: _broadcasting(suffix)
    for suffix in (
        "add",
        "and",
        "atan2",
        "complex",
        "divide",
        "maximum",
        "minimum",
        "multiply",
        "next_after",
        "or",
        "polygamma",
        "power",
        "remainder",
        "shift_left",
        "shift_right_arithmetic",
        "shift_right_logical",
        "subtract",
        "xor",
        "zeta",
    )
}
"""`chlo.broadcast_X` by X, for the ops that have a plain counterpart named X."""

OPS: dict[str, type[StableHLOOp]] = {
    op.name: op
    for op in globals().values()
    if isinstance(op, type) and "name" in vars(op) and issubclass(op, StableHLOOp)
} | {op.name: op for op in BROADCASTING.values()}

CHLO = Dialect("chlo", [*OPS.values()], [ComparisonDirectionAttr, ComparisonTypeAttr, RaggedDotDimensionNumbersAttr])
