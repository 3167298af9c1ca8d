"""`tiree-codegen-translate-executables`: kernels become machine code.

In: CPU variants whose functions are in kernel form. Out: beside each variant a `hal.executable.binary` with the linked
image; the variants stay, because the host program still reads workgroup counts from their exports. Variants that differ
in the CPU have one image together (`variant_families.py`), and the first of them stays. Objects are compiled
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
from tiree.codegen.llvm.executable import ExportCounts, Unit, VariantCode, emit_units, emit_variant_units, link_units
from tiree.codegen.llvm.library import DebugInfo, Place
from tiree.codegen.variant_families import families, keep_first, limits, mask_of, shared_counts
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
    mask: int = 0
    """Bits of processor data that the host must have set."""
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


@dataclass
class _Family:
    """The jobs that make one image."""

    jobs: list[_Job]
    library: list[tuple[str, Future[CompiledObject]]] = field(default_factory=list[tuple[str, Future[CompiledObject]]])
    """The table of several; that of one is among its objects."""


def _oversized(job: _Job, compiled: list[CompiledObject]) -> dict[str, int]:
    """Kernels that need more stack than allowed, with what they need, functions that they call included."""
    kernels = {export.sym_name.data for export in job.variant.exports}
    found: dict[str, int] = {}
    for (symbol, _), unit in zip(job.units, compiled, strict=True):
        kernel = next((name for name in kernels if symbol.startswith(f"{name}.")), "")
        frames = {kernel if name == symbol else name: size for name, size in stack_frames(unit.object).items()}
        called = sum(size for name, size in frames.items() if name not in kernels)
        for name, size in frames.items():
            if name in kernels and size + called > job.target.stack_limit:
                found[name] = size + called
    return found


def _all_oversized(family: _Family, compiled: list[list[CompiledObject]]) -> list[tuple[_Job, dict[str, int]]]:
    """The jobs with such kernels."""
    found = [(job, _oversized(job, part)) for job, part in zip(family.jobs, compiled, strict=True)]
    return [(job, kernels) for job, kernels in found if kernels]


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
            (executable.sym_name.data, family)
            for executable in op.body.block.ops
            if isinstance(executable, ExecutableOp) and not executable.binaries
            for family in families(executable)
        ]
        if not pending:
            return
        with ThreadPoolExecutor(self.threads or os.cpu_count() or 1) as pool:
            work = [_Family([_job(name, variant) for variant in family]) for name, family in pending]
            for family in work:
                self._start(pool, family)
            for family in work:
                self._finish(pool, family, op)

    def _finish(self, pool: ThreadPoolExecutor, family: _Family, module: ModuleOp) -> None:
        """Waits for the objects of an image and links it."""
        compiled = _compiled(family)
        while oversized := _all_oversized(family, compiled):
            for job, found in oversized:
                _lower_again(job, found, self.originals)
            self._start(pool, family)
            compiled = _compiled(family)
        objects = [future.result() for _, future in family.library]
        for part in compiled:
            objects += part
        image = link_units(family.jobs[0].name, objects, self.debug_symbols)
        if self.dump_intermediates_to:
            for job, part in zip(family.jobs, compiled, strict=True):
                _dump(self.dump_intermediates_to, job, image, part)
        _add_binary(family.jobs[0].variant, image)
        if len(family.jobs) > 1:
            keep_first(module, [job.variant for job in family.jobs])

    def _start(self, pool: ThreadPoolExecutor, family: _Family) -> None:
        first = family.jobs[0]
        counts, debug = _counts(first.variant), self._debug_info(first.variant)
        keep_name = self.debug_level > 0
        if len(family.jobs) == 1:
            units = emit_units(first.name, _code(first), first.target, counts, keep_name, debug)
            first.units = self._submit(pool, units)
            return
        shared = shared_counts([job.variant for job in family.jobs])
        variants = [VariantCode(_code(job), job.target, job.mask, limits(job.variant, shared)) for job in family.jobs]
        library, *parts = emit_variant_units(first.name, variants, counts, keep_name, debug)
        family.library = self._submit(pool, library)
        for job, units in zip(family.jobs, parts, strict=True):
            job.units = self._submit(pool, units)

    def _submit(self, pool: ThreadPoolExecutor, units: list[Unit]) -> list[tuple[str, Future[CompiledObject]]]:
        keep = bool(self.dump_intermediates_to)
        return [(unit.name, pool.submit(unit.compile, keep)) for unit in units]

    def _debug_info(self, variant: ExecutableVariantOp) -> DebugInfo:
        if not self.debug_symbols:
            return DebugInfo()
        places = _places(variant) if self.debug_level >= 2 else {}
        sources, lines = _sources(variant) if self.debug_level >= 3 else ({}, {})
        return DebugInfo(places, sources, lines)


def _job(name: str, variant: ExecutableVariantOp) -> _Job:
    return _Job(name, variant, describe_target(variant.target.configuration.data), mask_of(variant) or 0)


def _code(job: _Job) -> ModuleOp:
    module = job.variant.inner_module
    assert module is not None
    return module


def _compiled(family: _Family) -> list[list[CompiledObject]]:
    """The objects of each job."""
    return [[future.result() for _, future in job.units] for job in family.jobs]


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
