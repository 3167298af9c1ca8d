"""`tiree-hal-link-executables`: all executables of a module become one, so that the artifact holds one image.

In and out: `hal.executable`s with variants. Executables that have variants for the same targets are merged, in order;
exports get consecutive ordinals, functions whose name is taken get a suffix, dispatches name the merged executable. An
executable that has no like is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from tiree.dialects import hal, stream
from tiree.hal.targets import symbol_path
from tiree.support.symbols import SymbolNames


def linked_name(module: ModuleOp) -> str:
    """IREE's name for the linked executable of a module."""
    name = module.sym_name.data if module.sym_name is not None else "module"
    return f"{name}_linked"


@dataclass
class _Linked:
    """One variant of the merged executable, as it grows."""

    exports: list[Operation] = field(default_factory=list[Operation])
    code: Block = field(default_factory=Block)
    taken: set[str] = field(default_factory=set[str])

    def take(self, variant: hal.ExecutableVariantOp) -> dict[str, str]:
        """Moves the exports and the code of a variant; returns the new names of its exports."""
        module = variant.inner_module
        names: dict[str, str] = {}
        for op in list(module.ops) if module is not None else ():
            op.detach()
            symbol = op.properties.get("sym_name")
            if isinstance(symbol, StringAttr):
                name, number = symbol.data, 0
                while name in self.taken:
                    name, number = f"{symbol.data}_{number}", number + 1
                self.taken.add(name)
                names[symbol.data] = name
                op.properties["sym_name"] = StringAttr(name)
            self.code.add_op(op)
        renamed: dict[str, str] = {}
        for export in variant.exports:
            export.detach()
            old = export.sym_name.data
            export.properties["sym_name"] = StringAttr(names.get(old, old))
            export.properties["ordinal"] = IntegerAttr(len(self.exports), IndexType())
            self.exports.append(export)
            renamed[old] = export.sym_name.data
        return renamed


def _kinds(executable: hal.ExecutableOp) -> tuple[object, ...]:
    """What executables must have in common to be merged."""
    return tuple((one.sym_name, one.target, str(one.condition or "")) for one in executable.variants)


def _link(name: str, executables: list[hal.ExecutableOp], renamed: dict[tuple[str, ...], str]) -> hal.ExecutableOp:
    """The executables as one. `renamed` takes the new names of exports, by executable, variant and old name."""
    variants: list[Operation] = []
    for number, first in enumerate(executables[0].variants):
        linked = _Linked()
        for executable in executables:
            for old, new in linked.take(executable.variants[number]).items():
                renamed[executable.sym_name.data, first.sym_name.data, old] = new
        condition = [first.condition] if first.condition is not None else []
        for op in condition:
            op.detach()
        body = Block([*condition, *linked.exports, ModuleOp(Region(linked.code)), hal.ExecutableVariantEndOp()])
        variants.append(hal.ExecutableVariantOp(first.target, Region(body), first.sym_name.data))
    return hal.ExecutableOp(name, Region(Block([*variants, hal.ExecutableEndOp()])))


class LinkExecutablesPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-hal-link-executables"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        groups: dict[tuple[object, ...], list[hal.ExecutableOp]] = {}
        for executable in op.ops:
            if isinstance(executable, hal.ExecutableOp) and executable.variants and not executable.binaries:
                groups.setdefault(_kinds(executable), []).append(executable)
        symbols = SymbolNames(op)
        renamed: dict[tuple[str, ...], str] = {}
        merged: dict[str, str] = {}
        for group in groups.values():
            if len(group) < 2:
                continue
            name = symbols.unique(linked_name(op))
            op.body.block.insert_op_before(_link(name, group, renamed), group[0])
            for executable in group:
                merged[executable.sym_name.data] = name
                op.body.block.erase_op(executable)
        if not merged:
            return
        for function in op.ops:
            if function.name not in ("util.func", "util.initializer"):
                continue
            for dispatch in function.walk():
                if isinstance(dispatch, stream.CmdDispatchOp):
                    _rename(dispatch, merged, renamed)


def _rename(dispatch: stream.CmdDispatchOp, merged: dict[str, str], renamed: dict[tuple[str, ...], str]) -> None:
    """Makes a dispatch name the merged executable."""
    paths = [symbol_path(one) for one in dispatch.entry_points.data if isinstance(one, SymbolRefAttr)]
    if paths[0][0] in merged:
        dispatch.properties["entry_points"] = ArrayAttr(
            [SymbolRefAttr(merged[path[0]], [path[1], renamed[path]]) for path in paths]
        )
