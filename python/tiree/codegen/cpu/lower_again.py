"""Kernels whose stack frame turned out too large are lowered again, for narrower vectors and at last for scalars.

How many registers a kernel spills is known when its machine code exists. A value takes as many bytes of stack as its
vector is wide, so the same dispatch in narrower vectors has a smaller frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Block, Operation

from tiree.codegen.common.analyze import analyze
from tiree.codegen.cpu.lower_to_kernels import lower_dispatch, replace_body, set_workgroup_count
from tiree.codegen.cpu.select_strategies import STRATEGY
from tiree.dialects.hal_executable import ExecutableExportOp
from tiree.support.cpu_target import TargetDescription
from tiree.support.typed import symbol_name

_NARROWEST = 16

KEEP_SCALARS = "tiree.keep_scalars"
"""Unit attribute of a kernel whose loops LLVM must not vectorise."""


def smaller_ways(target: TargetDescription) -> Iterator[tuple[TargetDescription, str | None]]:
    """What to lower for instead of `target`, one after the other: a description and perhaps the name of a strategy."""
    plain = replace(target, has_vnni=False, has_amx_bf16=False, has_amx_int8=False)
    width = target.vector_bytes // 2
    while width >= _NARROWEST:
        yield replace(plain, vector_bytes=width), None
        width //= 2
    yield plain, "scalar-fallback"


@dataclass
class Originals:
    """Dispatch functions as they were before they became kernels."""

    bodies: dict[Operation, Block] = field(default_factory=dict[Operation, Block])
    _ways: dict[Operation, Iterator[tuple[TargetDescription, str | None]]] = field(
        default_factory=dict[Operation, Iterator[tuple[TargetDescription, str | None]]]
    )

    def lower_again(
        self, export: ExecutableExportOp, function: Operation, inner: ModuleOp, target: TargetDescription
    ) -> bool:
        """Replaces the kernel of `function` by the next smaller one; False when there is none."""
        original = self.bodies.get(function)
        way = next(self._ways.setdefault(function, smaller_ways(target)), None)
        if original is None or way is None:
            return False
        region = function.regions[0]
        kernel = region.block
        region.detach_block(kernel)
        kernel.erase()
        region.add_block(original)
        _remove_tables(inner, export.sym_name.data)
        name, lowered = lower_dispatch(analyze(function), *way)
        export.attributes[STRATEGY] = StringAttr(name)
        replace_body(function, inner, lowered, export.sym_name.data, keep=True)
        set_workgroup_count(export, lowered.workgroups)
        if way[1] is not None:
            function.attributes[KEEP_SCALARS] = UnitAttr()
        return True


def _remove_tables(inner: ModuleOp, kernel: str) -> None:
    for op in list(inner.body.block.ops):
        if op.name == "memref.global" and symbol_name(op).startswith(f"{kernel}_table_"):
            op.detach()
            op.erase()
