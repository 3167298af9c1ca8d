"""Modules as text. Assumes xDSL's printer for custom syntax."""

from __future__ import annotations

from io import StringIO

from xdsl.ir import Operation
from xdsl.printer import Printer


class ModulePrinter(Printer):
    """xDSL's printer that can leave large constants out."""

    elide_larger_than: int | None = None


def print_module(
    module: Operation, generic: bool = True, *, debuginfo: bool = False, elide_larger_than: int | None = None
) -> str:
    """See `tiree.dialects.print_module`."""
    stream = StringIO()
    printer = ModulePrinter(stream, print_generic_format=generic, print_debuginfo=debuginfo)
    printer.elide_larger_than = elide_larger_than
    printer.print_op(module)
    stream.write("\n")
    return stream.getvalue()
