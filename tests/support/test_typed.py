"""Typed reads of values and attributes: what they give, and what they say of another kind."""

from __future__ import annotations

import pytest
from tiree.support import typed
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    f32,
    i32,
    i64,
)


def test_reads_of_attributes() -> None:
    assert typed.int_of(IntegerAttr(-3, i64)) == -3
    assert typed.ints_of(DenseArrayBase.from_list(i32, [1, -2])) == (1, -2)
    assert typed.string_of(StringAttr("a")) == "a"
    assert typed.array_of(ArrayAttr([i32, f32])) == (i32, f32)
    assert typed.symbol_of(SymbolRefAttr("a", ["b"])) == "a.b"


@pytest.mark.parametrize(
    ("read", "attr", "needed"),
    [
        (typed.int_of, StringAttr("a"), "expected an integer, got "),
        (typed.int_of, None, "expected an integer, got None"),
        (typed.ints_of, DenseArrayBase.from_list(f32, [1.0]), "expected an array of integers, got "),
        (typed.string_of, i32, "expected a string, got i32"),
        (typed.array_of, i32, "expected an array, got i32"),
        (typed.symbol_of, i32, "expected a symbol, got i32"),
    ],
)
def test_another_kind_is_an_error(read, attr, needed: str) -> None:
    with pytest.raises(TypeError, match=needed):
        read(attr)


def test_types_of_values() -> None:
    op = test.TestOp(result_types=[TensorType(f32, [2]), i32])
    tensor, scalar = op.results
    assert typed.tensor_type(tensor).element_type == f32
    assert typed.op_of(tensor) is op
    with pytest.raises(TypeError, match="expected a tensor type, got i32"):
        typed.tensor_type(scalar)
    with pytest.raises(TypeError, match="expected a vector type, got tensor<2xf32>"):
        typed.vector_type(tensor)
