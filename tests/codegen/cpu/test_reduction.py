"""Reductions along any dims: with lanes inside, with lanes across, several results, bodies that keep their order."""

import numpy as np
import pytest

from tests.codegen.cpu.checks import check
from tests.codegen.cpu.dispatches import Dispatch, affine, generic, random_array, shaped

RNG = np.random.default_rng(3)
COMBINERS = {
    "addf": ("f32", "0.0 : f32", lambda x, a: x.astype(np.float64).sum(a).astype(np.float32)),
    "maximumf": ("f32", "0xFF800000 : f32", lambda x, a: x.max(a, initial=-np.inf)),
    "addi": ("i32", "0 : i32", lambda x, a: x.sum(a)),
    "minsi": ("i8", "127 : i8", lambda x, a: x.min(a, initial=127)),
    "andi": ("i1", "true", lambda x, a: x.all(a).astype(np.int8)),
    "mulf": ("f64", "1.0 : f64", lambda x, a: x.prod(a)),
}


def reduction(shape: tuple[int, ...], axes: tuple[int, ...], element: str, initial: str, body: str) -> Dispatch:
    rank = len(shape)
    kept = [d for d in range(rank) if d not in axes]
    t, o = shaped(shape, element), shaped([shape[d] for d in kept], element)
    text = f"%c = arith.constant {initial}\n%z = tensor.empty() : tensor<{o}>\n"
    text += f"%f = linalg.fill ins(%c : {element}) outs(%z : tensor<{o}>) -> tensor<{o}>\n"
    iterators = "".join("r" if d in axes else "p" for d in range(rank))
    maps = [affine(rank, *range(rank)), affine(rank, *kept)]
    return Dispatch([t], [o], text + generic("%r0", maps, iterators, [("%in0", t)], [("%f", o)], body))


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((10,), (0,)),
        ((1001,), (0,)),
        ((8, 10), (1,)),
        ((8, 10), (0,)),
        ((37, 129), (1,)),
        ((37, 129), (0,)),
        ((5, 6, 7), (1,)),
        ((5, 6, 7), (0, 2)),
        ((2, 6, 5, 8), (1, 2)),
        ((2, 8, 7, 7), (2, 3)),
        ((4, 0), (1,)),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", COMBINERS)
def test_combiners_along_any_dims(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    element, initial, reference = COMBINERS[name]
    d = reduction(shape, axes, element, initial, f"%y0 = arith.{name} %o0, %a0 : {element}")
    x = random_array(RNG, shaped(shape, element))
    check(d, [x], [np.asarray(reference(x, axes))], strategy="reduction", fallback=name == "addf")


def test_the_grid_does_not_change_the_sum() -> None:
    x = random_array(RNG, "40x3000xf32")
    d = reduction((40, 3000), (1,), "f32", "0.0 : f32", "%y0 = arith.addf %o0, %a0 : f32")
    (all_rows,) = d.run(x)
    one = reduction((1, 3000), (1,), "f32", "0.0 : f32", "%y0 = arith.addf %o0, %a0 : f32")
    assert all(one.run(x[n : n + 1])[0][0] == all_rows[n] for n in range(40))


def test_a_body_that_does_not_reassociate_keeps_its_order() -> None:
    body = "%h = arith.constant 5.0e-01 : f32\n%p = arith.mulf %o0, %h : f32\n%y0 = arith.addf %p, %a0 : f32"
    d = reduction((6, 33), (1,), "f32", "0.0 : f32", body)
    x = random_array(RNG, "6x33xf32")
    wanted = np.zeros(6, np.float32)
    for k in range(33):
        wanted = wanted * np.float32(0.5) + x[:, k]
    check(d, [x], [wanted])


def test_the_initial_value_counts_once() -> None:
    d = reduction((3, 50), (1,), "f32", "2.5 : f32", "%y0 = arith.addf %a0, %o0 : f32")
    x = random_array(RNG, "3x50xf32")
    check(d, [x], [x.sum(1) + np.float32(2.5)], scale=10)


ARGMAX = """%ix = linalg.index 1 : index
%i = arith.index_cast %ix : index to i32
%gt = arith.cmpf ogt, %a0, %o0 : f32
%ne = arith.cmpf une, %a0, %a0 : f32
%c1 = arith.ori %gt, %ne : i1
%eq = arith.cmpf oeq, %a0, %o0 : f32
%lt = arith.cmpi slt, %i, %o1 : i32
%tie = arith.andi %eq, %lt : i1
%c2 = arith.ori %c1, %tie : i1
%y0 = arith.select %c1, %a0, %o0 : f32
%y1 = arith.select %c2, %i, %o1 : i32"""


@pytest.mark.parametrize(("a", "b"), [(8, 10), (5, 1000), (3, 37)])
def test_argmax_breaks_ties_by_index(a: int, b: int) -> None:
    t, o, k = shaped((a, b), "f32"), f"{a}xf32", f"{a}xi32"
    text = "%n = arith.constant 0xFF800000 : f32\n%zi = arith.constant 0 : i32\n"
    text += f"%e = tensor.empty() : tensor<{o}>\n%ei = tensor.empty() : tensor<{k}>\n"
    text += f"%fm = linalg.fill ins(%n : f32) outs(%e : tensor<{o}>) -> tensor<{o}>\n"
    text += f"%fz = linalg.fill ins(%zi : i32) outs(%ei : tensor<{k}>) -> tensor<{k}>\n"
    maps = [affine(2, 0, 1), affine(2, 0), affine(2, 0)]
    text += generic("%rr", maps, "pr", [("%in0", t)], [("%fm", o), ("%fz", k)], ARGMAX)
    text += generic("%r0", [affine(1, 0)] * 2, "p", [("%rr#0", o)], [("%e", o)], "%y0 = arith.addf %a0, %a0 : f32")
    text += generic("%r1", [affine(1, 0)] * 2, "p", [("%rr#1", k)], [("%ei", k)], "%y0 = arith.addi %a0, %a0 : i32")
    x = random_array(RNG, t).round(1)
    check(Dispatch([t], [o, k], text), [x], [x.max(1) * 2, x.argmax(1) * 2])


def test_two_sums_in_one_body() -> None:
    t, o = "9x70xf32", "9xf32"
    text = "%c = arith.constant 0.0 : f32\n" + f"%z = tensor.empty() : tensor<{o}>\n"
    text += f"%f = linalg.fill ins(%c : f32) outs(%z : tensor<{o}>) -> tensor<{o}>\n"
    body = "%y0 = arith.addf %o0, %a0 : f32\n%q = arith.mulf %a0, %a0 : f32\n%y1 = arith.addf %o1, %q : f32"
    text += generic("%s", [affine(2, 0, 1), affine(2, 0), affine(2, 0)], "pr", [("%in0", t)], [("%f", o)] * 2, body)
    text += generic("%r0", [affine(1, 0)] * 2, "p", [("%s#0", o)], [("%z", o)], "%y0 = arith.negf %a0 : f32")
    text += generic("%r1", [affine(1, 0)] * 2, "p", [("%s#1", o)], [("%z", o)], "%y0 = arith.negf %a0 : f32")
    x = random_array(RNG, t)
    check(Dispatch([t], [o, o], text), [x], [-x.sum(1), -(x * x).sum(1)], scale=10)


def test_results_in_transposed_layout() -> None:
    t, o = "4x50x6xf32", "6x4xf32"
    text = "%c = arith.constant 0.0 : f32\n" + f"%z = tensor.empty() : tensor<{o}>\n"
    text += f"%f = linalg.fill ins(%c : f32) outs(%z : tensor<{o}>) -> tensor<{o}>\n"
    maps = [affine(3, 0, 1, 2), affine(3, 2, 0)]
    text += generic("%r0", maps, "prp", [("%in0", t)], [("%f", o)], "%y0 = arith.addf %o0, %a0 : f32")
    x = random_array(RNG, t)
    check(Dispatch([t], [o], text), [x], [x.sum(1).T], scale=10)


def pool(n: int, h: int, w: int, c: int, k: int, s: int, channels_last: bool) -> tuple[Dispatch, str]:
    oh, ow = (h - k) // s + 1, (w - k) // s + 1
    if channels_last:
        x, o = f"{n}x{h}x{w}x{c}xf32", f"{n}x{oh}x{ow}x{c}xf32"
        read = affine(6, 0, f"d1 * {s} + d4", f"d2 * {s} + d5", 3)
    else:
        x, o = f"{n}x{c}x{h}x{w}xf32", f"{n}x{c}x{oh}x{ow}xf32"
        read = affine(6, 0, 1, f"d2 * {s} + d4", f"d3 * {s} + d5")
    window = f"{k}x{k}xf32"
    text = f"%c = arith.constant 0xFF800000 : f32\n%z = tensor.empty() : tensor<{o}>\n"
    text += f"%w = tensor.empty() : tensor<{window}>\n"
    text += f"%f = linalg.fill ins(%c : f32) outs(%z : tensor<{o}>) -> tensor<{o}>\n"
    maps = [read, affine(6, 4, 5), affine(6, 0, 1, 2, 3)]
    text += generic(
        "%r0", maps, "pppprr", [("%in0", x), ("%w", window)], [("%f", o)], "%y0 = arith.maximumf %o0, %a0 : f32"
    )
    return Dispatch([x], [o], text), x


@pytest.mark.parametrize("channels_last", [True, False])
@pytest.mark.parametrize("sizes", [(2, 8, 8, 16, 2, 2), (1, 9, 9, 5, 3, 1), (2, 12, 13, 3, 2, 2), (1, 4, 35, 2, 3, 3)])
def test_windows(sizes: tuple[int, int, int, int, int, int], channels_last: bool) -> None:
    d, x_type = pool(*sizes, channels_last)
    k, s = sizes[4:]
    x = random_array(RNG, x_type)
    last = x if channels_last else x.transpose(0, 2, 3, 1)
    wanted = np.lib.stride_tricks.sliding_window_view(last, (k, k), axis=(1, 2))[:, ::s, ::s].max((-1, -2))
    check(d, [x], [wanted if channels_last else wanted.transpose(0, 3, 1, 2)], strategy="window")


# `%o0`, `%o1` are what has been seen so far, as in JAX's reducer: a NaN seen first stays.
FIRST_NAN = """%ix = linalg.index 1 : index
%i = arith.index_cast %ix : index to i32
%gt = arith.cmpf ogt, %o0, %a0 : f32
%ne = arith.cmpf une, %o0, %o0 : f32
%c1 = arith.ori %gt, %ne : i1
%eq = arith.cmpf oeq, %o0, %a0 : f32
%lt = arith.cmpi slt, %o1, %i : i32
%tie = arith.andi %eq, %lt : i1
%c2 = arith.ori %c1, %tie : i1
%y0 = arith.select %c1, %o0, %a0 : f32
%y1 = arith.select %c2, %o1, %i : i32"""


@pytest.mark.parametrize("first", [3, 20, 61])
def test_argmax_finds_the_first_nan(first: int) -> None:
    t, o, k = "2x70xf32", "2xf32", "2xi32"
    text = "%n = arith.constant 0xFF800000 : f32\n%zi = arith.constant 0 : i32\n"
    text += f"%e = tensor.empty() : tensor<{o}>\n%ei = tensor.empty() : tensor<{k}>\n"
    text += f"%fm = linalg.fill ins(%n : f32) outs(%e : tensor<{o}>) -> tensor<{o}>\n"
    text += f"%fz = linalg.fill ins(%zi : i32) outs(%ei : tensor<{k}>) -> tensor<{k}>\n"
    maps = [affine(2, 0, 1), affine(2, 0), affine(2, 0)]
    text += generic("%rr", maps, "pr", [("%in0", t)], [("%fm", o), ("%fz", k)], FIRST_NAN)
    text += generic("%r0", [affine(1, 0)] * 2, "p", [("%rr#1", k)], [("%ei", k)], "%y0 = arith.addi %a0, %a0 : i32")
    x = random_array(RNG, t)
    x[0, [first, first + 1, 69]] = np.nan
    check(Dispatch([t], [k], text), [x], [x.argmax(1) * 2])
