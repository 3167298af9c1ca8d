"""A part of an operand with `?` sizes that begins where the operand does, or has its stride: it may be smaller."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tiree
import tiree.runtime as rt
from proofs import iree_reference as iree
from tiree.runtime.errors import StatusError

Array = np.ndarray
M, V, S = "tensor<?x?xf32>", "tensor<?xf32>", "tensor<f32>"


def moved(shape: str, op: str) -> str:
    return f"func.func @NAME(%a: {M}) -> tensor<{shape}xf32> {{\n{op} : ({M}) -> tensor<{shape}xf32>\nRETURN"


def windows(sizes: str, strides: str, shape: str) -> str:
    return f"""func.func @NAME(%a: {M}) -> tensor<{shape}xf32> {{
  %z = stablehlo.constant dense<0.0> : {S}
  %0 = "stablehlo.reduce_window"(%a, %z) <{{window_dimensions = array<i64: {sizes}>,
    window_strides = array<i64: {strides}>}}> ({{
  ^bb0(%x: {S}, %y: {S}):
    %1 = stablehlo.add %x, %y : {S}
    stablehlo.return %1 : {S}
  }}) : ({M}, {S}) -> tensor<{shape}xf32>
RETURN"""


def padded(low: str, high: str, interior: str) -> str:
    return f"""func.func @NAME(%a: {M}) -> {M} {{
  %z = stablehlo.constant dense<0.0> : {S}
  %0 = stablehlo.pad %a, %z, low = [{low}], high = [{high}], interior = [{interior}] : ({M}, {S}) -> {M}
RETURN"""


PROGRAMS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "corner": (moved("1x1", "%0 = stablehlo.slice %a [0:1, 0:1]"), lambda a: a[:1, :1]),
    "rows": (moved("2x1", "%0 = stablehlo.slice %a [1:3, 0:1]"), lambda a: a[1:3, :1]),
    "columns": (moved("1x2", "%0 = stablehlo.slice %a [0:1, 1:3]"), lambda a: a[:1, 1:3]),
    "shifted": (moved("2x2", "%0 = stablehlo.slice %a [1:3, 1:3]"), lambda a: a[1:3, 1:3]),
    "strided": (moved("2x1", "%0 = stablehlo.slice %a [0:3:2, 0:1]"), lambda a: a[0:3:2, :1]),
    "all_strided": (moved("2x2", "%0 = stablehlo.slice %a [0:3:2, 0:3:2]"), lambda a: a[0:3:2, 0:3:2]),
    "one_of_a_stride": (moved("1x2", "%0 = stablehlo.slice %a [0:1:4, 0:2]"), lambda a: a[:1, :2]),
    "nothing": (moved("0x2", "%0 = stablehlo.slice %a [0:0, 0:2]"), lambda a: a[:0, :2]),
    "of_a_result": (
        f"""func.func @NAME(%a: {M}) -> tensor<2x3xf32> {{
  %t = stablehlo.tanh %a : {M}
  %s = stablehlo.slice %t [0:2, 0:3] : ({M}) -> tensor<2x3xf32>
  %0 = stablehlo.add %s, %s : tensor<2x3xf32>
RETURN""",
        lambda a: 2 * np.tanh(a)[:2, :3],
    ),
    "of_a_known_size": (
        f"""func.func @NAME(%a: {M}) -> tensor<2x2xf32> {{
  %n = stablehlo.get_dimension_size %a, dim = 0 : ({M}) -> tensor<i32>
  %p = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %q = stablehlo.constant dense<4> : tensor<1xi32>
  %s = stablehlo.concatenate %p, %q, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %b = stablehlo.dynamic_reshape %a, %s : ({M}, tensor<2xi32>) -> tensor<?x4xf32>
  %0 = stablehlo.slice %b [0:2, 0:2] : (tensor<?x4xf32>) -> tensor<2x2xf32>
RETURN""",
        lambda a: a[:2, :2],
    ),
    "in_an_update": (
        f"""func.func @NAME(%a: {M}) -> {M} {{
  %one = stablehlo.constant dense<1> : tensor<i32>
  %s = stablehlo.slice %a [0:1, 0:2] : ({M}) -> tensor<1x2xf32>
  %0 = stablehlo.dynamic_update_slice %a, %s, %one, %one
    : ({M}, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> {M}
RETURN""",
        lambda a: np.block([[a[:1]], [a[1:2, :1], a[:1, :2], a[1:2, 3:]], [a[2:]]]),
    ),
    "first_of_each_window": (windows("1, 1", "2, 3", "?x?"), lambda a: a[::2, ::3]),
    "windows": (windows("1, 2", "1, 1", "?x?"), lambda a: a[:, :-1] + a[:, 1:]),
    "cut": (padded("0, 0", "-1, -2", "0, 0"), lambda a: a[:-1, :-2]),
    "cut_in_front": (padded("-1, 0", "1, -1", "0, 0"), lambda a: np.pad(a[1:, :-1], ((0, 1), (0, 0)))),
    "reversed": (f"func.func @NAME(%a: {M}) -> {M} {{\n%0 = stablehlo.reverse %a, dims = [1] : {M}\nRETURN", np.fliplr),
    "computed": (
        f"""func.func @NAME(%a: {M}) -> tensor<2x1xf32> {{
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %a, %z, %z, sizes = [2, 1] : ({M}, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
RETURN""",
        lambda a: a[:2, :1],
    ),
    "bounds_that_are_values": (
        f"""func.func @NAME(%a: {M}) -> {M} {{
  %b = stablehlo.constant dense<0> : tensor<2xi32>
  %e = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  %s = stablehlo.constant dense<1> : tensor<2xi32>
  %0 = stablehlo.real_dynamic_slice %a, %b, %e, %s : ({M}, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> {M}
RETURN""",
        lambda a: a[:2, :3],
    ),
    "gathered": (
        f"""func.func @NAME(%a: {M}) -> tensor<2x1xf32> {{
  %i = stablehlo.constant dense<0> : tensor<2x1xi32>
  %0 = "stablehlo.gather"(%a, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>}}> : ({M}, tensor<2x1xi32>) -> tensor<2x1xf32>
RETURN""",
        lambda a: a[[0, 0], :1],
    ),
    "joined": (
        f"""func.func @NAME(%a: {M}) -> tensor<2x?xf32> {{
  %s = stablehlo.slice %a [0:1, 0:2] : ({M}) -> tensor<1x2xf32>
  %t = stablehlo.slice %a [2:3, 0:2] : ({M}) -> tensor<1x2xf32>
  %j = stablehlo.concatenate %s, %t, dim = 0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  %0 = stablehlo.convert %j : (tensor<2x2xf32>) -> tensor<2x?xf32>
RETURN""",
        lambda a: a[[0, 2], :2],
    ),
    "spread": (
        f"""func.func @NAME(%a: {M}) -> tensor<2x3xf32> {{
  %s = stablehlo.slice %a [0:1, 0:3] : ({M}) -> tensor<1x3xf32>
  %c = stablehlo.convert %s : (tensor<1x3xf32>) -> tensor<?x3xf32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [0, 1] : (tensor<?x3xf32>) -> tensor<2x3xf32>
RETURN""",
        lambda a: np.repeat(a[:1, :3], 2, 0),
    ),
}


def text_of(name: str) -> str:
    text = PROGRAMS[name][0]
    result = text.partition(" -> ")[2].partition(" {")[0]
    return text.replace("NAME", name).replace("RETURN", f"return %0 : {result}\n}}\n")


@pytest.fixture(scope="module", params=[(), ("--iree-hal-target-backends=vmvx",)], ids=["cpu", "vmvx"])
def module(request: pytest.FixtureRequest) -> bytes:
    return tiree.compile("".join(map(text_of, PROGRAMS)), flags=list(request.param))


@pytest.mark.parametrize("name", PROGRAMS)
def test_parts(module: bytes, name: str) -> None:
    loaded = rt.load(module)
    for shape in ((3, 4), (5, 4), (4, 4)):
        a = np.random.default_rng(7).standard_normal(shape).astype(np.float32)
        got, want = np.asarray(getattr(loaded, name)(a)), PROGRAMS[name][1](a)
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@iree.needs_iree
@pytest.mark.parametrize("border", ["input", "flow"])
def test_iree_goes_on(border: str) -> None:
    from tiree.dialects import get_context, print_module, read_module
    from tiree.pipeline import run_pipeline
    from tiree.support.options import CompileOptions

    # IREE's own compiler ends with a signal on a dispatch whose result is known to be empty.
    names = [name for name in PROGRAMS if name != "nothing"]
    parsed = read_module("".join(map(text_of, names)), get_context())
    run_pipeline(parsed, CompileOptions(), "start", border)
    module = iree.compile_text(print_module(parsed, generic=True), compile_from=border)
    a = np.random.default_rng(7).standard_normal((5, 4)).astype(np.float32)
    for name in names:
        (got,) = iree.call(module, name, [a], "local-sync")
        want = PROGRAMS[name][1](a)
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "shape", "said"),
    [
        ("corner", (0, 4), "limit 1 of dimension 0 is out of range: dimension 0 of argument 1"),
        ("rows", (2, 4), "limit 3 of dimension 0 is out of range: dimension 0 of argument 1"),
        ("rows", (3, 0), "limit 1 of dimension 1 is out of range: dimension 1 of argument 1"),
        ("all_strided", (2, 4), "limit 3 of dimension 0 is out of range: dimension 0 of argument 1"),
        ("of_a_result", (2, 2), "limit 3 of dimension 1 is out of range: dimension 1 of argument 1"),
    ],
)
def test_a_part_that_is_larger_is_refused(module: bytes, name: str, shape: tuple[int, ...], said: str) -> None:
    with pytest.raises(StatusError) as caught:
        getattr(rt.load(module), name)(np.zeros(shape, np.float32))
    assert caught.value.code_name == "INVALID_ARGUMENT"
    assert said in str(caught.value)
    assert "for stablehlo.slice at" in str(caught.value)
