"""The operations of StableHLO 1.x: names, properties and regions, no assembly formats.

Classes are thin on purpose: a module is read once and lowered op by op right away (`tiree.input`), so an op is its
name, its operands and the properties named in `PROPERTIES` (StableHLO's own names in the generic form). They derive
from xDSL's `Operation` directly because IRDL definitions would cost more at import than all else in this file. Shapes
and element types are checked where the ops are lowered.
"""

from __future__ import annotations

from xdsl.ir import Dialect
from xdsl.irdl import traits_def
from xdsl.traits import IsTerminator, Pure

from tiree.dialects import stablehlo_attrs, stablehlo_distributed
from tiree.dialects.stablehlo_base import BinaryOp, ElementwiseOp, PureOp, StableHLOOp, UnaryOp


# Elementwise, one operand.
class AbsOp(UnaryOp):
    name = "stablehlo.abs"


class CbrtOp(UnaryOp):
    name = "stablehlo.cbrt"


class CeilOp(UnaryOp):
    name = "stablehlo.ceil"


class ConvertOp(UnaryOp):
    name = "stablehlo.convert"


class CosineOp(UnaryOp):
    name = "stablehlo.cosine"


class CountLeadingZerosOp(UnaryOp):
    name = "stablehlo.count_leading_zeros"


class ExponentialOp(UnaryOp):
    name = "stablehlo.exponential"


class ExponentialMinusOneOp(UnaryOp):
    name = "stablehlo.exponential_minus_one"


class FloorOp(UnaryOp):
    name = "stablehlo.floor"


class ImagOp(UnaryOp):
    name = "stablehlo.imag"


class IsFiniteOp(UnaryOp):
    name = "stablehlo.is_finite"


class LogOp(UnaryOp):
    name = "stablehlo.log"


class LogPlusOneOp(UnaryOp):
    name = "stablehlo.log_plus_one"


class LogisticOp(UnaryOp):
    name = "stablehlo.logistic"


class NegateOp(UnaryOp):
    name = "stablehlo.negate"


class NotOp(UnaryOp):
    name = "stablehlo.not"


class PopulationCountOp(UnaryOp):
    name = "stablehlo.popcnt"


class RealOp(UnaryOp):
    name = "stablehlo.real"


class ReducePrecisionOp(UnaryOp):
    name = "stablehlo.reduce_precision"
    PROPERTIES = ("exponent_bits", "mantissa_bits")


class RoundNearestAfzOp(UnaryOp):
    name = "stablehlo.round_nearest_afz"


class RoundNearestEvenOp(UnaryOp):
    name = "stablehlo.round_nearest_even"


class RsqrtOp(UnaryOp):
    name = "stablehlo.rsqrt"


class SignOp(UnaryOp):
    name = "stablehlo.sign"


class SineOp(UnaryOp):
    name = "stablehlo.sine"


class SqrtOp(UnaryOp):
    name = "stablehlo.sqrt"


class TanOp(UnaryOp):
    name = "stablehlo.tan"


class TanhOp(UnaryOp):
    name = "stablehlo.tanh"


class UniformDequantizeOp(UnaryOp):
    name = "stablehlo.uniform_dequantize"


class UniformQuantizeOp(UnaryOp):
    name = "stablehlo.uniform_quantize"


# Elementwise, two and three operands.
class AddOp(BinaryOp):
    name = "stablehlo.add"


class AndOp(BinaryOp):
    name = "stablehlo.and"


class Atan2Op(BinaryOp):
    name = "stablehlo.atan2"


class ComplexOp(BinaryOp):
    name = "stablehlo.complex"


class DivOp(BinaryOp):
    name = "stablehlo.divide"


class MaxOp(BinaryOp):
    name = "stablehlo.maximum"


class MinOp(BinaryOp):
    name = "stablehlo.minimum"


class MulOp(BinaryOp):
    name = "stablehlo.multiply"


class OrOp(BinaryOp):
    name = "stablehlo.or"


class PowOp(BinaryOp):
    name = "stablehlo.power"


class RemOp(BinaryOp):
    name = "stablehlo.remainder"


class ShiftLeftOp(BinaryOp):
    name = "stablehlo.shift_left"


class ShiftRightArithmeticOp(BinaryOp):
    name = "stablehlo.shift_right_arithmetic"


class ShiftRightLogicalOp(BinaryOp):
    name = "stablehlo.shift_right_logical"


class SubtractOp(BinaryOp):
    name = "stablehlo.subtract"


class XorOp(BinaryOp):
    name = "stablehlo.xor"


class CompareOp(BinaryOp):
    name = "stablehlo.compare"
    PROPERTIES = ("comparison_direction", "compare_type")


class SelectOp(ElementwiseOp):
    name = "stablehlo.select"


class ClampOp(ElementwiseOp):
    name = "stablehlo.clamp"


# Constants and shapes.
class ConstantOp(PureOp):
    name = "stablehlo.constant"
    PROPERTIES = ("value",)


class IotaOp(PureOp):
    name = "stablehlo.iota"
    PROPERTIES = ("iota_dimension",)


class DynamicIotaOp(PureOp):
    name = "stablehlo.dynamic_iota"
    PROPERTIES = ("iota_dimension",)


class BitcastConvertOp(PureOp):
    name = "stablehlo.bitcast_convert"


class BroadcastOp(PureOp):
    name = "stablehlo.broadcast"
    PROPERTIES = ("broadcast_sizes",)


class BroadcastInDimOp(PureOp):
    name = "stablehlo.broadcast_in_dim"
    PROPERTIES = ("broadcast_dimensions",)


class DynamicBroadcastInDimOp(PureOp):
    name = "stablehlo.dynamic_broadcast_in_dim"
    PROPERTIES = ("broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions")


class ConcatenateOp(PureOp):
    name = "stablehlo.concatenate"
    PROPERTIES = ("dimension",)


class DynamicPadOp(PureOp):
    name = "stablehlo.dynamic_pad"


class DynamicReshapeOp(PureOp):
    name = "stablehlo.dynamic_reshape"


class DynamicSliceOp(PureOp):
    name = "stablehlo.dynamic_slice"
    PROPERTIES = ("slice_sizes",)


class DynamicUpdateSliceOp(PureOp):
    name = "stablehlo.dynamic_update_slice"


class GetDimensionSizeOp(PureOp):
    name = "stablehlo.get_dimension_size"
    PROPERTIES = ("dimension",)


class PadOp(PureOp):
    name = "stablehlo.pad"
    PROPERTIES = ("edge_padding_low", "edge_padding_high", "interior_padding")


class RealDynamicSliceOp(PureOp):
    name = "stablehlo.real_dynamic_slice"


class ReshapeOp(PureOp):
    name = "stablehlo.reshape"


class ReverseOp(PureOp):
    name = "stablehlo.reverse"
    PROPERTIES = ("dimensions",)


class SetDimensionSizeOp(PureOp):
    name = "stablehlo.set_dimension_size"
    PROPERTIES = ("dimension",)


class SliceOp(PureOp):
    name = "stablehlo.slice"
    PROPERTIES = ("start_indices", "limit_indices", "strides")


class TorchIndexSelectOp(PureOp):
    name = "stablehlo.torch_index_select"
    PROPERTIES = ("dim", "batch_dims")


class TransposeOp(PureOp):
    name = "stablehlo.transpose"
    PROPERTIES = ("permutation",)


# Gather, scatter, sort, windows, reductions. Bodies are regions that end in stablehlo.return.
class GatherOp(PureOp):
    name = "stablehlo.gather"
    PROPERTIES = ("dimension_numbers", "slice_sizes", "indices_are_sorted")


class DynamicGatherOp(PureOp):
    name = "stablehlo.dynamic_gather"
    PROPERTIES = ("dimension_numbers", "indices_are_sorted")


class ScatterOp(PureOp):
    """Operands: inputs, scatter_indices, updates (as many as inputs)."""

    name = "stablehlo.scatter"
    PROPERTIES = ("scatter_dimension_numbers", "indices_are_sorted", "unique_indices")


class SelectAndScatterOp(PureOp):
    name = "stablehlo.select_and_scatter"
    PROPERTIES = ("window_dimensions", "window_strides", "padding")


class SortOp(PureOp):
    name = "stablehlo.sort"
    PROPERTIES = ("dimension", "is_stable")


class MapOp(PureOp):
    name = "stablehlo.map"
    PROPERTIES = ("dimensions",)


class ReduceOp(PureOp):
    """Operands: inputs, then as many initial values."""

    name = "stablehlo.reduce"
    PROPERTIES = ("dimensions",)


class ReduceWindowOp(PureOp):
    name = "stablehlo.reduce_window"
    PROPERTIES = ("window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding")


# Contractions and linear algebra.
class DotOp(PureOp):
    name = "stablehlo.dot"
    PROPERTIES = ("precision_config",)


class DotGeneralOp(PureOp):
    name = "stablehlo.dot_general"
    PROPERTIES = ("dot_dimension_numbers", "precision_config", "algorithm")


class EinsumOp(PureOp):
    name = "stablehlo.einsum"
    PROPERTIES = ("einsum_config",)


class UnaryEinsumOp(PureOp):
    name = "stablehlo.unary_einsum"
    PROPERTIES = ("einsum_config",)


class ConvolutionOp(PureOp):
    name = "stablehlo.convolution"
    PROPERTIES = (
        "window_strides",
        "padding",
        "lhs_dilation",
        "rhs_dilation",
        "window_reversal",
        "dimension_numbers",
        "feature_group_count",
        "batch_group_count",
        "precision_config",
    )


class DynamicConvOp(PureOp):
    name = "stablehlo.dynamic_conv"
    PROPERTIES = ConvolutionOp.PROPERTIES


class CholeskyOp(PureOp):
    name = "stablehlo.cholesky"
    PROPERTIES = ("lower",)


class TriangularSolveOp(PureOp):
    name = "stablehlo.triangular_solve"
    PROPERTIES = ("left_side", "lower", "unit_diagonal", "transpose_a")


class FftOp(PureOp):
    name = "stablehlo.fft"
    PROPERTIES = ("fft_type", "fft_length")


class BatchNormGradOp(PureOp):
    name = "stablehlo.batch_norm_grad"
    PROPERTIES = ("epsilon", "feature_index")


class BatchNormInferenceOp(PureOp):
    name = "stablehlo.batch_norm_inference"
    PROPERTIES = ("epsilon", "feature_index")


class BatchNormTrainingOp(PureOp):
    name = "stablehlo.batch_norm_training"
    PROPERTIES = ("epsilon", "feature_index")


# Control flow and calls.
class ReturnOp(StableHLOOp):
    name = "stablehlo.return"
    traits = traits_def(IsTerminator(), Pure())


class CaseOp(StableHLOOp):
    name = "stablehlo.case"


class IfOp(StableHLOOp):
    name = "stablehlo.if"


class WhileOp(StableHLOOp):
    """Regions: cond, body."""

    name = "stablehlo.while"


class CompositeOp(StableHLOOp):
    name = "stablehlo.composite"
    PROPERTIES = ("name", "composite_attributes", "decomposition", "version")


class CustomCallOp(StableHLOOp):
    name = "stablehlo.custom_call"
    PROPERTIES = (
        "call_target_name",
        "has_side_effect",
        "backend_config",
        "api_version",
        "called_computations",
        "operand_layouts",
        "result_layouts",
        "output_operand_aliases",
    )


class OptimizationBarrierOp(PureOp):
    name = "stablehlo.optimization_barrier"


class TupleOp(PureOp):
    name = "stablehlo.tuple"


class GetTupleElementOp(PureOp):
    name = "stablehlo.get_tuple_element"
    PROPERTIES = ("index",)


class AfterAllOp(PureOp):
    name = "stablehlo.after_all"


class CreateTokenOp(PureOp):
    name = "stablehlo.create_token"


OPS: dict[str, type[StableHLOOp]] = {
    op.name: op
    for op in [*globals().values(), *vars(stablehlo_distributed).values()]
    if isinstance(op, type) and issubclass(op, StableHLOOp) and "name" in vars(op)
}

StableHLO = Dialect("stablehlo", [*OPS.values()], [*stablehlo_attrs.ATTRIBUTES])
