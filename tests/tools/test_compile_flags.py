"""Every flag of iree-compile has an effect here, or is refused by name with a reason."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from report.programs import CHAIN
from tiree.compiler.api import _compile as compile_flags
from tiree.support.errors import CompileError
from tiree.tools.compile_flags import FLAGS, REFUSED, options_from_flags
from tiree.tools.flags import parse_flags

# The flags of iree-compile 3.13 that its users meet, by name.
IREE_FLAGS = (
    "o", "iree-hal-target-device", "iree-hal-local-target-device-backends", "iree-hal-target-backends",
    "iree-hal-list-target-backends", "iree-llvmcpu-target-cpu", "iree-llvmcpu-target-cpu-features",
    "iree-llvmcpu-target-triple", "iree-llvmcpu-link-embedded", "iree-llvmcpu-debug-symbols",
    "iree-llvmcpu-enable-ukernels", "iree-llvmcpu-stack-allocation-limit", "iree-llvmcpu-sanitize", "iree-input-type",
    "iree-opt-level", "iree-dispatch-creation-opt-level", "iree-global-optimization-opt-level",
    "iree-global-opt-data-tiling", "iree-parameter-encoder-output-file", "iree-parameter-encoder-output-scope",
    "iree-parameter-encoder-mode", "iree-opt-const-expr-hoisting", "iree-opt-const-expr-max-size-increase-threshold",
    "mlir-print-op-on-diagnostic", "mlir-print-stacktrace-on-diagnostic", "iree-opt-data-tiling",
    "iree-dispatch-creation-data-tiling", "iree-opt-const-eval", "iree-opt-strip-assertions", "iree-execution-model",
    "iree-hal-memoization", "iree-hal-indirect-command-buffers", "iree-hal-force-indirect-command-buffers",
    "iree-hal-link-executables", "iree-hal-executable-debug-level", "iree-hal-dump-executable-files-to",
    "iree-hal-dump-executable-sources-to", "iree-hal-dump-executable-intermediates-to",
    "iree-hal-dump-executable-binaries-to", "iree-hal-dump-executable-benchmarks-to",
    "iree-hal-dump-executable-configurations-to", "iree-hal-benchmark-dispatch-repeat-count",
    "iree-stream-partitioning-favor", "iree-stream-resource-index-bits", "iree-stream-resource-max-allocation-size",
    "iree-vm-target-index-bits", "iree-vm-target-extension-f32", "iree-vm-target-extension-f64",
    "iree-vm-bytecode-module-output-format", "iree-vm-emit-polyglot-zip", "iree-vm-bytecode-module-strip-source-map",
    "iree-vm-bytecode-module-strip-debug-ops", "iree-vm-bytecode-source-listing", "iree-input-demote-i64-to-i32",
    "iree-input-promote-f16-to-f32", "iree-input-promote-bf16-to-f32", "iree-input-demote-f64-to-f32",
    "iree-parameter-export", "iree-parameter-export-minimum-size", "iree-parameter-import",
    "iree-parameter-import-keys", "iree-parameter-import-maximum-size", "iree-parameter-splat", "compile-to",
    "compile-from",
    "compile-mode", "output-format", "iree-plugin", "iree-print-plugin-info", "iree-cuda-target",
    "iree-vulkan-target", "mlir-print-ir-after-all", "mlir-print-debuginfo", "mlir-elide-elementsattrs-if-larger",
    "mlir-timing", "mlir-disable-threading", "version",
)  # fmt: skip

ADD = """
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
TWO = """
func.func @two(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %0 = stablehlo.dot %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot %0, %a : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8xf32>
}
"""
GENERIC = "--iree-llvmcpu-target-cpu=generic"


def build(text: str, *flags: str) -> bytes:
    return compile_flags(text.encode(), "m.mlir", [GENERIC, *flags]).to_bytes(bytes)


def text_at(phase: str, text: str, *flags: str) -> str:
    return compile_flags(text.encode(), "m.mlir", [f"--compile-to={phase}", *flags]).to_bytes(bytes).decode()


def options(*flags: str) -> Any:
    return options_from_flags(parse_flags(flags, FLAGS, REFUSED))


@pytest.mark.parametrize("name", IREE_FLAGS)
def test_no_flag_of_iree_compile_is_unknown(name: str) -> None:
    assert (name in {flag.name for flag in FLAGS}) != (name in REFUSED)


@pytest.mark.parametrize("name", REFUSED)
def test_refused_flags_say_why(name: str) -> None:
    with pytest.raises(CompileError, match=f"--{name} is not available: .{{20,}}"):
        build(ADD, f"--{name}=x")


@pytest.mark.parametrize(
    "flag",
    [
        "iree-hal-target-device=cuda",
        "iree-hal-target-backends=vulkan-spirv",
        "iree-llvmcpu-link-embedded=false",
        "iree-llvmcpu-enable-ukernels=all",
        "iree-input-type=torch",
        "iree-vm-target-index-bits=32",
        "iree-vm-target-extension-f32=false",
        "iree-vm-bytecode-module-output-format=flatbuffer-text",
        "compile-mode=hal-executable",
        "output-format=vm-c",
    ],
)
def test_refused_values_say_why(flag: str) -> None:
    with pytest.raises(CompileError, match=r"is not available: .{15,}"):
        build(ADD, f"--{flag}")


@pytest.mark.parametrize(
    "flag",
    [
        "iree-hal-target-device=local",
        "iree-hal-local-target-device-backends=llvm-cpu",
        "iree-hal-target-backends=llvm-cpu",
        "iree-llvmcpu-link-embedded=true",
    ],
)
def test_the_named_target_is_the_one_in_the_module(flag: str) -> None:
    text = text_at("preprocessing", ADD, f"--{flag}")
    assert '#hal.device.target<"local", [#hal.executable.target<"llvm-cpu", "embedded-elf-' in text


@pytest.mark.parametrize(
    ("flag", "found"),
    [
        ("iree-llvmcpu-target-cpu=skylake-avx512", 'cpu = "skylake-avx512"'),
        ("iree-llvmcpu-target-cpu-features=+avx2,+fma", "+avx2,+fma"),
        ("iree-llvmcpu-target-triple=aarch64-unknown-linux-gnu", "embedded-elf-arm_64"),
        ("iree-llvmcpu-stack-allocation-limit=4096", "max_stack_allocation_size = 4096"),
    ],
)
def test_the_cpu_is_described_in_the_target(flag: str, found: str) -> None:
    assert found in text_at("preprocessing", ADD, "--iree-llvmcpu-target-cpu=generic", f"--{flag}")


def test_a_foreign_triple_without_a_cpu_means_its_generic_one() -> None:
    assert options("--iree-llvmcpu-target-triple=riscv64").llvmcpu_target_cpu == "generic"
    assert options().llvmcpu_target_cpu == "host"


def test_input_type_limits_the_dialects() -> None:
    assert "linalg.generic" in text_at("input", ADD, "--iree-input-type=stablehlo")
    with pytest.raises(CompileError, match=r"stablehlo\.add is not allowed by input type 'none'"):
        build(ADD, "--iree-input-type=none")
    build(text_at("input", ADD), "--iree-input-type=none")


def test_every_operation_of_a_dialect_that_is_not_read_is_listed() -> None:
    tosa = """func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.sin %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.add %1, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""
    with pytest.raises(CompileError) as caught:
        build(tosa)
    assert [(one.location, one.message) for one in caught.value.diagnostics] == [
        ("m.mlir:2:8", "tosa.add is not allowed by input type 'auto' (2 uses); also at m.mlir:4:8"),
        ("m.mlir:3:8", "tosa.sin is not allowed by input type 'auto'"),
    ]
    assert caught.value.diagnostics[-1].hint.startswith("TOSA is not read; iree-compile --compile-to=input")
    torch = "func.func @f(%a: !torch.int) {\n  %0 = torch.aten.neg.int %a : !torch.int -> !torch.int\n  return\n}\n"
    with pytest.raises(CompileError, match=r"unknown operation 'torch.aten.neg.int': of torch only ONNX graphs"):
        build(torch)


@pytest.mark.parametrize(
    ("flag", "before", "after"),
    [
        ("iree-input-demote-i64-to-i32", "i64", "i32"),
        ("iree-input-demote-f64-to-f32", "f64", "f32"),
        ("iree-input-promote-f16-to-f32", "f16", "f32"),
        ("iree-input-promote-bf16-to-f32", "bf16", "f32"),
    ],
)
def test_element_types_are_changed_on_demand_only(flag: str, before: str, after: str) -> None:
    text = ADD.replace("f32", before)
    assert f"tensor<4x{before}>" in text_at("input", text)
    changed = text_at("input", text, f"--{flag}")
    assert f"tensor<4x{after}>" in changed
    assert f"tensor<4x{before}>" not in changed


def test_assertions_are_stripped_on_demand_and_from_o1_on() -> None:
    assert "hal.buffer_view.assert" in text_at("stream", ADD)
    for flags in (["--iree-opt-strip-assertions"], ["--iree-opt-level=O1"], ["-O2"], ["--O3"]):
        assert "hal.buffer_view.assert" not in text_at("stream", ADD, *flags)
    kept = text_at("stream", ADD, "--iree-opt-level=O1", "--iree-opt-strip-assertions=false")
    assert "hal.buffer_view.assert" in kept
    assert "hal.buffer_view.assert" in text_at("stream", ADD, "-O0")
    with pytest.raises(CompileError, match="contradicts"):
        options("-O1", "--iree-opt-level=O2")


def test_the_execution_model_decides_about_fences() -> None:
    assert "!hal.fence" in text_at("abi", ADD, "--iree-execution-model=async-external")
    assert "!hal.fence" not in text_at("abi", ADD, "--iree-execution-model=async-internal")


def test_command_buffers_are_kept_unless_told_otherwise() -> None:
    assert "memoize" in text_at("hal", ADD)
    assert "memoize" not in text_at("hal", ADD, "--iree-hal-memoization=false")
    assert "memoize" not in text_at("hal", ADD, "--iree-hal-indirect-command-buffers=false")


def test_executables_are_linked_unless_told_otherwise() -> None:
    count = "hal.executable.variant"
    assert text_at("executable-sources", TWO).count(count) < text_at(
        "executable-sources", TWO, "--iree-hal-link-executables=false"
    ).count(count)


def test_debug_information_makes_files_larger() -> None:
    full = build(TWO)
    assert len(build(TWO, "--iree-llvmcpu-debug-symbols=false")) < len(full)
    assert len(build(TWO, "--iree-vm-bytecode-module-strip-source-map")) < len(full)
    assert len(build(TWO, "--iree-hal-executable-debug-level=0")) < len(full)
    with pytest.raises(CompileError, match="levels are 0 to 3"):
        build(TWO, "--iree-hal-executable-debug-level=4")


def test_the_container_is_a_zip_unless_told_otherwise() -> None:
    assert zipfile.is_zipfile(BytesIO(build(ADD)))
    assert not zipfile.is_zipfile(BytesIO(build(ADD, "--iree-vm-emit-polyglot-zip=false")))


def test_debug_instructions_are_stripped() -> None:
    from tiree.dialects import read_module
    from tiree.pipeline import emit

    text = text_at("vm", ADD, GENERIC, "--mlir-print-op-generic")
    line = next(line for line in text.splitlines() if '"vm.return"' in line)
    traced = text.replace(line, f'    "vm.trace"() {{event_name = "here"}} : () -> ()\n{line}', 1)
    module = read_module(traced)
    emit(module, options("--iree-vm-bytecode-module-strip-debug-ops"))
    assert "vm.trace" not in [op.name for op in module.walk()]
    assert "vm.return" in [op.name for op in module.walk()]


def test_the_vm_program_as_text(tmp_path: Path) -> None:
    listing = tmp_path / "add.vm.mlir"
    build(ADD, f"--iree-vm-bytecode-source-listing={listing}")
    assert "vm.module" in listing.read_text()
    assert b"vm.module" in build(ADD, "--iree-vm-bytecode-module-output-format=mlir-text")
    with pytest.raises(CompileError, match="needs the vm phase"):
        build(ADD, f"--iree-vm-bytecode-source-listing={listing}", "--compile-to=flow")


def test_compile_from_carries_on_and_gives_the_same_module() -> None:
    flags = ["--iree-vm-bytecode-module-strip-source-map", "--iree-hal-executable-debug-level=0"]
    flags.append("--iree-llvmcpu-debug-symbols=false")
    half = build(ADD, *flags, "--compile-to=flow", "--mlir-print-op-generic").decode()
    rest = text_at("vm", half, *flags, GENERIC, "--compile-from=flow", "--mlir-print-op-generic")
    assert rest == text_at("vm", ADD, *flags, GENERIC, "--mlir-print-op-generic")
    with pytest.raises(CompileError, match="contradicts"):
        build(ADD, "--compile-mode=vm", "--compile-from=flow")


def test_dumped_executables(tmp_path: Path) -> None:
    build(TWO, f"--iree-hal-dump-executable-files-to={tmp_path}")
    names = [path.name for path in tmp_path.iterdir()]
    assert any(name.endswith(".so") for name in names)
    assert any(name.endswith(".mlir") for name in names)
    assert any(name.endswith((".ll", ".s", ".o")) for name in names)
    for kind, suffix in (("sources", ".mlir"), ("configurations", ".mlir"), ("binaries", ".so")):
        folder = tmp_path / kind
        build(ADD, f"--iree-hal-dump-executable-{kind}-to={folder}")
        assert {path.suffix for path in folder.iterdir()} == {suffix}
    folder = tmp_path / "intermediates"
    build(ADD, f"--iree-hal-dump-executable-intermediates-to={folder}")
    assert list(folder.iterdir())


def test_printing_while_compiling(capsys: pytest.CaptureFixture[str]) -> None:
    text_at("abi", ADD, "--mlir-print-ir-after-all")
    after = capsys.readouterr().err
    assert "IR Dump After" in after
    text_at("abi", ADD, "--mlir-print-ir-before-all", "--mlir-print-op-generic")
    before = capsys.readouterr().err
    assert "IR Dump Before" in before
    assert '"stablehlo.add"' in before
    text_at("abi", ADD, "--mlir-print-ir-after=tiree-stablehlo-to-linalg")
    assert capsys.readouterr().err.count("IR Dump After") == 1
    text_at("abi", ADD, "--mlir-print-ir-before=tiree-stablehlo-to-linalg")
    assert capsys.readouterr().err.count("IR Dump Before") == 1
    text_at("abi", ADD, "--mlir-print-ir-after-all", "--mlir-print-ir-after-change")
    assert capsys.readouterr().err.count("IR Dump After") < after.count("IR Dump After")
    with pytest.raises(CompileError, match="no pass 'nothing'"):
        text_at("abi", ADD, "--mlir-print-ir-after=nothing")


def test_what_is_printed_can_be_shaped() -> None:
    text = ADD.replace("stablehlo.add %a, %b", "stablehlo.add %a, %c").replace(
        "  %0", "  %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n  %0"
    )
    assert "__elided__" in text_at("input", text, "--mlir-elide-elementsattrs-if-larger=3")
    assert "__elided__" not in text_at("input", text)
    assert 'loc("m.mlir":' in text_at("input", text, "--mlir-print-debuginfo")
    assert text_at("input", text, "--mlir-print-op-generic").startswith('"builtin.module"')


def test_timing_and_phase_dumps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text_at("abi", ADD, "--mlir-timing", f"--dump-compilation-phases-to={tmp_path}")
    assert "Execution time report" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.1.input.mlir", "m.2.abi.mlir"]


def test_threading_can_be_switched_off() -> None:
    assert options("--mlir-disable-threading").threads == 1
    assert options().threads == 0
    assert build(TWO, "--mlir-disable-threading") == build(TWO)


def test_the_report_has_the_plan_of_time_and_memory(tmp_path: Path) -> None:
    """What was fused, what may run side by side, and where each transient lies while it lives."""
    build(CHAIN, f"--tiree-report={tmp_path / 'r.json'}")
    report = json.loads((tmp_path / "r.json").read_text())
    fused = [row["ops"] for row in report["dispatches"] if any("tanh" in op for op in row["ops"])]
    assert any("1 of them reduced" in op for op in fused[0])
    (execution,) = report["executions"]
    assert sorted(map(len, execution["steps"])) == [1, 1, 2]
    (plan,) = report["memory"]
    size = 64 * 64 * 4
    assert plan["slab_bytes"] == plan["max_live_bytes"] == 3 * size
    assert sorted((t["size"], t["last"]) for t in plan["tensors"]) == [(size, 2), (size, 3), (size, 3)]
    assert len({t["offset"] for t in plan["tensors"]}) == 3
    build(CHAIN, f"--tiree-report={tmp_path / 'r.txt'}")
    text = (tmp_path / "r.txt").read_text()
    assert f"slab of {3 * size} bytes, at most {3 * size} live, 4 commands" in text
    assert " | dispatch main_dispatch_" in text


def test_the_report_names_every_dispatch(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    build(TWO, f"--tiree-report={path}")
    report = json.loads(path.read_text())
    assert len(report["dispatches"]) >= 2
    for row in report["dispatches"]:
        assert row["strategy"]
        assert len(row["workgroups"]) == 3
        assert row["flops"] > 0
        assert row["bytes"] > 0
        assert row["call_sites"] >= 1
    assert sum(report["binary_bytes"].values()) > 0


def test_flags_that_do_not_change_the_module_are_not_recorded(tmp_path: Path) -> None:
    assert build(ADD) == build(ADD, f"--tiree-report={tmp_path / 'r'}", "--mlir-disable-threading")
    assert options("--mlir-timing", "-o", "x", GENERIC).recorded_flags == ("llvmcpu-target-cpu=generic",)
