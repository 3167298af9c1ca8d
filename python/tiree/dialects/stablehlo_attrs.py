"""Attributes and types of StableHLO: enumerations, dimension numbers, channel handles.

Each attribute holds a plain Python value (`.data`): a string for the enumerations, a frozen dataclass of int tuples for
the rest. `ENUMS` and `STRUCTS` map the spelling inside `#stablehlo<...>` and `#stablehlo.<...>` to the class, so that a
reader can build them from a table: a struct is a list of `field = value` whose names are the dataclass fields, left out
when empty or zero.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, TypeVar, cast

from xdsl.ir import Data, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class EnumAttr(Data[str], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<keyword VALUE>`, for some also `#stablehlo.keyword<VALUE>`; `VALUES` are the legal values."""

    VALUES: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        in_brackets = parser.parse_optional_punctuation("<") is not None
        value = parser.parse_identifier(context_msg=f": a value of {cls.name}")
        if value not in cls.VALUES:
            parser.raise_error(f"{value} is not one of {', '.join(cls.VALUES)}")
        if in_brackets:
            parser.parse_punctuation(">")
        return value

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(self.data)


@irdl_attr_definition
class ComparisonDirectionAttr(EnumAttr):
    name = "stablehlo.comparison_direction"
    VALUES = ("EQ", "NE", "GE", "GT", "LE", "LT")


@irdl_attr_definition
class ComparisonTypeAttr(EnumAttr):
    name = "stablehlo.comparison_type"
    VALUES = ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")


@irdl_attr_definition
class PrecisionAttr(EnumAttr):
    name = "stablehlo.precision"
    VALUES = ("DEFAULT", "HIGH", "HIGHEST")


@irdl_attr_definition
class FftTypeAttr(EnumAttr):
    name = "stablehlo.fft_type"
    VALUES = ("FFT", "IFFT", "RFFT", "IRFFT")


@irdl_attr_definition
class TransposeAttr(EnumAttr):
    name = "stablehlo.transpose"
    VALUES = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


@irdl_attr_definition
class RngDistributionAttr(EnumAttr):
    name = "stablehlo.rng_distribution"
    VALUES = ("UNIFORM", "NORMAL")


@irdl_attr_definition
class RngAlgorithmAttr(EnumAttr):
    name = "stablehlo.rng_algorithm"
    VALUES = ("DEFAULT", "THREE_FRY", "PHILOX")


@irdl_attr_definition
class CustomCallApiVersionAttr(EnumAttr):
    """Written as `N : i32` in IR; kept for completeness of the enumerations."""

    name = "stablehlo.custom_call_api_version"
    VALUES = (
        "API_VERSION_UNSPECIFIED",
        "API_VERSION_ORIGINAL",
        "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED",
        "API_VERSION_TYPED_FFI",
    )


@irdl_attr_definition
class ResultAccuracyModeAttr(EnumAttr):
    name = "stablehlo.result_accuracy_mode"
    VALUES = ("DEFAULT", "HIGHEST", "TOLERANCE")


ENUMS: dict[str, type[EnumAttr]] = {
    cls.name.removeprefix("stablehlo."): cls
    for cls in (
        ComparisonDirectionAttr,
        ComparisonTypeAttr,
        PrecisionAttr,
        FftTypeAttr,
        TransposeAttr,
        RngDistributionAttr,
        RngAlgorithmAttr,
        CustomCallApiVersionAttr,
        ResultAccuracyModeAttr,
    )
}


StructT = TypeVar("StructT")


class StructAttr(Data[StructT]):
    """`#stablehlo.keyword<field = value, ...>` over the dataclass `STRUCT`."""

    STRUCT: ClassVar[type[Any]]
    COMPLETE: ClassVar[bool] = False
    """Whether MLIR's text always has every field."""

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Builds the attribute; lists become tuples, fields left out take their default.

        Raises `TypeError` for a field that the struct does not have.
        """
        tuples = {key: tuple(cast("list[object]", v)) if isinstance(v, list) else v for key, v in values.items()}
        return cls(cls.STRUCT(**tuples))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        known = {field.name for field in fields(cls.STRUCT)}
        values: dict[str, Any] = {}
        parser.parse_punctuation("<")
        while parser.parse_optional_punctuation(">") is None:
            key = parser.parse_identifier(context_msg=": a field name")
            if key not in known:
                parser.raise_error(f"{cls.name} has no field {key}; it has {', '.join(sorted(known))}")
            if key in values:
                parser.raise_error(f"{cls.name} has {key} twice")
            parser.parse_punctuation("=")
            values[key] = _parse_value(parser)
            if parser.parse_optional_punctuation(",") is None:  # MLIR takes one behind the last field too.
                parser.parse_punctuation(">")
                break
        return cls.STRUCT(**values)

    def print_parameter(self, printer: Printer) -> None:
        parts = [
            f"{field.name} = {_print_value(value)}"
            for field in fields(self.STRUCT)
            if (value := getattr(self.data, field.name)) != field.default
            or self.COMPLETE
            or field.name in _ALWAYS_PRINTED
        ]
        printer.print_string(f"<{', '.join(parts)}>")


_ALWAYS_PRINTED = frozenset({"handle", "type", "lhs_contracting_dimensions", "rhs_contracting_dimensions"})


def _parse_value(parser: AttrParser) -> Any:
    if parser.parse_optional_punctuation("[") is not None:
        values: list[int] = []
        while parser.parse_optional_punctuation("]") is None:
            values.append(parser.parse_integer())
            parser.parse_optional_punctuation(",")
        return tuple(values)
    number = parser.parse_optional_integer(allow_boolean=False)
    if number is not None:
        return number
    keyword = parser.parse_identifier(context_msg=": a value")
    return {"true": True, "false": False}.get(keyword, keyword)


def _print_value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, cast('tuple[object, ...]', value)))}]"
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


Dims = tuple[int, ...]


@dataclass(frozen=True)
class DotDimensionNumbers:
    lhs_batching_dimensions: Dims = ()
    rhs_batching_dimensions: Dims = ()
    lhs_contracting_dimensions: Dims = ()
    rhs_contracting_dimensions: Dims = ()


@dataclass(frozen=True)
class GatherDimensionNumbers:
    offset_dims: Dims = ()
    collapsed_slice_dims: Dims = ()
    operand_batching_dims: Dims = ()
    start_indices_batching_dims: Dims = ()
    start_index_map: Dims = ()
    index_vector_dim: int = 0


@dataclass(frozen=True)
class ScatterDimensionNumbers:
    update_window_dims: Dims = ()
    inserted_window_dims: Dims = ()
    input_batching_dims: Dims = ()
    scatter_indices_batching_dims: Dims = ()
    scatter_dims_to_operand_dims: Dims = ()
    index_vector_dim: int = 0


@dataclass(frozen=True)
class ChannelHandle:
    handle: int = 0
    type: int = 0


@dataclass(frozen=True)
class OutputOperandAlias:
    output_tuple_indices: Dims = ()
    operand_index: int = 0
    operand_tuple_indices: Dims = ()


@dataclass(frozen=True)
class DotAlgorithm:
    lhs_precision_type: str = ""
    rhs_precision_type: str = ""
    accumulation_type: str = ""
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


@irdl_attr_definition
class DotDimensionNumbersAttr(StructAttr[DotDimensionNumbers]):
    name = "stablehlo.dot"
    STRUCT = DotDimensionNumbers


@irdl_attr_definition
class GatherDimensionNumbersAttr(StructAttr[GatherDimensionNumbers]):
    name = "stablehlo.gather"
    STRUCT = GatherDimensionNumbers


@irdl_attr_definition
class ScatterDimensionNumbersAttr(StructAttr[ScatterDimensionNumbers]):
    name = "stablehlo.scatter"
    STRUCT = ScatterDimensionNumbers


@irdl_attr_definition
class ChannelHandleAttr(StructAttr[ChannelHandle]):
    name = "stablehlo.channel_handle"
    STRUCT = ChannelHandle


@irdl_attr_definition
class OutputOperandAliasAttr(StructAttr[OutputOperandAlias]):
    name = "stablehlo.output_operand_alias"
    STRUCT = OutputOperandAlias
    COMPLETE = True


@irdl_attr_definition
class DotAlgorithmAttr(StructAttr[DotAlgorithm]):
    name = "stablehlo.dot_algorithm"
    STRUCT = DotAlgorithm
    COMPLETE = True


@dataclass(frozen=True)
class ConvDimensionNumbers:
    """Which dimension of input, kernel and output is batch, feature or the i-th spatial one."""

    input_batch_dimension: int
    input_feature_dimension: int
    input_spatial_dimensions: Dims
    kernel_input_feature_dimension: int
    kernel_output_feature_dimension: int
    kernel_spatial_dimensions: Dims
    output_batch_dimension: int
    output_feature_dimension: int
    output_spatial_dimensions: Dims

    def __post_init__(self) -> None:
        """Raises `ValueError` unless each of the three names every dimension once."""
        for batch, feature, spatial in (
            (self.input_batch_dimension, self.input_feature_dimension, self.input_spatial_dimensions),
            (self.kernel_input_feature_dimension, self.kernel_output_feature_dimension, self.kernel_spatial_dimensions),
            (self.output_batch_dimension, self.output_feature_dimension, self.output_spatial_dimensions),
        ):
            if sorted((batch, feature, *spatial)) != list(range(len(spatial) + 2)):
                raise ValueError(f"dimensions {batch}, {feature} and {list(spatial)} are not those of a convolution")

    @staticmethod
    def from_labels(lhs: list[str | int], rhs: list[str | int], out: list[str | int]) -> ConvDimensionNumbers:
        """From the lists of `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`. Raises `ValueError` on a bad label."""

        def split(labels: list[str | int], first: str, second: str) -> tuple[int, int, Dims]:
            spatial = [label for label in labels if isinstance(label, int)]
            if sorted(spatial) != list(range(len(spatial))) or len(spatial) + 2 != len(labels):
                raise ValueError(f"{labels} must hold {first}, {second} and 0..{max(len(labels) - 3, 0)} once each")
            dims = tuple(labels.index(i) for i in range(len(spatial)))
            return labels.index(first), labels.index(second), dims

        return ConvDimensionNumbers(*split(lhs, "b", "f"), *split(rhs, "i", "o"), *split(out, "b", "f"))

    def labels(self) -> tuple[list[str | int], list[str | int], list[str | int]]:
        """The three lists that `from_labels` takes."""

        def join(first: int, second: int, spatial: Dims, names: str) -> list[str | int]:
            result: list[str | int] = [0] * (len(spatial) + 2)
            result[first], result[second] = names
            for i, dim in enumerate(spatial):
                result[dim] = i
            return result

        return (
            join(self.input_batch_dimension, self.input_feature_dimension, self.input_spatial_dimensions, "bf"),
            join(
                self.kernel_input_feature_dimension,
                self.kernel_output_feature_dimension,
                self.kernel_spatial_dimensions,
                "io",
            ),
            join(self.output_batch_dimension, self.output_feature_dimension, self.output_spatial_dimensions, "bf"),
        )


@irdl_attr_definition
class ConvDimensionNumbersAttr(Data[ConvDimensionNumbers]):
    """`#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`, or `#stablehlo.conv<raw input_batch_dimension = 0, ...>`."""

    name = "stablehlo.conv"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ConvDimensionNumbers:
        def parse_labels() -> list[str | int]:
            labels: list[str | int] = []
            parser.parse_punctuation("[")
            while parser.parse_optional_punctuation("]") is None:
                number = parser.parse_optional_integer()
                labels.append(parser.parse_identifier(context_msg=": b, f, i, o") if number is None else number)
                parser.parse_optional_punctuation(",")
            return labels

        def parse_raw() -> ConvDimensionNumbers:
            found: dict[str, Any] = {}
            while not found or parser.parse_optional_punctuation(",") is not None:
                name = parser.parse_identifier(context_msg=": a dimension of a convolution")
                parser.parse_punctuation("=")
                if name.endswith("dimensions"):
                    square = parser.Delimiter.SQUARE
                    found[name] = tuple(parser.parse_comma_separated_list(square, parser.parse_integer))
                else:
                    found[name] = parser.parse_integer()
            return ConvDimensionNumbers(**found)

        with parser.in_angle_brackets():
            if parser.parse_optional_keyword("raw") is not None:
                try:
                    return parse_raw()
                except TypeError as error:
                    parser.raise_error(f"these are not the dimensions of a convolution: {error}")
            lhs = parse_labels()
            parser.parse_keyword("x")
            rhs = parse_labels()
            parser.parse_punctuation("->")
            out = parse_labels()
        try:
            return ConvDimensionNumbers.from_labels(lhs, rhs, out)
        except ValueError as error:
            parser.raise_error(str(error))

    def print_parameter(self, printer: Printer) -> None:
        lhs, rhs, out = (f"[{', '.join(map(str, labels))}]" for labels in self.data.labels())
        printer.print_string(f"<{lhs}x{rhs}->{out}>")


STRUCTS: dict[str, type[StructAttr[Any]]] = {
    cls.name.removeprefix("stablehlo."): cls
    for cls in (
        DotDimensionNumbersAttr,
        GatherDimensionNumbersAttr,
        ScatterDimensionNumbersAttr,
        ChannelHandleAttr,
        OutputOperandAliasAttr,
        DotAlgorithmAttr,
    )
}
"""All struct attributes; `#stablehlo.conv` has a syntax of its own (`ConvDimensionNumbersAttr`)."""


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """`!stablehlo.token`: orders effects; carries no data."""

    name = "stablehlo.token"


ATTRIBUTES = (*ENUMS.values(), *STRUCTS.values(), ConvDimensionNumbersAttr, TokenType)
