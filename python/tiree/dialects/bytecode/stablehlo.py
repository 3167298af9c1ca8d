"""Attributes and types of StableHLO, of MHLO (which has most of the same codes) and of CHLO."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, Float64Type, StringAttr
from xdsl.ir import Attribute

from tiree.dialects import chlo, stablehlo_attrs
from tiree.dialects.bytecode.builtin import read_double
from tiree.dialects.bytecode.cursor import Cursor
from tiree.dialects.bytecode.values import Decoder, Values
from tiree.dialects.syntax.floats import float_bits, format_float
from tiree.support.typed import is_array_attr

MODES = stablehlo_attrs.ResultAccuracyModeAttr.VALUES


def enum_value(cursor: Cursor, values: tuple[str, ...], first: int = 0) -> str:
    """The word of an enumeration whose number comes next; `first` is the number of its first word."""
    at = cursor.position
    number = cursor.varint() - first
    if not 0 <= number < len(values):
        cursor.fail(f"{number + first} is none of {', '.join(values)}", at)
    return values[number]


def enum(cls: type[stablehlo_attrs.EnumAttr], first: int = 0) -> Decoder:
    """The decoder of an enumeration."""

    def read(values: Values, cursor: Cursor) -> Attribute:
        del values
        return cls(enum_value(cursor, cls.VALUES, first))

    return read


def _struct(cls: type[stablehlo_attrs.StructAttr[Any]], *fields: str) -> Decoder:
    """The decoder of a struct: lists, and numbers where the name ends in a colon."""

    def read(values: Values, cursor: Cursor) -> Attribute:
        del values
        return cls.of(
            **{
                name.removesuffix(":"): cursor.signed() if name.endswith(":") else cursor.signed_list()
                for name in fields
            }
        )

    return read


def _with_batching(cls: type[stablehlo_attrs.StructAttr[Any]], *fields: str) -> Decoder:
    """Gather and scatter have had batching dimensions since 2024: writers before that leave those two lists out."""
    new = _struct(cls, *fields)
    old = _struct(cls, *(name for name in fields if "batching" not in name))

    def read(values: Values, cursor: Cursor) -> Attribute:
        start = cursor.position
        for _ in range(len(fields) - 3):
            cursor.signed_list()
        if cursor.remaining:
            cursor.signed()
        is_old = not cursor.remaining
        cursor.position = start
        return (old if is_old else new)(values, cursor)

    return read


def _convolution(values: Values, cursor: Cursor) -> Attribute:
    del values
    numbers = [(cursor.signed(), cursor.signed(), cursor.signed_list()) for _ in range(3)]
    dims = stablehlo_attrs.ConvDimensionNumbers(*numbers[0], *numbers[1], *numbers[2])
    return stablehlo_attrs.ConvDimensionNumbersAttr(dims)


def _dot_algorithm(values: Values, cursor: Cursor) -> Attribute:
    lhs, rhs, accumulation = (str(values.type(cursor)) for _ in range(3))
    counts = cursor.signed(), cursor.signed(), cursor.signed()
    algorithm = stablehlo_attrs.DotAlgorithm(lhs, rhs, accumulation, *counts, bool(cursor.byte()))
    return stablehlo_attrs.DotAlgorithmAttr(algorithm)


def accuracy(values: Values, cursor: Cursor, mode_of: str) -> Attribute:
    """Tolerances that are not zero and the mode, an attribute whose word stands behind `mode_of` in its text."""
    said: list[str] = []
    for name in ("atol", "rtol"):
        if value := read_double(cursor):
            said.append(f"{name} = {format_float(float_bits(value, Float64Type), Float64Type, 64)}")
    if ulps := cursor.signed():
        said.append(f"ulps = {ulps}")
    at = cursor.position
    mode = values.attribute(cursor)
    if mode.name != mode_of or not isinstance(mode, stablehlo_attrs.EnumAttr):
        cursor.fail(f"expected a mode of accuracy, found {mode.name}", at)
    said.append(f"mode = #stablehlo.result_accuracy_mode<{mode.data}>")
    return values.from_text(cursor, f"#stablehlo.result_accuracy<{', '.join(said)}>")


def _accuracy(values: Values, cursor: Cursor) -> Attribute:
    return accuracy(values, cursor, stablehlo_attrs.ResultAccuracyModeAttr.name)


def type_extensions(values: Values, cursor: Cursor) -> Attribute:
    """Bounds of dynamic dimensions."""
    bounds = ", ".join("?" if bound == DYNAMIC_INDEX else str(bound) for bound in cursor.signed_list())
    return values.from_text(cursor, f"#stablehlo.bounds<{bounds}>")


# Meshes of devices. Their parts are texts, put together from those of their own parts.


def sub_axis(values: Values, cursor: Cursor) -> Attribute:
    """A part of an axis."""
    return values.from_text(cursor, f"#stablehlo.sub_axis_info<({cursor.signed()}){cursor.signed()}>")


def axis_ref(values: Values, cursor: Cursor, name: str, has_part: bool) -> Attribute:
    """An axis by its name, perhaps a part of it, which comes next."""
    part = ""
    if has_part:
        inside = str(values.attribute(cursor)).partition("<")[2].removesuffix(">")
        part = f", sub_axis_info = {inside}"
    return values.from_text(cursor, f"#stablehlo.axis_ref<name = {StringAttr(name)}{part}>")


def mesh_axis(values: Values, cursor: Cursor, name: str) -> Attribute:
    """An axis of a mesh, whose size comes next."""
    return values.from_text(cursor, f"#stablehlo.mesh_axis<name = {StringAttr(name)}, size = {cursor.signed()}>")


def mesh_axes(values: Values, cursor: Cursor, mesh: Attribute, axes: Attribute) -> Attribute:
    """Groups of devices: a mesh, given by its name or in full, and axes of it."""
    named = f"@{mesh.data}" if isinstance(mesh, StringAttr) else str(mesh)
    return values.from_text(cursor, f"#stablehlo.replica_group_mesh_axes<mesh = {named}, axes = {axes}>")


def mesh(values: Values, cursor: Cursor, axes: Attribute, devices: Attribute | None) -> Attribute:
    """Axes, and perhaps the numbers of the devices."""
    if not is_array_attr(axes):
        cursor.fail("the axes of a mesh are no array")
    numbers = "" if devices is None else f", device_ids = {devices}"
    return values.from_text(cursor, f"#stablehlo.mesh<axes = {axes}{numbers}>")


def _axis_ref(values: Values, cursor: Cursor) -> Attribute:
    name = values.file.string(cursor)
    return axis_ref(values, cursor, name, bool(cursor.byte()))


def _mesh_axis(values: Values, cursor: Cursor) -> Attribute:
    return mesh_axis(values, cursor, values.file.string(cursor))


def _mesh_axes(values: Values, cursor: Cursor) -> Attribute:
    named = values.attribute(cursor)
    return mesh_axes(values, cursor, named, ArrayAttr(values.attributes(cursor)))


def _mesh(values: Values, cursor: Cursor) -> Attribute:
    axes = values.attribute(cursor)
    return mesh(values, cursor, axes, values.attribute(cursor) if cursor.byte() else None)


def _token(values: Values, cursor: Cursor) -> Attribute:
    del values, cursor
    return stablehlo_attrs.TokenType()


def future(values: Values, cursor: Cursor) -> Attribute:
    """What an asynchronous operation promises."""
    types = ", ".join(map(str, values.types(cursor)))
    return values.from_text(cursor, f"!stablehlo.future<{types}>", "type")


output_operand_alias = _struct(
    stablehlo_attrs.OutputOperandAliasAttr, "output_tuple_indices", "operand_index:", "operand_tuple_indices"
)

_SHARED: dict[int, Decoder] = {
    1: _struct(stablehlo_attrs.ChannelHandleAttr, "handle:", "type:"),
    2: enum(stablehlo_attrs.ComparisonDirectionAttr),
    3: enum(stablehlo_attrs.ComparisonTypeAttr),
    4: _convolution,
    5: _struct(
        stablehlo_attrs.DotDimensionNumbersAttr,
        "lhs_batching_dimensions",
        "rhs_batching_dimensions",
        "lhs_contracting_dimensions",
        "rhs_contracting_dimensions",
    ),
    6: enum(stablehlo_attrs.FftTypeAttr),
    7: _with_batching(
        stablehlo_attrs.GatherDimensionNumbersAttr,
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
        "index_vector_dim:",
    ),
    8: enum(stablehlo_attrs.PrecisionAttr),
    9: enum(stablehlo_attrs.RngAlgorithmAttr),
    10: enum(stablehlo_attrs.RngDistributionAttr, 1),
    11: _with_batching(
        stablehlo_attrs.ScatterDimensionNumbersAttr,
        "update_window_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
        "index_vector_dim:",
    ),
    12: enum(stablehlo_attrs.TransposeAttr),
    13: type_extensions,
}


def _chlo_direction(values: Values, cursor: Cursor) -> Attribute:
    del values
    return chlo.ComparisonDirectionAttr(enum_value(cursor, stablehlo_attrs.ComparisonDirectionAttr.VALUES))


def _chlo_type(values: Values, cursor: Cursor) -> Attribute:
    del values
    return chlo.ComparisonTypeAttr(enum_value(cursor, stablehlo_attrs.ComparisonTypeAttr.VALUES))


ATTRIBUTES: dict[tuple[str, int], Decoder] = {
    **{(dialect, code): read for dialect in ("stablehlo", "mhlo") for code, read in _SHARED.items()},
    ("stablehlo", 14): output_operand_alias,
    ("stablehlo", 15): _dot_algorithm,
    ("stablehlo", 16): enum(stablehlo_attrs.ResultAccuracyModeAttr),
    ("stablehlo", 17): _accuracy,
    ("stablehlo", 18): _mesh_axes,
    ("stablehlo", 19): sub_axis,
    ("stablehlo", 20): _axis_ref,
    ("stablehlo", 21): _mesh_axis,
    ("stablehlo", 22): _mesh,
    ("mhlo", 16): output_operand_alias,
    ("mhlo", 17): enum(stablehlo_attrs.ResultAccuracyModeAttr),
    ("mhlo", 18): _accuracy,
    ("chlo", 0): _chlo_direction,
    ("chlo", 1): _chlo_type,
}
TYPES: dict[tuple[str, int], Decoder] = {
    ("stablehlo", 0): _token,
    ("mhlo", 0): _token,
    ("stablehlo", 1): future,
}
