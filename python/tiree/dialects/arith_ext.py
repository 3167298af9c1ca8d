"""Operations of `arith` that xDSL lacks or restricts: compares and selects of vectors, `remf`, `index_castui`.

xDSL's `cmpi`, `cmpf` and `select` yield or take a scalar `i1` only. The ones here take their place in Tiree's context:
same names, operands, properties and text, with an `i1` vector where the operands are vectors.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import IntegerAttr, TensorType, UnitAttr, VectorType, i1, i64
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from tiree.dialects.arith_flags import print_flagged
from tiree.support.typed import int_of

CMPI_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
CMPF_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip


def mask_type(type: Attribute) -> Attribute:
    """The type of a compare of two values of `type`: `i1`, or `i1` in the same shape."""
    if isinstance(type, VectorType):
        return VectorType(i1, type.shape, type.scalable_dims)
    if isinstance(type, TensorType):
        return TensorType(i1, type.shape, type.encoding)
    return i1


class _CompareOp(IRDLOperation):
    """Text shared by the two compares: `pred, lhs, rhs : type`."""

    PREDICATES: ClassVar[tuple[str, ...]] = ()

    def __init__(self, lhs: SSAValue, rhs: SSAValue, predicate: str | int) -> None:
        number = type(self).PREDICATES.index(predicate) if isinstance(predicate, str) else predicate
        super().__init__(
            operands=[lhs, rhs], properties={"predicate": IntegerAttr(number, i64)}, result_types=[mask_type(lhs.type)]
        )

    @property
    def predicate_name(self) -> str:
        return type(self).PREDICATES[int_of(self.properties["predicate"])]

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.predicate_name}, ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(", ")
        printer.print_ssa_value(self.operands[1])
        flags = self.properties.get("fastmath")
        if isinstance(flags, FastMathFlagsAttr) and flags.data:
            printer.print_string(" fastmath")
            flags.print_parameter(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)

    @classmethod
    def parse(cls, parser: Parser) -> _CompareOp:
        predicate = parser.parse_identifier()
        if predicate not in cls.PREDICATES:
            parser.raise_error(f"{cls.name} has no predicate '{predicate}'; it has {', '.join(cls.PREDICATES)}")
        parser.parse_punctuation(",")
        unresolved = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        unresolved.append(parser.parse_unresolved_operand())
        flags = None
        if parser.parse_optional_keyword("fastmath"):
            flags = FastMathFlagsAttr(FastMathFlagsAttr.parse_parameter(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        lhs, rhs = parser.resolve_operands(unresolved, [type, type], parser.pos)
        op = cls(lhs, rhs, predicate)
        if flags is not None:
            op.properties["fastmath"] = flags
        op.attributes.update(attributes)
        return op


@irdl_op_definition
class CmpIOp(_CompareOp):
    """`arith.cmpi`: `predicate` by name (`slt`) or number."""

    name = "arith.cmpi"
    PREDICATES: ClassVar[tuple[str, ...]] = CMPI_PREDICATES
    predicate = prop_def(IntegerAttr)
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class CmpFOp(_CompareOp):
    """`arith.cmpf`: `predicate` by name (`olt`) or number."""

    name = "arith.cmpf"
    PREDICATES: ClassVar[tuple[str, ...]] = CMPF_PREDICATES
    predicate = prop_def(IntegerAttr)
    lhs = operand_def()
    rhs = operand_def()
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class SelectOp(IRDLOperation):
    """`arith.select`: the condition is `i1`, or a vector of `i1` in the shape of the values."""

    name = "arith.select"
    cond = operand_def()
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, cond: SSAValue, lhs: SSAValue, rhs: SSAValue) -> None:
        super().__init__(operands=[cond, lhs, rhs], result_types=[lhs.type])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.cond.type != i1:
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.lhs.type)

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        names = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        condition: Attribute = i1
        type = parser.parse_type()
        if parser.parse_optional_punctuation(","):
            condition, type = type, parser.parse_type()
        op = cls(*parser.resolve_operands(names, [condition, type, type], parser.pos))
        op.attributes.update(attributes)
        return op


@irdl_op_definition
class RemFOp(IRDLOperation):
    """`arith.remf`: C's fmod, the remainder with the sign of the dividend."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    name = "arith.remf"
    lhs = operand_def(T)
    rhs = operand_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))
    result = result_def(T)
    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue) -> None:
        super().__init__(operands=[lhs, rhs], result_types=[lhs.type])


@irdl_op_definition
class IndexCastUIOp(IRDLOperation):
    """`arith.index_castui`: between index and an integer, widening by zeros."""

    name = "arith.index_castui"
    operand = operand_def()
    non_negative = opt_prop_def(UnitAttr, prop_name="nonNeg")
    result = result_def()
    traits = traits_def(Pure())
    print = print_flagged

    def __init__(self, operand: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[operand], result_types=[type])


@irdl_op_definition
class ConvertFOp(IRDLOperation):
    """`arith.convertf`: between float types of one width."""

    name = "arith.convertf"
    operand = operand_def()
    fastmath = opt_prop_def(FastMathFlagsAttr)
    rounding_mode = opt_prop_def(IntegerAttr, prop_name="roundingmode")
    result = result_def()
    traits = traits_def(Pure())
    print = print_flagged

    def __init__(self, operand: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[operand], result_types=[type])


ARITH_EXT_OPS: list[type[Operation]] = [CmpIOp, CmpFOp, SelectOp, RemFOp, IndexCastUIOp, ConvertFOp]

ArithExt = Dialect("arith", ARITH_EXT_OPS, [])
"""Registered beside (and over) xDSL's `Arith`."""
