"""Which device and queues each operation of host code runs on, and where its tensors lie.

A transfer, an import that names a place, and the attribute `stream.affinity` of an operation or function say so. From
there it follows the tensors through operations, branches, calls and globals: an operation runs where the first of its
operands lies for which there is an answer, else on the default device. What has no operands (a fill, a dispatch of
constants) goes to whoever uses it. Exports and transfers move nothing themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from tiree.dialects import flow, hal, util
from tiree.stream.liveness import is_tensor
from tiree.support.branches import branch_arguments
from tiree.support.typed import symbol_of

_ATTRIBUTE = "stream.affinity"
_PASSIVE = frozenset({"flow.tensor.transfer", "hal.tensor.export", "util.call", "util.return", "util.global.store"})
"""Operations that do no work of their own on the tensors that they are given."""


class Affinities:
    """The answer for a module in the form in which it is scheduled."""

    def __init__(self, module: ModuleOp) -> None:
        self.default = module.attributes.get("stream.affinity.default")
        self._bodies = [
            function
            for function in module.ops
            if isinstance(function, util.FuncOp | util.InitializerOp) and function.body.blocks
        ]
        self._values: dict[SSAValue, Attribute] = {}
        self._ops: dict[Operation, Attribute] = {}
        self._globals: dict[str, Attribute] = {}
        self._results: dict[str, dict[int, Attribute]] = {}
        self._functions = {op.sym_name.data: op for op in self._bodies if isinstance(op, util.FuncOp)}
        self._changed = False
        places = [function.attributes.get(_ATTRIBUTE) for function in self._bodies]
        self.is_uniform = not any(places) and not any(self._said(op) for op in self._host_ops())
        """Whether everything runs on the default device."""
        if not self.is_uniform:
            self._follow()
            self._give_to_users()

    def of_value(self, value: SSAValue) -> Attribute | None:
        return self._values.get(value, self.default)

    def of_op(self, op: Operation) -> Attribute | None:
        return self._ops.get(op, self.default)

    def _host_ops(self) -> Iterator[Operation]:
        for function in self._bodies:
            for block in function.body.blocks:
                yield from block.ops

    def _said(self, op: Operation) -> Attribute | None:
        """What an operation itself says."""
        if isinstance(op, flow.TensorTransferOp):
            return op.target
        if isinstance(op, hal.TensorImportOp | hal.TensorExportOp) and op.affinity is not None:
            return op.affinity
        return op.attributes.get(_ATTRIBUTE)

    def _set(self, value: SSAValue, affinity: Attribute | None) -> None:
        if affinity is not None and is_tensor(value) and value not in self._values:
            self._values[value] = affinity
            self._changed = True

    def _follow(self) -> None:
        self._changed = True
        while self._changed:
            self._changed = False
            for function in self._bodies:
                name = function.sym_name.data if isinstance(function, util.FuncOp) else ""
                around = function.attributes.get(_ATTRIBUTE)
                for block in function.body.blocks:
                    for op in block.ops:
                        self._visit(op, name, around)

    def _visit(self, op: Operation, function: str, around: Attribute | None) -> None:
        operands = (self._values[value] for value in op.operands if value in self._values)
        affinity = self._said(op) or next(operands, None) or around
        if op.successors:
            for number, successor in enumerate(op.successors):
                self._pass(list(branch_arguments(op, number)), successor)
        elif isinstance(op, util.CallOp):
            self._visit_call(op)
        elif isinstance(op, util.ReturnOp):
            found = self._results.setdefault(function, {})
            for index, value in enumerate(op.operands):
                if value in self._values and index not in found:
                    found[index] = self._values[value]
                    self._changed = True
        elif op.name == "util.global.store" and affinity is not None:
            self._globals.setdefault(symbol_of(op.properties["global"]), affinity)
        elif op.name == "util.global.load":
            self._set(op.results[0], self._globals.get(symbol_of(op.properties["global"])))
        elif affinity is not None:
            self._ops.setdefault(op, affinity)
            for result in op.results:
                self._set(result, affinity)

    def _pass(self, values: list[SSAValue], block: Block) -> None:
        for value, argument in zip(values, block.args, strict=False):
            self._set(argument, self._values.get(value))

    def _visit_call(self, op: util.CallOp) -> None:
        name = op.callee.root_reference.data
        callee = self._functions.get(name)
        if callee is None:
            return
        self._pass(list(op.operands), callee.body.blocks[0])
        for index, affinity in self._results.get(name, {}).items():
            self._set(op.results[index], affinity)

    def _give_to_users(self) -> None:
        """Work that comes from nowhere belongs to the device that first uses it."""
        floating: dict[Operation, None] = {}
        for op in self._host_ops():
            if op in self._ops or not op.results or op.name in ("hal.tensor.import", *_PASSIVE, "util.global.load"):
                continue
            tensors = [value for value in op.operands if is_tensor(value)]
            if all(isinstance(v, OpResult) and (v.op in floating or v.op.name == "arith.constant") for v in tensors):
                floating[op] = None
        for op in reversed(floating):
            users = (use.operation for result in op.results if is_tensor(result) for use in result.uses)
            found = [self._ops[user] for user in users if user.name not in _PASSIVE and user in self._ops]
            if found:
                self._ops[op] = found[0]
                for result in op.results:
                    self._set(result, found[0])
