"""`tiree-flow-annotate-assumptions`: executables learn what is known of the sizes that dispatches give them.

In: executables and their dispatches. Out: executables of dynamic shapes begin with `util.assume.int` of the sizes of
which every dispatch knows bounds or a divisor (`size_facts.py`). What is known of the lower 32 bits of a size only is
made true of all of them by a `cf.assert` that the rest is 0.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IndexType, ModuleOp, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from tiree.dialects.arith import ConstantOp
from tiree.dialects.flow import DispatchOp, ExecutableOp
from tiree.dialects.iree_tensor_ext import DispatchTensorType
from tiree.dialects.util_types import IntAssumptionAttr
from tiree.dialects.util_values import AssumeIntOp
from tiree.flow.size_facts import Fact, SizeFacts, full_range, given_by
from tiree.flow.structured import segments
from tiree.support.marks import SIZE_CHECK

_MOST = 1 << 53
"""A bound from here on says nothing."""


class AnnotateAssumptions(ModulePass):
    """See the module's docstring."""

    name = "tiree-flow-annotate-assumptions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        kernels = {
            (executable.sym_name.data, function.sym_name.data): function
            for executable in op.ops
            if isinstance(executable, ExecutableOp)
            for module in executable.body.block.ops
            if isinstance(module, ModuleOp)
            for function in module.ops
            if isinstance(function, FuncOp) and _is_dynamic(function)
        }
        if not kernels:
            return
        known: dict[tuple[str, str], list[Fact]] = {}
        for function in op.ops:
            if function.name in ("util.func", "util.initializer"):
                _Walk(known, kernels.keys()).region(function.regions[0], SizeFacts())
        for name, facts in known.items():
            _annotate(kernels[name].body.block, facts)


def _is_dynamic(function: FuncOp) -> bool:
    """Whether a kernel has a tensor with `?`, and sizes."""
    types = function.function_type.inputs.data
    return IndexType() in types and any(
        isinstance(type, DispatchTensorType) and DYNAMIC_INDEX in type.tensor_type.get_shape() for type in types
    )


@dataclass
class _Walk:
    """Through the host code of a function, in order."""

    known: dict[tuple[str, str], list[Fact]]
    kernels: Container[tuple[str, str]]

    def region(self, region: Region, facts: SizeFacts) -> None:
        """The first block comes before all others."""
        for number, block in enumerate(region.blocks):
            self.block(block, facts.copy() if number else facts)

    def block(self, block: Block, facts: SizeFacts) -> None:
        for op in list(block.ops):
            if op.name == "cf.assert":
                facts.assume(op.operands[0])
                _check_cut(op, facts)
            elif isinstance(op, AssumeIntOp):
                for number, operand in enumerate(op.operands):
                    facts.learn(operand, given_by(op, number))
            elif isinstance(op, DispatchOp):
                self.dispatch(op, facts)
            else:
                for region in op.regions:
                    self.region(region, facts.copy())

    def dispatch(self, op: DispatchOp, facts: SizeFacts) -> None:
        first, count, *_ = segments(op)
        given = [
            facts.of(value) if isinstance(value.type, IndexType) else full_range(value)
            for value in op.operands[first : first + count]
        ]
        for entry in op.entry_points.data:
            assert isinstance(entry, SymbolRefAttr)
            name = entry.root_reference.data, entry.nested_references.data[0].data
            if name not in self.kernels:
                continue
            before = self.known.get(name)
            self.known[name] = given if before is None else [a.either(b) for a, b in zip(before, given, strict=True)]


def _check_cut(check: Operation, facts: SizeFacts) -> None:
    """What was compared in 32 bits must have no others."""
    for size in facts.take_cut():
        limit = ConstantOp.index((1 << 31) - 1)
        fits = arith.CmpiOp(size, limit.result, "ule")
        said = StringAttr("a size does not fit the 32 bits in which the program compares it")
        made = cf.AssertOp.create(operands=[fits.result], properties={"msg": said})
        made.attributes[SIZE_CHECK] = UnitAttr()
        assert check.parent is not None
        for op in (limit, fits, made):
            op.location = check.location
        check.parent.insert_ops_before([limit, fits, made], check)


def _annotate(block: Block, facts: list[Fact]) -> None:
    first = block.first_op
    assert first is not None
    for argument, fact in zip(block.args, facts, strict=False):
        if not isinstance(argument.type, IndexType):
            continue
        low = fact.low if fact.low > 0 else None
        high = fact.high if fact.high < _MOST else None
        divisor = fact.divisor if fact.divisor > 1 else None
        if low is None and high is None and divisor is None:
            continue
        case = ArrayAttr([IntAssumptionAttr.of(low, high, divisor)])
        made = AssumeIntOp.create(
            operands=[argument], result_types=[argument.type], properties={"assumptions": ArrayAttr([case])}
        )
        argument.replace_uses_with_if(made.results[0], lambda use, made=made: use.operation is not made)
        block.insert_op_before(made, first)
