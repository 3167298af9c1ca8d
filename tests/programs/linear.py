"""dot_general and convolution in every layout, with mixed element types."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from programs.bundle import Bundle, Case


def _array(*shape: int, seed: int = 0, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _ints(*shape: int, seed: int = 0, dtype: Any = np.int8) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(max(info.min, -128), min(info.max, 255), shape).astype(dtype)


def _einsum(spec: str) -> Any:
    return lambda a, b: jnp.einsum(spec, a, b, precision="highest")


def _dot(dims: Any, preferred: Any = None) -> Any:
    return lambda a, b: lax.dot_general(a, b, dims, preferred_element_type=preferred)


MATMUL = (((1,), (0,)), ((), ()))
BF16 = ml_dtypes.bfloat16

DOTS = [
    Case("matmul", _einsum("ij,jk->ik"), (_array(7, 5), _array(5, 9, seed=1)), rtol=1e-5, atol=1e-5),
    Case("matmul_tn", _einsum("ji,jk->ik"), (_array(5, 7), _array(5, 9, seed=1)), rtol=1e-5, atol=1e-5),
    Case("matmul_nt", _einsum("ij,kj->ik"), (_array(7, 5), _array(9, 5, seed=1)), rtol=1e-5, atol=1e-5),
    Case("matvec", _einsum("ij,j->i"), (_array(7, 5), _array(5, seed=1)), rtol=1e-5, atol=1e-5),
    Case("vecmat", _einsum("j,jk->k"), (_array(5), _array(5, 9, seed=1)), rtol=1e-5, atol=1e-5),
    Case("inner", _einsum("i,i->"), (_array(33), _array(33, seed=1)), rtol=1e-5, atol=1e-5),
    Case("outer", _einsum("i,j->ij"), (_array(3), _array(4, seed=1)), rtol=1e-5, atol=1e-5),
    Case("batch", _einsum("bij,bjk->bik"), (_array(3, 4, 5), _array(3, 5, 6, seed=1)), rtol=1e-5, atol=1e-5),
    Case("batch_inner", _einsum("ibj,jkb->bik"), (_array(4, 3, 5), _array(5, 6, 3, seed=1)), rtol=1e-5, atol=1e-5),
    Case(
        "two_batch", _einsum("abij,abkj->abik"), (_array(2, 3, 4, 5), _array(2, 3, 6, 5, seed=1)), rtol=1e-5, atol=1e-5
    ),
    Case(
        "two_contracted", _einsum("aijb,ijc->abc"), (_array(2, 3, 4, 5), _array(3, 4, 6, seed=1)), rtol=1e-5, atol=1e-5
    ),
    Case("empty_contraction", _dot(MATMUL), (_array(2, 0), _array(0, 3))),
    Case("empty_batch", _einsum("bij,bjk->bik"), (_array(0, 4, 5), _array(0, 5, 6))),
    Case("f64", _dot(MATMUL), (_array(7, 5, dtype=np.float64), _array(5, 9, dtype=np.float64)), rtol=1e-14, atol=1e-14),
    Case("bf16", _dot(MATMUL), (_array(7, 5, dtype=BF16), _array(5, 9, dtype=BF16)), rtol=1e-2, atol=1e-2),
    Case("f16", _dot(MATMUL), (_array(7, 5, dtype=np.float16), _array(5, 9, dtype=np.float16)), rtol=2e-3, atol=2e-3),
    Case(
        "bf16_f32", _dot(MATMUL, np.float32), (_array(7, 5, dtype=BF16), _array(5, 9, dtype=BF16)), rtol=1e-5, atol=1e-5
    ),
    Case("i8_i32", _dot(MATMUL, np.int32), (_ints(7, 5), _ints(5, 9, seed=1))),
    Case("u8_i32", _dot(MATMUL, np.int32), (_ints(7, 5, dtype=np.uint8), _ints(5, 9, seed=1, dtype=np.uint8))),
    Case("u8_u32", _dot(MATMUL, np.uint32), (_ints(7, 5, dtype=np.uint8), _ints(5, 9, seed=1, dtype=np.uint8))),
    Case("i8_i8_wraps", _dot(MATMUL), (_ints(7, 5), _ints(5, 9, seed=1))),
    Case("i32", _dot(MATMUL), (_ints(7, 5, dtype=np.int32), _ints(5, 9, seed=1, dtype=np.int32))),
    Case("i64", _dot(MATMUL), (_ints(7, 5, dtype=np.int64), _ints(5, 9, seed=1, dtype=np.int64))),
]


def _conv(
    strides: Any, padding: Any, numbers: Any, lhs_dilation: Any = None, rhs_dilation: Any = None, **more: Any
) -> Any:
    return lambda a, b: lax.conv_general_dilated(
        a, b, strides, padding, lhs_dilation, rhs_dilation, dimension_numbers=numbers, precision="highest", **more
    )


NHWC = ("NHWC", "HWIO", "NHWC")
NCHW = ("NCHW", "OIHW", "NCHW")
IMAGE, KERNEL = _array(2, 8, 9, 4), _array(3, 3, 4, 6, seed=1)

CONVOLUTIONS = [
    Case(name, function, inputs, rtol=1e-4, atol=1e-4)
    for name, function, inputs in [
        ("nhwc_valid", _conv((1, 1), "VALID", NHWC), (IMAGE, KERNEL)),
        ("nhwc_same_strided", _conv((2, 2), "SAME", NHWC), (IMAGE, KERNEL)),
        ("nhwc_padding", _conv((1, 2), ((2, 1), (0, 3)), NHWC), (IMAGE, KERNEL)),
        ("nhwc_rhs_dilation", _conv((1, 1), "VALID", NHWC, None, (2, 3)), (IMAGE, KERNEL)),
        ("nhwc_lhs_dilation", _conv((1, 1), ((1, 2), (0, 1)), NHWC, (2, 3), None), (IMAGE, KERNEL)),
        ("nhwc_1x1", _conv((1, 1), "VALID", NHWC), (IMAGE, _array(1, 1, 4, 6, seed=1))),
        ("nhwc_1x1_strided", _conv((2, 2), "VALID", NHWC), (IMAGE, _array(1, 1, 4, 6, seed=1))),
        ("nhwc_groups", _conv((1, 1), "SAME", NHWC, feature_group_count=2), (IMAGE, _array(3, 3, 2, 6, seed=1))),
        ("nhwc_depthwise", _conv((1, 1), "SAME", NHWC, feature_group_count=4), (IMAGE, _array(3, 3, 1, 4, seed=1))),
        ("nhwc_depthwise_multiplier", _conv((2, 1), "SAME", NHWC, feature_group_count=4), (IMAGE, _array(3, 3, 1, 8))),
        ("nhwc_batch_groups", _conv((1, 1), "VALID", NHWC, batch_group_count=2), (IMAGE, KERNEL)),
        ("nchw", _conv((1, 1), "SAME", NCHW), (_array(2, 4, 8, 9), _array(6, 4, 3, 3))),
        ("nchw_groups", _conv((2, 1), "SAME", NCHW, feature_group_count=2), (_array(2, 4, 8, 9), _array(6, 2, 3, 3))),
        ("odd_layout", _conv((1, 2), "SAME", ("HNCW", "IOWH", "CWNH")), (_array(8, 2, 4, 9), _array(4, 6, 3, 2))),
        ("conv_1d", _conv((2,), "SAME", ("NWC", "WIO", "NWC")), (_array(2, 11, 3), _array(4, 3, 5))),
        (
            "conv_3d",
            _conv((1, 2, 1), "VALID", ("NDHWC", "DHWIO", "NDHWC")),
            (_array(1, 4, 5, 6, 2), _array(2, 3, 2, 2, 3)),
        ),
        ("conv_0d", _conv((), "VALID", ("NC", "IO", "NC")), (_array(3, 4), _array(4, 5))),
        ("transposed", lambda a, b: lax.conv_transpose(a, b, (2, 2), "SAME"), (IMAGE, KERNEL)),
    ]
]


def _shifted_sum(image: np.ndarray) -> np.ndarray:
    """The valid 3x3 convolution of `image` with KERNEL, one kernel position at a time."""
    rows, columns = image.shape[1] - 2, image.shape[2] - 2
    return sum(
        np.einsum("nhwc,co->nhwo", image[:, i : i + rows, j : j + columns], KERNEL[i, j])
        for i in range(3)
        for j in range(3)
    )


CONVOLUTIONS += [
    # XLA's CPU backend reads out of bounds here: the value is numpy's.
    Case("nhwc_negative_padding", _conv((1, 1), ((-1, 1), (-2, -1)), NHWC), (IMAGE, KERNEL), rtol=1e-4, atol=1e-4,
         expected=(_shifted_sum(np.pad(IMAGE[:, 1:, 2:-1], ((0, 0), (0, 1), (0, 0), (0, 0)))),)),
    Case("conv_bf16", lambda a, b: lax.conv_general_dilated(a, b, (1, 1), "SAME", dimension_numbers=NHWC),
         (IMAGE.astype(BF16), KERNEL.astype(BF16)), rtol=2e-2, atol=5e-2),
    Case("conv_i8_i32", lambda a, b: lax.conv_general_dilated(
        a, b, (1, 1), "SAME", dimension_numbers=NHWC, preferred_element_type=np.int32),
         (_ints(2, 8, 9, 4), _ints(3, 3, 4, 6, seed=1))),
]  # fmt: skip

BUNDLES = [Bundle("dots", DOTS), Bundle("convolutions", CONVOLUTIONS)]
