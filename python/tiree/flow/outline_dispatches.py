"""`tiree-flow-outline-dispatches`: bodies of dispatches become executables; equal bodies share one.

In: `flow.dispatch.workgroups`. Out: `flow.executable` with one export each, in the order of first use and before
the function that uses them, and `flow.dispatch`. Two bodies are equal when they agree in everything but the names
of values (structural keys), so that a model of twelve equal layers has the kernels of one.
"""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from tiree.dialects.flow import DispatchOp, DispatchWorkgroupsOp, ExecutableEndOp, ExecutableExportOp, ExecutableOp
from tiree.dialects.util import CallOp
from tiree.flow.cse import Key, region_key
from tiree.flow.names import dispatch_suffix
from tiree.flow.structured import replace_op
from tiree.support.shared_layers import SHARED_LAYER
from tiree.support.symbols import SymbolNames
from tiree.support.typed import symbol_name


def make_executable(op: DispatchWorkgroupsOp, executable: str, entry: str) -> ExecutableOp:
    """An executable made of the regions of `op`, which loses them."""
    body, count = op.workgroup_body, op.workgroup_count
    block = body.block
    terminator = block.last_op
    assert terminator is not None
    terminator.detach()
    terminator.erase()
    block.add_op(ReturnOp.create())
    op.detach_region(body)
    op.detach_region(count)
    function = FuncOp.create(
        properties={
            "function_type": FunctionType.from_lists([arg.type for arg in block.args], []),
            "sym_name": StringAttr(entry),
        },
        regions=[body],
        location=op.location,
    )
    export = ExecutableExportOp.create(
        properties={"function_ref": SymbolRefAttr(entry), "sym_name": StringAttr(entry)},
        regions=[count],
        location=op.location,
    )
    module = ModuleOp([function])
    return ExecutableOp.build_private(executable, Block([export, module, ExecutableEndOp.create()]))


class Outliner:
    """Executables by body, numbered per function."""

    def __init__(self, module: ModuleOp) -> None:
        self._names = SymbolNames(module)
        self._known: dict[Key, SymbolRefAttr] = {}
        self._counts: dict[str, int] = {}

    def outline(self, op: DispatchWorkgroupsOp, function: Operation, name: str) -> None:
        key = (region_key(op.workgroup_body, {}), region_key(op.workgroup_count, {}))
        entry = self._known.get(key)
        if entry is None:
            number = self._counts.get(name, 0)
            self._counts[name] = number + 1
            executable = self._names.unique(f"{name}_dispatch_{number}")
            symbol = f"{executable}_{dispatch_suffix(op.workgroup_body.block)}"
            entry = self._known[key] = SymbolRefAttr(executable, [symbol])
            assert function.parent is not None
            function.parent.insert_op_before(make_executable(op, executable, symbol), function)
        dispatch = DispatchOp.create(
            operands=list(op.operands),
            result_types=[result.type for result in op.results],
            properties={
                "entry_points": _entries(entry),
                "operandSegmentSizes": op.properties["operandSegmentSizes"],
                "tied_operands": op.properties["tied_operands"],
            },
            location=op.location,
        )
        assert op.parent is not None
        op.parent.insert_op_before(dispatch, op)
        replace_op(op, dispatch.results)


def _entries(entry: SymbolRefAttr):
    from xdsl.dialects.builtin import ArrayAttr

    return ArrayAttr([entry])


def function_name(op: Operation) -> str:
    name = op.properties.get("sym_name")
    return name.data if isinstance(name, StringAttr) else "_initializer"


class OutlineDispatches(ModulePass):
    """Executables and their dispatches."""

    name = "tiree-flow-outline-dispatches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        outliner = Outliner(op)
        functions = [one for one in op.body.block.ops if one.name in ("util.func", "util.initializer")]
        layers = {symbol_name(one): one for one in functions if SHARED_LAYER in one.attributes}
        for function in functions:
            if SHARED_LAYER not in function.attributes:
                _outline_all(outliner, function, function, layers)


def _outline_all(outliner: Outliner, within: Operation, function: Operation, layers: dict[str, Operation]) -> None:
    """Outlines what `within` has, as that of `function`; so are layers it calls, at the first of their calls."""
    for inner in list(within.walk()):
        if isinstance(inner, DispatchWorkgroupsOp):
            outliner.outline(inner, function, function_name(function))
        elif isinstance(inner, CallOp):
            layer = layers.pop(inner.callee.root_reference.data, None)
            if layer is not None:
                _outline_all(outliner, layer, function, layers)
