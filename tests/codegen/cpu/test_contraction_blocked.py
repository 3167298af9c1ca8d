"""The blocked contraction: layouts, types, remainders, blocks of sums, epilogues and convolutions, against numpy.

`_pays` would leave small shapes to another strategy; here it is lifted, and the scratch limits are lowered, so that
small shapes go through every path: several panels, row tiles, lane blocks and blocks of sums, with remainders of each.
"""

from __future__ import annotations

import numpy as np
import pytest
from tiree.codegen.common.analyze import analyze
from tiree.codegen.cpu import contraction, contraction_plan
from tiree.codegen.cpu.contraction import BlockedContraction
from tiree.codegen.cpu.lower_to_kernels import lower_dispatch, replace_body
from tiree.codegen.llvm.executable import ExportCounts

from tests.codegen.cpu.checks import check
from tests.codegen.cpu.dispatches import DTYPES, Dispatch, affine, generic, random_array, split_type
from tests.codegen.harness import build, target

NAME = "blocked-contraction"
CPUS = ("host", "x86-64-v3", "generic") if target().has_avx2 else ("host", "generic")
"""64-byte vectors with masks, 32- and 16-byte vectors, as far as the machine has them."""
RNG = np.random.default_rng(29)
MULTIPLY_ADD = "%q = arith.mulf %a0, %a1 : f32\n%y0 = arith.addf %o0, %q : f32"


@pytest.fixture(params=["whole", "blocked"])
def limits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contraction, "_pays", lambda *_: True)
    if request.param == "blocked":
        monkeypatch.setattr(contraction_plan, "LANE_BLOCK_BYTES", 3072)
        monkeypatch.setattr(contraction_plan, "PARTIAL_BYTES", 4096)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contraction, "_pays", lambda *_: True)


def filled(name: str, type: str, element: str = "f32") -> str:
    zero = "0.0" if element[0] in "fb" else "0"
    return (
        f"%c_{name} = arith.constant {zero} : {element}\n%e_{name} = tensor.empty() : tensor<{type}>\n"
        f"%{name} = linalg.fill ins(%c_{name} : {element}) outs(%e_{name} : tensor<{type}>) -> tensor<{type}>\n"
    )


def product_body(narrow: str, wide: str) -> str:
    kind = "f" if wide[0] in "fb" else "i"
    lines = []
    names = ["%a0", "%a1"]
    if narrow != wide:
        extend = "arith.extf" if kind == "f" else "arith.extsi"
        lines = [f"%u = {extend} %a0 : {narrow} to {wide}", f"%v = {extend} %a1 : {narrow} to {wide}"]
        names = ["%u", "%v"]
    lines += [f"%q = arith.mul{kind} {names[0]}, {names[1]} : {wide}", f"%y0 = arith.add{kind} %o0, %q : {wide}"]
    return "\n".join(lines)


def matmul_text(
    result: str, sizes: tuple[int, int, int], layout: str, narrow: str, wide: str
) -> tuple[str, list[str], str]:
    """(text, input types, output type); `layout` says for both operands whether they are (n)ormal or (t)ransposed."""
    m, k, n = sizes
    a_dims = (0, 2) if layout[0] == "n" else (2, 0)
    b_dims = (2, 1) if layout[1] == "n" else (1, 2)
    extent = {0: m, 1: n, 2: k}
    a, b = ("x".join([*(str(extent[d]) for d in dims), narrow]) for dims in (a_dims, b_dims))
    c = f"{m}x{n}x{wide}"
    maps = [affine(3, *a_dims), affine(3, *b_dims), affine(3, 0, 1)]
    text = filled("f", c, wide)
    text += generic(result, maps, "ppr", [("%in0", a), ("%in1", b)], [("%f", c)], product_body(narrow, wide))
    return text, [a, b], c


def matmul_of(x: np.ndarray, y: np.ndarray, layout: str, wide: str) -> np.ndarray:
    exact = np.int64 if wide[0] == "i" else np.float64
    x, y = x.astype(exact), y.astype(exact)
    return ((x if layout[0] == "n" else x.T) @ (y if layout[1] == "n" else y.T)).astype(DTYPES[wide])


@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("sizes", [(37, 53, 71), (16, 64, 32), (130, 19, 16)])
@pytest.mark.usefixtures("limits")
def test_matmul(sizes: tuple[int, int, int], layout: str) -> None:
    text, inputs, output = matmul_text("%r0", sizes, layout, "f32", "f32")
    x, y = (random_array(RNG, t) for t in inputs)
    wanted = matmul_of(x, y, layout, "f32")
    check(Dispatch(inputs, [output], text), [x, y], [wanted], NAME, CPUS, fallback=False, scale=10)


@pytest.mark.parametrize("layout", ["nn", "tt"])
@pytest.mark.parametrize(
    ("narrow", "wide"),
    [("f64", "f64"), ("bf16", "f32"), ("f16", "f32"), ("bf16", "bf16"), ("f16", "f16"), ("i8", "i32"), ("i64", "i64")],
)
@pytest.mark.usefixtures("limits")
def test_element_types(narrow: str, wide: str, layout: str) -> None:
    text, inputs, output = matmul_text("%r0", (21, 45, 38), layout, narrow, wide)
    x, y = (random_array(RNG, t) for t in inputs)
    wanted = matmul_of(x, y, layout, wide)
    cpus = CPUS if layout == "nn" else ("host",)
    check(Dispatch(inputs, [output], text), [x, y], [wanted], NAME, cpus, fallback=False, scale=10)


@pytest.mark.parametrize(("layout", "extend"), [("nn", "extsi"), ("nt", "extsi"), ("tn", "extsi"), ("nn", "extui")])
@pytest.mark.parametrize("sizes", [(21, 46, 38), (33, 45, 48)])
@pytest.mark.usefixtures("limits")
def test_bytes_of_all_values(sizes: tuple[int, int, int], layout: str, extend: str) -> None:
    """Sums of pairs of products in i16: even and odd depths, lanes with and without a remainder."""
    text, inputs, output = matmul_text("%r0", sizes, layout, "i8", "i32")
    text = text.replace("arith.extsi", f"arith.{extend}")
    x, y = (RNG.integers(-128, 128, split_type(t)[0]).astype(np.int8) for t in inputs)
    stored = np.int8 if extend == "extsi" else np.uint8
    wanted = matmul_of(x.view(stored), y.view(stored), layout, "i32")
    check(Dispatch(inputs, [output], text), [x, y], [wanted], NAME, CPUS, fallback=False)


@pytest.mark.usefixtures("limits")
def test_batches_with_swapped_dims() -> None:
    """bqhd, bkhd -> bhqk: batch dims between the others, as attention has them."""
    a, b, c = "2x13x3x18xf32", "2x22x3x18xf32", "2x3x13x22xf32"
    maps = [affine(5, 0, 2, 1, 4), affine(5, 0, 3, 1, 4), affine(5, 0, 1, 2, 3)]
    text = filled("f", c) + generic("%r0", maps, "ppppr", [("%in0", a), ("%in1", b)], [("%f", c)], MULTIPLY_ADD)
    x, y = random_array(RNG, a), random_array(RNG, b)
    wanted = np.einsum("bqhd,bkhd->bhqk", x, y)
    check(Dispatch([a, b], [c], text), [x, y], [wanted], NAME, CPUS, fallback=False, scale=10)


@pytest.mark.parametrize("costly", [False, True])
@pytest.mark.usefixtures("limits")
def test_epilogue_with_bias_residual_and_activation(costly: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if costly:
        monkeypatch.setattr(contraction_plan, "REGISTER_EPILOGUE_OPS", 0)
    m, k, n = 19, 33, 41
    text, inputs, output = matmul_text("%p", (m, k, n), "nn", "f32", "f32")
    body = """%s = arith.addf %a0, %a1 : f32
    %t = arith.addf %s, %a2 : f32
    %y0 = math.tanh %t : f32"""
    reads = [("%p", output), ("%in2", f"{n}xf32"), ("%in3", output)]
    maps = [affine(2, 0, 1), affine(2, 1), affine(2, 0, 1), affine(2, 0, 1)]
    text += generic("%r0", maps, "pp", reads, [("%e_f", output)], body)
    inputs = [*inputs, f"{n}xf32", output]
    x, y, bias, residual = (random_array(RNG, t) for t in inputs)
    wanted = np.tanh(x @ y + bias + residual)
    check(
        Dispatch(inputs, [output], text),
        [x, y, bias, residual],
        [wanted],
        NAME,
        CPUS,
        fallback=False,
        scale=10,
    )


@pytest.mark.usefixtures("limits")
def test_initial_values_producers_and_a_transposed_store() -> None:
    """c' = (c + exp(a) b)^T: arithmetic before the product, an initial value from memory, rows stored as columns."""
    m, k, n = 18, 27, 35
    a, b, c, t = f"{m}x{k}xf32", f"{k}x{n}xf32", f"{m}x{n}xf32", f"{n}x{m}xf32"
    text = f"%ea = tensor.empty() : tensor<{a}>\n%et = tensor.empty() : tensor<{t}>\n"
    text += generic("%x", [affine(2, 0, 1)] * 2, "pp", [("%in0", a)], [("%ea", a)], "%y0 = math.exp %a0 : f32")
    maps = [affine(3, 0, 2), affine(3, 2, 1), affine(3, 0, 1)]
    text += generic("%p", maps, "ppr", [("%x", a), ("%in1", b)], [("%in2", c)], MULTIPLY_ADD)
    body = "%y0 = arith.negf %a0 : f32"
    text += generic("%r0", [affine(2, 1, 0), affine(2, 0, 1)], "pp", [("%p", c)], [("%et", t)], body)
    x, y, z = (random_array(RNG, v) for v in (a, b, c))
    wanted = -(z + np.exp(x) @ y).T
    check(Dispatch([a, b, c], [t], text), [x, y, z], [wanted], NAME, CPUS, fallback=False, scale=10)


def convolution_text(
    sizes: tuple[int, int, int, int], kernel: int, stride: int, dilation: int, pad: int, groups: int, last: bool
) -> tuple[str, list[str], str]:
    """A convolution whose padding is a tensor.pad in the dispatch; (batch, size, channels, filters)."""
    n, h, c, f = sizes
    hp = h + 2 * pad
    o = (hp - dilation * (kernel - 1) - 1) // stride + 1
    each, made = c // groups, f // groups
    rows, columns = f"d1 * {stride} + d5 * {dilation}", f"d2 * {stride} + d6 * {dilation}"

    def typed(*shape: int) -> str:
        return "x".join([*map(str, shape), "f32"])

    # d0 image, d1 d2 position, d3 group, d4 filter, d5 d6 window, d7 channel
    if last:
        x, padded, y = typed(n, h, h, groups, each), typed(n, hp, hp, groups, each), typed(n, o, o, groups, made)
        w = typed(kernel, kernel, each, groups, made)
        maps = [affine(8, 0, rows, columns, 3, 7), affine(8, 5, 6, 7, 3, 4), affine(8, 0, 1, 2, 3, 4)]
        low = [0, pad, pad, 0, 0]
    else:
        x, padded, y = typed(n, groups, each, h, h), typed(n, groups, each, hp, hp), typed(n, groups, made, o, o)
        w = typed(groups, made, each, kernel, kernel)
        maps = [affine(8, 0, 3, 7, rows, columns), affine(8, 3, 4, 7, 5, 6), affine(8, 0, 3, 4, 1, 2)]
        low = [0, 0, 0, pad, pad]
    text, source = filled("f", y), "%in0"
    if pad:
        edges = ", ".join(map(str, low))
        arguments = ", ".join(f"%i{d}: index" for d in range(5))
        text += (
            f"%zero = arith.constant 0.0 : f32\n%padded = tensor.pad %in0 low[{edges}] high[{edges}] {{\n"
            f"^bb0({arguments}):\ntensor.yield %zero : f32\n}} : tensor<{x}> to tensor<{padded}>\n"
        )
        source = "%padded"
    text += generic("%r0", maps, "ppppprrr", [(source, padded), ("%in1", w)], [("%f", y)], MULTIPLY_ADD)
    return text, [x, w], y


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize(
    ("sizes", "kernel", "stride", "dilation", "pad", "groups"),
    [
        ((2, 9, 8, 24), 3, 1, 1, 1, 1),
        ((1, 18, 3, 17), 3, 2, 1, 1, 1),
        ((1, 13, 5, 16), 3, 1, 2, 2, 1),
        ((1, 16, 24, 40), 1, 1, 1, 0, 1),
        ((1, 17, 16, 32), 1, 2, 1, 0, 1),
        ((2, 10, 12, 36), 3, 1, 1, 1, 2),
        ((1, 35, 4, 16), 5, 3, 1, 2, 1),
    ],
)
@pytest.mark.usefixtures("limits")
def test_convolution(
    sizes: tuple[int, int, int, int], kernel: int, stride: int, dilation: int, pad: int, groups: int, last: bool
) -> None:
    text, inputs, output = convolution_text(sizes, kernel, stride, dilation, pad, groups, last)
    x, w = (random_array(RNG, t) for t in inputs)
    image = x if last else x.transpose(0, 3, 4, 1, 2)
    weights = w if last else w.transpose(3, 4, 2, 0, 1)
    image = np.pad(image, ((0, 0), (pad, pad), (pad, pad), (0, 0), (0, 0)))
    reach = dilation * (kernel - 1) + 1
    windows = np.lib.stride_tricks.sliding_window_view(image, (reach, reach), axis=(1, 2))
    windows = windows[:, ::stride, ::stride, :, :, ::dilation, ::dilation]
    wanted = np.einsum("nhwgcij,ijcgf->nhwgf", windows, weights)
    wanted = wanted if last else wanted.transpose(0, 3, 4, 1, 2)
    check(Dispatch(inputs, [output], text), [x, w], [wanted], NAME, CPUS, fallback=False, scale=10)


@pytest.mark.usefixtures("always")
def test_other_architectures_compile() -> None:
    """The object for every other architecture; what runs there is checked by the emulator tests."""
    text, inputs, output = matmul_text("%r0", (50, 60, 70), "nt", "f32", "f32")
    for triple in ("aarch64-unknown-linux-gnu", "riscv64-unknown-linux-gnu"):
        module = Dispatch(inputs, [output], text).module()
        function = next(op for op in module.body.block.ops if op.name == "func.func")
        info = analyze(function)
        _, kernel = lower_dispatch(info, target("", triple=triple), NAME)
        replace_body(function, module, kernel, info.name)
        assert build(module, cpu="", triple=triple, exports={"kernel": ExportCounts(0, 3)}).image


def matched(text: str, inputs: list[str], output: str) -> bool:
    module = Dispatch(inputs, [output], text).module()
    function = next(op for op in module.body.block.ops if op.name == "func.func")
    return BlockedContraction().match(analyze(function), target("x86-64-v4")) is not None


@pytest.mark.parametrize(
    ("sizes", "layout", "wanted"),
    [
        ((512, 512, 512), "nn", True),
        ((64, 64, 64), "nn", False),
        ((64, 64, 64), "nt", True),
        ((64, 64, 64), "tt", True),
        ((1, 1024, 1024), "nt", False),
        ((4, 1024, 1024), "nn", False),
        ((1024, 256, 1), "nn", False),
    ],
)
def test_takes_what_pays(sizes: tuple[int, int, int], layout: str, wanted: bool) -> None:
    text, inputs, output = matmul_text("%r0", sizes, layout, "f32", "f32")
    assert matched(text, inputs, output) == wanted


@pytest.mark.parametrize("sizes", [(0, 16, 32), (16, 0, 32), (16, 32, 0)])
@pytest.mark.usefixtures("always")
def test_leaves_empty_shapes_to_others(sizes: tuple[int, int, int]) -> None:
    text, inputs, output = matmul_text("%r0", sizes, "nn", "f32", "f32")
    assert not matched(text, inputs, output)


@pytest.mark.usefixtures("limits")
def test_the_split_does_not_change_the_result() -> None:
    """Workgroups share no sums: one row computed with the others equals it computed alone in its own matrix."""
    text, inputs, output = matmul_text("%r0", (40, 70, 48), "nn", "f32", "f32")
    x, y = (random_array(RNG, t) for t in inputs)
    (whole,) = Dispatch(inputs, [output], text).run(x, y, strategy=NAME)
    text, inputs, output = matmul_text("%r0", (20, 70, 48), "nn", "f32", "f32")
    (half,) = Dispatch(inputs, [output], text).run(x[20:], y, strategy=NAME)
    np.testing.assert_array_equal(whole[20:], half)
