"""Flags of `arith` operations that xDSL lacks: `exact`, `nneg`, rounding modes, `fastmath` of float casts.

The classes stay xDSL's own; their definitions learn the optional properties, by MLIR's names, and their text the words.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, OptPropertyDef, base
from xdsl.printer import Printer

from tiree.support.typed import is_integer_attr

ROUNDING_MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
"""By number, as `roundingmode` has them."""

_EXACT = (arith.DivSIOp, arith.DivUIOp, arith.ShRSIOp, arith.ShRUIOp)
_NON_NEGATIVE = (arith.ExtUIOp, arith.UIToFPOp)
_FLOAT_CASTS = (arith.ExtFOp, arith.TruncFOp)
_ROUNDED = (arith.TruncFOp,)
_OVERFLOWING = (arith.TruncIOp,)


def _allow(cls: type[IRDLOperation], name: str, kind: type[UnitAttr | IntegerAttr | FastMathFlagsAttr]) -> None:
    cls.get_irdl_definition().properties.setdefault(name, OptPropertyDef(base(kind)))


def accept_flags() -> None:
    """Lets the ops have the properties, and print them."""
    for cls in _EXACT:
        _allow(cls, "isExact", UnitAttr)
    for cls in _NON_NEGATIVE:
        _allow(cls, "nonNeg", UnitAttr)
    for cls in _FLOAT_CASTS:
        _allow(cls, "fastmath", FastMathFlagsAttr)
    for cls in _ROUNDED:
        _allow(cls, "roundingmode", IntegerAttr)
    for cls in _OVERFLOWING:
        cls.get_irdl_definition().properties.setdefault("overflowFlags", OptPropertyDef(base(IntegerOverflowAttr)))
    for cls in {*_EXACT, *_NON_NEGATIVE, *_FLOAT_CASTS, *_OVERFLOWING}:
        cls.print = print_flagged


def print_flagged(self: Operation, printer: Printer) -> None:
    """`%a, %b exact overflow<..> rounding fastmath<..> {..} : type`, and `to type` for casts."""
    printer.print_string(" ")
    printer.print_list(self.operands, printer.print_ssa_value)
    properties = self.properties
    if "isExact" in properties:
        printer.print_string(" exact")
    if "nonNeg" in properties:
        printer.print_string(" nneg")
    overflow, rounding, fast = (properties.get(name) for name in ("overflowFlags", "roundingmode", "fastmath"))
    if isinstance(overflow, IntegerOverflowAttr) and overflow.data:
        printer.print_string(" overflow")
        overflow.print_parameter(printer)
    if is_integer_attr(rounding):
        printer.print_string(f" {ROUNDING_MODES[rounding.value.data]}")
    if isinstance(fast, FastMathFlagsAttr) and fast.data:
        printer.print_string(" fastmath")
        fast.print_parameter(printer)
    printer.print_op_attributes(self.attributes)
    printer.print_string(" : ")
    printer.print_attribute(self.operands[0].type)
    if len(self.operands) == 1:
        printer.print_string(" to ")
        printer.print_attribute(self.results[0].type)


accept_flags()
