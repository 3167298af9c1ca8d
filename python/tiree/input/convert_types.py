"""`tiree-input-convert-types`: narrows or widens element types of the whole program when a flag asks for it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiree.dialects.dense import DenseAttr, decode_scalar, encode_scalar
from tiree.input.lowering.scalar import scalar_attribute
from tiree.support.typed import is_array_attr, is_float_attr, is_integer_attr, is_tensor_type, is_vector_type

_VALUE_PROPERTIES = frozenset({"value", "initial_value"})
"""Properties that hold data of the program; others, such as `dimension = 1 : i64`, describe the op."""
_CASTS = frozenset({"arith.extf", "arith.truncf", "arith.extsi", "arith.extui", "arith.trunci"})


@dataclass(frozen=True)
class ConvertTypesPass(ModulePass):
    """In, out: any program of the input dialects. Signatures change with the rest: callers pass the converted types.

    Constants are rounded to nearest even; integers that do not fit wrap, as `iree-compile` has them.
    """

    name = "tiree-input-convert-types"
    demote_f64_to_f32: bool = False
    demote_i64_to_i32: bool = False
    promote_f16_to_f32: bool = False
    promote_bf16_to_f32: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether any conversion is asked for."""
        return bool(self._table())

    def _table(self) -> dict[Attribute, Attribute]:
        table: dict[Attribute, Attribute] = {}
        if self.demote_f64_to_f32:
            table[Float64Type()] = Float32Type()
        if self.demote_i64_to_i32:
            for signedness in Signedness:
                table[IntegerType(64, signedness)] = IntegerType(32, signedness)
        if self.promote_f16_to_f32:
            table[Float16Type()] = Float32Type()
        if self.promote_bf16_to_f32:
            table[BFloat16Type()] = Float32Type()
        return table

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        converter = TypeConverter(self._table())
        for inner in list(op.walk()):
            converter.convert(inner)


class TypeConverter:
    """Replaces element types in values, signatures and constants, by a table."""

    def __init__(self, table: dict[Attribute, Attribute]) -> None:
        self.table = table
        self.types: dict[Attribute, Attribute] = {}

    def convert(self, op: Operation) -> None:
        for result in op.results:
            new = self.type(result.type)
            if new is not result.type:
                Rewriter.replace_value_with_new_type(result, new)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    new = self.type(argument.type)
                    if new is not argument.type:
                        Rewriter.replace_value_with_new_type(argument, new)
        for key, value in list(op.properties.items()):
            if key in _VALUE_PROPERTIES:
                op.properties[key] = self.value(value)
            elif key in ("function_type", "type"):
                op.properties[key] = self.type(value)
            elif key in ("arg_attrs", "res_attrs") and is_array_attr(value):
                op.properties[key] = ArrayAttr([self._dictionary(entry) for entry in value.data])
        if op.name in _CASTS and op.operands[0].type == op.results[0].type:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.detach()
            op.erase()

    def _dictionary(self, attr: Attribute) -> Attribute:
        if not isinstance(attr, DictionaryAttr):
            return attr
        return DictionaryAttr({k: self.type(v) if k == "iree.abi.encoding" else v for k, v in attr.data.items()})

    def type(self, type: Attribute) -> Attribute:
        """The converted type; the same object when nothing changes."""
        if type not in self.types:
            self.types[type] = self._convert_type(type)
        return self.types[type]

    def _convert_type(self, type: Attribute) -> Attribute:
        if type in self.table:
            return self.table[type]
        if is_tensor_type(type):
            element = self.type(type.element_type)
            return type if element is type.element_type else TensorType(element, type.shape, type.encoding)
        if is_vector_type(type):
            element = self.type(type.element_type)
            return type if element is type.element_type else VectorType(element, type.get_shape(), type.scalable_dims)
        if isinstance(type, FunctionType):
            inputs, outputs = [self.type(t) for t in type.inputs], [self.type(t) for t in type.outputs]
            return FunctionType.from_lists(inputs, outputs)
        return type

    def value(self, attr: Attribute) -> Attribute:
        """A constant in its converted type."""
        if isinstance(attr, DenseAttr):
            new = self.type(attr.type)
            return attr if new is attr.type else _convert_dense(attr, new)
        if is_integer_attr(attr) or is_float_attr(attr):
            new = self.type(attr.type)
            return attr if new is attr.type else scalar_attribute(new, attr.value.data)
        return attr


def _convert_dense(attr: DenseAttr, type: Attribute) -> DenseAttr:
    assert is_tensor_type(type) or is_vector_type(type)
    element = type.get_element_type()
    if attr.is_splat:
        raw = encode_scalar(element, _clip(decode_scalar(attr.element_type, bytes(attr.buffer)), element))
        return DenseAttr.from_buffer(type, raw, splat=True)
    import numpy as np

    from tiree.dialects.dense import numpy_dtype_name

    with np.errstate(over="ignore"):
        return DenseAttr.from_numpy(attr.to_numpy().astype(numpy_dtype_name(element)), type)


def _clip(value: float, element: Attribute) -> float:
    """Values beyond f32's range become infinities instead of an error of `struct`."""
    if isinstance(element, Float32Type) and isinstance(value, float) and abs(value) > 3.4028235677973366e38:
        return float("inf") if value > 0 else float("-inf")
    return value
