"""What shares a dispatch: the shape of the result on small JAX programs, each a line of the cost model."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="programs are written in JAX")
import jax.numpy as jnp  # noqa: E402


def text_of(function, *shapes, dtype=np.float32) -> str:
    arguments = [jax.ShapeDtypeStruct(shape, dtype) for shape in shapes]
    return jax.jit(function, keep_unused=True).lower(*arguments).as_text()


def functions(text: str) -> list[str]:
    """The kernels of a module, one string each."""
    return re.findall(r'"func\.func"\(\).*?"func\.return"', text, re.DOTALL)


def weights(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def test_elementwise_chain_is_one_op(flow):
    result = flow(text_of(lambda x, y: jnp.exp(x * y + 1.0) - x, (8, 16), (8, 16)))
    assert result.count("flow.dispatch") == 1
    assert functions(result.text)[0].count("linalg.generic") == 1


def test_broadcast_moves_into_the_map(flow):
    result = flow(text_of(lambda x, b: x + b, (8, 16), (16,)))
    assert result.count("flow.dispatch") == 1
    assert "affine_map<(d0, d1) -> (d1)>" in functions(result.text)[0]


def test_bias_and_relu_end_the_contraction(flow):
    result = flow(text_of(lambda x, w, b: jax.nn.relu(x @ w + b), (8, 16), (16, 32), (32,)))
    assert result.count("flow.dispatch") == 1
    assert functions(result.text)[0].count("linalg.generic") == 2
    assert "main_dispatch_0_matmul_8x32x16_f32" in result.text


def test_exp_is_not_repeated_in_a_contraction(flow):
    result = flow(text_of(lambda x, w: jnp.exp(x) @ w, (8, 16), (16, 32)))
    assert result.count("flow.dispatch") == 2
    assert sum("math.exp" in kernel for kernel in functions(result.text)) == 1
    assert not any("math.exp" in kernel and "arith.mulf" in kernel for kernel in functions(result.text))


def test_transpose_moves_into_the_contraction(flow):
    result = flow(text_of(lambda x, w: x @ w.T, (8, 16), (32, 16)))
    assert result.count("flow.dispatch") == 1


def test_cast_moves_into_the_contraction(flow):
    result = flow(
        text_of(lambda x, w: x.astype(jnp.float32) @ w.astype(jnp.float32), (8, 16), (16, 32), dtype="float16")
    )
    assert result.count("flow.dispatch") == 1


@pytest.mark.parametrize("rows", [4, 64])
def test_softmax_is_one_dispatch(flow, rows):
    result = flow(text_of(lambda x: jax.nn.softmax(x), (rows, 100)))
    assert result.count("flow.dispatch") == 1
    assert functions(result.text)[0].count("math.exp") == 1


def test_layer_norm_is_one_dispatch(flow):
    def layer_norm(x, g, b):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) / jnp.sqrt(variance + 1e-5) * g + b

    result = flow(text_of(layer_norm, (4, 8, 32), (32,), (32,)))
    assert result.count("flow.dispatch") == 1


def test_long_rows_stay_apart(flow):
    result = flow(text_of(lambda x: jax.nn.softmax(x), (8, 20000)))
    assert result.count("flow.dispatch") > 1


def test_reduction_over_leading_dims_does_not_take_what_follows(flow):
    result = flow(text_of(lambda x: x - x.max(0), (512, 64)))
    assert result.count("flow.dispatch") == 2


def test_results_over_one_space_share_a_dispatch(flow):
    def gates(x, y):
        c = jnp.tanh(x) * y
        return c, jax.nn.sigmoid(x) * c

    result = flow(text_of(gates, (8, 16), (8, 16)))
    assert result.count("flow.dispatch") == 1
    assert functions(result.text)[0].count("linalg.generic") == 1


def test_residual_is_stored_once_and_normalised_in_place(flow):
    def block(x, y):
        r = x + y
        return r, r - r.mean(-1, keepdims=True)

    result = flow(text_of(block, (16, 32), (16, 32)))
    assert result.count("flow.dispatch") == 1


def test_pad_joins_the_convolution(flow):
    kernel = weights(3, 3, 4, 8)

    def conv(x):
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    result = flow(text_of(conv, (1, 8, 8, 4)))
    assert result.count("flow.dispatch") == 1
    assert "tensor.pad" in functions(result.text)[0]


def test_pointwise_convolution_is_a_contraction(flow):
    kernel = weights(1, 1, 4, 8)

    def conv(x):
        return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    assert "matmul_64x8x4_f32" in flow(text_of(conv, (1, 8, 8, 4))).text


def test_equal_layers_share_executables(flow):
    w = [weights(16, 16) * (i + 1) for i in range(6)]

    def layers(x):
        for one in w:
            x = jnp.tanh(x @ one)
        return x

    result = flow(text_of(layers, (8, 16)))
    assert result.count("flow.dispatch") == 6
    assert result.count("flow.executable") == 1


def test_batch_dims_of_a_dense_layer_collapse(flow):
    result = flow(text_of(lambda x, w: jax.nn.relu(x @ w), (2, 4, 16), (16, 8)))
    assert result.count("flow.dispatch") == 1
    assert "matmul_8x8x16_f32" in result.text


def test_transpose_of_a_constant_is_folded(flow):
    w = weights(32, 16)
    result = flow(text_of(lambda x: x + jnp.transpose(w), (16, 32)))
    assert result.count("flow.dispatch") == 1
    assert "affine_map<(d0, d1) -> (d1, d0)>" not in functions(result.text)[0]


def test_many_results_do_not_exceed_the_bindings(flow):
    def many(*xs):
        return tuple(x * 2 + i for i, x in enumerate(xs))

    result = flow(text_of(many, *[(4, 4)] * 40))
    for kernel in functions(result.text):
        assert kernel.split("({", 1)[0].count("dispatch.tensor<") <= 24


def test_counted_loop_reads_nothing_back(flow):
    result = flow(text_of(lambda x: jax.lax.fori_loop(0, 10, lambda i, y: y * 1.5 + i, x), (4,)))
    assert '"scf.for"' in result.text
    assert "flow.tensor.load" not in result.text


def test_condition_shares_the_dispatch_of_the_body(flow):
    def newton(x):
        return jax.lax.while_loop(lambda s: jnp.abs(s * s - x)[0] > 1e-4, lambda s: 0.5 * (s + x / s), x)

    result = flow(text_of(newton, (4,)))
    loop = result.text[result.text.index('"scf.while"') :]
    assert loop[: loop.index("scf.condition")].count('"flow.dispatch"') <= 2  # the condition may have one of its own
    assert result.count("flow.tensor.load") == 2


def test_a_loop_on_numbers_runs_on_the_host(flow):
    def newton(x):
        return jax.lax.while_loop(lambda s: jnp.abs(s * s - x) > 1e-4, lambda s: 0.5 * (s + x / s), x)

    result = flow(text_of(newton, ()))
    loop = result.text[result.text.index('"scf.while"') :]
    assert '"flow.dispatch"' not in loop[: loop.index("scf.condition")]
    assert result.count("flow.tensor.load") == 1


def test_scan_step_has_no_position_arithmetic_in_kernels(flow):
    def scan(xs):
        return jax.lax.scan(lambda c, x: (c + x, c * x), jnp.zeros(8), xs)[1]

    result = flow(text_of(scan, (12, 8)))
    assert not any("tensor.extract" in kernel for kernel in functions(result.text))


BRANCHES = """
func.func @main(%a: tensor<64xf32>, %b: tensor<64xf32>, %c: i1) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = arith.addf %a, %a : tensor<64xf32>
  %1 = scf.if %c -> (tensor<64xf32>) {
    %x = arith.mulf %0, %0 : tensor<64xf32>
    scf.yield %x : tensor<64xf32>
  } else {
    scf.yield %0 : tensor<64xf32>
  }
  %2 = scf.if %c -> (tensor<64xf32>) {
    %x = arith.mulf %b, %b : tensor<64xf32>
    scf.yield %x : tensor<64xf32>
  } else {
    scf.yield %b : tensor<64xf32>
  }
  %3 = arith.mulf %0, %2 : tensor<64xf32>
  return %1, %3 : tensor<64xf32>, tensor<64xf32>
}
"""


def test_what_comes_after_a_branch_does_not_join_what_an_earlier_branch_needs(flow):
    """The branches stay in order, so the product cannot be made before the first one, which needs the sum."""
    assert flow(BRANCHES).count("flow.dispatch") == 4


def test_dynamic_update_writes_in_place(flow):
    def update(x, y, i):
        return jax.lax.dynamic_update_slice(x, y * 2, (0, i.astype(jnp.int32)))

    result = flow(text_of(update, (8, 16), (8, 4), ()))
    assert "readwrite" in result.text
    assert '"flow.tensor.load"' not in result.text


def test_dynamic_shapes_fuse_elementwise_and_behind_a_reduction(flow):
    program = """
    func.func @f(%a: tensor<?x8xf32>, %b: tensor<8x4xf32>) -> tensor<?x4xf32> {
      %0 = stablehlo.exponential %a : tensor<?x8xf32>
      %1 = stablehlo.multiply %0, %a : tensor<?x8xf32>
      %2 = stablehlo.dot_general %1, %b, contracting_dims = [1] x [0]
        : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
      %3 = stablehlo.tanh %2 : tensor<?x4xf32>
      return %3 : tensor<?x4xf32>
    }"""
    text = flow(program).text
    assert text.count('"flow.dispatch"') == 2
    assert text.count("linalg.generic") == 3
    assert "iree_tensor_ext.dispatch.workload.ordinal" in text


def test_same_text_under_another_hash_seed():
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from conftest import run_flow\n"
        "from programs.models import models\n"
        "print(run_flow(next(m for m in models() if m.name == 'lstm').text, verify=False).text)\n"
    )
    folder = os.path.dirname(os.path.abspath(__file__))
    outputs = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", program, folder, os.path.dirname(folder)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        outputs.append(done.stdout)
    assert len(outputs[0]) > 1000
    assert outputs[0] == outputs[1]
