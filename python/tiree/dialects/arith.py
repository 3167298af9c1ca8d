"""`arith.constant` that also holds a `DenseAttr`; everything else of arith is xDSL's own.

xDSL's op accepts its own dense attribute only. This one takes its place in Tiree's context; `constant_of` recognises
both, so that passes written for plain xDSL keep working on our modules.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ShapedType,
    TensorType,
    VectorType,
)
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Dialect, OpResult, SSAValue, TypedAttribute
from xdsl.irdl import IRDLOperation, base, irdl_op_definition, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from tiree.dialects.dense import DenseAttr
from tiree.support.creation import fill
from tiree.support.typed import is_integer_attr, is_integer_type

WIDENING = frozenset({"arith.extf", "arith.extsi", "arith.extui"})
"""Ops that give each value a wider type."""


@irdl_op_definition
class ConstantOp(IRDLOperation, HasFolderInterface):
    """A constant scalar (`IntegerAttr`, `FloatAttr`) or tensor/vector (`DenseAttr`)."""

    name = "arith.constant"
    value: TypedAttribute = prop_def(base(TypedAttribute))
    result = result_def()

    traits = traits_def(Pure(), ConstantLike())

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        attributes = parser.parse_optional_attr_dict()
        value = parser.parse_attribute()
        if not isinstance(value, TypedAttribute):
            parser.raise_error("arith.constant needs a typed value")
        op = cls(value)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" ")
        printer.print_attribute(self.value)

    def __init__(self, value: TypedAttribute) -> None:
        fill(self, (), [value.get_type()], {"value": value}, {})

    @staticmethod
    def index(value: int) -> ConstantOp:
        return ConstantOp(IntegerAttr(value, IndexType()))

    @staticmethod
    def integer(value: int, type: int | IntegerType) -> ConstantOp:
        return ConstantOp(IntegerAttr(value, IntegerType(type) if isinstance(type, int) else type))

    def fold(self) -> tuple[Attribute]:
        return (self.value,)


def constant_of(value: SSAValue) -> TypedAttribute | None:
    """The constant that defines `value` (`IntegerAttr`, `FloatAttr`, `DenseAttr`), or None."""
    if isinstance(value, OpResult) and value.op.name == "arith.constant":
        match value.op.properties["value"]:
            case DenseIntOrFPElementsAttr(type=(TensorType() | VectorType()) as type) as attr:
                return DenseAttr.from_buffer(type, attr.data.data)
            case TypedAttribute() as attr:
                return attr
            case _:
                return None
    return None


def constant_int(value: SSAValue) -> int | None:
    """The value of an integer or index constant, or None."""
    attr = constant_of(value)
    return attr.value.data if is_integer_attr(attr) else None


def constant_float(value: SSAValue) -> float | None:
    """The value of a scalar float constant, or None."""
    attr = constant_of(value)
    return attr.value.data if isinstance(attr, FloatAttr) else None


def accept_shaped_casts() -> None:
    """Lets xDSL's casts take vectors and tensors, as MLIR's do; xDSL allows scalars only.

    The classes stay xDSL's own, so that passes may match them with `isinstance` whatever built the op.
    """
    from xdsl.dialects import arith
    from xdsl.irdl import AnyAttr, RangeOf

    one_of_any_type = RangeOf(AnyAttr()).of_length(1)
    for cls in (
        arith.ExtSIOp,
        arith.ExtUIOp,
        arith.TruncIOp,
        arith.IndexCastOp,
        arith.FPToSIOp,
        arith.FPToUIOp,
        arith.SIToFPOp,
        arith.UIToFPOp,
    ):
        definition = cls.get_irdl_definition()
        for _, value in (*definition.operands, *definition.results):
            value.constr = one_of_any_type
        cls.verify_ = _verify_cast


def _verify_cast(self: IRDLOperation) -> None:
    """The shapes of operand and result agree, and an extension or truncation changes the width in its direction."""
    self.get_irdl_definition().verify(self)
    source, target = self.operands[0].type, self.results[0].type
    if isinstance(source, ShapedType) != isinstance(target, ShapedType) or (
        isinstance(source, ShapedType) and isinstance(target, ShapedType) and source.get_shape() != target.get_shape()
    ):
        raise VerifyException(f"{self.name} cannot turn {source} into {target}: the shapes differ")
    before, after = (
        element.width.data if is_integer_type(element) else None
        for element in (getattr(type, "element_type", type) for type in (source, target))
    )
    if self.name in ("arith.extsi", "arith.extui") and (before is None or after is None or before >= after):
        raise VerifyException(f"{self.name} from {source} must give a wider integer, not {target}")
    if self.name == "arith.trunci" and (before is None or after is None or before <= after):
        raise VerifyException(f"{self.name} from {source} must give a narrower integer, not {target}")


accept_shaped_casts()

ArithConstants = Dialect("arith", [ConstantOp], [])
"""Registered over xDSL's `arith.constant`."""
