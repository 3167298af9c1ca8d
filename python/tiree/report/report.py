"""What the report knows: an observer that gathers the facts while they are in the IR.

What each dispatch computes and what flows between them when `flow` ends, the executions with their concurrent commands
and the memory plan when `stream` ends, strategies after `executable-configurations`, sizes of the machine code after
`executable-targets`; after every pass what it changed.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from tiree.pipeline import PHASES, Phase, PipelineObserver
from tiree.support.replacing import replace_file
from tiree.support.typed import array_of, int_of, is_string, leaf_symbol_of, string_of, symbol_name
from tiree.version import VERSION

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation
    from xdsl.passes import ModulePass

    from tiree.report.kernels import Kernels
    from tiree.report.snapshots import Change, Snapshots
    from tiree.support.errors import CompileError

LOWERED = ("tiree-codegen-lower-to-kernels", "tiree-vmvx-lower-to-loops")
"""The passes after which kernels of their backend are loops, and still one function each."""


class Report(PipelineObserver):
    """Collects the report of one compilation; `data()` is all of it."""

    def __init__(self, source: str = "") -> None:
        """`source` names the program."""
        self._source = source
        self._dispatches: dict[tuple[str, str], dict[str, Any]] = {}
        self._calls: Counter[str] = Counter()
        self._binaries: dict[str, int] = {}
        self._variants: dict[str, list[dict[str, Any]]] = {}
        self._fused: dict[str, list[str]] = {}
        self._executions: list[dict[str, Any]] = []
        self._memory: list[dict[str, Any]] = []
        self._dynamic: list[dict[str, Any]] = []
        self._graphs: list[dict[str, Any]] = []
        self._rodata: list[tuple[str, str]] = []
        self._steps: list[dict[str, Any]] = []
        self._phase_steps = 0
        self._snapshots: Snapshots | None = None
        self._kernels: Kernels | None = None
        self._running = ""
        self._ended = ""
        self._error: dict[str, str] | None = None

    def begin(self) -> None:
        from tiree.report.kernels import Kernels
        from tiree.report.snapshots import Snapshots

        self._snapshots, self._kernels = Snapshots(), Kernels()

    def after_step(self, what: str, seconds: float) -> None:
        self._steps.append({"phase": "end" if self._phase_steps else "start", "name": what, "seconds": seconds})
        self._phase_steps = len(self._steps)

    def before_pass(self, one: ModulePass, module: ModuleOp) -> None:
        self._running = one.name
        if self._snapshots is not None and not any("pass" in step for step in self._steps):
            self._steps = self._steps or [{"phase": "start", "name": "read", "seconds": 0.0}]
            self._steps[-1].update(_change(self._snapshots.take(module)))
            self._phase_steps = len(self._steps)

    def after_pass(self, one: ModulePass, module: ModuleOp, seconds: float) -> None:
        change = _change(self._snapshots.take(module)) if self._snapshots is not None else {}
        self._steps.append({"phase": "", "name": one.name, "pass": True, "seconds": seconds, **change})
        self._running = ""
        if one.name in LOWERED and self._kernels is not None:
            self._kernels.note(module, "loops", getattr(one, "backend", ""))

    def after_phase(self, phase: Phase, module: ModuleOp) -> None:
        for step in self._steps[self._phase_steps :]:
            step["phase"] = phase.name
        self._phase_steps = len(self._steps)
        self._ended = phase.name
        match phase.name:
            case "flow":
                self._note_fusion(module)
                from tiree.report.graph import dispatch_graphs

                self._graphs = dispatch_graphs(module)
            case "stream":
                self._count_calls(module)
                self._note_executions(module)
            case "executable-configurations" | "executable-targets":
                self._collect(module)
                if phase.name == "executable-configurations":
                    from tiree.report.variants import variants

                    self._variants = variants(module)
                if phase.name == "executable-configurations" and self._kernels is not None:
                    self._kernels.note(module, "tensors")
            case "vm":
                self._note_rodata(module)
            case _:
                pass

    def _count_calls(self, module: ModuleOp) -> None:
        for op in module.walk():
            if op.name == "stream.cmd.dispatch":
                for entry in array_of(op.properties["entry_points"]):
                    self._calls[leaf_symbol_of(entry)] += 1

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
        from tiree.stream import dynamic_memory, memory_report

        for function in module.body.block.ops:
            for op in function.walk():
                if op.name == "stream.cmd.execute":
                    commands = [inner for inner in op.regions[0].block.ops if inner.name != "stream.yield"]
                    name = symbol_name(function) if "sym_name" in function.properties else "initializer"
                    self._executions.append({"function": name, "steps": [_step(c) for c in commands]})
        for plan in memory_report(module):
            tensors = [vars(tensor) for tensor in plan.tensors]
            self._memory.append({**vars(plan), "tensors": tensors})
        self._dynamic = [dict(vars(transient)) for transient in dynamic_memory(module)]

    def _note_rodata(self, module: ModuleOp) -> None:
        """The kind and the name of each segment of data that the file will have, in its order."""
        for op in (op for outer in module.body.block.ops for region in outer.regions for op in region.block.ops):
            if op.name == "vm.rodata":
                kind = "strings" if is_string(op.properties["value"]) else "data"
                is_code = op.properties.get("mime_type") is not None
                self._rodata.append(("machine code" if is_code else kind, symbol_name(op)))

    def _collect(self, module: ModuleOp) -> None:
        for executable in module.body.block.ops:
            if executable.name != "hal.executable":
                continue
            name = symbol_name(executable)
            first: Operation | None = None
            sizes: list[int] = []
            for op in executable.walk():
                if op.name == "hal.executable.variant":
                    first = first or op
                elif op.name == "hal.executable.export" and op.parent_op() is first:
                    self._collect_export(name, op)
                elif op.name == "hal.executable.binary":
                    sizes.append(len(getattr(op.properties["data"], "buffer", b"")))
            if sizes:
                self._binaries[name] = sum(sizes)

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

    def fail(self, error: CompileError, compile_from: str = "start") -> None:
        """The compilation has ended in an error: in the phase after the last that ended, and the pass that runs."""
        names = [phase.name for phase in PHASES]
        ended = self._ended or (compile_from if self._running else "")
        phase = names[min(names.index(ended) + 1, len(names) - 1)] if ended else "start"
        for step in self._steps[self._phase_steps :]:
            step["phase"] = phase
        self._error = {"phase": phase, "pass": self._running, "message": str(error)}

    def data(self, artifact: bytes | None = None) -> dict[str, Any]:
        """The report as plain Python values, in a fixed order. `artifact` is the compiled file."""
        from tiree.report.artifact import artifact_parts

        rows: list[dict[str, Any]] = []
        for (executable, export), row in sorted(self._dispatches.items()):
            # A linked executable renames exports to `<dispatch>_<n>`; calls were counted by the name in `stream`.
            row = {**row, "call_sites": self._calls.get(export, 0), "ops": self._fused.get(export, [])}
            kernels = self._kernels.of(executable, export) if self._kernels is not None else []
            rows.append({**row, "kernels": kernels})
        used: set[str] = {step["phase"] for step in self._steps}
        if self._error is not None:
            used.add(self._error["phase"])
        return {
            "tiree": VERSION,
            "source": self._source,
            "error": self._error,
            "dispatches": rows,
            "graphs": self._graphs,
            "executions": self._executions,
            "memory": self._memory,
            "dynamic_memory": self._dynamic,
            "variants": dict(sorted(self._variants.items())),
            "binary_bytes": dict(sorted(self._binaries.items())),
            "artifact": artifact_parts(artifact, self._rodata) if artifact is not None else {"bytes": 0, "parts": []},
            "phases": [{"name": p.name, "description": p.description} for p in PHASES if p.name in used],
            "passes": self._steps,
        }

    def write(self, path: str, artifact: bytes | None = None) -> None:
        """Writes the file, in the form that its name asks for."""
        data = self.data(artifact)
        if path.endswith((".html", ".htm")):
            from tiree.report.html import page

            text = page(data)
        elif path.endswith(".txt"):
            from tiree.report.text import plain_text

            text = plain_text(data)
        else:
            text = json.dumps(data, indent=2) + "\n"
        replace_file(path, text.encode())


def _change(change: Change | None) -> dict[str, Any]:
    """A change as the report has it: nothing but the number of ops where nothing changed."""
    if change is None:
        return {"compared": False}
    if change.is_empty:
        return {"ops": change.ops}
    fields = {key: value for key, value in vars(change).items() if value not in ([], {}, None)}
    return {**fields, "added": change.added, "removed": change.removed}


def _description(op: Operation) -> str:
    """`linalg.generic, 3 loops, 1 of them reduced: arith.mulf arith.addf`."""
    body = [inner.name for inner in op.regions[0].block.ops if inner.name not in ("linalg.yield", "arith.constant")]
    iterators = op.properties.get("iterator_types")
    kinds = [str(kind) for kind in array_of(iterators)] if iterators is not None else []
    reduced = sum("reduction" in kind for kind in kinds)
    loops = f", {len(kinds)} loop{'' if len(kinds) == 1 else 's'}" if kinds else ""
    return f"{op.name}{loops}{f', {reduced} of them reduced' if reduced else ''}: {' '.join(body) or 'copies'}"


def _step(op: Operation) -> list[str]:
    """The commands that may run side by side at one step of an execution."""
    if op.name == "stream.cmd.concurrent":
        return [name for inner in op.regions[0].block.ops if inner.name != "stream.yield" for name in _step(inner)]
    if op.name == "stream.cmd.dispatch":
        return ["dispatch " + leaf_symbol_of(array_of(op.properties["entry_points"])[0])]
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
