"""`tiree-stablehlo-to-linalg`: functions of StableHLO (or linalg, arith, scf, ...) become `util.func`s on linalg."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.passes import ModulePass

from tiree.dialects import util
from tiree.dialects.syntax.small_floats import small_float
from tiree.dialects.util_types import InlineNeverAttr
from tiree.input.lowering.borders import with_sizes
from tiree.input.lowering.context import signless
from tiree.input.lowering.driver import Callee, FunctionLowering
from tiree.input.lowering.dynamic_shapes import Handler
from tiree.input.lowering.table import HANDLERS
from tiree.support.errors import CompileError
from tiree.support.typed import is_array_attr, is_tensor_type, symbol_name


@dataclass(frozen=True)
class ConvertToLinalgPass(ModulePass):
    """In: `func.func`s and `util.func`s in the accepted input dialects.

    Out: `util.func`s on linalg.generic, tensor, arith, math, scf and cf; all types signless (an unsigned tensor of the
    signature keeps its type in `iree.abi.encoding`); calls inlined, private functions gone unless recursion or blocks
    keep them. Named linalg ops are still there. Raises `CompileError` with one diagnostic for each kind of op, or form
    of one, that has no lowering.
    """

    name = "tiree-stablehlo-to-linalg"

    lowerings: Mapping[str, Handler] | None = None
    """How ops of plugins are lowered, by name."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        del ctx
        functions = {
            symbol_name(function): function
            for function in op.body.block.ops
            if function.name in ("func.func", "util.func")
        }
        converted: dict[Callee, Operation] = {}
        wanted = [Callee(name) for name, function in functions.items() if _is_public(function) and _has_body(function)]
        reported: dict[str, list[Operation]] = {}
        handlers = {**HANDLERS, **self.lowerings} if self.lowerings else HANDLERS
        for initializer in list(op.body.block.ops):
            if isinstance(initializer, util.InitializerOp) and _has_tensors(initializer):
                lowering = FunctionLowering(functions=functions, diagnostics=reported, handlers=handlers)
                _convert_initializer(lowering, initializer)
                wanted.extend(lowering.kept)
        while wanted:
            callee = wanted.pop(0)
            if callee in converted:
                continue
            name, function = callee.symbol, functions[callee.symbol]
            lowering = FunctionLowering(
                functions=functions, stack=[name], sized=callee.sized, diagnostics=reported, handlers=handlers
            )
            converted[callee] = _convert(lowering, function, callee)
            wanted.extend(lowering.kept)
            # Called where a function of another module is not there.
            fallback = function.attributes.get("vm.fallback")
            if isinstance(fallback, SymbolRefAttr) and fallback.root_reference.data in functions:
                wanted.append(Callee(fallback.root_reference.data))
        if reported:
            raise CompileError(FunctionLowering(diagnostics=reported).report())
        for name, function in functions.items():
            for callee in (Callee(name), Callee(name, sized=True)):
                if callee in converted:
                    op.body.block.insert_op_before(converted[callee], function)
        for function in functions.values():
            function.detach()
            function.drop_all_references()
        for mesh in [inner for inner in op.body.block.ops if inner.name == "sdy.mesh"]:
            mesh.detach()
            mesh.erase()
        op.attributes = {key: value for key, value in op.attributes.items() if not _is_foreign_key(key)}


def _has_tensors(initializer: util.InitializerOp) -> bool:
    """Whether an initializer does more to tensors than keep constants."""
    return any(
        is_tensor_type(result.type) and op.name not in ("arith.constant", "util.global.load")
        for op in initializer.walk()
        for result in op.results
    )


def _convert_initializer(lowering: FunctionLowering, initializer: util.InitializerOp) -> None:
    """Puts a new initializer in its place."""
    lowering.location = initializer.location
    region = lowering.lower_region(initializer.body)
    _place_constants(lowering, region)
    new = util.InitializerOp(region)
    new.location = initializer.location
    assert initializer.parent is not None
    initializer.parent.insert_op_before(new, initializer)
    initializer.detach()
    initializer.drop_all_references()


def _is_foreign_key(key: str) -> bool:
    """Attributes of the frameworks, which say nothing to us."""
    return key.startswith(("mhlo.", "jax.", "sdy.", "xla.", "tf."))


def _is_public(function: Operation) -> bool:
    visibility = function.properties.get("sym_visibility")
    return not isinstance(visibility, StringAttr) or visibility.data == "public"


def _has_body(function: Operation) -> bool:
    return bool(function.regions[0].blocks)


def _convert(lowering: FunctionLowering, function: Operation, callee: Callee) -> util.FuncOp:
    """The new function for `function`."""
    old_type = function.properties["function_type"]
    assert isinstance(old_type, FunctionType)
    inputs, outputs = ([signless(t) for t in types.data] for types in (old_type.inputs, old_type.outputs))
    properties: dict[str, Attribute | None] = {"inlining_policy": function.properties.get("inlining_policy")}
    if callee.sized:
        inputs, outputs = with_sizes(inputs), with_sizes(outputs)
    else:
        properties["arg_attrs"] = _value_attributes(function.properties.get("arg_attrs"), old_type.inputs.data)
        properties["res_attrs"] = _value_attributes(function.properties.get("res_attrs"), old_type.outputs.data)
        properties["tied_operands"] = function.properties.get("tied_operands")
    lowering.location = function.location
    region = Region()
    if _has_body(function):
        region = lowering.lower_region(function.regions[0])
        _place_constants(lowering, region)
    if "noinline" in function.attributes:
        properties["inlining_policy"] = InlineNeverAttr()
    visibility = "public" if _is_public(function) and not callee.sized else "private"
    new = util.FuncOp(
        callee.name,
        FunctionType.from_lists(inputs, outputs),
        region,
        visibility,
        properties=properties,
        attributes={k: v for k, v in function.attributes.items() if not _is_foreign_key(k) and k not in _DROPPED},
    )
    new.properties["sym_visibility"] = StringAttr(visibility)
    new.location = function.location
    return new


_DROPPED = frozenset({"noinline", "llvm.emit_c_interface"})


def _place_constants(lowering: FunctionLowering, region: Region) -> None:
    """Puts the collected constants at the start of the function."""
    block = region.blocks.first
    assert isinstance(block, Block)
    if not lowering.constants:
        return
    first = block.first_op
    if first is None:
        block.add_ops(lowering.constants)
    else:
        block.insert_ops_before(lowering.constants, first)


def _in_hal(element: Attribute) -> bool:
    """Whether a buffer can say that it holds `element`; other small floats are bytes to callers."""
    format = small_float(element)
    return format is None or format.in_hal


def _value_attributes(attrs: Attribute | None, types: tuple[Attribute, ...]) -> ArrayAttr | None:
    """The attributes of arguments or results: IREE's kept, frameworks' dropped, unsigned types recorded."""
    given = attrs.data if is_array_attr(attrs) else [DictionaryAttr({})] * len(types)
    result: list[DictionaryAttr] = []
    for entry, type in zip(given, types, strict=True):
        assert isinstance(entry, DictionaryAttr)
        kept = {key: value for key, value in entry.data.items() if key.startswith("iree.")}
        if is_tensor_type(type) and signless(type) != type and _in_hal(type.element_type):
            kept.setdefault("iree.abi.encoding", type)
        result.append(DictionaryAttr(kept))
    return ArrayAttr(result) if any(entry.data for entry in result) else None
