"""What operations keep as properties, in the order in which bytecode has them: by name.

A property that may be absent takes a flag. `_OPS` says it of the dialects that users write; of the others what xDSL's
definitions say is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, i32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import AttrOrPropDef, IRDLOperation, OptAttributeDef, OptPropertyDef

from tiree.dialects.bytecode.cursor import Cursor, Damaged
from tiree.dialects.bytecode.file import SPARSE_SEGMENTS
from tiree.dialects.bytecode.values import Values
from tiree.dialects.bytecode.vhlo_ops import property_names
from tiree.dialects.chlo import BROADCASTING

_WINDOWS = "base_dilations? padding? window_dilations? window_dimensions window_strides?"
_CONV = (
    "batch_group_count dimension_numbers feature_group_count lhs_dilation? precision_config? rhs_dilation? "
    "window_reversal? window_strides?"
)
_NORM = "epsilon feature_index"
_GROUPS = "channel_handle? replica_groups"
_SCAN = "dimension is_associative? is_reverse? scan_dim_size?"
_ACCURATE = (
    "cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "rsqrt", "sine",
    "sqrt", "tan", "tanh",
)  # fmt: skip
_STABLEHLO = {
    **dict.fromkeys(_ACCURATE, "result_accuracy?"),
    "all_gather": f"all_gather_dim {_GROUPS} use_global_device_ids?",
    "all_reduce": f"{_GROUPS} use_global_device_ids?",
    "all_to_all": "channel_handle? concat_dimension replica_groups split_count split_dimension",
    "batch_norm_grad": _NORM,
    "batch_norm_inference": _NORM,
    "batch_norm_training": _NORM,
    "broadcast": "broadcast_sizes",
    "broadcast_in_dim": "broadcast_dimensions",
    "cholesky": "lower?",
    "collective_broadcast": "channel_handle? has_dynamic_root? replica_groups",
    "collective_permute": "channel_handle? source_target_pairs",
    "collective_reduce": "channel_handle? has_dynamic_root? replica_groups use_global_device_ids?",
    "compare": "compare_type? comparison_direction",
    "composite": "composite_attributes? decomposition name version?",
    "concatenate": "dimension",
    "constant": "value",
    "convolution": _CONV.replace("precision_config?", "padding? precision_config?"),
    "cross-replica-sum": "replica_groups",
    "custom_call": (
        "api_version? backend_config? call_target_name called_computations? has_side_effect? operand_layouts? "
        "output_operand_aliases? result_layouts? result_tilings?"
    ),
    "dot": "precision_config?",
    "dot_general": "algorithm? dot_dimension_numbers precision_config?",
    "dynamic_broadcast_in_dim": "broadcast_dimensions known_expanding_dimensions? known_nonexpanding_dimensions?",
    "dynamic_conv": _CONV,
    "dynamic_gather": "dimension_numbers indices_are_sorted?",
    "dynamic_iota": "iota_dimension",
    "dynamic_slice": "slice_sizes",
    "einsum": "einsum_config",
    "fft": "fft_length fft_type",
    "gather": "dimension_numbers indices_are_sorted? slice_sizes",
    "get_dimension_size": "dimension",
    "get_tuple_element": "index",
    "infeed": "infeed_config? layout?",
    "iota": "iota_dimension",
    "map": "dimensions",
    "outfeed": "outfeed_config?",
    "pad": "edge_padding_high edge_padding_low interior_padding",
    "recv": "channel_handle is_host_transfer? source_target_pairs?",
    "reduce": "dimensions",
    "reduce_precision": "exponent_bits mantissa_bits",
    "reduce_scatter": f"{_GROUPS} scatter_dimension use_global_device_ids?",
    "reduce_window": _WINDOWS,
    "reverse": "dimensions",
    "rng": "rng_distribution",
    "rng_bit_generator": "rng_algorithm",
    "scatter": "indices_are_sorted? scatter_dimension_numbers unique_indices?",
    "select_and_scatter": "padding? window_dimensions? window_strides?",
    "send": "channel_handle is_host_transfer? source_target_pairs?",
    "set_dimension_size": "dimension",
    "slice": "limit_indices start_indices strides",
    "sort": "dimension? is_stable?",
    "torch_index_select": "batch_dims dim",
    "transpose": "permutation",
    "triangular_solve": "left_side lower transpose_a unit_diagonal",
    "unary_einsum": "einsum_config",
}
_MHLO = {
    **_STABLEHLO,
    "all_to_all": "channel_handle? concat_dimension? replica_groups split_count? split_dimension?",
    "async_done": "",
    "async_start": "called_computation execution_thread",
    "collective_broadcast": _GROUPS,
    "custom_call": _STABLEHLO["custom_call"]
    .replace("has_side_effect?", "custom_call_schedule? has_side_effect?")
    .removesuffix(" result_tilings?"),
    "dynamic_conv": _STABLEHLO["convolution"],
    "mulhi": "",
    "scan": _SCAN,
    "topk": "k largest?",
}
"""Those of MHLO's operations that are read as StableHLO's or CHLO's."""
_FUNC = {
    "func": "arg_attrs? function_type no_inline? res_attrs? sym_name sym_visibility?",
    "call": "arg_attrs? callee no_inline? res_attrs?",
    "constant": "value",
}
_CHLO = {
    **{f"broadcast_{name}": "broadcast_dimensions?" for name in BROADCASTING},
    "broadcast_compare": "broadcast_dimensions? compare_type? comparison_direction",
    "constant": "value",
    "constant_like": "value",
    "ragged_dot": "precision_config? ragged_dot_dimension_numbers",
    "scan": _SCAN,
    "top_k": "is_stable? k",
}
_FLOATS = ("addf", "subf", "mulf", "divf")
_FAST = ("remf", "negf", "maximumf", "minimumf", "maxnumf", "minnumf")
_ARITH = {
    "constant": "value",
    "cmpi": "predicate",
    "cmpf": "fastmath? predicate",
    **dict.fromkeys(_FLOATS, "fastmath? roundingmode?"),
    **dict.fromkeys(_FAST, "fastmath?"),
    **dict.fromkeys(("addi", "subi", "muli", "shli", "trunci"), "overflowFlags?"),
    **dict.fromkeys(("divui", "divsi", "shrui", "shrsi"), "isExact?"),
    **dict.fromkeys(("extui", "uitofp"), "nonNeg?"),
    "extf": "fastmath?",
    "truncf": "fastmath? roundingmode?",
    "select": "",
}
_OPS: dict[str, str] = {
    **{f"stablehlo.{name}": fields for name, fields in _STABLEHLO.items()},
    **{f"mhlo.{name}": fields for name, fields in _MHLO.items()},
    **{f"func.{name}": fields for name, fields in _FUNC.items()},
    **{f"chlo.{name}": fields for name, fields in _CHLO.items()},
    **{f"arith.{name}": fields for name, fields in _ARITH.items()},
    "builtin.module": "sym_name? sym_visibility?",
    "builtin.unrealized_conversion_cast": "",
    "math.fma": "fastmath? roundingmode?",
    "vm.module": "ordinal_counts? sym_name sym_visibility? version?",
}
_LATE: dict[str, tuple[str, ...]] = {
    "func.func": ("no_inline?",),
    "func.call": ("no_inline?", "res_attrs? arg_attrs?"),
    "stablehlo.dot_general": ("algorithm?",),
    "mhlo.dot_general": ("algorithm?",),
    "mhlo.recv": ("source_target_pairs?",),
    "mhlo.send": ("source_target_pairs?",),
    "stablehlo.custom_call": ("result_tilings?",),
    "stablehlo.collective_broadcast": ("has_dynamic_root?",),
    "stablehlo.recv": ("source_target_pairs?",),
    "stablehlo.send": ("source_target_pairs?",),
    "chlo.scan": ("scan_dim_size?",),
    "chlo.top_k": ("is_stable?",),
    **{f"arith.{name}": ("roundingmode?",) for name in _FLOATS},
    "math.fma": ("roundingmode?",),
}
"""What newer writers have added to an operation, the newest first."""
_OF_NAMED_OPS = frozenset({"cast", "dilations", "outer_dims_perm", "strides"})
"""Properties that named operations of linalg may lack."""
_PLAIN = frozenset({"linalg.conv_1d", "linalg.conv_2d", "linalg.conv_3d"})
_WITH_MAPS = frozenset(
    f"linalg.{name}" for name in ("batch_matmul", "batch_reduce_matmul", "contract", "copy", "matmul")
)
"""The named operations whose maps and casts are said."""
_WITHOUT_SEGMENTS = frozenset(f"linalg.{name}" for name in ("broadcast", "map", "reduce", "softmax", "transpose"))
_SEGMENTS = ("operandSegmentSizes", "resultSegmentSizes")


@cache
def inherent_names(cls: type[Operation]) -> frozenset[str]:
    """The attributes of an operation that are properties."""
    if issubclass(cls, IRDLOperation):
        return frozenset(cls.get_irdl_definition().properties)
    names: tuple[str, ...] = getattr(cls, "PROPERTIES", ())
    return frozenset(names)


@cache
def _fields(name: str, cls: type[Operation] | None) -> tuple[tuple[str, bool], ...] | None:
    """Names, and whether each may be absent; None where nothing is known."""
    if name.startswith("vhlo."):
        names = property_names(name)
        return None if names is None else tuple((one, False) for one in names)
    if name in _OPS:
        return tuple((one.removesuffix("?"), one.endswith("?")) for one in _OPS[name].split())
    if cls is None:
        return None
    if not issubclass(cls, IRDLOperation):
        names = sorted(set[str](getattr(cls, "PROPERTIES", ())) - set(_SEGMENTS))
        if name in _PLAIN or ("cast" in names and name not in _WITH_MAPS):
            return ()
        maps = name != "linalg.contract"
        return tuple((one, one in _OF_NAMED_OPS or (one == "indexing_maps" and maps)) for one in names)
    definition = cls.get_irdl_definition()
    known: dict[str, AttrOrPropDef] = {**definition.attributes, **definition.properties}
    return tuple(
        (one, isinstance(known[one], (OptAttributeDef, OptPropertyDef)) or known[one].default_value is not None)
        for one in sorted(known)
        if one not in _SEGMENTS
    )


def read_properties(values: Values, cursor: Cursor, name: str, cls: type[Operation] | None) -> dict[str, Attribute]:
    """The properties that `cursor` holds of operation `name`; none for one that is unknown. Raises `Damaged`."""
    fields = _fields(name, cls)
    if fields is None and cls is None:
        return {}  # The operation itself is reported.
    if fields is None:
        cursor.fail(f"the properties of {name} are not known")
    segments = _segments(cls)
    dropped: set[str] = set()
    start = cursor.position
    attempts = [None, *_LATE.get(name, ())]
    for late in attempts:
        if late is not None:
            dropped |= {one.removesuffix("?") for one in late.split()}
        cursor.position = start
        try:
            found = _read(values, cursor, [field for field in fields if field[0] not in dropped], segments)
            cursor.done(f"the properties of {name}")
            return found
        except Damaged:
            if late is attempts[-1]:
                raise
    return {}


def _segments(cls: type[Operation] | None) -> tuple[tuple[str, int], ...]:
    """The lists of how many operands (or results) each group has: their names and lengths."""
    if cls is None or not issubclass(cls, IRDLOperation):
        if cls is None or cls.name in _WITHOUT_SEGMENTS:
            return ()
        length = 4 if cls.name == "linalg.pack" else 2
        return tuple((segment, length) for segment in _SEGMENTS if segment in getattr(cls, "PROPERTIES", ()))
    definition = cls.get_irdl_definition()
    found: list[tuple[str, int]] = []
    for option in definition.options:
        attribute = getattr(option, "attribute_name", None)
        if attribute == _SEGMENTS[0]:
            found.append((attribute, len(definition.operands)))
        elif attribute == _SEGMENTS[1]:
            found.append((attribute, len(definition.results)))
    return tuple(sorted(found))


def _read(
    values: Values, cursor: Cursor, fields: Sequence[tuple[str, bool]], segments: Sequence[tuple[str, int]]
) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    sparse = values.file.version >= SPARSE_SEGMENTS
    if not sparse and segments:
        fields = sorted([*fields, *((segment, False) for segment, _ in segments)])
    for field, optional in fields:
        at = cursor.position
        if not optional:
            found[field] = values.attribute(cursor)
            continue
        index, present = cursor.flagged()
        if present:
            found[field] = values.attribute_at(cursor, index, at)
    if sparse:
        for segment, length in segments:
            found[segment] = DenseArrayBase.from_list(i32, _sparse_array(cursor, length))
    return found


def _sparse_array(cursor: Cursor, length: int) -> list[int]:
    """Numbers of which most are zero: the others with their places, or a plain list without the zeros at its end."""
    at = cursor.position
    array = [0] * length
    count, sparse = cursor.flagged()
    if count > length:
        cursor.fail(f"{count} numbers in a list of {length}", at)
    bits = cursor.varint() if sparse and count else 0
    if bits > 8:
        cursor.fail(f"places of {bits} bits", at)
    for place in range(count):
        value = cursor.varint()
        if sparse:
            place, value = value & ((1 << bits) - 1), value >> bits
        if place >= length:
            cursor.fail(f"place {place} in a list of {length}", at)
        array[place] = value
    return array


def dictionary(values: Values, cursor: Cursor) -> dict[str, Attribute]:
    """The dictionary whose index comes next."""
    at = cursor.position
    found = values.attribute(cursor)
    if not isinstance(found, DictionaryAttr):
        cursor.fail(f"expected a dictionary, found {found.name}", at)
    return dict(found.data)
