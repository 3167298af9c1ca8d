"""`tiree-input-widen-small-integers`: tensors of i2 and i4 take a byte an element, and any number of elements.

In: linalg on tensors. Out: no tensor of i2 or i4. An element is the number in the byte, sign-extended; computations
stay in the narrow type: a body truncates what it reads and extends what it yields. The public functions have no such
tensors any more (`pack_small_integers.py`).
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import FunctionType, IntegerAttr, IntegerType, ModuleOp, TensorType, i8
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiree.dialects.arith import ConstantOp, constant_int
from tiree.dialects.dense import DenseAttr
from tiree.dialects.iree_tensor_ext import DispatchTensorType
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of, take_location
from tiree.support.typed import is_integer_type, is_tensor_type

SMALL_WIDTHS = (2, 4)
_MOVES = frozenset(
    f"tensor.{name}"
    for name in (
        "empty", "extract_slice", "insert_slice", "pad", "expand_shape", "collapse_shape", "cast", "concat", "reshape",
        "extract", "insert", "from_elements", "splat", "generate", "yield",
    )
)  # fmt: skip
_CONTROL = ("util.", "scf.", "cf.", "func.", "flow.dispatch.", "flow.tensor.reshape", "iree_tensor_ext.dispatch.")
"""What carries values. The lowering makes some dispatches itself: their tensors change as all others do."""


def small(type: Attribute) -> IntegerType | None:
    """The element type of a tensor of i2 or i4."""
    if is_tensor_type(type) and is_integer_type(type.element_type) and type.element_type.width.data in SMALL_WIDTHS:
        return type.element_type
    return None


def _bytes_of(type: Attribute) -> Attribute:
    if isinstance(type, FunctionType):
        return FunctionType.from_lists([_bytes_of(t) for t in type.inputs], [_bytes_of(t) for t in type.outputs])
    if isinstance(type, DispatchTensorType):
        bound = _bytes_of(type.bound_type)
        return type if bound is type.bound_type else DispatchTensorType(type.access, bound)
    if small(type) is None:
        return type
    assert is_tensor_type(type)
    return TensorType(i8, type.get_shape(), type.encoding)


class WidenSmallIntegersPass(ModulePass):
    """See the module docstring."""

    name = "tiree-input-widen-small-integers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        ops = [inner for inner in op.walk() if _concerned(inner)]
        problems = [
            Diagnostic(f"{inner.name} on elements of {small(value.type)} has no lowering", location_of(inner))
            for inner in ops
            for value in (*inner.operands, *inner.results)
            if small(value.type) is not None and not _is_known(inner)
        ]
        if problems:
            raise CompileError(problems)
        for inner in ops:
            _convert_scalars(inner)
        for inner in ops:
            _convert_types(inner)


def _concerned(op: Operation) -> bool:
    values = (*op.operands, *op.results, *(a for region in op.regions for block in region.blocks for a in block.args))
    types = [value.type for value in values]
    types += [t for t in (op.properties.get("function_type"), op.properties.get("type")) if t is not None]
    return any(_bytes_of(type) != type for type in types)


def _is_known(op: Operation) -> bool:
    return isinstance(op, ConstantOp | GenericOp | FillOp) or op.name in _MOVES or op.name.startswith(_CONTROL)


def _extended(op: Operation, index: int) -> None:
    """Operand `index` of `op`, a narrow scalar, as a byte."""
    value = op.operands[index]
    if value.type == i8:
        return
    # Padding is asked for its number: a constant stays one.
    number = constant_int(value)
    extend = arith.ExtSIOp(value, i8) if number is None else ConstantOp(IntegerAttr(_signed(number, value.type), i8))
    take_location(extend, op)
    block = op.parent
    assert block is not None
    block.insert_op_before(extend, op)
    op.operands[index] = extend.result


def _signed(number: int, type: Attribute) -> int:
    """The number that the low bits of `number` are in a narrow type."""
    assert is_integer_type(type)
    top = 1 << (type.width.data - 1)
    return ((number & (2 * top - 1)) ^ top) - top


def _truncated(value: SSAValue, narrow: IntegerType, block: Block, before: Operation | None) -> None:
    """Users of `value`, which becomes a byte, see its low bits in the type that they know."""
    value = Rewriter.replace_value_with_new_type(value, i8)
    truncate = arith.TruncIOp(value, narrow)
    value.replace_all_uses_with(truncate.result)
    truncate.operands[0] = value
    if isinstance(value, OpResult):
        take_location(truncate, value.op)
    if before is None:
        block.add_op(truncate)
    else:
        block.insert_op_before(truncate, before)


def _convert_scalars(op: Operation) -> None:
    """Single elements on the way into tensors and out of them; the types of the tensors are changed later."""
    if isinstance(op, GenericOp):
        body = op.body.block
        for argument, operand in zip(body.args, op.operands, strict=True):
            narrow = small(operand.type)
            if narrow is not None:
                _truncated(argument, narrow, body, body.first_op)
        _extend_yields(op, body)
    elif isinstance(op, FillOp):
        _extended(op, 0)
        for argument in op.body.block.args:
            Rewriter.replace_value_with_new_type(argument, i8)
    elif op.name in ("tensor.pad", "tensor.generate"):
        _extend_yields(op, op.regions[0].block)
    elif op.name in ("tensor.from_elements", "tensor.splat"):
        for index in range(len(op.operands)):
            _extended(op, index)
    elif op.name == "tensor.insert":
        _extended(op, 0)
    elif op.name == "tensor.extract":
        narrow = small(op.operands[0].type)
        assert narrow is not None
        assert op.parent is not None
        _truncated(op.results[0], narrow, op.parent, op.next_op)


def _extend_yields(op: Operation, body: Block) -> None:
    terminator = body.last_op
    assert terminator is not None
    for index, result in enumerate(op.results):
        if small(result.type) is not None:
            _extended(terminator, index)


def _convert_types(op: Operation) -> None:
    arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
    for value in (*op.results, *arguments):
        type = _bytes_of(value.type)
        if type != value.type:
            Rewriter.replace_value_with_new_type(value, type)
    for key in ("function_type", "type"):
        if key in op.properties:
            op.properties[key] = _bytes_of(op.properties[key])
    for key in ("value", "initial_value"):
        value = op.properties.get(key)
        if isinstance(value, DenseAttr) and small(value.type) is not None:
            op.properties[key] = _wide(value)


def _wide(value: DenseAttr) -> DenseAttr:
    """The same numbers as bytes."""
    import numpy as np

    narrow = small(value.type)
    assert narrow is not None
    top = 1 << (narrow.width.data - 1)
    raw = np.frombuffer(value.buffer, np.uint8) & (2 * top - 1)
    signed = (raw.astype(np.int16) ^ top) - top
    type = _bytes_of(value.type)
    assert is_tensor_type(type)
    return DenseAttr.from_buffer(type, signed.astype(np.int8).view(np.uint8), splat=value.is_splat)
