"""What the host needs to know of an executable: its image, and how many workgroups each function gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation, SSAValue, TypedAttribute

from tiree.dialects import hal
from tiree.dialects.arith import constant_of
from tiree.hal.targets import INLINE_BACKEND, DeviceTargets, symbol_path
from tiree.support.errors import CompileError, Diagnostic


class Counts(NamedTuple):
    """Constants, and which of them are x, y and z."""

    constants: list[TypedAttribute]
    picks: list[int]


class Executables:
    """The executables of a module by name, before and after their variants are gone."""

    def __init__(self, module: ModuleOp) -> None:
        self._by_name = {op.sym_name.data: op for op in module.ops if isinstance(op, hal.ExecutableOp)}
        self.targets = DeviceTargets(module)
        self._counts: dict[tuple[str, ...], Counts | None] = {}

    def executable(self, name: str) -> hal.ExecutableOp:
        found = self._by_name.get(name)
        if found is None:
            raise CompileError(f"a dispatch names executable @{name}, which the module does not hold")
        return found

    def export(self, entry_point: SymbolRefAttr) -> hal.ExecutableExportOp:
        """The export that a dispatch names as `@executable::@variant::@export`."""
        executable, variant_name, export_name = symbol_path(entry_point)
        for variant in self.executable(executable).variants:
            for export in variant.exports if variant.sym_name.data == variant_name else ():
                if export.sym_name.data == export_name:
                    return export
        raise CompileError(f"a dispatch names {entry_point}, which executable @{executable} does not export")

    def variants(self, name: str, device: str) -> list[hal.ExecutableVariantOp]:
        """The variants that a device may run, the preferred first, up to one without a condition of its format."""
        executable = self.executable(name)
        if len(executable.variants) < 2:
            return executable.variants
        targets = self.targets.of(device)
        found: list[hal.ExecutableVariantOp] = []
        for variant in sorted(
            (one for one in executable.variants if one.target in targets), key=lambda one: targets.index(one.target)
        ):
            if not any(one.condition is None and one.target.format == variant.target.format for one in found):
                found.append(variant)
        return found or executable.variants

    def binary_symbols(self, name: str, device: str) -> list[SymbolRefAttr]:
        """`@executable::@image`, what to load, for each variant. Raises `CompileError` when nothing was compiled."""
        executable = self.executable(name)
        if executable.binaries:
            named = self.variants(name, device) or executable.binaries[:1]
            return [SymbolRefAttr(name, [one.sym_name.data]) for one in named]
        if executable.variants and all(one.target.backend.data == INLINE_BACKEND for one in executable.variants):
            what = f"executable @{name} is for {INLINE_BACKEND}, which makes kernels part of the host program"
            raise CompileError(Diagnostic(what, hint="use --iree-execution-model=inline-static"))
        raise CompileError(
            Diagnostic(
                f"executable @{name} has not been translated to machine code",
                hint="run the phase executable-targets first (tiree-compile does)",
            )
        )

    def image(self, name: str, variant: str) -> hal.ExecutableBinaryOp:
        """The image of a variant, under its own name or that of the variant."""
        images = self.executable(name).binaries
        number = next((n for n, one in enumerate(self.executable(name).variants) if one.sym_name.data == variant), 0)
        named = {image.sym_name.data: image for image in images}
        return named.get(f"{variant}_binary") or named.get(variant) or images[number]

    def workgroup_count(
        self, entry_point: SymbolRefAttr, device: SSAValue, workload: Sequence[SSAValue]
    ) -> tuple[list[Operation], list[SSAValue]]:
        """Operations that compute x, y and z from the workload, and the three values."""
        export = self.export(entry_point)
        blocks = list(export.workgroup_count.blocks)
        if len(blocks) != 1:
            raise CompileError(f"export {entry_point} computes its workgroup count with branches; one block is needed")
        mapping: dict[SSAValue, SSAValue] = dict(zip(blocks[0].args, [device, *workload], strict=False))
        ops: list[Operation] = []
        for op in blocks[0].ops:
            if isinstance(op, hal.ReturnOp):
                return ops, [mapping[value] for value in op.arguments]
            if op.name == "iree_tensor_ext.dispatch.workgroup_count_from_slice":
                raise CompileError(
                    Diagnostic(
                        f"export {entry_point} has no workgroup count yet",
                        hint="run the phase executable-targets first (tiree-compile does)",
                    )
                )
            clone = op.clone(value_mapper=mapping)
            ops.append(clone)
        raise CompileError(f"export {entry_point} does not return a workgroup count")

    def constant_counts(self, entry_point: SymbolRefAttr) -> Counts | None:
        """What `workgroup_count` gives, where it is nothing but constants."""
        path = symbol_path(entry_point)
        if path not in self._counts:
            self._counts[path] = _constant_counts(self.export(entry_point))
        return self._counts[path]

    def drop_variants(self) -> None:
        """Removes what only compilation needed; images stay and take the names of their variants."""
        for executable in self._by_name.values():
            if not executable.binaries:
                continue
            binaries = {binary.sym_name.data: binary for binary in executable.binaries}
            for variant, other in zip(executable.variants, executable.binaries, strict=True):
                name = variant.sym_name.data
                executable.body.block.erase_op(variant)
                binaries.get(f"{name}_binary", other).properties["sym_name"] = StringAttr(name)


def _constant_counts(export: hal.ExecutableExportOp) -> Counts | None:
    blocks = list(export.workgroup_count.blocks)
    constants: list[TypedAttribute] = []
    places: dict[SSAValue, int] = {}
    for op in blocks[0].ops if len(blocks) == 1 else ():
        if isinstance(op, hal.ReturnOp):
            picks = [places.get(value, -1) for value in op.arguments]
            return None if -1 in picks else Counts(constants, picks)
        constant = constant_of(op.results[0]) if op.results else None
        if constant is None:
            return None
        places[op.results[0]] = len(constants)
        constants.append(constant)
    return None
