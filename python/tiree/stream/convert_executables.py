"""`tiree-stream-convert-executables`: `flow.executable` becomes `stream.executable`.

In: kernels whose functions take dispatch tensors and scalars. Out: the same kernels taking `!stream.binding`s, one per
tensor, and 32-bit words, scalars packed as `words.py` says. Scalars come first. `i1` tensors are `i8` in memory: loads
and stores convert.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects import flow, stream
from tiree.dialects.arith import ConstantOp
from tiree.dialects.iree_tensor_ext import DispatchTensorLoadOp, DispatchTensorStoreOp, DispatchTensorType
from tiree.stream.booleans import store_booleans_as_bytes
from tiree.stream.words import unpack_words, word_types
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of

_ALIGNED = DictionaryAttr({"stream.alignment": IntegerAttr(64, IndexType())})


def _convert_signature(function: FuncOp) -> None:
    """Replaces dispatch tensor arguments by bindings and scalar arguments by words; words come first."""
    block = function.body.block
    old = list(block.args)
    zero = ConstantOp.index(0)
    prologue: list[Operation] = [zero]
    word_list: list[Attribute] = []
    for argument in old:
        if isinstance(argument.type, DispatchTensorType):
            continue
        types = word_types(argument.type, argument.name_hint or "operand")
        words = [block.insert_arg(type, len(word_list) + number) for number, type in enumerate(types)]
        word_list.extend(types)
        ops, value = unpack_words(words, argument.type)
        prologue.extend(ops)
        argument.replace_all_uses_with(value)
    bindings = 0
    for argument in old:
        if isinstance(argument.type, DispatchTensorType):
            binding = block.insert_arg(stream.BindingType(), len(word_list) + bindings)
            bindings += 1
            if is_dynamic(argument.type):
                _bind_dynamic(argument, binding, zero.result)
            else:
                subspan = stream.BindingSubspanOp(binding, zero.result, [], argument.type)
                prologue.append(subspan)
                argument.replace_all_uses_with(subspan.result)
        block.erase_arg(argument)
    first = block.first_op
    assert first is not None
    block.insert_ops_before(prologue if bindings else prologue[1:], first)
    function.function_type = FunctionType.from_lists(list(block.arg_types), [])
    function.arg_attrs = ArrayAttr([DictionaryAttr({})] * len(word_list) + [_ALIGNED] * bindings)


def is_dynamic(type: Attribute) -> bool:
    return isinstance(type, DispatchTensorType) and DYNAMIC_INDEX in type.tensor_type.get_shape()


def _bind_dynamic(argument: BlockArgument, binding: SSAValue, zero: SSAValue) -> None:
    """The subspans of a dispatch tensor with `?`: where its shape is tied, or it is accessed, with those sizes."""
    for use in list(argument.uses):
        tie = use.operation
        dims = _accessed_dims(tie)
        if dims:
            access = stream.BindingSubspanOp(binding, zero, dims, argument.type)
            assert tie.parent is not None
            tie.parent.insert_op_before(access, tie)
            tie.operands[use.index] = access.result
            continue
        if not isinstance(tie, flow.DispatchTieShapeOp):
            what = f"{tie.name} on {argument.type}, whose sizes are not tied to it"
            raise CompileError(Diagnostic(what, location_of(tie), "add flow.dispatch.tie_shape"))
        subspan = stream.BindingSubspanOp(binding, zero, list(tie.dynamic_dims), argument.type)
        assert tie.parent is not None
        tie.parent.insert_op_before(subspan, tie)
        tie.result.replace_all_uses_with(subspan.result)
        tie.detach()
        tie.erase()


def _accessed_dims(op: Operation) -> list[SSAValue]:
    if isinstance(op, DispatchTensorLoadOp):
        return list(op.source_dims)
    return list(op.target_dims) if isinstance(op, DispatchTensorStoreOp) else []


_GRID_QUERIES = {
    "flow.dispatch.workgroup.id": stream.DispatchWorkgroupIDOp,
    "flow.dispatch.workgroup.count": stream.DispatchWorkgroupCountOp,
}


def _convert_grid_queries(function: FuncOp) -> None:
    """What a kernel asks about its grid, in this dialect."""
    for op in list(function.body.walk()):
        query = _GRID_QUERIES.get(op.name)
        if query is not None:
            assert op.parent is not None
            new = query.create(result_types=[IndexType()], properties=dict(op.properties))
            op.parent.insert_op_before(new, op)
            op.results[0].replace_all_uses_with(new.results[0])
            op.parent.erase_op(op)


def _convert_export(export: flow.ExecutableExportOp) -> stream.ExecutableExportOp:
    region = Region()
    export.workgroup_count.move_blocks(region)
    for block in region.blocks:
        last = block.last_op
        if last is not None and last.name == "flow.return":
            block.insert_op_before(stream.ReturnOp(*last.operands), last)
            block.erase_op(last)
    if not region.blocks:
        raise CompileError(f"dispatch {export.sym_name.data} has no workgroup count region")
    function_ref = export.function_ref
    assert isinstance(function_ref, SymbolRefAttr)
    new = stream.ExecutableExportOp(export.sym_name.data, function_ref, region)
    new.location = export.location
    return new


def convert_executable(executable: flow.ExecutableOp) -> stream.ExecutableOp:
    """The `stream.executable` of a `flow.executable`, which loses its body."""
    ops: list[Operation] = []
    for op in list(executable.body.block.ops):
        if isinstance(op, flow.ExecutableExportOp):
            ops.append(_convert_export(op))
        elif isinstance(op, ModuleOp):
            op.detach()
            for function in op.ops:
                if isinstance(function, FuncOp) and function.body.blocks:
                    _convert_signature(function)
                    _convert_grid_queries(function)
                    store_booleans_as_bytes(function)
            ops.append(op)
    converted = stream.ExecutableOp(executable.sym_name.data, Region(Block([*ops, stream.ExecutableEndOp()])))
    converted.properties["sym_visibility"] = executable.sym_visibility or StringAttr("private")
    return converted


class ConvertExecutablesPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-stream-convert-executables"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        block = op.body.block
        for executable in list(op.ops):
            if isinstance(executable, flow.ExecutableOp):
                block.insert_op_before(convert_executable(executable), executable)
                block.erase_op(executable)
