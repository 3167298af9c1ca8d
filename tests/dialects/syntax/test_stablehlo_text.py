"""StableHLO and CHLO text against iree-opt: what JAX prints for `tests/programs`, and the forms it does not print."""

from __future__ import annotations

import pytest
from dialects.iree_opt import same_for_iree
from programs import bundles
from tiree.dialects import get_context, print_module, read_module

pytest.importorskip("jax", reason="the programs are JAX functions")


def test_programs_of_jax() -> None:
    # One file of many modules: iree-opt costs far more to start than to read.
    texts = [bundle.text.replace("@jit__run", f"@{bundle.name}", 1) for bundle in bundles()]
    same_for_iree("module {\n" + "\n".join(texts) + "\n}\n")


def test_locations_of_jax_survive() -> None:
    import jax
    import jax.numpy as jnp

    lowered = jax.jit(lambda x: jnp.where(x > 0, jnp.sin(x), x).sum()).lower(jax.ShapeDtypeStruct((3, 4), jnp.float32))
    text = lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True)
    module = read_module(text)
    (sine,) = [op for op in module.walk() if op.name == "stablehlo.sine"]
    assert "sin" in str(sine.location)
    printed = print_module(module, debuginfo=True)
    assert print_module(read_module(printed), debuginfo=True) == printed


SHORT_FORMS = """
module {
func.func @f(%a: tensor<4x6xf32>, %i: tensor<i32>, %c: tensor<2xcomplex<f32>>, %n: tensor<2x3x4xf32>, %t: !stablehlo.token) -> tensor<4x6xf32> {
  %0 = stablehlo.slice %a [1:3, 0:6:2] : (tensor<4x6xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.reduce_precision %a, format = e5m10 : tensor<4x6xf32>
  %2 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.dot_general %n, %n, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3xf32>
  %4 = stablehlo.dot %2, %2, precision = [HIGH, HIGHEST] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %6 = stablehlo.pad %a, %k, low = [1, -1], high = [0, 2], interior = [0, 1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x12xf32>
  %7 = stablehlo.tuple %a, %i : tuple<tensor<4x6xf32>, tensor<i32>>
  %8 = stablehlo.get_tuple_element %7[0] : (tuple<tensor<4x6xf32>, tensor<i32>>) -> tensor<4x6xf32>
  %9 = stablehlo.custom_call @foo(%a) {backend_config = "x", has_side_effect = true} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %10 = stablehlo.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %11 = stablehlo.complex %10, %10 : tensor<2xcomplex<f32>>
  %12 = stablehlo.fft %c, type = FFT, length = [2] : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  %13 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
  %14 = stablehlo.cholesky %2, lower = true : tensor<4x4xf32>
  %15 = stablehlo.after_all %t, %t : !stablehlo.token
  %16 = stablehlo.create_token : !stablehlo.token
  %17 = stablehlo.clamp %k, %a, %k : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %18 = stablehlo.concatenate %a, %1, dim = 0 {tag = 1 : i32} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
  %19:2 = stablehlo.optimization_barrier %a, %i : tensor<4x6xf32>, tensor<i32>
  %20 = stablehlo.exponential %a {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<4x6xf32>
  %21 = stablehlo.constant {x} dense<1> : tensor<2xi32>
  %22 = stablehlo.partition_id : tensor<ui32>
  %23:2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %24:2 = stablehlo.reduce(%a init: %k), (%a init: %k) across dimensions = [1] : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
    reducer(%x: tensor<f32>, %y: tensor<f32>) (%z: tensor<f32>, %w: tensor<f32>) {
    stablehlo.return %x, %w : tensor<f32>, tensor<f32>
  }
  %25 = stablehlo.while(%it = %i) : tensor<i32> attributes {note = "x"}
  cond {
    %p = stablehlo.compare LT, %it, %i, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %it : tensor<i32>
  }
  %26 = chlo.erf %a : tensor<4x6xf32> -> tensor<4x6xf32>
  %27 = chlo.broadcast_add %a, %k : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %values, %indices = chlo.top_k(%a, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %28 = stablehlo.composite "my.op" %a {composite_attributes = {n = 1 : i32}, decomposition = @g} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %k = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.constant dense<0> : tensor<2xui64>
  return %a : tensor<4x6xf32>
}
func.func private @g(%a: tensor<4x6xf32>) -> tensor<4x6xf32> { return %a : tensor<4x6xf32> }
}
"""  # noqa: E501


def _in_order(text: str) -> str:
    """The two constants at the end belong before their uses."""
    lines = text.splitlines()
    moved = [line for line in lines if line.startswith(("  %k =", "  %s ="))]
    rest = [line for line in lines if line not in moved]
    return "\n".join([*rest[:3], *moved, *rest[3:]]) + "\n"


def test_every_short_form() -> None:
    same_for_iree(_in_order(SHORT_FORMS))


def test_names_of_mhlo() -> None:
    """MHLO, which StableHLO came from: ops in both forms, attributes, types; names of attributes of modules stay."""
    text = """module attributes {mhlo.num_partitions = 1 : i32} {
  func.func @f(%a: tensor<4x3xf32>, %b: tensor<3x2xf32>, %t: !stablehlo.token) -> tensor<4xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.dot_general"(%a, %b) {
      dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>,
      precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGH>]
    } : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1]
      : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.compare GT, %a, %a, FLOAT : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xi1>
    %3 = chlo.erf %a : tensor<4x3xf32> -> tensor<4x3xf32>
    return %1 : tensor<4xf32>
  }
}
"""
    old = text.replace("stablehlo", "mhlo").replace("chlo.erf %a : tensor<4x3xf32> ->", "mhlo.erf %a :")
    old = old.replace("mhlo.erf %a : tensor<4x3xf32> -> tensor<4x3xf32>", "mhlo.erf %a : tensor<4x3xf32>")
    old = old.replace("mhlo.erf %a : tensor<4x3xf32>", '"mhlo.erf"(%a) : (tensor<4x3xf32>) -> tensor<4x3xf32>')
    new = text.replace("chlo.erf %a : tensor<4x3xf32>", '"chlo.erf"(%a) : (tensor<4x3xf32>)')
    assert "mhlo.dot" in old
    assert print_module(read_module(old)) == print_module(read_module(new))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (
            "%0 = stablehlo.cholesky %a : tensor<2x2xf32>",
            "%0 = stablehlo.cholesky %a, lower = false : tensor<2x2xf32>",
        ),
        (
            "%0 = stablehlo.constant() {value = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>",
            "%0 = stablehlo.constant dense<3> : tensor<1xi8>",
        ),
        (
            '"foo.bar"() {a = #stablehlo.gather<offset_dims = [1], index_vector_dim = 1,>} : () -> ()',
            '"foo.bar"() {a = #stablehlo.gather<offset_dims = [1], index_vector_dim = 1>} : () -> ()',
        ),
        (
            '"foo.bar"() {a = #stablehlo.dot<lhs_batching_dimensions = [0],>} : () -> ()',
            '"foo.bar"() {a = #stablehlo.dot<lhs_batching_dimensions = [0]>} : () -> ()',
        ),
    ],
)
def test_what_may_be_left_out_or_said_otherwise(text: str, same: str) -> None:
    """As MLIR's printer leaves out a default, and its parser takes a comma behind the last field."""
    ctx = get_context(allow_unregistered=True)
    found, wanted = (
        print_module(read_module(f"func.func @f(%a: tensor<2x2xf32>) {{\n  {line}\n  return\n}}\n", ctx))
        for line in (text, same)
    )
    assert found.replace("<{lower = false}> ", "") == wanted.replace("<{lower = false}> ", "")
