"""The compile report (`--tiree-report=FILE`): for every dispatch its strategy, workgroups, flops and bytes.

An observer gathers the facts while they are in the IR: counts and strategies after `executable-configurations`, sizes
of the machine code after `executable-targets`, where the dispatches are called from when `stream` ends.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from tiree.pipeline import Phase, PipelineObserver
from tiree.support.typed import array_of, int_of, string_of, symbol_name, symbol_of
from tiree.version import VERSION

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation


class Report(PipelineObserver):
    """Collects the report; `text()` is the JSON."""

    def __init__(self) -> None:
        self._dispatches: dict[tuple[str, str], dict[str, Any]] = {}
        self._calls: Counter[str] = Counter()
        self._binaries: dict[str, int] = {}

    def after_phase(self, phase: Phase, module: ModuleOp) -> None:
        match phase.name:
            case "stream":
                self._count_calls(module)
            case "executable-configurations" | "executable-targets":
                self._collect(module)
            case _:
                pass

    def _count_calls(self, module: ModuleOp) -> None:
        for op in module.walk():
            if op.name == "stream.cmd.dispatch":
                for entry in array_of(op.properties["entry_points"]):
                    self._calls[symbol_of(entry).rpartition(".")[2]] += 1

    def _collect(self, module: ModuleOp) -> None:
        for executable in module.body.block.ops:
            if executable.name != "hal.executable":
                continue
            name = symbol_name(executable)
            for op in executable.walk():
                if op.name == "hal.executable.export":
                    self._collect_export(name, op)
                elif op.name == "hal.executable.binary":
                    data = op.properties["data"]
                    self._binaries[name] = len(getattr(data, "buffer", b""))

    def _collect_export(self, executable: str, op: Operation) -> None:
        export = symbol_name(op)
        row = self._dispatches.setdefault((executable, export), {"executable": executable, "export": export})
        attributes = {**op.properties, **op.attributes}
        if "tiree.strategy" in attributes:
            row["strategy"] = string_of(attributes["tiree.strategy"])
        for key in ("flops", "bytes"):
            if f"tiree.{key}" in attributes:
                row[key] = int_of(attributes[f"tiree.{key}"])
        workgroups = _workgroups(op)
        if workgroups is not None:
            row["workgroups"] = workgroups

    def data(self) -> dict[str, Any]:
        """The report as plain Python values, in a fixed order."""
        rows: list[dict[str, Any]] = []
        for (_, export), row in sorted(self._dispatches.items()):
            # A linked executable renames exports to `<dispatch>_<n>`; calls were counted by the name in `stream`.
            rows.append({**row, "call_sites": self._calls.get(export, 0)})
        return {"tiree": VERSION, "dispatches": rows, "binary_bytes": dict(sorted(self._binaries.items()))}

    def text(self) -> str:
        """The report as JSON."""
        return json.dumps(self.data(), indent=2) + "\n"


def _workgroups(op: Operation) -> list[int] | None:
    """The constant workgroup count that an export's region returns, or None while it is not constant."""
    from tiree.dialects.arith import constant_int

    for region in op.regions:
        block = region.blocks.last
        last = block.last_op if block is not None else None
        if last is not None and last.name == "hal.return":
            counts = [constant_int(value) for value in last.operands]
            if counts and all(count is not None for count in counts):
                return [count for count in counts if count is not None]
    return None
