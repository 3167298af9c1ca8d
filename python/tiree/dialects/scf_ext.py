"""Properties of `scf` operations that xDSL lacks: `unsignedCmp` of `scf.for`, `no_inline` of `scf.execute_region`.

The classes stay xDSL's own; their definitions learn the properties, by MLIR's names, and their text the words.
"""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, OptPropertyDef, base
from xdsl.printer import Printer

_print_signed_for = scf.ForOp.print


def _allow(cls: type[IRDLOperation], name: str) -> None:
    cls.get_irdl_definition().properties.setdefault(name, OptPropertyDef(base(UnitAttr)))


def _print_for(self: scf.ForOp, printer: Printer) -> None:
    if "unsignedCmp" in self.properties:
        printer.print_string(" unsigned")
    _print_signed_for(self, printer)


def _print_execute_region(self: scf.ExecuteRegionOp, printer: Printer) -> None:
    if self.results:
        printer.print_string(" -> (")
        printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(")")
    printer.print_string(" no_inline " if "no_inline" in self.properties else " ")
    printer.print_region(self.region, print_entry_block_args=False)
    if self.attributes:
        printer.print_attr_dict(self.attributes)


def _print_while(self: scf.WhileOp, printer: Printer) -> None:
    # xDSL's own print puts the location behind the type, where MLIR does not read it.
    printer.print_string(" (")
    pairs = zip(self.before_region.block.args, self.arguments, strict=True)
    for number, (argument, value) in enumerate(pairs):
        printer.print_string(", " if number else "")
        printer.print_ssa_value(argument)
        printer.print_string(" = ")
        printer.print_ssa_value(value)
    printer.print_string(") : ")
    printer.print_function_type(self.operand_types, self.result_types)
    printer.print_string(" ")
    printer.print_region(self.before_region, print_entry_block_args=False)
    printer.print_string(" do ")
    printer.print_region(self.after_region)
    if self.attributes:
        printer.print_op_attributes(self.attributes, print_keyword=True)


_allow(scf.ForOp, "unsignedCmp")
_allow(scf.ExecuteRegionOp, "no_inline")
scf.ForOp.print = _print_for
scf.ExecuteRegionOp.print = _print_execute_region
scf.WhileOp.print = _print_while

ScfExt = Dialect("scf", [], [])
"""Registered over xDSL's `Scf`."""
