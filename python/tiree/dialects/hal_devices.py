"""Attributes that say which device a global holds, besides `#hal.device.target`: another name, a number, a choice.

`: !hal.device` follows each where it stands alone, as IREE prints it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntAttr, NoneAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tiree.support.typed import is_array_attr


def _parse_type(parser: AttrParser) -> None:
    if parser.parse_optional_punctuation(":") is not None:
        parser.parse_type()


@irdl_attr_definition
class DeviceAliasAttr(ParametrizedAttribute):
    """`#hal.device.alias<"local"[1], {...}>`: a device of a kind that flags say more of."""

    name = "hal.device.alias"
    device_id: StringAttr = param_def()
    number: IntAttr | NoneAttr = param_def()
    configuration: DictionaryAttr = param_def()

    def __init__(
        self, device_id: str, number: int | None = None, configuration: Mapping[str, Attribute] | None = None
    ) -> None:
        place = NoneAttr() if number is None else IntAttr(number)
        super().__init__(StringAttr(device_id), place, DictionaryAttr(dict(configuration or {})))

    @property
    def ordinal(self) -> int | None:
        """Which of the devices of the kind it is; None: the first."""
        return self.number.data if isinstance(self.number, IntAttr) else None

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        number: Attribute = NoneAttr()
        configuration: Attribute = DictionaryAttr({})
        with parser.in_angle_brackets():
            device_id = StringAttr(parser.parse_str_literal())
            if parser.parse_optional_punctuation("[") is not None:
                number = IntAttr(parser.parse_integer(allow_negative=False))
                parser.parse_punctuation("]")
            if parser.parse_optional_punctuation(",") is not None:
                configuration = parser.parse_attribute()
        _parse_type(parser)
        return device_id, number, configuration

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<")
        printer.print_attribute(self.device_id)
        if self.ordinal is not None:
            printer.print_string(f"[{self.ordinal}]")
        if self.configuration.data:
            printer.print_string(", ")
            printer.print_attribute(self.configuration)
        printer.print_string("> : !hal.device")


@irdl_attr_definition
class DeviceOrdinalAttr(ParametrizedAttribute):
    """`#hal.device.ordinal<1>`: a device by its place among those that the program is given."""

    name = "hal.device.ordinal"
    number: IntAttr = param_def()

    def __init__(self, number: int) -> None:
        super().__init__(IntAttr(number))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            number = parser.parse_integer(allow_negative=False)
        _parse_type(parser)
        return (IntAttr(number),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.number.data}> : !hal.device")


@irdl_attr_definition
class DeviceFallbackAttr(ParametrizedAttribute):
    """`#hal.device.fallback<@a>`: the device that another global holds."""

    name = "hal.device.fallback"
    device: SymbolRefAttr = param_def()

    def __init__(self, device: str) -> None:
        super().__init__(SymbolRefAttr(device))

    @property
    def device_name(self) -> str:
        return self.device.root_reference.data

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            device = parser.parse_attribute()
            if not isinstance(device, SymbolRefAttr):
                parser.raise_error("#hal.device.fallback needs the symbol of a device, such as @a")
        _parse_type(parser)
        return (device,)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<")
        printer.print_attribute(self.device)
        printer.print_string("> : !hal.device")


@irdl_attr_definition
class DeviceSelectAttr(ParametrizedAttribute):
    """`#hal.device.select<[a, b]>`: the first of these devices that the program is given."""

    name = "hal.device.select"
    devices: ArrayAttr = param_def()

    def __init__(self, devices: Sequence[Attribute]) -> None:
        super().__init__(ArrayAttr(devices))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            devices = parser.parse_attribute()
            if not is_array_attr(devices) or not devices.data:
                parser.raise_error("#hal.device.select needs a list of devices")
        _parse_type(parser)
        return (devices,)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<")
        printer.print_attribute(self.devices)
        printer.print_string("> : !hal.device")


DEVICE_ATTRIBUTES: list[type[Attribute]] = [DeviceAliasAttr, DeviceOrdinalAttr, DeviceFallbackAttr, DeviceSelectAttr]
