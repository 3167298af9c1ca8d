"""The linker: what the loader demands, what is refused, and that the images of other architectures hang together."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from tiree.codegen.elf.link import link
from tiree.codegen.llvm.compile import compile_ir
from tiree.codegen.llvm.library import QUERY_SYMBOL
from tiree.support.errors import CompileError

from tests.codegen.elf_loader import Image
from tests.codegen.harness import bindings, build, compile_kernel, parse, target

ADD = f"""
func.func @add() {{
  {bindings("4xf32", "4xf32", "4xf32", readonly=(0, 1))}
  %a = vector.load %b0[%c0] : memref<4xf32>, vector<4xf32>
  %b = vector.load %b1[%c0] : memref<4xf32>, vector<4xf32>
  %c = arith.addf %a, %b : vector<4xf32>
  vector.store %c, %b2[%c0] : memref<4xf32>, vector<4xf32>
  func.return
}}"""

SINE = f"""
func.func @sine() {{
  {bindings("8xf64", "8xf64", readonly=(0,))}
  %a = vector.load %b0[%c0] : memref<8xf64>, vector<8xf64>
  %s = math.sin %a : vector<8xf64>
  %t = math.exp %s : vector<8xf64>
  vector.store %t, %b1[%c0] : memref<8xf64>, vector<8xf64>
  func.return
}}"""


def compile_text(ir: str, cpu: str = "host") -> bytes:
    return compile_ir(ir, target(cpu)).object


def test_the_smallest_kernel_is_small() -> None:
    assert len(build(parse(ADD)).image) <= 650


def test_an_image_has_no_section_but_a_null_one() -> None:
    image = build(parse(ADD)).image
    shoff = struct.unpack_from("<Q", image, 40)[0]
    shnum = struct.unpack_from("<H", image, 60)[0]
    assert shnum == 1
    assert shoff + 64 == len(image)


def test_only_the_table_is_writable_and_takes_no_bytes() -> None:
    image = build(parse(ADD + SINE)).image
    count = struct.unpack_from("<H", image, 56)[0]
    headers = [struct.unpack_from("<IIQQQQQQ", image, 64 + 56 * i) for i in range(count)]
    read_execute, table = [h for h in headers if h[0] == 1]
    assert read_execute[1] == 5
    assert table[1] == 6
    assert (table[2], table[5]) == (0, 0)
    assert table[6] < 1024
    assert table[3] % 4096 == 0
    assert table[3] >= read_execute[3] + read_execute[6]


@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_the_table_of_any_number_of_kernels(count: int) -> None:
    kernel = f"""
func.func @"kernel NAME"() {{
  {bindings("4xf32")}
  %v = arith.constant dense<NAME.5> : vector<4xf32>
  vector.store %v, %b0[%c0] : memref<4xf32>, vector<4xf32>
  func.return
}}"""
    image = Image(build(parse("".join(kernel.replace("NAME", str(i)) for i in range(count)))).image)
    assert list(image.kernels) == [f"kernel {i}" for i in range(count)]
    for i in range(count):
        out = np.zeros(4, np.float32)
        image.run(f"kernel {i}", [out])
        assert (out == i + 0.5).all()


def test_equal_kernels_are_one_in_the_image() -> None:
    kernel = SINE.replace("@sine", "@NAME")
    assert "@NAME" in kernel
    one, two = (build(parse("".join(kernel.replace("NAME", n) for n in names))) for names in ("abc", "a"))
    image = Image(one.image)
    assert len({image.kernels[n].address for n in "abc"}) == 1
    assert len(one.image) - len(two.image) < 200
    data, out = np.linspace(-3, 3, 8), np.zeros(8)
    image.run("c", [data, out])
    np.testing.assert_allclose(out, np.exp(np.sin(data)), rtol=1e-14)


def test_debug_symbols_name_the_kernels() -> None:
    image = build(parse(ADD + SINE), debug_symbols=True).image
    shoff = struct.unpack_from("<Q", image, 40)[0]
    shnum, shstrndx = struct.unpack_from("<HH", image, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, shoff + 64 * i) for i in range(shnum)]
    assert headers[shstrndx][1] == 3
    table = next(h for h in headers if h[1] == 2)
    strings = headers[table[6]]
    names = {}
    for i in range(table[5] // 24):
        name, info, _, _, value, size = struct.unpack_from("<IBBHQQ", image, table[4] + 24 * i)
        start = strings[4] + name
        names[image[start : image.index(b"\0", start)].decode()] = (info & 15, value, size)
    assert {"add", "sine", "tiree.reduce_large", QUERY_SYMBOL} <= set(names)
    assert all(names[n][0] == 2 and names[n][2] > 0 for n in ("add", "sine"))
    Image(image).run("add", [np.ones(4, np.float32)] * 2 + [np.zeros(4, np.float32)])


def test_linking_is_deterministic_and_symbols_change_no_code() -> None:
    first, second = build(parse(ADD + SINE)), build(parse(ADD + SINE))
    assert first.image == second.image
    with_symbols = build(parse(ADD + SINE), debug_symbols=True).image
    assert with_symbols[64 : len(first.image) - 64] == first.image[64 : len(first.image) - 64]


def test_undefined_symbols_are_named() -> None:
    ir = f"""
target triple = "x86_64-unknown-unknown-eabi-elf"
declare float @expf(float)
declare float @tanhf(float)
define ptr @{QUERY_SYMBOL}(i32 %v, ptr %e) nounwind {{
  %a = call float @tanhf(float 1.0)
  %b = call float @expf(float %a)
  %i = fptoui float %b to i64
  %p = inttoptr i64 %i to ptr
  ret ptr %p
}}"""
    with pytest.raises(CompileError, match=r"executable 'x' refers to undefined symbols: expf, tanhf"):
        link([compile_text(ir)], QUERY_SYMBOL, "x")


def test_writable_data_is_refused() -> None:
    ir = f"""
target triple = "x86_64-unknown-unknown-eabi-elf"
@counter = internal global i32 1
define ptr @{QUERY_SYMBOL}(i32 %v, ptr %e) nounwind {{
  store i32 %v, ptr @counter
  ret ptr @counter
}}"""
    with pytest.raises(CompileError, match=r"section \.data is writable data of 4 bytes"):
        link([compile_text(ir)], QUERY_SYMBOL, "x")


def test_a_missing_entry_is_refused() -> None:
    ir = 'target triple = "x86_64-unknown-unknown-eabi-elf"\ndefine void @other() { ret void }'
    with pytest.raises(CompileError, match=f"no object defines {QUERY_SYMBOL}"):
        link([compile_text(ir)], QUERY_SYMBOL, "x")


def test_kernels_of_several_objects_share_equal_constants() -> None:
    kernel = f"""
func.func @NAME() {{
  {bindings("16xf32")}
  %t = memref.get_global @table : memref<16xf32>
  %a = vector.load %t[%c0] : memref<16xf32>, vector<16xf32>
  vector.store %a, %b0[%c0] : memref<16xf32>, vector<16xf32>
  func.return
}}"""
    values = ", ".join(f"{i}.25" for i in range(16))
    table = (
        '"memref.global"() <{sym_name = "table", sym_visibility = "private", type = memref<16xf32>, constant, '
        f"initial_value = dense<[{values}]> : tensor<16xf32>}}> : () -> ()"
    )
    compiled = compile_kernel(table + "".join(kernel.replace("NAME", f"k{i}") for i in range(3)))
    assert compiled.built.image.count(np.arange(16, dtype=np.float32).__add__(np.float32(0.25)).tobytes()) == 1
    for i in range(3):
        out = np.zeros(16, np.float32)
        compiled.run(out, name=f"k{i}")
        np.testing.assert_array_equal(out, np.arange(16) + np.float32(0.25))


def test_the_real_loader_takes_the_image() -> None:
    """The whole compiler, then IREE's own runtime."""
    runtime = pytest.importorskip("iree.runtime", reason="needs iree-base-runtime")
    from tiree.dialects import read_module
    from tiree.pipeline import compile_module
    from tiree.support.options import CompileOptions

    text = """
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}"""
    for symbols in (False, True):
        data = compile_module(read_module(text), CompileOptions(llvmcpu_debug_symbols=symbols))
        context = runtime.SystemContext(config=runtime.Config("local-sync"))
        context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, data))
        a, b = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
        result = context.modules.module.f(a, b).to_host()
        np.testing.assert_allclose(result, np.exp(a + b), rtol=1e-6)
