"""Runs programs through the input and flow stages and hands the result to the real IREE tools: the oracle here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from iree_tools import iree

__all__ = ["iree"]


@dataclass
class FlowResult:
    """What the flow stage made of a program."""

    text: str
    """The module at phase `flow`, generic form."""
    dispatch_creation: str
    """The module at phase `dispatch-creation`, generic form."""

    def count(self, op: str) -> int:
        return self.text.count(f'"{op}"(')


def run_flow(text: str, verify: bool = True) -> FlowResult:
    """`text` (StableHLO or linalg) through input, abi, preprocessing, global-optimization, dispatch-creation, flow."""
    from tiree.dialects import get_context, print_module, read_module
    from tiree.flow import (
        dispatch_creation_passes,
        flow_passes,
        global_optimization_passes,
        preprocessing_passes,
    )
    from tiree.hal import assign_target_passes
    from tiree.input import abi_passes, input_passes
    from tiree.support.options import CompileOptions

    context = get_context()
    module = read_module(text, context)
    options = CompileOptions()
    phases = (
        [*input_passes(options), *abi_passes(options), *assign_target_passes(options)],
        [*preprocessing_passes(options), *global_optimization_passes(options), *dispatch_creation_passes(options)],
        flow_passes(options),
    )
    printed = []
    for passes in phases:
        for one in passes:
            one.apply(context, module)
            if verify:
                module.verify()
        printed.append(print_module(module))
    return FlowResult(printed[2], printed[1])


@pytest.fixture
def flow() -> Callable[..., FlowResult]:
    """`run_flow(text, verify=True)`."""
    return run_flow
