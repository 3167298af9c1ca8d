"""Chains of reductions and elementwise ops over shared rows: softmax and normalisations, in any layout."""

import numpy as np
import pytest

from tests.codegen.cpu.checks import check
from tests.codegen.cpu.dispatches import Dispatch, affine, generic, random_array, shaped

RNG = np.random.default_rng(11)


def softmax(shape: tuple[int, ...], axis: int, element: str = "f32") -> Dispatch:
    rank = len(shape)
    kept = [d for d in range(rank) if d != axis]
    t, o = shaped(shape, element), shaped([shape[d] for d in kept], element)
    lowest = {"f32": "0xFF800000", "f64": "0xFFF0000000000000"}[element]
    text = f"%n = arith.constant {lowest} : {element}\n%c = arith.constant 0.0 : {element}\n"
    text += f"%z = tensor.empty() : tensor<{t}>\n%e = tensor.empty() : tensor<{o}>\n"
    text += f"%fm = linalg.fill ins(%n : {element}) outs(%e : tensor<{o}>) -> tensor<{o}>\n"
    text += f"%fz = linalg.fill ins(%c : {element}) outs(%e : tensor<{o}>) -> tensor<{o}>\n"
    whole, part = affine(rank, *range(rank)), affine(rank, *kept)
    reducing = "".join("r" if d == axis else "p" for d in range(rank))
    reads = [("%in0", t), ("%m", o)]
    text += generic(
        "%m", [whole, part], reducing, reads[:1], [("%fm", o)], f"%y0 = arith.maximumf %a0, %o0 : {element}"
    )
    body = f"%q = arith.subf %a0, %a1 : {element}\n%y0 = math.exp %q : {element}"
    text += generic("%x", [whole, part, whole], "p" * rank, reads, [("%z", t)], body)
    text += generic("%s", [whole, part], reducing, [("%x", t)], [("%fz", o)], f"%y0 = arith.addf %a0, %o0 : {element}")
    body = f"%y0 = arith.divf %a0, %a1 : {element}"
    text += generic("%r0", [whole, part, whole], "p" * rank, [("%x", t), ("%s", o)], [("%z", t)], body)
    return Dispatch([t], [t], text)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((8, 10), 1),
        ((33, 128), 1),
        ((64, 1000), 1),
        ((5, 1), 1),
        ((2, 3, 7, 7), 3),
        ((2, 8, 10), 1),
        ((3, 5, 128), 1),
        ((2, 12, 49), 1),
        ((9, 40), 0),
    ],
    ids=str,
)
def test_softmax_along_any_axis(shape: tuple[int, ...], axis: int) -> None:
    x = random_array(RNG, shaped(shape, "f32"))
    e = np.exp(x - x.max(axis, keepdims=True))
    check(
        softmax(shape, axis), [x], [e / e.sum(axis, keepdims=True)], strategy="row-group" if shape[axis] > 1 else None
    )


def test_softmax_of_doubles() -> None:
    x = random_array(RNG, "6x19xf64")
    e = np.exp(x - x.max(1, keepdims=True))
    check(softmax((6, 19), 1, "f64"), [x], [e / e.sum(1, keepdims=True)], scale=100)


@pytest.mark.parametrize(("a", "b"), [(4, 64), (7, 33), (3, 1500)])
def test_layer_norm(a: int, b: int) -> None:
    t, o, w = shaped((a, b), "f32"), f"{a}xf32", f"{b}xf32"
    text = f"%c = arith.constant 0.0 : f32\n%z = tensor.empty() : tensor<{t}>\n%e = tensor.empty() : tensor<{o}>\n"
    text += f"%f = linalg.fill ins(%c : f32) outs(%e : tensor<{o}>) -> tensor<{o}>\n"
    whole, rows, columns = affine(2, 0, 1), affine(2, 0), affine(2, 1)
    text += generic("%s", [whole, rows], "pr", [("%in0", t)], [("%f", o)], "%y0 = arith.addf %a0, %o0 : f32")
    mean = f"%n = arith.constant {float(b)} : f32\n%m = arith.divf %a1, %n : f32\n"
    square = "%d = arith.subf %a0, %m : f32\n%q = arith.mulf %d, %d : f32\n%y0 = arith.addf %q, %o0 : f32"
    text += generic("%v", [whole, rows, rows], "pr", [("%in0", t), ("%s", o)], [("%f", o)], mean + square)
    final = """%eps = arith.constant 1.0e-05 : f32
    %d = arith.subf %a0, %m : f32
    %var = arith.divf %a2, %n : f32
    %ve = arith.addf %var, %eps : f32
    %r = math.rsqrt %ve : f32
    %dn = arith.mulf %d, %r : f32
    %g = arith.mulf %dn, %a3 : f32
    %y0 = arith.addf %g, %a4 : f32"""
    reads = [("%in0", t), ("%s", o), ("%v", o), ("%in1", w), ("%in2", w)]
    maps = [whole, rows, rows, columns, columns, whole]
    text += generic("%r0", maps, "pp", reads, [("%z", t)], mean + final)
    x, gain, bias = random_array(RNG, t), random_array(RNG, w), random_array(RNG, w)
    wide = x.astype(np.float64)
    wanted = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * gain + bias
    check(Dispatch([t, w, w], [t], text), [x, gain, bias], [wanted.astype(np.float32)], strategy="row-group", scale=10)


def test_stages_without_shared_rows_run_in_one_workgroup() -> None:
    t = "40x30xf32"
    text = (
        f"%c = arith.constant 0xFF800000 : f32\n%z = tensor.empty() : tensor<{t}>\n%e = tensor.empty() : tensor<f32>\n"
    )
    text += "%f = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>\n"
    whole, nothing = affine(2, 0, 1), affine(2)
    text += generic("%m", [whole, nothing], "rr", [("%in0", t)], [("%f", "f32")], "%y0 = arith.maximumf %a0, %o0 : f32")
    reads = [("%in0", t), ("%m", "f32")]
    text += generic("%r0", [whole, nothing, whole], "pp", reads, [("%z", t)], "%y0 = arith.divf %a0, %a1 : f32")
    x = random_array(RNG, t)
    d = Dispatch([t], [t], text)
    check(d, [x], [x / x.max()], strategy="row-group")
    assert d.workgroups == (1, 1, 1)


def test_a_reduction_of_a_reduction() -> None:
    """max over j of (sum over k): the inner one is evaluated inside the outer."""
    t = "5x9x40xf32"
    text = "%c = arith.constant 0.0 : f32\n%n = arith.constant 0xFF800000 : f32\n"
    text += "%e = tensor.empty() : tensor<5x9xf32>\n%g = tensor.empty() : tensor<5xf32>\n"
    text += "%f = linalg.fill ins(%c : f32) outs(%e : tensor<5x9xf32>) -> tensor<5x9xf32>\n"
    text += "%h = linalg.fill ins(%n : f32) outs(%g : tensor<5xf32>) -> tensor<5xf32>\n"
    text += generic(
        "%s",
        [affine(3, 0, 1, 2), affine(3, 0, 1)],
        "ppr",
        [("%in0", t)],
        [("%f", "5x9xf32")],
        "%y0 = arith.addf %o0, %a0 : f32",
    )
    text += generic(
        "%r0",
        [affine(2, 0, 1), affine(2, 0)],
        "pr",
        [("%s", "5x9xf32")],
        [("%h", "5xf32")],
        "%y0 = arith.maximumf %o0, %a0 : f32",
    )
    x = random_array(RNG, t)
    check(Dispatch([t], ["5xf32"], text), [x], [x.sum(2).max(1)], scale=10)
