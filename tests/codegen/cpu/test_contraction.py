"""Contractions on the generic nest: every layout, epilogues, mixed precision. Shapes do not divide."""

import numpy as np
import pytest

from tests.codegen.cpu.checks import check
from tests.codegen.cpu.dispatches import DTYPES, Dispatch, affine, generic, random_array

RNG = np.random.default_rng(13)
MULTIPLY_ADD = "%q = arith.mulf %a0, %a1 : f32\n%y0 = arith.addf %o0, %q : f32"


def filled(name: str, type: str, element: str = "f32") -> str:
    zero = "0.0" if element.startswith("f") else "0"
    return (
        f"%c_{name} = arith.constant {zero} : {element}\n%e_{name} = tensor.empty() : tensor<{type}>\n"
        f"%{name} = linalg.fill ins(%c_{name} : {element}) outs(%e_{name} : tensor<{type}>) -> tensor<{type}>\n"
    )


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(
    ("m", "k", "n"), [(8, 64, 128), (8, 128, 10), (33, 17, 70), (7, 64, 5), (1, 64, 100), (50, 3, 1)]
)
def test_matmul_with_bias_and_relu(m: int, k: int, n: int, transposed: bool) -> None:
    a, b, c = f"{m}x{k}xf32", f"{n}x{k}xf32" if transposed else f"{k}x{n}xf32", f"{m}x{n}xf32"
    text = filled("f", c)
    maps = [affine(3, 0, 2), affine(3, 1, 2) if transposed else affine(3, 2, 1), affine(3, 0, 1)]
    text += generic("%p", maps, "ppr", [("%in0", a), ("%in1", b)], [("%f", c)], MULTIPLY_ADD)
    body = "%z = arith.constant 0.0 : f32\n%q = arith.addf %a0, %a1 : f32\n%y0 = arith.maximumf %q, %z : f32"
    reads = [("%p", c), ("%in2", f"{n}xf32")]
    text += generic("%r0", [affine(2, 0, 1), affine(2, 1), affine(2, 0, 1)], "pp", reads, [("%e_f", c)], body)
    x, y, z = (random_array(RNG, t) for t in (a, b, f"{n}xf32"))
    wanted = np.maximum(x @ (y.T if transposed else y) + z, 0)
    check(Dispatch([a, b, f"{n}xf32"], [c], text), [x, y, z], [wanted], scale=10, fallback=m < 10)


def test_batch_matmul_with_a_transposed_operand() -> None:
    a, b, c = "3x17x9xf32", "3x17x21xf32", "3x9x21xf32"
    maps = [affine(4, 0, 3, 1), affine(4, 0, 3, 2), affine(4, 0, 1, 2)]
    text = filled("f", c) + generic("%r0", maps, "pppr", [("%in0", a), ("%in1", b)], [("%f", c)], MULTIPLY_ADD)
    x, y = random_array(RNG, a), random_array(RNG, b)
    check(Dispatch([a, b], [c], text), [x, y], [np.einsum("bkm,bkn->bmn", x, y)], scale=10)


@pytest.mark.parametrize(
    ("narrow", "wide", "extend", "multiply", "add"),
    [
        ("bf16", "f32", "arith.extf", "arith.mulf", "arith.addf"),
        ("f16", "f32", "arith.extf", "arith.mulf", "arith.addf"),
        ("i8", "i32", "arith.extsi", "arith.muli", "arith.addi"),
    ],
)
def test_mixed_precision(narrow: str, wide: str, extend: str, multiply: str, add: str) -> None:
    a, b, c = f"9x35x{narrow}", f"35x22x{narrow}", f"9x22x{wide}"
    body = f"""%u = {extend} %a0 : {narrow} to {wide}
    %v = {extend} %a1 : {narrow} to {wide}
    %q = {multiply} %u, %v : {wide}
    %y0 = {add} %o0, %q : {wide}"""
    maps = [affine(3, 0, 2), affine(3, 2, 1), affine(3, 0, 1)]
    text = filled("f", c, wide) + generic("%r0", maps, "ppr", [("%in0", a), ("%in1", b)], [("%f", c)], body)
    x, y = random_array(RNG, a), random_array(RNG, b)
    wanted = x.astype(DTYPES[wide]) @ y.astype(DTYPES[wide])
    check(Dispatch([a, b], [c], text), [x, y], [wanted], scale=10)


def test_dot_product() -> None:
    text = filled("f", "f32")
    reads = [("%in0", "1001xf32"), ("%in1", "1001xf32")]
    text += generic("%r0", [affine(1, 0), affine(1, 0), affine(1)], "r", reads, [("%f", "f32")], MULTIPLY_ADD)
    x, y = random_array(RNG, "1001xf32"), random_array(RNG, "1001xf32")
    check(Dispatch(["1001xf32"] * 2, ["f32"], text), [x, y], [np.float32(x.astype(np.float64) @ y)], scale=10)


@pytest.mark.parametrize("channels_last", [True, False])
@pytest.mark.parametrize("stride", [1, 2])
def test_convolution(channels_last: bool, stride: int) -> None:
    n, h, c, f, k = 2, 9, 5, 12, 3
    o = (h - k) // stride + 1
    rows, columns = f"d1 * {stride} + d4", f"d2 * {stride} + d5"
    if channels_last:
        x, w, y = f"{n}x{h}x{h}x{c}xf32", f"{k}x{k}x{c}x{f}xf32", f"{n}x{o}x{o}x{f}xf32"
        maps = [affine(7, 0, rows, columns, 6), affine(7, 4, 5, 6, 3), affine(7, 0, 1, 2, 3)]
    else:
        x, w, y = f"{n}x{c}x{h}x{h}xf32", f"{f}x{c}x{k}x{k}xf32", f"{n}x{f}x{o}x{o}xf32"
        maps = [affine(7, 0, 6, rows, columns), affine(7, 3, 6, 4, 5), affine(7, 0, 3, 1, 2)]
    text = filled("f", y) + generic("%r0", maps, "pppprrr", [("%in0", x), ("%in1", w)], [("%f", y)], MULTIPLY_ADD)
    image, weights = random_array(RNG, x), random_array(RNG, w)
    last = image if channels_last else image.transpose(0, 2, 3, 1)
    windows = np.lib.stride_tricks.sliding_window_view(last, (k, k), axis=(1, 2))[:, ::stride, ::stride]
    hwio = weights if channels_last else weights.transpose(2, 3, 1, 0)
    wanted = np.einsum("nhwcij,ijcf->nhwf", windows, hwio)
    check(
        Dispatch([x, w], [y], text),
        [image, weights],
        [wanted if channels_last else wanted.transpose(0, 3, 1, 2)],
        scale=10,
    )
