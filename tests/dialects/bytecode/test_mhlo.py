"""MHLO, as jaxlib writes it of a StableHLO program (text, generic text, bytecode), reads as that program."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import tiree
from dialects.bytecode.bytecode_writer import shown
from tiree.dialects import get_context, print_module, read_module
from tiree.pipeline import run_pipeline
from tiree.support.errors import CompileError
from tiree.support.options import CompileOptions

T = "tensor<2x4xf32>"


def function(body: str, arguments: str = f"%arg0: {T}", result: str = T) -> str:
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n  return %r : {result}\n}}\n"


SCAN = f"""  %z = stablehlo.constant dense<0.0> : tensor<4xf32>
  %r, %c = chlo.scan(%arg0) inits (%z) dimension=0 {{
  ^bb0(%x: tensor<4xf32>, %s: tensor<4xf32>):
    %0 = stablehlo.add %x, %s : tensor<4xf32>
    stablehlo.return %0, %0 : tensor<4xf32>, tensor<4xf32>
  }} : ({T}, tensor<4xf32>) -> ({T}, tensor<4xf32>)"""

PROGRAMS = {
    "rng": function(
        """  %low = stablehlo.constant dense<0.0> : tensor<f32>
  %high = stablehlo.constant dense<1.0> : tensor<f32>
  %shape = stablehlo.constant dense<[2, 4]> : tensor<2xi64>
  %r = stablehlo.rng %low, %high, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> """
        + T
    ),
    "rng_bit_generator": function(
        "  %s, %r = stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : "
        "(tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)",
        "%arg0: tensor<2xui64>",
        "tensor<3xui32>",
    ),
    "all_to_all": function(
        '  %r = "stablehlo.all_to_all"(%arg0) <{split_dimension = 1 : i64, concat_dimension = 0 : i64, '
        f"split_count = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>}}> : ({T}) -> {T}"
    ),
    "collective_broadcast": function(
        '  %r = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<0> : tensor<1x1xi64>}> : '
        f"({T}) -> {T}"
    ),
    "dynamic_conv": function(
        """  %p = stablehlo.constant dense<0> : tensor<2x2xi64>
  %r = "stablehlo.dynamic_conv"(%arg0, %arg1, %p) <{
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    feature_group_count = 1 : i64, batch_group_count = 1 : i64
  }> : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>, tensor<2x2xi64>) -> tensor<1x2x2x1xf32>""",
        "%arg0: tensor<1x3x3x1xf32>, %arg1: tensor<2x2x1x1xf32>",
        "tensor<1x2x2x1xf32>",
    ),
    "result_accuracy": function(
        '  %r = "stablehlo.exponential"(%arg0) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, ulps = 3, '
        f"mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}}> : ({T}) -> {T}"
    ),
    "bounds": function(
        "  %r = stablehlo.add %arg0, %arg0 : tensor<?xf32, #stablehlo.bounds<4>>",
        "%arg0: tensor<?xf32, #stablehlo.bounds<4>>",
        "tensor<?xf32, #stablehlo.bounds<4>>",
    ),
    "mulhi": function(
        "  %r = chlo.mulhi %arg0, %arg0 : tensor<3xi32>, tensor<3xi32> -> tensor<3xi32>",
        "%arg0: tensor<3xi32>",
        "tensor<3xi32>",
    ),
    "top_k": function(f"  %r, %i = chlo.top_k(%arg0, k = 4) : {T} -> ({T}, tensor<2x4xi32>)"),
    "scan": function(SCAN),
    "erf": function(f"  %r = chlo.erf %arg0 : {T} -> {T}"),
    "cholesky": function(
        "  %r = stablehlo.cholesky %arg0 : tensor<3x3xf32>", "%arg0: tensor<3x3xf32>", "tensor<3x3xf32>"
    ),
}


def in_jaxlib(text: str) -> Any:
    """The module in jaxlib, with MHLO's passes and dialect at hand."""
    mlir = pytest.importorskip("jax.interpreters.mlir", reason="MHLO is written by jaxlib's MLIR")
    mhlo = pytest.importorskip("jaxlib.mlir.dialects.mhlo", reason="this jaxlib has no MHLO")
    from jaxlib.mlir import ir

    with mlir.make_ir_context() as context:
        mhlo.register_mhlo_dialect(context)
        return ir.Module.parse(text)


def forms(module: Any) -> list[str | bytes]:
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    return [str(module), module.operation.get_asm(print_generic_op_form=True), written.getvalue()]


def as_mhlo(text: str) -> list[str | bytes]:
    module = in_jaxlib(text)
    from jaxlib.mlir import passmanager
    from jaxlib.mlir.dialects import mhlo

    mhlo.register_mhlo_passes()
    passes = "builtin.module(stablehlo-legalize-to-hlo,func.func(chlo-legalize-to-high-level-mhlo))"
    with module.context:
        passmanager.PassManager.parse(passes).run(module.operation)
    assert "mhlo." in str(module)
    assert "hlo." not in str(module).replace("mhlo.", "")
    return forms(module)


def lowered(source: str | bytes) -> str:
    """The module after the input phase, without locations."""
    context = get_context()
    module = read_module(source.encode() if isinstance(source, str) else source, context, "m")
    run_pipeline(module, CompileOptions(), "start", "input", ctx=context)
    return print_module(module)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_reads_the_same(name: str) -> None:
    wanted = lowered(PROGRAMS[name])
    for source in (*as_mhlo(PROGRAMS[name]), *forms(in_jaxlib(PROGRAMS[name]))):
        assert lowered(source) == wanted


ATTRIBUTES = [
    "#mhlo<custom_call_schedule LATEST>", "#mhlo<fusion_kind kLoop>", "#mhlo<kind sharding>",
    "#mhlo.result_alias<tuple_indices = [1, 1], result_index = [2, 0, 1], must_alias>",
    "#mhlo.output_operand_alias<output_tuple_indices = [1], operand_index = 2, operand_tuple_indices = [3]>",
    "#mhlo.type_extensions<bounds = [4, ?]>", "#mhlo.cross_program_prefetch<parameter = 0, indices = [0], offset = 3>",
    "#mhlo.rng_algorithm<PHILOX>", "#mhlo.rng_distribution<UNIFORM>", "#mhlo.result_accuracy_mode<HIGHEST>",
    "#mhlo.result_accuracy<mode = #mhlo.result_accuracy_mode<HIGHEST>>",
]  # fmt: skip


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_an_attribute_that_comes_first_is_read(attribute: str) -> None:
    """Before anything of StableHLO has been seen."""
    for source in forms(in_jaxlib(f"module attributes {{test.a = {attribute}}} {{\n}}\n")):
        assert "hlo" in shown(source)


def test_a_custom_call_with_a_schedule() -> None:
    text = function(
        f"  %r = mhlo.custom_call @Sharding(%arg0) {{custom_call_schedule = #mhlo<custom_call_schedule LATEST>, "
        f"has_side_effect = true}} : ({T}) -> {T}"
    )
    wanted = lowered(
        function(f"  %r = stablehlo.custom_call @Sharding(%arg0) {{has_side_effect = true}} : ({T}) -> {T}")
    )
    assert [lowered(source) for source in forms(in_jaxlib(text))] == [wanted] * 3


def test_topk_of_the_smallest_is_refused() -> None:
    text = function(f"  %r, %i = mhlo.topk(%arg0, k = 4, largest = false) : {T} -> ({T}, tensor<2x4xi32>)")
    for source in forms(in_jaxlib(text)):
        with pytest.raises(CompileError, match=r"top_k of the smallest elements \(largest = false\) is not supported"):
            lowered(source)


def test_topk_runs() -> None:
    text = function(f"  %r, %i = mhlo.topk(%arg0, k = 4) : {T} -> ({T}, tensor<2x4xi32>)")
    x = np.array([[3, 1, 4, 2], [-1, 0, 9, 7]], np.float32)
    found = np.asarray(tiree.load(tiree.compile(text)).main(x))
    np.testing.assert_array_equal(found, -np.sort(-x))


@pytest.mark.parametrize("name", ["copy", "add_dependency", "stochastic_convert"])
def test_what_only_mhlo_has_is_refused_by_its_name(name: str) -> None:
    unsigned = T.replace("f32", "ui32")
    value, type = {
        "copy": ("", ""),
        "add_dependency": (", %t", ", !mhlo.token"),
        "stochastic_convert": (", %u", f", {unsigned}"),
    }[name]
    text = function(
        f'  %t = "mhlo.create_token"() : () -> !mhlo.token\n  %u = mhlo.constant dense<1> : {unsigned}\n'
        f'  %r = "mhlo.{name}"(%arg0{value}) : ({T}{type}) -> {T}'
    )
    for source in forms(in_jaxlib(text)):
        with pytest.raises(CompileError, match=r"unknown operation 'mhlo\.") as caught:
            lowered(source)
        wanted = f"unknown operation 'mhlo.{name}': of MHLO only what StableHLO or CHLO also has is read"
        assert wanted in str(caught.value)
        assert "supported_ops.md" in str(caught.value)
