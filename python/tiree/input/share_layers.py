"""`tiree-input-share-layers`: layers that come again and again are put into one function, so that all that follows
works on one of them. The flow stage puts the dispatches back (`tiree-flow-inline-layers`)."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from tiree.input.layers.borders import Dataflow, best_cut
from tiree.input.layers.outline import Outliner
from tiree.input.layers.runs import LEAST_OPERATIONS, LEAST_TIMES, find_runs
from tiree.input.layers.tokens import Tokens
from tiree.support.symbols import SymbolNames, defined_symbol

_LOOPS = ("stablehlo.while", "stablehlo.if", "stablehlo.case")


class ShareLayersPass(ModulePass):
    """In: a verified module. Out: of five equal layers or more in a row all but the first and the last are calls of a
    private function that is never inlined and marked as a shared layer."""

    name = "tiree-input-share-layers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        functions = {symbol: inner for inner in op.body.block.ops if (symbol := defined_symbol(inner)) is not None}
        tokens = Tokens(functions)
        names = SymbolNames(op)
        for symbol, function in functions.items():
            if function.name == "func.func":
                for block in _long_blocks(function.regions[0]):
                    _share(block, function, f"{symbol}_layer", tokens, names)


def _long_blocks(region: Region) -> Iterator[Block]:
    """The blocks of a function and of its loops that may hold layers."""
    for block in list(region.blocks):
        ops = list(block.ops)
        if len(ops) >= LEAST_TIMES * LEAST_OPERATIONS:
            yield block
        for op in ops:
            if op.name in _LOOPS and op.parent is not None:
                for inner in op.regions:
                    yield from _long_blocks(inner)


def _share(block: Block, function: Operation, name: str, tokens: Tokens, names: SymbolNames) -> None:
    ops = list(block.ops)
    numbers = [-1 if (number := tokens.of(op)) is None else number for op in ops]
    runs = find_runs(numbers)
    if not runs:
        return
    flow = Dataflow(ops)
    outliner = Outliner(flow, numbers)
    # The last run first: what is found of the others stays true then.
    for run in reversed(runs):
        cut = best_cut(flow, run)
        if cut is None:
            continue
        made = outliner.outline(run, cut, names.unique(name))
        if made is not None:
            parent = function.parent
            assert parent is not None
            parent.insert_op_after(made, function)
