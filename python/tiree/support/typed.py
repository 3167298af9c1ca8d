"""Tests and reads of xDSL's values and attributes whose results a type checker knows.

Most of xDSL's builtin attributes are generic, and after `isinstance(type, TensorType)` a checker knows nothing of the
element type. The tests here are `isinstance` with that said: a tensor of any element type. The reads take what an op
must have by its definition (`int_of(op.properties["dim"])`), and raise `TypeError` where it has something else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

if TYPE_CHECKING:
    from typing import NoReturn

    from typing_extensions import TypeIs


# Tests.


def is_tensor_type(attr: object) -> TypeIs[TensorType[Attribute]]:
    return isinstance(attr, TensorType)


def is_vector_type(attr: object) -> TypeIs[VectorType[Attribute]]:
    return isinstance(attr, VectorType)


def is_memref_type(attr: object) -> TypeIs[MemRefType[Attribute]]:
    return isinstance(attr, MemRefType)


def is_integer_type(attr: object) -> TypeIs[IntegerType]:
    return isinstance(attr, IntegerType)


def is_complex_type(attr: object) -> TypeIs[ComplexType]:
    return isinstance(attr, ComplexType)


def is_integer_attr(attr: object) -> TypeIs[IntegerAttr]:
    return isinstance(attr, IntegerAttr)


def is_float_attr(attr: object) -> TypeIs[FloatAttr]:
    return isinstance(attr, FloatAttr)


def is_array_attr(attr: object) -> TypeIs[ArrayAttr[Attribute]]:
    return isinstance(attr, ArrayAttr)


def is_string(attr: object) -> TypeIs[StringAttr]:
    return isinstance(attr, StringAttr)


def is_int_array(attr: object) -> TypeIs[DenseArrayBase[IntegerType]]:
    """Whether `attr` is `array<i64: ...>` of any integer type."""
    match attr:
        case DenseArrayBase():
            return isinstance(attr.elt_type, IntegerType)
        case _:
            return False


# Reads.


def tensor_type(value: SSAValue) -> TensorType[Attribute]:
    """The type of a value that is a tensor."""
    type = value.type
    return type if is_tensor_type(type) else _wrong(type, "a tensor type")


def vector_type(value: SSAValue) -> VectorType[Attribute]:
    """The type of a value that is a vector."""
    type = value.type
    return type if is_vector_type(type) else _wrong(type, "a vector type")


def memref_type(value: SSAValue) -> MemRefType[Attribute]:
    """The type of a value that is a memref."""
    type = value.type
    return type if is_memref_type(type) else _wrong(type, "a memref type")


def op_of(value: SSAValue) -> Operation:
    """The op that defines a value that is no block argument."""
    owner = value.owner
    return owner if isinstance(owner, Operation) else _wrong(value, "the result of an operation")


def result_of(value: SSAValue) -> OpResult:
    """`value` as the result of an operation, which says which of the results it is."""
    return value if isinstance(value, OpResult) else _wrong(value, "the result of an operation")


def operands_of(op: Operation) -> tuple[SSAValue, ...]:
    """The operands as a tuple: for hot walks, without the view that `op.operands` makes anew each time."""
    return op._operands  # pyright: ignore[reportPrivateUsage]: xDSL has no public tuple of them


type_of: Callable[[SSAValue], Attribute] = attrgetter("_type")
"""The type of a value, for `map` in hot walks: `value.type` is a call of Python's."""


def successors_of(op: Operation) -> tuple[Block, ...]:
    """The blocks that `op` may jump to, as a tuple for the same reason."""
    return op._successors  # pyright: ignore[reportPrivateUsage]: as above


def int_of(attr: Attribute | None) -> int:
    """The number of an integer attribute."""
    return attr.value.data if is_integer_attr(attr) else _wrong(attr, "an integer")


def number_of(attr: Attribute | None) -> int | float:
    """The number of an integer or float attribute."""
    return attr.value.data if is_integer_attr(attr) or is_float_attr(attr) else _wrong(attr, "a number")


def ints_of(attr: Attribute | None) -> tuple[int, ...]:
    """The numbers of `array<i64: ...>` (of any integer type)."""
    return attr.get_values() if is_int_array(attr) else _wrong(attr, "an array of integers")


def operand_groups(op: Operation) -> list[Sequence[SSAValue]]:
    """The operands of each field of an op with several variadic ones, by `operandSegmentSizes`."""
    operands = operands_of(op)
    groups: list[Sequence[SSAValue]] = []
    start = 0
    for size in ints_of(op.properties["operandSegmentSizes"]):
        groups.append(operands[start : start + size])
        start += size
    return groups


def string_of(attr: Attribute | None) -> str:
    """The text of a string attribute."""
    return attr.data if isinstance(attr, StringAttr) else _wrong(attr, "a string")


def symbol_of(attr: Attribute | None) -> str:
    """The name in a flat symbol reference; the parts of a nested one joined by dots."""
    return attr.string_value() if isinstance(attr, SymbolRefAttr) else _wrong(attr, "a symbol")


def leaf_symbol_of(attr: Attribute | None) -> str:
    """The last name in a symbol reference, such as the export in `@executable::@export`."""
    if not isinstance(attr, SymbolRefAttr):
        return _wrong(attr, "a symbol")
    nested = attr.nested_references.data
    return nested[-1].data if nested else attr.root_reference.data


def array_of(attr: Attribute | None) -> tuple[Attribute, ...]:
    """The elements of an array attribute."""
    return attr.data if is_array_attr(attr) else _wrong(attr, "an array")


def dictionary_of(attr: Attribute | None) -> DictionaryAttr:
    return attr if isinstance(attr, DictionaryAttr) else _wrong(attr, "a dictionary")


def symbol_name(op: Operation) -> str:
    """The name under which `op` is found in its symbol table."""
    return string_of(op.properties["sym_name"])


def _wrong(found: object, needed: str) -> NoReturn:
    raise TypeError(f"expected {needed}, got {found}")
