"""Observers of the pipeline: IR printing, timing, progress, phase dumps, executable dumps.

All of them write to a stream or folder that they are given; none changes the module.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Collection
from time import perf_counter
from typing import TYPE_CHECKING, TextIO

from tiree.pipeline import PHASE_NAMES, Phase, PipelineObserver, verify_module
from tiree.support.errors import InternalError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation
    from xdsl.passes import ModulePass


class PrintIR(PipelineObserver):
    """Prints the module before and after passes, as `--mlir-print-ir-*` asks."""

    def __init__(
        self,
        before: Collection[str] | None = (),
        after: Collection[str] | None = (),
        *,
        generic: bool = False,
        debuginfo: bool = False,
        elide_larger_than: int | None = None,
        only_changes: bool = False,
        stream: TextIO | None = None,
    ) -> None:
        """`before` and `after` are pass names; None means every pass."""
        self._before, self._after = before, after
        self._generic, self._debuginfo, self._elide = generic, debuginfo, elide_larger_than
        self._only_changes = only_changes
        self._previous = ""
        self._stream = stream or sys.stderr

    def _text(self, module: ModuleOp) -> str:
        from tiree.dialects import print_module

        return print_module(module, self._generic, debuginfo=self._debuginfo, elide_larger_than=self._elide)

    def _print(self, when: str, one: ModulePass, text: str) -> None:
        inner: object = getattr(one, "inner", one)  # the class of a guarded pass says nothing
        self._stream.write(f"// -----// IR Dump {when} {type(inner).__name__} ({one.name}) //----- //\n{text}\n\n")

    def before_pass(self, one: ModulePass, module: ModuleOp) -> None:
        if self._before is None or one.name in self._before:
            self._print("Before", one, self._text(module))
        if self._only_changes and not self._previous:
            self._previous = self._text(module)

    def after_pass(self, one: ModulePass, module: ModuleOp, seconds: float) -> None:
        del seconds
        wanted = self._after is None or one.name in self._after
        if not wanted and not self._only_changes:
            return
        text = self._text(module)
        if wanted and text != self._previous:
            self._print("After", one, text)
        if self._only_changes:
            self._previous = text


class VerifyEach(PipelineObserver):
    """Verifies the module after every pass, and that nothing outside of it still uses its values."""

    def after_pass(self, one: ModulePass, module: ModuleOp, seconds: float) -> None:
        del seconds
        verify_module(module, f"pass {one.name}")
        stray = _stray_use(module)
        if stray is not None:
            said = f"pass {one.name} left {stray.name} behind, which is not in the module and uses a value of it"
            raise InternalError(said, one.name)


def _stray_use(module: ModuleOp) -> Operation | None:
    """An operation outside of the module that uses one of its values: such a value looks as if it were needed."""
    inside = set(module.walk())
    for op in inside:
        blocks = (block for region in op.regions for block in region.blocks)
        for value in (*op.results, *(argument for block in blocks for argument in block.args)):
            for use in value.uses:
                if use.operation not in inside:
                    return use.operation
    return None


class Timing(PipelineObserver):
    """Prints the time of each pass at the end, as `--mlir-timing` asks."""

    needs_passes = False

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._start = perf_counter()
        self._rows: list[tuple[str, float]] = []

    def after_step(self, what: str, seconds: float) -> None:
        self._rows.append((what, seconds))

    def after_pass(self, one: ModulePass, module: ModuleOp, seconds: float) -> None:
        del module
        self._rows.append((one.name, seconds))

    def report(self) -> None:
        """Writes the table; call it when everything that counts is done."""
        total = perf_counter() - self._start
        lines = [
            f"===-{'-' * 73}-===",
            "                         ... Execution time report ...",
            f"===-{'-' * 73}-===",
            f"  Total Execution Time: {total:.4f} seconds",
            "",
            "  ----Wall Time----  ----Name----",
        ]
        accounted = 0.0
        for name, seconds in self._rows:
            lines.append(f"  {seconds:8.4f} ({100 * seconds / total:5.1f}%)  {name}")
            accounted += seconds
        lines.append(f"  {total - accounted:8.4f} ({100 * (total - accounted) / total:5.1f}%)  Rest")
        lines.append(f"  {total:8.4f} (100.0%)  Total")
        self._stream.write("\n".join(lines) + "\n")


class Progress(PipelineObserver):
    """One line on a terminal that says which pass runs and since when, renewed after the first second.

    A thread writes it: a single pass may take all the time there is.
    """

    needs_passes = False

    DELAY = 1.0
    PERIOD = 0.2

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._done = threading.Event()
        self._thread: threading.Thread | None = None
        self._doing = "reading"
        self._phase = PHASE_NAMES[1]

    def begin(self) -> None:
        self._thread = threading.Thread(target=self._show, args=(perf_counter(),), daemon=True)
        self._thread.start()

    def _show(self, start: float) -> None:
        wait = self.DELAY
        shown = False
        while not self._done.wait(wait):
            line = f"[{perf_counter() - start:5.1f} s] {self._doing}"
            self._stream.write(f"\r\x1b[K{line[: self._columns() - 1]}")
            self._stream.flush()
            shown, wait = True, self.PERIOD
        if shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    def before_pass(self, one: ModulePass, module: ModuleOp) -> None:
        del module
        self._doing = f"{self._phase}: {one.name}"

    def after_phase(self, phase: Phase, module: ModuleOp) -> None:
        del module
        self._phase = PHASE_NAMES[min(PHASE_NAMES.index(phase.name) + 1, len(PHASE_NAMES) - 1)]

    def finish(self) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None


class DumpPhases(PipelineObserver):
    """Writes the module after each phase to `<folder>/<name>.<number>.<phase>.mlir`."""

    def __init__(self, folder: str, name: str, *, generic: bool = False) -> None:
        self._folder, self._name, self._generic = folder, name, generic
        os.makedirs(folder, exist_ok=True)

    def after_phase(self, phase: Phase, module: ModuleOp) -> None:
        from tiree.dialects import print_module

        if phase.name == "end":
            return
        file = f"{self._name}.{PHASE_NAMES.index(phase.name)}.{phase.name}.mlir"
        with open(os.path.join(self._folder, file), "w", encoding="utf-8") as stream:
            stream.write(print_module(module, self._generic))


class DumpExecutables(PipelineObserver):
    """Writes each executable after the phase that makes it: its source, its configuration, its binary, and modules that
    time each of its dispatches.
    """

    def __init__(
        self,
        name: str,
        *,
        sources: str | None = None,
        configurations: str | None = None,
        binaries: str | None = None,
        benchmarks: str | None = None,
        stream: TextIO | None = None,
    ) -> None:
        """`stream` gets a remark on dispatches of which no benchmark can be written."""
        self._name = name
        self._texts = {"executable-sources": sources, "executable-configurations": configurations}
        self._binaries = binaries
        self._benchmarks = benchmarks
        self._stream = stream or sys.stderr
        for folder in (sources, configurations, binaries, benchmarks):
            if folder is not None:
                os.makedirs(folder, exist_ok=True)

    def after_phase(self, phase: Phase, module: ModuleOp) -> None:
        folder = self._texts.get(phase.name)
        if folder is not None:
            self._write_texts(folder, module)
        if self._benchmarks is not None and phase.name == _BENCHMARKED:
            self._write_benchmarks(self._benchmarks, module)
        if self._binaries is not None and phase.name == "executable-targets":
            self._write_binaries(self._binaries, module)

    def _write_texts(self, folder: str, module: ModuleOp) -> None:
        from tiree.dialects import print_module

        for op in module.body.block.ops:
            if op.name == "hal.executable":
                path = os.path.join(folder, f"{self._name}_{_symbol(op)}.mlir")
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(print_module(op))

    def _write_binaries(self, folder: str, module: ModuleOp) -> None:
        from tiree.dialects.dense import DenseAttr

        for op in module.walk():
            if op.name != "hal.executable.binary":
                continue
            data = op.properties.get("data")
            parent = op.parent_op()
            if isinstance(data, DenseAttr) and parent is not None:
                path = os.path.join(folder, f"{self._name}_{_symbol(parent)}_{_symbol(op)}.so")
                with open(path, "wb") as stream:
                    stream.write(data.buffer)

    def _write_benchmarks(self, folder: str, module: ModuleOp) -> None:
        from tiree.dialects import print_module
        from tiree.hal.dispatch_benchmarks import DispatchBenchmarks, needed_flags

        benchmarks = DispatchBenchmarks(module)
        for name, benchmark in benchmarks.modules():
            path = os.path.join(folder, f"{self._name}_{name}_benchmark.mlir")
            with open(path, "w", encoding="utf-8") as stream:
                flags = f"--compile-from={_BENCHMARKED}{needed_flags(benchmark)}"
                stream.write(f"// tiree-compile {flags} THIS_FILE -o FILE.vmfb\n")
                stream.write("// tiree-benchmark-module --module=FILE.vmfb --batch_size=100\n")
                stream.write(print_module(benchmark))
        for name in benchmarks.left_out:
            self._stream.write(f"remark: @{name}: no benchmark of calls with sizes that are known when it runs\n")


# After this phase kernels have their strategies and the host's code is the schedule.
_BENCHMARKED = "executable-configurations"


def _symbol(op: Operation) -> str:
    return getattr(op.properties["sym_name"], "data", "unnamed")
