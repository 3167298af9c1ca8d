"""Shardy: how devices may share the work. The two operations with which JAX says it, which no result depends on.

Sharded programs speak of whole tensors, so one device can run them whatever their mesh. `sdy.manual_computation`, whose
body speaks of the part of one device, is not here. What the operations say is kept as an attribute of no known form.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure, SymbolOpInterface


@irdl_op_definition
class MeshOp(IRDLOperation):
    """`sdy.mesh @mesh = <["x"=2]>`: the devices and their axes."""

    name = "sdy.mesh"
    sym_name = prop_def(StringAttr)
    mesh = prop_def(Attribute)
    traits = traits_def(SymbolOpInterface())


@irdl_op_definition
class ShardingConstraintOp(IRDLOperation):
    """`sdy.sharding_constraint %x <@mesh, [{"x"}]> : type`: its operand, with how it should be shared."""

    T: ClassVar = VarConstraint("T", AnyAttr())
    name = "sdy.sharding_constraint"
    input = operand_def(T)
    result = result_def(T)
    sharding = prop_def(Attribute)
    traits = traits_def(Pure())


Sdy = Dialect("sdy", [MeshOp, ShardingConstraintOp])
