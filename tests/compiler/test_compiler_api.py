"""tiree.compile and the iree.compiler-shaped functions."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiree
import tiree.compiler

ADD = """
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_text_bytes_and_paths_give_the_same_module(tmp_path: Path) -> None:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    strip = ["--iree-vm-bytecode-module-strip-source-map", "--iree-llvmcpu-debug-symbols=false"]
    results = [tiree.compile(program, flags=strip) for program in (ADD, ADD.encode(), path, str(path))]
    assert len(set(results)) == 1
    assert isinstance(results[0], tiree.CompiledModule)
    results[0].save(tmp_path / "add.vmfb")
    assert (tmp_path / "add.vmfb").read_bytes() == results[0]


def test_options_by_keyword_mean_what_the_flags_mean(tmp_path: Path) -> None:
    by_option = tiree.compile(ADD, llvmcpu_debug_symbols=False, vm_emit_polyglot_zip=False, output=tmp_path / "x")
    by_flag = tiree.compile(ADD, flags=["--iree-llvmcpu-debug-symbols=false", "--iree-vm-emit-polyglot-zip=false"])
    assert (tmp_path / "x").read_bytes() == by_option
    # The flags are recorded in the module, the options are not.
    assert abs(len(by_flag) - len(by_option)) < 400
    assert len(by_option) < len(tiree.compile(ADD))


def test_errors() -> None:
    with pytest.raises(tiree.CompileError, match="unknown operation"):
        tiree.compile("func.func @f() {\n  stablehlo.what\n}\n")
    with pytest.raises(TypeError, match="no option 'llvmcpu_target'; did you mean llvmcpu_target_cpu"):
        tiree.compile(ADD, llvmcpu_target="x")
    with pytest.raises(tiree.CompileError, match="'x' is not a flag"):
        tiree.compile(ADD, flags=["x"])
    with pytest.raises(TypeError, match="cannot compile a int"):
        tiree.compile(3)


def test_importing_the_package_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    program = (
        "import tiree, sys; print([m for m in ('xdsl', 'numpy', 'llvmlite', 'jax', 'argparse') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_compile_str_in_irees_shape(tmp_path: Path) -> None:
    module = tiree.compiler.compile_str(
        ADD, target_backends=["llvm-cpu"], input_type="stablehlo", extra_args=["--iree-llvmcpu-target-cpu=generic"]
    )
    assert module is not None
    output = tmp_path / "add.vmfb"
    assert tiree.compiler.compile_str(ADD.encode(), output_file=str(output), strip_source_map=True) is None
    assert output.stat().st_size > 0
    text = tiree.compiler.compile_str(ADD, output_format="mlir_text", output_generic_mlir=True)
    assert text is not None
    assert text.startswith(b'"builtin.module"')


def test_compile_file_in_irees_shape(tmp_path: Path) -> None:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    assert tiree.compiler.compile_file(str(path), input_type=tiree.compiler.InputType.AUTO)
    with pytest.raises(FileNotFoundError):
        tiree.compiler.compile_file(str(tmp_path / "none.mlir"))
    assert tiree.compiler.query_available_targets() == ["llvm-cpu"]


def test_tool_errors_hold_the_diagnostics() -> None:
    with pytest.raises(tiree.compiler.CompilerToolError, match="expected an operation") as caught:
        tiree.compiler.compile_str("nonsense\n")
    assert isinstance(caught.value.__cause__, tiree.CompileError)
    with pytest.raises(tiree.compiler.CompilerToolError, match="vulkan-spirv is not available"):
        tiree.compiler.compile_str(ADD, target_backends=["vulkan-spirv"])
    with pytest.raises(ValueError, match="input_type='x' is not one of"):
        tiree.compiler.compile_str(ADD, input_type="x")
    with pytest.raises(TypeError, match="unknown keyword 'backends'"):
        tiree.compiler.compile_str(ADD, backends=[])
    with pytest.raises(ValueError, match="enable_benchmark is not available"):
        tiree.compiler.compile_str(ADD, enable_benchmark=True)
