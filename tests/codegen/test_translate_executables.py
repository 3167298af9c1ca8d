"""The pass that turns variants into images: what it adds, that threads change nothing, what it dumps and refuses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tiree.codegen.translate_executables import TranslateExecutables
from tiree.dialects import read_module
from tiree.dialects.hal_executable import ExecutableOp
from tiree.pipeline import run_pipeline
from tiree.support.errors import CompileError
from tiree.support.options import CompileOptions

from tests.codegen.elf_loader import Image

PROGRAM = """
func.func @f(%a: tensor<64xf32>, %b: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64x64xf32>) {
  %0 = stablehlo.exponential %a : tensor<64xf32>
  %1 = stablehlo.dot_general %b, %b, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64x64xf32>
}"""


def kernels(**options):
    """The program with its dispatches in kernel form, not yet translated."""
    from tiree.codegen.cpu.lower_to_kernels import LowerToKernels

    module = run_pipeline(read_module(PROGRAM), CompileOptions(**options), compile_to="executable-configurations")
    LowerToKernels().apply(None, module)  # pyright: ignore[reportArgumentType]
    return module


def executables(module) -> list[ExecutableOp]:
    return [op for op in module.body.block.ops if isinstance(op, ExecutableOp)]


def translate(module, **options) -> list[bytes]:
    TranslateExecutables(**options).apply(None, module)  # pyright: ignore[reportArgumentType]
    return [bytes(binary.data.buffer) for e in executables(module) for binary in e.binaries]  # pyright: ignore


def test_every_variant_gets_an_image_beside_it() -> None:
    module = kernels()
    images = translate(module)
    assert images
    for executable in executables(module):
        assert len(executable.binaries) == len(executable.variants)
        binary = executable.binaries[0]
        assert binary.format.data == "embedded-elf-x86_64"
        image = Image(bytes(binary.data.buffer))  # pyright: ignore[reportAttributeAccessIssue]
        assert image.name == executable.sym_name.data
        assert list(image.kernels) == [export.sym_name.data for export in executable.variants[0].exports]
    module.verify()
    assert translate(module) == images, "a second run has nothing to do"


def test_threads_change_no_byte() -> None:
    assert translate(kernels(), threads=1) == translate(kernels(), threads=4)


def test_levels_and_symbols_change_what_they_say() -> None:
    plain, symbols = translate(kernels())[0], translate(kernels(), debug_symbols=True)[0]
    assert b".symtab" not in plain
    assert b".symtab" in symbols
    nameless = Image(translate(kernels(), debug_level=0)[0])
    assert nameless.name == ""
    assert all(nameless.kernels)


def test_an_image_says_what_its_debug_level_allows() -> None:
    """0 nothing, 1 its name, 2 lines of the user's file, 3 texts; nothing beyond the name without debug symbols."""

    def image(level: int, **options) -> Image:
        settings = CompileOptions(hal_executable_debug_level=level, **options)
        module = run_pipeline(read_module(PROGRAM, filename="f.mlir"), settings, compile_to="executable-targets")
        return Image(bytes(executables(module)[0].binaries[0].data.buffer))  # pyright: ignore

    images = [image(level) for level in range(4)]
    assert [bool(i.name) for i in images] == [False, True, True, True]
    assert [bool(i.places) for i in images] == [False, False, True, True]
    assert [bool(i.sources) for i in images] == [bool(i.stages) for i in images] == [False, False, False, True]
    full = images[3]
    assert sorted(full.places.values()) == [("f.mlir", 3), ("f.mlir", 4)]
    ((path, text),) = full.sources.items()
    for name in full.kernels:
        assert full.stages[name] == {"configured": (path, full.stages[name]["configured"][1])}
        assert f"@{name}(" in text.splitlines()[full.stages[name]["configured"][1] - 1]
    bare = image(3, llvmcpu_debug_symbols=False)
    assert (bool(bare.name), bare.places, bare.stages, bare.sources) == (True, {}, {}, {})


def test_a_place_that_is_not_known_is_empty() -> None:
    module = kernels()
    from xdsl.dialects.builtin import UnknownLoc

    first = executables(module)[0].variants[0].exports[0]
    first.location = UnknownLoc()
    image = Image(translate(module, debug_symbols=True)[0])
    assert image.places[first.sym_name.data] == ("", 0)
    assert all(line for path, line in image.places.values() if path)


def test_intermediates_are_written_where_asked(tmp_path: Path) -> None:
    images = translate(kernels(), dump_intermediates_to=str(tmp_path / "out"))
    names = sorted(os.listdir(tmp_path / "out"))
    for suffix in (".codegen.ll", ".s", ".o", ".so"):
        assert any(name.endswith(suffix) for name in names), suffix
    assert images[0] in [(tmp_path / "out" / n).read_bytes() for n in names if n.endswith(".so")]


def test_an_error_in_a_kernel_is_reported() -> None:
    module = kernels()
    inner = executables(module)[0].variants[0].inner_module
    assert inner is not None
    from xdsl.dialects.builtin import f32
    from xdsl.dialects.memref import AllocaOp

    function = next(op for op in inner.body.block.ops if op.name == "func.func")
    first = function.regions[0].block.first_op
    assert first is not None
    function.regions[0].block.insert_op_before(AllocaOp.get(f32, shape=[1 << 20]), first)
    with pytest.raises(CompileError, match="stack memory grows to 4194304 bytes"):
        translate(module)
