"""How many bytes artifacts take with the flags that save bytes: bounds, with little room above what there is."""

from __future__ import annotations

import pytest
from tiree.dialects import read_module, vm
from tiree.pipeline import compile_module, run_pipeline
from tiree.support.options import CompileOptions
from tiree.vm import provenance
from tiree.vm.emit import emit_archive

OPTIONS = CompileOptions(
    llvmcpu_target_triple="x86_64",
    llvmcpu_target_cpu="x86-64-v4",
    llvmcpu_debug_symbols=False,
    vm_strip_source_map=True,
    vm_emit_polyglot_zip=False,
    hal_executable_debug_level=0,
)

ADD = """
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def mlp(batch: str) -> str:
    """Three layers with weights as arguments, for batches of one size or, with `?`, of any."""
    arguments = [f"%x: tensor<{batch}x784xf32>"]
    body = [
        "%rows = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x784xf32>) -> tensor<i32>",
        "%count = stablehlo.reshape %rows : (tensor<i32>) -> tensor<1xi32>",
    ]
    body = body if batch == "?" else []
    value, width = "%x", 784
    for n, (size, relu) in enumerate(((512, True), (512, True), (10, False))):
        arguments += [f"%w{n}: tensor<{width}x{size}xf32>", f"%b{n}: tensor<{size}xf32>"]
        type = f"tensor<{batch}x{size}xf32>"
        body.append(
            f"%d{n} = stablehlo.dot_general {value}, %w{n}, contracting_dims = [1] x [0] : "
            f"(tensor<{batch}x{width}xf32>, tensor<{width}x{size}xf32>) -> {type}"
        )
        body += _broadcast(batch, f"%t{n}", f"%b{n}", "[1]", f"tensor<{size}xf32>", size)
        body.append(f"%c{n} = stablehlo.add %d{n}, %t{n} : {type}")
        value, width = f"%c{n}", size
        if relu:
            body.append(f"%z{n} = stablehlo.constant dense<0.0> : tensor<f32>")
            body += _broadcast(batch, f"%y{n}", f"%z{n}", "[]", "tensor<f32>", size)
            body.append(f"%r{n} = stablehlo.maximum %c{n}, %y{n} : {type}")
            value = f"%r{n}"
    result = f"tensor<{batch}x10xf32>"
    lines = "\n  ".join([*body, f"return {value} : {result}"])
    return f"func.func @main({', '.join(arguments)}) -> {result} {{\n  {lines}\n}}"


def _broadcast(batch: str, name: str, value: str, dims: str, type: str, size: int) -> list[str]:
    """`value` for all rows, as JAX writes it."""
    result = f"tensor<{batch}x{size}xf32>"
    if batch != "?":
        return [f"{name} = stablehlo.broadcast_in_dim {value}, dims = {dims} : ({type}) -> {result}"]
    return [
        f"{name}w = stablehlo.constant dense<{size}> : tensor<1xi32>",
        f"{name}s = stablehlo.concatenate %count, {name}w, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>",
        f"{name} = stablehlo.dynamic_broadcast_in_dim {value}, {name}s, dims = {dims} : "
        f"({type}, tensor<2xi32>) -> {result}",
    ]


def _convolution(n: int, value: str, size: int, channels: int, features: int) -> str:
    """A convolution of 3x3 with bias and maximum, and the maxima of 2x2 windows."""
    full, half = f"tensor<8x{size}x{size}x{features}xf32>", f"tensor<8x{size // 2}x{size // 2}x{features}xf32>"
    return f"""
  %c{n} = stablehlo.convolution({value}, %k{n}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {{stride = [1, 1], pad = [[1, 1], [1, 1]]}}
      {{feature_group_count = 1 : i64, batch_group_count = 1 : i64}} :
      (tensor<8x{size}x{size}x{channels}xf32>, tensor<3x3x{channels}x{features}xf32>) -> {full}
  %e{n} = stablehlo.broadcast_in_dim %b{n}, dims = [3] : (tensor<{features}xf32>) -> {full}
  %a{n} = stablehlo.add %c{n}, %e{n} : {full}
  %z{n} = stablehlo.constant dense<0.0> : {full}
  %r{n} = stablehlo.maximum %a{n}, %z{n} : {full}
  %p{n} = "stablehlo.reduce_window"(%r{n}, %least) <{{
      window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}}> ({{
  ^bb0(%x{n}: tensor<f32>, %y{n}: tensor<f32>):
    %m{n} = stablehlo.maximum %x{n}, %y{n} : tensor<f32>
    stablehlo.return %m{n} : tensor<f32>
  }}) : ({full}, tensor<f32>) -> {half}"""


CNN = f"""
func.func @main(%x: tensor<8x28x28x1xf32>, %k0: tensor<3x3x1x32xf32>, %b0: tensor<32xf32>,
    %k1: tensor<3x3x32x64xf32>, %b1: tensor<64xf32>, %w: tensor<3136x128xf32>) -> tensor<8x128xf32> {{
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  {_convolution(0, "%x", 28, 1, 32)}
  {_convolution(1, "%p0", 14, 32, 64)}
  %flat = stablehlo.reshape %p1 : (tensor<8x7x7x64xf32>) -> tensor<8x3136xf32>
  %y = stablehlo.dot_general %flat, %w, contracting_dims = [1] x [0]
      : (tensor<8x3136xf32>, tensor<3136x128xf32>) -> tensor<8x128xf32>
  return %y : tensor<8x128xf32>
}}"""


def compiled(text: str) -> bytes:
    """The artifact, after it was made twice."""
    data = compile_module(read_module(text), OPTIONS)
    assert data == compile_module(read_module(text), OPTIONS)
    return data


def _nothing(options: CompileOptions) -> list[tuple[str, str]]:
    del options
    return []


def test_add_without_what_it_says_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without version, target, flags and declaration; the digest, by which damage is found, stays."""
    module = read_module(ADD)
    run_pipeline(module, OPTIONS, compile_to="vm")
    whole = len(emit_archive(module, OPTIONS))
    monkeypatch.setattr(provenance, "module_attributes", _nothing)
    for op in module.walk():
        if isinstance(op, vm.FuncOp):
            op.attributes.pop("iree.reflection", None)
    data = emit_archive(module, OPTIONS)
    assert len(data) <= 2700
    assert whole <= 3000


def test_a_dynamic_mlp_is_at_most_half_larger_than_its_static_twin() -> None:
    fixed, dynamic = len(compiled(mlp("32"))), len(compiled(mlp("?")))
    assert fixed <= 6300
    assert dynamic <= 1.5 * fixed


def test_a_convolutional_network() -> None:
    assert len(compiled(CNN)) <= 8500
