"""Variants of an executable that share one image, whose library chooses between them when it is loaded.

That needs nothing of the host program: an executable finds the features of the CPU in its environment. Variants share
an image where they have the same format, ask for nothing but CPU features, and need no more of the host than workgroup
counts that are constants or computed alike: the host then starts the most that any of them needs, and kernels leave
workgroups that they do not need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation

from tiree.codegen.cpu.lower_to_kernels import set_workgroup_count
from tiree.dialects import hal, stream
from tiree.dialects.arith import constant_of
from tiree.dialects.hal_executable import ExecutableExportOp, ExecutableOp, ExecutableVariantOp
from tiree.support.cpu_variants import PROCESSOR_BITS, architecture, processor_mask
from tiree.support.typed import is_integer_attr

CPUS = "tiree.cpus"
"""The attribute of a variant whose image holds several: the CPUs, the preferred first."""


def families(executable: ExecutableOp) -> list[list[ExecutableVariantOp]]:
    """The variants for CPUs, those together that share an image."""
    found: list[list[ExecutableVariantOp]] = []
    for variant in executable.variants:
        if variant.target.backend.data != "llvm-cpu" or variant.inner_module is None:
            continue
        if found and _belong_together(found[-1][0], variant):
            found[-1].append(variant)
        else:
            found.append([variant])
    return found


def _belong_together(first: ExecutableVariantOp, other: ExecutableVariantOp) -> bool:
    if first.target.format != other.target.format or mask_of(first) is None or mask_of(other) is None:
        return False
    return all(
        a.sym_name == b.sym_name
        and a.layout == b.layout
        and (
            None not in (_constants(a), _constants(b))
            or a.workgroup_count.is_structurally_equivalent(b.workgroup_count)
        )
        for a, b in zip(first.exports, other.exports, strict=True)
    )


def mask_of(variant: ExecutableVariantOp) -> int | None:
    """The bits of processor data that the variant's condition asks for; None where it asks for something else."""
    if variant.condition is None:
        return 0
    triple = variant.target.configuration.data.get("target_triple")
    arch = architecture(triple.data) if isinstance(triple, StringAttr) else ""
    known = PROCESSOR_BITS.get(arch, dict[str, int]())
    features: list[str] = []
    for op in variant.condition.body.block.ops:
        if isinstance(op, hal.DeviceQueryOp) and op.category.data == "hal.cpu" and op.key.data in known:
            features.append(op.key.data)
        elif op.name not in ("arith.andi", "hal.return"):
            return None
    asked = [op for op in variant.condition.body.block.ops if op.name == "arith.andi"]
    if len(asked) != len(features) - 1:
        return None
    return processor_mask(arch, features)


def _constants(export: ExecutableExportOp) -> tuple[int, int, int] | None:
    """Workgroups in x, y and z where they are known."""
    blocks = list(export.workgroup_count.blocks)
    last = blocks[0].last_op if len(blocks) == 1 else None
    if not isinstance(last, hal.ReturnOp) or len(last.arguments) != 3:
        return None
    counts = [constant_of(value) for value in last.arguments]
    x, y, z = (count.value.data if is_integer_attr(count) else -1 for count in counts)
    return None if min(x, y, z) < 0 else (x, y, z)


def shared_counts(family: Sequence[ExecutableVariantOp]) -> dict[str, tuple[int, int, int]]:
    """The workgroups that the host starts, by export, where counts are constants."""
    shared: dict[str, tuple[int, int, int]] = {}
    for variant in family:
        for export in variant.exports:
            counts = _constants(export)
            if counts is not None:
                name = export.sym_name.data
                x, y, z = (max(pair) for pair in zip(counts, shared.get(name, (0, 0, 0)), strict=True))
                shared[name] = (x, y, z)
    return shared


def limits(variant: ExecutableVariantOp, shared: Mapping[str, Sequence[int]]) -> dict[str, dict[int, int]]:
    """By export: its own count in each dimension in which the host starts more."""
    found: dict[str, dict[int, int]] = {}
    for export in variant.exports:
        name, own = export.sym_name.data, _constants(export)
        if own is not None:
            found[name] = {i: count for i, count in enumerate(own) if count < shared[name][i]}
    return found


def keep_first(module: ModuleOp, family: Sequence[ExecutableVariantOp]) -> None:
    """Leaves the first variant in the module: for the host there is no other.

    Where the executable has variants besides these, the host asks for what the last of these needs: with less, it takes
    one of the others.
    """
    first, *others = family
    executable = first.parent_op()
    assert isinstance(executable, ExecutableOp)
    least = family[-1].condition if len(executable.variants) > len(family) else None
    for export in first.exports:
        counts = shared_counts(family).get(export.sym_name.data)
        if counts is not None and counts != _constants(export):
            set_workgroup_count(export, counts)
    if first.condition is not None:
        _remove(first.condition)
    if least is not None:
        least.detach()
        start = first.body.block.first_op
        assert start is not None
        first.body.block.insert_op_before(least, start)
    cpus = [one.target.configuration.data.get("cpu") for one in family]
    first.attributes[CPUS] = ArrayAttr([cpu for cpu in cpus if isinstance(cpu, StringAttr)])
    gone = {other.sym_name.data for other in others}
    for other in others:
        _remove(other)
    for function in module.body.block.ops:
        if function.name in ("util.func", "util.initializer"):
            for dispatch in function.walk():
                if isinstance(dispatch, stream.CmdDispatchOp):
                    _forget(dispatch, executable.sym_name.data, gone)


def _remove(op: Operation) -> None:
    op.detach()
    op.erase(safe_erase=False)


def _forget(dispatch: stream.CmdDispatchOp, executable: str, variants: set[str]) -> None:
    kept: list[SymbolRefAttr] = []
    for point in dispatch.entry_points.data:
        assert isinstance(point, SymbolRefAttr)
        path = [point.root_reference.data, *(name.data for name in point.nested_references.data)]
        if path[0] != executable or path[1] not in variants:
            kept.append(point)
    if len(kept) != len(dispatch.entry_points.data):
        dispatch.properties["entry_points"] = ArrayAttr(kept)
