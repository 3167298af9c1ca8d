"""`kernel.pair_dot` against numpy: the instructions of each x86 level, and plain arithmetic for other lane counts."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from tests.codegen.harness import bindings, compile_kernel, parse, target

HOST = target()
CPUS = (
    "host",
    pytest.param("x86-64-v4", marks=pytest.mark.skipif(not HOST.has_avx512, reason="needs AVX-512 to run")),
    pytest.param("x86-64-v3", marks=pytest.mark.skipif(not HOST.has_avx2, reason="needs AVX2 to run")),
    "generic",
)


def text(lanes: int, narrow: str, wide: str) -> str:
    pairs = 2 * lanes
    return f"""func.func @kernel() {{
      {bindings(f"{pairs}x{narrow}", f"{pairs}x{narrow}", f"{lanes}x{wide}")}
      %a = vector.load %b0[%c0] : memref<{pairs}x{narrow}>, vector<{pairs}x{narrow}>
      %b = vector.load %b1[%c0] : memref<{pairs}x{narrow}>, vector<{pairs}x{narrow}>
      %c = vector.load %b2[%c0] : memref<{lanes}x{wide}>, vector<{lanes}x{wide}>
      %r = kernel.pair_dot %c, %a, %b : vector<{lanes}x{wide}>, vector<{pairs}x{narrow}>, vector<{pairs}x{narrow}> -> vector<{lanes}x{wide}>
      vector.store %r, %b2[%c0] : memref<{lanes}x{wide}>, vector<{lanes}x{wide}>
      func.return
    }}"""  # noqa: E501


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("lanes", [1, 3, 4, 8, 16])
def test_i16(lanes: int, cpu: str) -> None:
    """Extreme values: two products of -32768 exceed i32 and wrap around."""
    rng = np.random.default_rng(lanes)
    a, b = (rng.integers(-(2**15), 2**15, 2 * lanes).astype(np.int16) for _ in range(2))
    a[:2] = b[:2] = -(2**15)
    total = rng.integers(-(2**31), 2**31, lanes).astype(np.int32)
    products = (a.astype(np.int64) * b.astype(np.int64)).reshape(lanes, 2).sum(1)
    wanted = (total + products).astype(np.int32)
    compile_kernel(text(lanes, "i16", "i32"), cpu=cpu).run(a, b, total)
    np.testing.assert_array_equal(total, wanted)


@pytest.mark.parametrize(("narrow", "wide"), [("i8", "i32"), ("bf16", "f32")])
def test_refuses_other_types(narrow: str, wide: str) -> None:
    with pytest.raises(VerifyException, match="products of i16 to i32"):
        parse(text(4, narrow, wide)).verify()
