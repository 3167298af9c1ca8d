"""`tiree-io-import-parameters`: parameters whose values are known while compiling become constants.

In: any module before global optimisation. Out: the chosen parameters are dense constants, views of the mapped files;
what never changes stands in the functions that load it, so that it is folded as any constant.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tiree.dialects import util
from tiree.dialects.arith import ConstantOp
from tiree.dialects.dense import DenseAttr
from tiree.dialects.flow_parameters import FlowParameterAttr
from tiree.flow.parameters import byte_length, element_bytes, parameters_of, scope_of
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.parameter_archives import Entry, ParameterFiles
from tiree.support.typed import is_tensor_type, symbol_of


@dataclass(frozen=True)
class ImportParameters(ModulePass):
    """Parameters of `files` with one of `keys`, or of at most `maximum_size` bytes, become constants."""

    name = "tiree-io-import-parameters"
    files: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    maximum_size: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002
        files = ParameterFiles(self.files)
        found: list[tuple[Operation, DenseAttr]] = []
        imported: set[str] = set()
        parameters = list(parameters_of(op))
        for user, parameter in parameters:
            key = parameter.key.data
            entry = self._chosen(files, user, parameter)
            if entry is not None:
                found.append((user, _value(files, user, parameter, entry)))
                imported.add(key)
        for key in self.keys:
            if key not in imported:
                raise CompileError(_not_imported(key, files, parameters))
        for user, value in found:
            if isinstance(user, util.GlobalOp):
                user.properties["initial_value"] = value
            else:
                _replace(user, value)
        inline_globals(op, {user.sym_name.data for user, _ in found if isinstance(user, util.GlobalOp)})

    def _chosen(self, files: ParameterFiles, user: Operation, parameter: FlowParameterAttr) -> Entry | None:
        scope, key = scope_of(parameter), parameter.key.data
        length = byte_length(parameter.type)
        small = length is not None and length <= self.maximum_size
        if isinstance(user, util.GlobalOp) and user.type != parameter.type and length is not None:
            message = f"global @{user.sym_name.data} has type {user.type}, its parameter {parameter.type}"
            raise CompileError(Diagnostic(message, location_of(user), "give both the same tensor type"))
        return files.find(scope, key) if key in self.keys or small else None


def _value(files: ParameterFiles, user: Operation, parameter: FlowParameterAttr, entry: Entry) -> DenseAttr:
    type = parameter.type
    length = byte_length(type)
    where = f"parameter '{entry.key}' of {files.described(scope_of(parameter))}"
    if length is None or not is_tensor_type(type):
        message = f"{where} is to be imported as {type}, whose bytes in a file are not known"
        raise CompileError(Diagnostic(message, location_of(user), "leave it out of --iree-parameter-import-keys="))
    if length != entry.length:
        message = f"{where} has {entry.length} bytes, the program needs {length} for {type}"
        raise CompileError(Diagnostic(message, location_of(user), "the file may be of another model or version"))
    if not entry.splat:
        return DenseAttr.from_buffer(type, entry.data)
    width = element_bytes(type.element_type) or 1
    if len(entry.data) > width:
        return DenseAttr.from_buffer(type, bytes(entry.data) * (length // len(entry.data)))
    return DenseAttr.from_buffer(type, bytes(entry.data) * (width // len(entry.data)), splat=True)


def _not_imported(key: str, files: ParameterFiles, parameters: list[tuple[Operation, FlowParameterAttr]]) -> Diagnostic:
    flag = f"--iree-parameter-import-keys={key}"
    for user, parameter in parameters:
        if parameter.key.data == key:
            scope = scope_of(parameter)
            if scope in files:
                keys = ", ".join(files.keys(scope)) or "nothing"
                return Diagnostic(
                    f"{flag}: {files.described(scope)} has no such parameter", location_of(user), f"it has: {keys}"
                )
            return Diagnostic(
                f"{flag}: the parameter is of scope '{scope}', of which no file is imported",
                location_of(user),
                f"give --iree-parameter-import={scope + '=' if scope else ''}FILE",
            )
    known = ", ".join(dict.fromkeys(parameter.key.data for _, parameter in parameters)) or "none"
    return Diagnostic(f"{flag}: the program has no such parameter", "<options>", f"its parameters are: {known}")


def inline_globals(module: ModuleOp, names: set[str]) -> None:
    """Loads of the named globals become their values, where these never change."""
    values: dict[str, DenseAttr] = {}
    variables: dict[str, util.GlobalOp] = {}
    for op in module.ops:
        if isinstance(op, util.GlobalOp) and op.sym_name.data in names and op.is_mutable is None:
            assert isinstance(op.initial_value, DenseAttr)
            values[op.sym_name.data], variables[op.sym_name.data] = op.initial_value, op
    kept: set[str] = set()
    for op in list(module.walk()) if values else ():
        if isinstance(op, util.GlobalLoadOp):
            value = values.get(symbol_of(op.global_))
            if value is not None:
                _replace(op, value)
        elif isinstance(op, util.GlobalAddressOp):
            kept.add(symbol_of(op.properties["global"]))
    for name, op in variables.items():
        if name not in kept and (op.sym_visibility is None or op.sym_visibility.data == "private"):
            module.body.block.erase_op(op)


def _replace(op: Operation, value: DenseAttr) -> None:
    constant = ConstantOp(value)
    constant.location = op.location
    block = op.parent
    assert block is not None
    block.insert_op_before(constant, op)
    op.results[0].replace_all_uses_with(constant.result)
    block.erase_op(op)
