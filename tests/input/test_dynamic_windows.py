"""`dynamic_conv` and `dynamic_pad`: paddings, inputs and kernels that are known when the program runs, against XLA."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import jax.numpy
import numpy as np
import pytest
import tiree
from jax import lax

Array = np.ndarray
jnp: Any = jax.numpy
RANDOM = np.random.default_rng(11)


class Conv(NamedTuple):
    """One convolution of NHWC with HWIO; `types` are of the input, the kernel and the result."""

    types: tuple[str, str, str]
    strides: tuple[int, int] = (1, 1)
    lhs_dilation: tuple[int, int] = (1, 1)
    rhs_dilation: tuple[int, int] = (1, 1)
    reversal: tuple[bool, bool] = (False, False)
    features: int = 1
    batches: int = 1

    def text(self) -> str:
        lhs, rhs, out = (f"tensor<{type}xf32>" for type in self.types)
        return f"""func.func @f(%a: {lhs}, %b: {rhs}, %p: tensor<2x2xi32>) -> {out} {{
  %r = "stablehlo.dynamic_conv"(%a, %b, %p) {{
    window_strides = array<i64: {self.strides[0]}, {self.strides[1]}>,
    lhs_dilation = array<i64: {self.lhs_dilation[0]}, {self.lhs_dilation[1]}>,
    rhs_dilation = array<i64: {self.rhs_dilation[0]}, {self.rhs_dilation[1]}>,
    window_reversal = array<i1: {str(self.reversal[0]).lower()}, {str(self.reversal[1]).lower()}>,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    batch_group_count = {self.batches} : i64, feature_group_count = {self.features} : i64
  }} : ({lhs}, {rhs}, tensor<2x2xi32>) -> {out}
  return %r : {out}
}}"""

    def wanted(self, a: Array, b: Array, padding: Array) -> Array:
        if any(self.reversal):
            b = np.flip(b, tuple(i for i in range(2) if self.reversal[i]))
        amounts = [(int(low), int(high)) for low, high in padding]
        found = lax.conv_general_dilated(
            jnp.asarray(a), jnp.asarray(b), self.strides, amounts, self.lhs_dilation, self.rhs_dilation,
            ("NHWC", "HWIO", "NHWC"), self.features, self.batches, precision=lax.Precision.HIGHEST,
        )  # fmt: skip
        return np.asarray(found)


CONVS = {
    "plain": (Conv(("2x7x5x3", "3x2x3x4", "2x?x?x4")), (2, 7, 5, 3), (3, 2, 3, 4)),
    "input": (Conv(("?x?x?x?", "3x2x3x4", "?x?x?x?"), strides=(2, 1)), (2, 7, 5, 3), (3, 2, 3, 4)),
    "kernel": (Conv(("2x7x5x3", "?x?x3x4", "2x?x?x4"), rhs_dilation=(2, 1)), (2, 7, 5, 3), (2, 3, 3, 4)),
    "everything": (
        Conv(("?x?x?x?", "?x?x?x?", "?x?x?x?"), (2, 2), (2, 1), (1, 2), (True, False)),
        (1, 6, 9, 2),
        (3, 2, 2, 5),
    ),
    "groups": (Conv(("?x?x?x4", "?x?x2x6", "?x?x?x6"), features=2), (3, 5, 5, 4), (2, 2, 2, 6)),
    "batches": (Conv(("4x?x5x3", "2x?x3x4", "2x?x?x4"), batches=2), (4, 5, 5, 3), (2, 2, 3, 4)),
    "reversed": (Conv(("1x?x?x1", "?x?x1x1", "1x?x?x1"), reversal=(True, True)), (1, 4, 4, 1), (3, 3, 1, 1)),
}
PADDINGS = ([[0, 0], [0, 0]], [[1, 2], [3, 0]], [[-1, 1], [2, -2]])


@pytest.mark.parametrize("name", CONVS)
def test_convolutions(name: str) -> None:
    conv, lhs, rhs = CONVS[name]
    f = tiree.load(tiree.compile(conv.text()), device="local-sync").f
    a, b = (RANDOM.standard_normal(shape, dtype=np.float32) for shape in (lhs, rhs))
    for padding in PADDINGS:
        given = np.array(padding, np.int32)
        np.testing.assert_allclose(np.asarray(f(a, b, given)), conv.wanted(a, b, given), rtol=1e-5, atol=1e-5)


def test_static_result_is_checked() -> None:
    text = Conv(("1x4x4x1", "3x3x1x1", "1x4x4x1")).text()
    f = tiree.load(tiree.compile(text), device="local-sync").f
    a, b = np.ones((1, 4, 4, 1), np.float32), np.ones((3, 3, 1, 1), np.float32)
    assert np.asarray(f(a, b, np.ones((2, 2), np.int32)))[0, 1, 1, 0] == 9
    with pytest.raises(Exception, match="must equal 4"):
        f(a, b, np.zeros((2, 2), np.int32))


PAD = """func.func @f(%x: {x}, %v: tensor<i16>, %l: tensor<2xi64>, %h: tensor<2xi64>, %i: tensor<2xi64>) -> {r} {{
  %0 = stablehlo.dynamic_pad %x, %v, %l, %h, %i
    : ({x}, tensor<i16>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> {r}
  return %0 : {r}
}}"""


@pytest.mark.parametrize("source", ["3x4", "?x4", "?x?", "0x4"])
def test_pads(source: str) -> None:
    f = tiree.load(tiree.compile(PAD.format(x=f"tensor<{source}xi16>", r="tensor<?x?xi16>")), device="local-sync").f
    shape = (0, 4) if source == "0x4" else (3, 4)
    x = np.arange(1, 1 + np.prod(shape), dtype=np.int16).reshape(shape)
    for low, high, interior in product(([0, 0], [2, 1], [-1, 3]), ([0, 0], [1, -1]), ([0, 0], [2, 1])):
        spec = list(zip(low, high, interior, strict=True))
        if any(a + b + n + max(0, n - 1) * i < 0 for (a, b, i), n in zip(spec, shape, strict=True)):
            continue
        want = np.asarray(lax.pad(jnp.asarray(x), jnp.int16(-7), spec))
        got = np.asarray(f(x, np.int16(-7), *(np.array(v) for v in (low, high, interior))))
        np.testing.assert_array_equal(got, want, err_msg=str(spec))
