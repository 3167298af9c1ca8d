"""What xDSL's `affine` dialect lacks: `linearize_index`."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, IndexType, UnitAttr, i64
from xdsl.ir import Dialect
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure


@irdl_op_definition
class LinearizeIndexOp(IRDLOperation):
    """The place of an element in row-major order; of the basis, sizes that are values are `DYNAMIC_INDEX`.

    The basis may leave the outermost size out.
    """

    name = "affine.linearize_index"
    multi_index = var_operand_def(IndexType)
    dynamic_basis = var_operand_def(IndexType)
    static_basis = prop_def(DenseArrayBase.constr(i64))
    disjoint = opt_prop_def(UnitAttr)
    linear_index = result_def(IndexType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())


AffineExt = Dialect("affine", [LinearizeIndexOp], [])
