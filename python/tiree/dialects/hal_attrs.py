"""Types, attributes and flag values of the `hal` dialect.

Syntax and flag values are those of IREE 3.13 (`iree-opt` accepts what is printed here). Flag sets are plain integers in
the IR; the enums below only name their bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntFlag
from functools import cache

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tiree.dialects.hal_affinity import AFFINITY_ATTRIBUTES
from tiree.dialects.hal_devices import DEVICE_ATTRIBUTES
from tiree.support.typed import int_of, is_array_attr


class MemoryType(IntFlag):
    """Where memory lives and who sees it."""

    OPTIMAL = 0x01
    HOST_VISIBLE = 0x02
    HOST_COHERENT = 0x04
    HOST_CACHED = 0x08
    DEVICE_VISIBLE = 0x10
    DEVICE_LOCAL = 0x30
    HOST_LOCAL = 0x46


class BufferUsage(IntFlag):
    """What a buffer may be used for."""

    TRANSFER_SOURCE = 0x1
    TRANSFER_TARGET = 0x2
    TRANSFER = 0x3
    DISPATCH_STORAGE = 0xC00
    DEFAULT = 0xC03
    SHARING_IMMUTABLE = 0x80000
    MAPPING = 0x9000000


class MemoryAccess(IntFlag):
    """Access that an operation needs."""

    READ = 1
    WRITE = 2


class CommandBufferMode(IntFlag):
    """How a command buffer will be used; 0 is a reusable one."""

    ONE_SHOT = 1
    ALLOW_INLINE_EXECUTION = 16


class CommandCategory(IntFlag):
    """Commands that a command buffer may hold."""

    TRANSFER = 1
    DISPATCH = 2
    ANY = 3


class ExecutionStage(IntFlag):
    """Pipeline stages of an execution barrier."""

    COMMAND_ISSUE = 1
    COMMAND_PROCESS = 2
    DISPATCH = 4
    TRANSFER = 8
    COMMAND_RETIRE = 16
    HOST = 32


class DescriptorFlags(IntFlag):
    """Properties of one binding of a pipeline layout."""

    NONE = 0
    READ_ONLY = 1
    INDIRECT = 2


ENCODING_DENSE_ROW_MAJOR = 1
"""The only encoding type that compiled code uses."""


@irdl_attr_definition
class AllocatorType(ParametrizedAttribute, TypeAttribute):
    """`!hal.allocator`."""

    name = "hal.allocator"


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """`!hal.buffer`: untyped device memory."""

    name = "hal.buffer"


@irdl_attr_definition
class BufferViewType(ParametrizedAttribute, TypeAttribute):
    """`!hal.buffer_view`: a buffer with shape and element type."""

    name = "hal.buffer_view"


@irdl_attr_definition
class ChannelType(ParametrizedAttribute, TypeAttribute):
    """`!hal.channel`."""

    name = "hal.channel"


@irdl_attr_definition
class CommandBufferType(ParametrizedAttribute, TypeAttribute):
    """`!hal.command_buffer`: recorded commands."""

    name = "hal.command_buffer"


@irdl_attr_definition
class DeviceType(ParametrizedAttribute, TypeAttribute):
    """`!hal.device`."""

    name = "hal.device"


@irdl_attr_definition
class ExecutableType(ParametrizedAttribute, TypeAttribute):
    """`!hal.executable`: a loaded executable."""

    name = "hal.executable"


@irdl_attr_definition
class FenceType(ParametrizedAttribute, TypeAttribute):
    """`!hal.fence`."""

    name = "hal.fence"


@irdl_attr_definition
class FileType(ParametrizedAttribute, TypeAttribute):
    """`!hal.file`."""

    name = "hal.file"


@irdl_attr_definition
class ExecutableTargetAttr(ParametrizedAttribute):
    """`#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {...}>`: what a variant is compiled for."""

    name = "hal.executable.target"
    backend: StringAttr = param_def()
    format: StringAttr = param_def()
    configuration: DictionaryAttr = param_def()

    def __init__(self, backend: str, format: str, configuration: Mapping[str, Attribute]) -> None:
        super().__init__(StringAttr(backend), StringAttr(format), DictionaryAttr(dict(configuration)))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            backend = StringAttr(parser.parse_str_literal())
            parser.parse_punctuation(",")
            format = StringAttr(parser.parse_str_literal())
            configuration: dict[str, Attribute] = {}
            if parser.parse_optional_punctuation(",") is not None:
                configuration = parser.parse_optional_dictionary_attr_dict()
        return backend, format, DictionaryAttr(configuration)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<")
        printer.print_attribute(self.backend)
        printer.print_string(", ")
        printer.print_attribute(self.format)
        if self.configuration.data:
            printer.print_string(", ")
            printer.print_attribute(self.configuration)
        printer.print_string(">")

    @property
    def symbol_name(self) -> str:
        """The variant symbol that IREE derives from the format: `embedded_elf_x86_64`."""
        return "".join(c if c.isalnum() else "_" for c in self.format.data)


@irdl_attr_definition
class DeviceTargetAttr(ParametrizedAttribute):
    """`#hal.device.target<"local", [targets]> : !hal.device`: a device and what its executables are compiled for."""

    name = "hal.device.target"
    device_id: StringAttr = param_def()
    configuration: DictionaryAttr = param_def()
    targets: ArrayAttr[ExecutableTargetAttr] = param_def()

    def __init__(
        self,
        device_id: str,
        targets: Sequence[ExecutableTargetAttr],
        configuration: Mapping[str, Attribute] | None = None,
    ) -> None:
        super().__init__(StringAttr(device_id), DictionaryAttr(dict(configuration or {})), ArrayAttr(targets))

    @property
    def ordinal(self) -> int | None:
        """Which of the devices that match it is; None: the first."""
        number = self.configuration.data.get("ordinal")
        return int_of(number) if number is not None else None

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        configuration: Attribute = DictionaryAttr({})
        targets: Attribute = ArrayAttr(())
        with parser.in_angle_brackets():
            device_id = StringAttr(parser.parse_str_literal())
            while parser.parse_optional_punctuation(",") is not None:
                parameter = parser.parse_attribute()
                if isinstance(parameter, DictionaryAttr):
                    configuration = parameter
                elif is_array_attr(parameter):
                    targets = parameter
                else:
                    parser.raise_error("expected a dictionary or a list of executable targets")
        if parser.parse_optional_punctuation(":") is not None:
            parser.parse_type()
        return device_id, configuration, targets

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<")
        printer.print_attribute(self.device_id)
        if self.configuration.data:
            printer.print_string(", ")
            printer.print_attribute(self.configuration)
        if self.targets.data:
            printer.print_string(", ")
            printer.print_attribute(self.targets)
        printer.print_string("> : !hal.device")


def _print_flag(printer: Printer, flags: int) -> None:
    names = [flag.name for flag in (DescriptorFlags.READ_ONLY, DescriptorFlags.INDIRECT) if flags & flag]
    words = [{"READ_ONLY": "ReadOnly", "INDIRECT": "Indirect"}[name or ""] for name in names]
    printer.print_string(f'"{"|".join(words)}"' if len(words) > 1 else words[0] if words else "None")


def _parse_flag(parser: AttrParser) -> int:
    text = parser.parse_optional_str_literal()
    if text is None:
        text = parser.parse_identifier()
    values = {"None": 0, "ReadOnly": 1, "Indirect": 2}
    flags = 0
    for word in text.split("|"):
        if word not in values:
            parser.raise_error(f"unknown descriptor flag {word}; known are {', '.join(values)}")
        flags |= values[word]
    return flags


@irdl_attr_definition
class PipelineBindingAttr(ParametrizedAttribute):
    """`#hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">`."""

    name = "hal.pipeline.binding"
    type: StringAttr = param_def()
    flags: IntAttr = param_def()

    def __init__(self, flags: int = 0, type: str = "storage_buffer") -> None:
        super().__init__(StringAttr(type), IntAttr(int(flags)))

    @property
    def flag_bits(self) -> int:
        return self.flags.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        flags = 0
        with parser.in_angle_brackets():
            type = parser.parse_identifier()
            if parser.parse_optional_punctuation(",") is not None:
                flags = _parse_flag(parser)
        return StringAttr(type), IntAttr(flags)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.type.data}")
        if self.flag_bits:
            printer.print_string(", ")
            _print_flag(printer, self.flag_bits)
        printer.print_string(">")


@irdl_attr_definition
class PipelineLayoutAttr(ParametrizedAttribute):
    """`#hal.pipeline.layout<constants = 2, bindings = [...], flags = Indirect>`: the interface of an export."""

    name = "hal.pipeline.layout"
    constants: IntAttr = param_def()
    bindings: ArrayAttr[PipelineBindingAttr] = param_def()
    flags: IntAttr = param_def()

    def __init__(self, bindings: Sequence[PipelineBindingAttr], constants: int = 0, indirect: bool = True) -> None:
        flags = int(DescriptorFlags.INDIRECT if indirect else 0)
        super().__init__(IntAttr(constants), ArrayAttr(bindings), IntAttr(flags))

    @property
    def constant_count(self) -> int:
        return self.constants.data

    @property
    def binding_count(self) -> int:
        return len(self.bindings.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        constants, bindings, flags = 0, ArrayAttr(()), 0
        with parser.in_angle_brackets():
            if parser.parse_optional_keyword("constants") is not None:
                parser.parse_punctuation("=")
                constants = parser.parse_integer()
                parser.parse_optional_punctuation(",")
            if parser.parse_optional_keyword("bindings") is not None:
                parser.parse_punctuation("=")
                bindings = parser.parse_attribute()
                parser.parse_optional_punctuation(",")
            if parser.parse_optional_keyword("flags") is not None:
                parser.parse_punctuation("=")
                flags = _parse_flag(parser)
        return IntAttr(constants), bindings, IntAttr(flags)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<")
        if self.constant_count:
            printer.print_string(f"constants = {self.constants.data}, ")
        printer.print_string("bindings = ")
        printer.print_attribute(self.bindings)
        if self.flags.data:
            printer.print_string(", flags = Indirect")
        printer.print_string(">")


def element_type_value(type: Attribute) -> int:
    """The runtime's number of an element type: numerical type in the top byte, bit count below.

    Raises `TypeError` for a type that has none.
    """
    match type:
        case IntegerType():
            width = type.width.data
            if width == 1:
                return 0x13000008
            kind = {Signedness.SIGNLESS: 0x10, Signedness.SIGNED: 0x11, Signedness.UNSIGNED: 0x12}
            return kind[type.signedness.data] << 24 | width
        case Float16Type():
            return 0x21000010
        case Float32Type():
            return 0x21000020
        case Float64Type():
            return 0x21000040
        case BFloat16Type():
            return 0x22000010
        case IndexType():
            return 0x10000040
        case ComplexType():
            return 0x23000000 | 2 * (element_type_value(type.element_type) & 0xFF)
        case _:
            float8 = {"E5M2": 0x24, "E4M3FN": 0x25, "E5M2FNUZ": 0x26, "E4M3FNUZ": 0x27, "E8M0FNU": 0x28}
            kind8 = float8.get(type.name.upper().removeprefix("F8"))
            if kind8 is None:
                raise TypeError(f"type {type} has no HAL element type")
            return kind8 << 24 | 8


@cache
def no_flags() -> IntegerAttr:
    """`0 : i64`, the flags of most queue operations."""
    return IntegerAttr(0, IntegerType(64))


HAL_ATTRIBUTES: list[type[Attribute]] = [
    AllocatorType,
    BufferType,
    BufferViewType,
    ChannelType,
    CommandBufferType,
    DeviceType,
    ExecutableType,
    FenceType,
    FileType,
    ExecutableTargetAttr,
    DeviceTargetAttr,
    *AFFINITY_ATTRIBUTES,
    *DEVICE_ATTRIBUTES,
    PipelineBindingAttr,
    PipelineLayoutAttr,
]
