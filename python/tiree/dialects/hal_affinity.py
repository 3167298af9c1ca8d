"""Attributes that say where work runs and memory lies: a device, some of its queues, or the best of several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, SymbolRefAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

ANY_QUEUE = -1
"""The mask of all queues."""


def _mask(queues: Iterable[int]) -> int:
    mask = 0
    for queue in queues:
        mask |= 1 << queue
    return mask if mask < 1 << 63 else mask - (1 << 64)


class _QueuesAttr(ParametrizedAttribute):
    """`<@device>` or `<@device, [queues]>`. Parameters are declared where the attribute is: they decide equality."""

    device: SymbolRefAttr
    queue_mask: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        mask = ANY_QUEUE
        with parser.in_angle_brackets():
            device = parser.parse_attribute()
            if not isinstance(device, SymbolRefAttr):
                parser.raise_error(f"#{cls.name} needs a device symbol such as @__device_0")
            given = parser.parse_optional_punctuation(",") is not None
            if given and parser.parse_optional_punctuation("*") is None:
                queues = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
                if not queues or not all(0 <= queue < 64 for queue in queues):
                    parser.raise_error(f"#{cls.name}: queues are numbers from 0 to 63, at least one")
                mask = _mask(queues)
        return device, IntAttr(mask)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<")
        printer.print_attribute(self.device)
        if self.queue_mask.data != ANY_QUEUE:
            printer.print_string(f", [{', '.join(map(str, self.queues))}]")
        printer.print_string(">")

    @property
    def device_name(self) -> str:
        return self.device.root_reference.data

    @property
    def queues(self) -> list[int]:
        """The numbers of the queues that are named."""
        return [queue for queue in range(64) if self.queue_mask.data >> queue & 1]


@irdl_attr_definition
class DeviceAffinityAttr(_QueuesAttr):
    """`#hal.device.affinity<@__device_0, [1]>`: runs on that queue of that device; without a list, on any."""

    name = "hal.device.affinity"
    device: SymbolRefAttr = param_def()
    queue_mask: IntAttr = param_def()
    """One bit per queue; -1: any."""

    def __init__(self, device: str | SymbolRefAttr, queue_mask: int = ANY_QUEUE) -> None:
        super().__init__(SymbolRefAttr(device) if isinstance(device, str) else device, IntAttr(queue_mask))


@irdl_attr_definition
class DevicePromiseAttr(_QueuesAttr):
    """`#hal.device.promise<@a>`: an affinity to a device that flags will name."""

    name = "hal.device.promise"
    device: SymbolRefAttr = param_def()
    queue_mask: IntAttr = param_def()
    """One bit per queue; -1: any."""

    def __init__(self, device: str | SymbolRefAttr, queue_mask: int = ANY_QUEUE) -> None:
        super().__init__(SymbolRefAttr(device) if isinstance(device, str) else device, IntAttr(queue_mask))


@irdl_attr_definition
class DeviceOptimalAttr(ParametrizedAttribute):
    """`#hal.device.optimal<[#hal.device.affinity<@a>, #hal.device.affinity<@b>]>`: memory that serves all of them."""

    name = "hal.device.optimal"
    affinities: ArrayAttr[DeviceAffinityAttr] = param_def()

    def __init__(self, affinities: Sequence[DeviceAffinityAttr]) -> None:
        super().__init__(ArrayAttr(affinities))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            affinities = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
        if not affinities or not all(isinstance(one, DeviceAffinityAttr) for one in affinities):
            parser.raise_error("#hal.device.optimal needs a list of #hal.device.affinity")
        return (ArrayAttr(affinities),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<")
        printer.print_attribute(self.affinities)
        printer.print_string(">")


def optimal(affinities: Iterable[DeviceAffinityAttr]) -> DeviceAffinityAttr | DeviceOptimalAttr:
    """Where memory lies that all of `affinities` use: one for each device, with the queues of that device together."""
    masks: dict[SymbolRefAttr, int] = {}
    for one in affinities:
        masks[one.device] = masks.get(one.device, 0) | one.queue_mask.data
    merged = [DeviceAffinityAttr(device, mask) for device, mask in masks.items()]
    return merged[0] if len(merged) == 1 else DeviceOptimalAttr(merged)


AFFINITY_ATTRIBUTES: list[type[Attribute]] = [DeviceAffinityAttr, DevicePromiseAttr, DeviceOptimalAttr]
