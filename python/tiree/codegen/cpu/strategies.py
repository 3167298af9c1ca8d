"""The ordered list of CPU strategies; the first that matches a dispatch gets it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiree.codegen.common.graph import DispatchInfo
from tiree.codegen.cpu.contraction import BlockedContraction
from tiree.codegen.cpu.fallback import ScalarFallback
from tiree.codegen.cpu.nested import NEST_STRATEGIES
from tiree.codegen.cpu.scan import Scan
from tiree.codegen.cpu.strategy import Strategy
from tiree.support.cpu_target import TargetDescription

STRATEGIES: tuple[Strategy, ...] = (BlockedContraction(), Scan(), *NEST_STRATEGIES, ScalarFallback())


def choose(info: DispatchInfo, target: TargetDescription, before: Sequence[Strategy] = ()) -> tuple[Strategy, Any]:
    """The first matching strategy and its configuration; those `before` Tiree's own are asked first.

    Raises `CompileError` when not even the fallback can.
    """
    for strategy in (*before, *STRATEGIES):
        config = strategy.match(info, target)
        if config is not None:
            return strategy, config
    raise AssertionError("the fallback matches everything")


def strategy_named(name: str, before: Sequence[Strategy] = ()) -> Strategy | None:
    return next((s for s in (*before, *STRATEGIES) if s.name == name), None)
