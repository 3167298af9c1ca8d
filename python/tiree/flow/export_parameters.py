"""`tiree-io-export-parameters` and `tiree-io-generate-splat-parameter-archive`: the weights leave the module.

In: a module after global optimisation, so with what was folded and transposed. Out: initial values of globals, and big
constants in functions, are parameters whose bytes are in an archive.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NoneAttr, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tiree.dialects import util
from tiree.dialects.arith import ConstantOp
from tiree.dialects.dense import DenseAttr
from tiree.dialects.flow_parameters import FlowParameterAttr
from tiree.flow.parameters import byte_length, element_bytes, parameters_of, scope_of
from tiree.flow.structured import function_blocks
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.parameter_archives import Entry, scope_and_path, write_archive
from tiree.support.symbols import SymbolNames
from tiree.support.typed import is_tensor_type, tensor_type

MINIMUM_IN_FUNCTIONS = 256
"""Bytes of a constant in a function from which it is worth an entry; smaller ones become part of kernels."""

_SPLAT_WIDTHS = (1, 2, 4)
"""Bytes of the patterns that every runtime can fill with."""


@dataclass(frozen=True)
class ExportParameters(ModulePass):
    """Values of at least `minimum_size` bytes go to `file`, which is `[scope=]path`."""

    name = "tiree-io-export-parameters"
    file: str = ""
    minimum_size: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        scope, path = scope_and_path(self.file)
        outline_constants(op, max(self.minimum_size, MINIMUM_IN_FUNCTIONS))
        taken = {value.key.data for _, value in parameters_of(op) if scope_of(value) == scope}
        entries: list[Entry] = []
        for variable in op.ops:
            if not isinstance(variable, util.GlobalOp) or not isinstance(variable.initial_value, DenseAttr):
                continue
            length = byte_length(variable.type)
            if not length or length < self.minimum_size:
                continue
            key = variable.sym_name
            if key.data in taken:
                message = f"--iree-parameter-export={self.file}: scope '{scope}' has a parameter '{key.data}' already"
                raise CompileError(Diagnostic(message, location_of(variable), "export to another scope"))
            entries.append(_entry(key.data, length, variable.initial_value))
            where = StringAttr(scope) if scope else NoneAttr()
            variable.properties["initial_value"] = FlowParameterAttr(where, StringAttr(key.data), variable.type)
        write_archive(f"iree-parameter-export={self.file}", path, entries)
        _parameters_first(op)


@dataclass(frozen=True)
class GenerateSplatParameterArchive(ModulePass):
    """An archive at `file` in which every parameter of the program is zeros that take no place."""

    name = "tiree-io-generate-splat-parameter-archive"
    file: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        entries: dict[str, Entry] = {}
        for user, parameter in parameters_of(op):
            key, type = parameter.key.data, parameter.type
            length = byte_length(type)
            if length is None or not is_tensor_type(type):
                message = f"--iree-parameter-splat={self.file}: parameter '{key}' has type {type}"
                raise CompileError(Diagnostic(f"{message}, whose bytes in a file are not known", location_of(user)))
            pattern = bytes(min(element_bytes(type.element_type) or 1, _SPLAT_WIDTHS[-1]))
            entry = entries.setdefault(key, Entry(key, length, pattern, True))
            if entry.length != length:
                message = f"--iree-parameter-splat={self.file}: two scopes have a parameter '{key}', of {entry.length}"
                hint = "one file has one of each name; give the keys different names"
                raise CompileError(Diagnostic(f"{message} and of {length} bytes", location_of(user), hint))
        write_archive(f"iree-parameter-splat={self.file}", self.file, list(entries.values()))


def _entry(key: str, length: int, value: DenseAttr) -> Entry:
    if not value.is_splat:
        return Entry(key, length, value.buffer, False)
    width = value.buffer.nbytes
    if width in _SPLAT_WIDTHS:
        return Entry(key, length, bytes(value.buffer), True)
    return Entry(key, length, bytes(value.buffer) * (length // width), False)


def outline_constants(module: ModuleOp, minimum: int) -> None:
    """Constants in functions with at least `minimum` bytes that are not all the same become globals."""
    names = SymbolNames(module)
    made: dict[DenseAttr, util.GlobalOp] = {}
    for block in function_blocks(module):
        if _is_in_initializer(block.parent_op()):
            continue
        for op in list(block.ops):
            value = op.value if isinstance(op, ConstantOp) else None
            if not isinstance(value, DenseAttr) or value.is_splat or not is_tensor_type(value.type):
                continue
            if (byte_length(value.type) or 0) < minimum:
                continue
            if value not in made:
                shape = "x".join(map(str, value.shape))
                name = names.unique(f"__constant_tensor_{shape}x{value.element_type}")
                made[value] = util.GlobalOp(name, value.type, value)
                made[value].location = op.location
            load = util.GlobalLoadOp(made[value].sym_name.data, tensor_type(op.results[0]), immutable=True)
            load.location = op.location
            block.insert_op_before(load, op)
            op.results[0].replace_all_uses_with(load.result)
            block.erase_op(op)
    first = next((op for op in module.ops if isinstance(op, (util.FuncOp, util.InitializerOp))), None)
    if made and first is not None:
        module.body.block.insert_ops_before(list(made.values()), first)


def _is_in_initializer(op: Operation | None) -> bool:
    while op is not None and not isinstance(op, (util.InitializerOp, util.FuncOp)):
        op = op.parent_op()
    return isinstance(op, util.InitializerOp)


def _parameters_first(module: ModuleOp) -> None:
    """What starts as a parameter stands before all initializers: these may read it."""
    first = next((op for op in module.ops if isinstance(op, util.InitializerOp)), None)
    behind = False
    for op in list(module.ops) if first is not None else ():
        behind = behind or op is first
        if behind and isinstance(op, util.GlobalOp) and isinstance(op.initial_value, FlowParameterAttr):
            op.detach()
            assert first is not None
            module.body.block.insert_op_before(op, first)
