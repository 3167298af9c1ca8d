"""Operations of the `math` dialect that xDSL lacks: the float classification predicates, `erfc`."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import TensorType, VectorType, i1
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure


def predicate_type(type: Attribute) -> Attribute:
    """`i1`, or the `i1` vector/tensor of the shape of `type`."""
    if isinstance(type, TensorType):
        return TensorType(i1, type.get_shape())
    if isinstance(type, VectorType):
        return VectorType(i1, type.get_shape(), type.scalable_dims)
    return i1


class _PredicateOp(IRDLOperation):
    """A float in, an `i1` of the same shape out."""

    operand = operand_def()
    result = result_def()
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        fastmath = FastMathFlagsAttr("none")
        if parser.parse_optional_keyword("fastmath") is not None:
            fastmath = FastMathFlagsAttr(FastMathFlagsAttr.parse_parameter(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        value = parser.resolve_operand(operand, type)
        op = cls(value, predicate_type(type))
        op.properties["fastmath"] = fastmath
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        if self.fastmath.data:
            printer.print_string(" fastmath")
            self.fastmath.print_parameter(printer)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)

    def __init__(self, operand: SSAValue, result_type: Attribute = i1) -> None:
        super().__init__(operands=[operand], result_types=[result_type])


@irdl_op_definition
class IsFiniteOp(_PredicateOp):
    name = "math.isfinite"
    traits = traits_def(Pure())


@irdl_op_definition
class IsInfOp(_PredicateOp):
    name = "math.isinf"
    traits = traits_def(Pure())


@irdl_op_definition
class IsNaNOp(_PredicateOp):
    name = "math.isnan"
    traits = traits_def(Pure())


@irdl_op_definition
class IsNormalOp(_PredicateOp):
    name = "math.isnormal"
    traits = traits_def(Pure())


@irdl_op_definition
class ErfcOp(IRDLOperation):
    """`math.erfc`: 1 - erf(x), without cancellation."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    name = "math.erfc"
    operand = operand_def(T)
    result = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))
    traits = traits_def(Pure())
    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def __init__(self, operand: SSAValue) -> None:
        super().__init__(operands=[operand], result_types=[operand.type])


@irdl_op_definition
class SinCosOp(IRDLOperation):
    """`math.sincos`: sine and cosine of one angle."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    name = "math.sincos"
    operand = operand_def(T)
    sin = result_def(T)
    cos = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))
    traits = traits_def(Pure())
    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($sin)"


@irdl_op_definition
class ClampFOp(IRDLOperation):
    """`math.clampf`: a float between two bounds; a NaN stays one."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    name = "math.clampf"
    value = operand_def(T)
    min = operand_def(T)
    max = operand_def(T)
    result = result_def(T)
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))
    traits = traits_def(Pure())
    assembly_format = "$value `to` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"


MathExt = Dialect("math", [ErfcOp, SinCosOp, ClampFOp, IsFiniteOp, IsInfOp, IsNaNOp, IsNormalOp], [])
"""Registered beside xDSL's `Math`."""
