"""`flash-attention`: a dispatch around one attention, whose scores never go to memory.

In: a function that loads tensors, computes the mask and the queries element by element, applies
`iree_linalg_ext.attention`, and stores the result through elementwise ops. Sizes may be known when it runs only.
"""

from __future__ import annotations

from xdsl.dialects import arith as xarith
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue

from tiree.codegen.common.analyze import fail
from tiree.codegen.common.graph import DispatchInfo
from tiree.codegen.cpu.attention_kernel import AttentionKernel
from tiree.codegen.cpu.attention_plan import MOST_WORKGROUPS, loop_sizes, plan_attention, workgroups_of
from tiree.codegen.cpu.dynamic_evaluator import DynamicEvaluator
from tiree.codegen.cpu.strategy import Kernel
from tiree.dialects.arith import ConstantOp
from tiree.dialects.hal_executable import ExecutableExportOp, InterfaceBindingSubspanOp
from tiree.dialects.hal_executable import ReturnOp as HalReturnOp
from tiree.dialects.iree_linalg_ext_attention import NAME, AttentionForm, form_of, store_path
from tiree.dialects.tensor_dims import dim_size
from tiree.support.cpu_target import TargetDescription
from tiree.support.typed import int_of, symbol_name

STRATEGY = "flash-attention"


def attention_of(function: Operation) -> Operation | None:
    """The attention of a dispatch function."""
    return next((op for op in function.regions[0].block.ops if op.name == NAME), None)


def checked_form(op: Operation) -> AttentionForm:
    """The form of an attention. Raises `CompileError` where it has none."""
    form = form_of(op)
    if form is None:
        raise fail(op, f"{op.name} of a form that no kernel computes")
    return form


def lower_attention(function: Operation, op: Operation, target: TargetDescription) -> Kernel:
    """The kernel of a dispatch function around attention `op`. Raises `CompileError`."""
    form, path = checked_form(op), store_path(op)
    if path is None:
        raise fail(op, f"{op.name} whose result goes to more than one store")
    block = function.regions[0].block
    store = next(one for one in block.ops if one.name == "iree_tensor_ext.dispatch.tensor.store")
    subspan = store.operands[1].owner
    assert isinstance(subspan, InterfaceBindingSubspanOp)
    info = DispatchInfo(symbol_name(function), function)
    ev = DynamicEvaluator(info, frozenset([subspan.binding_index]), target.has_fma)
    plan = plan_attention(op, form, target)
    static = DYNAMIC_INDEX not in loop_sizes(op)
    count = workgroups_of(op, form, plan) if static else None
    AttentionKernel(ev, op, form, plan, path, store, target.has_fma).run(count)
    return Kernel(ev.b, (count or 1, 1, 1))


def set_attention_count(
    export: ExecutableExportOp, function: Operation, op: Operation, target: TargetDescription
) -> None:
    """Makes the count region of `export` compute the workgroups of an attention from the workload: one for each tile,
    up to a limit."""
    form = checked_form(op)
    plan = plan_attention(op, form, target)
    arguments = [arg.type for arg in export.workgroup_count.block.args]
    block = Block(arg_types=arguments)
    ordinals: dict[SSAValue, int] = {
        inner.results[0]: int_of(inner.properties["ordinal"])
        for inner in function.regions[0].block.ops
        if inner.name == "iree_tensor_ext.dispatch.workload.ordinal"
    }

    def emit(made: Operation) -> SSAValue:
        block.add_op(made)
        return made.results[0]

    def constant(value: int) -> SSAValue:
        return emit(ConstantOp.index(value))

    one = constant(1)
    total = one
    for loop in (*form.outer, form.row):
        size = dim_size(op.operands[0], form.query.index(loop))
        if size is None or (not isinstance(size, int) and size not in ordinals):
            continue
        value = constant(size) if isinstance(size, int) else block.args[1 + ordinals[size]]
        if loop == form.row:
            value = emit(xarith.DivUIOp(emit(xarith.AddiOp(value, constant(plan.rows - 1))), constant(plan.rows)))
        total = emit(xarith.MuliOp(total, value))
    least = emit(xarith.MaxUIOp(emit(xarith.MinUIOp(total, constant(MOST_WORKGROUPS))), one))
    block.add_op(HalReturnOp(least, one, one))
    region = export.workgroup_count
    old = region.blocks.first
    assert old is not None
    region.detach_block(old)
    old.erase()
    region.add_block(block)
