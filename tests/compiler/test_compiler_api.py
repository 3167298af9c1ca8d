"""tiree.compile and the iree.compiler-shaped functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import tiree
import tiree.compiler
from tiree.compiler.api import _REFUSED_KEYWORDS, _TOOL_KEYWORDS
from tiree.support.options import CompileOptions
from tiree.tools.compile_flags import _FIELDS, FLAGS, REFUSED, flags_from_options, options_from_flags
from tiree.tools.flags import parse_flags

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


def test_output_is_written_too(tmp_path: Path) -> None:
    module = tiree.compile(ADD, output=tmp_path / "x", llvmcpu_debug_symbols=False)
    assert (tmp_path / "x").read_bytes() == module
    assert len(module) < len(tiree.compile(ADD))


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
    assert tiree.compiler.query_available_targets() == ["llvm-cpu", "vmvx", "vmvx-inline"]


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
    with pytest.raises(ValueError, match=r"enable_benchmark=True is not available: .{20,}"):
        tiree.compiler.compile_str(ADD, enable_benchmark=True)


TEXT = {"output_format": "mlir-text"}
# For each keyword: a value, other keywords, and what the output or the error has with the value and not without.
KEYWORDS: dict[str, tuple[Any, dict[str, Any], Callable[[bytes], bool]]] = {
    "target_backends": (["llvm-cpu", "cuda"], {}, lambda found: b"cuda is not available" in found),
    "input_type": ("none", {}, lambda found: b"not allowed by input type 'none'" in found),
    "output_format": ("mlir-text", {}, lambda found: found.startswith(b"builtin.module")),
    "extra_args": (["--compile-to=input"], {}, lambda found: b"linalg.generic" in found),
    "output_mlir_debuginfo": (False, TEXT, lambda found: b"loc(" not in found),
    "output_generic_mlir": (True, TEXT, lambda found: found.startswith(b'"builtin.module"')),
    "extended_diagnostics": (True, {"input_type": "none"}, lambda found: b"Traceback" in found),
    "strip_debug_ops": (True, {}, lambda found: b"vm-bytecode-module-strip-debug-ops=true" in found),
    "strip_source_map": (
        True, {"extra_args": ["--iree-hal-executable-debug-level=1"]}, lambda found: b"<input>" not in found
    ),
}  # fmt: skip


def compiled(keywords: dict[str, Any]) -> bytes:
    """The module, or the text of the error."""
    try:
        return tiree.compiler.compile_str(ADD, **keywords) or b""
    except tiree.compiler.CompilerToolError as error:
        return str(error).encode()


@pytest.mark.parametrize("name", KEYWORDS)
def test_every_keyword_of_compile_str_has_an_effect(name: str) -> None:
    value, others, shows = KEYWORDS[name]
    assert shows(compiled({**others, name: value}))
    assert not shows(compiled(others))


@pytest.mark.parametrize("name", _REFUSED_KEYWORDS)
def test_keywords_with_one_value_refuse_others(name: str) -> None:
    default = _TOOL_KEYWORDS[name]
    assert b"IREE" in compiled({name: default})
    with pytest.raises(ValueError, match=rf"{name}={not default} is not available: .{{20,}}"):
        tiree.compiler.compile_str(ADD, **{name: not default})


def test_no_keyword_is_without_a_test() -> None:
    # `output_file` is tested above.
    assert set(_TOOL_KEYWORDS) == set(KEYWORDS) | set(_REFUSED_KEYWORDS) | {"output_file"}


def test_every_enumeration_value_is_known() -> None:
    for name, kind in (("input_type", tiree.compiler.InputType), ("output_format", tiree.compiler.OutputFormat)):
        for value in kind:
            found = compiled({name: value})
            refused = b"is not available: " in found or b"not allowed by" in found
            assert refused or not found.startswith(b"Error"), value


# A value that is not the default, for each option.
OPTIONS: dict[str, Any] = {
    "hal_target_devices": ("a=local[1]",), "hal_default_device": "0", "hal_target_backends": ("vmvx",),
    "llvmcpu_target_triple": "riscv64-unknown-linux-gnu", "llvmcpu_target_cpu": "generic",
    "llvmcpu_target_cpu_features": "+avx2", "llvmcpu_debug_symbols": False, "llvmcpu_stack_allocation_limit": 4096,
    "input_type": "stablehlo", "demote_f64_to_f32": True, "demote_i64_to_i32": True, "promote_f16_to_f32": True,
    "promote_bf16_to_f32": True, "strip_assertions": True,
    "opt_const_eval": False, "opt_const_expr_hoisting": False, "opt_const_expr_max_size_increase_threshold": 9,
    "execution_model": "async-external",
    "hal_memoization": False, "hal_indirect_command_buffers": False, "hal_link_executables": False,
    "hal_benchmark_dispatch_repeat_count": 2,
    "hal_executable_debug_level": 1, "vm_emit_polyglot_zip": False, "vm_strip_source_map": True,
    "vm_strip_debug_ops": True, "dump_intermediates_to": "folder", "share_layers": False,
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_the_flag_of_its_name(name: str) -> None:
    """What a flag does is tested with the tools; an option sets the same field, and is checked and recorded alike."""
    value = OPTIONS[name]
    (flag,) = flags_from_options({name: value})
    assert flag.startswith(f"--{dict(map(reversed, _FIELDS.items()))[name]}=")  # pyright: ignore[reportArgumentType]
    found = options_from_flags(parse_flags([flag], FLAGS, REFUSED))
    assert getattr(found, name) == value != getattr(CompileOptions(), name)
    expected = replace(CompileOptions(), **{name: value})
    if name == "llvmcpu_target_triple":
        expected = replace(expected, llvmcpu_target_cpu="generic")
    assert found == expected


def test_no_option_is_without_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiree.codegen import translate_executables as translate

    cache = ("cache_dir", "cache_size")  # test_compile_cache.py
    others = ("threads", "recorded_flags", "extensions", *cache)
    names = {field.name for field in fields(CompileOptions)}
    parameters = {name for name in names if name.startswith("parameter_")}  # test_compile_parameters.py
    assert names - parameters == {*OPTIONS, *others}
    counts: list[int] = []

    class Counted(translate.ThreadPoolExecutor):
        def __init__(self, workers: int) -> None:
            counts.append(workers)
            super().__init__(workers)

    monkeypatch.setattr(translate, "ThreadPoolExecutor", Counted)
    tiree.compile(ADD, threads=5)
    assert counts == [5]
    for name in ("recorded_flags", "extensions"):
        with pytest.raises(TypeError, match=f"no option '{name}'"):
            tiree.compile(ADD, **{name: ("x",)})


def test_options_are_recorded_and_checked_as_flags_are() -> None:
    by_option = tiree.compile(ADD, llvmcpu_debug_symbols=False, vm_emit_polyglot_zip=False)
    by_flag = tiree.compile(ADD, flags=["--iree-llvmcpu-debug-symbols=false", "--iree-vm-emit-polyglot-zip=false"])
    assert by_option == by_flag
    with pytest.raises(tiree.CompileError, match="levels are 0 to 3"):
        tiree.compile(ADD, hal_executable_debug_level=9)
    with pytest.raises(tiree.CompileError, match="no such value"):
        tiree.compile(ADD, execution_model="x")
    assert tiree.compile(ADD, llvmcpu_target_triple="aarch64")


@pytest.mark.parametrize(
    "flag", ["-o", "--help", "--version", "--iree-hal-list-target-backends", "--iree-print-plugin-info"]
)
def test_flags_of_the_command_line_are_refused_in_python(flag: str) -> None:
    with pytest.raises(tiree.CompileError, match=f"{flag} (belongs to the command line|prints and exits)\n  .*"):
        tiree.compile(ADD, flags=[flag, "x"] if flag == "-o" else [flag])
