"""Dispatches that only move complex<f32> elements move 64-bit words instead: their parts need not be told apart.

Copies, transposes, slices, pads, gathers, scatters that replace, selections: whatever holds no op of the complex
dialect but constants. Rewrites the types in place; nothing else changes.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType, Float32Type, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tiree.dialects.arith import ConstantOp
from tiree.dialects.dense import DenseAttr, encode_scalar
from tiree.dialects.iree_tensor_ext import DispatchTensorType
from tiree.support.typed import is_array_attr, is_float_attr, is_tensor_type

_PAIR = ComplexType(Float32Type())
_WORD = IntegerType(64)


def moves_words(function: Operation) -> bool:
    """Whether the dispatch moves complex<f32> elements and does nothing else with them."""
    found = False
    for op in function.walk():
        if op.name.startswith("complex.") and op.name != "complex.constant":
            return False
        for value in (*op.results, *op.operands):
            element = _element(value.type)
            if isinstance(element, ComplexType):
                if element != _PAIR:
                    return False
                found = True
    return found


def as_words(function: Operation) -> None:
    """Rewrites a function of which `moves_words` is true."""
    for op in list(function.walk()):
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    _retype(argument)
        if op.name == "complex.constant":
            _replace_number(op)
            continue
        if op.name == "arith.constant" and _element(op.results[0].type) == _PAIR:
            value, type = op.properties["value"], _word(op.results[0].type)
            assert isinstance(value, DenseAttr)
            assert is_tensor_type(type)
            op.properties["value"] = DenseAttr.from_buffer(type, value.buffer, value.is_splat)
        for result in op.results:
            _retype(result)


def _replace_number(op: Operation) -> None:
    parts = op.properties["value"]
    assert is_array_attr(parts)
    raw = b"".join([encode_scalar(part.type, part.value.data) for part in parts.data if is_float_attr(part)])
    constant = ConstantOp(IntegerAttr(int.from_bytes(raw, "little", signed=True), _WORD))
    block = op.parent
    assert block is not None
    block.insert_op_before(constant, op)
    op.results[0].replace_all_uses_with(constant.result)
    op.detach()
    op.erase()


def _element(type: Attribute) -> Attribute:
    if isinstance(type, DispatchTensorType):
        type = type.bound_type
    return type.element_type if is_tensor_type(type) else type


def _word(type: Attribute) -> Attribute:
    """`type` with words for complex elements."""
    if isinstance(type, DispatchTensorType):
        return DispatchTensorType.of(type.access.data, _word(type.bound_type))
    return TensorType(_WORD, type.shape, type.encoding) if is_tensor_type(type) else _WORD


def _retype(value: SSAValue) -> None:
    if _element(value.type) == _PAIR:
        Rewriter.replace_value_with_new_type(value, _word(value.type))
