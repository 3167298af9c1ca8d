"""Value operations of the `util` dialect; `util.py` re-exports them.

Assumes xDSL only.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, StringAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure

from tiree.dialects.util_types import BufferType


@irdl_op_definition
class NullOp(IRDLOperation):
    """The null reference of a type."""

    name = "util.null"
    result = result_def()
    assembly_format = "attr-dict `:` type($result)"

    traits = traits_def(Pure(), ConstantLike())

    def __init__(self, type: Attribute) -> None:
        super().__init__(result_types=[type])


class _CompareOp(IRDLOperation):
    """Compares two references; the result is `i1`."""

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation) -> None:
        super().__init__(operands=[lhs, rhs], result_types=[i1])

    @classmethod
    def parse(cls, parser: Parser) -> _CompareOp:
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        op = cls(parser.resolve_operand(lhs, type), parser.resolve_operand(rhs, type))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)


@irdl_op_definition
class CmpEQOp(_CompareOp):
    """Whether both references are the same object."""

    name = "util.cmp.eq"
    traits = traits_def(Pure())


@irdl_op_definition
class CmpNEOp(_CompareOp):
    """Whether the references are different objects."""

    name = "util.cmp.ne"
    traits = traits_def(Pure())


@irdl_op_definition
class StatusCheckOkOp(IRDLOperation):
    """Fails the invocation with `status` (an IREE status code, i32) unless it is 0."""

    name = "util.status.check_ok"
    status = operand_def()
    message = opt_prop_def(StringAttr)

    def __init__(self, status: SSAValue | Operation, message: str | None = None) -> None:
        super().__init__(operands=[status], properties={"message": None if message is None else StringAttr(message)})

    @classmethod
    def parse(cls, parser: Parser) -> StatusCheckOkOp:
        from xdsl.dialects.builtin import i32

        status = parser.parse_operand(i32)
        message = parser.parse_str_literal() if parser.parse_optional_punctuation(",") else None
        op = cls(status, message)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.status)
        if self.message is not None:
            printer.print_string(", ")
            printer.print_string_literal(self.message.data)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class OptimizationBarrierOp(IRDLOperation):
    """Passes its operands through, unseen by folding."""

    name = "util.optimization_barrier"
    operands_ = var_operand_def()
    results_ = var_result_def()

    def __init__(self, *values: SSAValue) -> None:
        super().__init__(operands=[values], result_types=[[value.type for value in values]])

    @classmethod
    def parse(cls, parser: Parser) -> OptimizationBarrierOp:
        names = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        types = []
        if names:
            parser.parse_punctuation(":")
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        op = cls(*parser.resolve_operands(names or [], types, parser.pos))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)


@irdl_op_definition
class AssumeIntOp(IRDLOperation):
    """Passes integers through; `assumptions` has for each the list of what may hold (one entry a call site)."""

    name = "util.assume.int"
    operands_ = var_operand_def()
    assumptions = prop_def(ArrayAttr)
    results_ = var_result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class AlignOp(IRDLOperation):
    """`value` rounded up to a multiple of `alignment`."""

    name = "util.align"
    value = operand_def()
    alignment = operand_def()
    result = result_def()

    traits = traits_def(Pure())

    def __init__(self, value: SSAValue | Operation, alignment: SSAValue | Operation) -> None:
        value = SSAValue.get(value)
        super().__init__(operands=[value, alignment], result_types=[value.type])

    @classmethod
    def parse(cls, parser: Parser) -> AlignOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        alignment = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        op = cls(parser.resolve_operand(value, type), parser.resolve_operand(alignment, type))
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class SizeOfOp(IRDLOperation):
    """Bytes that a type takes."""

    name = "util.sizeof"
    sizedType: Attribute = prop_def(Attribute)
    size = result_def()

    traits = traits_def(Pure())

    def __init__(self, type: Attribute) -> None:
        super().__init__(properties={"sizedType": type}, result_types=[IndexType()])

    @classmethod
    def parse(cls, parser: Parser) -> SizeOfOp:
        type = parser.parse_type()
        op = cls(type)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.sizedType)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class CastOp(IRDLOperation):
    """A reference seen as another type."""

    name = "util.cast"
    value = operand_def()
    result = result_def()
    assembly_format = "$value attr-dict `:` type($value) `to` type($result)"

    traits = traits_def(Pure())


@irdl_op_definition
class BufferConstantOp(IRDLOperation):
    """Read-only bytes that live in the module file."""

    name = "util.buffer.constant"
    constant_name = opt_prop_def(StringAttr, prop_name="name")
    value: Attribute = prop_def(Attribute)
    alignment = opt_prop_def(IntegerAttr)
    mime_type = opt_prop_def(StringAttr)
    result = result_def()

    traits = traits_def(Pure(), ConstantLike())

    def __init__(
        self,
        value: Attribute,
        alignment: int | None = None,
        name: str | None = None,
        mime_type: str | None = None,
    ) -> None:
        super().__init__(
            properties={
                "value": value,
                "alignment": None if alignment is None else IntegerAttr(alignment, IndexType()),
                "name": None if name is None else StringAttr(name),
                "mime_type": None if mime_type is None else StringAttr(mime_type),
            },
            result_types=[BufferType()],
        )

    @classmethod
    def parse(cls, parser: Parser) -> BufferConstantOp:
        name = parser.parse_optional_str_literal()
        given: dict[str, Attribute] = {}
        if parser.parse_optional_punctuation("<"):
            while True:
                key = parser.parse_identifier()
                parser.parse_punctuation("=")
                given[key] = (
                    IntegerAttr(parser.parse_integer(), IndexType())
                    if key == "alignment"
                    else StringAttr(parser.parse_str_literal())
                )
                if not parser.parse_optional_punctuation(","):
                    break
            parser.parse_punctuation(">")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        parser.parse_type()
        parser.parse_punctuation("=")
        op = cls(parser.parse_attribute(), name=name)
        op.properties.update(given)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        if self.constant_name is not None:
            printer.print_string(" ")
            printer.print_string_literal(self.constant_name.data)
        parts: list[str] = []
        if self.alignment is not None:
            parts.append(f"alignment = {self.alignment.value.data}")
        if self.mime_type is not None:
            parts.append(f'mime_type = "{self.mime_type.data}"')
        printer.print_string(f" <{', '.join(parts)}>" if parts else "")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)
        printer.print_string(" = ")
        printer.print_attribute(self.value)


VALUE_OPS = [
    NullOp,
    CmpEQOp,
    CmpNEOp,
    StatusCheckOkOp,
    OptimizationBarrierOp,
    AlignOp,
    AssumeIntOp,
    SizeOfOp,
    CastOp,
    BufferConstantOp,
]
