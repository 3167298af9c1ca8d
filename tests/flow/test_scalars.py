"""Scalar folding against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from tiree.flow.scalars import evaluate
from xdsl.dialects import arith
from xdsl.dialects import test as test_dialect
from xdsl.dialects.builtin import IntegerAttr, IntegerType, f32, i64

WIDTHS = (8, 16, 32, 64)
EDGES = (0, 1, -1, 2, 100, -100)


def values(width: int) -> list[int]:
    return [*EDGES, (1 << (width - 1)) - 1, -(1 << (width - 1))]


def op_of(kind, type, result=None, **properties):
    source = test_dialect.TestOp(result_types=[type, type])
    return kind.create(operands=list(source.results), result_types=[result or type], properties=properties)


@pytest.mark.parametrize("width", WIDTHS)
def test_integers_wrap_as_numpy_does(width):
    dtype = np.dtype(f"int{width}")
    table = {
        arith.AddiOp: np.add,
        arith.SubiOp: np.subtract,
        arith.MuliOp: np.multiply,
        arith.AndIOp: np.bitwise_and,
        arith.OrIOp: np.bitwise_or,
        arith.XOrIOp: np.bitwise_xor,
        arith.MaxSIOp: np.maximum,
        arith.MinSIOp: np.minimum,
    }
    for kind, reference in table.items():
        op = op_of(kind, IntegerType(width))
        for a in values(width):
            for b in values(width):
                with np.errstate(over="ignore"):
                    want = reference(np.array(a, dtype), np.array(b, dtype))
                assert evaluate(op, [a, b]) == int(want), (kind.name, a, b)


@pytest.mark.parametrize("predicate", range(10))
def test_integer_comparisons(predicate):
    names = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    name = names[predicate] if predicate < 6 else names[predicate - 4]
    dtype = np.int8 if predicate < 6 else np.uint8
    op = op_of(arith.CmpiOp, IntegerType(8), IntegerType(1), predicate=IntegerAttr(predicate, i64))
    for a in values(8):
        for b in values(8):
            want = getattr(np, name)(np.array(a, np.int8).astype(dtype), np.array(b, np.int8).astype(dtype))
            assert evaluate(op, [a, b]) == int(want), (a, b)


@pytest.mark.parametrize("predicate", range(16))
def test_float_comparisons(predicate):
    ordered = (None, np.equal, np.greater, np.greater_equal, np.less, np.less_equal, np.not_equal)
    op = op_of(arith.CmpfOp, f32, IntegerType(1), predicate=IntegerAttr(predicate, i64))
    nan = float("nan")
    for a in (0.0, 1.5, -2.0, nan):
        for b in (0.0, 1.5, -2.0, nan):
            unordered = a != a or b != b
            if predicate in (0, 15):
                want = predicate == 15
            elif predicate == 7:
                want = not unordered
            elif predicate == 14:
                want = unordered
            elif predicate < 7:
                want = not unordered and bool(ordered[predicate](a, b))
            else:
                want = unordered or bool(ordered[predicate - 7](a, b))
            assert evaluate(op, [a, b]) == int(want), (a, b)


def test_f32_arithmetic_rounds_to_f32():
    op = op_of(arith.AddfOp, f32)
    assert evaluate(op, [0.1, 0.2]) == float(np.float32(0.1 + 0.2))
    assert evaluate(op, [3e38, 3e38]) == float("inf")


def test_casts():
    widen = op_of(arith.ExtSIOp, IntegerType(8), IntegerType(32))
    assert evaluate(widen, [-3]) == -3
    zero = op_of(arith.ExtUIOp, IntegerType(8), IntegerType(32))
    assert evaluate(zero, [-3]) == 253
    flag = op_of(arith.ExtUIOp, IntegerType(1), IntegerType(32))
    assert evaluate(flag, [1]) == 1
    narrow = op_of(arith.TruncIOp, IntegerType(32), IntegerType(8))
    assert evaluate(narrow, [300]) == 44


def test_what_may_round_differently_is_left():
    assert evaluate(op_of(arith.DivfOp, f32), [1.0, 3.0]) is None
