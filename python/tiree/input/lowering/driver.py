"""`FunctionLowering`: walks the operations of a function and rebuilds them, inlining calls on the way.

Ops of StableHLO and CHLO go through the handler table; calls are lowered in place from the callee's body, so that
nothing is cloned first. Every other op is copied, with operands and types replaced and regions rebuilt the same way.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import SymbolRefAttr, TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from tiree.dialects import util
from tiree.dialects.dense import DenseAttr
from tiree.dialects.util_types import InlineNeverAttr
from tiree.input.lowering.borders import branch_operands, passed, receive, with_sizes
from tiree.input.lowering.carried import check_step
from tiree.input.lowering.context import Lowering, Unsupported, signless
from tiree.input.lowering.dims import concerns_dynamic, is_dynamic, note_sizes, sizes_of
from tiree.input.lowering.dynamic_shapes import ALWAYS, Handler, handler_of
from tiree.input.lowering.refusals import check_refused
from tiree.input.lowering.scalar import inherent
from tiree.input.lowering.scalar_ops import DIVISIONS, total_division
from tiree.input.lowering.shape_values import track
from tiree.input.lowering.size_names import name_of
from tiree.input.lowering.small_float_scalars import has_small_float_scalars, lower_small_float_scalars
from tiree.input.lowering.structural import set_constant
from tiree.input.lowering.table import HANDLERS
from tiree.support.branches import reachable_blocks
from tiree.support.typed import is_array_attr, is_tensor_type

_DIALECTS = frozenset(
    {"arith", "builtin", "cf", "complex", "flow", "func", "hal", "iree_tensor_ext", "linalg", "math", "scf", "tensor"}
    | {"util"}
)
_STRUCTURED = ("linalg.", "iree_linalg_ext.attention", "iree_linalg_ext.online_attention")
"""Ops with bodies of scalars, whose results have the types of the last operands."""
_IN_ATTENTION = ("iree_linalg_ext.yield", "iree_linalg_ext.index")
_WITHOUT_LOWERING = frozenset(
    {
        "scf.parallel",
        "scf.reduce",
        "scf.forall",
        "tensor.gather",
        "tensor.scatter",
        "func.call_indirect",
        "func.constant",
    }
)
"""Ops of these dialects that programs may use, and those that they may not."""

_RETURNS = ("func.return", "util.return", "stablehlo.return")


def keeps_calls(function: Operation) -> bool:
    """Whether the program says that calls of a function are to stay calls."""
    return isinstance(function.properties.get("inlining_policy"), InlineNeverAttr) or "noinline" in function.attributes


class Callee(NamedTuple):
    """A function as calls refer to it: one that takes and gives tensors with `?` is `sized`, private, with the sizes
    among its arguments and results."""

    symbol: str
    sized: bool = False

    @property
    def name(self) -> str:
        return f"{self.symbol}$sized" if self.sized else self.symbol


@dataclass(eq=False)
class FunctionLowering(Lowering):
    """`functions` are the module's functions by name; `kept` collects those that calls still refer to."""

    functions: Mapping[str, Operation] = field(default_factory=dict[str, Operation])
    kept: dict[Callee, None] = field(default_factory=dict["Callee", None])
    stack: list[str] = field(default_factory=list[str])
    sized: bool = False
    """Whether the sizes of tensors with `?` are among the function's arguments and results."""
    kernels: int = 0
    """How many structured ops enclose the current op."""
    handlers: Mapping[str, Handler] = field(default_factory=lambda: HANDLERS)
    """How each op is lowered, by name."""

    # Walking.

    def lower_ops(self, block: Block) -> Sequence[SSAValue]:
        """Lowers all ops of a one-block region up to its return; gives the (old) values returned."""
        for op in list(block.ops):
            if op.name in _RETURNS:
                return op.operands
            self.lower(op)
        return ()

    def lower(self, op: Operation) -> None:
        location, self.location = self.location, op.location
        handler = self.handlers.get(op.name)
        try:
            if op.attributes:
                check_refused(op)
            if op.name in ALWAYS or ((op.name in HANDLERS or handler is None) and concerns_dynamic(op)):
                handler = handler_of(op, handler)
            if handler is not None:
                handler(self, op)
                track(self, op)
            elif op.name == "arith.constant" and isinstance(value := op.properties["value"], DenseAttr):
                set_constant(self, op.results[0], value)
            elif self.kernels and op.name in DIVISIONS and not is_tensor_type(op.results[0].type):
                self._division(op)
            elif op.name in ("func.call", "util.call"):
                self.inline_call(op, "callee")
            elif op.name.startswith(("stablehlo.", "chlo.", "mhlo.", "vhlo.", "sdy.")):
                raise Unsupported("")
            else:
                self._foreign(op)
        except Unsupported as reason:
            self.unsupported(op, str(reason))
            self._placeholders(op)
        self.location = location

    def _placeholders(self, op: Operation) -> None:
        """Something to go on with after an op that is not supported, so that one run reports all of them."""
        for result in op.results:
            type = signless(result.type)
            if not is_tensor_type(type):
                type = TensorType(type, [])
            self.set(result, self.empty(type))

    @contextmanager
    def in_kernel(self) -> Generator[None]:
        self.kernels += 1
        try:
            yield
        finally:
            self.kernels -= 1

    def _called(self, op: Operation, name: str) -> tuple[str, Operation]:
        """The function that `op` calls and its name. Raises `Unsupported` when there is none."""
        attr = inherent(op, name)
        if is_array_attr(attr) and len(attr.data) == 1:
            attr = attr.data[0]
        symbol = attr.root_reference.data if isinstance(attr, SymbolRefAttr) else ""
        function = self.functions.get(symbol)
        if function is None:
            raise Unsupported(f"to @{symbol}, which is not defined in this module,")
        return symbol, function

    def callee(self, op: Operation, name: str = "callee") -> Block:
        """The body of the function that `op` calls. Raises `Unsupported` when it cannot be inlined."""
        symbol, function = self._called(op, name)
        blocks = function.regions[0].blocks
        if len(blocks) != 1 or blocks.first is None:
            raise Unsupported(f"to @{symbol}, which is not one block,")
        return blocks.first

    def inline_call(self, op: Operation, name: str) -> None:
        """Lowers the callee's body here; callees that are recursive, of many blocks or never inlined stay calls."""
        symbol, function = self._called(op, name)
        called_only = symbol in self.stack or len(function.regions[0].blocks) != 1
        if called_only or (keeps_calls(function) and not self.kernels):
            self._call(op, symbol)
            return
        block = self.callee(op, name)
        for argument, operand in zip(block.args, op.operands, strict=True):
            self.set(argument, self.values[operand])
        self.stack.append(symbol)
        results = [self.values[value] for value in self.lower_ops(block)]
        self.stack.pop()
        for old, new in zip(op.results, results, strict=True):
            self.set(old, new)

    def _call(self, op: Operation, symbol: str) -> None:
        callee = Callee(symbol, concerns_dynamic(op) and bool(self.functions[symbol].regions[0].blocks))
        self.kept[callee] = None
        types = [signless(result.type) for result in op.results]
        if callee.sized:
            new = util.CallOp(callee.name, passed(self, op.operands), with_sizes(types))
            self.emit_op(new)
            receive(self, op.results, new.results)
            return
        new = util.CallOp(symbol, [self.get(value) for value in op.operands], types)
        self.emit_op(new)
        for old, result in zip(op.results, new.results, strict=True):
            self.set(old, result)

    def _division(self, op: Operation) -> None:
        """An integer division in the body of a structured op the user wrote."""
        a, b = (self.get(value) for value in op.operands)
        result = total_division(self.scalars(), op, a, b)
        if result is None:
            self._foreign(op)
        else:
            self.set(op.results[0], result)

    def _foreign(self, op: Operation) -> None:
        """Copies an op of another dialect. Raises `Unsupported` for one that no later stage knows."""
        is_known = op.name.partition(".")[0] in _DIALECTS or op.name.startswith((*_STRUCTURED, *_IN_ATTENTION))
        if not is_known or op.name in _WITHOUT_LOWERING:
            raise Unsupported("")
        if has_small_float_scalars(op):
            lower_small_float_scalars(self, op)
            return
        if op.name == "scf.for" and not self.kernels:
            check_step(self, self.get(op.operands[2]), "unsignedCmp" in op.properties)
        self.kernels += op.name.startswith(_STRUCTURED)
        new = type(op).create(
            operands=[self.get(value) for value in op.operands],
            result_types=[signless(result.type) for result in op.results],
            properties=op.properties,
            attributes=op.attributes,
            regions=[self.lower_region(region) for region in op.regions],
        )
        self.kernels -= op.name.startswith(_STRUCTURED)
        self.emit_op(new)
        for old, result in zip(op.results, new.results, strict=True):
            self.set(old, result)
            if op.name == "flow.tensor.transfer":
                self.shapes.copy(new.operands[0], result)
            elif op.name.startswith(_STRUCTURED) and is_tensor_type(result.type):
                self.shapes.copy(new.operands[len(new.operands) - len(new.results) + result.index], result)
            elif is_dynamic(result.type):
                note_sizes(self, result)

    def lower_region(self, region: Region) -> Region:
        """A new region with the lowered contents of `region`, terminators and successors included.

        Blocks that cannot be reached are left out; the others come in an order in which definitions precede uses.
        """
        blocks: dict[Block, Block] = {}
        for block in reachable_blocks(region):
            types = [signless(argument.type) for argument in block.args]
            new = Block(arg_types=types if block is region.blocks.first and not self.sized else with_sizes(types))
            blocks[block] = new
            for old, argument in zip(block.args, new.args, strict=False):
                self.set(old, argument)
        for block, new in blocks.items():
            with self.inside(new):
                self._note_arguments(block, new)
                for op in list(block.ops):
                    if op.successors or op.name in _RETURNS:
                        self._terminator(op, blocks)
                    else:
                        self.lower(op)
        return Region(list(blocks.values()))

    def _note_arguments(self, block: Block, new: Block) -> None:
        """The sizes of arguments that have `?` dimensions: given behind them, or asked for."""
        is_entry = self.shapes.entry is None
        if is_entry:
            self.shapes.entry = new
        if len(new.args) > len(block.args):
            receive(self, block.args, new.args)
            if is_entry:
                self._name_sizes(block)
            return
        for old, argument in zip(block.args, new.args, strict=True):
            note_sizes(self, argument, old if is_entry else None)

    def _name_sizes(self, entry: Block) -> None:
        """For messages: which dimension of which argument the sizes are that come along with the arguments."""
        for argument in entry.args:
            for dim, size in enumerate(sizes_of(self, argument) if is_dynamic(argument.type) else ()):
                if not isinstance(size, int):
                    self.shapes.arguments.setdefault(size, (argument.index + 1, name_of(argument), dim))

    def _terminator(self, op: Operation, blocks: Mapping[Block, Block]) -> None:
        self.location = op.location
        if op.name in _RETURNS:
            self.emit_op(util.ReturnOp(*(passed(self, op.operands) if self.sized else map(self.get, op.operands))))
            return
        operands, properties = branch_operands(self, op)
        new = type(op).create(
            operands=operands,
            properties=properties,
            attributes=op.attributes,
            successors=[blocks[block] for block in op.successors],
        )
        self.emit_op(new)
