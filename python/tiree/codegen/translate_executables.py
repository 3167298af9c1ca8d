"""`tiree-codegen-translate-executables`: kernels become machine code.

In: CPU variants whose functions are in kernel form. Out: beside each variant a `hal.executable.binary` with the linked
image; the variants stay, because the host program still reads workgroup counts from their exports. Objects are compiled
in threads: LLVM IR is written here, one kernel after the other, and code generation of the first starts at once. No
kernel needs more stack than the target allows.
"""

from __future__ import annotations

import os
import re
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, VectorType, i8
from xdsl.passes import ModulePass

from tiree.codegen.elf.frames import stack_frames
from tiree.codegen.llvm.compile import CompiledObject
from tiree.codegen.llvm.executable import ExportCounts, emit_units, link_units
from tiree.codegen.llvm.library import DebugInfo, Place
from tiree.dialects.dense import DenseAttr
from tiree.dialects.hal_executable import ExecutableBinaryOp, ExecutableOp, ExecutableVariantOp
from tiree.support.cpu_target import TargetDescription, describe_target
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import file_location, location_of
from tiree.support.typed import symbol_name

if TYPE_CHECKING:
    from tiree.codegen.cpu.lower_again import Originals


@dataclass
class _Job:
    """A variant and the objects that are on their way."""

    name: str
    variant: ExecutableVariantOp
    target: TargetDescription
    units: list[tuple[str, Future[CompiledObject]]] = field(default_factory=list[tuple[str, Future[CompiledObject]]])


def _counts(variant: ExecutableVariantOp) -> dict[str, ExportCounts]:
    """Constants and bindings of each export's layout."""
    found: dict[str, ExportCounts] = {}
    for export in variant.exports:
        layout = export.layout
        found[export.sym_name.data] = ExportCounts(layout.constant_count, layout.binding_count)
    return found


def _places(variant: ExecutableVariantOp) -> dict[str, Place]:
    """Where the work of each export stands in the user's file."""
    found: dict[str, Place] = {}
    for export in variant.exports:
        location = file_location(export.location)
        if location is not None:
            found[export.sym_name.data] = Place(location.filename.data, location.line.data)
    return found


def _sources(variant: ExecutableVariantOp) -> tuple[dict[str, str], dict[tuple[str, str], int]]:
    """The captured texts by stage, and the line of each export in them."""
    texts = {
        stage: bytes(data.buffer).decode()
        for stage, data in (variant.sources or DictionaryAttr({})).data.items()
        if isinstance(data, DenseAttr)
    }
    lines: dict[tuple[str, str], int] = {}
    for stage, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            found = _FUNCTION.match(line)
            if found:
                lines[stage, found.group(1).strip('"')] = number
    return texts, lines


_FUNCTION = re.compile(r'\s*func\.func (?:\w+ )?@("[^"]*"|[^\s(]+)\(')


def _oversized(job: _Job, compiled: list[CompiledObject]) -> dict[str, int]:
    """Kernels that need more stack than allowed, with what they need, functions that they call included."""
    kernels = {export.sym_name.data for export in job.variant.exports}
    found: dict[str, int] = {}
    for unit in compiled:
        frames = stack_frames(unit.object)
        called = sum(size for name, size in frames.items() if name not in kernels)
        for name, size in frames.items():
            if name in kernels and size + called > job.target.stack_limit:
                found[name] = size + called
    return found


def _lower_again(job: _Job, oversized: dict[str, int], originals: Originals | None) -> None:
    """Replaces kernels by smaller ones. Raises `CompileError` for one that cannot be smaller."""
    inner = job.variant.inner_module
    assert inner is not None
    functions = {symbol_name(op): op for op in inner.body.block.ops if op.name == "func.func"}
    for export in job.variant.exports:
        name = export.sym_name.data
        if name not in oversized:
            continue
        function = functions[name]
        if originals is None or not originals.lower_again(export, function, inner, job.target):
            raise CompileError(
                Diagnostic(
                    f"dispatch {name} needs {oversized[name]} bytes of stack, the limit is {job.target.stack_limit}",
                    location_of(function),
                    "raise --iree-llvmcpu-stack-allocation-limit, or keep fewer values waiting for their last use",
                )
            )


def _dump(folder: str, job: _Job, image: bytes, compiled: list[CompiledObject]) -> None:
    """Writes what each unit was on the way."""
    os.makedirs(folder, exist_ok=True)
    for (unit, _), result in zip(job.units, compiled, strict=True):
        stem = os.path.join(folder, f"{job.name}_{job.variant.sym_name.data}_{unit}")
        for suffix, text in (
            ("codegen.ll", result.ir),
            ("optimized.ll", result.optimised_ir),
            ("s", result.assembly),
        ):
            if text:
                with open(f"{stem}.{suffix}", "w", encoding="utf-8") as file:
                    file.write(text)
        with open(f"{stem}.o", "wb") as file:
            file.write(result.object)
    with open(os.path.join(folder, f"{job.name}_{job.variant.sym_name.data}.so"), "wb") as file:
        file.write(image)


@dataclass(frozen=True)
class TranslateExecutables(ModulePass):
    """Compiles every CPU variant that has no image yet."""

    name = "tiree-codegen-translate-executables"

    debug_symbols: bool = False
    debug_level: int = 2
    """What an image says of its making: 0 nothing, 1 its name, 2 places in the user's file, 3 captured sources."""
    threads: int = 0
    dump_intermediates_to: str = ""
    originals: Originals | None = None
    """The functions before they became kernels: a kernel that needs too much stack is lowered again."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        pending = [
            (executable, variant)
            for executable in op.body.block.ops
            if isinstance(executable, ExecutableOp) and not executable.binaries
            for variant in executable.variants
            if variant.target.backend.data == "llvm-cpu" and variant.inner_module is not None
        ]
        if not pending:
            return
        keep = bool(self.dump_intermediates_to)
        with ThreadPoolExecutor(self.threads or os.cpu_count() or 1) as pool:
            jobs = [
                _Job(executable.sym_name.data, variant, describe_target(variant.target.configuration.data))
                for executable, variant in pending
            ]
            for job in jobs:
                self._start(pool, job)
            for job in jobs:
                compiled = [future.result() for _, future in job.units]
                while oversized := _oversized(job, compiled):
                    _lower_again(job, oversized, self.originals)
                    self._start(pool, job)
                    compiled = [future.result() for _, future in job.units]
                image = link_units(job.name, compiled, self.debug_symbols)
                if keep:
                    _dump(self.dump_intermediates_to, job, image, compiled)
                _add_binary(job.variant, image)

    def _start(self, pool: ThreadPoolExecutor, job: _Job) -> None:
        inner = job.variant.inner_module
        assert inner is not None
        counts, debug = _counts(job.variant), self._debug_info(job.variant)
        keep = bool(self.dump_intermediates_to)
        job.units = [
            (unit.name, pool.submit(unit.compile, keep))
            for unit in emit_units(job.name, inner, job.target, counts, self.debug_level > 0, debug)
        ]

    def _debug_info(self, variant: ExecutableVariantOp) -> DebugInfo:
        if not self.debug_symbols:
            return DebugInfo()
        places = _places(variant) if self.debug_level >= 2 else {}
        sources, lines = _sources(variant) if self.debug_level >= 3 else ({}, {})
        return DebugInfo(places, sources, lines)


def _add_binary(variant: ExecutableVariantOp, image: bytes) -> None:
    """Puts the image behind the variant and behind earlier images, under a name of its own."""
    data = DenseAttr.from_buffer(VectorType(i8, [len(image)]), image)
    format = variant.target.format.data
    binary = ExecutableBinaryOp(f"{variant.sym_name.data}_binary", format, data, "application/x-elf")
    block = variant.parent_block()
    assert block is not None
    last = block.last_op
    assert last is not None
    block.insert_op_before(binary, last)
