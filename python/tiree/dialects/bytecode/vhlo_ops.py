"""VHLO's operations, of every version, as the StableHLO operations that they stand for.

VHLO spells out what StableHLO leaves away, and takes structs apart: defaults are dropped, structs put together. An
older version of an operation lacks attributes; what it means without them is the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    NoneType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation

from tiree.dialects import stablehlo_attrs
from tiree.dialects.dense import DenseAttr
from tiree.support.typed import int_of, is_array_attr, is_integer_attr, string_of

_CONV = (
    "input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension "
    "kernel_output_feature_dimension kernel_spatial_dimensions output_batch_dimension output_feature_dimension "
    "output_spatial_dimensions"
)
_DOT = "lhs_batching_dimensions rhs_batching_dimensions lhs_contracting_dimensions rhs_contracting_dimensions"
_ALGORITHM = (
    "lhs_precision_type rhs_precision_type accumulation_type lhs_component_count rhs_component_count "
    "num_primitive_operations allow_imprecise_accumulation"
)
_GATHER = "offset_dims collapsed_slice_dims start_index_map index_vector_dim"
_SCATTER = "update_window_dims inserted_window_dims scatter_dims_to_operand_dims index_vector_dim"
_CALL = (
    "call_target_name has_side_effect backend_config api_version called_computations operand_layouts result_layouts "
    "output_operand_aliases"
)
_WINDOWED = "window_strides lhs_dilation rhs_dilation window_reversal feature_group_count batch_group_count"
_GROUPS = "replica_groups channel_id"
_ACCURATE = (
    "cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "rsqrt", "sine",
    "sqrt", "tan", "tanh",
)  # fmt: skip
_PLAIN = (
    "abs add after_all and async_done async_start atan2 bitcast_convert case ceil clamp complex convert "
    "count_leading_zeros create_token divide dynamic_pad dynamic_reshape dynamic_update_slice floor if imag is_finite "
    "maximum minimum multiply negate not optimization_barrier or partition_id popcnt power real real_dynamic_slice "
    "remainder replica_id reshape return round_nearest_afz round_nearest_even select shift_left "
    "shift_right_arithmetic shift_right_logical sign subtract tuple uniform_dequantize uniform_quantize while xor"
)
_ATTRIBUTES: dict[str, str] = {
    **{f"{name}_v1": "" for name in (*_PLAIN.split(), *_ACCURATE)},
    **{f"{name}_v2": "result_accuracy" for name in _ACCURATE},
    **dict.fromkeys(("all_gather_v1", "all_gather_v2"), f"all_gather_dim {_GROUPS} use_global_device_ids"),
    **dict.fromkeys(("all_reduce_v1", "all_reduce_v2"), f"{_GROUPS} use_global_device_ids"),
    **dict.fromkeys(("all_to_all_v1", "all_to_all_v2"), f"split_dimension concat_dimension split_count {_GROUPS}"),
    **dict.fromkeys(
        ("batch_norm_grad_v1", "batch_norm_inference_v1", "batch_norm_training_v1"), "epsilon feature_index"
    ),
    "broadcast_in_dim_v1": "broadcast_dimensions",
    "broadcast_v1": "broadcast_sizes",
    "call_v1": "callee",
    "cholesky_v1": "lower",
    "collective_broadcast_v1": _GROUPS,
    "collective_broadcast_v2": f"{_GROUPS} has_dynamic_root",
    "collective_permute_v1": "source_target_pairs channel_id",
    "collective_reduce_v1": f"{_GROUPS} use_global_device_ids has_dynamic_root",
    "compare_v1": "comparison_direction compare_type",
    **dict.fromkeys(("composite_v1", "composite_v2"), "name composite_attributes decomposition version"),
    "concatenate_v1": "dimension",
    "constant_v1": "value",
    "convolution_v1": f"{_WINDOWED} padding {_CONV} precision_config",
    "cross-replica-sum_v1": "replica_groups",
    "custom_call_v1": _CALL,
    "custom_call_v2": f"{_CALL} result_tilings",
    "dot_general_v1": f"{_DOT} precision_config",
    "dot_general_v2": f"{_DOT} precision_config {_ALGORITHM}",
    "dot_v1": "precision_config",
    "dynamic_broadcast_in_dim_v1": "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions",
    "dynamic_conv_v1": f"{_WINDOWED} padding {_CONV} precision_config",
    "dynamic_conv_v2": f"{_WINDOWED} {_CONV} precision_config",
    "dynamic_gather_v1": f"{_GATHER} indices_are_sorted",
    "dynamic_gather_v2": f"{_GATHER} operand_batching_dims start_indices_batching_dims indices_are_sorted",
    "dynamic_iota_v1": "iota_dimension",
    "dynamic_slice_v1": "slice_sizes",
    "einsum_v1": "einsum_config",
    "fft_v1": "fft_type fft_length",
    "func_v1": "sym_name function_type sym_visibility arg_attrs res_attrs",
    "gather_v1": f"{_GATHER} slice_sizes indices_are_sorted",
    "gather_v2": f"{_GATHER} operand_batching_dims start_indices_batching_dims slice_sizes indices_are_sorted",
    "get_dimension_size_v1": "dimension",
    "get_tuple_element_v1": "index",
    "infeed_v1": "infeed_config layout",
    "iota_v1": "iota_dimension",
    "map_v1": "dimensions",
    "outfeed_v1": "outfeed_config",
    "pad_v1": "edge_padding_low edge_padding_high interior_padding",
    "recv_v1": "channel_id channel_type is_host_transfer",
    "recv_v2": "channel_id channel_type is_host_transfer source_target_pairs",
    "reduce_precision_v1": "exponent_bits mantissa_bits",
    "reduce_scatter_v1": f"scatter_dimension {_GROUPS} use_global_device_ids",
    "reduce_v1": "dimensions",
    "reduce_window_v1": "window_dimensions window_strides base_dilations window_dilations padding",
    "reverse_v1": "dimensions",
    "rng_bit_generator_v1": "rng_algorithm",
    "rng_v1": "rng_distribution",
    "scatter_v1": f"{_SCATTER} indices_are_sorted unique_indices",
    "scatter_v2": f"{_SCATTER} input_batching_dims scatter_indices_batching_dims indices_are_sorted unique_indices",
    "select_and_scatter_v1": "window_dimensions window_strides padding",
    "send_v1": "channel_id channel_type is_host_transfer",
    "send_v2": "channel_id channel_type is_host_transfer source_target_pairs",
    "set_dimension_size_v1": "dimension",
    "slice_v1": "start_indices limit_indices strides",
    "sort_v1": "dimension is_stable",
    "torch_index_select_v1": "dim batch_dims",
    "transpose_v1": "permutation",
    "triangular_solve_v1": "left_side lower unit_diagonal transpose_a",
    "unary_einsum_v1": "einsum_config",
}
NEWEST = "1.20"
"""The version of StableHLO whose operations these are."""
_NOT_STABLEHLO = {"func": "func.func", "call": "func.call"}

_INTEGERS = frozenset(
    {"fft_length", "broadcast_sizes", "slice_sizes", "dimensions", "permutation", "edge_padding_low",
     "edge_padding_high", "interior_padding", "start_indices", "limit_indices", "strides",
     "broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions", "window_dimensions",
     "window_strides", "base_dilations", "window_dilations", "lhs_dilation", "rhs_dilation"}
)  # fmt: skip
"""Tensors in VHLO, arrays of `i64` in StableHLO."""
_FLAGS = ("use_global_device_ids", "has_dynamic_root")
_CHANNELS = frozenset(
    {"all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute", "collective_reduce",
     "reduce_scatter"}
)  # fmt: skip

Attributes = dict[str, Attribute]


def property_names(name: str) -> tuple[str, ...] | None:
    """The properties of an operation in the order in which files have them; None for one that is not known."""
    found = _ATTRIBUTES.get(name.removeprefix("vhlo."))
    return None if found is None else tuple(sorted(found.split()))


def from_vhlo(name: str, given: Mapping[str, Attribute], parent: Operation | None) -> tuple[str, Attributes]:
    """Name and attributes of the StableHLO operation that `vhlo.<name>` with these attributes is, inside `parent`.

    Raises `TypeError` or `KeyError` for attributes that it cannot have.
    """
    base = name.removeprefix("vhlo.").rpartition("_v")[0]
    attributes = dict(given)
    _drop_defaults(base, attributes)
    _join_structs(base, attributes)
    for key, value in attributes.items():
        attributes[key] = _converted(base, key, value)
    if base == "return":
        in_function = parent is not None and parent.name == "func.func"
        return "func.return" if in_function else "stablehlo.return", attributes
    return _NOT_STABLEHLO.get(base, f"stablehlo.{base}"), attributes


# Defaults.


def _is(attribute: Attribute | None, number: int) -> bool:
    return is_integer_attr(attribute) and attribute.value.data == number


def _all_are(attribute: Attribute | None, number: int) -> bool:
    """Whether a constant is `number` everywhere, as one element or written out."""
    if not isinstance(attribute, DenseAttr) or not attribute.buffer.nbytes:
        return False
    return set(_numbers(attribute)) == {number}


def _is_empty(attribute: Attribute | None) -> bool:
    match attribute:
        case StringAttr():
            return not attribute.data
        case ArrayAttr() | DictionaryAttr():
            return not attribute.data
        case DenseAttr():
            return not attribute.buffer.nbytes
        case _:
            return False


_EMPTY = frozenset(
    {"sym_visibility", "arg_attrs", "res_attrs", "composite_attributes", "backend_config",
     "called_computations", "output_operand_aliases", "result_tilings", "known_expanding_dimensions",
     "known_nonexpanding_dimensions", "layout"}
)  # fmt: skip
_ZERO = frozenset(
    {"is_host_transfer", "has_side_effect", "indices_are_sorted", "unique_indices", "is_stable"}
)  # fmt: skip
_ONES = frozenset(
    {"window_strides", "lhs_dilation", "rhs_dilation", "base_dilations", "window_dilations"}
)  # fmt: skip
_ZEROS = frozenset(
    {"padding", "window_reversal"}
)  # fmt: skip
_NUMBER_DEFAULTS = {
    ("cholesky", "lower"): 0,
    ("composite", "version"): 0,
    ("custom_call", "api_version"): 1,
    ("sort", "dimension"): -1,
}


def _drop_defaults(base: str, attributes: Attributes) -> None:
    default = _NUMBER_DEFAULTS
    for key, value in list(attributes.items()):
        if (
            (key in _EMPTY and _is_empty(value))
            or (key in _ZERO and _is(value, 0))
            or (key in _ONES and _all_are(value, 1))
            or (key in _ZEROS and _all_are(value, 0))
            or ((base, key) in default and _is(value, default[base, key]))
            or (key in _FLAGS and _is(value, 0))
            or (key == "channel_id" and base in _CHANNELS and _is(value, 0))
            or (key == "result_accuracy" and _is_default_accuracy(value))
            or (key == "compare_type" and value == stablehlo_attrs.ComparisonTypeAttr("NOTYPE"))
            or (key == "precision_config" and _is_default_precision(value))
            or (key == "source_target_pairs" and base in ("send", "recv") and _is_empty(value))
        ):
            del attributes[key]
    if base == "custom_call":
        layouts = ("operand_layouts", "result_layouts")
        if all(_is_empty(attributes.get(key)) for key in layouts):
            for key in layouts:
                attributes.pop(key, None)
    if base == "dynamic_conv":
        attributes.pop("padding", None)  # An operand says it.


def _is_default_precision(value: Attribute) -> bool:
    default = stablehlo_attrs.PrecisionAttr("DEFAULT")
    return is_array_attr(value) and all(part == default for part in value.data)


def _is_default_accuracy(value: Attribute) -> bool:
    return str(value) == "#stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>"


# Structs.


def _numbers(attribute: Attribute | None) -> tuple[int, ...]:
    """The integers of a constant."""
    if not isinstance(attribute, DenseAttr):
        raise TypeError(f"expected a constant, found {attribute}")
    if is_float(attribute.element_type):
        raise TypeError(f"expected integers, found {attribute.element_type}")
    return tuple(int(value) for value in attribute.to_numpy().reshape(-1))


def is_float(type: Attribute) -> bool:
    return type.name.startswith(("f", "bf", "complex"))


def _take(attributes: Attributes, names: str) -> Attributes:
    return {name: attributes.pop(name) for name in names.split() if name in attributes}


def _join_structs(base: str, attributes: Attributes) -> None:
    match base:
        case "convolution" | "dynamic_conv":
            parts: list[Any] = [
                _numbers(value) if key.endswith("s") else int_of(value)
                for key, value in _take(attributes, _CONV).items()
            ]
            dims = stablehlo_attrs.ConvDimensionNumbers(*parts)
            attributes["dimension_numbers"] = stablehlo_attrs.ConvDimensionNumbersAttr(dims)
        case "dot_general":
            lists = {key: _numbers(value) for key, value in _take(attributes, _DOT).items()}
            attributes["dot_dimension_numbers"] = stablehlo_attrs.DotDimensionNumbersAttr.of(**lists)
            algorithm = _algorithm(_take(attributes, _ALGORITHM))
            if algorithm is not None:
                attributes["algorithm"] = algorithm
        case "gather" | "dynamic_gather":
            taken = _take(attributes, f"{_GATHER} operand_batching_dims start_indices_batching_dims")
            attributes["dimension_numbers"] = stablehlo_attrs.GatherDimensionNumbersAttr.of(**_lists(taken))
        case "scatter":
            taken = _take(attributes, f"{_SCATTER} input_batching_dims scatter_indices_batching_dims")
            attributes["scatter_dimension_numbers"] = stablehlo_attrs.ScatterDimensionNumbersAttr.of(**_lists(taken))
        case "send" | "recv":
            handle, kind = int_of(attributes.pop("channel_id")), int_of(attributes.pop("channel_type"))
            attributes["channel_handle"] = stablehlo_attrs.ChannelHandleAttr.of(handle=handle, type=kind)
        case _ if base in _CHANNELS and "channel_id" in attributes:
            handle = int_of(attributes.pop("channel_id"))
            attributes["channel_handle"] = stablehlo_attrs.ChannelHandleAttr.of(handle=handle, type=0)
        case _:
            pass


def _lists(parts: Attributes) -> dict[str, tuple[int, ...] | int]:
    return {key: int_of(value) if key == "index_vector_dim" else _numbers(value) for key, value in parts.items()}


def _algorithm(parts: Attributes) -> Attribute | None:
    """None where nothing is said of it."""
    if not parts or any(isinstance(value, NoneType) for value in parts.values()):
        return None
    *types, lhs, rhs, operations, imprecise = parts.values()
    counts = int_of(lhs), int_of(rhs), int_of(operations)
    names = [str(type) for type in types]
    algorithm = stablehlo_attrs.DotAlgorithm(names[0], names[1], names[2], *counts, int_of(imprecise) != 0)
    return stablehlo_attrs.DotAlgorithmAttr(algorithm)


# What is left, one by one.


def _converted(base: str, key: str, value: Attribute) -> Attribute:
    if key in _INTEGERS and isinstance(value, DenseAttr):
        return DenseArrayBase.from_list(i64, _numbers(value))
    if key == "window_reversal" and isinstance(value, DenseAttr):
        return DenseArrayBase.from_list(i1, _numbers(value))
    if key in _FLAGS:
        return UnitAttr()
    match base, key:
        case ("call", "callee") | ("composite", "decomposition"):
            return SymbolRefAttr(string_of(value))
        case ("custom_call", "called_computations") if is_array_attr(value):
            return ArrayAttr([SymbolRefAttr(string_of(part)) for part in value.data])
        case _:
            return value
