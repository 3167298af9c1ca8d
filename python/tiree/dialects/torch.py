"""The part of torch-mlir's `torch` dialect in which `iree-import-onnx` writes ONNX graphs: `torch.operator "onnx.Add"`.

Modules are read in it and converted at once (`tiree.input.onnx`); nothing computes on these types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntegerAttr, NoneAttr, StringAttr, TensorType, i64
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def, traits_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure

from tiree.support.typed import is_array_attr, is_integer_attr, is_integer_type


def _parse_sizes(parser: AttrParser) -> Attribute:
    """`[2,?]`, or `*` for a shape of no known rank."""
    if parser.parse_optional_punctuation("*") is not None:
        return NoneAttr()

    def size() -> IntegerAttr:
        if parser.parse_optional_punctuation("?") is not None:
            return IntegerAttr(DYNAMIC_INDEX, i64)
        return IntegerAttr(parser.parse_integer(allow_boolean=False, allow_negative=False), i64)

    return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, size))


def _parse_inner(parser: AttrParser) -> Attribute:
    """A type inside of `!torch.list<...>`, where types of the dialect stand without their prefix."""
    for name, cls in _INNER.items():
        if parser.parse_optional_keyword(name) is not None:
            return cls.new(cls.parse_parameters(parser))
    return parser.parse_type()


class _TensorType(ParametrizedAttribute, TypeAttribute):
    """`<[2,?],f32>`; `<*,f32>` without a rank; `<[2],unk>` or nothing where the element type is not known."""

    shape: Attribute = param_def()
    element_type: Attribute = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return [NoneAttr(), NoneAttr()]
        sizes = _parse_sizes(parser)
        parser.parse_punctuation(",")
        known = parser.parse_optional_keyword("unk") is None
        element = parser.parse_type() if known else NoneAttr()
        parser.parse_punctuation(">")
        return [sizes, element]

    def print_parameters(self, printer: Printer) -> None:
        sizes = self.sizes
        if sizes is None and isinstance(self.element_type, NoneAttr):
            return
        text = "*" if sizes is None else f"[{','.join('?' if n == DYNAMIC_INDEX else str(n) for n in sizes)}]"
        printer.print_string(f"<{text},")
        if isinstance(self.element_type, NoneAttr):
            printer.print_string("unk")
        else:
            printer.print_attribute(self.element_type)
        printer.print_string(">")

    @property
    def sizes(self) -> list[int] | None:
        """Sizes of the dimensions, `DYNAMIC_INDEX` for `?`; None without a rank."""
        if not is_array_attr(self.shape):
            return None
        return [size.value.data for size in self.shape.data if is_integer_attr(size)]


@irdl_attr_definition
class VTensorType(_TensorType):
    """A tensor that is a value."""

    name = "torch.vtensor"


class _ContainerType(ParametrizedAttribute, TypeAttribute):
    contained: Attribute = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [_parse_inner(parser)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            inner = self.contained
            if isinstance(inner, (_TensorType, _ContainerType, _SimpleType)):
                printer.print_string(inner.name.removeprefix("torch."))
                inner.print_parameters(printer)
            else:
                printer.print_attribute(inner)


@irdl_attr_definition
class ListType(_ContainerType):
    name = "torch.list"


@irdl_attr_definition
class OptionalType(_ContainerType):
    name = "torch.optional"


class _SimpleType(ParametrizedAttribute, TypeAttribute):
    """A type without parameters."""


@irdl_attr_definition
class NoneType(_SimpleType):
    """Of an operand that is left out."""

    name = "torch.none"


@irdl_attr_definition
class IntType(_SimpleType):
    name = "torch.int"


@irdl_attr_definition
class FloatType(_SimpleType):
    name = "torch.float"


@irdl_attr_definition
class BoolType(_SimpleType):
    name = "torch.bool"


@irdl_attr_definition
class StringType(_SimpleType):
    name = "torch.str"


TYPES: tuple[type[ParametrizedAttribute], ...] = (
    VTensorType,
    ListType,
    OptionalType,
    NoneType,
    IntType,
    FloatType,
    BoolType,
    StringType,
)
_INNER = {cls.name.removeprefix("torch."): cls for cls in TYPES}


class TorchOp(Operation):
    """Base of the ops. `PROPERTIES` are the inherent attributes."""

    PROPERTIES: ClassVar[tuple[str, ...]] = ()
    traits = traits_def()


class OperatorOp(TorchOp):
    """`torch.operator "onnx.Add"(%a, %b) {torch.onnx.axis = 1 : si64} : (...) -> ...`, regions behind the type."""

    name = "torch.operator"
    PROPERTIES = ("name",)

    @property
    def operator(self) -> str:
        """What it computes, as `onnx.Add`."""
        name = self.properties.get("name", self.attributes.get("name"))
        return name.data if isinstance(name, StringAttr) else ""


class OperatorTerminatorOp(TorchOp):
    """Ends a region of an operator."""

    name = "torch.operator_terminator"
    traits = traits_def(IsTerminator(), Pure())


class ConstantNoneOp(TorchOp):
    name = "torch.constant.none"


class _ConstantOp(TorchOp):
    PROPERTIES = ("value",)


class ConstantIntOp(_ConstantOp):
    name = "torch.constant.int"


class ConstantFloatOp(_ConstantOp):
    name = "torch.constant.float"


class ConstantBoolOp(_ConstantOp):
    name = "torch.constant.bool"


class ConstantStrOp(_ConstantOp):
    name = "torch.constant.str"


def vtensor(sizes: Sequence[int] | None, element: Attribute | None) -> VTensorType:
    """The type of a tensor of which the rank, or the type of elements, may not be known."""
    shape = NoneAttr() if sizes is None else ArrayAttr([IntegerAttr(size, i64) for size in sizes])
    return VTensorType.new([shape, NoneAttr() if element is None else element])


def tensor_of(type: VTensorType) -> TensorType | None:
    """The builtin type of a tensor with rank and element type, its integers signless unless they are unsigned."""
    from xdsl.dialects.builtin import IntegerType, Signedness

    sizes, element = type.sizes, type.element_type
    if sizes is None or isinstance(element, (NoneAttr, StringType)):
        return None
    if is_integer_type(element) and element.signedness.data is Signedness.SIGNED:
        element = IntegerType(element.width.data)
    return TensorType(element, sizes)


Torch = Dialect(
    "torch",
    [
        OperatorOp,
        OperatorTerminatorOp,
        ConstantNoneOp,
        ConstantIntOp,
        ConstantFloatOp,
        ConstantBoolOp,
        ConstantStrOp,
    ],
    [*TYPES],
)
