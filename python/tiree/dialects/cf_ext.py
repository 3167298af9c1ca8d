"""`cf.switch` over buffer-backed constants, and weights of `cf.cond_br`.

`SwitchOp` takes the place of xDSL's op, whose case values are xDSL's own attribute; `cf.cond_br` stays xDSL's, and its
definition learns the property `branch_weights`. Names and properties are MLIR's: the operands of a switch are the flag,
what the default edge passes, and what the cases pass, one after the other; `case_operand_segments` says how many values
each case gets.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerType, VectorType, i32
from xdsl.dialects.cf import ConditionalBranchOp
from xdsl.ir import Attribute, Block, Dialect, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OptPropertyDef,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_successor_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tiree.dialects.dense import DenseAttr, decode_scalar, element_byte_size, encode_scalar
from tiree.support.typed import ints_of, is_integer_type

_Edge = tuple[Block, list[SSAValue]]


@irdl_op_definition
class SwitchOp(IRDLOperation):
    """Branches to the case whose value the flag has, else to the default."""

    name = "cf.switch"
    case_values = opt_prop_def(DenseAttr)
    case_operand_segments = prop_def(DenseArrayBase)
    flag = operand_def()
    default_operands = var_operand_def()
    case_operands = var_operand_def()
    default_block = successor_def()
    case_blocks = var_successor_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsTerminator(), Pure())

    @property
    def case_numbers(self) -> list[int]:
        """The values of the cases, in order, as signed numbers."""
        values = self.case_values
        if values is None:
            return []
        size = element_byte_size(values.element_type)
        raw = bytes(values.buffer) * (len(self.case_blocks) if values.is_splat else 1)
        numbers = (decode_scalar(values.element_type, raw[at : at + size]) for at in range(0, len(raw), size))
        return [int(number) for number in numbers]

    @property
    def case_sizes(self) -> list[int]:
        """How many values each case passes."""
        return list(ints_of(self.case_operand_segments))

    def verify_(self) -> None:
        type = self.flag.type
        if not isinstance(type, (IntegerType, IndexType)):
            raise VerifyException(f"the flag must be an integer, not {type}")
        count, values = len(self.case_blocks), self.case_values
        if values is not None and values.element_type != type:
            raise VerifyException(f"the case values are {values.element_type}, the flag is {type}")
        given = 0 if values is None else values.shape[0] if len(values.shape) == 1 else -1
        if given != count:
            raise VerifyException(f"{count} case blocks need {count} case values in a vector")
        if len(self.case_sizes) != count or sum(self.case_sizes) != len(self.case_operands):
            raise VerifyException("case_operand_segments does not cover the values that the cases pass")
        if len(set(self.case_numbers)) != count:
            raise VerifyException("two cases have the same value")

    @classmethod
    def parse(cls, parser: Parser) -> SwitchOp:
        flag = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        value = parser.resolve_operand(flag, type)
        parser.parse_punctuation(",")
        parser.parse_punctuation("[")
        parser.parse_keyword("default")
        edges = [_parse_edge(parser)]
        numbers: list[int] = []
        while parser.parse_optional_punctuation(","):
            numbers.append(parser.parse_integer(allow_boolean=True))
            edges.append(_parse_edge(parser))
        parser.parse_punctuation("]")
        attributes = parser.parse_optional_attr_dict()
        sizes = [len(values) for _, values in edges]
        properties: dict[str, Attribute] = {
            "case_operand_segments": DenseArrayBase.from_list(i32, sizes[1:]),
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, sizes[0], sum(sizes[1:])]),
        }
        if numbers:
            if not (is_integer_type(type) or isinstance(type, IndexType)):
                parser.raise_error(f"the flag must be an integer, not {type}")
            data = b"".join(encode_scalar(type, number) for number in numbers)
            properties["case_values"] = DenseAttr.from_buffer(VectorType(type, [len(numbers)]), data)
        operands = [value, *(one for _, values in edges for one in values)]
        return cls.create(
            operands=operands,
            properties=properties,
            attributes=attributes,
            successors=[block for block, _ in edges],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.flag)
        printer.print_string(" : ")
        printer.print_attribute(self.flag.type)
        printer.print_string(", [")
        with printer.indented():
            printer.print_string("\ndefault")
            _print_edge(printer, self.default_block, self.default_operands)
            start = 0
            for number, block, size in zip(self.case_numbers, self.case_blocks, self.case_sizes, strict=True):
                printer.print_string(f",\n{number}")
                _print_edge(printer, block, self.case_operands[start : start + size])
                start += size
        printer.print_string("\n]")
        printer.print_attr_dict(self.attributes)


def _parse_edge(parser: Parser) -> _Edge:
    """`: ^block(%a, %b : types)`."""
    parser.parse_punctuation(":")
    block = parser.parse_successor()
    if not parser.parse_optional_punctuation("("):
        return block, []
    operands = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_unresolved_operand)
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return block, list(parser.resolve_operands(operands, types, parser.pos))


def _print_edge(printer: Printer, block: Block, values: Sequence[SSAValue]) -> None:
    printer.print_string(": ")
    _print_target(printer, block, values)


def _print_target(printer: Printer, block: Block, values: Sequence[SSAValue]) -> None:
    printer.print_block_name(block)
    operands = list(values)
    if operands:
        with printer.in_parens():
            printer.print_list(operands, printer.print_operand)
            printer.print_string(" : ")
            printer.print_list([value.type for value in operands], printer.print_attribute)


def _print_cond_br(self: ConditionalBranchOp, printer: Printer) -> None:
    printer.print_string(" ")
    printer.print_operand(self.cond)
    weights = self.properties.get("branch_weights")
    if weights is not None:
        printer.print_string(f" weights([{', '.join(map(str, ints_of(weights)))}])")
    edges = ((self.then_block, self.then_arguments), (self.else_block, self.else_arguments))
    for block, values in edges:
        printer.print_string(", ")
        _print_target(printer, block, values)
    printer.print_op_attributes(self.attributes)


ConditionalBranchOp.get_irdl_definition().properties.setdefault("branch_weights", OptPropertyDef(base(DenseArrayBase)))
ConditionalBranchOp.print = _print_cond_br

CfExt = Dialect("cf", [SwitchOp], [])
"""Registered over xDSL's `Cf`."""
