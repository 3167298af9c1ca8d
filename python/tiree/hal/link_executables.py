"""`tiree-hal-link-executables`: all executables of a module become one, so that the artifact holds one image.

In and out: `hal.executable`s with variants. Executables that have exactly one variant for the same target are merged,
in order; exports get consecutive ordinals, functions whose name is taken get a suffix, dispatches name the merged
executable. A module with a single executable is left alone.
"""

from __future__ import annotations

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


def _take(
    executable: hal.ExecutableOp,
    exports: list[Operation],
    code: Block,
    taken: set[str],
    renamed: dict[tuple[str, ...], str],
) -> None:
    """Moves the exports and the code of an executable."""
    variant = executable.variants[0]
    module = variant.inner_module
    names: dict[str, str] = {}
    for op in list(module.ops) if module is not None else ():
        op.detach()
        symbol = op.properties.get("sym_name")
        if isinstance(symbol, StringAttr):
            name, number = symbol.data, 0
            while name in taken:
                name, number = f"{symbol.data}_{number}", number + 1
            taken.add(name)
            names[symbol.data] = name
            op.properties["sym_name"] = StringAttr(name)
        code.add_op(op)
    for export in variant.exports:
        export.detach()
        old = export.sym_name.data
        export.properties["sym_name"] = StringAttr(names.get(old, old))
        export.properties["ordinal"] = IntegerAttr(len(exports), IndexType())
        exports.append(export)
        renamed[executable.sym_name.data, old] = export.sym_name.data


class LinkExecutablesPass(ModulePass):
    """See the module's docstring."""

    name = "tiree-hal-link-executables"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        candidates = [o for o in op.ops if isinstance(o, hal.ExecutableOp) and len(o.variants) == 1 and not o.binaries]
        candidates = [o for o in candidates if o.variants[0].target == candidates[0].variants[0].target]
        if len(candidates) < 2:
            return
        target = candidates[0].variants[0].target
        name = SymbolNames(op).unique(linked_name(op))
        exports: list[Operation] = []
        code = Block()
        renamed: dict[tuple[str, ...], str] = {}
        taken: set[str] = set()
        for executable in candidates:
            _take(executable, exports, code, taken, renamed)
        variant = hal.ExecutableVariantOp(
            target, Region(Block([*exports, ModuleOp(Region(code)), hal.ExecutableVariantEndOp()]))
        )
        linked = hal.ExecutableOp(name, Region(Block([variant, hal.ExecutableEndOp()])))
        op.body.block.insert_op_before(linked, candidates[0])
        for executable in candidates:
            op.body.block.erase_op(executable)
        for function in op.ops:
            if function.name not in ("util.func", "util.initializer"):
                continue
            for dispatch in function.walk():
                if isinstance(dispatch, stream.CmdDispatchOp):
                    executable_name, variant_name, export_name = symbol_path(dispatch.entry_point)
                    new = renamed.get((executable_name, export_name))
                    if new is not None:
                        dispatch.properties["entry_points"] = ArrayAttr([SymbolRefAttr(name, [variant_name, new])])
