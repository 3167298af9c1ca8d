"""Elementwise dispatches: shapes that do not divide, broadcasts, masks, casts, indices, several results."""

import numpy as np
import pytest

from tests.codegen.cpu.checks import check
from tests.codegen.cpu.dispatches import DTYPES, Dispatch, affine, generic, random_array, shaped

RNG = np.random.default_rng(7)


def empty(name: str, type: str) -> str:
    return f"%{name} = tensor.empty() : tensor<{type}>\n"


def same_shape(shape: tuple[int, ...], element: str, inputs: int, body: str) -> Dispatch:
    type, rank = shaped(shape, element), len(shape)
    identity = affine(rank, *range(rank))
    ins = [(f"%in{n}", type) for n in range(inputs)]
    text = empty("z", type) + generic("%r0", [identity] * (inputs + 1), "p" * rank, ins, [("%z", type)], body)
    return Dispatch([type] * inputs, [type], text)


@pytest.mark.parametrize(
    "shape", [(), (1,), (3,), (10,), (16,), (17,), (64,), (127,), (7, 13), (1000, 37), (2, 3, 5, 7), (0, 4)], ids=str
)
def test_every_remainder_of_lanes_is_computed(shape: tuple[int, ...]) -> None:
    d = same_shape(shape, "f32", 2, "%q = arith.mulf %a0, %a1 : f32\n%y0 = arith.addf %q, %a1 : f32")
    x, y = (random_array(RNG, shaped(shape, "f32")) for _ in range(2))
    # The reference rounds after the product, as the program says: no contraction outside reductions.
    check(d, [x, y], [x * y + y], strategy="scalar" if np.prod(shape, dtype=int) <= 1 else "elementwise")


@pytest.mark.parametrize("element", [e for e in DTYPES if e != "i1"])
def test_every_element_type(element: str) -> None:
    op = "arith.addi" if element.startswith("i") else "arith.addf"
    d = same_shape((5, 29), element, 2, f"%y0 = {op} %a0, %a1 : {element}")
    x, y = (random_array(RNG, shaped((5, 29), element)) for _ in range(2))
    check(d, [x, y], [x + y], strategy="elementwise")


def test_rank_eight() -> None:
    shape = (2, 1, 3, 2, 1, 2, 3, 5)
    d = same_shape(shape, "f32", 1, "%y0 = arith.mulf %a0, %a0 : f32")
    x = random_array(RNG, shaped(shape, "f32"))
    check(d, [x], [x * x])


@pytest.mark.parametrize(("a", "b"), [(8, 10), (13, 100), (100, 16), (1, 7), (7, 1)])
def test_broadcast_operands(a: int, b: int) -> None:
    t, row, column = shaped((a, b), "f32"), f"{b}xf32", f"{a}xf32"
    body = "%q = arith.mulf %a0, %a1 : f32\n%y0 = arith.addf %q, %a2 : f32"
    maps = [affine(2, 0, 1), affine(2, 1), affine(2, 0), affine(2, 0, 1)]
    text = empty("z", t) + generic("%r0", maps, "pp", [("%in0", t), ("%in1", row), ("%in2", column)], [("%z", t)], body)
    x, y, z = random_array(RNG, t), random_array(RNG, row), random_array(RNG, column)
    check(Dispatch([t, row, column], [t], text), [x, y, z], [x * y + z[:, None]])


def test_booleans_take_a_byte_each() -> None:
    t, m = "9x21xf32", "9x21xi1"
    identity = affine(2, 0, 1)
    text = empty("z", m) + empty("w", t)
    text += generic(
        "%r0",
        [identity] * 4,
        "pp",
        [("%in0", t), ("%in1", t), ("%in2", m)],
        [("%z", m)],
        "%c = arith.cmpf olt, %a0, %a1 : f32\n%y0 = arith.xori %c, %a2 : i1",
    )
    text += generic(
        "%r1",
        [identity] * 4,
        "pp",
        [("%in0", t), ("%in1", t), ("%r0", m)],
        [("%w", t)],
        "%y0 = arith.select %a2, %a0, %a1 : f32",
    )
    x, y, mask = random_array(RNG, t), random_array(RNG, t), random_array(RNG, m)
    wanted = (x < y) ^ mask
    check(Dispatch([t, t, m], [m, t], text), [x, y, mask], [wanted.astype(np.int8), np.where(wanted, x, y)])


@pytest.mark.parametrize(
    ("source", "target", "op"),
    [
        ("f32", "bf16", "arith.truncf"),
        ("bf16", "f32", "arith.extf"),
        ("f16", "f32", "arith.extf"),
        ("f32", "f64", "arith.extf"),
        ("f64", "f32", "arith.truncf"),
        ("i8", "i32", "arith.extsi"),
        ("i64", "i8", "arith.trunci"),
        ("i32", "f32", "arith.sitofp"),
        ("i8", "f64", "arith.sitofp"),
        ("f32", "i32", "arith.fptosi"),
        ("i1", "f32", "arith.uitofp"),
    ],
)
def test_casts(source: str, target: str, op: str) -> None:
    s, t = f"45x{source}", f"45x{target}"
    text = empty("z", t) + generic(
        "%r0", [affine(1, 0)] * 2, "p", [("%in0", s)], [("%z", t)], f"%y0 = {op} %a0 : {source} to {target}"
    )
    x = random_array(RNG, s)
    check(Dispatch([s], [t], text), [x], [x.astype(DTYPES[target])])


def test_indices_become_vectors() -> None:
    t = "7x21xi32"
    body = """%i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %c3 = arith.constant 3 : i32
    %m = arith.muli %ii, %c3 : i32
    %y0 = arith.subi %m, %jj : i32"""
    d = Dispatch([], [t], empty("z", t) + generic("%r0", [affine(2, 0, 1)], "pp", [], [("%z", t)], body))
    check(d, [], [np.arange(7)[:, None] * 3 - np.arange(21)[None]])


def test_division_never_sees_lanes_that_are_not_there() -> None:
    d = same_shape((21,), "i32", 2, "%y0 = arith.divsi %a0, %a1 : i32")
    x = random_array(RNG, "21xi32")
    y = np.where(random_array(RNG, "21xi32") >= 0, 3, -2).astype(np.int32)
    check(d, [x, y], [np.trunc(x / y)])


def test_control_flow_in_a_body() -> None:
    body = """%z0 = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %a0, %z0 : f32
    %y0 = scf.if %c -> (f32) {
      %s = arith.mulf %a0, %a0 : f32
      scf.yield %s : f32
    } else {
      %n = arith.negf %a0 : f32
      scf.yield %n : f32
    }"""
    d = same_shape((3, 11), "f32", 1, body)
    x = random_array(RNG, "3x11xf32")
    check(d, [x], [np.where(x > 0, x * x, -x)])


def test_large_work_is_split_and_small_work_is_not() -> None:
    large = same_shape((1 << 20,), "f32", 1, "%y0 = arith.addf %a0, %a0 : f32")
    large.lower()
    assert 8 <= large.workgroups[0] <= 64
    small = same_shape((64,), "f32", 1, "%y0 = arith.addf %a0, %a0 : f32")
    small.lower()
    assert small.workgroups == (1, 1, 1)


def test_four_floats_are_one_vector() -> None:
    d = same_shape((4,), "f32", 2, "%y0 = arith.addf %a0, %a1 : f32")
    d.lower()
    assert "scf" not in d.kernel_text
    assert d.kernel_text.count("vector<4xf32>") == 4
