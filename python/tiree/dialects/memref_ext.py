"""Operations of the `memref` dialect that xDSL lacks, and `memref.global` over buffer-backed constants.

Names and properties are MLIR's. `GlobalOp` takes the place of xDSL's op in Tiree's context: its initial value is a
`DenseAttr` of tensor type.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BoolAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, SymbolOpInterface

from tiree.dialects.dense import DenseAttr


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """`memref.prefetch`: a hint that `memref[indices]` will be used. `localityHint` 0 (none) to 3 (keep)."""

    name = "memref.prefetch"
    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    is_write = prop_def(BoolAttr, prop_name="isWrite")
    locality = prop_def(IntegerAttr, prop_name="localityHint")
    is_data = prop_def(BoolAttr, prop_name="isDataCache")
    traits = traits_def(MemoryReadEffect())

    def __init__(self, memref: SSAValue, indices: Sequence[SSAValue], write: bool = False, locality: int = 3) -> None:
        super().__init__(
            operands=[memref, list(indices)],
            properties={
                "isWrite": BoolAttr.from_bool(write),
                "localityHint": IntegerAttr(locality, i32),
                "isDataCache": BoolAttr.from_bool(True),
            },
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.memref)
        printer.print_string("[")
        printer.print_list(self.indices, printer.print_ssa_value)
        access = "write" if self.is_write else "read"
        kind = "data" if self.is_data else "instr"
        printer.print_string(f"], {access}, locality<{self.locality.value.data}>, {kind} : ")
        printer.print_attribute(self.memref.type)

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        memref = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
        parser.parse_punctuation(",")
        access = parser.parse_identifier()
        parser.parse_punctuation(",")
        parser.parse_keyword("locality")
        with parser.in_angle_brackets():
            locality = parser.parse_integer()
        parser.parse_punctuation(",")
        kind = parser.parse_identifier()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        base = parser.resolve_operand(memref, type)
        op = cls(base, [parser.resolve_operand(i, IndexType()) for i in indices], access == "write", locality)
        op.properties["isDataCache"] = BoolAttr.from_bool(kind == "data")
        return op


@irdl_op_definition
class GlobalOp(IRDLOperation):
    """`memref.global`: a read-only table of an executable, private to it."""

    name = "memref.global"
    sym_name = prop_def(SymbolNameConstraint())
    sym_visibility = opt_prop_def(StringAttr)
    type = prop_def(MemRefType)
    initial_value = prop_def(Attribute)
    constant = opt_prop_def(UnitAttr)
    alignment = opt_prop_def(IntegerAttr)
    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, type: MemRefType, value: DenseAttr, alignment: int = 64) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "sym_visibility": StringAttr("private"),
                "type": type,
                "initial_value": value,
                "constant": UnitAttr(),
                "alignment": IntegerAttr(alignment, i64),
            }
        )


MEMREF_EXT_OPS: list[type[Operation]] = [PrefetchOp, GlobalOp]

MemrefExt = Dialect("memref", MEMREF_EXT_OPS, [])
"""Registered beside (and over) xDSL's `MemRef`."""
