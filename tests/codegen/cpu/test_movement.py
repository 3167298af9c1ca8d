"""Data movement: transposes, slices, pads, concatenations, reshapes, lookups, and memory that is read and written."""

import numpy as np
import pytest
from tiree.codegen.common.analyze import analyze
from tiree.codegen.cpu.lower_to_kernels import lower_dispatch, replace_body
from tiree.dialects import read_module

from tests.codegen.cpu.checks import check
from tests.codegen.cpu.dispatches import Dispatch, affine, generic, random_array, shaped
from tests.codegen.elf_loader import Image
from tests.codegen.harness import build, layout, target

RNG = np.random.default_rng(5)


def squared(source: str, type: str) -> str:
    rank = type.count("x")
    text = f"%z = tensor.empty() : tensor<{type}>\n"
    body = "%y0 = arith.mulf %a0, %a0 : f32"
    return text + generic("%r0", [affine(rank, *range(rank))] * 2, "p" * rank, [(source, type)], [("%z", type)], body)


@pytest.mark.parametrize(("a", "b"), [(16, 16), (64, 48), (33, 70), (5, 7), (100, 16), (16, 3)])
@pytest.mark.parametrize("element", ["f32", "f64", "i8", "bf16"])
def test_transpose(a: int, b: int, element: str) -> None:
    t, o = shaped((a, b), element), shaped((b, a), element)
    op = "arith.addi" if element.startswith("i") else "arith.addf"
    text = f"%z = tensor.empty() : tensor<{o}>\n"
    text += generic(
        "%r0", [affine(2, 1, 0), affine(2, 0, 1)], "pp", [("%in0", t)], [("%z", o)], f"%y0 = {op} %a0, %a0 : {element}"
    )
    x = random_array(RNG, t)
    check(Dispatch([t], [o], text), [x], [(x + x).T], fallback=False)


def test_a_permutation_that_keeps_the_last_dim_copies_runs() -> None:
    t, o = "3x4x5x24xf32", "5x3x4x24xf32"
    text = f"%z = tensor.empty() : tensor<{o}>\n"
    text += generic(
        "%r0",
        [affine(4, 1, 2, 0, 3), affine(4, 0, 1, 2, 3)],
        "pppp",
        [("%in0", t)],
        [("%z", o)],
        "%y0 = arith.negf %a0 : f32",
    )
    x = random_array(RNG, t)
    check(Dispatch([t], [o], text), [x], [-x.transpose(2, 0, 1, 3)], strategy="elementwise")


@pytest.mark.parametrize("step", [1, 2, 3, 5])
def test_strided_slices(step: int) -> None:
    t, n = "10x97xf32", (97 - 3 + step - 1) // step
    o = f"4x{n}xf32"
    text = f"%s = tensor.extract_slice %in0[1, 3][4, {n}][2, {step}] : tensor<{t}> to tensor<{o}>\n"
    x = random_array(RNG, t)
    check(Dispatch([t], [o], text + squared("%s", o)), [x], [x[1:9:2, 3::step] ** 2])


def test_reversed_reads() -> None:
    t = "4x45xf32"
    text = f"%z = tensor.empty() : tensor<{t}>\n"
    text += generic(
        "%r0",
        [affine(2, 0, "44 - d1"), affine(2, 0, 1)],
        "pp",
        [("%in0", t)],
        [("%z", t)],
        "%y0 = arith.negf %a0 : f32",
    )
    x = random_array(RNG, t)
    check(Dispatch([t], [t], text), [x], [-x[:, ::-1]])


@pytest.mark.parametrize("step", [1, 2])
def test_insert_slice(step: int) -> None:
    t, o = "4x15xf32", "10x37xf32"
    text = f"%r0 = tensor.insert_slice %in0 into %in1[1, 3][4, 15][{step}, {step}] : tensor<{t}> into tensor<{o}>\n"
    x, y = random_array(RNG, t), random_array(RNG, o)
    wanted = y.copy()
    wanted[1 : 1 + 4 * step : step, 3 : 3 + 15 * step : step] = x
    check(Dispatch([t, o], [o], text), [x, y], [wanted])


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [
        ((5, 7), (1, 2), (0, 3)),
        ((2, 8, 8, 4), (0, 1, 1, 0), (0, 1, 1, 0)),
        ((40,), (3,), (5,)),
        ((3, 33), (0, 0), (0, 2)),
    ],
)
def test_pad(shape: tuple[int, ...], low: tuple[int, ...], high: tuple[int, ...], fused: bool) -> None:
    t = shaped(shape, "f32")
    o = shaped([a + b + c for a, b, c in zip(shape, low, high, strict=True)], "f32")
    name = "%p" if fused else "%r0"
    arguments = ", ".join(f"%i{d}: index" for d in range(len(shape)))
    text = f"%c = arith.constant 2.0 : f32\n{name} = tensor.pad %in0 low[{', '.join(map(str, low))}] "
    text += f"high[{', '.join(map(str, high))}] {{\n^bb0({arguments}):\ntensor.yield %c : f32\n}} "
    text += f": tensor<{t}> to tensor<{o}>\n"
    x = random_array(RNG, t)
    padded = np.pad(x, list(zip(low, high, strict=True)), constant_values=2.0)
    if fused:
        check(Dispatch([t], [o], text + squared("%p", o)), [x], [padded * padded])
    else:
        check(Dispatch([t], [o], text), [x], [padded], strategy="copy")


def test_merged_loops_do_not_confuse_a_padding() -> None:
    """A convolution may merge its window and channel loops although the rows above are padded."""
    x_type, w_type, o_type = "1x7x6x4xf32", "3x3x4x6xf32", "1x6x4x6xf32"
    text = "%c = arith.constant 0.0 : f32\n%z = tensor.empty() : tensor<1x6x4x6xf32>\n"
    text += "%f = linalg.fill ins(%c : f32) outs(%z : tensor<1x6x4x6xf32>) -> tensor<1x6x4x6xf32>\n"
    text += "%p = tensor.pad %in0 low[0, 0, 0, 0] high[0, 1, 0, 0] {\n"
    text += "^bb0(%i: index, %j: index, %k: index, %l: index):\ntensor.yield %c : f32\n"
    text += "} : tensor<1x7x6x4xf32> to tensor<1x8x6x4xf32>\n"
    text += generic(
        "%r0",
        [affine(7, 0, "d1 + d4", "d2 + d5", 6), affine(7, 4, 5, 6, 3), affine(7, 0, 1, 2, 3)],
        "pppprrr",
        [("%p", "1x8x6x4xf32"), ("%in1", w_type)],
        [("%f", o_type)],
        "%q = arith.mulf %a0, %a1 : f32\n%y0 = arith.addf %o0, %q : f32",
    )
    x, w = random_array(RNG, x_type), random_array(RNG, w_type)
    padded = np.pad(x, [(0, 0), (0, 1), (0, 0), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    check(Dispatch([x_type, w_type], [o_type], text), [x, w], [np.einsum("nhwcij,ijcf->nhwf", windows, w)], scale=10)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_concat(fused: bool, dim: int) -> None:
    shapes = [(3, 5), (3, 20)] if dim == 1 else [(2, 19), (5, 19)]
    a, b = (shaped(s, "f32") for s in shapes)
    o = "3x25xf32" if dim == 1 else "7x19xf32"
    name = "%p" if fused else "%r0"
    text = f"{name} = tensor.concat dim({dim}) %in0, %in1 : (tensor<{a}>, tensor<{b}>) -> tensor<{o}>\n"
    x, y = random_array(RNG, a), random_array(RNG, b)
    joined = np.concatenate([x, y], dim)
    if fused:
        check(Dispatch([a, b], [o], text + squared("%p", o)), [x, y], [joined * joined])
    else:
        check(Dispatch([a, b], [o], text), [x, y], [joined], strategy="copy")


def test_reshape_between_generics() -> None:
    t, o = "4x6x5xf32", "4x30xf32"
    text = "%z0 = tensor.empty() : tensor<4x6x5xf32>\n%z1 = tensor.empty() : tensor<4x30xf32>\n"
    cube, square = affine(3, 0, 1, 2), affine(2, 0, 1)
    text += generic("%p", [cube] * 2, "ppp", [("%in0", t)], [("%z0", t)], "%y0 = arith.mulf %a0, %a0 : f32")
    text += f"%c = tensor.collapse_shape %p [[0], [1, 2]] : tensor<{t}> into tensor<{o}>\n"
    reads = [("%c", o), ("%in1", "30xf32")]
    text += generic("%r0", [square, affine(2, 1), square], "pp", reads, [("%z1", o)], "%y0 = arith.addf %a0, %a1 : f32")
    x, y = random_array(RNG, t), random_array(RNG, "30xf32")
    check(Dispatch([t, "30xf32"], [o], text), [x, y], [(x * x).reshape(4, 30) + y])


def test_transpose_then_reshape() -> None:
    """(b, s, h, d) -> (b, h, s, d) -> (b, h, s * d): the source index needs a division."""
    t, m, o = "2x6x3x5xf32", "2x3x6x5xf32", "2x3x30xf32"
    text = f"%z0 = tensor.empty() : tensor<{m}>\n"
    text += generic(
        "%p",
        [affine(4, 0, 2, 1, 3), affine(4, 0, 1, 2, 3)],
        "pppp",
        [("%in0", t)],
        [("%z0", m)],
        "%y0 = arith.negf %a0 : f32",
    )
    text += f"%c = tensor.collapse_shape %p [[0], [1], [2, 3]] : tensor<{m}> into tensor<{o}>\n"
    x = random_array(RNG, t)
    wanted = x.transpose(0, 2, 1, 3).reshape(2, 3, 30) ** 2
    check(Dispatch([t], [o], text + squared("%c", o)), [x], [wanted])


@pytest.mark.parametrize(("rows", "width", "count"), [(50, 64, 12), (100, 7, 33), (10, 128, 1)])
def test_rows_by_index(rows: int, width: int, count: int) -> None:
    t, i, o = f"{rows}x{width}xf32", f"{count}xi32", f"{count}x{width}xf32"
    body = f"""%zero = arith.constant 0 : index
    %last = arith.constant {rows - 1} : index
    %ix = arith.index_cast %a0 : i32 to index
    %m1 = arith.maxsi %ix, %zero : index
    %m2 = arith.minsi %m1, %last : index
    %j = linalg.index 1 : index
    %y0 = tensor.extract %in0[%m2, %j] : tensor<{t}>"""
    text = f"%z = tensor.empty() : tensor<{o}>\n"
    text += generic("%r0", [affine(2, 0), affine(2, 0, 1)], "pp", [("%in1", i)], [("%z", o)], body)
    x, at = random_array(RNG, t), RNG.integers(-3, rows + 3, count).astype(np.int32)
    d = Dispatch([t, i], [o], text)
    check(d, [x, at], [x[np.clip(at, 0, rows - 1)]], strategy="gather")
    assert "vector.gather" not in d.kernel_text or width < 16


def test_elements_by_index_are_gathered() -> None:
    t, i, o = "90xf32", "45xi64", "45xf32"
    body = "%ix = arith.index_cast %a0 : i64 to index\n%y0 = tensor.extract %in0[%ix] : tensor<90xf32>"
    text = f"%z = tensor.empty() : tensor<{o}>\n"
    text += generic("%r0", [affine(1, 0)] * 2, "p", [("%in1", i)], [("%z", o)], body)
    x, at = random_array(RNG, t), RNG.integers(0, 90, 45)
    check(Dispatch([t, i], [o], text), [x, at], [x[at]])


def test_a_constant_table_becomes_memory_of_the_kernel() -> None:
    o = "2x3xf32"
    text = "%t = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>\n"
    text += f"%z = tensor.empty() : tensor<{o}>\n"
    identity = affine(2, 0, 1)
    text += generic(
        "%r0", [identity] * 3, "pp", [("%in0", o), ("%t", o)], [("%z", o)], "%y0 = arith.addf %a0, %a1 : f32"
    )
    x = random_array(RNG, o)
    check(Dispatch([o], [o], text), [x], [x + np.arange(1, 7, dtype=np.float32).reshape(2, 3)])


def run_in_place(body: str, memory: np.ndarray, strategy: str | None) -> np.ndarray:
    """A dispatch of one read-write binding `%b` of 1000 floats."""
    text = f"""module {{ func.func @kernel() {{
    %c0 = arith.constant 0 : index
    %b = "hal.interface.binding.subspan"(%c0) <{{alignment = 64 : index, binding = 0 : index, layout = {layout(1)},
      operandSegmentSizes = array<i32: 1, 0>}}>
      : (index) -> !iree_tensor_ext.dispatch.tensor<readwrite:tensor<1000xf32>>
    {body}
    return }} }}"""
    module = read_module(text)
    function = next(op for op in module.body.block.ops if op.name == "func.func")
    info = analyze(function)
    _, kernel = lower_dispatch(info, target(), strategy)
    replace_body(function, module, kernel, info.name)
    result = memory.copy()
    Image(build(module).image).run("kernel", [result], kernel.workgroups)
    return result


def box(kind: str, value: str, offset: int, size: int) -> str:
    bound = "!iree_tensor_ext.dispatch.tensor<readwrite:tensor<1000xf32>>"
    properties = (
        f"static_offsets = array<i64: {offset}>, static_sizes = array<i64: {size}>, static_strides = array<i64: 1>"
    )
    if kind == "load":
        return (
            f'{value} = "iree_tensor_ext.dispatch.tensor.load"(%b) <{{operandSegmentSizes = array<i32: 1, 0, 0, 0, 0>, '
            f"{properties}}}> : ({bound}) -> tensor<{size}xf32>\n"
        )
    return (
        f'"iree_tensor_ext.dispatch.tensor.store"({value}, %b) <{{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0>, '
        f"{properties}}}> : (tensor<{size}xf32>, {bound}) -> ()\n"
    )


@pytest.mark.parametrize("strategy", [None, "scalar-fallback"])
def test_memory_that_is_read_and_written(strategy: str | None) -> None:
    memory = np.arange(1000, dtype=np.float32)
    shifted = memory.copy()
    shifted[1:] = memory[:-1]
    actual = run_in_place(box("load", "%x", 0, 999) + box("store", "%x", 1, 999), memory, strategy)
    np.testing.assert_array_equal(actual, shifted)
    for read, wanted in ((affine(1, 0), memory**2), (affine(1, "999 - d0"), memory[::-1] ** 2)):
        body = box("load", "%x", 0, 1000) + "%z = tensor.empty() : tensor<1000xf32>\n"
        body += generic(
            "%r",
            [read, affine(1, 0)],
            "p",
            [("%x", "1000xf32")],
            [("%z", "1000xf32")],
            "%y0 = arith.mulf %a0, %a0 : f32",
        )
        np.testing.assert_array_equal(run_in_place(body + box("store", "%r", 0, 1000), memory, strategy), wanted)
