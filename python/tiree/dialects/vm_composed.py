"""Operations of the `vm` dialect without an instruction of their own: `tiree.vm.expand` turns them into others.

Names are grouped by shape. Value operations are of the class that all value operations share (`tiree.dialects.vm`).
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    successor_def,
    traits_def,
    var_operand_def,
    var_result_def,
    var_successor_def,
)
from xdsl.traits import IsolatedFromAbove, IsTerminator

COMPARISONS = (
    *(f"cmp.{kind}.{type}.{sign}" for kind in ("gt", "gte", "lte") for type in ("i32", "i64") for sign in "su"),
    *(f"cmp.{kind}.{type}.{order}" for kind in ("gt", "gte") for type in ("f32", "f64") for order in "ou"),
    *(f"cmp.nz.{type}.{order}" for type in ("f32", "f64") for order in "ou"),
    *(f"cmp.eq.{type}.near" for type in ("f32", "f64")),
)
CONVERSIONS = (
    *(f"ext.{source}.i64.{sign}" for source in ("i8", "i16") for sign in "su"),
    *("trunc.i16.i8", "trunc.i64.i8", "trunc.i64.i16"),
    "cast.ref.any",
)
CHECKS = ("check.eq", "check.ne", "check.nz", "check.nearly_eq")
OTHERS = ("cond_fail", "optimization_barrier")
VALUES = (*COMPARISONS, *CONVERSIONS, *CHECKS, *OTHERS)


@irdl_op_definition
class BranchTableOp(IRDLOperation):
    """Goes to the case that `index` names, or to the default."""

    name = "vm.br_table"
    index = var_operand_def()
    default_operands = var_operand_def()
    case_operands = var_operand_def()
    case_operand_segments = prop_def(Attribute)
    default_destination = successor_def()
    case_destinations = var_successor_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsTerminator())

    def cases(self) -> list[list[SSAValue]]:
        """What each case passes to its block."""
        sizes = self.case_operand_segments
        assert isinstance(sizes, DenseArrayBase)
        values = iter(self.case_operands)
        return [[next(values) for _ in range(int(size))] for size in sizes.get_values()]


@irdl_op_definition
class CondBreakOp(IRDLOperation):
    """A breakpoint that is hit when `condition` is not zero; goes on at `destination` in any case."""

    name = "vm.cond_break"
    condition = operand_def()
    destination_operands = var_operand_def()
    destination = successor_def()
    traits = traits_def(IsTerminator())


@irdl_op_definition
class InitializerOp(IRDLOperation):
    """Runs when a context is made; all of a module become its `__init`, in order."""

    name = "vm.initializer"
    function_type = opt_prop_def(Attribute)
    arg_attrs = opt_prop_def(ArrayAttr)
    res_attrs = opt_prop_def(ArrayAttr)
    body = region_def()
    traits = traits_def(IsolatedFromAbove())


@irdl_op_definition
class InlineRodataOp(IRDLOperation):
    """Constant data where it is used."""

    name = "vm.rodata.inline"
    rodata_name = opt_prop_def(StringAttr, prop_name="name")
    value = prop_def(Attribute)
    alignment = opt_prop_def(Attribute)
    mime_type = opt_prop_def(StringAttr)
    results_ = var_result_def()


@irdl_op_definition
class InlineRodataTableOp(IRDLOperation):
    """Several pieces of data in one buffer (the last result), and a table of their (offset, length) pairs."""

    name = "vm.rodata.table.inline"
    table_type = prop_def(Attribute)
    table_name = opt_prop_def(StringAttr)
    data_name = opt_prop_def(StringAttr)
    data_array = prop_def(ArrayAttr)
    alignment = opt_prop_def(Attribute)
    data_alignment = opt_prop_def(Attribute)
    mime_type = opt_prop_def(StringAttr)
    results_ = var_result_def()


@irdl_op_definition
class GlobalAddressOp(IRDLOperation):
    """The place of a global, for `vm.global.load.indirect.*` and `vm.global.store.indirect.*`."""

    name = "vm.global.address"
    # Named `global`, a Python keyword.
    global_ = prop_def(Attribute, prop_name="global")
    results_ = var_result_def()


OPERATIONS: list[type[Operation]] = [
    BranchTableOp,
    CondBreakOp,
    InitializerOp,
    InlineRodataOp,
    InlineRodataTableOp,
    GlobalAddressOp,
]
