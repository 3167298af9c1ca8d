"""The stream stage: when device work happens, and in what memory.

In: `flow` (dispatches of outlined executables on tensors). Out: `stream` executions with timepoints; every transient of
an execution lies in one packed slab; constants are one resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from tiree.stream.report import DynamicMemory, ExecutionMemory
    from tiree.support.options import CompileOptions


def stream_passes(options: CompileOptions) -> list[ModulePass]:
    """The passes of the phase `stream`, in order."""
    from tiree.stream.convert_executables import ConvertExecutablesPass
    from tiree.stream.copy_on_write import CopyOnWritePass
    from tiree.stream.lower_control_flow import LowerControlFlowPass
    from tiree.stream.schedule import SchedulePass

    return [
        ConvertExecutablesPass(),
        LowerControlFlowPass(),
        CopyOnWritePass(),
        SchedulePass(strip_assertions=options.strip_assertions),
    ]


def memory_report(module: ModuleOp) -> list[ExecutionMemory]:
    """The memory plan of every execution of a module in `stream` form."""
    from tiree.stream.report import memory_report as report

    return report(module)


def dynamic_memory(module: ModuleOp) -> list[DynamicMemory]:
    """The transients of a module in `stream` form whose sizes are known when it runs."""
    from tiree.stream.report import dynamic_memory as report

    return report(module)
