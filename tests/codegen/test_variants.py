"""Kernels for several CPUs in one image: which are chosen for which CPU, and that all of them are right."""

from __future__ import annotations

import numpy as np
import pytest
import tiree
from tiree.codegen.llvm.executable import ExportCounts, VariantCode, emit_variant_units, link_units
from tiree.codegen.variant_families import families
from tiree.dialects import hal, read_module
from tiree.dialects.arith import constant_of
from tiree.pipeline import run_pipeline
from tiree.support.cpu_variants import processor_mask
from tiree.support.options import CompileOptions
from xdsl.dialects.builtin import StringAttr

from tests.codegen.elf_loader import Image
from tests.codegen.harness import bindings, parse, target

V2 = processor_mask("x86_64", ["sse3", "ssse3", "sse4.1", "sse4.2"])
V3 = V2 | processor_mask("x86_64", ["avx", "fma", "f16c", "avx2"])
V4 = V3 | processor_mask("x86_64", ["avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw"])
CPUS = ["generic", "x86-64-v2", "x86-64-v3", "x86-64-v4"]
MACHINES = {"generic": 0, "x86-64-v2": V2, "x86-64-v3": V3, "x86-64-v4": V4}

MATMUL = """
func.func @f(%a: tensor<37x64xf32>, %b: tensor<64x96xf32>) -> tensor<37x96xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<37x96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<37x96xf32>) -> tensor<37x96xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<37x64xf32>, tensor<64x96xf32>) outs(%init : tensor<37x96xf32>)
      -> tensor<37x96xf32>
  return %0 : tensor<37x96xf32>
}"""
ADD = """
func.func @f(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  %0 = arith.addf %a, %b : tensor<64xf32>
  return %0 : tensor<64xf32>
}"""

ROUND = ADD.replace("%0 = arith.addf %a, %b", "%1 = arith.addf %a, %b : tensor<64xf32>\n  %0 = math.roundeven %1")
"""Each CPU has other instructions for this: equal kernels of two would be one."""


def compiled(text: str, cpus: str, **options: object) -> tuple[bytes, hal.ExecutableVariantOp]:
    """The image of the only executable, and the variant that is left of those that share it."""
    module = read_module(text)
    wanted = CompileOptions(llvmcpu_target_cpu=cpus, llvmcpu_target_triple="x86_64", **options)
    run_pipeline(module, wanted, compile_to="executable-targets")
    (executable,) = (op for op in module.ops if isinstance(op, hal.ExecutableOp))
    (binary,) = executable.binaries
    (variant,) = executable.variants
    return bytes(binary.data.buffer), variant


def level(image: bytes, features: int) -> int:
    """Where the first kernel lies that a CPU with these features gets."""
    loaded = Image(image, features)
    (kernel,) = loaded.kernels.values()
    return kernel.address - loaded.base


def runs_here(cpu: str) -> bool:
    host, wanted = target("host"), target(cpu)
    return host.has_avx512 >= wanted.has_avx512 and host.has_avx2 >= wanted.has_avx2 and host.has_fma >= wanted.has_fma


def test_each_machine_gets_the_most_that_it_can_run() -> None:
    image, _ = compiled(ROUND, ",".join(CPUS))
    places = {cpu: level(image, features) for cpu, features in MACHINES.items()}
    assert len(set(places.values())) == len(CPUS)
    # One feature less, and it is the next lower one.
    for cpu, lower in zip(CPUS[1:], CPUS, strict=False):
        for bit in range(64):
            if (MACHINES[cpu] & ~MACHINES[lower]) >> bit & 1 and bit in (3, 11, 14, 15, 21, 22, 23, 24):
                assert level(image, MACHINES[cpu] & ~(1 << bit)) == places[lower], (cpu, bit)
    assert level(image, (1 << 64) - 1) == places["x86-64-v4"]


def test_a_machine_without_a_variant_gets_none() -> None:
    image, _ = compiled(ADD, "x86-64-v3,x86-64-v4")
    with pytest.raises(AssertionError, match="no kernels for this CPU"):
        Image(image, V2)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("level", [0, 2])
def test_every_variant_is_right(cpu: str, level: int) -> None:
    if not runs_here(cpu):
        pytest.skip(f"this machine lacks instructions of {cpu}")
    image, variant = compiled(MATMUL, ",".join(CPUS), hal_executable_debug_level=level)
    loaded = Image(image, MACHINES[cpu])
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((37, 64), np.float32), rng.standard_normal((64, 96), np.float32)
    out = np.zeros((37, 96), np.float32)
    block = variant.exports[0].workgroup_count.block
    assert isinstance(block.last_op, hal.ReturnOp)
    x, y, z = (constant_of(value).value.data for value in block.last_op.arguments)
    a.flags.writeable = b.flags.writeable = False
    loaded.run(next(iter(loaded.kernels)), [a, b, out], (x, y, z))
    np.testing.assert_allclose(out, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-5)


COUNT = f"""
func.func @count() {{
  {bindings("4xi32")}
  %id = hal.interface.workgroup.id[0] : index
  %one = arith.constant 1 : i32
  memref.store %one, %b0[%id] : memref<4xi32>
  func.return
}}"""


def test_kernels_leave_workgroups_that_only_others_need() -> None:
    kernel, exports = parse(COUNT), {"count": ExportCounts(0, 1)}
    code = [
        VariantCode(kernel, target("x86-64-v2"), V2, {}),
        VariantCode(kernel, target("generic"), 0, {"count": {0: 3}}),
    ]
    units = [unit for part in emit_variant_units("count", code, exports) for unit in part]
    image = link_units("count", [unit.compile() for unit in units])
    for features, want in ((V2, [1, 1, 1, 1]), (0, [1, 1, 1, 0])):
        out = np.zeros(4, np.int32)
        Image(image, features).run("count", [out], (4, 1, 1))
        assert out.tolist() == want


def test_one_cpu_is_as_it_was() -> None:
    image, variant = compiled(ADD, "x86-64-v3")
    assert "tiree.cpus" not in variant.attributes
    assert Image(image, 0).kernels


def test_the_same_bytes_twice() -> None:
    flags = ["--iree-llvmcpu-target-triple=x86_64", "--iree-llvmcpu-target-cpu=x86-64-v4,generic,x86-64-v3"]
    first, second = (tiree.compile(MATMUL, flags=flags) for _ in range(2))
    assert bytes(first) == bytes(second)
    _, variant = compiled(MATMUL, "x86-64-v4,generic,x86-64-v3")
    assert [cpu.data for cpu in variant.attributes["tiree.cpus"]] == ["x86-64-v4", "x86-64-v3", "generic"]


def test_conditions_that_are_not_about_the_cpu_keep_images_apart() -> None:
    module = read_module(ADD)
    options = CompileOptions(llvmcpu_target_cpu="generic,x86-64-v3", llvmcpu_target_triple="x86_64")
    run_pipeline(module, options, compile_to="executable-sources")
    (executable,) = (op for op in module.ops if isinstance(op, hal.ExecutableOp))
    assert [len(family) for family in families(executable)] == [2]
    condition = executable.variants[0].condition
    query = next(op for op in condition.walk() if isinstance(op, hal.DeviceQueryOp))
    query.properties["key"] = StringAttr("no-such-feature")
    assert [len(family) for family in families(executable)] == [1, 1]
