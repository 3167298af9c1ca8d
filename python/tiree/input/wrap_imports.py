"""Functions of other modules: they take and return buffer views, as public functions of this one do."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    FunctionType,
    IndexType,
    IntegerAttr,
    TensorType,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tiree.dialects import util
from tiree.dialects.arith import ConstantOp
from tiree.dialects.hal_attrs import BufferViewType
from tiree.dialects.hal_ops import BufferViewDimOp, TensorExportOp, TensorImportOp
from tiree.support.typed import is_tensor_type


def wrap_import(function: util.FuncOp, calls: Sequence[util.CallOp]) -> None:
    """Makes `function`, which has no body, one on buffer views; its calls export their tensors and import results."""
    type = function.function_type
    function.properties["function_type"] = FunctionType.from_lists(
        _without_tensors(type.inputs.data), _without_tensors(type.outputs.data)
    )
    function.attributes["iree.abi.stub"] = UnitAttr()
    for call in calls:
        _wrap_call(call)


def _without_tensors(types: Sequence[Attribute]) -> list[Attribute]:
    return [BufferViewType() if is_tensor_type(type) else type for type in types]


def _wrap_call(call: util.CallOp) -> None:
    block = call.parent
    assert block is not None
    before: list[Operation] = []
    operands = [_exported(value, before) for value in call.operands]
    new = util.CallOp(call.callee.root_reference.data, operands, _without_tensors([r.type for r in call.results]))
    after: list[Operation] = []
    results = [_imported(value, old.type, after) for value, old in zip(new.results, call.results, strict=True)]
    _place(block, call, [*before, new, *after])
    for old, result in zip(call.results, results, strict=True):
        old.replace_all_uses_with(result)
    call.detach()
    call.erase()


def _place(block: Block, call: util.CallOp, new: Sequence[Operation]) -> None:
    for op in new:
        op.location = call.location
    block.insert_ops_before(new, call)


def _exported(value: SSAValue, new: list[Operation]) -> SSAValue:
    if not is_tensor_type(value.type):
        return value
    dims: list[SSAValue] = result_dims(value, value.type, new)
    export = TensorExportOp.create(
        operands=[value, *dims], result_types=[BufferViewType()], properties={"source_encoding": value.type}
    )
    new.append(export)
    return export.results[0]


def result_dims(value: SSAValue, type: TensorType, new: list[Operation]) -> list[SSAValue]:
    """The dynamic dimensions of a tensor; appends the operations that compute them."""
    dims: list[SSAValue] = []
    for d, size in enumerate(type.get_shape()):
        if size == DYNAMIC_INDEX:
            position = ConstantOp(IntegerAttr(d, IndexType()))
            op = tensor.DimOp.create(operands=[value, position.result], result_types=[IndexType()])
            new += [position, op]
            dims.append(op.results[0])
    return dims


def _imported(value: SSAValue, type: Attribute, new: list[Operation]) -> SSAValue:
    if not is_tensor_type(type):
        return value
    dims = view_dims(value, type)
    op = TensorImportOp.create(
        operands=[value, *(dim.results[0] for dim in dims)],
        result_types=[type],
        properties={
            "target_encoding": type,
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, len(dims), 0, 0]),
        },
    )
    new += [*dims, op]
    return op.results[0]


def view_dims(view: SSAValue, type: TensorType) -> list[BufferViewDimOp]:
    """What reads the dynamic dimensions of a buffer view that holds a tensor of `type`."""
    return [
        BufferViewDimOp.create(
            operands=[view], result_types=[IndexType()], properties={"index": IntegerAttr(d, IndexType())}
        )
        for d, size in enumerate(type.get_shape())
        if size == DYNAMIC_INDEX
    ]
