"""What xDSL's `tensor` dialect lacks: `rank`, `bitcast`, `generate`, `gather`, `scatter`, and reshapes of scalars.

MLIR reshapes between a scalar tensor and one of any rank with sizes 1 with an empty reassociation (`tensor<f32>` into
`tensor<1x1xf32>`), and pads may give a number where sizes are `?`; xDSL's verifiers refuse that.
"""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DenseArrayBase, IndexType, IntegerAttr, ShapedType, UnitAttr
from xdsl.dialects.utils.reshape_ops_utils import verify_reshape_like_types
from xdsl.ir import Dialect
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tiree.support.typed import ints_of


def _verify_reshape(
    collapsed_type: ShapedType, expanded_type: ShapedType, reassociation: ArrayAttr[ArrayAttr[IntegerAttr]]
) -> None:
    if collapsed_type.get_shape() or len(reassociation):
        verify_reshape_like_types(collapsed_type, expanded_type, reassociation)
    elif any(size != 1 for size in expanded_type.get_shape()):
        raise VerifyException(f"a scalar tensor can only be reshaped to sizes of 1, not to {expanded_type}")


tensor.verify_reshape_like_types = _verify_reshape  # pyright: ignore[reportPrivateImportUsage]: xDSL looks here


def _verify_pad(self: tensor.PadOp) -> None:
    """MLIR's rule: a size that source and padding give must stand in the result; others may be numbers there."""
    source, result = self.source.type, self.result.type
    assert isinstance(source, ShapedType)
    assert isinstance(result, ShapedType)
    low, high = ints_of(self.static_low), ints_of(self.static_high)
    if not len(low) == len(high) == len(source.get_shape()) == len(result.get_shape()):
        raise VerifyException(f"{self.name} from {source} to {result} has {len(low)} low and {len(high)} high paddings")
    for size, before, after, given in zip(source.get_shape(), low, high, result.get_shape(), strict=True):
        if DYNAMIC_INDEX not in (size, before, after) and size + before + after != given:
            raise VerifyException(f"{self.name} gives a size of {size + before + after}, which {result} does not have")


tensor.PadOp.verify_ = _verify_pad


@irdl_op_definition
class RankOp(IRDLOperation):
    """The number of dimensions."""

    name = "tensor.rank"
    tensor = operand_def()
    result = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "$tensor attr-dict `:` type($tensor)"


@irdl_op_definition
class BitcastOp(IRDLOperation):
    """Every element's bits as another element type of the same width."""

    name = "tensor.bitcast"
    source = operand_def()
    dest = result_def()
    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `to` type($dest)"


@irdl_op_definition
class GenerateOp(IRDLOperation):
    """A tensor whose element at each place is what the body yields for its indices."""

    name = "tensor.generate"
    extents = var_operand_def(IndexType)
    body = region_def("single_block")
    result = result_def()
    traits = traits_def(Pure())

    def print(self, printer: Printer) -> None:
        if self.extents:
            printer.print_string(" ")
            printer.print_list(self.extents, printer.print_ssa_value)
        printer.print_string(" ")
        printer.print_region(self.body)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class GatherOp(IRDLOperation):
    """Slices of `source` at the coordinates in the last dimension of `indices`."""

    name = "tensor.gather"
    source = operand_def()
    indices = operand_def()
    gather_dims = prop_def(DenseArrayBase)
    unique = opt_prop_def(UnitAttr)
    result = result_def()
    traits = traits_def(Pure())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        _print_indexed(printer, self, "gather_dims", self.gather_dims)


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """`dest` with slices of `source` at the coordinates in the last dimension of `indices`."""

    name = "tensor.scatter"
    source = operand_def()
    dest = operand_def()
    indices = operand_def()
    scatter_dims = prop_def(DenseArrayBase)
    unique = opt_prop_def(UnitAttr)
    result = result_def()
    traits = traits_def(Pure())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(" into ")
        printer.print_ssa_value(self.dest)
        _print_indexed(printer, self, "scatter_dims", self.scatter_dims)


def _print_indexed(printer: Printer, op: GatherOp | ScatterOp, word: str, dims: DenseArrayBase) -> None:
    printer.print_string("[")
    printer.print_ssa_value(op.indices)
    printer.print_string(f"] {word}([{', '.join(map(str, ints_of(dims)))}])")
    printer.print_string(" unique" if op.unique is not None else "")
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_function_type(op.operand_types, op.result_types)


TensorExt = Dialect("tensor", [RankOp, BitcastOp, GenerateOp, GatherOp, ScatterOp], [])
"""Registered over xDSL's `Tensor`."""
