"""Tiree's hal stage between IREE's kernels and IREE's vm: what it makes of a schedule runs and is right."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiree.hal import executable_sources_passes, hal_passes
from tiree.stream import stream_passes
from tiree.support.errors import CompileError
from tiree.support.options import CompileOptions

from tests.hal.iree_codegen import compile_executables
from tests.stream.flow_kernels import ADD4, DOUBLE4, FlowProgram
from tests.stream.flow_programs import PROGRAMS, X4
from tests.stream.stream_harness import apply, count, expect, iree_compile, iree_opt, print_module, read, run_vmfb

BY_NAME = {program.name: program for program in PROGRAMS}


def sources(program: FlowProgram, options: CompileOptions):
    return apply(read(program.text), [*stream_passes(options), *executable_sources_passes(options)])


def lowered(program: FlowProgram, folder: Path, options: CompileOptions):
    module = sources(program, options)
    compile_executables(module, folder)
    return apply(module, hal_passes(options))


@pytest.mark.parametrize(
    ("name", "memoize"),
    [
        ("chain", False),
        ("while_on_device_data", True),
        ("while_on_device_data", False),
        ("constants_globals_and_aliases", True),
    ],
)
def test_iree_carries_hal_on(name: str, memoize: bool, tmp_path: Path) -> None:
    program = BY_NAME[name]
    module = lowered(program, tmp_path, CompileOptions(hal_memoization=memoize))
    created = count(module, "hal.command_buffer.create")
    assert (created == 0) == memoize
    artifact = iree_compile(print_module(module, generic=True), "--compile-from=hal")
    for driver in ("local-sync", "local-task"):
        expect(run_vmfb(artifact, program.inputs, driver), program.expected(*program.inputs))


@pytest.mark.parametrize(
    "name", ["select_and_barrier", "slices_and_booleans", "loop_updates_in_place", "splats_of_every_width"]
)
def test_functions_by_ordinal(name: str, tmp_path: Path) -> None:
    program = BY_NAME[name]
    options = CompileOptions(hal_executable_debug_level=0)
    module = sources(program, options)
    if program.kernels and any(op.name == "hal.executable" for op in module.ops):
        compile_executables(module, tmp_path)
    module = apply(module, hal_passes(options))
    text = print_module(module, generic=True)
    assert "hal.executable.lookup.function" not in text
    expect(run_vmfb(iree_compile(text, "--compile-from=hal"), program.inputs), program.expected(*program.inputs))


@pytest.mark.parametrize("link", [True, False])
def test_executables_are_linked_or_not(link: bool) -> None:
    program = BY_NAME["chain"]
    module = sources(program, CompileOptions(hal_link_executables=link))
    executables = [op for op in module.ops if op.name == "hal.executable"]
    assert len(executables) == (1 if link else 2)
    artifact = iree_compile(print_module(module, generic=True), "--compile-from=executable-sources")
    expect(run_vmfb(artifact, program.inputs), program.expected(*program.inputs))


def test_the_loop_condition_is_written_where_the_host_reads_it(tmp_path: Path) -> None:
    module = lowered(BY_NAME["while_on_device_data"], tmp_path, CompileOptions())
    assert count(module, "hal.device.queue.dealloca") == 0
    assert count(module, "hal.buffer.load") == 1
    assert "copy_buffer" not in print_module(module, generic=True)


def test_straight_line_call_is_one_submission(tmp_path: Path) -> None:
    module = lowered(BY_NAME["chain"], tmp_path, CompileOptions())
    assert count(module, "hal.device.queue.execute.indirect") == 1
    assert count(module, "hal.fence.await") == 1
    text = print_module(module, generic=True)
    assert text.count('"hal.command_buffer.execution_barrier"') == 3
    assert iree_opt(text)


ASYNC = FlowProgram(
    "async",
    (DOUBLE4, ADD4),
    """util.func public @main(%a: !hal.buffer_view, %w: !hal.fence, %s: !hal.fence) -> !hal.buffer_view {
  %0 = hal.tensor.import wait(%w) => %a "input0" : !hal.buffer_view -> tensor<4xf32>
  %1 = flow.dispatch @double4::@double4(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = flow.dispatch @add4::@add4(%1, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = hal.tensor.barrier join(%2 : tensor<4xf32>) => %s : !hal.fence
  %4 = hal.tensor.export %3 "output0" : tensor<4xf32> -> !hal.buffer_view
  util.return %4 : !hal.buffer_view
}""",
    (X4,),
    lambda x: (3 * x,),
)


def test_coarse_fences(tmp_path: Path) -> None:
    module = lowered(ASYNC, tmp_path, CompileOptions(execution_model="async-external"))
    assert count(module, "hal.fence.await") == 0
    text = print_module(module, generic=True)
    artifact = tmp_path / "async.vmfb"
    reflection = '{iree.abi.stub, iree.reflection = {iree.abi.model = "coarse-fences"}}'
    head, tail = text.rsplit("}) : () -> ()\n})", 1)
    artifact.write_bytes(iree_compile(f"{head}}}) {reflection} : () -> ()\n}}){tail}", "--compile-from=hal"))
    command = [str(Path(sys.executable).parent / "iree-run-module"), f"--module={artifact}", "--function=main"]
    command += ["--device=local-task", "--input=4xf32=1.5 -2 3.25 0.5", "--expected_output=4xf32=4.5 -6 9.75 1.5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    np.testing.assert_array_equal(ASYNC.expected(X4)[0], 3 * X4)


def test_uncompiled_executables_are_named() -> None:
    options = CompileOptions()
    with pytest.raises(CompileError, match="machine code"):
        apply(sources(BY_NAME["chain"], options), hal_passes(options))
