"""`tiree-input-carry-sizes`: tensors with `?` of another compiler's text get their sizes, through control flow too.

In: functions in which some `?` size is nowhere at hand (what a loop or a branch hands on, pads, reshapes), or that put
a tensor with `?` into another. Out: the same functions as the lowering of StableHLO leaves them, which carries sizes
along. Modules without such tensors stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.scf import ForOp, IfOp, WhileOp
from xdsl.dialects.tensor import DimOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects.tensor_dims import dynamic_dims, is_dynamic, operand_dims
from tiree.dialects.util import CallOp


def _lacks_sizes(value: SSAValue) -> bool:
    if not is_dynamic(value) or dynamic_dims(value) is not None:
        return False
    return any(not _tells_sizes(use.operation, value) for use in value.uses)


def _tells_sizes(op: Operation, value: SSAValue) -> bool:
    """Whether `op`, which reads `value`, asks for its sizes, or has those of a loop, branch or call from elsewhere."""
    if op.name in ("flow.tensor.tie_shape", "tensor.dim"):
        return True
    if not isinstance(value.owner, WhileOp | ForOp | IfOp | CallOp):
        return False  # pads and reshapes are what the lowering replaces
    sizes = operand_dims(op, value)
    return sizes is not None and not any(isinstance(size.owner, DimOp) for size in sizes)


def _needs_sizes(function: Operation) -> bool:
    return any(_is_insertion(op) or any(map(_lacks_sizes, op.results)) for op in function.walk())


def _is_insertion(op: Operation) -> bool:
    """Whether `op` puts a tensor with `?` into another, which the lowering makes one structured op."""
    return op.name == "tensor.insert_slice" and any(map(is_dynamic, op.operands))


@dataclass(frozen=True)
class CarrySizesPass(ModulePass):
    """See the module's docstring. `resolve`: entry points take buffer views, so nothing resolves sizes later."""

    name = "tiree-input-carry-sizes"
    resolve: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from tiree.input.convert_to_linalg import ConvertToLinalgPass

        functions = [function for function in op.body.block.ops if function.name == "util.func"]
        if any(map(_needs_sizes, functions)):
            ConvertToLinalgPass().apply(ctx, op)
            if self.resolve:
                from tiree.input.resolve_sizes import ResolveSizesPass

                ResolveSizesPass().apply(ctx, op)
