"""Custom syntax shared by function-like ops whose results may be tied to operands (`-> %arg0 as type`).

Assumes the op class has `sym_name`, `function_type`, `sym_visibility`, `arg_attrs`, `res_attrs`, `tied_operands`
properties and one region, as IREE's `util.func` has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IndexType, IntegerAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

_OpT = TypeVar("_OpT", bound=Operation)


def index_array(values: Iterable[int]) -> ArrayAttr:
    """An array attribute of `index` integers, the form of `tied_operands`."""
    return ArrayAttr([IntegerAttr(value, IndexType()) for value in values])


def index_list(attr: ArrayAttr | None, count: int) -> list[int]:
    """The integers of `tied_operands`; all -1 when it is absent."""
    if attr is None:
        return [-1] * count
    return [item.value.data for item in attr if isinstance(item, IntegerAttr)]


def parse_types_tied(parser: Parser, operands: list[SSAValue]) -> tuple[list[Attribute], list[int]]:
    """Result types after `->`, where `%name` or `%name as type` ties the result to that operand."""
    types: list[Attribute] = []
    tied: list[int] = []

    def parse_one() -> None:
        if (operand := parser.parse_optional_unresolved_operand()) is None:
            types.append(parser.parse_type())
            tied.append(-1)
            return
        values = parser.ssa_values.get(operand.operand_name)
        if values is None or values[operand.index] not in operands:
            parser.raise_error("a tied result must name an operand of this op", operand.span)
        value = values[operand.index]
        tied.append(operands.index(value))
        types.append(parser.parse_type() if parser.parse_optional_keyword("as") else value.type)

    if parser.parse_optional_punctuation("("):
        if not parser.parse_optional_punctuation(")"):
            parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_one)
            parser.parse_punctuation(")")
    else:
        parse_one()
    return types, tied


def _parse_arguments(parser: Parser) -> tuple[list[Parser.Argument] | None, list[Attribute], list[DictionaryAttr]]:
    """`(%a: type {attrs}, ...)` or, in declarations, `(type {attrs}, ...)`."""
    arguments: list[Parser.Argument] = []
    types: list[Attribute] = []
    attrs: list[DictionaryAttr] = []

    def parse_one() -> None:
        argument = parser.parse_optional_argument()
        types.append(parser.parse_type() if argument is None else argument.type)
        attrs.append(DictionaryAttr(parser.parse_optional_attr_dict()))
        location = parser.parse_optional_location()
        if argument is not None:
            argument.location = location
            arguments.append(argument)

    parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_one)
    if arguments and len(arguments) != len(types):
        parser.raise_error("either all arguments have names or none has")
    return (arguments if arguments or not types else None), types, attrs


def _parse_results(
    parser: Parser, arguments: Sequence[Parser.Argument], input_types: Sequence[Attribute]
) -> tuple[list[Attribute], list[int], list[DictionaryAttr]]:
    """What follows the argument list: `-> type`, `-> (type {attrs}, %arg as type, %arg)`, or nothing."""
    names = [argument.name.text for argument in arguments]
    types: list[Attribute] = []
    tied: list[int] = []
    attrs: list[DictionaryAttr] = []

    def parse_one(with_attributes: bool = True) -> None:
        if (operand := parser.parse_optional_unresolved_operand()) is None:
            types.append(parser.parse_type())
            tied.append(-1)
        else:
            if operand.span.text not in names:
                parser.raise_error("a tied result must name an argument", operand.span)
            index = names.index(operand.span.text)
            tied.append(index)
            types.append(parser.parse_type() if parser.parse_optional_keyword("as") else input_types[index])
        # Without parentheses a brace opens the body.
        attrs.append(DictionaryAttr(parser.parse_optional_attr_dict() if with_attributes else {}))

    if (
        parser.parse_optional_punctuation("->")
        and parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parse_one) is None
    ):
        parse_one(with_attributes=False)
    return types, tied, attrs


def parse_func_like(cls: type[_OpT], parser: Parser, inherent: Sequence[str] = ()) -> _OpT:
    """Parses `visibility? @name(args) -> results attributes {...}? region?` into an op of class `cls`.

    `inherent` names the properties that are written inside the attribute dictionary.
    """
    visibility = parser.parse_optional_visibility_keyword()
    name = parser.parse_symbol_name()
    arguments, input_types, arg_attrs = _parse_arguments(parser)
    result_types, tied, res_attrs = _parse_results(parser, arguments or (), input_types)
    written = parser.parse_optional_attr_dict_with_keyword()
    attributes = dict(written.data) if written is not None else {}
    region = parser.parse_optional_region(arguments if arguments is not None else ())
    properties: dict[str, Attribute] = {
        "sym_name": name,
        "function_type": FunctionType.from_lists(input_types, result_types),
    }
    if visibility is not None and visibility.data != "public":
        properties["sym_visibility"] = visibility
    if any(attr.data for attr in arg_attrs):
        properties["arg_attrs"] = ArrayAttr(arg_attrs)
    if any(attr.data for attr in res_attrs):
        properties["res_attrs"] = ArrayAttr(res_attrs)
    if any(index >= 0 for index in tied):
        properties["tied_operands"] = index_array(tied)
    properties.update({key: attributes.pop(key) for key in inherent if key in attributes})
    return cls.create(properties=properties, attributes=attributes, regions=[Region() if region is None else region])


def _print_signature(op: Any, printer: Printer) -> None:
    entry = op.body.blocks.first
    arg_attrs = op.arg_attrs or [None] * len(op.function_type.inputs)
    printer.print_string("(")
    for number, (type, attrs) in enumerate(zip(op.function_type.inputs, arg_attrs, strict=True)):
        printer.print_string(", " if number else "")
        if entry is not None:
            printer.print_block_argument(entry.args[number], print_type=False)
            printer.print_string(": ")
        printer.print_attribute(type)
        printer.print_op_attributes(attrs.data if attrs is not None else {})
    printer.print_string(")")


def _print_results(op: Any, printer: Printer) -> None:
    outputs = op.function_type.outputs.data
    if not outputs:
        return
    entry = op.body.blocks.first
    tied = index_list(op.tied_operands, len(outputs))
    res_attrs = op.res_attrs or [None] * len(outputs)
    single = len(outputs) == 1 and op.res_attrs is None and not isinstance(outputs[0], FunctionType)
    printer.print_string(" -> " if single else " -> (")
    for number, (type, index, attrs) in enumerate(zip(outputs, tied, res_attrs, strict=True)):
        printer.print_string(", " if number else "")
        if index >= 0 and entry is not None:
            printer.print_ssa_value(entry.args[index])
            if entry.args[index].type != type:
                printer.print_string(" as ")
                printer.print_attribute(type)
        else:
            printer.print_attribute(type)
        printer.print_op_attributes(attrs.data if attrs is not None else {})
    printer.print_string("" if single else ")")


def print_func_like(op: Any, printer: Printer, inherent: Sequence[str] = ()) -> None:
    """Prints what `parse_func_like` reads."""
    printer.print_string(f" {op.sym_visibility.data if op.sym_visibility is not None else 'public'} ")
    printer.print_symbol_name(op.sym_name)
    _print_signature(op, printer)
    _print_results(op, printer)
    shown = {key: op.properties[key] for key in inherent if key in op.properties}
    printer.print_op_attributes({**shown, **op.attributes}, print_keyword=True)
    if op.body.blocks:
        printer.print_string(" ")
        printer.print_region(op.body, print_entry_block_args=False, print_empty_block=False)
