"""The phase list, running parts of it, observers, and how faults of programs and of passes are told apart."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import pytest
from tiree.dialects import get_context, print_module, read_module
from tiree.pipeline import PHASE_NAMES, PHASES, PipelineObserver, run_passes, run_pipeline, verify_module
from tiree.pipeline_observers import DumpPhases, PrintIR, Timing, VerifyEach
from tiree.support.errors import CompileError, Diagnostic, InternalError
from tiree.support.options import CompileOptions
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

ADD = """
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@dataclass(frozen=True)
class Mark(ModulePass):
    """Puts an attribute on the module."""

    name = "test-mark"
    value: str = "x"

    def apply(self, ctx: Any, op: ModuleOp) -> None:
        del ctx
        op.attributes["mark"] = StringAttr(self.value)


@dataclass(frozen=True)
class Broken(ModulePass):
    """Fails as a bug would."""

    name = "test-broken"

    def apply(self, ctx: Any, op: ModuleOp) -> None:
        del ctx, op
        raise KeyError("no such thing")


@dataclass(frozen=True)
class Refusing(ModulePass):
    """Fails as a wrong program would."""

    name = "test-refusing"

    def apply(self, ctx: Any, op: ModuleOp) -> None:
        del ctx, op
        raise CompileError(Diagnostic("not supported", "m.mlir:1:1", "do that"))


def test_phases_are_those_of_iree_compile() -> None:
    assert PHASE_NAMES == (
        "start", "input", "abi", "preprocessing", "global-optimization", "dispatch-creation", "flow", "stream",
        "executable-sources", "executable-configurations", "executable-targets", "hal", "vm", "end",
    )  # fmt: skip
    assert all(phase.description for phase in PHASES)


def test_every_pass_of_the_pipeline_has_a_name_of_its_own_kind() -> None:
    for phase in PHASES:
        for one in phase.passes(CompileOptions()):
            assert one.name.startswith("tiree-"), one


def test_the_pipeline_stops_and_resumes_at_any_phase() -> None:
    options = CompileOptions(llvmcpu_target_cpu="generic")
    straight = run_pipeline(read_module(ADD), options, "start", "flow")
    halfway = run_pipeline(read_module(ADD), options, "start", "abi")
    resumed = run_pipeline(read_module(print_module(halfway)), options, "abi", "flow")
    assert print_module(resumed) == print_module(straight)


def test_going_backwards_is_refused() -> None:
    with pytest.raises(CompileError, match="cannot compile from flow to abi"):
        run_pipeline(read_module(ADD), CompileOptions(), "flow", "abi")
    with pytest.raises(CompileError, match="no phase 'flows'"):
        run_pipeline(read_module(ADD), CompileOptions(), "start", "flows")


def test_a_wrong_program_and_a_wrong_pass_are_different_errors() -> None:
    module = read_module(ADD)
    with pytest.raises(InternalError, match="pass test-broken: KeyError") as fault:
        run_passes(module, [Mark(), Broken()], get_context())
    assert fault.value.culprit == "test-broken"
    with pytest.raises(CompileError, match=r"m.mlir:1:1: error: not supported\n  do that"):
        run_passes(module, [Refusing()], get_context())


def test_an_invalid_module_names_the_operation_and_its_place() -> None:
    module = read_module('func.func @f() {\n  %0 = "arith.constant"() : () -> i32\n  return\n}\n', filename="m.mlir")
    with pytest.raises(CompileError) as caught:
        verify_module(module)
    assert str(caught.value).startswith("m.mlir:2:8: error: arith.constant is not valid")
    with pytest.raises(InternalError, match="not valid after pass p"):
        verify_module(module, "pass p")


class Recorder(PipelineObserver):
    """Notes everything that it is told."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def before_pass(self, one: ModulePass, module: ModuleOp) -> None:
        del module
        self.events.append(f"before {one.name}")

    def after_pass(self, one: ModulePass, module: ModuleOp, seconds: float) -> None:
        del module
        assert seconds >= 0
        self.events.append(f"after {one.name}")

    def after_phase(self, phase: Any, module: ModuleOp) -> None:
        del module
        self.events.append(f"phase {phase.name}")

    def finish(self) -> None:
        self.events.append("finish")


def test_observers_see_passes_and_phases_in_order() -> None:
    recorder = Recorder()
    run_pipeline(read_module(ADD), CompileOptions(), "start", "abi", observers=[recorder])
    assert recorder.events[0].startswith("before ")
    assert [event for event in recorder.events if event.startswith("phase")] == ["phase input", "phase abi"]
    assert recorder.events[-1] == "finish"
    befores = [event[7:] for event in recorder.events if event.startswith("before")]
    assert befores == [event[6:] for event in recorder.events if event.startswith("after")]


def test_observers_are_finished_when_a_pass_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    import tiree.pipeline as pipeline

    broken = pipeline.Phase("input", "breaks", lambda _: [Broken()])
    monkeypatch.setattr(pipeline, "PHASES", (PHASES[0], broken, *PHASES[2:]))
    recorder = Recorder()
    with pytest.raises(InternalError):
        run_pipeline(read_module(ADD), CompileOptions(), observers=[recorder])
    assert recorder.events == ["before test-broken", "finish"]


def test_ir_is_printed_before_and_after_the_named_passes() -> None:
    stream = io.StringIO()
    observer = PrintIR(before=["test-mark"], after=None, generic=True, stream=stream)
    run_passes(read_module(ADD), [Mark(), Mark("y")], get_context(), [observer])
    text = stream.getvalue()
    assert text.count("IR Dump Before Mark (test-mark)") == 2
    assert text.count("IR Dump After Mark (test-mark)") == 2
    assert text.index('"builtin.module"') > 0
    assert '{mark = "y"}' in text


def test_ir_is_printed_only_after_changes() -> None:
    stream = io.StringIO()
    observer = PrintIR(after=None, only_changes=True, stream=stream)
    run_passes(read_module(ADD), [Mark(), Mark(), Mark("y")], get_context(), [observer])
    assert stream.getvalue().count("IR Dump After") == 2


def test_timing_lists_every_pass() -> None:
    stream = io.StringIO()
    timing = Timing(stream)
    timing.after_step("read", 0.25)
    run_passes(read_module(ADD), [Mark()], get_context(), [timing])
    timing.report()
    lines = stream.getvalue().splitlines()
    assert any(line.endswith("test-mark") for line in lines)
    assert any(line.endswith("  read") and "0.2500" in line for line in lines)
    assert lines[-1].endswith("Total")


def test_phases_are_dumped_as_files_that_can_be_read(tmp_path: Any) -> None:
    run_pipeline(
        read_module(ADD), CompileOptions(), "start", "abi", observers=[DumpPhases(str(tmp_path), "add", generic=True)]
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["add.1.input.mlir", "add.2.abi.mlir"]
    read_module(tmp_path / "add.2.abi.mlir").verify()


def test_verification_after_each_pass_finds_what_was_left_behind() -> None:
    class Forgetful(ModulePass):
        name = "test-forgetful"

        def apply(self, ctx: Any, op: ModuleOp) -> None:
            del ctx
            next(inner for inner in op.walk() if inner.name == "arith.addi").detach()

    text = "func.func @f(%a: i32) {\n %0 = arith.addi %a, %a : i32\n return\n}\n"
    with pytest.raises(InternalError, match=r"test-forgetful left arith\.addi behind"):
        run_passes(read_module(text), [Forgetful()], get_context(), [VerifyEach()])


def test_verification_after_each_pass_names_it() -> None:
    @dataclass(frozen=True)
    class Spoiling(ModulePass):
        name = "test-spoiling"

        def apply(self, ctx: Any, op: ModuleOp) -> None:
            del ctx
            next(iter(op.walk(region_first=True))).properties.clear()

    text = "func.func @f() {\n %0 = arith.constant 1 : i32\n return\n}\n"
    with pytest.raises(InternalError, match="test-spoiling"):
        run_passes(read_module(text), [Spoiling()], get_context(), [VerifyEach()])
