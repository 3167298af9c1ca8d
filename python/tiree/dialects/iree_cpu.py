"""The one attribute of IREE's `iree_cpu` dialect that a device target may carry.

Tiree never writes it; modules that IREE printed contain it, and it has to survive a round trip.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


@irdl_attr_definition
class CPUEncodingResolverAttr(ParametrizedAttribute):
    """`#iree_cpu.cpu_encoding_resolver<>`: how IREE lays out encoded tensors for this target."""

    name = "iree_cpu.cpu_encoding_resolver"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return ()

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<>")


IREECPU = Dialect("iree_cpu", [], [CPUEncodingResolverAttr])
