"""`tiree-abi-wrap-entry-points`: public functions take and return buffer views, as IREE's native ABI has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from tiree.dialects import util
from tiree.dialects.hal_alias import TensorAliasOp
from tiree.dialects.hal_attrs import BufferType, BufferViewType, FenceType
from tiree.dialects.hal_ops import TensorBarrierOp, TensorExportOp, TensorImportOp
from tiree.dialects.hal_queue import FenceSignalOp
from tiree.input.lowering.context import signless
from tiree.input.widen_small_integers import small
from tiree.input.wrap_imports import result_dims, view_dims, wrap_import
from tiree.support.errors import CompileError, Diagnostic
from tiree.support.locations import location_of
from tiree.support.symbols import RESERVED, SymbolNames
from tiree.support.typed import is_array_attr, is_integer_attr, is_tensor_type

_AFFINITY = "iree.abi.affinity"
_OUTPUT = "iree.abi.output"
_PASSED_ATTRIBUTES = frozenset({"iree.abi.encoding", _AFFINITY, _OUTPUT})


@dataclass(frozen=True)
class WrapEntryPointsPass(ModulePass):
    """In: `util.func`s on tensors.

    Out: each public one takes a `!hal.buffer_view` for each tensor, imports it, and exports its tensor results; scalars
    pass through. `iree.abi.declaration` says in `iree.reflection` what the function was. `execution_model`
    `async-external` adds a fence to wait for and one to signal. `tiree.inputs` is `kept` in it when the module has a
    variable that could hold an argument after the call, so that callers must not lend their memory; `tiree.results` is
    `kept` when it could hold a result, which callers must not write then. A public function
    that the module calls keeps its tensor form under the name `_name`. Functions without a body are those of other
    modules; calls give them views. Raises `CompileError` for argument attributes of the ABI without
    support.
    """

    name = "tiree-abi-wrap-entry-points"
    execution_model: str = "async-internal"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        names = SymbolNames(op)
        kept = any(isinstance(each, util.GlobalOp) and _can_keep_arguments(each) for each in op.body.block.ops)
        called: dict[str, list[util.CallOp]] = {}
        for call in op.walk():
            if isinstance(call, util.CallOp):
                called.setdefault(call.callee.root_reference.data, []).append(call)
        for function in list(op.body.block.ops):
            if isinstance(function, util.FuncOp) and function.is_external:
                wrap_import(function, called.get(function.sym_name.data, ()))
            elif isinstance(function, util.FuncOp) and function.is_public:
                calls = called.get(function.sym_name.data)
                _check_name(function)
                if calls:
                    function = split_off(op.body.block, function, calls, names.unique(f"_{function.sym_name.data}"))
                _Wrapper(function, self.execution_model == "async-external", kept).wrap()


def _can_keep_arguments(variable: util.GlobalOp) -> bool:
    return variable.is_mutable is not None and not isinstance(variable.type, IntegerType | IndexType | AnyFloat)


def _check_name(function: util.FuncOp) -> None:
    name = function.sym_name.data
    if name in RESERVED:
        hint = (
            f"The VM calls {' and '.join(RESERVED)} when it loads and unloads a module; give the function another name."
        )
        raise CompileError(Diagnostic(f"function @{name}: this name is reserved", location_of(function), hint))


def split_off(block: Block, function: util.FuncOp, calls: Sequence[util.CallOp], inner_name: str) -> util.FuncOp:
    """Makes `function` private as `inner_name`; returns a public function in front of it that calls it."""
    name = function.sym_name.data
    type = function.function_type
    body = Block(arg_types=type.inputs.data)
    call = util.CallOp(inner_name, body.args, type.outputs.data)
    body.add_ops([call, util.ReturnOp(*call.results)])
    kept = {key: function.properties.pop(key, None) for key in ("arg_attrs", "res_attrs")}
    outer = util.FuncOp(name, type, Region(body), properties=kept, attributes=function.attributes)
    outer.location = call.location = function.location
    function.attributes.clear()
    function.properties["sym_name"] = StringAttr(inner_name)
    function.properties["sym_visibility"] = StringAttr("private")
    for inner in calls:
        inner.properties["callee"] = call.callee
    block.insert_op_before(outer, function)
    return outer


class _Wrapper:
    """Wraps one function in place."""

    def __init__(self, function: util.FuncOp, fences: bool, kept: bool) -> None:
        self.function = function
        self.fences = fences
        self.kept = kept
        block = function.body.blocks.first
        assert block is not None
        self.entry = block
        count = len(function.function_type.inputs.data)
        self.argument_attributes = _attribute_list(function.properties.get("arg_attrs"), count)
        count = len(function.function_type.outputs.data)
        self.result_attributes = _attribute_list(function.properties.get("res_attrs"), count)
        self.wait: BlockArgument | None = None
        self.signal: BlockArgument | None = None

    def wrap(self) -> None:
        function, type = self.function, self.function.function_type
        declaration = self._declaration(type)
        if self.fences:
            count = len(self.entry.args)
            self.wait = self.entry.insert_arg(FenceType(), count)
            self.signal = self.entry.insert_arg(FenceType(), count + 1)
        storages = self._result_storages(type)
        imports = self._import_arguments(type)
        for block in function.body.blocks:
            last = block.last_op
            if isinstance(last, util.ReturnOp):
                self._export_results(last, imports, storages)
        for op in imports.values():
            if op.target.first_use is None:
                _erase_import(op)
        outputs = [BufferViewType() if is_tensor_type(t) else t for t in type.outputs.data]
        function.properties["function_type"] = FunctionType.from_lists(
            [argument.type for argument in self.entry.args], outputs
        )
        for key in ("arg_attrs", "res_attrs", "tied_operands", "sym_visibility"):
            function.properties.pop(key, None)
        reflection = function.attributes.get("iree.reflection")
        entries = dict(reflection.data) if isinstance(reflection, DictionaryAttr) else {}
        entries["iree.abi.declaration"] = StringAttr(declaration)
        if self.fences:
            entries["iree.abi.model"] = StringAttr("coarse-fences")
        if self.kept and type.inputs.data:
            entries["tiree.inputs"] = StringAttr("kept")
        if self.kept and type.outputs.data:
            entries["tiree.results"] = StringAttr("kept")
        attributes = {
            **function.attributes,
            "iree.abi.stub": UnitAttr(),
            "iree.reflection": DictionaryAttr(dict(sorted(entries.items()))),
        }
        function.attributes = dict(sorted(attributes.items()))

    def _declaration(self, type: FunctionType) -> str:
        def values(prefix: str, types: Sequence[Attribute], attributes: Sequence[DictionaryAttr]) -> str:
            return ", ".join(
                f"%{prefix}{i}: {t}{' ' + _dictionary_text(a) if a.data else ''}"
                for i, (t, a) in enumerate(map(_seen, types, attributes))
            )

        for attributes in (*self.argument_attributes, *self.result_attributes):
            for key in attributes.data:
                if key not in _PASSED_ATTRIBUTES or (key == _OUTPUT and attributes in self.result_attributes):
                    raise CompileError(
                        Diagnostic(
                            f"@{self.function.sym_name.data}: {key} on an argument or result is not supported",
                            location_of(self.function),
                            f"Remove the attribute; {_OUTPUT} = N on an argument makes it memory of result N.",
                        )
                    )
        inputs = values("input", type.inputs.data, self.argument_attributes)
        outputs = values("output", type.outputs.data, self.result_attributes)
        kind = "async" if self.fences else "sync"
        return f"{kind} func @{self.function.sym_name.data}({inputs}) -> ({outputs})"

    def _result_storages(self, type: FunctionType) -> dict[int, int]:
        """The arguments that are memory for results, by the number of the result. Raises `CompileError`."""
        found: dict[int, int] = {}
        for index, attributes in enumerate(self.argument_attributes):
            output = attributes.data.get(_OUTPUT)
            if output is None:
                continue
            results, given = type.outputs.data, type.inputs.data[index]
            number = output.value.data if is_integer_attr(output) else -1
            if not 0 <= number < len(results) or not is_tensor_type(results[number]):
                self._refuse(index, f"{_OUTPUT} = {output} names no tensor among the {len(results)} results")
            if number in found:
                self._refuse(index, f"{_OUTPUT} = {number} is also on argument {found[number]}")
            if given != results[number] and not isinstance(given, BufferViewType | BufferType):
                self._refuse(index, f"{_OUTPUT} = {number} is memory of {given}, and the result is {results[number]}")
            found[number] = index
        return found

    def _refuse(self, index: int, what: str) -> NoReturn:
        name = self.function.sym_name.data
        raise CompileError(Diagnostic(f"@{name}, argument {index}: {what}", location_of(self.function)))

    def _import_arguments(self, type: FunctionType) -> dict[SSAValue, TensorImportOp]:
        """Turns tensor arguments into buffer views; returns the imports by the value that they define."""
        imports: dict[SSAValue, TensorImportOp] = {}
        new: list[Operation] = []
        for index, tensor_type in enumerate(type.inputs.data):
            if not is_tensor_type(tensor_type):
                continue
            old = self.entry.args[index]
            argument = self.entry.insert_arg(BufferViewType(), index)
            dims = view_dims(argument, tensor_type)
            encoding = self.argument_attributes[index].data.get("iree.abi.encoding", tensor_type)
            fence = [self.wait] if self.wait is not None else []
            op = TensorImportOp.create(
                operands=[argument, *(dim.results[0] for dim in dims), *fence],
                result_types=[tensor_type],
                properties={
                    "name": StringAttr(f"input{index}"),
                    "target_encoding": encoding,
                    **_affinity(self.argument_attributes[index]),
                    "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, len(dims), len(fence), 0]),
                },
            )
            old.replace_all_uses_with(op.results[0])
            self.entry.erase_arg(old)
            imports[op.results[0]] = op
            new += [*dims, op]
        for op in new:
            op.location = self.function.location
        first = self.entry.first_op
        assert first is not None
        self.entry.insert_ops_before(new, first)
        return imports

    def _export_results(
        self, last: util.ReturnOp, imports: dict[SSAValue, TensorImportOp], storages: dict[int, int]
    ) -> None:
        block = last.parent
        assert block is not None
        new: list[Operation] = []
        values = list(last.operands)
        sizes: dict[SSAValue, list[SSAValue]] = {}
        for number, argument in storages.items():
            type = values[number].type
            assert is_tensor_type(type)
            dims = result_dims(values[number], type, new)
            storage, place = self.entry.args[argument], self.result_attributes[number].data.get(_AFFINITY)
            alias = TensorAliasOp(values[number], dims, storage, self.wait, place)
            new.append(alias)
            values[number] = alias.result
            sizes[alias.result] = dims
        tensors = list(dict.fromkeys(value for value in values if is_tensor_type(value.type)))
        available = {value: value for value in tensors}
        if self.signal is not None:
            if tensors:
                barrier = TensorBarrierOp(tensors, self.signal)
                new.append(barrier)
                available = dict(zip(tensors, barrier.results, strict=True))
            else:
                new.append(FenceSignalOp.create(operands=[self.signal]))
        for index, value in enumerate(values):
            if not is_tensor_type(value.type):
                continue
            encoding = self.result_attributes[index].data.get("iree.abi.encoding", value.type)
            source = imports.get(value)
            if source is not None and self.signal is None and source.properties["target_encoding"] == encoding:
                # An argument returned as it came.
                values[index] = source.operands[0]
                continue
            dims = sizes[value] if value in sizes else result_dims(available[value], value.type, new)
            export = TensorExportOp.create(
                operands=[available[value], *dims],
                result_types=[BufferViewType()],
                properties={
                    "name": StringAttr(f"output{index}"),
                    "source_encoding": encoding,
                    **_affinity(self.result_attributes[index]),
                },
            )
            new.append(export)
            values[index] = export.results[0]
        for op in new:
            op.location = last.location
        block.insert_ops_before(new, last)
        last.operands = values


def _seen(type: Attribute, attributes: DictionaryAttr) -> tuple[Attribute, DictionaryAttr]:
    """How callers see an argument or result: elements that share bytes have a type of their own, without a sign."""
    encoding = attributes.data.get("iree.abi.encoding")
    if encoding is None or small(encoding) is None or small(type) is not None:
        return type, attributes
    if signless(encoding) == encoding:
        attributes = DictionaryAttr({key: one for key, one in attributes.data.items() if one != encoding})
    return signless(encoding), attributes


def _erase_import(op: TensorImportOp) -> None:
    dims = [value.owner for value in op.target_dims]
    op.detach()
    op.erase()
    for dim in dims:
        assert isinstance(dim, Operation)
        if dim.results[0].first_use is None:
            dim.detach()
            dim.erase()


def _affinity(attributes: DictionaryAttr) -> dict[str, Attribute]:
    """Where an argument or result lies, as a property of its import or export."""
    affinity = attributes.data.get(_AFFINITY)
    return {} if affinity is None else {"affinity": affinity}


def _attribute_list(attrs: Attribute | None, count: int) -> list[DictionaryAttr]:
    if is_array_attr(attrs):
        return [entry for entry in attrs.data if isinstance(entry, DictionaryAttr)]
    return [DictionaryAttr({})] * count


def _dictionary_text(attrs: DictionaryAttr) -> str:
    return "{" + ", ".join(f"{key} = {value}" for key, value in sorted(attrs.data.items())) + "}"
