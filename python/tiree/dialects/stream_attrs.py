"""Types and attributes of the `stream` dialect, in IREE 3.13's syntax."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

LIFETIMES = ("*", "external", "staging", "transient", "variable", "constant")


class ResourceAccess(IntFlag):
    """How a dispatch uses a resource."""

    READ = 1
    WRITE = 2
    READ_WRITE = 3


@irdl_attr_definition
class ResourceType(ParametrizedAttribute, TypeAttribute):
    """`!stream.resource<external>`: device memory with the lifetime that decides where it is allocated."""

    name = "stream.resource"
    lifetime: StringAttr = param_def()

    def __init__(self, lifetime: str) -> None:
        super().__init__(StringAttr(lifetime))

    def verify(self) -> None:
        if self.lifetime.data not in LIFETIMES:
            raise VerifyException(f"unknown lifetime {self.lifetime.data}; known are {', '.join(LIFETIMES)}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            lifetime = "*" if parser.parse_optional_punctuation("*") is not None else parser.parse_identifier()
        return (StringAttr(lifetime),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.lifetime.data}>")


@irdl_attr_definition
class TimepointType(ParametrizedAttribute, TypeAttribute):
    """`!stream.timepoint`: a moment on the timeline of a device."""

    name = "stream.timepoint"


@irdl_attr_definition
class BindingType(ParametrizedAttribute, TypeAttribute):
    """`!stream.binding`: a resource as a dispatch function sees it."""

    name = "stream.binding"


@irdl_attr_definition
class FileType(ParametrizedAttribute, TypeAttribute):
    """`!stream.file`."""

    name = "stream.file"


@irdl_attr_definition
class TimepointAttr(ParametrizedAttribute):
    """`#stream.timepoint<immediate> : !stream.timepoint`: the value of a timepoint that is reached from the start."""

    name = "stream.timepoint"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            parser.parse_keyword("immediate")
        if parser.parse_optional_punctuation(":") is not None:
            parser.parse_type()
        return ()

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<immediate> : !stream.timepoint")

    def get_type(self) -> Attribute:
        return TimepointType()


STREAM_ATTRIBUTES: list[type[Attribute]] = [ResourceType, TimepointType, BindingType, FileType, TimepointAttr]
