"""`#flow.parameter.named<"scope"::"key"> : type` and `#stream.parameter.named<...>`: data that a file brings later."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import NoneAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class NamedParameterAttr(ParametrizedAttribute):
    """What both dialects' attributes have: a key in a scope (the anonymous one where it is left out), and a type.

    The fields are declared again by each of them: only those of a decorated class make attributes equal or not.
    """

    scope: StringAttr | NoneAttr
    key: StringAttr
    type: Attribute

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            first = parser.parse_str_literal()
            named = parser.parse_optional_punctuation(":") is not None
            if named:
                parser.parse_punctuation(":")
            key = parser.parse_str_literal() if named else first
        parser.parse_punctuation(":")
        return (StringAttr(first) if named else NoneAttr(), StringAttr(key), parser.parse_type())

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<")
        if isinstance(self.scope, StringAttr):
            printer.print_string_literal(self.scope.data)
            printer.print_string("::")
        printer.print_string_literal(self.key.data)
        printer.print_string("> : ")
        printer.print_attribute(self.type)

    def get_type(self) -> Attribute:
        return self.type

    @property
    def scope_name(self) -> str | None:
        return self.scope.data if isinstance(self.scope, StringAttr) else None


@irdl_attr_definition
class FlowParameterAttr(NamedParameterAttr):
    """`#flow.parameter.named`: as programs write it."""

    name = "flow.parameter.named"
    scope: StringAttr | NoneAttr = param_def()
    key: StringAttr = param_def()
    type: Attribute = param_def()


@irdl_attr_definition
class StreamParameterAttr(NamedParameterAttr):
    """`#stream.parameter.named`: the same after the stream dialect has begun."""

    name = "stream.parameter.named"
    scope: StringAttr | NoneAttr = param_def()
    key: StringAttr = param_def()
    type: Attribute = param_def()
