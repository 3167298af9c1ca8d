"""The two passes on a whole module: attributes of the exports, count regions, what IREE's tools make of it."""

import subprocess
from pathlib import Path

import pytest
from tiree.codegen import configuration_passes
from tiree.codegen.cpu.lower_to_kernels import LowerToKernels
from tiree.dialects import print_module, read_module
from tiree.dialects.registry import TireeContext
from tiree.support.options import CompileOptions
from xdsl.dialects.builtin import ModuleOp

from tests.dialects.iree_opt import find_tool

BINDING = "#hal.pipeline.binding<storage_buffer>"
LAYOUT = f"#hal.pipeline.layout<bindings = [{BINDING}, {BINDING}]>"
TARGET = (
    '#hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "znver4", cpu_features = "+avx512f,+avx512bw,'
    '+avx512dq,+avx512vl", target_triple = "x86_64-unknown-unknown-eabi-elf"}>'
)


def subspan(name: str, binding: int, access: str) -> str:
    return (
        f'{name} = "hal.interface.binding.subspan"(%c0) <{{alignment = 64 : index, binding = {binding} : index, '
        f"layout = {LAYOUT}, operandSegmentSizes = array<i32: 1, 0>}}> : (index) -> "
        f"!iree_tensor_ext.dispatch.tensor<{access}:tensor<1000x1000xf32>>"
    )


def moved(op: str, operands: str, types: str, segments: str) -> str:
    return (
        f'"iree_tensor_ext.dispatch.tensor.{op}"({operands}) <{{operandSegmentSizes = array<i32: {segments}>, '
        "static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 1000, 1000>, "
        "static_strides = array<i64: 1, 1>}> : "
        f"{types}"
    )


TEXT = f"""
module {{
  "hal.executable"() <{{sym_name = "ex", sym_visibility = "private"}}> ({{
    "hal.executable.variant"() <{{sym_name = "v", target = {TARGET}}}> ({{
      "hal.executable.export"() <{{layout = {LAYOUT}, ordinal = 0 : index, sym_name = "double"}}> ({{
      ^bb0(%device: !hal.device):
        %x:3 = "iree_tensor_ext.dispatch.workgroup_count_from_slice"() : () -> (index, index, index)
        "hal.return"(%x#0, %x#1, %x#2) : (index, index, index) -> ()
      }}, {{
      }}) : () -> ()
      "builtin.module"() ({{
        "func.func"() <{{function_type = () -> (), sym_name = "double"}}> ({{
          %c0 = "arith.constant"() <{{value = 0 : index}}> : () -> index
          {subspan("%i", 0, "readonly")}
          {subspan("%o", 1, "writeonly")}
          %t = {
    moved(
        "load",
        "%i",
        "(!iree_tensor_ext.dispatch.tensor<readonly:tensor<1000x1000xf32>>) -> tensor<1000x1000xf32>",
        "1, 0, 0, 0, 0",
    )
}
          %r = "arith.addf"(%t, %t) <{{fastmath = #arith.fastmath<none>}}>
            : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
          {
    moved(
        "store",
        "%r, %o",
        "(tensor<1000x1000xf32>, !iree_tensor_ext.dispatch.tensor<writeonly:tensor<1000x1000xf32>>) -> ()",
        "1, 1, 0, 0, 0, 0",
    )
}
          "func.return"() : () -> ()
        }}) : () -> ()
      }}) : () -> ()
      "hal.executable.variant_end"() : () -> ()
    }}) : () -> ()
    "hal.executable_end"() : () -> ()
  }}) : () -> ()
}}
"""


def configured() -> ModuleOp:
    module = read_module(TEXT)
    for one in configuration_passes(CompileOptions()):
        one.apply(TireeContext(), module)
    module.verify()
    return module


def test_the_choice_is_recorded_and_nothing_else_changes() -> None:
    module = configured()
    (export,) = [op for op in module.walk() if op.name == "hal.executable.export"]
    assert {name: str(attr) for name, attr in export.attributes.items()} == {
        "tiree.strategy": '"elementwise"',
        "tiree.flops": "1000000 : i64",
        "tiree.bytes": "8000000 : i64",
    }
    export.attributes.clear()
    assert print_module(module) == print_module(read_module(TEXT))


def test_kernels_and_constant_counts_replace_tensors() -> None:
    module = configured()
    LowerToKernels().apply(TireeContext(), module)
    module.verify()
    text = print_module(module)
    assert "tensor" not in text.replace("iree_tensor_ext", "")
    (export,) = [op for op in module.walk() if op.name == "hal.executable.export"]
    counts = [op.properties["value"].value.data for op in export.regions[0].block.ops if op.name == "arith.constant"]  # pyright: ignore
    assert counts[0] > 8
    assert counts[1] == 1
    # A second run finds kernels and leaves them.
    LowerToKernels().apply(TireeContext(), module)
    assert print_module(module) == text


def test_the_same_input_gives_the_same_text() -> None:
    texts = []
    for _ in range(2):
        module = configured()
        LowerToKernels().apply(TireeContext(), module)
        texts.append(print_module(module))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("lowered", [False, True])
def test_iree_opt_accepts_both_forms(lowered: bool, tmp_path: Path) -> None:
    tool = find_tool("iree-opt")
    module = configured()
    if lowered:
        LowerToKernels().apply(TireeContext(), module)
    path = tmp_path / "module.mlir"
    path.write_text(print_module(module))
    result = subprocess.run([tool, str(path), "-o", "/dev/null"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[:2000]
