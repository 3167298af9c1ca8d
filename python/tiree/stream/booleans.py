"""`i1` tensors at the border of a dispatch: one byte an element, 0 or 1.

Where the neighbour of a load or store is a `linalg.generic`, the conversion becomes part of its body; elsewhere an
elementwise generic is put between.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, TensorType, i1, i8
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.ir.affine import AffineMap

from tiree.dialects.iree_tensor_ext import DispatchTensorLoadOp, DispatchTensorStoreOp, DispatchTensorType
from tiree.dialects.tensor_dims import dynamic_dims
from tiree.support.typed import is_tensor_type


def _is_boolean(type: Attribute) -> bool:
    return is_tensor_type(type) and type.element_type == i1


def _with_element(type: Attribute, element: Attribute) -> TensorType:
    assert is_tensor_type(type)
    return TensorType(element, type.get_shape(), type.encoding)


def _elementwise(source: SSAValue, element: Attribute) -> tuple[list[Operation], SSAValue]:
    """A generic that converts every element of `source` to `element` (i1 or i8)."""
    type = _with_element(source.type, element)
    assert is_tensor_type(source.type)
    block = Block(arg_types=[source.type.element_type, element])
    convert = arith.TruncIOp(block.args[0], i1) if element == i1 else arith.ExtUIOp(block.args[0], i8)
    block.add_ops([convert, YieldOp(convert.result)])
    rank = len(type.get_shape())
    identity = AffineMapAttr(AffineMap.identity(rank))
    empty = EmptyOp(dynamic_dims(source) or [], type)
    generic = GenericOp(
        [source],
        [empty.tensor],
        Region(block),
        ArrayAttr([identity, identity]),
        ArrayAttr([IteratorTypeAttr.parallel()] * rank),
        [type],
    )
    return [empty, generic], generic.results[0]


def _absorb_load(use_op: Operation, index: int, value: SSAValue) -> None:
    """Makes input `index` of a generic read bytes: the body truncates."""
    block = use_op.regions[0].block
    argument = block.args[index]
    byte = block.insert_arg(i8, index)
    first = block.first_op
    assert first is not None
    truncate = arith.TruncIOp(byte, i1)
    block.insert_op_before(truncate, first)
    argument.replace_all_uses_with(truncate.result)
    block.erase_arg(argument)
    use_op.operands[index] = value


def _convert_load(load: DispatchTensorLoadOp) -> None:
    parent = load.parent
    assert parent is not None
    old = load.result
    bytes_load = DispatchTensorLoadOp.create(
        operands=list(load.operands),
        result_types=[_with_element(old.type, i8)],
        properties=dict(load.properties),
        attributes=dict(load.attributes),
    )
    parent.insert_op_before(bytes_load, load)
    value = bytes_load.results[0]
    for use in list(old.uses):
        if isinstance(use.operation, GenericOp) and use.index < len(use.operation.inputs):
            _absorb_load(use.operation, use.index, value)
    if old.uses:
        ops, converted = _elementwise(value, i1)
        parent.insert_ops_before(ops, load)
        old.replace_all_uses_with(converted)
    parent.erase_op(load)


def _absorb_store(value: SSAValue) -> SSAValue | None:
    """The result of the producing generic as bytes, when only the store uses it and it starts from an empty tensor."""
    if not isinstance(value, OpResult) or not isinstance(value.op, GenericOp) or len(list(value.uses)) != 1:
        return None
    generic = value.op
    block = generic.regions[0].block
    operand = len(generic.inputs) + value.index
    init = generic.operands[operand]
    argument = block.args[operand]
    if argument.uses or not isinstance(init, OpResult) or not isinstance(init.op, EmptyOp):
        return None
    empty = EmptyOp(list(init.op.operands), _with_element(init.type, i8))
    parent = generic.parent
    terminator = block.last_op
    if parent is None or terminator is None:
        return None
    extend = arith.ExtUIOp(terminator.operands[value.index], i8)
    block.insert_op_before(extend, terminator)
    terminator.operands[value.index] = extend.result
    block.insert_arg(i8, operand)
    block.erase_arg(argument)
    parent.insert_op_before(empty, generic)
    types = [_with_element(r.type, i8) if r is value else r.type for r in generic.results]
    operands = list(generic.operands)
    operands[operand] = empty.tensor
    body = generic.detach_region(generic.regions[0])
    replacement = GenericOp.create(
        operands=operands,
        result_types=types,
        properties=dict(generic.properties),
        attributes=dict(generic.attributes),
        regions=[body],
    )
    parent.insert_op_before(replacement, generic)
    index = value.index
    for old, new in zip(list(generic.results), list(replacement.results), strict=True):
        old.replace_all_uses_with(new)
    parent.erase_op(generic)
    if init.op.parent is not None and not init.uses:
        init.op.parent.erase_op(init.op)
    return replacement.results[index]


def _convert_store(store: DispatchTensorStoreOp) -> None:
    parent = store.parent
    assert parent is not None
    value = _absorb_store(store.operands[0])
    if value is None:
        ops, value = _elementwise(store.operands[0], i8)
        parent.insert_ops_before(ops, store)
    store.operands[0] = value


def store_booleans_as_bytes(function: FuncOp) -> None:
    """Rewrites the dispatch tensors of `function` from `i1` to `i8`, with the loads and stores that use them."""
    sources = [
        op.results[0]
        for op in function.body.walk()
        if op.results and isinstance(op.results[0].type, DispatchTensorType)
    ]
    for source in sources:
        type = source.type
        assert isinstance(type, DispatchTensorType)
        if not _is_boolean(type.bound_type):
            continue
        bytes_type = DispatchTensorType.of(type.access.data, _with_element(type.bound_type, i8))
        op = source.owner
        assert isinstance(op, Operation)
        replacement = op.create(operands=list(op.operands), result_types=[bytes_type], properties=dict(op.properties))
        assert op.parent is not None
        op.parent.insert_op_before(replacement, op)
        users = [use.operation for use in source.uses]
        source.replace_all_uses_with(replacement.results[0])
        op.parent.erase_op(op)
        for user in users:
            if isinstance(user, DispatchTensorLoadOp):
                _convert_load(user)
            elif isinstance(user, DispatchTensorStoreOp):
                _convert_store(user)
