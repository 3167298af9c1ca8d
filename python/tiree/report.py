"""The compile report (`--tiree-report=FILE`): every dispatch, what was fused into it, and the plan of time and memory.

An observer gathers the facts while they are in the IR: what each dispatch computes when `flow` ends, the executions
with their concurrent commands and the memory plan when `stream` ends, strategies after `executable-configurations`,
sizes of the machine code after `executable-targets`. A FILE that ends in `.txt` gets text, every other one JSON.
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
        self._fused: dict[str, list[str]] = {}
        self._executions: list[dict[str, Any]] = []
        self._memory: list[dict[str, Any]] = []

    def after_phase(self, phase: Phase, module: ModuleOp) -> None:
        match phase.name:
            case "flow":
                self._note_fusion(module)
            case "stream":
                self._count_calls(module)
                self._note_executions(module)
            case "executable-configurations" | "executable-targets":
                self._collect(module)
            case _:
                pass

    def _count_calls(self, module: ModuleOp) -> None:
        for op in module.walk():
            if op.name == "stream.cmd.dispatch":
                for entry in array_of(op.properties["entry_points"]):
                    self._calls[symbol_of(entry).rpartition(".")[2]] += 1

    def _note_fusion(self, module: ModuleOp) -> None:
        """The structured ops of each dispatch, by the number of their loops and reductions."""
        for executable in module.body.block.ops:
            if executable.name != "flow.executable":
                continue
            for function in executable.walk():
                if function.name in ("func.func", "util.func"):
                    self._fused[symbol_name(function)] = [
                        _description(op) for op in function.walk() if op.name.startswith("linalg.") and op.regions
                    ]

    def _note_executions(self, module: ModuleOp) -> None:
        """The executions of each function, the commands of each that may run side by side, and its slab."""
        from tiree.stream import memory_report

        for function in module.body.block.ops:
            for op in function.walk():
                if op.name == "stream.cmd.execute":
                    commands = [inner for inner in op.regions[0].block.ops if inner.name != "stream.yield"]
                    self._executions.append({"function": symbol_name(function), "steps": [_step(c) for c in commands]})
        for plan in memory_report(module):
            tensors = [vars(tensor) for tensor in plan.tensors]
            self._memory.append({**vars(plan), "tensors": tensors})

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
            rows.append({**row, "call_sites": self._calls.get(export, 0), "ops": self._fused.get(export, [])})
        return {
            "tiree": VERSION,
            "dispatches": rows,
            "executions": self._executions,
            "memory": self._memory,
            "binary_bytes": dict(sorted(self._binaries.items())),
        }

    def text(self) -> str:
        """The report as JSON."""
        return json.dumps(self.data(), indent=2) + "\n"

    def write(self, path: str) -> None:
        """Writes the file, in the form that its name asks for."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.plain_text() if path.endswith(".txt") else self.text())

    def plain_text(self) -> str:
        """The report for reading."""
        data = self.data()
        lines = [f"tiree {data['tiree']}", "", "dispatches"]
        for row in data["dispatches"]:
            work = f"{row.get('flops', 0)} flops, {row.get('bytes', 0)} bytes, {row['call_sites']} call sites"
            lines.append(
                f"  {row['export']}: {row.get('strategy', 'none')}, workgroups {row.get('workgroups')}, {work}"
            )
            lines += [f"    {op}" for op in row["ops"]]
        lines += ["", "executions"]
        for execution in data["executions"]:
            lines.append(f"  @{execution['function']}")
            lines += [f"    {number}: {' | '.join(step)}" for number, step in enumerate(execution["steps"])]
        lines += ["", "memory"]
        for plan in data["memory"]:
            lines.append(
                f"  @{plan['function']}: slab of {plan['slab_bytes']} bytes, at most {plan['max_live_bytes']} live, "
                f"{plan['commands']} commands"
            )
            lines += [
                f"    bytes {t['offset']}..{t['offset'] + t['size']} during commands {t['first']}..{t['last']}"
                for t in plan["tensors"]
            ]
        lines += ["", "machine code"]
        lines += [f"  {name}: {size} bytes" for name, size in data["binary_bytes"].items()]
        return "\n".join(lines) + "\n"


def _description(op: Operation) -> str:
    """`linalg.generic, 3 loops, 1 of them reduced: arith.mulf arith.addf`."""
    body = [inner.name for inner in op.regions[0].block.ops if inner.name not in ("linalg.yield", "arith.constant")]
    iterators = op.properties.get("iterator_types")
    kinds = [str(kind) for kind in array_of(iterators)] if iterators is not None else []
    reduced = sum("reduction" in kind for kind in kinds)
    loops = f", {len(kinds)} loops" if kinds else ""
    return f"{op.name}{loops}{f', {reduced} of them reduced' if reduced else ''}: {' '.join(body) or 'copies'}"


def _step(op: Operation) -> list[str]:
    """The commands that may run side by side at one step of an execution."""
    if op.name == "stream.cmd.concurrent":
        return [name for inner in op.regions[0].block.ops if inner.name != "stream.yield" for name in _step(inner)]
    if op.name == "stream.cmd.dispatch":
        return ["dispatch " + symbol_of(array_of(op.properties["entry_points"])[0]).rpartition(".")[2]]
    return [op.name.rpartition(".")[2]]


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
