"""The attributes of IREE's `iree_cpu` dialect that a device target may carry.

Tiree never writes them; modules that IREE printed contain them, and they have to survive a round trip.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Dialect, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class _Empty(ParametrizedAttribute):
    """An attribute without parameters that is written with its brackets."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return ()

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string("<>")


@irdl_attr_definition
class CPUEncodingResolverAttr(_Empty):
    """`#iree_cpu.cpu_encoding_resolver<>`: how IREE lays out encoded tensors for this target."""

    name = "iree_cpu.cpu_encoding_resolver"


@irdl_attr_definition
class VMVXEncodingResolverAttr(_Empty):
    """`#iree_cpu.vmvx_encoding_resolver<>`: the same for kernels as bytecode."""

    name = "iree_cpu.vmvx_encoding_resolver"


IREECPU = Dialect("iree_cpu", [], [CPUEncodingResolverAttr, VMVXEncodingResolverAttr])
