"""Every flow program, scheduled by Tiree, carried on by iree-compile and run by iree.runtime, against numpy."""

import pytest
from tiree.stream import memory_report, stream_passes
from tiree.support.options import CompileOptions

from tests.stream.flow_kernels import FlowProgram
from tests.stream.flow_programs import PROGRAMS
from tests.stream.stream_harness import apply, count, expect, iree_compile, iree_opt, print_module, read, run_vmfb

BY_NAME = {program.name: program for program in PROGRAMS}


def scheduled(program: FlowProgram, **options: bool):
    return apply(read(program.text), stream_passes(CompileOptions(**options)))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_iree_carries_the_schedule_on(program: FlowProgram) -> None:
    text = print_module(scheduled(program), generic=True)
    artifact = iree_compile(text, "--compile-from=stream")
    expect(run_vmfb(artifact, program.inputs), program.expected(*program.inputs))


def test_straight_line_work_is_one_execution() -> None:
    module = scheduled(BY_NAME["chain"])
    assert count(module, "stream.cmd.execute") == 1
    assert count(module, "stream.cmd.dispatch") == 4
    (report,) = memory_report(module)
    assert report.max_live_bytes == report.slab_bytes == 3 * 64
    assert [(t.first, t.last) for t in report.tensors] == [(0, 2), (1, 2), (2, 3)]


def test_parts_of_a_concatenation_are_written_where_they_belong() -> None:
    module = scheduled(BY_NAME["concatenate_in_place"])
    assert count(module, "stream.cmd.copy") == 0
    assert count(module, "stream.cmd.concurrent") == 1
    assert memory_report(module) == []


@pytest.mark.parametrize("name", ["loop_updates_in_place", "tied_dispatch_in_a_loop"])
def test_what_a_loop_writes_is_copied_before_the_loop_only(name: str) -> None:
    module = scheduled(BY_NAME[name])
    (main,) = [op for op in module.ops if op.name == "util.func"]
    entry, *others = main.regions[0].blocks
    allocated = [op.name for block in others[1:2] for op in block.ops if op.name == "stream.resource.alloca"]
    assert allocated == (["stream.resource.alloca"] if name == "loop_updates_in_place" else [])
    inside = [op for block in others for op in block.walk() if op.name == "stream.cmd.fill"]
    assert len(inside) <= 1, "the export of the constant is the only fill after the loop"
    assert entry.last_op is not None


def test_only_the_condition_is_read_back() -> None:
    module = scheduled(BY_NAME["while_on_device_data"])
    assert count(module, "stream.resource.load") == 1
    loads = [op for f in module.ops if f.name == "util.func" for op in f.walk() if op.name == "stream.resource.load"]
    assert str(loads[0].results[0].type) == "i1"


def test_assertions_can_be_stripped() -> None:
    assert count(scheduled(BY_NAME["chain"]), "hal.buffer_view.assert") == 1
    assert count(scheduled(BY_NAME["chain"], strip_assertions=True), "hal.buffer_view.assert") == 0


def test_the_same_program_gives_the_same_text() -> None:
    program = BY_NAME["branches_and_switch"]
    first, second = (print_module(scheduled(program), generic=True) for _ in range(2))
    assert first == second
    assert iree_opt(first)
